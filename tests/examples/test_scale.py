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
    for epoch in range(4):
        y, p = truth[epoch].ravel(), score[epoch].ravel()
        assert f"epoch {epoch + 1}  log_loss {log_loss(y, p):.6f}  auc {roc_auc_score(y, p):.6g}, 95 %" in text

    y, p = truth[2:].ravel(), score[2:].ravel()
    together = text.partition("The last two epochs together")[2]
    assert "6,400" in together
    assert re.search(rf"^auc +{roc_auc_score(y, p):.4f} ", together, re.M)
    assert re.search(rf"^log_loss +{log_loss(y, p):.4f} ", together, re.M)

    travelled = re.search(r"^rows 6,400, auc ([\d.]+), 95 % interval ([\d.]+) to ([\d.]+) ", text, re.M)
    value, low, high = map(float, travelled.groups())
    assert abs(value - roc_auc_score(y, p)) < 0.01
    exact = re.search(r"^auc +\S+ +([\d.]+) – ([\d.]+) ", together, re.M)
    assert low < float(exact[1])
    assert float(exact[2]) < high, "bins leave something open"
