"""Are the probabilities honest? One conclusion for two classes, one for several, by one test.

The test looks at the slope and the shift of the log odds, which find with few rows what is off along the whole range,
and at how often things happened at each probability, which finds any other shape. It has one p-value
(``decisions/calibration/honesty_test.py``): honest probabilities are doubted in at most 5 of 100 files at 95 %
confidence. The answer names the sharper look, and says how much miscalibration honest probabilities would show.
"""

from collections.abc import Iterator, Sequence

from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.calibration.honesty_test import LINE, HonestyTest
from stakes.findings.verdicts.answers import side_of
from stakes.language.sentences import Chip, Finding, Sentence, answer, sentence
from stakes.metrics import Estimate

QUESTION = "verdict.honest"


def verdict_of(found: Calibration | ClassCalibrations) -> tuple[Finding, ...]:
    """Return the one answer there is to a calibration."""
    return (honesty(found, [found.ece]) if isinstance(found, Calibration) else honesty_of_classes(found),)


def no_probabilities(scored: bool) -> Finding:
    """Return the answer where there are decisions only, or scores that are no probabilities."""
    key = "verdict.honest_no_probabilities" if scored else "verdict.honest_no_scores"
    return answer(QUESTION, "open", sentence(key))


def honesty(found: Calibration, figures: Sequence[Estimate] = ()) -> Finding:
    """Return the answer for two classes."""
    chips: list[Chip | Estimate] = [Chip.of(found.slope, "calibration.slope"), *figures]
    ways = _ways(found.slope, found.intercept_at_slope_1)
    rows = found.certain.rows if found.slope.defined else 0
    clipped = [sentence("verdict.honest_certain", n=rows)] if rows else []
    return _conclude(found, found.certain.wrong, ways or [sentence("verdict.honest_off")], clipped, chips)


def honesty_of_classes(found: ClassCalibrations, figures: Sequence[Estimate] = ()) -> Finding:
    """Return the answer for several classes, each against the rest."""
    each = found.classes.values()
    slopes = [side_of(one.slope, 1) for one in each]
    shifts = [side_of(one.intercept_at_slope_1, 0) for one in each]
    counts = {
        "verdict.honest_classes_extreme": slopes.count(-1),
        "verdict.honest_classes_timid": slopes.count(1),
        "verdict.honest_classes_high": shifts.count(-1),
        "verdict.honest_classes_low": shifts.count(1),
    }
    ways = [sentence(key, n=count, of=len(each)) for key, count in counts.items() if count]
    return _conclude(found, found.impossible, [sentence("verdict.honest_classes"), *ways], [], figures)


def _conclude(
    found: Calibration | ClassCalibrations,
    impossible: float,
    ways: Sequence[Sentence],
    more: Sequence[Sentence],
    figures: Sequence[Chip | Estimate],
) -> Finding:
    """Draw the one conclusion; no other virtue makes up for something that was called impossible and happened."""
    if impossible:
        lead = sentence("verdict.honest_impossible"), sentence("verdict.honest_impossible_rows", n=impossible)
        return answer(QUESTION, "bad", *lead, *more, figures=figures)
    test = found.test
    if test is None:
        return answer(QUESTION, "open", sentence("verdict.honest_untested"), *more, figures=figures)
    dishonest = test.p_value <= 1 - found.sampling.confidence
    looks = [*_look(test, dishonest), *_shares(found, test), *more]
    if dishonest:
        return answer(QUESTION, "doubt", *ways, *looks, figures=figures)
    return answer(QUESTION, "good", sentence("verdict.honest_yes"), *looks, figures=figures)


def _ways(slope: Estimate, shift: Estimate) -> list[Sentence]:
    """In which ways the log odds are off beyond doubt."""
    bent, moved = side_of(slope, 1), side_of(shift, 0)
    ways = [sentence("verdict.honest_extreme" if bent < 0 else "verdict.honest_timid")] if bent else []
    return ways + ([sentence("verdict.honest_high" if moved < 0 else "verdict.honest_low")] if moved else [])


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
