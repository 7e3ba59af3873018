"""Counts of batches add up to what scikit-learn says about all rows."""

import re

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from tests.examples import printed


def test_a_training_loop_counts_batch_by_batch():
    """The same loop that keeps all its rows, judged by scikit-learn."""
    text = printed("scale/batch_by_batch")
    rng = np.random.default_rng(0)
    direction, weights = rng.normal(size=8), np.zeros(8)
    truth, score = np.empty((4, 50, 64)), np.empty((4, 50, 64))
    for place in np.ndindex(4, 50):
        X = rng.normal(size=(64, 8))
        y = (rng.random(64) < 1 / (1 + np.exp(-X @ direction))).astype(int)
        p = 1 / (1 + np.exp(-X @ weights))
        truth[place], score[place] = y, p
        weights -= 0.01 * X.T @ (p - y) / 64
    for quarter in range(4):
        y, p = truth[quarter].ravel(), score[quarter].ravel()
        assert f"quarter {quarter + 1}  log_loss {log_loss(y, p):.6f}  auc {roc_auc_score(y, p):.6g}, 95 %" in text

    y, p = truth[2:].ravel(), score[2:].ravel()
    both = text.partition("The last two quarters together: 6,400 cases\n")[2]
    together, travelled = both.split("after the journey: 6,400 cases\n")
    assert f"log_loss {log_loss(y, p):.6g}, 95 %" in together
    exact, binned = (re.search(r"^auc (\S+), .* (\S+) to (\S+) \(", part, re.M) for part in (together, travelled))
    assert exact[1] == f"{roc_auc_score(y, p):.6g}"
    assert abs(float(binned[1]) - float(exact[1])) < 0.01
    assert float(binned[2]) < float(exact[2]) < float(exact[3]) < float(binned[3]), "bins leave something open"
