"""
Forecasts: better than saying the last value again?
===================================================

Forty shops sell more on some days of the week than on others. A forecast that knows the day is held against the naive
one, with whole shops as what varies; then two forecasts of a single shop are compared, whose errors resemble those of
the day before.
"""

import numpy as np

import stakes

random = np.random.default_rng(0)
shops, days = 40, 56
week = np.array([5.0, 3, 3, 4, 6, 9, 8])
level = random.uniform(0.5, 2, (shops, 1))
sales = level * week[np.arange(days) % 7] + random.normal(size=(shops, days))
known = level * week[np.arange(days) % 7]

# %%
# Every shop is a series
# ----------------------

shop, day = np.repeat(np.arange(shops), days), np.tile(np.arange(days), shops)
ev = stakes.evaluate(truth=sales.ravel(), prediction=known.ravel(), order=day, series=shop, by=day % 7)
print(ev["mase"])
print(ev["rmsse"])
print(ev.segments["5"]["mean_absolute_error"])  # Saturdays

# %%
# Two forecasts of one shop, three days ahead
# -------------------------------------------

drift = np.convolve(random.normal(size=days + 2), np.ones(3) / 3, "valid")
both = stakes.compare(
    truth=sales[0], predictions={"week": known[0], "drifting": known[0] + drift}, order=np.arange(days), horizon=3
)
for steps in (1, 3):  # neighbouring errors resemble each other, which makes the interval longer
    print(stakes.evaluate(truth=sales[0], prediction=known[0] + drift, order=np.arange(days), horizon=steps)["mase"])
print(both.pairs[0].method, both.pairs[0].p_value)
