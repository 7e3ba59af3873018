"""
A leaderboard: who is first, and who only seems to be?
======================================================

Twelve models answer 400 questions about 80 texts. Sorted by accuracy they make a fine leaderboard, in which everyone
has a place of their own. Which of these places are more than chance?
"""

import matplotlib.pyplot as plt
import numpy as np

import stakes

rng = np.random.default_rng(1)
text = np.repeat(np.arange(80), 5)
easy = rng.normal(size=80)[text] + rng.normal(size=400)
ability = dict(zip("abcdefghijkl", np.linspace(0.0, 1.1, 12), strict=True))
scores = {name: (easy + power + rng.logistic(size=400) > 0).astype(int) for name, power in ability.items()}

# %%
# The leaderboard
# ---------------
# Questions about one text are alike: a model that misreads the text misses several of them. They are named as clusters.

ranks = stakes.rank(scores=scores, cluster=text)
print(ranks)

# %%
# The ranks that each model may have
# ----------------------------------
# A dot is the rank by accuracy, the line holds the ranks that the model may truly have. All twelve lines hold at once,
# with 95 % confidence.

_, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for row, one in enumerate(ranks.standings):
    ax.plot([one.rank_low, one.rank_high], [row, row], color="C0", linewidth=3, alpha=0.4, solid_capstyle="round")
    ax.plot(one.rank, row, "o", color="C0")
ax.set_yticks(range(12), [one.model for one in ranks.standings])
ax.invert_yaxis()
ax.set(xlabel="rank", xlim=(0.5, 12.5), title="Ranks that chance did not make")

# %%
# Had the clusters been forgotten
# -------------------------------
# As if 400 questions were 400 texts: everything looks surer than it is.

alone = stakes.rank(scores=scores)
for words, found in (("texts as clusters", ranks), ("every question alone", alone)):
    known = sum(one.rank_high - one.rank_low + 1 for one in found.standings) / 12
    print(f"{words}: {known:.1f} possible ranks a model, {len(found.best)} cannot be told from the best")
