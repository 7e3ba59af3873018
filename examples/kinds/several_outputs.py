"""
Several outputs: one model, three measures
==========================================

Twenty middle-aged men did chin-ups, sit-ups and jumps; a model predicts their weight, waist and pulse. Twenty rows tell
little, and the intervals say so.
"""

from sklearn.datasets import load_linnerud
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

import stakes

linnerud = load_linnerud()
predicted = cross_val_predict(LinearRegression(), linnerud.data, linnerud.target, cv=20)

# %%

ev = stakes.evaluate(truth=linnerud.target, prediction=predicted, classes=linnerud.target_names)
print(ev)
print(ev["uniform_r2"])
print(ev["variance_weighted_r2"])
print(ev["r2", "Waist"])
