"""Reports to play with, one of each kind: the site shows them, and pictures are taken of them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import stakes

TUMOURS = {"truth": "diagnosis", "positive": "malignant"}
COSTS = stakes.Costs(miss=5, false_alarm=1)
FILE = "demo:breast_cancer"


def two_classes() -> object:
    """569 tumours, by their size."""
    return stakes.evaluate(FILE, score="logistic", by="size", costs=COSTS, **TUMOURS)


def several_classes() -> object:
    """Three species of iris, each flower judged by a model that has not seen it."""
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    iris = load_iris()
    said = cross_val_predict(LogisticRegression(max_iter=1000), iris.data, iris.target, method="predict_proba")
    names = iris.target_names.tolist()
    return stakes.evaluate(truth=iris.target_names[iris.target], score=said, classes=names)


def numbers() -> object:
    """How diabetes went on in a year, predicted for 442 patients."""
    return stakes.evaluate("demo:diabetes", truth="progression", prediction="linear", task="regression", by="age")


def comparison() -> object:
    """Two models of the tumours."""
    return stakes.compare(FILE, scores=["logistic", "neighbours"], **TUMOURS)


def decision() -> object:
    """When to call a tumour malignant."""
    return stakes.decide(FILE, score="logistic", costs=COSTS, **TUMOURS)


def chance() -> object:
    """Shuffled tumours."""
    return stakes.permutation_test(FILE, score="logistic", **TUMOURS)


def system() -> object:
    """A clinic that asks two models."""
    return stakes.System.from_toml("demo:clinic_and")


def ranks() -> object:
    """A leaderboard of twelve invented models, 400 questions about 80 texts."""
    rng = np.random.default_rng(1)
    text = np.repeat(np.arange(80), 5)
    easy = rng.normal(size=80)[text] + rng.normal(size=400)
    abilities = zip("abcdefghijkl", np.linspace(0.0, 1.1, 12), strict=True)
    scores = {name: (easy + power + rng.logistic(size=400) > 0).astype(int) for name, power in abilities}
    return stakes.rank(scores=scores, cluster=text)


def watch() -> object:
    """Ninety invented days, of which the last thirty are worse."""
    rng = np.random.default_rng(4)
    found = rng.binomial(100, np.repeat([0.93, 0.84], [60, 30]))
    days = {
        f"day {number:02}": stakes.Confusion.two_class(tp=hits, fn=100 - hits, fp=8, tn=92)
        for number, hits in enumerate(found.tolist(), 1)
    }
    return stakes.watch(days, require="recall >= 0.9")


KINDS: tuple[Callable[[], object], ...] = (
    two_classes,
    several_classes,
    numbers,
    comparison,
    decision,
    chance,
    system,
    ranks,
    watch,
)
ABOUT = {
    "two_classes": "stakes evaluate demo:breast_cancer --truth diagnosis --score logistic --positive malignant "
    "--by size --miss 5 --false-alarm 1"
}


def write(folder: Path, kind: Callable[[], object]) -> Path:
    """Write the report of one kind into a folder."""
    page = folder / f"{kind.__name__}.html"
    stakes.report(kind(), page, about=ABOUT.get(kind.__name__, ""))
    return page
