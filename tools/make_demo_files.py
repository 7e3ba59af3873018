"""Make the prediction files that ship with stakes (needs scikit-learn).

Every row is scored by models that were fitted without it (ten folds), so the figures are honest.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DEMO = Path(__file__).parents[1] / "src" / "stakes" / "demo"


def main() -> None:
    """Write the files."""
    breast_cancer()
    diabetes()


def breast_cancer() -> None:
    """Write breast_cancer.csv: the diagnosis, the size of the tumour, and two models' probabilities of malignancy.

    The data are the Wisconsin diagnostic breast cancer data (Street, Wolberg and Mangasarian, 1993).
    """
    data = load_breast_cancer()
    malignant = data.target == 0
    radius = data.data[:, list(data.feature_names).index("mean radius")]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    models = {"logistic": LogisticRegression(max_iter=1000), "neighbours": KNeighborsClassifier(15)}
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
    diagnosis = np.where(malignant, "malignant", "benign")
    write("breast_cancer", diagnosis=diagnosis, size=thirds(radius, "small", "medium", "large"), **rounded(scores, 6))


def diabetes() -> None:
    """Write diabetes.csv: how far the disease came in a year, the age of the patient, and two models' predictions.

    The data are those of Efron, Hastie, Johnstone and Tibshirani, "Least angle regression" (2004).
    """
    data = load_diabetes()
    folds = KFold(10, shuffle=True, random_state=0)
    models = {"linear": LinearRegression(), "forest": RandomForestRegressor(200, min_samples_leaf=5, random_state=0)}
    said = {name: cross_val_predict(model, data.data, data.target, cv=folds) for name, model in models.items()}
    age = thirds(data.data[:, list(data.feature_names).index("age")], "young", "middle", "old")
    write("diabetes", progression=data.target.astype(int), age=age, **rounded(said, 1))


def thirds(values: np.ndarray, *names: str) -> np.ndarray:
    """Return in which third of all values each lies."""
    return np.array(names)[np.searchsorted(np.quantile(values, [1 / 3, 2 / 3]), values)]


def rounded(columns: dict[str, np.ndarray], digits: int) -> dict[str, list[str]]:
    """Return numbers as they are written."""
    return {name: [f"{value:.{digits}f}" for value in column] for name, column in columns.items()}


def write(name: str, **columns: Sequence[object]) -> None:
    """Write columns as a file."""
    with (DEMO / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])


if __name__ == "__main__":
    main()
