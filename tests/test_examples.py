"""The examples run, and print what scikit-learn's own cross-validation gives."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import model_selection as ms
from sklearn.datasets import load_diabetes, load_iris
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").rglob("*.py"))


def printed(name: str) -> str:
    path = next(path for path in EXAMPLES if path.stem == name)
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= 45


def test_iris_with_a_support_vector_classifier():
    text = printed("iris")
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    train, test = next(ms.StratifiedShuffleSplit(1, test_size=0.25, random_state=0).split(X, y))
    decided = model.fit(X[train], y[train]).predict(X[test])
    table = [[int(np.sum((y[test] == t) & (decided == d))) for d in range(3)] for t in range(3)]
    for name, row in zip(("setosa", "versicolor", "virginica"), table, strict=True):
        assert re.search(rf"^{name} +{' +'.join(map(str, row))}\b", text, re.M)
    scores = [
        ms.cross_val_score(model, X, y, cv=ms.StratifiedKFold(10, shuffle=True, random_state=seed)) for seed in range(3)
    ]
    assert f"mean over folds {np.mean(scores):.4f}, spread over folds {np.std(scores, ddof=1):.4f}" in text


def test_four_regressors_are_ranked():
    text = printed("diabetes_regressors")
    X, y = load_diabetes(return_X_y=True)
    predicted = ms.cross_val_predict(KNeighborsRegressor(10), X, y, cv=ms.KFold(5, shuffle=True, random_state=0))
    neighbours = text.partition("nearest neighbours")[2]
    assert float(re.search(r"mean_absolute_error +([\d.]+)", neighbours)[1]) == pytest.approx(
        np.abs(y - predicted).mean(), abs=5e-3
    )
    ranks = [float(value) for value in re.findall(r"mean_absolute_error +([\d.]+)", text)]
    assert len(ranks) == 4
    assert ranks == sorted(ranks)
    assert all(f"\n    {name} " in text for name in ("max_error", "mean_squared_error", "median_absolute_error", "r2"))
    tree = text.partition("decision tree\n")[2]
    assert re.search(r"mean_absolute_error .* on training rows 0$", tree, re.M)


def test_a_training_loop_counts_batch_by_batch():
    """The same loop that keeps all its rows, judged by scikit-learn."""
    from sklearn.metrics import log_loss, roc_auc_score

    text = printed("batch_by_batch")
    rng = np.random.default_rng(0)
    direction, weights = rng.normal(size=8), np.zeros(8)
    for epoch in range(1, 5):
        truth, score = [], []
        for _ in range(50):
            X = rng.normal(size=(64, 8))
            y = (rng.random(64) < 1 / (1 + np.exp(-X @ direction))).astype(int)
            p = 1 / (1 + np.exp(-X @ weights))
            truth, score = [*truth, *y], [*score, *p]
            weights -= 0.01 * X.T @ (p - y) / 64
        found = f"epoch {epoch}  log_loss {log_loss(truth, score):.6f}  auc {roc_auc_score(truth, score):.6g}, 95 %"
        assert found in text
    assert "6,400" in text.partition("The last two epochs together")[2]
