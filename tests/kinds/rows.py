"""Rows of every kind, for the tests of this folder: what ``evaluate`` is given, for a choice of the rows."""

import numpy as np

from stakes.tallies import ForecastSums, LabelSums, OutputSums, QuantileSums

N = 60


def labels(seed=0, n=N):
    random = np.random.default_rng(seed)
    truth = random.random((n, 3)) < (0.3, 0.5, 0.4)
    truth[:3], truth[3:6] = np.eye(3, dtype=bool), ~np.eye(3, dtype=bool)  # each label on and off
    scores = np.round(np.clip(0.4 * truth + 0.6 * random.random((n, 3)), 0, 1), 2)
    return {"truth": truth, "prediction": scores > 0.5, "score": scores}


def outputs(seed=0, n=N):
    random = np.random.default_rng(seed)
    truth = random.gamma(2, size=(n, 2)) * (1, 10) + (0, 100)
    return {"truth": truth, "prediction": truth + random.normal(size=(n, 2)) * (0.5, 8)}


def quantiles(seed=0, n=N):
    random = np.random.default_rng(seed)
    truth, spread = random.normal(size=n), 0.5 + random.random(n)
    return {"truth": truth, "quantiles": {0.1: truth / 2 - spread, 0.5: truth / 2, 0.9: truth / 2 + spread}}


def forecasts(seed=0, n=N):
    random = np.random.default_rng(seed)
    truth = np.cumsum(random.normal(size=n))
    return {"truth": truth, "prediction": truth + random.normal(size=n), "order": np.arange(n)}


ROWS = {LabelSums: labels, OutputSums: outputs, QuantileSums: quantiles, ForecastSums: forecasts}


def take(given, rows):
    """The same call with some of the rows."""
    found = {}
    for name, value in given.items():
        found[name] = {key: one[rows] for key, one in value.items()} if isinstance(value, dict) else value[rows]
    return found
