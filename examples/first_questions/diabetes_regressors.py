"""Four regressors on the diabetes data, ranked by their mean absolute error on patients they have not seen."""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import AdaBoostRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import stakes

MODELS = {
    "AdaBoost": AdaBoostRegressor(random_state=0),
    "decision tree": DecisionTreeRegressor(random_state=0),
    "Gaussian process": GaussianProcessRegressor(RBF(0.2) + WhiteKernel(1.0), optimizer=None, normalize_y=True),
    "nearest neighbours": KNeighborsRegressor(10),
}
FIGURES = ("max_error", "mae", "mse", "median_absolute_error", "r2")


def shown(figure: stakes.Estimate) -> str:
    """The figure, with its interval where it has one."""
    interval = "" if figure.low is None or figure.high is None else f" [{figure.low:.4g}, {figure.high:.4g}]"
    return f"{figure.value:.4g}{interval}"


X, y = load_diabetes(return_X_y=True)
found = {name: stakes.validate(model, X, y) for name, model in MODELS.items()}
for name, validation in sorted(found.items(), key=lambda pair: pair[1]["mae"].pooled.value):
    print(name)
    for metric in FIGURES:
        figure = validation[metric]
        print(f"    {figure.name:<24}{shown(figure.pooled):<28} on training rows {figure.training.value:.4g}")
baseline = validation["mae"].pooled.baseline
print(f"always saying the same number would have a mean absolute error of {baseline:.4g}")
