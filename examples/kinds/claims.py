"""
Claims: counts over an exposure
===============================

Policies run for a part of a year, and most have no claim. Is a model of the claims better than the mean, does it put
policies in the right order, and is it right in tenths of what it predicts?
"""

import numpy as np
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import cross_val_predict

import stakes

random = np.random.default_rng(0)
age, power = random.uniform(18, 80, 4000), random.uniform(40, 200, 4000)
years = random.uniform(0.1, 1, 4000)
claims = random.poisson(years * 0.3 * np.exp((power - 100) / 120 - (age - 40) / 60))
columns = np.column_stack([age, power]) / 100
rates = cross_val_predict(PoissonRegressor(alpha=0), columns, claims / years, params={"sample_weight": years})

# %%

ev = stakes.evaluate(truth=claims, prediction=rates * years, exposure=years)
for name in ("poisson_deviance", "d2_poisson", "lorenz_gini"):
    print(ev[name])

# %%
# What was predicted, and what came, by tenths of the prediction:

print(ev.calibration)
ev.plot("lorenz")
share, held = ev.lorenz()
print(f"the half of the exposure with the lowest predictions holds {np.interp(0.5, share, held):.0%} of the claims")
