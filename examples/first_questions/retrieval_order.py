"""
A search result: how good is the order?
=======================================

A search returned ten documents, of which five are relevant: those at places 1, 2, 4, 6 and 10. How good is that order,
and how much of it does a reader see who stops early?
"""

from fractions import Fraction
from itertools import combinations

import stakes

relevant = [1, 1, 0, 1, 0, 1, 0, 0, 0, 1]
score = range(10, 0, -1)  # anything that falls from place to place

# %%
# By hand
# -------
# Down to each place: what share of the documents so far is relevant (precision), and what share of all relevant ones
# has been seen (recall)? Average precision is the mean of the precision at the places where a relevant one turns up.

found = [sum(relevant[:place]) for place in range(1, 11)]
precision = [Fraction(hits, place) for place, hits in enumerate(found, 1)]
by_hand = sum(p for p, hit in zip(precision, relevant, strict=True) if hit) / 5
print(f"average precision by hand: {by_hand} = {float(by_hand):.6f}")

# %%
# By stakes
# ---------
# The scores order the documents, and no threshold is needed. The baseline is that of a score which is the same for
# every document.

ev = stakes.evaluate(truth=relevant, score=score)
for name in ("average_precision", "auc"):
    print(ev[name])

# %%
# A reader who stops after k documents
# ------------------------------------

for k in range(1, 11):
    at_k = ev[f"precision_at_k(k={k})"].value, ev[f"recall_at_k(k={k})"].value
    print("k = {:2}  precision {:.3f}  recall {:.3f}".format(k, *at_k))

# %%
# The same ten places as a curve: each relevant document is a step to the right, each other one a step down. The area
# under the steps is the average precision.

ev.plot("pr")

# %%
# Could it be luck?
# -----------------
# There are 252 ways to put five relevant documents in ten places. Of a random order one may expect more than the
# baseline, since each relevant document counts itself.


def average_precision(places: tuple[int, ...]) -> Fraction:
    """The average precision of an order with the relevant ones at these places."""
    return sum(Fraction(hits, place) for hits, place in enumerate(places, 1)) / 5


orders = [average_precision(places) for places in combinations(range(1, 11), 5)]
print(f"average over all {len(orders)} orders: {float(sum(orders) / len(orders)):.6f}")
print(f"as good as ours: {sum(order >= by_hand for order in orders)} orders")
test = stakes.permutation_test(truth=relevant, score=score, metric="average_precision")
print(test.findings[0].words[0], f"(p = {test.p_value:.4f})")

# %%
# The order is good at the top: four of five relevant documents are among the first six. But ten documents prove little:
# one random order in seven is as good, and the interval of the average precision goes from 0.44 to 0.94.
