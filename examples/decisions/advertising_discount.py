"""
Advertising: who gets the big discount?
=======================================

Before a campaign every client is offered one of two discounts. A big discount wins a big client and is wasted on a
small one. One client in ten is big: should somebody of whom nothing else is known get the big discount?
"""

import matplotlib.pyplot as plt
import numpy as np

import stakes

# %%
# From gains to costs
# -------------------
# What a client brings, a worked table: a big one 200 with the big discount and only 40 with the small one, a small one
# 10 and 25. What matters is how much less a decision brings than the best one for that client: 160 for a big client
# with the small discount, 15 for a small client with the big one.

costs = stakes.Costs.from_utilities(
    [[200, 40], [10, 25]], classes=["big client", "small client"], decisions=["big discount", "small discount"]
)
for client, row in zip(costs.classes, costs.matrix, strict=True):
    print(client, {decision: float(cost) for decision, cost in zip(costs.decisions, row, strict=True)})

# %%
# One client, by hand
# -------------------
# With a chance of 0.1 to be big, the small discount loses 0.1 × 160 = 16 on average, the big one 0.9 × 15 = 13.5.
# So the big discount is right, although nine in ten of those who get it are small clients.

client = costs.bayes_decisions({"big client": 0.1, "small client": 0.9})
for decision, lost in client.expected.items():
    print(f"{decision} loses {lost:g}")
print("decide:", client.decision)

# %%
# The two lose the same where 160p = 15(1 − p), at p = 15/175 = 3/35. Gains give the same point as losses.

switch = costs.switch_points("big client")[1]
print(switch)

p = np.linspace(0, 0.3, 100)
plt.plot(p, 200 * p + 10 * (1 - p), label="big discount")
plt.plot(p, 40 * p + 25 * (1 - p), label="small discount")
plt.axvline(float(switch[1]), color="grey", linestyle=":", label="3/35")
plt.gca().set(xlabel="probability of a big client", ylabel="expected gain from the client")
plt.legend()

# %%
# Two hundred clients
# -------------------
# Suppose that a model puts clients into three groups, and that its probabilities hold: of 100 clients 5 % are big, of
# 60 clients 10 %, of 40 clients 25 %. By hand: the first group gets the small discount and loses 5 × 160 = 800, the
# others the big one and lose 54 × 15 = 810 and 30 × 15 = 450. Together 2060, or 10.3 for each client. The big discount
# for everybody would lose 179 × 15 = 2685.

groups = {0.05: (5, 95), 0.10: (6, 54), 0.25: (10, 30)}  # what the model says: how many big and small clients
score = np.repeat(list(groups), [sum(clients) for clients in groups.values()])
truth = np.concatenate([np.repeat(costs.classes, clients) for clients in groups.values()])

ev = stakes.evaluate(truth=truth, score=score, positive="big client", costs=costs)
print(ev.confusion)
print(ev["expected_cost"])
print(ev["normalised_cost"])

# %%
# At one half nobody would get the big discount, since the model never says more than 0.25: that loses most of all.
# Decided by the costs, the model leaves 77 % of what the big discount for everybody would lose. The interval of that
# share reaches beyond 1, so 200 clients are too few to be sure that the model pays.

for way, found in ev.decide().alternatives.items():
    print(f"{way}: {found.value:.4f} per client")
