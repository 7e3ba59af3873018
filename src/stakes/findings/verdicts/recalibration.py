"""The verdict on recalibration: are the probabilities honest as they stand, and would it help?"""

import math

from stakes.evaluation.recalibrating import Recalibration
from stakes.findings.verdicts.answers import in_order, side_of
from stakes.findings.verdicts.honesty import QUESTION
from stakes.findings.verdicts.honesty import verdict_of as answer_to
from stakes.language.sentences import Chip, Finding, Tone, answer, caution, sentence

_HELPS: dict[int, tuple[Tone, str]] = {
    -1: ("good", "recalibration.helps"),
    0: ("note", "recalibration.idle"),
    1: ("bad", "recalibration.harms"),
}


def verdict_of(found: Recalibration) -> tuple[Finding, ...]:
    """Return whether the probabilities are honest, whether recalibration lowers the log loss, and what to point out."""
    unknown = answer(QUESTION, "open", sentence("verdict.honest_no_probabilities"))
    honest = unknown if found.calibration is None else answer_to(found.calibration)[0]
    change, method = found.changes[found.method], sentence(f"recalibration.{found.method}")
    if change.value == -math.inf:
        helps = answer("recalibration.question", "good", sentence("recalibration.mends", method=method))
    elif change.low is None:
        helps = answer("recalibration.question", "open", sentence("recalibration.fitted", method=method))
    else:
        tone, key = _HELPS[side_of(change, 0)]
        figures = [Chip.of(change, "recalibration.change")]
        helps = answer("recalibration.question", tone, sentence(key, method=method), figures=figures)
    cautions = [*found.cautions, *([caution("caution.dropped", n=found.dropped)] if found.dropped else [])]
    return in_order([honest, helps], cautions)
