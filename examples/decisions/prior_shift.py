"""
Screening: half of the training cases were ill, now 2 % are
===========================================================

A model learned from as many malignant as benign tumours. Now it is to be used in screening, where 2 % are malignant.
Its probabilities are too high there. Which threshold is right, and what do its mistakes cost?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import stakes

# %%
# Half and half
# -------------
# All 212 malignant tumours of the data that come with scikit-learn, and as many of the benign ones, judged by radius
# and texture. Every probability is from a model that has not seen that tumour. A miss costs as much as 20 false alarms.

data = load_breast_cancer()
malignant, benign = np.flatnonzero(data.target == 0), np.flatnonzero(data.target == 1)
kept = np.concatenate([malignant, np.random.default_rng(0).choice(benign, len(malignant), replace=False)])
truth = data.target_names[data.target[kept]]

model = make_pipeline(StandardScaler(), LogisticRegression())
score = cross_val_predict(model, data.data[kept, :2], truth, cv=10, method="predict_proba")[:, 1]  # benign, malignant
question = {"truth": truth, "score": score, "positive": "malignant", "costs": stakes.Costs(miss=20, false_alarm=1)}

# %%
# Where half are malignant
# ------------------------
# A tumour is called malignant from 1 / (1 + 20) = 0.0476 on.

here = stakes.evaluate(**question)
print(f"threshold {here.threshold:.6f}")
print(here["expected_cost"])

# %%
# Where 2 % are malignant
# -----------------------
# By Bayes' rule the odds of a score are multiplied by (0.02 / 0.98) / (0.5 / 0.5) = 1/49. A tumour should still be
# called malignant from the odds 1/20 on, so the score must reach the odds 49/20: a threshold of 49/69.

there = stakes.evaluate(**question, prior=0.02, training_prior=0.5)
print(f"threshold {there.threshold:.6f}, by hand {49 / 69:.6f}")
print(there["expected_cost"])

# %%
q = np.linspace(0.001, 0.999, 500)
plt.plot(q, q, linestyle=":", color="grey", label="what the model says")
plt.plot(q, 0.02 * q / (0.02 * q + 0.98 * (1 - q)), label="what it means where 2 % are malignant")
plt.axhline(1 / 21, color="black", linewidth=1, label="1/21: from here on call it malignant")
plt.axvline(there.threshold, color="black", linewidth=1, linestyle="--", label="49/69 in scores of the model")
plt.gca().set(xlabel="score", ylabel="probability of malignant", title="the same score in two places")
plt.legend()

# %%
# The cost by hand: how often each class is mistaken does not depend on how frequent it is, so the two error rates are
# weighed with 2 % and 98 %.

missed = np.mean(score[truth == "malignant"] < 49 / 69)
alarmed = np.mean(score[truth == "benign"] >= 49 / 69)
print(f"by hand 0.02 × 20 × {missed:.4f} + 0.98 × {alarmed:.4f} = {0.02 * 20 * missed + 0.98 * alarmed:.6f}")

# %%
# What if nobody had corrected?
# -----------------------------
# The old threshold in the new place, against the best way to decide the same for everybody (calling all benign):

uncorrected = stakes.evaluate(**question, prior=0.02, training_prior=0.5, threshold=here.threshold)
for name, ev in {"threshold of the old place": uncorrected, "threshold of the new place": there}.items():
    print(f"{name}: {ev['expected_cost'].value:.4f} per case, {ev['normalised_cost'].value:.4f} of the best constant")

# %%
# Uncorrected, the model would cost more in screening than sending everybody home, because it calls so many benign
# tumours malignant. With the threshold moved from 0.05 to 0.71 it leaves 36 % of that cost. Nothing was trained again.
