"""
Two real readers of one tumour: and, or, or something better?
=============================================================

One classifier sees how large a tumour is, another how its surface looks. A miss costs five times as much as a false
alarm. Which rule suits the two, what does an error of one of them cost the whole, and where should their thresholds be?
"""

from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import stakes

# %%
# Two classifiers that look at different things
# ---------------------------------------------
# Both answer for tumours that they have not seen.

tumours = load_breast_cancer()
malignant = tumours.target == 0
sees = {"size": ("radius", "area", "perimeter"), "surface": ("texture", "smoothness", "symmetry")}
rows, scores = {"diagnosis": tumours.target_names[tumours.target]}, {}
for name, words in sees.items():
    columns = [i for i, column in enumerate(tumours.feature_names) if column.split()[1] in words]
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    scores[name] = cross_val_predict(steps, tumours.data[:, columns], malignant, cv=10, method="predict_proba")[:, 1]
    rows[name] = [("benign", "malignant")[int(score >= 0.5)] for score in scores[name]]

# %%
# And, or
# -------
# With *and* both must raise the alarm, with *or* one is enough. The system's own table tells who is missed, who is
# alarmed by mistake, and what each class costs. Who multiplies error rates expects 102.9 under *or* instead of 107:
# the two fail on the same tumours a little more often than by chance.

question = {"truth": "diagnosis", "models": list(sees), "positive": "malignant"}
costs = stakes.Costs(miss=5, false_alarm=1)
for rule in ("size and surface", "size or surface"):
    system = stakes.System(rows, **question, costs=costs, decide=rule)
    print(f"{rule}: {system.cost:g}")
    print(system.table)
    print(system.bounds("surface"))

# %%
# What an error of one costs
# --------------------------
# Expected and excess costs of each answer of the reader of surfaces, under *or*: a miss costs what the other reader
# does not catch, a false alarm nearly always goes through.

print(system.component_costs("surface"))
print(system.advice)

# %%
# The cheapest rule, and thresholds that fit together
# ---------------------------------------------------
# Each combination of answers gets the decision that costs least, chosen on four fifths of the tumours and judged on
# the others, in turn: nothing beats *or* here. Thresholds are chosen together and judged alike: the reader of surfaces
# is to raise the alarm only when it is nearly sure, and that of sizes much earlier.

print(system.best_rule())
thresholds = system.best_thresholds(scores)
print(thresholds)
print(f"a case costs {thresholds.held_out / thresholds.cases:.3f} instead of {thresholds.now / thresholds.cases:.3f}")

# %%
# Malignant tumours alone
# -----------------------
# A hospital may send only its malignant cases. Costs of misses need no others: ``prior=1`` asks about them alone.

sent = {name: [cell for cell, sick in zip(column, malignant, strict=True) if sick] for name, column in rows.items()}
alone = stakes.System(sent, **question, costs=costs, decide="size and surface", prior=1)
print(f"a malignant tumour costs {alone.cost:.3f}, {alone.bounds('size').best:.3f} at best, "
      f"{alone.bounds('size').worst:.3f} at worst")  # fmt: skip
