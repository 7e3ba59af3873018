"""
Tumour: operate, test further, or send home?
============================================

A scan suggests how likely a tumour is malignant. Three things can be done, and one of them, more tests, is no class at
all. From which probability on should each be done, and is the model worth having at these costs?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import stakes

# %%
# What decisions cost
# -------------------
# Sending a sick person home costs most, an operation for nothing half of that, tests little in both cases.

costs = stakes.Costs(
    {
        "malignant": {"operate": 0, "tests": 10, "home": 1000},
        "benign": {"operate": 500, "tests": 20, "home": 0},
    }
)

# %%
# By hand, with p for the probability of a malignant tumour: home costs 1000p, tests 10p + 20(1 − p), an operation
# 500(1 − p). Home and tests cost the same at 1010p = 20, tests and an operation at 490p = 480. stakes works in
# fractions, so the points where the cheapest decision changes are exact.

for decision, start in costs.switch_points("malignant"):
    print(f"{decision} from p = {start} = {float(start):.6f}")

# %%
p = np.linspace(0, 1, 501)
for name, sick, healthy in zip(costs.decisions, *np.array(costs.matrix, float), strict=True):
    plt.plot(p, sick * p + healthy * (1 - p), label=name)
    plt.axvline(float(dict(costs.switch_points("malignant"))[name]), color="grey", linestyle=":")
plt.yscale("symlog", linthresh=10)
plt.ylim(0, 1000)
plt.gca().set(xlabel="probability of malignant", ylabel="expected cost (logarithmic above 10)")
plt.legend()

# %%
# A model of two measurements
# ---------------------------
# 569 tumours that come with scikit-learn, judged by radius and texture; every probability is from a model that has not
# seen that tumour. Where stakes knows the costs, it takes the cheapest decision.

data = load_breast_cancer(as_frame=True)
X, truth = data.data[["mean radius", "mean texture"]], data.target_names[data.target]
model = make_pipeline(StandardScaler(), LogisticRegression())
probability = cross_val_predict(model, X, truth, cv=10, method="predict_proba")[:, 1]  # benign, malignant

stakes.plot_regions(model.fit(X, truth), X, truth, costs=costs, positive="malignant")

# %%
ev = stakes.evaluate(truth=truth, score=probability, positive="malignant", costs=costs)
print(ev.confusion)
print(ev["expected_cost"])
print(ev["normalised_cost"])

# %%
# What other policies would cost
# ------------------------------
# Deciding at the points above is called the Bayes threshold; the threshold 0.5 knows only operating and home.

choice = ev.decide()
for policy, cost in choice.alternatives.items():
    print(f"{policy}: {cost.value:.2f} per case")
choice.plot("alternatives").ax_.set_xscale("log")

# %%
# Here nobody with a malignant tumour is sent home, and deciding by the costs leaves 70 % of what testing everybody
# would cost. A yes or no at one half costs nearly eight times as much as the three decisions. The interval of the
# expected cost is wide: a malignant tumour sent home costs 1000, and 212 of them cannot show that it never happens.
