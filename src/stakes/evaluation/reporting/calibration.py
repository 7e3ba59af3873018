"""How honest the probabilities are: the reliability curve, what the losses are made of, slope and intercept."""

from typing import Any

import numpy as np

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.reliability import group_scores, honest, reliability
from stakes.views.report.payload import figure, listed, section

_MANY, _GROUPS, _FEW_GROUPS = 200_000, 20_000, 500
"""Beyond so many rows neighbours are put together: the curve does not move by a pixel."""

_MOST_POINTS = 500


def calibration_section(evaluation: Any) -> dict[str, Any] | None:
    """Return the calibration of an evaluation, or nothing where the scores are no probabilities."""
    table = evaluation.scores
    if table is None or not evaluation.probabilities or table.grid is not None or not table.P or not table.N:
        return None
    sampling = evaluation._sampling(table)
    found = evaluation.calibration if table.total <= _MANY else Calibration(group_scores(table, _GROUPS), sampling)
    redrawn = found.honest if table.total <= _FEW_GROUPS else honest(group_scores(found.table, _FEW_GROUPS), sampling)
    curve = reliability(found.table, 10, "mass", sampling, lambda: redrawn)
    return section(
        "calibration",
        bins=_lists(curve.bins, "mean_probability", "frequency", "rows", "low", "high"),
        curve=_thin(curve.probability, curve.frequency),
        band=None if redrawn is None else _lists(redrawn, "probability", "low", "high"),
        p_value=None if redrawn is None else redrawn.p_value,
        redrawn=None if redrawn is None else {"as_far": redrawn.as_far, "of": redrawn.redrawn},
        line=[figure(one) for one in (found.slope, found.intercept_at_slope_1)],
        ece=figure(evaluation.figures["ece"]),
        losses=[_parts(name, parts) for name, parts in (("brier_score", found.brier), ("log_loss", found.log_loss))],
    )


def _lists(thing: Any, *names: str) -> dict[str, list[Any]]:
    return {name: listed(getattr(thing, name)) for name in names}


def _thin(x: Any, y: Any) -> dict[str, list[Any]]:
    """Some hundred points of a rising curve, the ends among them."""
    places = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).round().astype(int))
    return {"probability": listed(x[places]), "frequency": listed(y[places])}


def _parts(name: str, parts: Any) -> dict[str, Any]:
    wanted = ("score", "miscalibration", "discrimination", "uncertainty")
    return {"name": name, **{part: figure(getattr(parts, part)) for part in wanted}}
