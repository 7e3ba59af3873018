"""
Predicted intervals: do they hold what they promise?
====================================================

Quantile regression predicts the 5 %, 50 % and 95 % quantiles of how far diabetes comes in a year. Nine of ten patients
should lie between the outer two.
"""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import cross_val_predict

import stakes

diabetes = load_diabetes()
levels = (0.05, 0.5, 0.95)
models = {level: QuantileRegressor(quantile=level, alpha=0) for level in levels}
quantiles = {level: cross_val_predict(one, diabetes.data, diabetes.target) for level, one in models.items()}
low, middle, high = (quantiles[level] for level in levels)
quantiles = dict(zip(levels, (low.clip(max=middle), middle, high.clip(min=middle)), strict=True))  # that cross

# %%

ev = stakes.evaluate(truth=diabetes.target, quantiles=quantiles)
print(ev)
ev.plot("pit")
for part in ev.pit:  # how many truths lie between neighbouring quantiles
    print(f"{part.name}: {part.value:.1%} ({part.low:.1%} to {part.high:.1%}), should be {part.baseline:.0%}")
for part in ev.coverage_by_width:
    print(f"width {part.narrowest:.0f} to {part.widest:.0f}: {part.coverage:.0%} ({part.low:.0%} to {part.high:.0%})")
