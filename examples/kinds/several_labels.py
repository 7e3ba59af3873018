"""
Several labels: which are forgotten together?
=============================================

A document can be about several things at once. A model tags documents with five labels; how many tags are wrong, which
are forgotten together, and from which score on should each tag be given when a missing tag costs more than a wrong one?
"""

from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.multioutput import MultiOutputClassifier

import stakes

names = ["law", "money", "health", "sport", "travel"]
words, tags = make_multilabel_classification(600, 30, n_classes=5, random_state=0)
model = MultiOutputClassifier(LogisticRegression(max_iter=2000))
scores = [each[:, 1] for each in cross_val_predict(model, words, tags, method="predict_proba")]

# %%
# One evaluation for all labels
# -----------------------------

ev = stakes.evaluate(
    truth=dict(zip(names, tags.T, strict=True)),
    score=dict(zip(names, scores, strict=True)),
)
print(ev)
print(ev["macro_f1"])
print(ev["f1", "sport"])

# %%
# Together, and at a price
# ------------------------

for pair in ev.forgotten[:3]:
    print(f"{pair.missed} and {pair.beside}: both missed in {pair.rows:.0f} documents")
print(ev.decide(stakes.Costs(miss=3, false_alarm=1)))
