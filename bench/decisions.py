"""Decisions and calibration: choosing a threshold, and the rising curve of a calibrator."""

from collections.abc import Iterator

import numpy as np
from scipy.optimize import isotonic_regression

import stakes
from contest import Contest, Side, at_most
from stakes.decisions.calibration.isotonic import pool_adjacent
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.decisions.thresholds.out_of_bag import RESAMPLES
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.sampling import USUAL


def pieces(n: int) -> Iterator[Contest]:
    yield _threshold(n // 10)
    yield _rising_curve(n)


def _threshold(n: int) -> Contest:
    rng = np.random.default_rng(12)
    s = rng.beta(1, 6, n)
    y = rng.random(n) < s
    table = stakes.ScoreTable.from_rows(s, y)
    pricing = Pricing(stakes.Costs(miss=5, false_alarm=1))
    return Contest(
        f"best threshold and its corrected cost, {n:,} distinct scores",
        Side(
            f"`decide_by_cost(table, pricing)`, {RESAMPLES:,} resamples",
            lambda: decide_by_cost(table, pricing, USUAL, True),
        ),
        Side("stakes, one exact `metrics.auc(y, s)`", lambda: stakes.metrics.auc(y, s)),
        at_most(15),
    )


def _rising_curve(n: int) -> Contest:
    rng = np.random.default_rng(6)
    labels = rng.random(n) < 0.2 + 0.6 * np.linspace(0, 1, n)  # of rows in the order of their scores
    numbers = labels.astype(np.float64)
    return Contest(
        f"pool adjacent violators, {n:,} sorted scores",
        Side("`pooled(labels).fitted()`", lambda: pool_adjacent(labels).fitted()),
        Side("scipy `isotonic_regression(labels)`", lambda: isotonic_regression(numbers)),
        at_most(1),
    )
