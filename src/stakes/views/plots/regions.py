"""Which decision a model of two features takes where; with costs, the decisions that cost least."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np

from stakes import errors
from stakes.errors import About, InputError, Pass, rows_text
from stakes.language.sentences import words
from stakes.question.options import Column, Data, Value
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import as_list, check_whole
from stakes.tallies.costs import Costs
from stakes.tallies.names import canonical
from stakes.tallies.pricing import Pricing, shares_of
from stakes.views.plots.style import COLOURS, INK, MARKERS, Axes, Display, axes, legend
from stakes.views.plots.words import inert

if TYPE_CHECKING:
    from matplotlib.artist import Artist

Decide = Callable[[Data], Array]
"""From rows of features to the places of their decisions."""

_STRENGTH = 0.28
_MOST_POINTS = 2000


def plot_regions(
    estimator: Value,
    X: Data,
    y: Column = None,
    *,
    costs: Costs | None = None,
    positive: Value = None,
    ax: object = None,
    resolution: int = 200,
) -> Display:
    """Draw the decision regions of a fitted estimator of two features, with the rows of ``X`` and ``y`` on top.

    With ``costs`` (:class:`stakes.Costs`) the regions are those of the decisions that cost least if the estimator's
    probabilities are right, abstention and other decisions that are no class included. Costs of a miss and a false
    alarm need the ``positive`` class; it is the second one of the estimator unless another is named.
    """
    if costs is not None and not isinstance(costs, Costs):
        raise errors.not_costs(costs)
    check_whole("resolution", resolution, 2, 10_000)
    try:
        shape = np.shape(X)
    except ValueError:  # rows of different lengths
        shape = ()
    if len(shape) != 2 or shape[1] != 2 or not hasattr(X, "shape"):
        raise InputError(
            "regions-of-two-features",
            f"regions are drawn in a plane, so X must have 2 features, not {(shape[1] if len(shape) == 2 else 1):,}; "
            "choose two columns",
        )
    if not hasattr(estimator, "classes_"):
        raise InputError("regions-not-fitted", f"the {type(estimator).__name__} is not fitted; call fit(X, y) first")
    classes = [canonical(name) for name in estimator.classes_]
    with axes(ax, 6.4, 4.8) as ax:
        names, surface = _surface(estimator, X, ax, classes, costs, positive, resolution)
        rows = [] if y is None else _rows(ax, X, y, classes, names)
        patches = _legend(ax, names, rows)
        return Display("regions", ax, {"surface": surface, "rows": rows, "legend": patches})


def _surface(
    estimator: Value, X: Data, ax: Axes, classes: list[str], costs: Costs | None, positive: Value, resolution: int
) -> tuple[list[str], object]:
    """Draw the regions through scikit-learn; return the decisions and what was drawn."""
    from matplotlib.colors import ListedColormap

    try:
        from sklearn.inspection import DecisionBoundaryDisplay
    except ImportError:
        raise errors.missing_scikit_learn() from None
    names, decide = classes, _as_it_says(estimator, classes)
    if costs is not None:
        names, decide = _cheapest(estimator, classes, costs, positive)
    found = DecisionBoundaryDisplay.from_estimator(
        _deciding(decide), X, response_method="predict", ax=ax, grid_resolution=resolution, plot_method="pcolormesh",
        cmap=ListedColormap(_colours(len(names))), vmin=-0.5, vmax=len(names) - 0.5, alpha=_STRENGTH, rasterized=True,
        xlabel=_feature(X, 0), ylabel=_feature(X, 1),
    )  # fmt: skip
    ax.grid(False)
    return names, found.surface_


def _as_it_says(estimator: Value, classes: list[str]) -> Decide:
    places = {name: place for place, name in enumerate(classes)}
    return lambda rows: np.array([places[canonical(name)] for name in np.asarray(estimator.predict(rows)).tolist()])


def _cheapest(estimator: Value, classes: list[str], costs: Costs, positive: Value) -> tuple[list[str], Decide]:
    """The decisions that the costs know, and the way to take the cheapest of them."""
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            "regions-need-probabilities",
            About("costs"),
            f" decide by probabilities, and {type(estimator).__name__} has no predict_proba; leave ",
            Pass("costs"),
            " out",
        )
    pricing = Pricing(costs)
    known = classes[-1] if positive is None else canonical(positive)
    if known not in classes:
        raise errors.no_such_class(positive, classes)
    names = list(pricing.decisions(classes))
    equal = shares_of([1] * len(classes))  # without a prior nothing is corrected by them
    return names, lambda rows: pricing.bayes(np.asarray(estimator.predict_proba(rows)), classes, known, equal)


def _deciding(decide: Decide) -> object:
    """Wrap decisions as an estimator that predicts numbers, which is what scikit-learn draws."""
    from sklearn.base import BaseEstimator, RegressorMixin

    class Deciding(RegressorMixin, BaseEstimator):
        def predict(self, rows: Data) -> Array:
            return decide(rows)

        def fit(self, *_: object) -> Self:  # there is nothing left to fit, but estimators have to have it
            return self

        def __sklearn_is_fitted__(self) -> bool:
            return True

    return Deciding()


def _feature(X: Data, place: int) -> str:
    names = getattr(X, "columns", None)
    return words("plot.feature", n=place + 1) if names is None else inert(list(names)[place])


def _colours(count: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def _rows(ax: Axes, X: Data, y: Column, classes: list[str], names: list[str]) -> list["Artist"]:
    """The rows by their true class; a class that is also a decision has its colour. Very many rows are sampled."""
    points = np.asarray(X, np.float64)
    labels = as_list(y)
    if labels is None:
        raise errors.not_a_column("y", f"a {type(y).__name__}")
    truth = np.array([canonical(label) for label in labels])
    if len(truth) != len(points):
        raise InputError(
            "rows-of-regions",
            f"y has {rows_text(len(truth))} and X has {len(points):,}; give the class of every row of X",
        )
    if len(truth) > _MOST_POINTS:
        kept = np.random.default_rng(0).choice(len(truth), _MOST_POINTS, replace=False)
        points, truth = points[kept], truth[kept]
    artists: list[Artist] = []
    for place, name in enumerate(classes):
        mine = points[truth == name]
        colour = COLOURS[names.index(name) % len(COLOURS)] if name in names else INK
        dots = ax.scatter(mine[:, 0], mine[:, 1], s=26, c=colour, marker=MARKERS[place % len(MARKERS)], zorder=3)
        dots.set(edgecolors="white", linewidths=0.6, label=words("plot.true_class", name=inert(name)))
        artists.append(dots)
    return artists


def _legend(ax: Axes, names: list[str], rows: list["Artist"]) -> object:
    from matplotlib.patches import Patch

    patches = [
        Patch(facecolor=colour, alpha=_STRENGTH, label=words("plot.decide", name=inert(name)))
        for name, colour in zip(names, _colours(len(names)), strict=True)
    ]
    return legend(ax, "beside", handles=[*patches, *rows])
