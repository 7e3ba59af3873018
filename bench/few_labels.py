"""Figures from few labels: how often intervals cover, beside labels alone and PPI++; a section of docs/coverage.md.

python bench/few_labels.py [--runs 100]
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit, logit

import stakes

ROWS, WHOLE = 2000, 400_000
FIGURES = ("prevalence", "accuracy", "recall", "auc")
Sample = tuple[np.ndarray, np.ndarray]


def normal(rng: np.random.Generator, rows: int, share: float = 0.3, apart: float = 1.5) -> Sample:
    """Calibrated probabilities of two normal classes."""
    truth = rng.random(rows) < share
    return truth, expit(apart * rng.normal(apart * truth, 1) - apart**2 / 2 + logit(share))


def floored(rng: np.random.Generator, rows: int) -> Sample:
    """A fifth of the positives looks like negatives."""
    truth, score = normal(rng, rows)
    hidden = truth & (rng.random(rows) < 0.2)
    return truth, np.where(hidden, expit(1.5 * rng.normal(0, 1, rows) - 1.97), score)


def stepped(rng: np.random.Generator, rows: int) -> Sample:
    """Positives come in steps of the score: 2, 30 and 85 % of them."""
    score = rng.beta(0.7, 1.3, rows).clip(0.001, 0.999)
    return rng.random(rows) < np.select([score < 0.35, score < 0.7], [0.02, 0.3], 0.85), score


def bent(rng: np.random.Generator, rows: int, slope: float, shift: float = 0.0) -> Sample:
    """Scores that are not calibrated."""
    truth, score = normal(rng, rows)
    return truth, expit(slope * logit(score) + shift)


def tied(rng: np.random.Generator, rows: int) -> Sample:
    """Scores of ten values."""
    truth, score = normal(rng, rows)
    return truth, np.round(score, 1).clip(0.01, 0.99)


def anyone(rng: np.random.Generator, score: np.ndarray, labels: int) -> np.ndarray:
    """Labels of rows chosen at random."""
    return rng.choice(len(score), labels, replace=False)


def high_scores(rng: np.random.Generator, score: np.ndarray, labels: int) -> np.ndarray:
    """Labels mostly of rows with high scores."""
    chance = np.where(score >= 0.5, 4.0, 1.0)
    return rng.choice(len(score), labels, replace=False, p=chance / chance.sum())


@dataclass(frozen=True)
class Case:
    """A world, and how rows to label are chosen."""

    words: str
    world: Callable[[np.random.Generator, int], Sample]
    choose: Callable[[np.random.Generator, np.ndarray, int], np.ndarray] = anyone


CASES = (
    Case("calibrated, 30 % positive", normal),
    Case("calibrated, 10 % positive", partial(normal, share=0.1, apart=2.0)),
    Case("a fifth of the positives cannot be told", floored),
    Case("steps in the curve", stepped),
    Case("ten different scores", tied),
    Case("over-confident", partial(bent, slope=2.0)),
    Case("too low", partial(bent, slope=1.0, shift=-1.0)),
    Case("labels four times as often at high scores", normal, high_scores),
)
LABELS = (50, 200)


def ppi(seen: np.ndarray, beside: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """PPI++'s interval of a mean: what labels say, corrected by predictions of all rows, tuned to vary least."""
    n, N = len(seen), len(others)
    tuned = np.cov(seen, beside)[0, 1] / max((1 + n / N) * beside.var(ddof=1), 1e-300)
    value = tuned * others.mean() + (seen - tuned * beside).mean()
    error = np.sqrt((seen - tuned * beside).var(ddof=1) / n + tuned**2 * others.var(ddof=1) / N)
    return value - 1.96 * error, value + 1.96 * error


def _limits(truth: np.ndarray, score: np.ndarray, here: np.ndarray) -> Iterator[tuple[str, str, float, float]]:
    """Limits of each figure by each method."""
    known = np.full(len(score), np.nan)
    known[here] = truth[here]
    ours = stakes.evaluate(truth=known, score=score, unlabelled="estimate")
    alone = stakes.evaluate(truth=truth[here].astype(int), score=score[here], classes=[0, 1], positive=1)
    for name in FIGURES:
        for method, found in (("ours", ours[name]), ("alone", alone[name])):
            if found.low is not None and found.high is not None:
                yield method, name, found.low, found.high
    decided, others = score >= 0.5, np.isnan(known)
    promised = np.where(decided, score, 1 - score)
    yield "ppi", "prevalence", *ppi(truth[here].astype(float), score[here], score[others])
    yield "ppi", "accuracy", *ppi((truth == decided)[here].astype(float), promised[here], promised[others])


def _right(world: Case) -> dict[str, float]:
    """The figures of a great many rows."""
    truth, score = world.world(np.random.default_rng(1), WHOLE)
    whole = {name: getattr(stakes.metrics, name) for name in FIGURES}
    return {name: float(one(truth, score if name == "auc" else score >= 0.5)) for name, one in whole.items()}


def run(case: tuple[int, int], runs: int) -> list[str]:
    """A line: how often each figure is covered by each method, and how wide ours is beside labels alone."""
    world, labels = CASES[case[0]], case[1]
    right = _right(world)
    hits: dict[tuple[str, str], list[bool]] = {}
    widths: dict[tuple[str, str], list[float]] = {}
    for number in range(runs):
        rng = np.random.default_rng([case[0], number])
        truth, score = world.world(rng, ROWS)
        here = world.choose(rng, score, labels)
        if 0 < truth[here].sum() < labels:
            for method, name, low, high in _limits(truth, score, here):
                hits.setdefault((method, name), []).append(low <= right[name] <= high)
                widths.setdefault((method, name), []).append(high - low)
    cells = []
    for name in FIGURES:
        told = [f"{100 * np.mean(hits[one, name]):.0f}" for one in ("ours", "alone", "ppi") if (one, name) in hits]
        ratio = np.median(widths["ours", name]) / np.median(widths["alone", name])
        cells.append(f"{' / '.join(told)}, × {ratio:.2f}")
    return [world.words, str(labels), *cells]


# ── thresholds that labels choose, and other places ──────────────────────────────────────────────────────────────
COSTS = stakes.Costs(miss=5, false_alarm=1)
THERE = 0.05
CHOSEN = ("f1", "recall", "precision", "cost")
ELSEWHERE = ("accuracy", "precision", "f1", "mcc", "brier_score")


@dataclass(frozen=True)
class Whole:
    """A great many rows of a world: what figures are at any threshold, and at any share of positives."""

    positive: np.ndarray
    negative: np.ndarray

    def figures(self, threshold: float, share: float | None = None) -> dict[str, float]:
        """The figures of decisions from a threshold on."""
        here = len(self.positive) / (len(self.positive) + len(self.negative))
        share = here if share is None else share
        sides = ((self.positive, share), (self.negative, 1 - share))
        (tp, fn), (fp, tn) = (
            (part * (1 - below), part * below)
            for below, part in ((np.searchsorted(one, threshold) / len(one), part) for one, part in sides)
        )
        lost = share * ((1 - self.positive) ** 2).mean() + (1 - share) * (self.negative**2).mean()
        root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return {"f1": 2 * tp / (2 * tp + fp + fn), "recall": tp / (tp + fn), "precision": tp / max(tp + fp, 1e-300),
                "cost": 5 * fn + fp, "accuracy": tp + tn, "mcc": (tp * tn - fp * fn) / max(root, 1e-300),
                "brier_score": float(lost)}  # fmt: skip


def _whole(world: Case) -> Whole:
    truth, score = world.world(np.random.default_rng(1), WHOLE)
    return Whole(np.sort(score[truth]), np.sort(score[~truth]))


def _chosen(known: np.ndarray, score: np.ndarray, whole: Whole) -> Iterator[tuple[str, bool]]:
    """Whether intervals hold at thresholds that the labels choose, and where 5 % are positive."""
    found = stakes.evaluate(truth=known, score=score, unlabelled="estimate", costs=COSTS, threshold=0.5)
    asked = (("f1", ("f1",)), ("recall >= 0.9", ("recall", "precision")), (None, ("cost",)))
    for best, names in asked:
        decided = found.decide(best=best)
        right = whole.figures(decided.threshold)
        for name in names:
            one = decided["expected_cost" if name == "cost" else name]
            if one.low is not None:
                yield name, one.low <= right[name] <= one.high
    there = stakes.evaluate(truth=known, score=score, unlabelled="estimate", prior=THERE)
    right = whole.figures(0.5, THERE)
    for name in ELSEWHERE:
        if there[name].low is not None:
            yield f"there {name}", there[name].low <= right[name] <= there[name].high


def run_chosen(case: tuple[int, int], runs: int) -> list[str]:
    """A line: how often figures at chosen thresholds, and at a known prior, are covered."""
    world, labels = CASES[case[0]], case[1]
    whole, hits = _whole(world), {name: [] for name in (*CHOSEN, *(f"there {one}" for one in ELSEWHERE))}
    for number in range(runs):
        rng = np.random.default_rng([case[0], labels, number])
        truth, score = world.world(rng, ROWS)
        here = world.choose(rng, score, labels)
        if 5 <= truth[here].sum() <= labels - 5:
            known = np.full(ROWS, np.nan)
            known[here] = truth[here]
            for name, holds in _chosen(known, score, whole):
                hits[name].append(holds)
    return [world.words, str(labels), *(_share(one) for one in hits.values())]


# ── known probabilities of labelling ─────────────────────────────────────────────────────────────────────────────
def flagged(rng: np.random.Generator, truth: np.ndarray, often: float, rarely: float) -> np.ndarray:
    """A flag that follows the truth makes labels ten times as likely."""
    return np.where(rng.random(len(truth)) < np.where(truth, often, rarely), 0.2, 0.02)


def spread_out(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Probabilities between 1 and 20 %, whatever the row."""
    return np.exp(rng.uniform(np.log(0.01), np.log(0.2), len(truth)))


RARE = partial(normal, share=0.1, apart=2.0)
CHANCES: tuple[tuple[str, Callable[..., Sample], Callable[..., np.ndarray]], ...] = (
    ("a flag, on positives somewhat more often", normal, partial(flagged, often=0.4, rarely=0.2)),
    ("a flag, on positives far more often", normal, partial(flagged, often=0.8, rarely=0.3)),
    ("the same, 10 % positive", RARE, partial(flagged, often=0.8, rarely=0.3)),
    ("a flag, on negatives more often", normal, partial(flagged, often=0.1, rarely=0.4)),
    ("the same flag, steps in the curve", stepped, partial(flagged, often=0.8, rarely=0.3)),
    ("anything between 1 and 20 %", normal, spread_out),
)
OF_CHANCES = ("prevalence", "accuracy", "recall", "precision", "f1", "auc")


def run_chances(case: tuple[int, bool], runs: int) -> list[str]:
    """A line: how often intervals cover where the probability of being labelled is known, of scores or decisions."""
    (words, world, chances), scored = CHANCES[case[0]], case[1]
    truth, score = world(np.random.default_rng(1), WHOLE)
    right = {name: float(getattr(stakes.metrics, name)(truth, score if name == "auc" else score >= 0.5))
             for name in (OF_CHANCES if scored else OF_CHANCES[:-1])}  # fmt: skip
    hits: dict[str, list[bool]] = {name: [] for name in right}
    for number in range(runs):
        rng = np.random.default_rng([case[0], number])
        truth, score = world(rng, ROWS)
        chance = chances(rng, truth)
        known = np.where(rng.random(ROWS) < chance, truth, np.nan)
        output = {"score": score} if scored else {"prediction": (score >= 0.5).astype(int), "positive": 1}
        found = stakes.evaluate(truth=known, **output, unlabelled="estimate", label_probability=chance)
        for name, value in right.items():
            if (one := found[name]).low is not None:
                hits[name].append(one.low <= value <= one.high)
    return [words, "scores" if scored else "decisions", *(_share(one) for one in hits.values()), *[""] * (not scored)]


def _share(hits: list[bool]) -> str:
    return f"{100 * np.mean(hits):.0f} ({len(hits)})" if hits else "none"


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
CLASSES = ((3, 0.75, False), (3, 0.75, True), (5, 0.75, False), (5, 0.94, False), (10, 0.75, False))
"""How many classes, how often decisions are right, and whether the last class is rare."""

OF_CLASSES = ("accuracy", "kappa", "macro_f1")


def run_classes(case: tuple[int, float, bool], runs: int) -> list[list[str]]:
    """Lines of one world of several classes: how often intervals cover with 50 and 200 labels."""
    many, right, rare = case
    shares = np.array([0.6, *[0.35 / (many - 2)] * (many - 2), 0.05]) if rare else np.full(many, 1 / many)
    chances = shares[:, None] * np.where(np.eye(many), right, (1 - right) / (many - 1))
    names = [f"class {place}" for place in range(many)]
    whole = stakes.Confusion(names, names, np.round(1e7 * chances).astype(int))
    words, lines = f"{many} classes{', one of 5 %' if rare else ''}, {100 * right:.0f} % right", []
    for labels in LABELS:
        hits: dict[str, list[bool]] = {name: [] for name in OF_CLASSES}
        for number in range(runs):
            rng = np.random.default_rng([many, labels, number])
            cells = rng.choice(many * many, ROWS, p=chances.ravel())
            truth = np.array(names, object)[cells // many]
            truth[labels:] = None  # rows are in no order
            table = {"y": truth, "d": np.array(names)[cells % many]}
            try:
                found = stakes.evaluate(table, truth="y", prediction="d", classes=names, unlabelled="estimate")
            except stakes.InputError:  # refused: no row of some decision has a label
                continue
            for name in OF_CLASSES:
                one, value = found[name], float(getattr(stakes.metrics, name).of(whole))
                if one.low is not None and one.high is not None:
                    hits[name].append(one.low <= value <= one.high)
        lines.append([words, str(labels), *map(_share, hits.values())])
    return lines


SEVERAL = """
Decisions between several classes (stratified by decision), {runs:,} samples a line; in brackets how many had an
interval: samples without a label of some decision are refused.

| world | labels | accuracy | kappa | macro f1 |
|---|---|---|---|---|
"""

CHOICES = """
Thresholds that the labels choose, {runs:,} samples a line: how often intervals hold of the f1 that `best="f1"` reaches,
of recall and precision where `best="recall >= 0.9"` was asked for, and of what each row costs where a miss costs 5
times a false alarm; then of figures at 0.5 where 5 % are positive (`prior=0.05`). In brackets how many samples had an
interval: those with fewer than 5 labels of a class have none.

| world | labels | f1 | recall | precision | cost | 5 %: accuracy | precision | f1 | mcc | Brier score |
|---|---|---|---|---|---|---|---|---|---|---|
"""

KNOWN = """
Labels with a known probability (`label_probability=`) that depends on more than the score, about 130 to 200 of 2,000
rows, {runs:,} samples a line.

| labels | of | prevalence | accuracy | recall | precision | f1 | auc |
|---|---|---|---|---|---|---|---|
"""

FEW = """## Few labels

2,000 rows with a score, 50 or 200 of them with a truth, {runs:,} samples a line: how often 95 % intervals cover, **ours
/ labels alone / PPI++** (which knows means only), in percent; and how wide ours are beside those of labels alone. Where
labels follow the score, labels alone and PPI++ are about other rows.

| world | labels | prevalence | accuracy | recall | auc |
|---|---|---|---|---|---|
"""


def section(runs: int) -> str:
    """The section as Markdown."""
    with ProcessPoolExecutor() as pool:
        cases = [(place, labels) for place in range(len(CASES)) for labels in LABELS]
        lines = pool.map(partial(run, runs=runs), cases)
        chosen = pool.map(partial(run_chosen, runs=runs), cases)
        known = pool.map(
            partial(run_chances, runs=runs), [(i, of) for i in range(len(CHANCES)) for of in (True, False)]
        )
        several = [line for found in pool.map(partial(run_classes, runs=runs), CLASSES) for line in found]
        parts = ((FEW, lines), (CHOICES, chosen), (KNOWN, known), (SEVERAL, several))
        return "".join(words.format(runs=runs) + _table(table) for words, table in parts)


def _table(lines: Iterable[list[str]]) -> str:
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100, help="samples of each line")
    print(section(parser.parse_args().runs))
