"""
A training loop: is it still learning?
======================================

A model learns from a stream and never holds all its predictions. Each batch is counted before it is learned from, so
every figure is one of cases that the model had not seen, and the counts add up. Do the probabilities still get better
after the order of the cases no longer does?
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np

import stakes

RNG = np.random.default_rng(0)
DIRECTION = RNG.normal(size=8)
QUARTERS, BATCHES, ROWS = 4, 50, 64


def batch() -> tuple[np.ndarray, np.ndarray]:
    """New cases and their classes."""
    X = RNG.normal(size=(ROWS, 8))
    return X, (RNG.random(ROWS) < 1 / (1 + np.exp(-X @ DIRECTION))).astype(int)


# %%
# The loop
# --------
# Logistic regression by stochastic gradient descent. What is kept of a batch is its count.

weights, counted = np.zeros(8), []
for _ in range(QUARTERS * BATCHES):
    X, y = batch()
    p = 1 / (1 + np.exp(-X @ weights))
    counted.append(stakes.count(truth=y, score=p))
    weights -= 0.01 * X.T @ (p - y) / ROWS

# %%
# Sums of counts
# --------------
# The count of a quarter of the stream is the sum of the counts of its batches, and quarters add up, too.

starts = range(0, len(counted), BATCHES)
quarters = [sum(counted[start : start + BATCHES]) for start in starts]
for number, quarter in enumerate(quarters, 1):
    ev = stakes.Evaluation(quarter)
    sure = f"95 % interval {ev['auc'].low:.4f} to {ev['auc'].high:.4f}"
    print(f"quarter {number}  log_loss {ev['log_loss']:.6f}  auc {ev['auc']:.6g}, {sure}")

together = stakes.Evaluation(quarters[-2] + quarters[-1])
print(f"\nThe last two quarters together: {together.rows:,} cases")
print(together["log_loss"])
print(together["auc"])

# %%
# Any other stretch will do as well: here ten batches at a time.

starts = range(0, len(counted), 10)
tens = [stakes.Evaluation(sum(counted[start : start + 10])) for start in starts]
seen = ROWS * (np.array(starts) + 10)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, name in zip(axes, ("log_loss", "auc"), strict=True):
    found = [ev.interval(name) for ev in tens]
    low, high = [one.low for one in found], [one.high for one in found]
    ax.fill_between(seen, low, high, alpha=0.2, label="95 % interval")
    ax.plot(seen, [one.value for one in found], label=name)
    baseline = [one.baseline for one in found]
    ax.plot(seen, baseline, "--", color="grey", label="ignoring the input")
    ax.set_xlabel("cases seen")
    ax.legend()

# %%
# Counts that travel
# ------------------
# Counts are saved without the rows and added up elsewhere. Scores travel in bins, none of which holds so few cases that
# one could be recognised, so the auc is only known within what the bins leave open; its interval is wider by that.

with tempfile.TemporaryDirectory() as folder:
    files = [f"{folder}/quarter{number}.tally" for number in (3, 4)]
    for quarter, file in zip(quarters[2:], files, strict=True):
        quarter.save(file)
    travelled = stakes.Evaluation(stakes.load(files[0]) + stakes.load(files[1]))
print(f"after the journey: {travelled.rows:,} cases")
print(travelled["auc"])

# %%
# After the first quarter the auc no longer rises, while the log loss falls in every quarter: the model has found the
# order of the cases and is still learning how sure it may be.
