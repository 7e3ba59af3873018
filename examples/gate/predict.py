"""Write preds.csv: what the model of the main branch and a new one say about tumours that they were not fitted on."""

import csv

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

data = load_breast_cancer()
size = ["small" if radius < 14 else "large" for radius in data.data[:, 0]]
models = {"main": LogisticRegression(C=0.01), "new": LogisticRegression(C=1.0)}
scores = {
    name: cross_val_predict(make_pipeline(StandardScaler(), model), data.data, data.target == 0, method="predict_proba")
    for name, model in models.items()
}

with open("preds.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["diagnosis", "size", *scores])
    for row, target in enumerate(data.target):
        said = [scores[name][row, 1] for name in scores]
        table.writerow([data.target_names[target], size[row], *said])
