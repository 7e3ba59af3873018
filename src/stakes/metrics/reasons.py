"""Why a metric can have no value: in words, and when the words apply."""

from collections.abc import Callable
from typing import Any

from stakes.errors import Pass, Text
from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Number

Test = Callable[[Any], Number]
"""Whether something holds for a tally: one answer, or one for each table along its leading axes."""


@dataclass(frozen=True)
class Undefined:
    """A reason, and whether it applies to a tally."""

    words: str
    applies: Test


def _none_in(margin: str) -> Test:
    return lambda tally: getattr(tally, margin) == 0


EXTRA_DECISIONS = Undefined(
    "some decisions are no class, so there is only coverage", lambda c: not set(c.decisions) <= set(c.truths)
)
NO_DECISION_A_CLASS = Undefined("no decision is named like a class", lambda c: not set(c.decisions) & set(c.truths))
ONE_TRUTH = Undefined("every case is of the same class", lambda c: c.total**2 == (c.truth_totals**2).sum(-1))
ONE_DECISION = Undefined("every case gets the same decision", lambda c: c.total**2 == (c.decision_totals**2).sum(-1))
EMPTY_CLASS = Undefined("a class has no cases", lambda c: (c.truth_totals == 0).any(-1))
NO_ROWS = Undefined("there are no rows", _none_in("total"))
NO_POSITIVES = Undefined("no case is positive", _none_in("P"))
NO_NEGATIVES = Undefined("no case is negative", _none_in("N"))
NONE_CALLED_POSITIVE = Undefined("nothing is decided positive", _none_in("PP"))
NONE_CALLED_NEGATIVE = Undefined("nothing is decided negative", _none_in("PN"))
NONE_OF = {
    "total": NO_ROWS,
    "P": NO_POSITIVES,
    "N": NO_NEGATIVES,
    "PP": NONE_CALLED_POSITIVE,
    "PN": NONE_CALLED_NEGATIVE,
}
"""Why a share of these rows can have no value."""

NOTHING_POSITIVE_AT_ALL = Undefined(
    "no case is positive and nothing is decided positive", lambda c: (c.P == 0) & (c.PP == 0)
)
NO_PROBABILITIES = Undefined(
    "the scores are no probabilities: they lie outside [0, 1], or those of a row do not add up to 1",
    lambda table: not table.probabilities,
)
BINNED = Undefined("the scores were counted in wide bins, which do not keep their values", lambda tally: tally.merged)
"""A figure that declares this needs the scores themselves; of those in fine bins it takes the middles."""

NO_LOSSES = Undefined(
    "the scores were counted in bins, which do not keep their values",
    lambda table: table.grid is not None and table.losses is None,
)
"""Losses are added up before scores go into bins, but older counts did not keep them."""

NO_SCORES = Text("no scores were given; pass ", Pass("score"))
NO_CLASS_SCORES = Text("no scores were given; pass ", Pass("score", each="column"))
"""Why there are no figures of scores, of two classes and of more."""
