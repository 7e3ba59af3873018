"""
Breast cancer: is a tumour malignant?
=====================================

Thirty measurements of the cell nuclei in a fine-needle sample, taken from each of 569 patients. A logistic regression
says how probable it is that the tumour is malignant. How good is it on patients that it has not seen, and what would
its misses cost?
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import stakes

patients = load_breast_cancer()
diagnosis = patients.target_names[patients.target]
model = make_pipeline(StandardScaler(), LogisticRegression())

# %%
# Every patient judged once, by a model that has not seen them
# -------------------------------------------------------------
# In each of ten folds the model is fitted on nine tenths of the patients and asked about the last tenth. The figures
# below are those of all these answers together. Beside each stands what ignoring the measurements would have scored.

X = patients.data
out_of_fold = stakes.validate(model, X, diagnosis, how="10-fold", positive="malignant")
ev = out_of_fold.pooled
ev

# %%
# The same figures one by one, as text:

for name in ("recall", "specificity", "precision", "auc", "brier_score"):
    print(ev[name])

# %%
# Order and honesty
# -----------------
# The ROC curve asks about the order: do malignant tumours get the higher probabilities?

ev.plot("roc")

# %%
# The reliability curve asks about the numbers themselves: of the tumours that are called 80 % probable, are 80 %
# malignant? The model is nearly always sure of itself, so few tumours speak for the middle of the curve.

ev.plot("reliability")

# %%
# Which cases are missed?
# -----------------------
# Not all misses are alike: some were close calls, of others the model was sure.

malignant = out_of_fold.truth == "malignant"
said = out_of_fold.predictions
for patient in np.argsort(said):
    if malignant[patient] and said[patient] < 0.5:
        print(f"patient {patient:3}  probability of malignant {said[patient]:.3f}")

# %%
# What does a miss cost?
# ----------------------
# Suppose that a missed cancer is as bad as twenty needless biopsies. The cheapest threshold for honest probabilities is
# then 1/21. ``decide`` looks at the thresholds that these patients call for, and says what is known about them.

choice = ev.decide(costs=stakes.Costs(miss=20, false_alarm=1))
print(choice)

# %%
choice.plot("threshold")

# %%
# The decisions at 1/21, beside those at 0.5 above:

print(ev.at(1 / 21).confusion)

# %%
# At 0.5 the model misses 9 of 212 cancers with 4 false alarms, at 1/21 one with 53. If a miss is as bad as twenty false
# alarms, the lower threshold costs less than half as much. The patient who is still missed, number 297, was given a
# probability of 0.002: no sensible threshold finds her.
