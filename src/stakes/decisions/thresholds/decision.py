"""A recommendation: which threshold, what it costs, what else could be done, and how sure that is."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stakes import errors, metrics
from stakes.decisions.curves.curve import Curve
from stakes.metrics import Estimate
from stakes.metrics.estimate import percent
from stakes.records import Count, Record, RowCount
from stakes.results import Plottable, Reportable
from stakes.tallies.costs import Costs
from stakes.text import lines, visible

Range = tuple[float, float]

WayRow = dict[str, str | float | None]
"""A way to decide as a flat dictionary, for a data frame."""

BAYES = "Bayes threshold"
"""How the thresholds that the costs give for honest probabilities are called among the alternatives."""

PER = 1000
"""Costs are told for so many cases."""


class Recommendation(Record, Reportable):
    """The best way to decide, what it is worth, and what speaks for and against it."""

    dropped: int
    cautions: tuple[str, ...]

    def sentences(self) -> Iterator[str]:
        """Tell the recommendation in plain words."""
        return map(visible, self._sentences())

    def _sentences(self) -> Iterator[str]:
        raise NotImplementedError

    @staticmethod
    def _evidence(who: str, savings: Mapping[str, Estimate]) -> str:
        """Say whether somebody surely costs less than deciding the same for everybody, whatever that is."""
        constant = least_sure(savings)
        saving = savings[constant]
        if surely_saves(savings):
            return f"Against {constant} it saves {with_interval(saving)}: the model earns its keep."
        saved = f"{with_interval(saving)} per {PER:,} cases"
        return f"Not enough evidence that {who} costs less than {constant}: the saving is {saved}."

    def __str__(self) -> str:
        left_out = [errors.rows_left_out(self.dropped)] if self.dropped else []
        return lines([*self.sentences(), *(f"{words}." for words in (*left_out, *self.cautions))])


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
    shown="criterion question recommended positive negative rows dropped cautions decisions thresholds apparent "
    "corrected condition alternatives savings miscalibration worthless alike bayes no_bayes cost_ratio "
    "worth_of_labels most_worth_of_labels rough unseen enough_evidence costs",
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
    cautions: tuple[str, ...] = ()

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
    def _which_flatters(self) -> str:
        return ", which flatters it" if self.flattered else ""

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

    # ── in words ─────────────────────────────────────────────────────────────────────────────────────────────
    def __repr__(self) -> str:
        return f"<Decision: {visible(self._rule(self.recommended))}>"

    def _sentences(self) -> Iterator[str]:
        yield f"{self.question}."
        if self.costs is None:
            yield f"Decide {self._rule(self.thresholds)}: {self.criterion}."
            yield from self._about_figure()
            yield from self._about_alike()
            return
        yield from self._about_rule()
        yield from self._about_cost()
        yield from self._about_evidence()
        yield from self._about_alike()
        yield from self._about_bayes()
        yield from self._about_ratio()
        yield from self._about_labels()

    def _rule(self, thresholds: Sequence[float]) -> str:
        if math.isinf(thresholds[0]):
            return f"{self.decisions[0]!r} for every case"
        if len(thresholds) == 1:
            return f"{self.decisions[1]!r} when score ≥ {thresholds[0]:.6g}, otherwise {self.decisions[0]!r}"
        above = zip(self.decisions[1:], thresholds, strict=True)
        steps = [f"{name!r} from {start:.6g}" for name, start in above if math.isfinite(start)]
        return f"{self.decisions[0]!r} for low scores, {', '.join(steps)}"

    def _about_rule(self) -> Iterator[str]:
        if self.worse:
            yield f"Decide {self.constant}: no threshold of this score costs less."
            yield f"The best one would be {self._rule(self.recommended)}."
        elif self.bayes_is_alike:
            yield (
                f"Decide {self._rule(self.recommended)}: there the costs switch if the probabilities are right, and "
                "these rows cannot tell it from their own best threshold."
            )
        else:
            yield f"Decide {self._rule(self.recommended)}: the lowest cost on these rows."
        for name in self.worthless:
            yield f"The decision {name!r} is never worth taking at these costs."

    def _about_cost(self) -> Iterator[str]:
        flattered = f"on the very rows that chose it, it is {describe(self.apparent.value)}{self._which_flatters}"
        if self.bayes_is_alike:
            yield f"That costs {with_interval(self.cost)} per {PER:,} cases."
            corrected = f"{with_interval(self.corrected)} on rows that did not choose it"
            yield f"The best of these rows, {_listed(self.thresholds)}, costs {corrected}; {flattered}."
        else:
            yield f"That costs {with_interval(self.cost)} per {PER:,} cases; {flattered}."
        others = [f"{name} {describe(cost.value)}" for name, cost in self.alternatives.items() if name != BAYES]
        yield f"Instead, per {PER:,} cases: {'; '.join(others)}."

    def _about_evidence(self) -> Iterator[str]:
        if self.worse:
            yield f"Against {self.rival} it loses {with_interval(_as_loss(self.savings[self.rival]))}."
        else:
            yield self._evidence("the model", self.savings)
        if self.unseen is not None:
            found = self.unseen
            yield (
                f"None of the {found.positives:,} {self.positive!r} is missed here, but up to {found.misses:.1f} in "
                f"{self.rows:,} rows cannot be excluded, which cost {describe(found.cost)} per {PER:,} cases; to earn "
                f"its keep a model needs at least {math.ceil(found.negatives):,} true negatives."
            )

    def _about_figure(self) -> Iterator[str]:
        found = self.corrected
        apparent = f"on those that did, {self.apparent.value:.4f}{self._which_flatters}"
        yield f"On rows that did not choose it {found.name} is {found.value:.4f}{_limits(found)}; {apparent}."
        if self.condition is not None and self.limit is not None:
            (sign, limit), kept = self.limit, self.condition
            met = kept.value >= limit if sign == "≥" else kept.value <= limit
            missed = "" if met else f": the condition {kept.name} {sign} {limit:g} will not quite be kept"
            yield f"There {kept.name} is {kept.value:.4f}{_limits(kept)}{missed}."
        for name, other in self.alternatives.items():
            yield f"The {name} would give {other.value:.4f}."

    def _about_alike(self) -> Iterator[str]:
        for start, ranges, name in zip(self.thresholds, self.alike, self.decisions[1:], strict=True):
            if ranges and ranges != [(start, start)]:
                low, high = ranges[0][0], ranges[-1][1]
                which = "Thresholds" if len(self.thresholds) == 1 else f"Thresholds of {name!r}"
                bounded, open_ended = f"between {low:.6g} and {high:.6g}", f"from {low:.6g} on, or none at all,"
                span = bounded if math.isfinite(high) else open_ended
                yield f"{which} {span} cannot be told from {start:.6g} on these rows."

    def _about_bayes(self) -> Iterator[str]:
        if self.bayes is None:
            yield f"There is no threshold that follows from the costs alone: {self.no_bayes}."
        elif self.miscalibration is not None:
            other = "" if self.bayes_is_alike else f", which costs {with_interval(self.alternatives[BAYES])}"
            gain = f"saves {with_interval(self.miscalibration)} against it: the price of miscalibration here, and noise"
            if self.miscalibration.value < 0:
                gain = f"costs {with_interval(_as_loss(self.miscalibration))} more: the price of choosing on few rows"
            best = f"If the probabilities were right, {_listed(self.bayes)} would be best{other}"
            yield f"{best}. The best of these rows {gain}."

    def _about_labels(self) -> Iterator[str]:
        if not math.isnan(self.worth_of_labels):
            about, most = map(describe, (self.worth_of_labels, self.most_worth_of_labels))
            yield f"Many more labels would save about {about} per {PER:,} cases, hardly more than {most}."
            if self.rough:
                yield "All this is rough: the threshold was chosen on too few positives."

    def _about_ratio(self) -> Iterator[str]:
        if self.cost_ratio is not None:
            low, high = (f"{ratio:.4g}" if math.isfinite(ratio) else "any number of" for ratio in self.cost_ratio)
            between = f"a miss costs between {low} and {high} false alarms"
            yield f"{_listed(self.thresholds)} stays the best of these rows while {between}."


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


def _as_loss(saving: Estimate) -> Estimate:
    low, high = (None if end is None else -end for end in (saving.high, saving.low))
    return replace(saving, value=-saving.value, low=low, high=high)


def describe(cost: float) -> str:
    """Write a cost per case as one of so many cases."""
    return f"{PER * cost:,.4g}" if abs(PER * cost) < 1e4 else f"{PER * cost:,.0f}"


def with_interval(cost: Estimate) -> str:
    """Write a cost with its interval, or why it has none."""
    if cost.low is None or cost.high is None:
        return f"{describe(cost.value)} ({cost.no_interval})"
    return f"{describe(cost.value)} ({percent(cost.confidence)} interval {describe(cost.low)} to {describe(cost.high)})"


def _limits(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return ""
    return f" ({percent(found.confidence)} interval {found.low:.4f} to {found.high:.4f})"


def ways_as_rows(ways: Mapping[str, Estimate], savings: Mapping[str, Estimate]) -> list[WayRow]:
    """Return ways to decide, with the figure of each and what is saved, as flat dictionaries."""
    rows: list[WayRow] = []
    for name, found in ways.items():
        rows.append({"way": name, "value": found.value, "low": found.low, "high": found.high})
        for key, part in (("saving", "value"), ("saving_low", "low"), ("saving_high", "high")):
            rows[-1][key] = getattr(savings.get(name), part, None)
    return rows
