"""Charts of points: reliability of quantiles, ranks of truths among them, coverage by width, tenths of predictions."""

import numpy as np

from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.several import QuantilesEvaluation
from stakes.findings.pages.payload import Part, listed, section, span
from stakes.language.sentences import sentence
from stakes.metrics import Estimate
from stakes.metrics.counts import lorenz_gini
from stakes.metrics.quantiles import share_below
from stakes.records import plain

_MOST_POINTS = 200


def quantiles_section(evaluation: QuantilesEvaluation) -> list[Part]:
    """Return whether quantiles and intervals hold what they say: by level, between levels, by width."""
    charts = [*_reliability(evaluation), *_pit(evaluation), *_widths(evaluation)]
    return [section("points", id="honest", title=sentence("points.honest"), charts=charts)] if charts else []


def counts_section(evaluation: RegressionEvaluation) -> list[Part]:
    """Return, of counts, what came in tenths of the prediction, and the Lorenz curve."""
    if evaluation.counted.task != "counts" or evaluation.errors.rows is None:
        return []
    bins = evaluation.calibration.reliability().bins
    ends = span(np.concatenate([bins.mean_prediction, bins.mean_truth]))
    tenths = _chart(
        "tenths",
        diagonal=listed(ends),
        dots={"x": listed(bins.mean_prediction), "y": listed(bins.mean_truth)}
        | {"low": listed(bins.low), "high": listed(bins.high)},
    )
    charts = [tenths]
    if evaluation[lorenz_gini.name].defined:
        share, held = evaluation.lorenz()
        places = np.unique(np.linspace(0, len(share) - 1, _MOST_POINTS).round().astype(int))
        charts.append(_chart("lorenz", diagonal=[0, 1], curve={"x": listed(share[places]), "y": listed(held[places])}))
    return [section("points", id="order", title=sentence("points.order"), charts=charts)]


def _chart(name: str, **data: object) -> Part:
    words = {key: sentence(f"points.{name}_{key}") for key in ("title", "about", "x", "y", "right")}
    return {**words, **data}


def _reliability(evaluation: QuantilesEvaluation) -> list[Part]:
    each = [one[share_below.name] for one in evaluation.each_figures.values()]
    if not each:
        return []
    return [_chart("below", diagonal=[0, 1], dots={"x": listed(evaluation.quantiles.levels), **_dots(each)})]


def _pit(evaluation: QuantilesEvaluation) -> list[Part]:
    found = evaluation.pit
    if not found:
        return []
    expected = np.array([one.baseline for one in found])
    shares = {name: np.array([getattr(one, name) for one in found], float) for name in ("value", "low", "high")}
    heights = {name: listed(values / expected) for name, values in shares.items()}
    edges = listed(np.append(0.0, np.cumsum(expected)))
    bars = {"edges": edges, "heights": heights["value"], "low": heights["low"], "high": heights["high"]}
    return [_chart("pit", level=1, bars=bars)]


def _widths(evaluation: QuantilesEvaluation) -> list[Part]:
    found = evaluation.coverage_by_width
    if not found:
        return []
    x = [(one.narrowest + one.widest) / 2 for one in found]
    shares = {"y": "coverage", "low": "low", "high": "high"}
    dots = {"x": listed(x)} | {key: listed([getattr(one, name) for one in found]) for key, name in shares.items()}
    return [_chart("widths", level=evaluation.level, dots=dots)]


def _dots(figures: list[Estimate]) -> Part:
    names = {"y": "value", "low": "low", "high": "high"}
    return {key: [plain(getattr(one, name)) for one in figures] for key, name in names.items()}
