"""Are the probabilities honest? One conclusion for two classes, one for several, by the sharpest test that there is.

The slope and the shift of the log odds find what is off along the whole range with few rows; redrawing the truth from
the probabilities finds any other shape. Whichever rejects at half the level decides, so that honest probabilities are
doubted in at most 5 of 100 files, and the answer names it.
"""

import math
from collections.abc import Mapping

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.reliability import Honest
from stakes.evaluation.base import Evaluation
from stakes.findings.verdicts.answers import known_figures, side_of
from stakes.language.sentences import Chip, Finding, Sentence, answer, sentence
from stakes.metrics import Estimate

QUESTION = "verdict.honest"

Studied = tuple[Calibration, Honest | None]
"""A calibration, and what honest probabilities would look like in rows like these."""


def honesty(evaluation: Evaluation, studied: Studied | None) -> Finding:
    """Return the answer for two classes."""
    if studied is None:
        return _unknown(evaluation)
    found, redrawn = studied
    slope = Chip.of(found.slope, "calibration.slope")
    figures = [slope, *known_figures(evaluation, "ece")]
    wrong = _impossible(evaluation, "log_loss")
    if wrong is not None:
        return answer(QUESTION, "bad", wrong, figures=figures)
    off = _ways(found.slope, found.intercept_at_slope_1)
    level = 1 - evaluation.sampling.confidence
    far = redrawn is not None and redrawn.p_value <= level
    lead = off or [sentence("verdict.honest_off" if far else "verdict.honest_yes")]
    return answer(QUESTION, "doubt" if off or far else "good", *lead, *_test(redrawn, bool(off)), figures=figures)


def _test(redrawn: Honest | None, by_slope: bool) -> list[Sentence]:
    """What the test says that looks at every shape; where the slope decides already, that is what is named."""
    if by_slope:
        return [sentence("verdict.honest_by_slope")]
    if redrawn is None:
        return []
    return [sentence("verdict.honest_redrawn", times=redrawn.as_far, n=redrawn.redrawn)]


def _ways(slope: Estimate, shift: Estimate) -> list[Sentence]:
    """In which ways the log odds are off beyond doubt."""
    bent, moved = side_of(slope, 1), side_of(shift, 0)
    ways = [sentence("verdict.honest_extreme" if bent < 0 else "verdict.honest_timid")] if bent else []
    return ways + ([sentence("verdict.honest_high" if moved < 0 else "verdict.honest_low")] if moved else [])


def _unknown(evaluation: Evaluation) -> Finding:
    key = "verdict.honest_no_scores" if evaluation._any_scores is None else "verdict.honest_no_probabilities"
    return answer(QUESTION, "open", sentence(key))


def _impossible(evaluation: Evaluation, loss: str) -> Sentence | None:
    """That something was called impossible and happened: no other virtue makes up for an infinite loss."""
    found = evaluation.figures.get(loss)
    return sentence("verdict.honest_impossible") if found is not None and found.value == math.inf else None


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
Lines = Mapping[str, tuple[Estimate, Estimate]]
"""Slope and shift of the log odds of each class."""


def honesty_of_classes(evaluation: Evaluation, lines: Lines) -> Finding:
    """Return the answer for several classes, each against the rest."""
    figures = known_figures(evaluation, "normalised_multiclass_log_loss", "macro_ece")
    wrong = _impossible(evaluation, "multiclass_log_loss")
    if wrong is not None:
        return answer(QUESTION, "bad", wrong, figures=figures)
    if not lines:
        return _unknown(evaluation)
    slopes = [side_of(slope, 1) for slope, _ in lines.values()]
    shifts = [side_of(shift, 0) for _, shift in lines.values()]
    counts = {
        "verdict.honest_classes_extreme": slopes.count(-1),
        "verdict.honest_classes_timid": slopes.count(1),
        "verdict.honest_classes_high": shifts.count(-1),
        "verdict.honest_classes_low": shifts.count(1),
    }
    off = [sentence(key, n=count, of=len(lines)) for key, count in counts.items() if count]
    if not off:
        return answer(QUESTION, "good", sentence("verdict.honest_yes"), figures=figures)
    return answer(QUESTION, "doubt", sentence("verdict.honest_classes"), *off, figures=figures)
