"""
Ten classes, learned at the wrong frequencies
=============================================

A classifier of handwritten digits learned from a sample in which some digits were rare, and is asked about all of them
equally often. Its probabilities lean towards what it saw often. Which recalibration mends that, and what is it worth?
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import stakes

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
learned = rng.random(len(y)) < np.where(y < 5, 0.02, 0.6)  # few of the digits 0 to 4
pixels = X + rng.normal(0, 6, X.shape)  # poor scans: without noise the digits are too easy
model = LogisticRegression(C=1e-3, max_iter=1000).fit(pixels[learned], y[learned])
asked, truth = pixels[~learned], y[~learned]
p = model.predict_proba(asked)

# %%
# Which method?
# -------------
# Temperature scaling has one number, affine recalibration a bias for each class beside it, vector scaling a scale for
# each class as well. Each row is recalibrated by a fit on other rows; the method with the lowest log loss there is
# named.

found = stakes.calibrate(truth=truth, score=p)
print(found)

# %%
# What is it worth?
# -----------------
# Every mistake costs 1. ``decide`` compares the highest probability, as it stands and after each recalibration.

digits = [str(digit) for digit in range(10)]
costs = stakes.Costs(1 - np.eye(10), classes=digits, decisions=digits)
decided = stakes.decide(truth=truth, score=p, costs=costs)
for finding in decided.findings:
    print(finding.question, *finding.words, sep="\n  ")

# %%
# One number cannot tell the digits that were rare from the others, so a temperature changes no decision at all. The
# biases do: they take back what the frequencies of the sample had done.

affine = stakes.AffineCalibrator(digits).fit(p, truth)
rare, frequent = affine.biases_[:5].mean(), affine.biases_[5:].mean()
print(f"mean bias of the digits that were rare {rare:.2f}, of the others {frequent:.2f}")
