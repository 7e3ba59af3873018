"""
Fraud: one threshold, or the loss of each payment?
==================================================

A fraud that goes through costs its amount; asking an honest client to confirm a payment costs 5 in time and trouble. A
small payment is not worth asking about even when it looks suspicious, a large one is at the slightest doubt. How much
is lost by deciding every payment at the same probability?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import stakes

# %%
# Payments
# --------
# No payments come with the libraries, so these are simulated: one in forty is a fraud, larger amounts and odd places
# more often. A logistic regression learns from the first half and is judged on the second.

rng = np.random.default_rng(7)
n = 20_000
amount, oddness = rng.lognormal(3.5, 1.2, n).round(2), rng.normal(size=n)
fraud = rng.random(n) < 1 / (1 + np.exp(5.6 - 1.3 * oddness - 0.35 * np.log(amount)))
X = np.column_stack([np.log(amount), oddness])
model = LogisticRegression().fit(X[: n // 2], fraud[: n // 2])

payments = {
    "truth": np.where(fraud[n // 2 :], "fraud", "honest"),
    "probability": model.predict_proba(X[n // 2 :])[:, 1],
    "amount": amount[n // 2 :],
}
costs = stakes.Costs(miss="amount", false_alarm=5)
question = {"truth": "truth", "score": "probability", "positive": "fraud", "costs": costs}

# %%
# One threshold for all
# ---------------------
# A cell of the costs may name a column: then each row has a price of its own. The best single threshold:

choice = stakes.decide(payments, **question)
print(choice)

# %%
# The cheapest decision for each payment
# --------------------------------------
# Letting a payment through loses p × amount on average, asking loses 5 × (1 − p). With probabilities and costs
# at hand, evaluate takes the smaller of the two for every row.

ev = stakes.evaluate(payments, **question)
print(ev.confusion)
print(ev["expected_cost"])
print(ev["normalised_cost"])

# %%
one, p = choice.threshold, np.geomspace(1e-3, 0.9, 200)
for truth, colour in (("honest", "lightgrey"), ("fraud", "tab:red")):
    shown = payments["truth"] == truth
    plt.scatter(payments["amount"][shown], payments["probability"][shown], s=6, c=colour, label=truth)
plt.plot(5 * (1 - p) / p, p, c="black", label="ask above: by expected loss")
plt.axhline(one, c="black", linestyle="--", label=f"ask above: one threshold, {one:.3f}")
plt.gca().set(
    xscale="log", yscale="log", xlim=(1, 3000), ylim=(1e-3, 1), xlabel="amount", ylabel="probability of fraud"
)
plt.legend(loc="lower right")

# %%
# Beside one threshold
# --------------------

for way, found in {"one threshold": stakes.evaluate(payments, **question, threshold=one), "expected loss": ev}.items():
    print(way)
    for figure in ("recall", "precision", "expected_cost"):
        print("   ", found[figure])

# %%
# Deciding by expected loss finds fewer of the frauds and is not more precise, and yet it loses less: the frauds that it
# lets through are small. The threshold was even chosen on these payments, which flatters it (on others it would cost
# 1.64). All of this leans on the probabilities: they have to be about right, because they are multiplied by amounts.
