"""How sure: intervals against rows drawn again, permutation tests against shuffled labels."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import sklearn.metrics as sk

import stakes
from contest import Contest, Line, Measurement, Side, at_least, at_most, in_turn
from samples import ten_classes, two_classes
from stakes.uncertainty import intervals as ways
from stakes.uncertainty.interval import none
from stakes.uncertainty.intervals import intervals
from stakes.uncertainty.sampling import USUAL

REPLICATES, PERMUTATIONS = 2000, 10_000
FEW = 20
"""How many replicates or permutations of the slow peers are run; their times are scaled up."""


def pieces(n: int) -> Iterator[Contest | Measurement]:
    rows = min(n // 10, 10**6)
    yield from _evaluation(rows)
    yield from _small_evaluations(1000)
    yield from _replicates(rows)
    yield _average_precision(rows)
    yield from _differences(rows)
    yield _clusters(rows)
    yield from _permutations(min(n // 10, 10**5))
    for prevalence in (0.3, 0.01):
        yield _compression(n // 10, prevalence)


# ── intervals ────────────────────────────────────────────────────────────────────────────────────────────────────
def _evaluation(n: int) -> Iterator[Contest]:
    y, s, _ = two_classes(n)
    auc = stakes.metrics.auc

    def evaluated() -> object:
        return stakes.evaluate(truth=y, score=s).to_rows()

    def without_intervals() -> object:
        made, ways.intervals = ways.intervals, lambda wanted, *_: [none("not asked for")] * len(wanted)
        try:
            return evaluated()
        finally:
            ways.intervals = made

    def with_delong() -> object:
        counted = stakes.ScoreTable.from_rows(s, y)
        return intervals([auc], [auc.of(counted)], counted, USUAL)

    yield Contest(
        f"evaluate() with all intervals, {n:,} rows",
        Side("`evaluate(truth=y, score=s).to_rows()`", evaluated),
        Side("the same without intervals", without_intervals),
        at_most(2),
    )
    yield Contest(
        f"auc with DeLong's interval, {n:,} rows",
        Side("auc and interval of `ScoreTable.from_rows(s, y)`", with_delong),
        Side("the auc alone", lambda: auc.of(stakes.ScoreTable.from_rows(s, y))),
        at_most(1.6),
    )


def _small_evaluations(n: int) -> Iterator[Measurement]:
    """What somebody waits for in a notebook: every figure of few rows, with its interval."""
    y, s, _ = two_classes(n)
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 4, n)
    likely = rng.dirichlet(np.ones(4), n) + (classes[:, None] == np.arange(4))
    for of, wanted, question in (
        ("two classes", 25, {"truth": y, "score": s}),
        ("four classes with scores", 80, {"truth": classes, "score": likely / likely.sum(axis=1, keepdims=True)}),
        ("predicted numbers", 12, {"truth": s, "prediction": s + 0.1 * rng.normal(size=n)}),
    ):
        what = f"evaluate() of {of} with all intervals, {n:,} rows"
        yield Measurement(what, partial(_waited_for, what, wanted, question), at_most(wanted, "ms"))


def _waited_for(what: str, wanted: float, question: dict[str, np.ndarray]) -> list[Line]:
    ran = "`evaluate(…).to_rows()`"
    [best] = in_turn(Side(ran, lambda: stakes.evaluate(**question).to_rows()))
    return [Line.of(what, ran, "", 1000 * best, at_most(wanted, "ms"))]


def _replicates(n: int) -> Iterator[Contest]:
    y, _, d = two_classes(n)
    classes, guesses = ten_classes(n, right=0.6)
    counted_ten = stakes.count(truth=classes, prediction=guesses, task="classification")
    two, ten = stakes.count(truth=y, prediction=d).confusion, counted_ten.confusion
    of_two = [one for one in stakes.metrics.catalogue() if one.tally is stakes.Confusion and not one.lacking]
    of_ten = [stakes.metrics.find(name) for name in stakes.Evaluation(counted_ten).figures]
    small, large = (stakes.Confusion.two_class(tp=300 * f, fn=200 * f, fp=100 * f, tn=400 * f) for f in (1, 10**6))

    def sure(table: stakes.Confusion, metrics: list) -> Side:
        values = [float(value) for value in stakes.metrics.measure(metrics, table)]
        return Side(f"intervals of {len(metrics)} figures", lambda: intervals(metrics, values, table, USUAL))

    def resampled(y: np.ndarray, d: np.ndarray, average: str) -> Side:
        def f1(rows: np.ndarray) -> float:
            return sk.f1_score(y[rows], d[rows], average=average)

        return _of_rows_drawn_again(f'`f1_score(y[i], d[i], average="{average}")`', f1, n, FEW)

    what = "intervals of all figures of a table"
    yield Contest(f"{what}, k = 2, {n:,} rows", sure(two, of_two), resampled(y, d, "binary"), at_least(10_000))
    yield Contest(
        f"{what}, k = 10, {n:,} rows", sure(ten, of_ten), resampled(classes, guesses, "macro"), at_least(1000)
    )
    at_small = Side("the same at 10³ rows", sure(small, of_two).action)
    yield Contest(f"{what}, 10⁹ rows", sure(large, of_two), at_small, at_most(1.5))


def _of_rows_drawn_again(ran: str, figure: Callable[[np.ndarray], float], n: int, few: int) -> Side:
    """A figure of rows drawn with replacement, as a bootstrap does."""
    rng = np.random.default_rng(4)
    return Side(
        f"scikit-learn {ran} of rows drawn again, {REPLICATES:,} times",
        lambda: [figure(rng.integers(0, n, n)) for _ in range(few)],
        (few, REPLICATES),
    )


def _average_precision(n: int) -> Contest:
    y, s, _ = two_classes(n)
    metric = stakes.metrics.average_precision

    def with_interval() -> object:
        counted = stakes.ScoreTable.from_rows(s, y)
        return intervals([metric], [metric.of(counted)], counted, USUAL)

    def of_rows(rows: np.ndarray) -> float:
        return sk.average_precision_score(y[rows], s[rows])

    return Contest(
        f"average precision and its interval, {n:,} rows",
        Side("figure and interval of `ScoreTable.from_rows(s, y)`", with_interval),
        _of_rows_drawn_again("`average_precision_score(y[i], s[i])`", of_rows, n, FEW // 4),
        at_least(500),
    )


def _compression(n: int, prevalence: float) -> Measurement:
    """How far a standard error moves when the ranking is put together into pieces before rows are left out."""
    what = f"standard error when scores are put together into pieces, {n:,} rows, prevalence {prevalence}"
    wanted = at_most(0.01, "of it")

    def work() -> list[Line]:
        rng = np.random.default_rng(5)
        truth = rng.random(n) < prevalence
        table = stakes.ScoreTable.from_rows(rng.normal(size=n) + 1.5 * truth, truth)
        metric = stakes.metrics.average_precision

        def error(columns: object) -> float:
            counts = np.stack([columns.values[name] for name in ("positives", "negatives")]).astype(float)
            changes = metric.one_row.changes(*counts, np.ones(counts.shape))
            return float(np.sqrt((counts * changes**2).sum()))

        fine, coarse = error(table.as_columns()), error(table.compressed().as_columns())
        ours = f"average precision, {len(table.compressed().as_columns().scores)} pieces"
        return [Line.of(what, ours, "every score by itself", abs(coarse / fine - 1), wanted)]

    return Measurement(what, work, wanted)


# ── differences ──────────────────────────────────────────────────────────────────────────────────────────────────
def _differences(n: int) -> Iterator[Contest]:
    y, s, _ = two_classes(n)
    other = np.sqrt(s) * np.random.default_rng(6).uniform(0.8, 1, n)
    numbers, decisions = (s + y, {"a": s, "b": other}), {"a": s >= 0.5, "b": other >= 0.5}
    scores = {"a": s, "b": other}
    classes, guess = ten_classes(n, right=0.6)
    guesses = {"a": guess, "b": np.where(np.random.default_rng(8).random(n) < 0.1, classes, guess)}
    worlds = {
        "auc": (sk.roc_auc_score, "scores", y, scores),
        "average_precision": (sk.average_precision_score, "scores", y, scores),
        "brier_score": (sk.brier_score_loss, "scores", y, scores),
        "f1": (sk.f1_score, "predictions", y, decisions),
        "log_loss": (sk.log_loss, "scores", y, scores),
        "partial_auc(max_fpr=0.1)": (partial(sk.roc_auc_score, max_fpr=0.1), "scores", y, scores),
        "mcc": (sk.matthews_corrcoef, "predictions", y, decisions),
        "macro_f1": (partial(sk.f1_score, average="macro"), "predictions", classes, guesses),
        "mae": (sk.mean_absolute_error, "predictions", *numbers),
        "rmse": (sk.root_mean_squared_error, "predictions", *numbers),
        "r2": (sk.r2_score, "predictions", *numbers),
    }
    for name, (peer, column, truth, models) in worlds.items():
        task = "regression" if truth is numbers[0] else "classification"

        def of_rows(rows: np.ndarray, peer: Callable = peer, truth=truth, models=models) -> float:
            one, two = (peer(truth[rows], output[rows]) for output in models.values())
            return one - two

        yield Contest(
            f"difference of two models in {name}, {n:,} rows",
            Side(
                f'`compare(truth=y, {column}=…, metric="{name}")`',
                partial(stakes.compare, truth=truth, **{column: models}, metric=name, task=task),
            ),
            _of_rows_drawn_again(f"`{getattr(peer, 'func', peer).__name__}` of both", of_rows, n, FEW // 4),
            at_least(100),
        )
    yield Contest(
        f"compare() by auc, {n:,} rows",
        Side("`compare(truth=y, scores={a, b})`", lambda: stakes.compare(truth=y, scores={"a": s, "b": other})),
        Side(
            "evaluate() of both, with all figures",
            lambda: [stakes.evaluate(truth=y, score=one).to_rows() for one in (s, other)],
        ),
        at_most(3),
    )


def _clusters(n: int) -> Contest:
    y, s, _ = two_classes(n)
    cluster = np.random.default_rng(7).integers(0, 10**5, n)
    return Contest(
        f"evaluate() with all intervals, {n:,} rows in 100,000 clusters",
        Side(
            "`evaluate(truth=y, score=s, cluster=c).to_rows()`",
            lambda: stakes.evaluate(truth=y, score=s, cluster=cluster).to_rows(),
        ),
        Side("the same without clusters", lambda: stakes.evaluate(truth=y, score=s).to_rows()),
        at_most(3),
    )


# ── permutations ─────────────────────────────────────────────────────────────────────────────────────────────────
def _permutations(n: int) -> Iterator[Contest]:
    rng = np.random.default_rng(3)
    s = rng.random(n)
    y = rng.random(n) < 0.49 + 0.02 * s
    d = s >= 0.5
    classes, guesses = ten_classes(n)

    def contest(what: str, columns: dict, ran: str, shuffled: Callable[[], float], wanted: int) -> Contest:
        metric, given = what.partition(",")[0], ", ".join(columns)
        return Contest(
            f"{PERMUTATIONS:,} permutations of {what}, {n:,} rows",
            Side(
                f'`permutation_test({given}, metric="{metric}", permutations={PERMUTATIONS})`',
                lambda: stakes.permutation_test(
                    **columns, metric=metric, task="classification", permutations=PERMUTATIONS
                ),
            ),
            Side(f"{ran}, {PERMUTATIONS:,} times", lambda: [shuffled() for _ in range(FEW)], (FEW, PERMUTATIONS)),
            at_least(wanted),
        )

    def gorodkin() -> float:
        table = np.bincount(rng.permutation(classes) * 10 + guesses, minlength=100).reshape(10, 10)
        t, p = table.sum(1), table.sum(0)
        return (table.trace() * n - t @ p) / np.sqrt(float(n**2 - t @ t) * float(n**2 - p @ p))

    two, ten = {"truth": y, "prediction": d}, {"truth": classes, "prediction": guesses}
    shuffle = "`rng.permutation(y)`"
    equal, correlated = f"`numpy.mean(… == d)` of {shuffle}", f"`numpy.corrcoef(…, d)` of {shuffle}"
    tabled, ranked = f"`numpy.bincount` of {shuffle} and `d`", f"scikit-learn `roc_auc_score(…, s)` of {shuffle}"
    yield contest("accuracy", two, equal, lambda: np.mean(rng.permutation(y) == d), 1000)
    yield contest("mcc", two, correlated, lambda: np.corrcoef(rng.permutation(y), d)[0, 1], 1000)
    yield contest("accuracy, k = 10", ten, equal, lambda: np.mean(rng.permutation(classes) == guesses), 40)
    yield contest("mcc, k = 10", ten, tabled, gorodkin, 40)
    yield contest("auc", {"truth": y, "score": s}, ranked, lambda: sk.roc_auc_score(rng.permutation(y), s), 30)
