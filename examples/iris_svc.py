"""Iris with a support-vector classifier: which species are taken for which, on flowers that it has not seen?"""

from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import stakes

iris = load_iris()
species = iris.target_names[iris.target]
model = make_pipeline(StandardScaler(), SVC())

held_out = stakes.validate(model, iris.data, species, how="hold-out 25%")
print(held_out.pooled)  # the confusion table, then precision, recall and f1 of every species

crossed = stakes.validate(model, iris.data, species, how="10-fold", repeats=3)
print()
print(crossed)
print()
print(crossed["accuracy"])
print(crossed["recall", "virginica"])
