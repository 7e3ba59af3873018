"""A training loop that never holds all its predictions: each batch is counted, and the counts add up.

Logistic regression on a stream, by stochastic gradient descent. A batch is predicted before it is learned from, so
every figure is one of cases that the model had not seen.
"""

import numpy as np

import stakes

RNG = np.random.default_rng(0)
DIRECTION = RNG.normal(size=8)
EPOCHS, BATCHES, ROWS = 4, 50, 64


def batch() -> tuple[np.ndarray, np.ndarray]:
    """New cases and their classes."""
    X = RNG.normal(size=(ROWS, 8))
    return X, (RNG.random(ROWS) < 1 / (1 + np.exp(-X @ DIRECTION))).astype(int)


weights, epochs = np.zeros(8), []
for epoch in range(EPOCHS):
    counted = None
    for _ in range(BATCHES):
        X, y = batch()
        p = 1 / (1 + np.exp(-X @ weights))
        part = stakes.count(truth=y, score=p)
        counted = part if counted is None else counted + part
        weights -= 0.01 * X.T @ (p - y) / ROWS
    epochs.append(counted)
    ev = stakes.Evaluation(counted)
    print(f"epoch {epoch + 1}  log_loss {ev['log_loss'].value:.6f}  {ev['auc']}")

print("\nThe last two epochs together\n")
stakes.Evaluation(epochs[-2] + epochs[-1]).show()
