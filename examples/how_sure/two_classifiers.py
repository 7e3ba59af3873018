"""Is a support-vector classifier better than nearest neighbours at telling tumours apart, or only luckier?

Both score the same 569 tumours, each by a model that had not seen it. Two ROC curves that look different say little:
what counts is their difference, row by row, and how far it would move with other rows.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import stakes

features, benign = load_breast_cancer(return_X_y=True)
malignant = 1 - benign
folds = StratifiedKFold(10, shuffle=True, random_state=0)


def out_of_fold(model, method):
    """Score each tumour by a model fitted on the other folds."""
    return cross_val_predict(make_pipeline(StandardScaler(), model), features, malignant, cv=folds, method=method)


scores = {
    "neighbours": out_of_fold(KNeighborsClassifier(10), "predict_proba")[:, 1],
    "vectors": out_of_fold(SVC(), "decision_function"),
}
comparison = stakes.compare(truth=malignant, scores=scores, margin=0.02)

for name, evaluation in comparison.models.items():
    curve = evaluation.curve("roc")
    points = [max(y for x, y in zip(curve.x, curve.y, strict=True) if x <= most) for most in (0.01, 0.05, 0.1)]
    shown = ", ".join(f"{y:.3f} at {x}" for x, y in zip(("1 %", "5 %", "10 %"), points, strict=True))
    print(f"{name}: share of tumours found {shown} false alarms")
print(f"\n{comparison}")
