"""A recommendation: which threshold, what it costs, what else could be done, and how sure that is."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from stakes import metrics
from stakes.decisions.curves.curve import Curve
from stakes.decisions.thresholds.digits import with_digits
from stakes.language.narrated import Narrated
from stakes.language.sentences import Finding
from stakes.metrics import Estimate
from stakes.metrics.rates import alarm_rate, false_positive_rate, precision, recall
from stakes.records import Count, Record, RowCount
from stakes.results import Plottable, Reportable
from stakes.tallies import Confusion
from stakes.tallies.costs import Costs
from stakes.text import visible

Range = tuple[float, float]

WayRow = dict[str, str | float | None]
"""A way to decide as a flat dictionary, for a data frame."""

BAYES = "Bayes threshold"
"""How the thresholds that the costs give for honest probabilities are called among the alternatives."""

PER = 1000
"""Costs are told for so many cases."""

FOUND = (recall, false_positive_rate, alarm_rate, precision)
"""What the owner of a decision asks first: how many are found, how many alarmed, how many of the alarms are right."""


class Recommendation(Record, Narrated, Reportable):
    """The best way to decide, what it is worth, and what speaks for and against it."""

    dropped: int
    cautions: tuple[Finding, ...]

    def sentences(self) -> Iterator[str]:
        """Tell the recommendation in plain words."""
        return (visible(words) for found in self.findings for words in found.words)


@dataclass(frozen=True)
class UnseenMisses(Record):
    """What cannot be excluded although none of the ``positives`` was missed: so many ``misses`` among these rows.

    They would cost ``cost`` per case; a model that earns its keep needs at least so many true ``negatives``.
    """

    positives: int
    misses: float
    cost: float
    negatives: float


@dataclass(frozen=True, eq=False, repr=False)
class Decision(
    Recommendation,
    Plottable,
    stakes="decision",
    shown="criterion question recommended kept positive negative rows dropped decisions thresholds table figures "
    "apparent corrected condition alternatives savings miscalibration worthless alike bayes no_bayes cost_ratio "
    "worth_of_labels most_worth_of_labels rough unseen enough_evidence costs findings",
):
    """The best thresholds of a score, what they are worth, and what speaks for and against them.

    ``thresholds`` stand between ``decisions``, from low scores to high ones. ``apparent`` is the figure on the rows
    that chose them, which flatters; ``corrected`` the figure on rows that did not. ``alike`` are the ranges of
    thresholds that cannot be told from the best on these rows. If the Bayes thresholds, which no row has chosen, are
    among them, they are ``recommended``; otherwise the threshold in use (0.5 if nobody named one), where that is among
    them: then it is ``kept``. ``evaluation`` is the evaluation at the recommended thresholds, ``table`` its confusion
    table, ``figures`` what it finds and alarms; at the share of positives that is ``deployed``, if that is another than
    that of the rows. ``shown_as`` are the thresholds with the digits that matter.

    ``alternatives`` are other ways to decide, ``savings`` what the recommended way saves against each;
    ``miscalibration`` is what the best thresholds save against the Bayes ones.
    ``cost_ratio`` says between which costs of a miss, counted in false alarms, the best threshold stays the same;
    ``worth_of_labels`` what thresholds chosen on many more rows would save per case, about, and
    ``most_worth_of_labels`` what hardly ever is exceeded (undefined for the Bayes thresholds, which no row chose).
    ``unseen`` says what cannot be excluded where no positive was missed. ``over_thresholds`` is the figure at every
    threshold, None where there are several or costs differ by row. ``dropped`` rows lacked a value, ``cautions`` say
    why nothing here can be believed.
    """

    criterion: str
    decisions: tuple[str, ...]
    thresholds: tuple[float, ...]
    apparent: Estimate
    corrected: Estimate
    positive: str
    negative: str
    rows: RowCount
    confidence: float
    question: str = ""
    alternatives: Mapping[str, Estimate] = field(default_factory=dict)
    savings: Mapping[str, Estimate] = field(default_factory=dict)
    alike: tuple[list[Range], ...] = ()
    costs: Costs | None = None
    bayes: tuple[float, ...] | None = None
    no_bayes: str = ""
    cost_ratio: Range | None = None
    worth_of_labels: float = math.nan
    most_worth_of_labels: float = math.nan
    unseen: UnseenMisses | None = None
    condition: Estimate | None = None
    limit: tuple[str, float] | None = None
    miscalibration: Estimate | None = None
    worthless: tuple[str, ...] = ()
    kept: float | None = None
    deployed: float | None = None
    shown_as: Mapping[float, float] = field(default_factory=dict)
    find_over_thresholds: Callable[[], Curve] | None = None
    find_evaluation: Callable[[], Any] | None = None
    dropped: Count = 0
    cautions: tuple[Finding, ...] = ()

    drawn_as = "decision"

    @property
    def over_thresholds(self) -> Curve | None:
        """The figure at every threshold, not only at the best one."""
        return None if self.find_over_thresholds is None else self.find_over_thresholds()

    @cached_property
    def evaluation(self) -> Any:
        """The :class:`stakes.Evaluation` of the same rows at the recommended thresholds; None where rows are gone."""
        return None if self.find_evaluation is None else self.find_evaluation()

    @property
    def table(self) -> Confusion | None:
        """The decisions at the recommended thresholds against the truth."""
        return None if self.evaluation is None else self.evaluation.confusion

    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """What two decisions find and alarm at the recommended threshold, with intervals."""
        if self.table is None or not self.table.of_pair:
            return {}
        found = {metric.name: self.evaluation[metric.name] for metric in FOUND}
        return found if self.deployed is None else found | at_prevalence(found, self.deployed)

    @property
    def plots(self) -> tuple[str, ...]:
        """What each threshold gives where there is one, and the other ways to decide."""
        one = () if self.find_over_thresholds is None else ("threshold",)
        return (*one, "alternatives") if self.alternatives else one

    @property
    def threshold(self) -> float:
        """The threshold, when there is one."""
        return self.thresholds[0] if len(self.thresholds) == 1 else math.nan

    @property
    def constant(self) -> str:
        """The cheapest way to decide the same for everybody."""
        return cheapest_constant(self.alternatives)

    @property
    def enough_evidence(self) -> bool | None:
        """Whether the model surely costs less than every decision for everybody; None when costs were not asked."""
        return surely_saves(self.savings) if self.constant else None

    @property
    def rival(self) -> str:
        """The decision for everybody against which the model's saving is least sure."""
        return least_sure(self.savings)

    @property
    def bayes_is_alike(self) -> bool:
        """Whether the Bayes thresholds are among those that cannot be told from the best."""
        return self.bayes is not None and all_within(self.bayes, self.alike)

    @property
    def recommended(self) -> tuple[float, ...]:
        """The thresholds to use: Bayes's or those in use if these rows cannot tell them from the best, or the best."""
        if self.bayes is not None and self.bayes_is_alike:
            return self.bayes
        return self.thresholds if self.kept is None else (self.kept,)

    @property
    def chosen(self) -> bool:
        """Whether these rows chose the recommended thresholds."""
        return not self.bayes_is_alike and self.kept is None

    def shown(self, threshold: float) -> float:
        """Return a threshold with the digits that matter."""
        return self.shown_as.get(threshold, with_digits(threshold))

    @property
    def cost(self) -> Estimate:
        """What the recommended thresholds cost per case, on rows that did not choose them."""
        if self.bayes_is_alike:
            return self.alternatives[BAYES]
        return self.corrected if self.kept is None else self.alternatives[threshold_way(self.kept)]

    @property
    def flattered(self) -> bool:
        """Whether the figure looks better on the rows that chose the thresholds than on others."""
        gain = self.apparent.value - self.corrected.value
        return gain > 0 if metrics.find(self.corrected.name).better == "higher" else gain < 0

    @property
    def worse(self) -> bool:
        """Whether the model surely costs more than some decision for everybody."""
        return any(saving.high is not None and saving.high < 0 for saving in constants_of(self.savings).values())

    @property
    def rough(self) -> bool:
        """Whether the threshold was chosen on too few positives: most of its cost is a guess at its optimism."""
        return self.most_worth_of_labels / 1.5 > self.corrected.value / 2

    def to_rows(self) -> list[WayRow]:
        """Return one flat dictionary per way to decide; a saving is what the recommended way saves against it."""
        best = f"thresholds of these rows ({self._listed(self.thresholds)})"
        return ways_as_rows({best: self.corrected, **self.alternatives}, self.savings)

    def __repr__(self) -> str:
        return visible(f"<Decision: {self.decisions[-1]!r} from {self._listed(self.recommended)}>")

    def _listed(self, thresholds: Sequence[float]) -> str:
        return ", ".join(f"{self.shown(start):.6g}" for start in thresholds)


def threshold_way(threshold: float) -> str:
    """How deciding by one threshold is called among the alternatives."""
    return f"threshold {threshold:g}"


def at_prevalence(found: Mapping[str, Estimate], share: float) -> dict[str, Estimate]:
    """How many alarms there are, and how many of them right, where positives are as frequent as that.

    The limits are those at the outer ends of both rates, which are at least as wide as they need to be.
    """
    hits, alarms = found[recall.name], found[false_positive_rate.name]

    def at(hit: float, alarm: float) -> tuple[float, float]:
        """The alarm rate and the precision."""
        right, rate = share * hit, share * hit + (1 - share) * alarm
        return rate, right / rate if rate else math.nan

    rate, right = at(hits.value, alarms.value)
    ends: list[tuple[float | None, float | None]] = [(None, None)] * 2
    if None not in (hits.low, hits.high, alarms.low, alarms.high):
        low, high = (_at_least(hits), _at_least(alarms)), (_at_most(hits), _at_most(alarms))
        ends = [(at(*low)[0], at(*high)[0]), (at(low[0], high[1])[1], at(high[0], low[1])[1])]
    values = {alarm_rate.name: rate, precision.name: right}
    return {
        name: replace(found[name], value=values[name], low=one, high=other, method="outer ends of both rates")
        for name, (one, other) in zip(values, ends, strict=True)
    }


def all_within(starts: Sequence[float], alike: Sequence[Sequence[Range]]) -> bool:
    """Whether each threshold lies between the lowest and the highest that cannot be told from the best."""
    pairs = zip(starts, alike, strict=True)
    return all(bool(ranges) and ranges[0][0] <= start <= ranges[-1][1] for start, ranges in pairs)


def constants_of(ways: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The ways that decide the same for everybody."""
    return {name: found for name, found in ways.items() if name.startswith("always ")}


def cheapest_constant(ways: Mapping[str, Estimate]) -> str:
    """The cheapest way to decide the same for everybody."""
    always = constants_of(ways)
    return min(always, key=lambda name: always[name].value, default="")


def _at_least(saving: Estimate) -> float:
    return saving.value if saving.low is None else saving.low  # without limits nothing varies


def _at_most(saving: Estimate) -> float:
    return saving.value if saving.high is None else saving.high


def least_sure(savings: Mapping[str, Estimate]) -> str:
    """The decision for everybody against which a saving is least sure."""
    always = constants_of(savings)
    return min(always, key=lambda name: _at_least(always[name]), default="")


def surely_saves(savings: Mapping[str, Estimate]) -> bool:
    """Whether something is surely saved against every decision for everybody."""
    return all(_at_least(saving) > 0 for saving in constants_of(savings).values())


def ways_as_rows(ways: Mapping[str, Estimate], savings: Mapping[str, Estimate]) -> list[WayRow]:
    """Return ways to decide, with the figure of each and what is saved, as flat dictionaries."""
    rows: list[WayRow] = []
    for name, found in ways.items():
        rows.append({"way": name, "value": found.value, "low": found.low, "high": found.high})
        for key, part in (("saving", "value"), ("saving_low", "low"), ("saving_high", "high")):
            rows[-1][key] = getattr(savings.get(name), part, None)
    return rows
