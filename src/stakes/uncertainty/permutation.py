"""Could the figure be chance? Labels are shuffled, and the figure is compared with what comes out then."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.language.narrated import Narrated
from stakes.metrics import Metric
from stakes.records import Count, Record, Share
from stakes.results import Plottable, Reportable
from stakes.tallies import ClassScores, Confusion, ErrorSums, Tally
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.checks import check_whole
from stakes.uncertainty.shuffles import Again, draw, every, probability

QUESTION = "Do the predictions say anything about the truth, or could the figure be chance?"

_CLOSE = 1e-12
"""Figures this close are equal: rounding must not decide which one is better."""

_TINY = 1e-300


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(
    Record,
    Narrated,
    Plottable,
    Reportable,
    stakes="permutation test",
    shown="metric value p_value permutations method question findings null dropped prior?",
):
    """A figure, what it is when labels are shuffled, and how often that is as good or better.

    ``p_value`` is (1 + as good or better) / (1 + permutations), so it is never 0, or exact where ``null`` is None; an
    exact one that no float holds is given as the smallest that does. ``dropped`` rows lacked a value. ``prior`` are the
    class frequencies that the figure is about, where those of the rows are others.
    """

    metric: str
    value: float
    p_value: Share
    null: Array | None
    permutations: Count
    method: str
    question: str
    dropped: Count = 0
    prior: Mapping[str, float] | None = None

    drawn_as = "permutation test"
    plots = ("null",)

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary, for a data frame."""
        return [{name: getattr(self, name) for name in ("metric", "value", "p_value", "permutations", "method")}]

    def _p(self) -> str:
        return f"p = {self.p_value:.2g}" if self.p_value >= _TINY else f"p < {_TINY:g}"

    def __repr__(self) -> str:
        return f"<PermutationTest of {self.metric} {self.value:.6g}, {self._p()}>"


def permute(
    tally: Tally, metric: Metric, permutations: int = 10_000, seed: int = 0, again: Again | None = None
) -> PermutationTest:
    """Compare a figure of fixed predictions with what it is when the truth is shuffled against them.

    The tally is shuffled and not the rows wherever the law of the shuffled tally is known; decisions between two
    classes need no drawing at all, nor do rows of which there are no more orders than permutations. For weighted
    classes and scores of several classes ``again(rng)`` must shuffle the rows and count them.
    """
    check_whole("permutations", permutations, least=1)
    check_whole("seed", seed, 0, math.inf)
    if metric.better == "neither":
        raise errors.no_direction(metric.text)
    value = float(metric.of(tally))
    if math.isnan(value):
        raise errors.nothing_to_compare(metric.text, metric.why_undefined(tally))
    as_good = _judge(metric, value)
    if isinstance(tally, Confusion) and tally.of_pair and not tally.weighted:
        p, fisher = probability(tally.either_called(), lambda tables: as_good(metric.of(tables)))
        method = "Fisher's exact test, one-sided" if fisher else "exact, over all tables with these margins, one-sided"
        return PermutationTest(metric.text, value, p, None, 0, method, QUESTION)
    if again is None and needs_rows(tally):
        raise errors.rows_not_kept(metric.text)
    if not needs_rows(tally) and (listed := every(tally, metric, permutations)) is not None:
        method = f"exact, over all {len(listed):,} orders of the truth, one-sided"
        return PermutationTest(metric.text, value, float(as_good(listed).mean()), None, 0, method, QUESTION)
    null, method = draw(tally, metric, permutations, np.random.default_rng(seed), again if needs_rows(tally) else None)
    undefined = int(np.isnan(null).sum())
    if undefined:
        method += f"; undefined in {undefined:,} of them, which count as good"
    p = (1 + int(as_good(null).sum())) / (1 + permutations)
    return PermutationTest(metric.text, value, p, null, permutations, method, QUESTION)


def _judge(metric: Metric, value: float) -> Callable[[Number], Array]:
    """Return the function that says which figures are as good as the value or better.

    Undefined ones count as good: a p-value may be too large, never too small.
    """
    size = max(abs(value), *(abs(end) for end in metric.range if math.isfinite(end)), 0.0)
    slack = _CLOSE * size if math.isfinite(size) else 0.0
    if metric.better == "higher":
        return lambda figures: ~np.less(figures, value - slack)
    return lambda figures: ~np.greater(figures, value + slack)


def needs_rows(tally: Tally) -> bool:
    """Whether the tally has lost what shuffling needs: sums of regressions keep their rows."""
    return isinstance(tally, ClassScores) or (tally.weighted and not isinstance(tally, ErrorSums))
