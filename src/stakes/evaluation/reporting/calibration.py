"""How honest the probabilities are: the reliability curve, what the losses are made of, slope and intercept."""

import numpy as np

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.decomposition import Decomposition
from stakes.decisions.calibration.reliability import Honest, group_scores, honest, reliability
from stakes.evaluation.reporting import Part
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.sampling import Sampling
from stakes.views.report.payload import figure, listed, section

_MANY, _GROUPS, _FEW_GROUPS = 200_000, 20_000, 500
"""Beyond so many rows neighbours are put together: neither the curve nor a slope moves as far as can be seen."""

_MOST_POINTS = 500

Studied = tuple[Calibration, Honest | None]
"""A calibration, and what honest probabilities would look like in rows like these."""


def find_calibration(table: ScoreTable | None, sampling: Sampling) -> Calibration | None:
    """Return how honest the probabilities of two classes are, if both occur and the scores are not in bins."""
    if table is None or table.grid is not None or not table.P or not table.N:
        return None
    return Calibration(table if table.total <= _MANY else group_scores(table, _GROUPS), sampling)


def study_calibration(evaluation: TwoClassEvaluation) -> Studied | None:
    """Return the calibration and what honest scores would look like; nothing where scores are no probabilities."""
    sampling = evaluation._sampling(evaluation.scores)
    found = find_calibration(evaluation.scores, sampling) if evaluation.probabilities else None
    if found is None:
        return None
    few = found.table.total <= _FEW_GROUPS
    return found, found.honest if few else honest(group_scores(found.table, _FEW_GROUPS), sampling)


def calibration_section(evaluation: TwoClassEvaluation, found: Calibration, redrawn: Honest | None) -> Part:
    """Return the calibration of an evaluation."""
    curve = reliability(found.table, 10, "mass", found.sampling, lambda: redrawn)
    return section(
        "calibration",
        bins=_lists(curve.bins, "mean_probability", "frequency", "rows", "low", "high"),
        curve=_thin(curve.probability, curve.frequency),
        band=None if redrawn is None else _lists(redrawn, "probability", "low", "high"),
        p_value=None if redrawn is None else redrawn.p_value,
        redrawn=None if redrawn is None else {"as_far": redrawn.as_far, "of": redrawn.redrawn},
        line=[figure(one) for one in (found.slope, found.intercept_at_slope_1)],
        ece=figure(evaluation.figures["ece"]),
        losses=[_parts(loss) for loss in (found.brier, found.log_loss)],
    )


def _lists(thing: object, *names: str) -> Part:
    return {name: listed(getattr(thing, name)) for name in names}


def _thin(x: Array, y: Array) -> Part:
    """Some hundred points of a rising curve, the ends among them."""
    places = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).round().astype(int))
    return {"probability": listed(x[places]), "frequency": listed(y[places])}


def _parts(loss: Decomposition) -> Part:
    wanted = ("score", "miscalibration", "discrimination", "uncertainty")
    return {"name": loss.score.name, **{part: figure(getattr(loss, part)) for part in wanted}}
