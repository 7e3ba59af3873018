"""Figures of rows in memory: confusion tables, auc, losses, errors of numbers, and everything at once."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import sklearn.metrics as sk

import scikit
import stakes
from contest import Contest, Side, Wanted, at_least, at_most
from samples import ten_classes, two_classes

K = 10
FEW, CALLS = 1_000, 100
SLOW_SORT = (
    "it depends on the processor: where NumPy's AVX-512 sort is slow (AMD Zen 4), keys of 32 bits are sorted hardly "
    "faster than those of 64"
)


def pieces(n: int) -> Iterator[Contest]:
    few = max(n // 10, 10**4)
    yield from _auc(n)
    yield from _two_classes(n)
    yield from _everything(n)
    yield from _many_classes(n)
    yield from _words(few)
    yield from _class_scores(few)
    yield _numbers(n)
    yield from _one_call()
    for rows in (10**3, 10**5, 10**6):
        yield from one_figure(min(n, rows))


def _auc(n: int) -> Iterator[Contest]:
    y, s, _ = two_classes(n)
    columns = {"float64": s, "float32": s.astype(np.float32), "logits": np.log(s / (1 - s) + 1e-12)}
    for (name, scores), wanted in zip(columns.items(), (20, 30, 12), strict=True):
        yield Contest(
            f"auc, {name}, {n:,} rows",
            Side("`metrics.auc(y, s)`", lambda scores=scores: stakes.metrics.auc(y, scores)),
            Side("scikit-learn `roc_auc_score(y, s)`", lambda scores=scores: sk.roc_auc_score(y, scores)),
            at_least(wanted),
            SLOW_SORT if name == "float32" else "",
        )
    yield Contest(
        f"auc against a sort, float64, {n:,} rows",
        Side("`metrics.auc(y, s)`", lambda: stakes.metrics.auc(y, s)),
        Side("`numpy.sort(s)`", lambda: np.sort(s)),
        at_most(2),
    )


def _two_classes(n: int) -> Iterator[Contest]:
    y, _, d = two_classes(n)
    columns = {"bool": (y, d), "int64 0/1": (y.astype(np.int64), d.astype(np.int64))}
    for name, (truth, decided) in columns.items():
        ours = Side(
            "`count(truth=y, prediction=d).confusion`",
            lambda truth=truth, decided=decided: stakes.count(truth=truth, prediction=decided).confusion,
        )
        yield Contest(f"confusion, {name}, {n:,} rows", ours, _scikit_table(truth, decided), at_least(60))


def _scikit_table(truth: object, decided: object, more: str = "") -> Side:
    return Side(f"scikit-learn `confusion_matrix(y, d)`{more}", lambda: sk.confusion_matrix(truth, decided))


def _everything(n: int) -> Iterator[Contest]:
    y, s, d = two_classes(n)
    ours = Side("`evaluate(truth=y, score=s).to_rows()`", lambda: stakes.evaluate(truth=y, score=s).to_rows())
    yield Contest(
        f"every figure with its interval, against one, {n:,} rows",
        ours,
        Side("scikit-learn `roc_auc_score(y, s)` alone", lambda: sk.roc_auc_score(y, s)),
        at_least(6),
    )
    yield Contest(
        f"every figure with its interval, against eleven, {n:,} rows",
        ours,
        Side(
            "scikit-learn: `confusion_matrix` and the scores accuracy, precision, recall, f1, balanced accuracy, mcc, "
            "kappa, auc, average precision, log loss",
            lambda: scikit.figures(y, d, s),
        ),
        at_least(30),
    )


def _many_classes(n: int) -> Iterator[Contest]:
    truth, decided = ten_classes(n)
    words = np.array([f"class {c}" for c in range(K)])
    yield _table_of_ten(f"int64, {n:,} rows", truth, decided, 25)
    arrow = [pl.Series(words)[column].to_arrow() for column in (truth, decided)]
    theirs = _scikit_table(words[truth], words[decided], " on NumPy strings")
    yield _table_of_ten(f"Arrow strings, {n:,} rows", *arrow, 20, theirs)


def _words(n: int) -> Iterator[Contest]:
    words = np.array([f"class {c}" for c in range(K)])
    columns = ten_classes(n)
    categories = (pd.Series(pd.Categorical.from_codes(column, words)) for column in columns)
    yield _table_of_ten(f"categories, {n:,} rows", *categories, 20)
    plain = (words[column].astype(object) for column in columns)
    yield _table_of_ten(f"Python strings, {n:,} rows", *plain, 5)


def _table_of_ten(what: str, truth: object, decided: object, wanted: float, theirs: Side | None = None) -> Contest:
    """Decisions between ten classes; scikit-learn gets the same columns if it has none of its own."""
    ours = Side(
        '`count(truth=y, prediction=d, task="classification")`',
        lambda: stakes.count(truth=truth, prediction=decided, task="classification"),
    )
    return Contest(f"confusion, k = {K}, {what}", ours, theirs or _scikit_table(truth, decided), at_least(wanted))


def _class_scores(n: int) -> Iterator[Contest]:
    y, _ = ten_classes(n)
    p = np.random.default_rng(2).dirichlet(np.ones(K), n)
    names = [str(c) for c in range(K)]

    def macro_auc() -> object:
        return stakes.metrics.find("macro_auc").of(stakes.ClassScores.from_rows(p, y, names, parts=("tables",)))

    yield Contest(
        f"one-against-rest auc, k = {K}, {n:,} rows",
        Side("`macro_auc` of `ClassScores.from_rows(p, y)`", macro_auc),
        Side(
            'scikit-learn `roc_auc_score(y, p, multi_class="ovr")`', lambda: sk.roc_auc_score(y, p, multi_class="ovr")
        ),
        at_least(8),
    )
    yield Contest(
        f"log loss, k = {K}, rows checked to add up to 1, {n:,} rows",
        Side("`metrics.multiclass_log_loss(y, p)`", lambda: stakes.metrics.multiclass_log_loss(y, p, classes=range(K))),
        Side("scikit-learn `log_loss(y, p)`", lambda: sk.log_loss(y, p)),
        at_least(12),
    )


def _numbers(n: int) -> Contest:
    rng = np.random.default_rng(2)
    y = rng.normal(size=n)
    prediction = y + rng.normal(size=n)
    wanted = [stakes.metrics.find(name) for name in ("mae", "mse", "r2", "max_error", "bias")]

    def theirs() -> None:
        for function in (sk.mean_absolute_error, sk.mean_squared_error, sk.r2_score):
            function(y, prediction)

    return Contest(
        f"errors of predicted numbers, {n:,} rows",
        Side(
            "mae, mse, r2, max error and bias of `ErrorSums.from_rows(y, prediction)`",
            lambda: stakes.metrics.measure(wanted, stakes.ErrorSums.from_rows(y, prediction, parts=())),
        ),
        Side("scikit-learn `mean_absolute_error`, `mean_squared_error`, `r2_score`", theirs),
        at_least(2),
    )


def _one_call() -> Iterator[Contest]:
    """A metric of few rows: what is spent before and after the counting."""
    rng = np.random.default_rng(3)
    y, s, t = rng.integers(0, 2, FEW), rng.random(FEW), rng.normal(size=FEW)
    d, p = (s > 0.5).astype(int), t + rng.normal(size=FEW)
    peers = {
        "accuracy": (sk.accuracy_score, y, d),
        "f1": (sk.f1_score, y, d),
        "mcc": (sk.matthews_corrcoef, y, d),
        "auc": (sk.roc_auc_score, y, s),
        "brier_score": (sk.brier_score_loss, y, s),
        "log_loss": (sk.log_loss, y, s),
        "mae": (sk.mean_absolute_error, t, p),
        "mse": (sk.mean_squared_error, t, p),
        "rmse": (sk.root_mean_squared_error, t, p),
        "r2": (sk.r2_score, t, p),
    }
    for name, (theirs, *columns) in peers.items():
        yield Contest(
            f"one call of {name}, {FEW:,} rows, {CALLS} times",
            Side(f"`metrics.{name}(y, p)`", _called(stakes.metrics.find(name), *columns)),
            Side(f"scikit-learn `{theirs.__name__}(y, p)`", _called(theirs, *columns)),
            at_most(0.25),
        )


def one_figure(n: int) -> Iterator[Contest]:
    """Figures that scikit-learn works out in a pass or two over the rows, and its curves."""
    y, s, _ = two_classes(n)
    rng = np.random.default_rng(3)
    t, w = rng.normal(size=n), rng.uniform(0.5, 1.5, n)
    p = t + rng.normal(size=n)
    numbers, scores = {"y": t, "p": p}, {"y": y, "s": s}
    peers = {
        "mae": (sk.mean_absolute_error, numbers),
        "mse": (sk.mean_squared_error, numbers),
        "rmse": (sk.root_mean_squared_error, numbers),
        "r2": (sk.r2_score, numbers),
        "median_absolute_error": (sk.median_absolute_error, numbers),
        "brier_score": (sk.brier_score_loss, scores),
        "auc": (sk.roc_auc_score, scores),
        "average_precision": (sk.average_precision_score, scores),
    }
    for name, (theirs, columns) in peers.items():
        metric, given, wanted = stakes.metrics.find(name), ", ".join(columns), at_least(_least(name))
        ours, plain = partial(metric, *columns.values()), partial(theirs, *columns.values())
        yield _repeated(f"{name}, {n:,} rows", f"metrics.{name}({given})", ours, theirs, given, plain, wanted, n)
        weighted = f"metrics.{name}({given}, weight=w)"
        ours, plain = partial(ours, weight=w), partial(plain, sample_weight=w)
        given += ", sample_weight=w"
        yield _repeated(f"{name} of weighted rows, {n:,} rows", weighted, ours, theirs, given, plain, wanted, n)
    for kind, theirs in {"roc": sk.roc_curve, "pr": sk.precision_recall_curve}.items():
        ours = partial(lambda kind: stakes.evaluate(truth=y, score=s).curve(kind), kind)
        code = f'evaluate(truth=y, score=s).curve("{kind}")'
        yield _repeated(
            f"{kind} curve, {n:,} rows", code, ours, theirs, "y, s", partial(theirs, y, s), at_least(1.5), n
        )


def _least(name: str) -> float:
    """How many times as fast as scikit-learn a figure shall be at least."""
    return 1.2 if name.startswith("median") else 1.5


def _repeated(
    what: str,
    code: str,
    ours: Callable[[], object],
    function: Callable[..., object],
    given: str,
    theirs: Callable[[], object],
    wanted: Wanted,
    n: int,
) -> Contest:
    """Both sides once, or of few rows as often as makes a time that can be measured."""
    times = max(10**5 // n, 1)
    often = "" if times == 1 else f", {times} times"
    return Contest(
        what,
        Side(f"`{code}`{often}", lambda: [ours() for _ in range(times)]),
        Side(f"scikit-learn `{function.__name__}({given})`{often}", lambda: [theirs() for _ in range(times)]),
        wanted,
    )


def _called(function: Callable[..., object], *columns: object) -> Callable[[], object]:
    return lambda: [function(*columns) for _ in range(CALLS)]
