"""
Diabetes: which of four regressors is closest?
==============================================

Ten measurements of 442 patients, and a number that says how far their diabetes had progressed a year later. Which of
four regressors predicts it best for patients that it has not seen, and is any of them better than the mean?
"""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import AdaBoostRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import stakes

X, y = load_diabetes(return_X_y=True)
kernel = RBF(0.2) + WhiteKernel(1.0)
process = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True)
models = {
    "AdaBoost": AdaBoostRegressor(random_state=0),
    "decision tree": DecisionTreeRegressor(random_state=0),
    "Gaussian process": process,
    "nearest neighbours": KNeighborsRegressor(10),
}

# %%
# Ranked by the mean absolute error
# ---------------------------------
# Every patient is judged by a model fitted on four fifths of the others. Beside each figure stands the same figure on
# the patients that the model was fitted on: a large gap is over-fitting.


def shown(figure: stakes.Estimate) -> str:
    """The figure, with its interval where it has one."""
    if figure.low is None:
        return f"{figure.value:.4g}"
    return f"{figure.value:.4g} [{figure.low:.4g}, {figure.high:.4g}]"


found = {name: stakes.validate(model, X, y) for name, model in models.items()}
ranked = sorted(found, key=lambda name: found[name]["mae"].pooled.value)
for name in ranked:
    print(name)
    for metric in ("max_error", "mae", "mse", "median_absolute_error", "r2"):
        figure = found[name][metric]
        unseen, training = shown(figure.pooled), f"{figure.training.value:.4g}"
        print(f"    {figure.name:<22}{unseen:<28} on training rows {training}")
baseline = found[ranked[0]]["mae"].pooled.baseline
print(f"always saying the same number: a mean absolute error of {baseline:.4g}")

# %%
# Is the first really better than the second?
# -------------------------------------------
# Their intervals overlap, but they were judged by the same patients, so their *difference* can be known better than
# each of them. The p-values are corrected for the number of pairs.

said = {name: found[name].predictions for name in ranked}
both = stakes.compare(truth=y, predictions=said, task="regression")
pair = both.pairs[0]
interval = f"[{pair.low:.2f}, {pair.high:.2f}]"
print(f"{pair.first} − {pair.second}: {pair.difference:.2f} {interval}")

# %%
both

# %%
# What the best one gets wrong
# ----------------------------
# Predictions against the truth: they stay nearer to the mean than the truth does.

best = found[ranked[0]].pooled
best.plot("predicted")

# %%
# The errors against the predictions: is it wrong in the same direction somewhere?

best.plot("residuals")

# %%
# The Gaussian process is closest: 43 points off on average, about 2 less than the nearest neighbours. The decision tree
# knows its own patients by heart (an error of 0), and on new ones it is not shown to be better than always saying the
# same number.
