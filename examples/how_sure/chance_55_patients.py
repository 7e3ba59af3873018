"""
55 patients, 5,000 measurements: could it be chance?
====================================================

A study has 55 patients and 5,000 measurements of each. The 20 measurements that differ most between the sick and the
healthy are kept, and under cross-validation a model of these is right nearly always. Should anybody believe it?

Here the answer is known, because the measurements are simulated: they are pure noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import stakes

rng = np.random.default_rng(0)
noise = rng.normal(size=(55, 5000))
sick = np.repeat([True, False], [25, 30])

# %%
# Choose first, validate afterwards
# ---------------------------------
# The 20 measurements are chosen with the help of all patients, then the model is validated in five folds.

chosen = SelectKBest(k=20).fit_transform(noise, sick)
flattered = stakes.validate(GaussianNB(), chosen, sick, how="5-fold")
print(flattered["accuracy"].pooled)

# %%
# Shuffling the diagnoses does not unmask it when only the model is fitted again: the choice was made by the true
# diagnoses, and no shuffle undoes that. (29 shuffles keep this quick, and 1/30 is the least p that they can give; take
# 1,000 in earnest.)

fooled = stakes.permutation_test(GaussianNB(), chosen, sick, permutations=29)
print(fooled.findings[0].words[0], f"(p = {fooled.p_value:.2g})")

# %%
# Test all that was done
# ----------------------
# The choice is a part of the model. In a pipeline it is made anew in every fold, without the patients that are judged,
# and made anew for every shuffle.

model = make_pipeline(SelectKBest(k=20), GaussianNB())
by_chance = stakes.permutation_test(model, noise, sick, permutations=29)
print(by_chance.findings[0].words[0], f"(p = {by_chance.p_value:.2g})")

# %%
# The real thing
# --------------
# The same pipeline on 55 real tumours, 25 of them malignant, whose 30 measurements are hidden among noise.

data, benign = load_breast_cancer(return_X_y=True)
rows = [*np.flatnonzero(benign == 0)[:25], *np.flatnonzero(benign == 1)[:30]]
hidden = np.hstack([data[rows], noise[:, 30:]])
real = stakes.permutation_test(model, hidden, sick, permutations=29)
print(real.findings[0].words[0], f"(p = {real.p_value:.2g})")

# %%
tests = {"5,000 times noise": by_chance, "30 measurements among noise": real}
_, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharex=True, layout="constrained")
for ax, (name, test) in zip(axes, tests.items(), strict=True):
    test.plot("null", ax=ax, bins=12)
    ax.set_title(name, loc="left")

# %%
# The brilliant figure came from choosing measurements with the help of the patients that were to be judged. With the
# choice inside, noise does no better than shuffled noise, while the real tumours are told apart better than in any of
# the shuffles.
