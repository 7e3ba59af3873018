"""A recommendation: which threshold, what it costs, what else could be done, and how sure that is."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stakes import metrics
from stakes.decisions.curves.curve import Curve
from stakes.language.narrated import Narrated
from stakes.language.sentences import Finding
from stakes.metrics import Estimate
from stakes.records import Count, Record, RowCount
from stakes.results import Plottable, Reportable
from stakes.tallies.costs import Costs
from stakes.text import visible

Range = tuple[float, float]

WayRow = dict[str, str | float | None]
"""A way to decide as a flat dictionary, for a data frame."""

BAYES = "Bayes threshold"
"""How the thresholds that the costs give for honest probabilities are called among the alternatives."""

PER = 1000
"""Costs are told for so many cases."""


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
    shown="criterion question recommended positive negative rows dropped decisions thresholds apparent "
    "corrected condition alternatives savings miscalibration worthless alike bayes no_bayes cost_ratio "
    "worth_of_labels most_worth_of_labels rough unseen enough_evidence costs findings",
):
    """The best thresholds of a score, what they are worth, and what speaks for and against them.

    ``thresholds`` stand between ``decisions``, from low scores to high ones. ``apparent`` is the figure on the rows
    that chose them, which flatters; ``corrected`` the figure on rows that did not. ``alike`` are the ranges of
    thresholds that cannot be told from the best on these rows. If the Bayes thresholds, which no row has chosen, are
    among them, they are ``recommended``. ``alternatives`` are other ways to decide, ``savings`` what the recommended
    way saves against each; ``miscalibration`` is what the best thresholds save against the Bayes ones.

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
    find_over_thresholds: Callable[[], Curve] | None = None
    dropped: Count = 0
    cautions: tuple[Finding, ...] = ()

    drawn_as = "decision"

    @property
    def over_thresholds(self) -> Curve | None:
        """The figure at every threshold, not only at the best one."""
        return None if self.find_over_thresholds is None else self.find_over_thresholds()

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
        """The thresholds to use: the Bayes ones if these rows cannot tell them from the best, otherwise the best."""
        return self.bayes if self.bayes is not None and self.bayes_is_alike else self.thresholds

    @property
    def cost(self) -> Estimate:
        """What the recommended thresholds cost per case, on rows that did not choose them."""
        return self.alternatives[BAYES] if self.bayes_is_alike else self.corrected

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
        best = f"thresholds of these rows ({_listed(self.thresholds)})"
        return ways_as_rows({best: self.corrected, **self.alternatives}, self.savings)

    def __repr__(self) -> str:
        return visible(f"<Decision: {self.decisions[-1]!r} from {_listed(self.recommended)}>")


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


def _listed(thresholds: Sequence[float]) -> str:
    return ", ".join(f"{start:.6g}" for start in thresholds)


def ways_as_rows(ways: Mapping[str, Estimate], savings: Mapping[str, Estimate]) -> list[WayRow]:
    """Return ways to decide, with the figure of each and what is saved, as flat dictionaries."""
    rows: list[WayRow] = []
    for name, found in ways.items():
        rows.append({"way": name, "value": found.value, "low": found.low, "high": found.high})
        for key, part in (("saving", "value"), ("saving_low", "low"), ("saving_high", "high")):
            rows[-1][key] = getattr(savings.get(name), part, None)
    return rows
