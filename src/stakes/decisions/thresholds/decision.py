"""A recommendation: which threshold, what it costs, what else could be done, and how sure that is."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
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
"""The name, among the alternatives, of the thresholds that follow from the costs for honest probabilities."""

BY_ROW = "each row by its own costs"
"""The name, among the alternatives, of deciding every row by its own costs."""

PER = 1000
"""The number of cases that costs are shown for."""

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
    "worth_of_labels most_worth_of_labels rough unseen enough_evidence costs harm findings",
):
    """The best thresholds of a score, what they are worth, and what speaks for and against them.

    ``thresholds`` stand between ``decisions``, from low scores to high ones. ``apparent`` is the figure on the rows
    that chose them, which flatters; ``corrected`` the figure on rows that did not. ``alike`` are the ranges of
    thresholds that cannot be told from the best on these rows. If the Bayes thresholds, which no row has chosen, are
    among them, they are taken; otherwise the threshold in use (0.5 if nobody named one), where that is among them: then
    it is ``kept``. These are ``recommended`` if their cost on rows that did not choose them is below that of every
    decision for everybody; otherwise the cheapest of those is (``for_everyone``), with infinite thresholds.
    ``evaluation`` is the evaluation at the recommended thresholds, ``table`` its confusion table, ``figures`` what it
    finds and alarms; at the share of positives that is ``deployed``, if that is another than
    that of the rows. ``shown_as`` are the thresholds with the digits that matter.

    ``harm`` is what asking the model costs for each case; it is part of what every way costs that looks at the scores.
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
    savings_by_score: Mapping[str, Estimate] = field(default_factory=dict)
    savings_for_everyone: Mapping[str, Estimate] = field(default_factory=dict)
    alike: tuple[list[Range], ...] = ()
    costs: Costs | None = None
    bayes: tuple[float, ...] | None = None
    no_bayes: str = ""
    cost_ratio: Range | None = None
    worth_of_labels: float = math.nan
    most_worth_of_labels: float = math.nan
    unseen: UnseenMisses | None = None
    condition: Estimate | None = None
    harm: float = 0.0
    limit: tuple[str, float] | None = None
    miscalibration: Estimate | None = None
    worthless: tuple[str, ...] = ()
    in_use_alike: float | None = None
    deployed: float | None = None
    shown_as: Mapping[float, float] = field(default_factory=dict)
    find_over_thresholds: Callable[[], Curve] | None = None
    find_evaluation: Callable[[], Any] | None = None
    dropped: Count = 0
    cautions: tuple[Finding, ...] = ()

    plotted_as = "decision"

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
        """What two decisions find and alarm at the recommended threshold, as the evaluation there tells it."""
        pair = self.table is not None and self.table.of_pair
        return {metric.name: self.evaluation[metric.name] for metric in FOUND} if pair else {}

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
    def for_everyone(self) -> bool:
        """Whether the cheapest decision for everybody is recommended: deciding by the score does not look cheaper."""
        always = self.constant
        return bool(always) and self.savings_by_score[always].value <= 1e-12 * abs(self.alternatives[always].value)

    @property
    def savings(self) -> Mapping[str, Estimate]:
        """What the recommended way saves against each of the others."""
        return self.savings_for_everyone if self.for_everyone else self.savings_by_score

    @property
    def kept(self) -> float | None:
        """The threshold in use, where these rows cannot tell it from the best and it is not better to ask nobody."""
        return None if self.for_everyone else self.in_use_alike

    @property
    def enough_evidence(self) -> bool | None:
        """Whether the model surely costs less than every decision for everybody; None when costs were not asked."""
        return surely_saves(self.savings_by_score) if self.constant else None

    @property
    def rival(self) -> str:
        """The decision for everybody against which the model's saving is least sure; the cheapest if that is taken."""
        return self.constant if self.for_everyone else least_sure(self.savings_by_score)

    @property
    def bayes_is_alike(self) -> bool:
        """Whether the Bayes thresholds are among those that cannot be told from the best."""
        return self.bayes is not None and all_within(self.bayes, self.alike)

    @property
    def by_score(self) -> tuple[float, ...]:
        """The thresholds for those who decide by the score, whether that looks cheaper than one decision or not."""
        if self.bayes is not None and self.bayes_is_alike:
            return self.bayes
        return self.thresholds if self.in_use_alike is None else (self.in_use_alike,)

    @property
    def recommended(self) -> tuple[float, ...]:
        """The thresholds to use: Bayes's or those in use if these rows cannot tell them from the best, or the best.

        Where one decision for everybody is recommended, they are infinite.
        """
        if not self.for_everyone:
            return self.by_score
        passed = self.decisions.index(self.constant.removeprefix("always "))
        return tuple(-math.inf if place < passed else math.inf for place in range(len(self.thresholds)))

    @property
    def chosen(self) -> bool:
        """Whether these rows chose the recommended thresholds."""
        return not (self.for_everyone or self.bayes_is_alike) and self.kept is None

    def shown(self, threshold: float) -> float:
        """Return a threshold with the digits that matter."""
        return self.shown_as.get(threshold, with_digits(threshold))

    @property
    def cost(self) -> Estimate:
        """What the recommended way costs per case, on rows that did not choose it."""
        return self._ways[self.way]

    @property
    def way(self) -> str:
        """The name of the recommended way among all ways to decide."""
        if self.for_everyone:
            return self.constant
        kept = "" if self.kept is None else threshold_way(self.kept)
        usual = BAYES if self.bayes_is_alike else kept
        return usual if usual in self.alternatives else next(iter(self._ways))

    @property
    def _ways(self) -> Mapping[str, Estimate]:
        """Every way to decide, the best of these rows first."""
        best = f"thresholds of these rows ({self._listed(self.thresholds)})"
        return {best: self.corrected, **self.alternatives}

    @property
    def cheaper_by_row(self) -> Estimate | None:
        """What deciding each row by its own costs costs, where that is less than the recommended way."""
        found = self.alternatives.get(BY_ROW)
        return found if found is not None and found.value < self.cost.value else None

    @property
    def flattered(self) -> bool:
        """Whether the figure looks better on the rows that chose the thresholds than on others."""
        gain = self.apparent.value - self.corrected.value
        return gain > 0 if metrics.find(self.corrected.name).better == "higher" else gain < 0

    @property
    def worse(self) -> bool:
        """Whether the model surely costs more than some decision for everybody."""
        always = constants_of(self.savings_by_score).values()
        return any(saving.high is not None and saving.high < 0 for saving in always)

    @property
    def rough(self) -> bool:
        """Whether the threshold was chosen on too few positives: most of its cost is a guess at its optimism."""
        return self.most_worth_of_labels / 1.5 > self.corrected.value / 2

    def asked_at(self, harm: float) -> "Decision":
        """Return the same decision where asking the model for a case costs that."""
        if not harm:
            return self
        return replace(
            self,
            harm=harm,
            apparent=shift(self.apparent, harm),
            corrected=shift(self.corrected, harm),
            alternatives=add_harm(self.alternatives, harm),
            savings_by_score=take_harm(self.savings_by_score, harm),
            savings_for_everyone=add_harm(self.savings_for_everyone, harm),
            find_over_thresholds=self.find_over_thresholds and partial(_add_to_curve, self.find_over_thresholds, harm),
        )

    def to_rows(self) -> list[WayRow]:
        """Return one flat dictionary per way to decide; a saving is what the recommended way saves against it."""
        return ways_as_rows(self._ways, self.savings, self.way)

    def __repr__(self) -> str:
        if self.for_everyone:
            return visible(f"<Decision: {self.constant.removeprefix('always ')!r} for everyone>")
        return visible(f"<Decision: {self.decisions[-1]!r} from {self._listed(self.recommended)}>")

    def _listed(self, thresholds: Sequence[float]) -> str:
        return ", ".join(f"{self.shown(start):.6g}" for start in thresholds)


def threshold_way(threshold: float) -> str:
    """The name of deciding by one threshold among the alternatives."""
    return f"threshold {threshold:g}"


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


def least_sure(savings: Mapping[str, Estimate]) -> str:
    """The decision for everybody against which a saving is least sure."""
    always = constants_of(savings)
    return min(always, key=lambda name: _at_least(always[name]), default="")


def surely_saves(savings: Mapping[str, Estimate]) -> bool:
    """Whether something is surely saved against every decision for everybody."""
    return all(_at_least(saving) > 0 for saving in constants_of(savings).values())


def add_harm(ways: Mapping[str, Estimate], harm: float) -> dict[str, Estimate]:
    """Return what ways to decide cost, with what asking the model costs; constant ones do not ask."""
    always = constants_of(ways)
    return {name: one if name in always else shift(one, harm) for name, one in ways.items()}


def take_harm(savings: Mapping[str, Estimate], harm: float) -> dict[str, Estimate]:
    """Return what asking the model saves: less by that against a constant decision."""
    always = constants_of(savings)
    return {name: shift(one, -harm) if name in always else one for name, one in savings.items()}


def shift(found: Estimate, by: float) -> Estimate:
    """Return a figure shifted by a known amount."""
    low, high = (None if end is None else end + by for end in (found.low, found.high))
    return replace(found, value=found.value + by, low=low, high=high)


def ways_as_rows(ways: Mapping[str, Estimate], savings: Mapping[str, Estimate], recommended: str) -> list[WayRow]:
    """Return ways to decide, with the figure of each and what is saved, as flat dictionaries."""
    rows: list[WayRow] = []
    for name, found in ways.items():
        rows.append({"way": name, "value": found.value, "low": found.low, "high": found.high})
        rows[-1] |= saving_as_entries(savings.get(name))
        rows[-1]["recommended"] = name == recommended
    return rows


def saving_as_entries(saving: Estimate | None) -> WayRow:
    """What is saved and its interval, as entries of a flat dictionary."""
    parts = {"saving": "value", "saving_low": "low", "saving_high": "high"}
    return {key: getattr(saving, part, None) for key, part in parts.items()}


def _add_to_curve(find: Callable[[], Curve], harm: float) -> Curve:
    """A curve of costs with what asking costs."""
    curve = find()
    band = replace(curve.band, low=curve.band.low + harm, high=curve.band.high + harm)
    return replace(curve, y=curve.y + harm, find_band=partial(replace, band))
