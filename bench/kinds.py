"""Several labels per row against scikit-learn, and quantiles against scoringrules: one call for each figure."""

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import sklearn.metrics as sk

import stakes
from contest import Contest, Line, Measurement, Side, at_most

LABELS = 20


def pieces(n: int) -> Iterator[Contest | Measurement]:
    yield from _labels(n // 10)
    yield _quantiles(n // 10)


def _labels(n: int) -> Iterator[Contest]:
    rng = np.random.default_rng(0)
    truth = (rng.random((n, LABELS)) < 0.2).astype(np.int64)
    said = np.where(rng.random((n, LABELS)) < 0.85, truth, 1 - truth)
    called: dict[str, tuple[str, Callable[..., float]]] = {
        f"{how}_f1": (f'f1_score(y, d, average="{how}")', partial(sk.f1_score, average=how)) for how in ("micro",)
    }
    called["samples_jaccard"] = (
        'jaccard_score(y, d, average="samples", zero_division=1)',
        partial(sk.jaccard_score, average="samples", zero_division=1),
    )
    called["subset_accuracy"] = "accuracy_score(y, d)", sk.accuracy_score
    called["hamming_loss"] = "hamming_loss(y, d)", sk.hamming_loss
    for name, (text, theirs) in called.items():
        ours = stakes.metrics.find(name)
        if not np.isclose(ours(truth[:1000], said[:1000]), theirs(truth[:1000], said[:1000])):
            raise ValueError(f"{name} is another figure than {text}")
        yield Contest(
            f"{name} of {LABELS} labels, {n:,} rows",
            Side(f"`metrics.{name}(y, d)`", partial(ours, truth, said)),
            Side(f"scikit-learn `{text}`", partial(theirs, truth, said)),
            at_most(0.5),
        )


def _quantiles(n: int) -> Contest | Measurement:
    what, wanted = f"CRPS of 9 quantiles, {n:,} rows", at_most(1)
    if importlib.util.find_spec("scoringrules") is None:
        missing = Line(what, "", "", "left out: scoringrules is not installed", wanted)
        return Measurement(what, lambda: [missing], wanted)
    import scoringrules

    rng = np.random.default_rng(1)
    levels = np.arange(1, 10) / 10
    truth, said = rng.normal(size=n), np.sort(rng.normal(size=(n, 9)), axis=1)
    columns = {float(level): said[:, i] for i, level in enumerate(levels)}
    return Contest(
        what,
        Side("`metrics.crps(y, {0.1: q[:, 0], …})`", lambda: stakes.metrics.crps(truth, columns)),
        Side("scoringrules `crps_quantile(y, q, levels).mean()`", _mean_crps(scoringrules, truth, said, levels)),
        wanted,
    )


def _mean_crps(library: object, truth: np.ndarray, said: np.ndarray, levels: np.ndarray) -> Callable[[], float]:
    return lambda: float(library.crps_quantile(truth, said, levels).mean())
