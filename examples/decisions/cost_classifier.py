"""
A classifier that knows what mistakes cost, and scikit-learn's own
==================================================================

scikit-learn chooses a threshold with ``TunedThresholdClassifierCV``: it tries some on folds and keeps the one with the
best mean score. ``stakes.sklearn.CostClassifier`` takes the cheapest decision for each row by its probabilities, if
asked after recalibrating them, or the threshold that costs least on all rows out of fold. Which is cheaper on rows that
none of them has seen?
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes.sklearn import CostClassifier

# %%
# Tumours: a missed one costs 20 false alarms
# -------------------------------------------
# Four measurements of 569 tumours, split in halves at random 10 times. A logistic regression has probabilities that are
# about right; naive Bayes is much too sure of itself. The figures are costs per patient of the other half.

costs = np.array([[0, 1], [20, 0]])


def cost(truth, decided):
    """Cost per patient."""
    return costs[truth, decided.astype(int)].mean()


def ways(model):
    """Ways to decide with the same model."""
    return {
        "predict, costs unknown": model,
        "TunedThresholdClassifierCV": TunedThresholdClassifierCV(
            model, scoring=make_scorer(cost, greater_is_better=False)
        ),
        "CostClassifier": CostClassifier(model, costs),
        "CostClassifier, threshold": CostClassifier(model, costs, method="threshold"),
        "CostClassifier, recalibrated": CostClassifier(model, costs, calibrate="affine"),
    }


def compare(model, X, y, splits):
    """Print what each way costs on rows that it has not seen."""
    paid = {way: [] for way in ways(model)}
    for seed in range(splits):
        X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.5, stratify=y, random_state=seed)
        for way, classifier in ways(model).items():
            paid[way].append(cost(y_test, classifier.fit(X_train, y_train).predict(X_test)))
    tuned = np.array(paid["TunedThresholdClassifierCV"])
    for way, each in paid.items():
        cheaper = int((np.array(each) < tuned).sum())
        print(f"{way:30} {np.mean(each):.3f}   cheaper than TunedThresholdClassifierCV in {cheaper} of {splits} splits")


X, y = load_breast_cancer(return_X_y=True)
X, y = X[:, :4], 1 - y
compare(make_pipeline(StandardScaler(), LogisticRegression()), X, y, 10)

# %%
compare(GaussianNB(), X, y, 10)

# %%
# Of honest probabilities all ways are about as good: the splits overlap, so a few per cent either way say little, and
# here scikit-learn's is a little ahead (0.49 against 0.52). Where they are not honest, deciding by them as they stand
# is dear (0.97). Recalibrated it costs 0.52, and with the threshold of all rows out of fold 0.55, against the 0.62 of a
# threshold that is best in the mean of small folds.
