"""The threshold of one model at which the whole system costs least."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes import errors
from stakes.metrics.estimate import percent
from stakes.records import Record
from stakes.systems.choices import FOLDS, SystemChoice, held_out
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.network import Network, RowFolds, Units
from stakes.systems.rows import SystemColumns
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.costs import Costs
from stakes.text import lines
from stakes.uncertainty.sampling import Sampling

_MOST_ROUNDS = 20
"""The most rounds of coordinate descent over the thresholds."""

_BEGINNINGS = (0.5, 0.25, 0.75, 0.0, 1.0)
_ROWS_TO_BEGIN_WITH = 500_000
"""The more rows, the fewer starting points."""

_BAYES = (
    "Bayes with the expected component costs; it needs a calibrated probability whose errors are independent of the "
    "other models, given the class"
)
_REVERSED = (
    "the rule makes it cheaper to say no when the positive class is likely, so no threshold of this kind is best"
)
_ROWS = "the cheapest on these rows, given what the other models say in each of them"


@dataclass(frozen=True)
class SystemThreshold(Record):
    """The threshold of a model in its system: it says the positive class when its score ≥ ``value``.

    From rows, ``cost`` is what a case costs at that threshold on the same rows (which flatters it), ``held_out`` what
    a case costs when the threshold is chosen on other rows, ``now`` what it costs with the model's decisions as
    they are, and ``saving`` the difference of these two with the ends of its interval, ``low`` and ``high``.
    """

    model: str
    value: float
    method: str
    cost: float = math.nan
    now: float = math.nan
    held_out: float = math.nan
    saving: float = math.nan
    low: float | None = None
    high: float | None = None
    confidence: float = 0.95

    def __str__(self) -> str:
        text = lines([f"{self.model} says yes from {self.value:.6g} on: {self.method}"])
        if math.isnan(self.held_out):
            return text
        sure = "" if self.low is None else f" ({percent(self.confidence)} interval {self.low:.4g} to {self.high:.4g})"
        judgement = f"on rows that did not choose it a case costs {self.held_out:.4g} instead of {self.now:.4g}"
        return f"{text}; {judgement}, a saving of {self.saving:.4g}{sure}"


def by_bayes(costs: ComponentCosts, positive: str, yes: str) -> SystemThreshold:
    """Take the expected component costs for a cost matrix; exact switch points of two classes follow."""
    if costs.sees:
        raise errors.threshold_of_two(costs.model)
    if not costs.known:
        raise errors.range_only(costs.model)
    if (costs.expected == costs.expected[:, :1]).all():  # the answer changes nothing: the first one is as good as any
        return SystemThreshold(costs.model, 0.0 if costs.outputs[0] == yes else math.inf, _BAYES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.InputWarning)  # a rule may make right answers cost more than wrong ones
        points = Costs(costs.expected.tolist(), costs.classes, costs.outputs).switch_points(positive)
    answer, start = points[-1]
    if answer == yes:
        return SystemThreshold(costs.model, float(start), _BAYES)
    if len(points) == 1:
        return SystemThreshold(costs.model, math.inf, _BAYES)
    return SystemThreshold(costs.model, math.nan, _REVERSED)


@dataclass(frozen=True, kw_only=True)
class BestThresholds(
    SystemChoice,
    stakes="best thresholds",
    shown="cost now held_out saving low high confidence cases from_rows thresholds findings",
):
    """Thresholds of several models chosen together: each says the positive class when its score is at least so high.

    They are found one model after the other, the others staying as they are, until none changes any more; a cheaper set
    far away from there can be missed.
    """

    chosen = "thresholds"
    thresholds: dict[str, float]

    def to_rows(self) -> list[dict[str, object]]:
        """Return a dictionary for each model."""
        return [{"model": name, "threshold": value} for name, value in self.thresholds.items()]


@dataclass(frozen=True, eq=False)
class RowsWithScores:
    """Rows with the scores of some models; ``yes_no`` are the codes of the yes and the no of each.

    ``truth`` and ``answers`` are codes, ``rows`` what the rows weigh and which belong together.
    """

    network: Network
    truth: Array
    answers: Mapping[str, Array]
    scores: Mapping[str, Array]
    yes_no: Mapping[str, tuple[int, int]]
    rows: SystemColumns

    @cached_property
    def weight(self) -> Array:
        """The weight of each row, scaled so that the rows of a class sum to its cases."""
        each = np.ones(len(self.truth)) if self.rows.weight is None else self.rows.weight
        sizes = np.bincount(self.truth, each, len(self.network.classes))
        return each * divide(self.network.cases, sizes)[self.truth]

    @cached_property
    def order(self) -> dict[str, Array]:
        """The rows by falling score of each model."""
        return {name: np.argsort(-score, kind="stable") for name, score in self.scores.items()}

    def decided(self, answers: Mapping[str, Array]) -> Array:
        """What the system decides in each row."""
        return np.asarray(self.network.fusion(answers))

    def costs(self, decided: Array) -> Array:
        """What each row costs."""
        return self.network.prices[self.truth, decided] * self.weight

    def answered(self, cuts: Mapping[str, float]) -> dict[str, Array]:
        """What the models say at these thresholds."""
        at = {name: np.where(self.scores[name] >= cut, *self.yes_no[name]) for name, cut in cuts.items()}
        return {**self.answers, **at}

    def choose(self, inside: Array) -> dict[str, float]:
        """The cheapest thresholds on some of the rows, from several starts: as it is, and at equal quantiles."""
        starts = [dict(self.answers)]
        for share in _BEGINNINGS[: _ROWS_TO_BEGIN_WITH // len(self.truth)] if len(self.scores) > 1 else ():
            cuts = {name: float(np.quantile(score[inside], share)) for name, score in self.scores.items()}
            starts.append(self.answered(cuts))
        found = [self._descend(start, inside) for start in starts]
        return min(found, key=lambda cuts: float(self.costs(self.decided(self.answered(cuts)))[inside].sum()))

    def _descend(self, answers: dict[str, Array], inside: Array) -> dict[str, float]:
        cuts: dict[str, float] = {}
        for _ in range(_MOST_ROUNDS):
            before = dict(cuts)
            for name, (yes, no) in self.yes_no.items():
                made = [self.costs(self.decided(answers | {name: np.full(len(self.truth), j)})) for j in (yes, no)]
                order = self.order[name][inside[self.order[name]]]
                cuts[name] = _cheapest(self.scores[name][order], (made[0] - made[1])[order])
                answers = answers | {name: np.where(self.scores[name] >= cuts[name], yes, no)}
            if cuts == before or len(cuts) == 1:
                break
        return cuts


def by_rows(scored: RowsWithScores, sampling: Sampling) -> BestThresholds:
    """Choose the thresholds that are cheapest on the rows, and evaluate the choice on held-out rows."""
    network, everywhere = scored.network, np.ones(len(scored.truth), bool)
    cuts, now = scored.choose(everywhere), scored.decided(scored.answers)
    folds = _folds(scored.rows, sampling)
    chosen = now.copy()
    for part in range(min(FOLDS, len(now))):
        there = folds.part == part
        if there.any() and not there.all():
            chosen[there] = scored.decided(scored.answered(scored.choose(~there)))[there]
    cost, before = (float(scored.costs(one).sum()) for one in (scored.decided(scored.answered(cuts)), now))
    found = held_out(network, network.prices, scored.truth, (now, chosen), folds, sampling, before)
    cases = float(network.cases.sum())
    return BestThresholds(cost=cost, now=before, cases=cases, confidence=sampling.confidence, thresholds=cuts, **found)


def of_one(found: BestThresholds) -> SystemThreshold:
    """The threshold of a single model, with what a case costs."""
    ((model, value),) = found.thresholds.items()
    cost, now, outside, saving = (one / found.cases for one in (found.cost, found.now, found.held_out, found.saving))
    low, high = (None if end is None else end / found.cases for end in (found.low, found.high))
    return SystemThreshold(model, value, _ROWS, cost, now, outside, saving, low, high, found.confidence)


def _folds(rows: SystemColumns, sampling: Sampling) -> RowFolds:
    """Assign the rows to folds, whole clusters together."""
    weight = np.ones(len(rows.truth.codes)) if rows.weight is None else rows.weight
    units = None
    if rows.cluster is not None or rows.weight is not None:
        numbers, clusters = rows.units()
        units = Units(numbers, np.zeros(len(weight), np.int64), weight, weight**2, clusters)
    together = np.arange(len(weight)) if units is None else units.unit
    part = (sampling.generator().permutation(int(together.max()) + 1) % FOLDS)[together]
    return RowFolds(part, np.zeros(len(weight), np.int64), weight, units)


def _cheapest(score: Array, extra: Array) -> float:
    """The threshold (a score that occurs, or ∞) at which rows cost least; of several, the highest.

    Scores fall; ``extra`` is what a yes costs more than a no in each row.
    """
    costs = np.concatenate([[0.0], np.cumsum(extra)])
    ends = np.concatenate([[0], np.flatnonzero(np.append(score[1:] != score[:-1], True)) + 1])
    best = int(np.argmin(costs[ends]))
    return math.inf if best == 0 else float(score[ends[best] - 1])
