"""
Grades: one step off is not as bad as three
===========================================

How far diabetes comes in a year, in four grades. A model that says "severe" for "mild" is worse than one that says
"moderate", and accuracy does not see it.
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import stakes

grades = ["mild", "moderate", "marked", "severe"]
diabetes = load_diabetes()
codes = np.searchsorted(np.quantile(diabetes.target, (0.25, 0.5, 0.75)), diabetes.target)
scores = cross_val_predict(LogisticRegression(), diabetes.data, codes, method="predict_proba")

# %%

ev = stakes.evaluate(
    truth=np.array(grades)[codes], score=dict(zip(grades, scores.T, strict=True)), classes=grades, ordered=True
)
for name in ("accuracy", "within_one_accuracy", "mean_class_distance", "quadratic_kappa", "ranked_probability_score"):
    print(ev[name])
print(ev.confusion)
ev.plot("confusion")
