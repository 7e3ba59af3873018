"""Are the probabilities honest? One conclusion for two classes, one for several, by one test.

The test combines the slope and the shift of the log odds, which find with few rows what is off along the whole range,
and frequencies against probabilities, which find any other shape. It has one p-value
(``decisions/calibration/honesty_test.py``): at 95 % confidence, honest probabilities are rejected in at most 5 of 100
files. The answer names the sharper statistic, and says how much miscalibration honest probabilities would show.

What the test does not reject need not be honest: few rows can show nothing. So the answer is "nothing speaks against
it" only where the rows could have shown something, that is, where the interval of the slope lies between ½ and 2.

One rule for words and tone: "no" is "bad", and reserved for something called impossible that happened; "not quite" is
"doubt".
"""

import math
from collections.abc import Iterator, Sequence

from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.calibration.honesty_test import LINE, HonestyTest
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import score_tables
from stakes.findings.verdicts.answers import limits, side_of
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, sentence
from stakes.metrics import Estimate

QUESTION = "verdict.honest"
UPSIDE_DOWN = "verdict.honest_upside_down"

SLOPE_BADLY_OFF = 0.5, 2.0
"""Below and above these slopes log odds are badly off: more than twice, or less than half of what they should be."""

_FEW = 0.1
"""The smallest share of the rows that counts as evidence of a direction."""

_SHIFT_BADLY_OFF = -math.log(2), math.log(2)
"""Likewise of the shift, where there is no slope: the odds are off by more than a factor of 2."""


def verdict_of(found: Calibration | ClassCalibrations) -> tuple[Finding, ...]:
    """Return the one answer there is to a calibration."""
    return (honesty(found, [found.ece]) if isinstance(found, Calibration) else honesty_of_classes(found),)


def no_probabilities(evaluation: Evaluation) -> Finding:
    """Return why nothing can be said: decisions only, scores that are no probabilities or in bins, or one class."""
    key = "verdict.both_needed" if evaluation.task == "binary" else "verdict.classes_needed"
    if evaluation._any_scores is None:
        key = "verdict.honest_no_scores"
    elif not evaluation.probabilities:
        key = "verdict.honest_no_probabilities"
    elif any(table.merged and table.P and table.N for table in score_tables(evaluation)):
        key = "verdict.honest_bins"
    return answer(QUESTION, "open", sentence(key))


def honesty(found: Calibration, figures: Sequence[Estimate] = ()) -> Finding:
    """Return the answer for two classes."""
    chips: list[Chip | Estimate] = [Chip.of(found.slope, "calibration.slope"), *figures]
    faults = _faults(found)
    rows = found.certain.rows if found.slope.defined else 0
    clipped = [sentence("verdict.honest_certain", n=rows)] if rows else []
    unsure = [sentence("verdict.honest_unsure"), *limits("verdict.honest_slope_range", found.slope)]
    faults = faults or [sentence("verdict.honest_off")]
    return _conclude(found, found.certain.wrong, faults, [] if _can_tell(found) else unsure, clipped, chips)


def honesty_of_classes(found: ClassCalibrations, figures: Sequence[Estimate] = ()) -> Finding:
    """Return the answer for several classes, each against the rest."""
    each = found.classes.values()
    upside_down = sum(side_of(one.slope, 0) < 0 for one in each)
    slopes = [side_of(one.slope, 1) for one in each]
    shifts = [side_of(one.intercept_at_slope_1, 0) for one in each]
    counts = {
        "verdict.honest_classes_upside_down": upside_down,
        "verdict.honest_classes_extreme": slopes.count(-1) - upside_down,
        "verdict.honest_classes_timid": slopes.count(1),
        "verdict.honest_classes_high": shifts.count(-1),
        "verdict.honest_classes_low": shifts.count(1),
    }
    faults = [sentence(key, n=count, of=len(each)) for key, count in counts.items() if count]
    open_ones = sum(not _can_tell(one) for one in each)
    unsure = [sentence("verdict.honest_classes_unsure", n=open_ones, of=len(each))] if open_ones else []
    return _conclude(found, found.impossible, [sentence("verdict.honest_classes"), *faults], unsure, [], figures)


def _can_tell(found: Calibration) -> bool:
    """Whether there are enough rows to distinguish honest probabilities from badly wrong ones."""
    line, (low, high) = found.slope, SLOPE_BADLY_OFF
    if not line.defined:
        line, (low, high) = found.intercept_at_slope_1, _SHIFT_BADLY_OFF
    return line.low is not None and line.high is not None and low <= line.low <= line.high <= high


def _conclude(
    found: Calibration | ClassCalibrations,
    impossible: float,
    faults: Sequence[Sentence],
    unsure: Sequence[Sentence],
    more: Sequence[Sentence],
    figures: Sequence[Chip | Estimate],
) -> Finding:
    """Draw the one conclusion; no other virtue makes up for something that was called impossible and happened."""
    if found.sampling.population is not None:
        more = [*more, sentence("verdict.honest_of_rows")]
    if impossible:
        seen = sentence("verdict.honest_impossible"), sentence("verdict.honest_impossible_rows", n=impossible)
        return answer(QUESTION, "bad", *seen, *more, figures=figures)
    test = found.test
    if test is None:
        return answer(QUESTION, "open", sentence("verdict.honest_untested"), *more, figures=figures)
    dishonest = test.p_value <= 1 - found.sampling.confidence
    looks = [*_look(test, dishonest), *_shares(found, test), *more]
    if lead := faults if dishonest else unsure:
        tone: Tone = "bad" if lead[0].key == UPSIDE_DOWN else "doubt"
        return answer(QUESTION, tone, *lead, *looks, figures=figures)
    return answer(QUESTION, "good", sentence("verdict.honest_yes"), *looks, figures=figures)


def _faults(found: Calibration) -> list[Sentence]:
    """In which respects the log odds are surely off.

    A bent line says that high and low probabilities are off in different directions. That holds only where it crosses
    the diagonal among the rows; where nearly all rows are off in the same direction, nothing else is reported.
    """
    if side_of(found.slope, 0) < 0:
        return [sentence(UPSIDE_DOWN)]
    bent, moved = side_of(found.slope, 1), side_of(found.intercept_at_slope_1, 0)
    faults = [sentence("verdict.honest_high" if moved < 0 else "verdict.honest_low")] if moved else []
    if bent and (not moved or (1 - found.share_too_high if moved < 0 else found.share_too_high) > _FEW):
        faults.insert(0, sentence("verdict.honest_extreme" if bent < 0 else "verdict.honest_timid"))
    return faults


def _look(test: HonestyTest, dishonest: bool) -> Iterator[Sentence]:
    """What shows it best, and how often honest probabilities would look so."""
    if dishonest:
        yield sentence("verdict.honest_by_slope" if test.sharper == LINE else "verdict.honest_by_shape")
    if test.redrawn is None:
        yield sentence("verdict.honest_p", p=test.p_value)
    else:
        yield sentence("verdict.honest_redrawn", times=test.as_far, n=test.redrawn)


def _shares(found: Calibration | ClassCalibrations, test: HonestyTest) -> Iterator[Sentence]:
    """How much of the loss is miscalibration, beside what honest probabilities would show."""
    share = found.brier.calibration_share
    if share.defined and test.share == test.share:
        yield sentence("verdict.honest_share", share=share.value, honest=test.share)
