"""No English is left where another language was asked for: every kind of result, on every surface.

Names in the data have a digit in them, so that every other word in Latin letters was written by us. In Russian none of
them may stay but a short list of names; in Spanish none that our English texts use and our Spanish ones do not.
"""

import re
from functools import cache
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest

import stakes
from stakes.findings import WITH_A_PAGE, kind_of
from stakes.findings.pages import payload_of
from stakes.language import LANGUAGES, TRANSLATED, speaking
from stakes.language.sentences import Sentence, reason_text, sentence
from stakes.language.texts import file_texts
from stakes.text import columns
from stakes.views.page import write_figure
from stakes.views.pages import page_of
from stakes.views.terminal import text_of_page
from tests.command import run

RNG = np.random.default_rng(11)
N = 120
TWO = np.array(["k1", "k0"])
Y = RNG.integers(0, 2, N)
T = TWO[1 - Y]
P = np.clip(0.4 * Y + 0.6 * RNG.random(N), 0.001, 0.999)
OTHER = np.clip(P + RNG.normal(0, 0.2, N), 0.001, 0.999)
WHERE = np.array(["s1", "s2", "s3"])[np.arange(N) % 3]
FEW = np.where(np.arange(N) < 3, "s9", "s1")
GROUP = np.arange(N) // 8
WEIGHT = RNG.integers(1, 4, N) / 2
CLASSES = ["c1", "c2", "c3"]
K = np.array(CLASSES)[RNG.integers(0, 3, N)]
ONE_HOT = np.array([[float(label == name) for name in CLASSES] for label in K])
Q = 0.3 * ONE_HOT + 0.7 * RNG.dirichlet([1, 1, 1], N)
NUMBERS = RNG.normal(10, 3, N)
NEAR = NUMBERS + RNG.normal(0, 1, N)
MARKS = {f"l{i}": (RNG.random(N) < 0.4).astype(int) for i in range(3)}
LABELS, OTHERS = ({name: 0.3 * one + 0.7 * RNG.random(N) for name, one in MARKS.items()} for _ in range(2))
OUTPUTS = {"truth": {"o1": NUMBERS, "o2": NEAR}, "prediction": {"o1": NEAR, "o2": NUMBERS + RNG.normal(0, 2, N)}}
COSTS = stakes.Costs(miss=5, false_alarm=1)
NAMED = stakes.Costs([[0, 2, 1], [9, 0, 1]], ["k0", "k1"], ["k0", "k1", "d2"])
SQUARE = stakes.Costs(((1 - np.eye(3)) * np.array([[1], [2], [3]])).tolist(), CLASSES, CLASSES)
SAID = {name: np.where(RNG.random(N) < 0.2 + 0.05 * i, 1 - Y, Y) for i, name in enumerate(["m1", "m2", "m3"])}


def two(**more):
    return stakes.evaluate(**{"truth": T, "score": P, "positive": "k1", **more})


def decided(**more):
    return stakes.evaluate(truth=T, prediction=np.where(OTHER > 0.5, "k1", "k0"), positive="k1", **more)


def classes(**more):
    return stakes.evaluate(**{"truth": K, "score": Q, "classes": CLASSES, **more})


def numbers(**more):
    return stakes.evaluate(**{"truth": NUMBERS, "prediction": NEAR, **more})


def labels(**more):
    return stakes.evaluate(**{"truth": MARKS, "score": LABELS, **more})


def predicted(**more):
    return stakes.evaluate(**{"truth": NUMBERS, "quantiles": {0.1: NEAR - 1, 0.5: NEAR, 0.9: NEAR + 1}, **more})


def compared(**more):
    given = {"truth": T, "positive": "k1", "scores": {"m1": P, "m2": OTHER, "m3": RNG.random(N)}, **more}
    return stakes.compare(**given)


def clinic(rule="m1 and m2", **more):
    tables = {"m1": [[80, 20], [20, 80]], "m2": [[50, 50], [100, 100]]}
    return stakes.System(**{"classes": ["k1", "k0"], "models": tables, "decide": rule, "costs": COSTS, **more})


def in_rows(models=("m1", "m2", "m3"), **more):
    rule = f"majority({', '.join(models)})"
    return stakes.System(
        {"y": Y, **SAID}, **{"truth": "y", "models": list(models), "decide": rule, "costs": COSTS, **more}
    )


def cascade():
    return in_rows(models={"m1": "m1", "m2": "m2", "m3": {"column": "m3", "sees": "m2"}})


def wildcatter():
    table = {"table": [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.4, 0.5]], "outputs": ["a0", "a1", "a2"], "price": 10}
    costs = stakes.Costs([[70, 0], [-50, 0], [-200, 0]], CLASSES, ["d1", "d2"])
    rule = "'d2' if m1 == 'a0' else 'd1'"
    return stakes.System(classes=CLASSES, models={"m1": table}, decide=rule, costs=costs, prior=[0.5, 0.3, 0.2])


def watched(hits=(0.93,) * 20 + (0.7,) * 10):
    rng = np.random.default_rng(6)
    found = [int(rng.binomial(50, hit)) for hit in hits]
    days = {
        f"2026-05-{day:02d}": stakes.count(truth=[1] * 50 + [0] * 5, prediction=[1] * n + [0] * (55 - n))
        for day, n in enumerate(found, 1)
    }
    return stakes.watch(days, require=["recall >= 0.9", "specificity >= 0.2", "accuracy >= 0.5"])


def few_labels():
    return stakes.evaluate(
        {"t": np.where(np.arange(N) % 4, np.nan, Y), "s": P}, truth="t", score="s", unlabelled="estimate"
    )


def costs_by_row():
    costs = stakes.Costs(miss="w", false_alarm=1)
    return stakes.evaluate({"t": T, "s": P, "w": WEIGHT}, truth="t", score="s", positive="k1", costs=costs)


def with_gaps():
    scores = {f"m{i}": np.where(RNG.random(80) < 0.2, np.nan, RNG.random(80)) for i in range(4)}
    return stakes.rank(scores=scores, missing="pairwise")


def validated(**more):
    from sklearn.naive_bayes import GaussianNB

    return stakes.validate(GaussianNB(), np.column_stack([P, OTHER]), T, **{"positive": "k1", **more})


THINGS = {
    "two classes": lambda: two(by=WHERE),
    "costs": lambda: two(costs=COSTS),
    "costs with a unit": lambda: two(costs=stakes.Costs(miss=5, false_alarm=1, unit="€")),
    "a table of costs": lambda: two(costs=NAMED),
    "costs by row": costs_by_row,
    "a prior": lambda: two(costs=COSTS, prior=0.1, training_prior="rows"),
    "clusters": lambda: two(cluster=GROUP),
    "weights": lambda: two(weight=WEIGHT),
    "bins": lambda: two(exact=False),
    "logits": lambda: two(score=6 * P - 3),
    "upside down": lambda: two(score=1 - P),
    "noise": lambda: two(score=RNG.random(N)),
    "the truth": lambda: two(score=Y.astype(float)),
    "constant": lambda: two(score=np.full(N, 0.3)),
    "one class": lambda: stakes.evaluate(truth=["k1"] * 30, score=P[:30], positive="k1"),
    "six rows": lambda: stakes.evaluate(truth=[0, 1, 0, 1, 1, 0], score=[0.2, 0.7, 0.4, 0.3, 0.8, 0.6]),
    "small segments": lambda: two(by=FEW),
    "decisions": lambda: decided(by=WHERE),
    "decisions at costs": lambda: decided(costs=COSTS),
    "a table of counts": lambda: stakes.evaluate(stakes.Confusion([[30, 5], [8, 40]])),
    "many classes": lambda: classes(by=WHERE),
    "many classes at costs": lambda: classes(costs=SQUARE),
    "many classes upside down": lambda: classes(score=Q[:, [1, 2, 0]]),
    "one class of three": lambda: classes(truth=["c1"] * N),
    "many decisions": lambda: stakes.evaluate(truth=K, prediction=np.array(CLASSES)[Q.argmax(1)]),
    "numbers": lambda: numbers(by=WHERE),
    "numbers in clusters": lambda: numbers(cluster=GROUP),
    "a constant prediction": lambda: numbers(prediction=np.full(N, 2.5)),
    "six numbers": lambda: stakes.evaluate(truth=NUMBERS[:6], prediction=NEAR[:6]),
    "labels": lambda: labels(by=WHERE),
    "labels decided": lambda: labels(score=None, prediction={name: one > 0.5 for name, one in LABELS.items()}),
    "labels that nobody has": lambda: labels(truth={name: [0] * N for name in MARKS}),
    "labels in clusters": lambda: labels(cluster=GROUP, weight=WEIGHT),
    "labels compared": lambda: stakes.compare(truth=MARKS, scores={"m1": LABELS, "m2": OTHERS}),
    "grades": lambda: classes(ordered=True),
    "outputs": lambda: numbers(**OUTPUTS, by=WHERE),
    "outputs that never differ": lambda: numbers(**{**OUTPUTS, "truth": {"o1": [1.0] * N, "o2": NEAR}}),
    "outputs compared": lambda: stakes.compare(
        truth=OUTPUTS["truth"], predictions={"m1": OUTPUTS["prediction"], "m2": OUTPUTS["truth"]}
    ),
    "quantiles": lambda: predicted(by=WHERE),
    "one quantile": lambda: predicted(quantiles={0.3: NEAR}),
    "an interval": lambda: predicted(quantiles=None, low=NEAR - 1, high=NEAR + 1, level=0.9),
    "an ensemble": lambda: predicted(quantiles=None, ensemble=NEAR[:, None] + RNG.normal(0, 1, (N, 9))),
    "counts": lambda: numbers(truth=RNG.poisson(2, N), prediction=np.full(N, 2.0) + P, task="counts"),
    "counts of nothing": lambda: numbers(truth=[0] * N, prediction=P, task="counts"),
    "forecasts": lambda: numbers(order=np.arange(N), season=7, by=WHERE),
    "forecasts compared": lambda: stakes.compare(
        truth=NUMBERS, predictions={"m1": NEAR, "m2": NEAR[::-1]}, order=np.arange(N), horizon=2
    ),
    "gate of labels": lambda: stakes.gate(labels(), require=["macro_auc.low >= 0.99", "micro_f1 >= 0.1"]),
    "gate of quantiles": lambda: stakes.gate(predicted(), require="coverage_of_intervals >= 0.7"),
    "segments": lambda: two(by=WHERE).by_segment(),
    "small segments by figure": lambda: two(by=FEW).by_segment("recall"),
    "gap": lambda: two(by=WHERE).gap(),
    "gap of accuracy": lambda: two(by=FEW).gap("accuracy"),
    "comparison": compared,
    "comparison of two": lambda: compared(scores={"m1": P, "m2": OTHER}, by=WHERE),
    "comparison by many figures": lambda: compared(metric=["auc", "f1", "log_loss"]),
    "comparison in clusters": lambda: compared(cluster=GROUP),
    "comparison within a margin": lambda: compared(margin=0.05),
    "comparison at once": lambda: compared(simultaneous=True),
    "comparison of decisions": lambda: stakes.compare(truth=Y, predictions=SAID, positive=1),
    "comparison of numbers": lambda: stakes.compare(truth=NUMBERS, predictions={"m1": NEAR, "m2": NEAR[::-1]}),
    "comparison of classes": lambda: stakes.compare(truth=K, scores={"m1": Q, "m2": Q[::-1]}, classes=CLASSES),
    "decision": lambda: stakes.decide(truth=T, score=P, positive="k1", costs=COSTS),
    "decision of more ways": lambda: stakes.decide(truth=T, score=P, positive="k1", costs=NAMED),
    "decision with harm": lambda: stakes.decide(truth=T, score=P, positive="k1", costs=COSTS, harm=0.01),
    "decision by a figure": lambda: stakes.decide(truth=T, score=P, positive="k1", best="recall >= 0.8"),
    "decision of few": lambda: stakes.decide(truth=T[:20], score=P[:20], positive="k1", costs=COSTS),
    "policies": lambda: stakes.decide(truth=K, score=Q, classes=CLASSES, costs=SQUARE),
    "permutation": lambda: stakes.permutation_test(truth=T, score=P, positive="k1", permutations=99),
    "permutation of decisions": lambda: stakes.permutation_test(truth=T, prediction=T, positive="k1", metric="f1"),
    "permutation of numbers": lambda: stakes.permutation_test(truth=NUMBERS, prediction=NEAR, permutations=99),
    "permutation of classes": lambda: stakes.permutation_test(
        truth=K, score=Q, classes=CLASSES, permutations=99, metric="log_loss"
    ),
    "calibration": lambda: two().calibration,
    "calibration of classes": lambda: classes().calibration,
    "calibration of numbers": lambda: numbers().calibration,
    "recalibration": lambda: stakes.calibrate(truth=T, score=P**3, positive="k1"),
    "recalibration by methods": lambda: stakes.calibrate(truth=T, score=P, positive="k1", method="beta"),
    "recalibration of classes": lambda: stakes.calibrate(truth=K, score=Q, classes=CLASSES),
    "gate": lambda: stakes.gate(
        two(by=WHERE), require=["auc.low >= 0.99", "recall.low >= 0.1 in every segment", "f1 > 0.1"]
    ),
    "gate against another": lambda: stakes.gate(two(), baseline=two(score=OTHER), no_worse={"auc": 0.01}),
    "gate of the undefined": lambda: stakes.gate(
        stakes.evaluate(truth=["k1"] * 9, prediction=["k1"] * 9, positive="k1"), require="specificity >= 0.5"
    ),
    "gate of rows left out": lambda: stakes.gate(
        stakes.evaluate({"t": [1, 0, None, 1], "p": [1, 0, 1, 1]}, truth="t", prediction="p", missing="drop"),
        require="accuracy >= 0.5",
    ),
    "system": clinic,
    "system of shares": lambda: clinic(models={"m1": 0.8, "m2": 0.7}, prior=0.5),
    "system with a unit": lambda: clinic(costs=stakes.Costs(miss=5, false_alarm=1, unit="€")),
    "system in rows": in_rows,
    "system in clusters": lambda: in_rows(cluster=GROUP),
    "system in weighted rows": lambda: in_rows(weight=WEIGHT),
    "system of tables and rows": lambda: in_rows(
        models={"m1": "m1", "m2": "m2", "m3": {"table": [[80, 20], [20, 80]]}}
    ),
    "cascade": cascade,
    "votes that tie": lambda: in_rows(("m1", "m2"), fusers={"f1": "majority(m1, m2)"}, decide="f1"),
    "three classes": wildcatter,
    "best rule": lambda: in_rows().best_rule(),
    "best rule of tables": lambda: clinic().best_rule(),
    "best plan": lambda: wildcatter().best_plan(),
    "best plan of rows": lambda: in_rows().best_plan(),
    "best thresholds": lambda: in_rows(("m1", "m2"), decide="m1 or m2").best_thresholds({"m1": P, "m2": OTHER}),
    "ranks": lambda: stakes.rank(scores={f"m{i}": RNG.random(80) < 0.4 + 0.12 * i for i in range(4)}),
    "ranks with gaps": with_gaps,
    "watch": watched,
    "watch without alarm": lambda: watched((0.95,) * 5),
    "few labels": few_labels,
    "plan": lambda: stakes.plan("recall", width=0.1, prevalence=0.05, recall=0.9),
    "plan of a pilot": lambda: stakes.plan("auc", two(), width=0.05),
    "plan of a difference": lambda: stakes.plan("auc", compared(scores={"m1": P, "m2": OTHER}), difference=0.02),
    "plan of a condition": lambda: stakes.plan(require="auc.low >= 0.8", auc=0.85, prevalence=0.1),
    "plan of several": lambda: stakes.plan(width={"auc": 0.1, "observed_expected": 0.4}, auc=0.8, prevalence=0.02),
    "plan of labels": lambda: stakes.plan("accuracy", two(), width=0.1, labels=5000),
    "plan of two accuracies": lambda: stakes.plan("accuracy", difference=0.05, disagreement=0.2),
    "plan for a segment": lambda: stakes.plan("recall", width=0.1, prevalence=0.05, recall=0.9, by=0.2),
    "plan of a margin": lambda: stakes.plan("auc", compared(scores={"m1": P, "m2": OTHER}), margin=0.05),
    "validation": validated,
    "validation one by one": lambda: validated(how="leave-one-out"),
}  # fmt: skip

NAMES = {
    *("stakes", "AUC", "MCC", "ECE", "MCE", "KS", "ROC", "PR", "SVG", "CSV", "JSON", "HTML", "MSE", "RMSE", "MAE"),
    *("CRPS", "MASE", "RMSSE"),
    *("FPR", "TPR", "TNR", "MOVER", "log", "loss", "top", "markedness", "alpha", "best_plan", "Shapley", "odds"),
}  # fmt: skip
"""Names that are the same in every language."""

TYPED = re.compile(
    r"\b\w+(?:=[\w'{:} ]*|\(.*?\)|(?:\[…\])?\.\w+\(?)|--[\w-]+|\(restart\)|\w+ (?=[<>]=? )"
    r"|(?<=\d) in every segment|stakes \w+|«score»|\bnot k1|\)\) = .*"
)
"""What users type: arguments, calls, conditions, rules; and what an absent class is called."""

WORD = re.compile(r"[^\W\d_]{2,}")


@cache
def english():
    """The words of our English texts that no Spanish one has."""

    def of(lang):
        found = (
            one for text in file_texts(lang).values() for one in (text.values() if isinstance(text, dict) else [text])
        )
        return {word.lower() for text in found for word in WORD.findall(re.sub(r"\{.*?\}", "", text))}

    notes = {word.lower() for key in file_texts("es") if re.match("reason|note", key) for word in WORD.findall(key)}
    questions = {word.lower() for one in stakes.metrics.catalogue() for word in WORD.findall(one.question)}
    return (of("en") | notes | questions) - of("es")


def left_in_english(text, lang):
    """The words that nobody translated."""
    words = set(re.findall(r"(?<![\w\\])[A-Za-z]{2,}(?!\w)", TYPED.sub(" ", text))) - NAMES
    return sorted(words if lang != "es" else {word for word in words if word.lower() in english()})


@cache
def result(name):
    return THINGS[name]()


def shown(page):
    """Everything on a page that is text, and what its pictures say."""
    yield from (page.title, page.picture, page.more, *page.facts, *page.notes)
    for answer in page.answers:
        yield from (answer.question, answer.lead, *answer.figures, *answer.more)
    for grid in page.grids:
        yield from (grid.title, *grid.head, *(cell for row in grid.rows for cell in row))
    for picture in page.pictures:
        yield unescape(re.sub("<[^>]+>", "\n", picture()))


def said(part):
    """Every sentence and reason of a payload in words."""
    if isinstance(part, dict) and set(part) == {"key", "values"}:
        yield whole(part).words
    elif isinstance(part, dict):
        yield from (reason_text(part[name]) for name in ("reason", "note") if isinstance(part.get(name), str))
    if isinstance(part, dict | list):
        for one in part.values() if isinstance(part, dict) else part:
            yield from said(one)


def whole(part):
    """A sentence of a payload with those within it, also in lists."""
    if isinstance(part, list):
        return [whole(one) for one in part]
    if isinstance(part, dict) and set(part) == {"key", "values"}:
        return Sentence(part["key"], {name: whole(one) for name, one in part["values"].items()})
    return part["argument"] if isinstance(part, dict) and "argument" in part else part


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.spread(12)
def test_nothing_is_left_in_english(name):
    found = result(name)
    payload = payload_of(found) if kind_of(found) in WITH_A_PAGE else []
    for lang in TRANSLATED:
        with speaking(lang):
            texts = [*shown(page_of(found, True)), page_of(found).more, *said(payload)]
        left = {text: words for text in texts for line in text.split("\n") if (words := left_in_english(line, lang))}
        assert not left


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.spread(9)
def test_the_verdict_comes_first_and_fits_on_a_screen(name):
    """80 columns hold every line, and 24 lines the head with the verdict and its figures."""
    for lang in LANGUAGES:
        with speaking(lang):
            page = page_of(result(name))
            lines = text_of_page(page, 80).split("\n")
        assert max(map(columns, lines)) <= 80
        assert not page.answers or [i for i, line in enumerate([*lines, ""]) if not line][1] <= 24
        told = " ".join(lines)
        for grid in page.grids:  # nothing is cut, however it is folded
            assert all(word in told for row in grid.rows for cell in row for word in cell.split())


def test_english_would_be_noticed():
    """The net is as fine as it should be: each of these stood in another language once."""
    for text in ("цены: 2 classes × 3 decisions", "rows left out <= 5 %", "(truth) ─► (m1)", "p по Holm"):
        assert left_in_english(text, "ru")
    for text in (
        "costes: 2 classes × 3 decisions",
        "no hay intervalo: these rows come in clusters",
        "5-fold, stratified",
    ):
        assert left_in_english(text, "es")
    assert not left_in_english("recall.low >= 0.9 in every segment", "ru")


def test_several_notes_and_lists_are_told_part_by_part():
    few = "with fewer than 50 rows (12 rows of k1, 48 rows of k0) intervals can cover less often than stated"
    with speaking("es"):
        assert reason_text("5-fold, stratified, shuffled with seed 7").startswith("5 pliegues, con las clases")
        assert "(12 filas de k1, 48 filas de k0)" in reason_text(few)
        assert reason_text(f"there is a single fold; {few}").startswith("hay un solo pliegue; con menos de 50 filas")
        assert reason_text("nobody ever said this, nor that") == "nobody ever said this, nor that"


VERBS = {
    "evaluate": "--by s",
    "decide": "--miss 5 --false-alarm 1",
    "calibrate": "",
    "permute": "--permutations 99",
    "gate": "--require auc>=0.1",
    "plan": "auc --pilot {file} --width 0.2",
    "label": "--count 5 -o {folder}/l9.csv",
}
"""Options of verbs that read rows with a truth and a score."""


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("lang", TRANSLATED)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.spread(7)
def test_commands_answer_in_the_language_they_are_asked_in(verb, lang, tmp_path):
    file = tmp_path / "f1.csv"
    known = [label if verb != "label" or i % 3 else "" for i, label in enumerate(T)]
    rows = "\n".join(f"{label},{score:.4f},{place}" for label, score, place in zip(known, P, WHERE, strict=True))
    file.write_text(f"y1,p1,s\n{rows}\n")
    typed = VERBS[verb].format(file=file, folder=tmp_path).split()
    given = [] if verb == "plan" else [str(file)]
    columns = ["--truth", "y1", "--score", "p1", "--positive", "k1"]
    done = run(verb, *given, *typed, *columns, "--lang", lang)
    assert done.returncode == 0, done.stderr
    told = done.stdout.replace(str(tmp_path), "").replace("row", "" if verb == "label" else "row")
    assert not left_in_english(told, lang)


def test_a_p_value_of_0_is_written_like_the_smallest():
    """No float tells 10⁻⁴⁰⁰ from 0; in a table both stand beside each other, and a difference of 0 is a 0."""
    tiny = SimpleNamespace(p_value=0.0, adjusted_p_value=1e-310, difference=0.0)
    shown = [write_figure(name)(tiny) for name in ("p_value", "adjusted_p_value", "difference")]
    assert shown == ["<1·10⁻³⁰⁰", "<1·10⁻³⁰⁰", "0.0000"]
    assert "with probability <1·10⁻³⁰⁰." in sentence("verdict.honest_p", p=0.0).words
