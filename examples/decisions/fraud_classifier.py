"""
Fraud: a classifier that is told the loss of each payment
=========================================================

A fraud that goes through costs its amount, asking an honest client costs 5. One threshold cannot know the amount. How
much do ``stakes.sklearn.CostClassifier`` and scikit-learn's ``TunedThresholdClassifierCV`` lose on new payments?
"""

import numpy as np
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from stakes.sklearn import CostClassifier

# %%
# Payments are simulated: one in forty is a fraud, larger amounts and odd places more often. Costs by row are rows ×
# classes × decisions.

rng = np.random.default_rng(7)
n = 20_000
amount, oddness = rng.lognormal(3.5, 1.2, n).round(2), rng.normal(size=n)
fraud = (rng.random(n) < 1 / (1 + np.exp(5.6 - 1.3 * oddness - 0.35 * np.log(amount)))).astype(int)
X = np.column_stack([np.log(amount), oddness])
losses = np.zeros((n, 2, 2))
losses[:, 1, 0], losses[:, 0, 1] = amount, 5
train, test = slice(0, n // 2), slice(n // 2, n)


def loss_of(truth, decided, amount):
    """What is lost per payment, as a score: more is better."""
    return -np.where(decided == truth, 0.0, np.where(truth == 1, amount, 5.0)).mean()


model = CostClassifier(LogisticRegression(), method="threshold").fit(X[train], fraud[train], costs=losses[train])
print(f"one threshold, {model.threshold_:.4f}:", model.decision_.cost)
paid = {
    "never ask": np.zeros(n // 2, int),
    "one threshold": model.predict(X[test]),
    "costs of each payment": model.predict(X[test], costs=losses[test]),
}
for way, decided in paid.items():
    print(f"{way:24} {-loss_of(fraud[test], decided, amount[test]):.3f} per payment")

# %%
# The same threshold by scikit-learn needs metadata routing, too: its scorer has to be told the amounts.

with config_context(enable_metadata_routing=True):
    scorer = make_scorer(loss_of).set_score_request(amount=True)
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=scorer)
    tuned.fit(X[train], fraud[train], amount=amount[train])
    decided = tuned.predict(X[test])
print(f"TunedThresholdClassifierCV, {tuned.best_threshold_:.4f}: {-loss_of(fraud[test], decided, amount[test]):.3f}")

# %%
# Both thresholds lose about the same: the two differ by less than the interval of either. What pays is to decide each
# payment by its own loss, which loses a quarter less than any one threshold.
