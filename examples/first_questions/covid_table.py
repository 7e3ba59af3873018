"""
A COVID-19 test: from four counts to what a result means
========================================================

Of 2,795 infected people a test found 2,739; of 1,046 others it was wrong about 4. That is all there is: no rows, no
scores. How good is the test, how sure is that, and what does a result mean where fewer people are infected?
"""

import matplotlib.pyplot as plt
import numpy as np

import stakes

names = {"positive": "infected", "negative": "healthy"}
table = stakes.Confusion.two_class(tp=2739, fn=56, fp=4, tn=1042, **names)
print(table)

# %%
# All rates with their intervals
# ------------------------------
# A table is rows that were counted, and nothing else is needed.

ev = stakes.evaluate(table)
ev

# %%
for name in ("recall", "specificity", "precision", "npv", "accuracy"):
    print(ev[name])

# %%
# What a result does to the odds
# ------------------------------
# Precision looks perfect, but nearly three quarters of these people *were* infected. Likelihood ratios do not depend on
# that: they say by how much a result multiplies the odds that one had before.

positive, negative = ev["positive_likelihood_ratio"], ev["negative_likelihood_ratio"]
print(positive)
print(negative)


# %%
# Other prevalences
# -----------------
# So the predictive values of any place follow from its prevalence, and so do their intervals, because the probability
# only grows with the ratio. (That the test finds the infected equally well everywhere is an assumption.)


def infected_after(ratio, prevalence):
    """The probability of being infected after a result with this likelihood ratio."""
    odds = prevalence / (1 - prevalence) * ratio
    return odds / (1 + odds)


print("prevalence   right when positive       right when negative")
ratios = positive.value, positive.low, positive.high
for prevalence in (0.5, 0.1, 0.01, 0.001):
    value, low, high = (infected_after(ratio, prevalence) for ratio in ratios)
    cleared = 1 - infected_after(negative.value, prevalence)
    interval = f"[{low:.1%}, {high:.1%}]"
    print(f"{prevalence:10.1%}   {value:.1%} {interval:16}   {cleared:.3%}")

# %%
prevalences = np.geomspace(0.0005, 0.9, 200)
value, low, high = (infected_after(ratio, prevalences) for ratio in ratios)
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.fill_between(prevalences, low, high, alpha=0.2, label="95 % interval")
ax.plot(prevalences, value, label="after a positive result")
after_negative = infected_after(negative.value, prevalences)
ax.plot(prevalences, after_negative, label="after a negative one")
ax.plot(prevalences, prevalences, "--", color="grey", label="before the test")
ax.set(xscale="log", xlabel="prevalence", ylabel="probability of being infected")
ax.legend(loc="upper left")

# %%
# Among the people of this table a positive result is right in 99.9 % of the cases. Where one in a thousand is infected
# it is right about one time in five, and four false alarms leave open whether that is one in ten or two in five.
