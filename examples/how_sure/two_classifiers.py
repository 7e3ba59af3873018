"""
Two classifiers: better, or only luckier?
=========================================

A support-vector classifier and ten nearest neighbours tell malignant tumours from benign ones. Both have a fine ROC
curve, and one lies a little higher. Is that classifier better, or was it lucky with these 569 tumours?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import stakes

tumours = load_breast_cancer()
diagnosis = tumours.target_names[tumours.target]
malignant = diagnosis == "malignant"

# %%
# Every tumour judged by a model that has not seen it
# ---------------------------------------------------
# Both classifiers get the same ten folds, so their scores stand side by side, tumour by tumour. The neighbours say
# probabilities, the support vectors only a distance: to rank tumours, either will do.

folds = StratifiedKFold(10, shuffle=True, random_state=0)


def out_of_fold(model, method):
    """Score each tumour by a model that was fitted on the other folds."""
    steps = make_pipeline(StandardScaler(), model)
    return cross_val_predict(steps, tumours.data, malignant, cv=folds, method=method)


scores = {
    "neighbours": out_of_fold(KNeighborsClassifier(10), "predict_proba")[:, 1],
    "vectors": out_of_fold(SVC(), "decision_function"),
}
comparison = stakes.compare(truth=diagnosis, scores=scores, positive="malignant", margin=0.02)

# %%
# The two ROC curves
# ------------------
# Only the corner in which both curves run is drawn. The bands overlap almost everywhere, which seems to say that the
# classifiers cannot be told apart.

_, axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")
for ax, (name, evaluation) in zip(axes, comparison.models.items(), strict=True):
    evaluation.plot("roc", ax=ax)
    ax.set_title(name, loc="left")
    ax.set(xlim=(-0.005, 0.3), ylim=(0.7, 1.005))

# %%
for name, evaluation in comparison.models.items():
    curve = evaluation.curve("roc")
    for most in (0.01, 0.05, 0.1):
        found = max(curve.y[curve.x <= most])
        print(f"{name:10}  finds {found:.1%} with at most {most:.0%} false alarms")

# %%
# The difference, row by row
# --------------------------
# A tumour that is hard for one classifier is often hard for the other. Comparing them on the same tumours takes this
# luck out, and the interval of the *difference* is shorter than two overlapping bands suggest.

comparison

# %%
pair = comparison.pairs[0]
print(f"{pair.first} − {pair.second}: {pair.difference:.4f}")
print(f"95 % interval {pair.low:.4f} to {pair.high:.4f}, p = {pair.p_value:.4f}")

# %%
# The support vectors rank these tumours better: the interval of the difference leaves out 0. The difference is small,
# though. Neither classifier is more than 0.02 worse than the other, which is the ``margin`` asked for.
