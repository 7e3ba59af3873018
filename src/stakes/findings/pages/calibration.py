"""How honest the probabilities are: the reliability curve, what the losses are made of, slope and intercept."""

import numpy as np

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.decomposition import Decomposition
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.findings.pages.payload import Part, figure, listed, section
from stakes.tallies.arithmetic import Array

_MOST_POINTS = 500


def calibration_section(evaluation: TwoClassEvaluation, found: Calibration) -> Part:
    """Return the calibration of an evaluation."""
    curve, redrawn, test = found.reliability(), found.honest, found.test
    return section(
        "calibration",
        bins=_lists(curve.bins, "mean_probability", "frequency", "rows", "low", "high"),
        curve=_thin(curve.probability, curve.frequency),
        band=None if redrawn is None else _lists(redrawn, "probability", "low", "high"),
        p_value=None if test is None else test.p_value,
        redrawn=None if test is None or test.redrawn is None else {"as_far": test.as_far, "of": test.redrawn},
        line=[figure(one) for one in (found.slope, found.intercept_at_slope_1)],
        ece=figure(found.ece if evaluation.population else evaluation.figures["ece"]),
        losses=[_parts(loss) for loss in (found.brier, found.log_loss)],
        at_prior=evaluation.population is not None,
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
