"""
The oil wildcatter: is a test worth its price?
==============================================

Howard Raiffa's wildcatter must drill or leave a site that is dry, wet or soaking. Drilling costs 70,000 dollars; a wet
well brings 120,000, a soaking one 270,000. A seismic sounding tells something about the ground and costs 10,000. Should
it be made, and what then? (*Decision Analysis*, 1968.)
"""

import stakes

# %%
# A test is a model that has a price
# ----------------------------------
# The truth is the ground, the sounding a model with a table: how often it hears each structure on each kind of ground.
# What is earned is a cost below 0, in thousands of dollars.

ground = ["dry", "wet", "soaking"]
sounding = {
    "table": [[0.6, 0.3, 0.1], [0.3, 0.4, 0.3], [0.1, 0.4, 0.5]],
    "outputs": ["no structure", "open", "closed"],
    "price": 10,
}
costs = stakes.Costs([[70, 0], [-50, 0], [-200, 0]], ground, ["drill", "leave"])
site = stakes.System(
    classes=ground,
    models={"sounding": sounding},
    decide="'leave' if sounding == 'no structure' else 'drill'",
    costs=costs,
    prior=[0.5, 0.3, 0.2],
)

# %%
# Whom to ask, and when
# ---------------------
# Of all ways to ask and to decide, the cheapest is found: sound first, and leave the site only where there is no
# structure. That is worth 22.5 thousand dollars; without the sounding, drilling is worth 20.

plan = site.best_plan()
print(plan)
print(f"with the test {-plan.cost:g}, without {-plan.without:g}")

# %%
# Up to which price?
# ------------------
# What the sounding knows is worth 32.5 − 20 = 12.5. Below that price it is made, above it nobody asks.

for price in (10, 12, 13):
    dearer = stakes.System(
        classes=ground,
        models={"sounding": {**sounding, "price": price}},
        decide="'leave' if sounding == 'no structure' else 'drill'",
        costs=costs,
        prior=[0.5, 0.3, 0.2],
    ).best_plan()
    print(f"at {price} the best plan earns {-dearer.cost:g} and asks in {dearer.asked['sounding']:.0%} of the cases")

# %%
# What a better sounding could be worth
# -------------------------------------
# A sounding that is never wrong would tell every dry site: 0.3 × 50 + 0.2 × 200 = 55, which bounds what anybody should
# pay for knowing more.

known = 0.3 * 50 + 0.2 * 200
print(f"perfect knowledge earns {known:g}, so it is worth {known + plan.without:g}")
