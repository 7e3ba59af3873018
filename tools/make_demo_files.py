"""Make the prediction files that ship with stakes (needs scikit-learn).

Every row is scored by models that were fitted without it (ten folds), so the figures are honest.
"""

import csv
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DEMO = Path(__file__).parents[1] / "src" / "stakes" / "demo"


def main() -> None:
    """Write breast_cancer.csv: the diagnosis, the size of the tumour, and two models' probabilities of malignancy."""
    data = load_breast_cancer()
    malignant = data.target == 0
    radius = data.data[:, list(data.feature_names).index("mean radius")]
    size = np.array(["small", "medium", "large"])[np.searchsorted(np.quantile(radius, [1 / 3, 2 / 3]), radius)]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    models = {
        "logistic": LogisticRegression(max_iter=1000),
        "neighbours": KNeighborsClassifier(15),
    }
    # three of the thirty measurements: all of them would make the task too easy to be instructive
    features = data.data[
        :, [list(data.feature_names).index(f) for f in ("mean texture", "mean smoothness", "mean symmetry")]
    ]
    scores = {
        name: cross_val_predict(
            make_pipeline(StandardScaler(), model), features, malignant, cv=folds, method="predict_proba"
        )[:, 1]
        for name, model in models.items()
    }
    with (DEMO / "breast_cancer.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["diagnosis", "size", *scores])
        for i, positive in enumerate(malignant):
            row = ["malignant" if positive else "benign", size[i], *(f"{scores[name][i]:.6f}" for name in scores)]
            writer.writerow(row)


if __name__ == "__main__":
    main()
