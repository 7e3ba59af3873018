"""
scikit-learn's code, with one line changed
==========================================

This is how models are judged with scikit-learn every day. Only the import of the metrics is another one, and every
number now knows how sure it is.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stakes.sklearn import (
    RocCurveDisplay,
    classification_report,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

# %%
# What is unchanged
# -----------------

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, :4], y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
decided, probability = model.predict(X_test), model.predict_proba(X_test)[:, 1]

print(classification_report(y_test, decided, target_names=["malignant", "benign"]))
print(f"AUC {roc_auc_score(y_test, probability):.3f}")
display = RocCurveDisplay.from_estimator(model, X_test, y_test)

# %%
# What is new
# -----------
# 143 tumours are not many, and it shows:

found = {
    "precision": precision_score(y_test, decided),
    "recall": recall_score(y_test, decided),
    "recall of malignant ones": recall_score(y_test, decided, pos_label=0),
    "f1": f1_score(y_test, decided),
    "log loss": log_loss(y_test, probability),
    "AUC": roc_auc_score(y_test, probability),
}
for name, figure in found.items():
    print(f"{name:25} {figure:.3f}   between {figure.low:.3f} and {figure.high:.3f}")

# %%
# A figure that has no value follows scikit-learn (0, with a warning) and says why; ``strict=True`` leaves it undefined.

nobody = precision_score([1, 0, 1], [0, 0, 0], zero_division=0)
print(float(nobody), "because", nobody.reason)
print(precision_score([1, 0, 1], [0, 0, 0], strict=True))
