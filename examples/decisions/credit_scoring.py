"""
Credit: is the model better than lending to everybody?
======================================================

Few borrowers default, so a model that says "repays" of everybody is nearly always right. Accuracy hardly moves when a
real model takes its place. What does the model save, and from which probability of default on should a loan be refused?
"""

import numpy as np
from sklearn.linear_model import LogisticRegression

import stakes

# %%
# Applicants
# ----------
# No loans come with the libraries, so these are simulated: debts, late payments and a low income make a default more
# likely. A logistic regression learns from the first half and is judged on the second.

rng = np.random.default_rng(0)
n = 6000
log_income, debt, late = rng.normal(0, 0.5, n), rng.gamma(2, 0.5, n), rng.poisson(0.4, n)
chance = 1 / (1 + np.exp(4.7 - 0.9 * debt + 1.2 * log_income - 0.9 * late))
outcome = np.where(rng.random(n) < chance, "defaults", "repays")
X = np.column_stack([log_income, debt, late])

model = LogisticRegression().fit(X[: n // 2], outcome[: n // 2])
truth, score = outcome[n // 2 :], model.predict_proba(X[n // 2 :])[:, 0]  # defaults, repays

# %%
# What accuracy says
# ------------------
# At one half the model is right hardly more often than somebody who ignores the input and says "repays" of everybody,
# and it finds few of the defaults. The auc says that there is something in the scores, but not what to do with them.

plain = stakes.evaluate(truth=truth, score=score, positive="defaults")
for figure in ("accuracy", "recall", "auc"):
    print(plain[figure])

# %%
# What costs say
# --------------
# A loan that is not paid back loses eight times what a good one earns. If the probabilities are right, refuse from
# 1 / (1 + 8) = 0.111 on. Do these rows agree?

costs = stakes.Costs(miss=8, false_alarm=1)
choice = stakes.decide(truth=truth, score=score, positive="defaults", costs=costs)
print(choice)

# %%
# The curve is flat near its lowest point: a wide range of thresholds cannot be told from the best. That is why the one
# that follows from the costs, which no row has chosen, is recommended.

choice.plot("threshold")

# %%
# Against the best constant
# -------------------------
# The normalised cost is what is left of the cost of the better constant decision, here lending to everybody. Below 1
# the model is useful.

ev = stakes.evaluate(truth=truth, score=score, positive="defaults", costs=costs)
print(f"at {ev.threshold:.4f}:", ev["normalised_cost"])
print("at 0.5:", ev.at(0.5)["normalised_cost"])

# %%
# Judged by accuracy the model is not worth having; decided by the costs it saves a sixth of what lending to everybody
# loses. At one half it saves next to nothing.
