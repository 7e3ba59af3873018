"""
Clinic: which of two models should be improved first?
=====================================================

One model looks at the images of a patient, another at the history, and a rule makes one decision of what they say. What
does an error of *one* of them cost the clinic, does the rule suit them, and would a better model pay?
"""

import stakes

# %%
# Two tables and a rule
# ---------------------
# Known are only the confusion tables of the two (rows: sick, healthy; columns: says sick, says healthy). The history
# is no better than a coin. A missed patient costs 5, a false alarm 1; a patient is treated only when both say "sick".

models = {"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]}
question = {"classes": ["sick", "healthy"], "models": models, "costs": stakes.Costs(miss=5, false_alarm=1)}
clinic = stakes.System(**question, decide="images and history")
clinic.plot("network")

# %%
# What an error of one model costs
# --------------------------------
# The answer of history is *set*, the images say what they say, and the decision follows. When history says "healthy" of
# a sick patient, the clinic misses the patient for sure and pays 5. When it is right, the images still miss
# one in five: 0.2 × 5 = 1. So this error costs 4 more than being right.

print(clinic.do(history="healthy"))
costs = clinic.component_costs("history")
print(costs)
print(f"missing a sick patient costs {costs.excess[0, 1]:g} more than if history had been right")

# %%
# Both, or one of the two?
# ------------------------
# The same models under another rule. Nobody knows how their errors fall together, so beside the cost for independent
# errors there are bounds that hold under any dependence.

either = stakes.System(**question, decide="images or history")
for rule, system in {"both must say sick (and)": clinic, "one is enough (or)": either}.items():
    print(rule)
    print("   ", system.bounds("history"))
    first = system.worth().first
    print(f"    improve {first.model} first: always right, it would save {first.saving:g}")

# %%
# What a model is worth
# ---------------------
# What the clinic would pay if one model were always right, or if it always gave its usual answer. Without the history,
# which is to say "sick" in its place, the images decide alone: 20 × 5 + 40 = 140, less than both rules cost.

print(clinic.worth())

# %%
# Would a new model pay?
# ----------------------
# A better model of the history is offered for 40. Only its table is known.

candidate = [[90, 10], [60, 140]]
for rule, system in {"and": clinic, "or": either}.items():
    bounds = system.bounds("history", candidate)
    print(f"{rule}: with the new model the clinic would pay {bounds.independent:g} if it erred on its own,")
    print(f"    {bounds.best:g} to {bounds.worst:g} whatever the dependence")
    print("   ", system.break_even("history", price=40))

# %%
# Everything about the clinic as it is:

clinic

# %%
# The history is the model to improve first under either rule. Under "and" the new one pays whatever the dependence: at
# most 190 and its price of 40, against 250 or more today. Under "or" it pays if the two err on their own (98 and 40 are
# less than 170); at worst 150 and 40 are more. Its true rival costs nothing: to leave the history out, at 140.
