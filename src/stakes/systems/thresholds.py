"""Where to set the threshold of one model, when what counts is what the whole system costs."""

import math
import warnings
from dataclasses import dataclass

import numpy as np

from stakes import errors
from stakes.records import Record
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.network import Network
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Costs
from stakes.text import lines
from stakes.uncertainty.interval import mean_interval
from stakes.uncertainty.sampling import Sampling

_FOLDS = 5

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

    def __str__(self) -> str:
        text = lines([f"{self.model} says yes from {self.value:.6g} on: {self.method}"])
        if math.isnan(self.held_out):
            return text
        sure = "" if self.low is None else f" (95 % interval {self.low:.4g} to {self.high:.4g})"
        judged = f"on rows that did not choose it a case costs {self.held_out:.4g} instead of {self.now:.4g}"
        return f"{text}; {judged}, a saving of {self.saving:.4g}{sure}"


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


def by_rows(
    network: Network,
    name: str,
    truth: Array,
    said: dict[str, Array],
    score: Array,
    answers: tuple[int, int],
    per_case: bool,
    sampling: Sampling,
) -> SystemThreshold:
    """Choose the threshold that is cheapest on the rows, and judge the choice on rows that it was not made on.

    ``answers`` are the codes of the model's yes and no.
    """
    yes, no, now = (_costs_of_answer(network, name, truth, said, code) for code in (*answers, None))
    if per_case:
        sizes = np.bincount(truth, minlength=len(network.classes))
        weight = (network.cases / sizes * len(truth))[truth]
        yes, no, now = yes * weight, no * weight, now * weight
    value = _cheapest(score, yes, no)
    fold = sampling.generator().permutation(len(score)) % _FOLDS
    held_out = np.empty(len(score))
    for k in range(min(_FOLDS, len(score))):
        inside = fold != k
        cut = _cheapest(score[inside], yes[inside], no[inside])
        held_out[~inside] = np.where(score[~inside] >= cut, yes[~inside], no[~inside])
    limits = mean_interval(now - held_out, None, sampling.confidence) or (None, None)
    columns = (np.where(score >= value, yes, no), now, held_out, now - held_out)
    return SystemThreshold(name, value, _ROWS, *(float(column.mean()) for column in columns), *limits)


def _costs_of_answer(network: Network, name: str, truth: Array, said: dict[str, Array], code: int | None) -> Array:
    """What each row costs when the model gives an answer (its own when ``code`` is None)."""
    codes = said if code is None else {**said, name: np.full(len(truth), code)}
    return network.prices[truth, network.fusion(codes)]


def _cheapest(score: Array, yes: Array, no: Array) -> float:
    """The threshold (a score that occurs, or ∞) at which the rows cost least; of several, the highest."""
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    costs = np.concatenate([[0.0], np.cumsum((yes - no)[order])])
    ends = np.concatenate([[0], np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)) + 1])
    best = int(np.argmin(costs[ends]))
    return math.inf if best == 0 else float(ordered[ends[best] - 1])
