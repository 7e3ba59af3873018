"""
ROC or precision–recall: what changes when positives are rare?
==============================================================

A model is tried on 1,000 sick and 10,000 healthy people and looks good. In the town where it shall be used only one
person in 200 is sick. The model is the same, and the sick and the healthy are people of the same kind as before. Which
figures stay, which collapse, and at which should we look?

The scores are simulated: those of the healthy are normal, those of the sick as well, but shifted by 1.8.
"""

import matplotlib.pyplot as plt
import numpy as np

import stakes

rng = np.random.default_rng(0)
healthy = rng.normal(size=10_000)
sick = rng.normal(1.8, size=1_000)


def judged(some):
    """Judge the scores of some of the sick against those of all the healthy."""
    truth = np.repeat(["sick", "healthy"], [len(some), len(healthy)])
    score = np.concatenate([some, healthy])
    return stakes.evaluate(truth=truth, score=score, positive="sick", threshold=1.5)


trials = {"1,000 sick": judged(sick), "50 sick": judged(sick[::20])}

# %%
# The figures
# -----------
# An alarm is given from a score of 1.5 on, in both places.

print(f"{'':30} value    95 % interval   baseline")
for figure in ("recall", "specificity", "auc", "precision", "average_precision"):
    for name, evaluation in trials.items():
        got = evaluation[figure]
        interval = f"{got.low:.3f} – {got.high:.3f}"
        print(f"{figure:18} {name:10} {got.value:6.3f}   {interval}   {got.baseline:8.3f}")

# %%
# The curves
# ----------
# A ROC curve looks at the sick and at the healthy apart, and does not mind how many there are of each. A
# precision–recall curve asks of the alarms how many are right, and there the healthy outnumber the sick.

_, axes = plt.subplots(2, 2, figsize=(10, 10), layout="constrained")
for row, (name, evaluation) in zip(axes, trials.items(), strict=True):
    for ax, kind in zip(row, ("roc", "pr"), strict=True):
        evaluation.plot(kind, ax=ax)
        ax.set_title(name, loc="left")

# %%
# What an alarm means
# -------------------
# This is what the people notice who have to follow the alarms.

for name, evaluation in trials.items():
    table = evaluation.confusion
    print(f"{name}: {table.fp / table.tp:.1f} false alarms for every sick person found")

# %%
# The ROC curve and its area stay, precision and average precision collapse. Look at ROC and auc to learn what a model
# can do whatever the frequencies, and to compare places. Look at precision and its curve where alarms have to be
# followed, on rows with the frequencies of the place. With 50 sick people the intervals of recall, auc and average
# precision are three to five times as wide.
