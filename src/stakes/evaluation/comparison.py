"""The result of a comparison: the ranking, the pairs, and the conclusion that they support."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Literal

from stakes import errors, metrics
from stakes.decisions.curves.decision import decision_difference
from stakes.decisions.curves.kinds import Curve
from stakes.errors import InputError, Pass, Text, short, some
from stakes.evaluation.base import Evaluation
from stakes.evaluation.contestants import Contestant
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate
from stakes.question.options import Column
from stakes.records import Count, Finite, Positive, Record, RowCount, Share
from stakes.results import Plottable, Reportable
from stakes.tallies.checks import is_one_of
from stakes.tallies.names import and_list
from stakes.text import lines, visible
from stakes.uncertainty.paired import Flipped


@dataclass(frozen=True)
class Place(
    Record,
    shown="rank model metric value=estimate.value baseline=estimate.baseline low=estimate.low high=estimate.high "
    "reason=estimate.reason confidence=estimate.confidence method=estimate.method "
    "no_interval=estimate.no_interval note=estimate.note",
):
    """A model's place in the ranking by a metric."""

    rank: Positive
    model: str
    metric: str
    estimate: Estimate


@dataclass(frozen=True)
class Pair(Record):
    """Two models: the difference of a figure (first minus second, the first ranking higher) and its interval.

    ``p_value`` is two-sided, ``adjusted_p_value`` Holm's over all pairs, or Bonferroni's with simultaneous intervals.
    ``flipped`` counts the rows on which both, one or none of them is right. ``not_inferior`` says whether the interval
    shows that the first is not worse than the second by more than the margin; ``second_not_inferior`` is the reverse.
    What is not known is None; ``note`` says why.
    """

    first: str
    second: str
    metric: str
    difference: float
    low: float | None = None
    high: float | None = None
    p_value: Share | None = None
    adjusted_p_value: Share | None = None
    method: str = ""
    flipped: Flipped | None = None
    not_inferior: bool | None = None
    second_not_inferior: bool | None = None
    note: str = ""

    def told_apart(self, confidence: float) -> bool:
        """Whether the interval lies on one side of 0 and the adjusted p-value agrees."""
        if self.low is None or self.high is None or self.adjusted_p_value is None:
            return False
        return (self.low > 0 or self.high < 0) and self.adjusted_p_value <= 1 - confidence


@dataclass(frozen=True)
class PossibleRanks(Record):
    """The range of ranks of a model by a metric; those of all models hold at once."""

    metric: str
    model: str
    low: Positive
    high: Positive


@dataclass(frozen=True)
class BestOfAll:
    """The best model by a metric: whom it surely beats, from whom it does not surely differ, who has no difference."""

    best: Place
    beaten: list[str] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Comparison(
    Record,
    Narrated,
    Plottable,
    Reportable,
    stakes="comparison",
    shown="rows dropped unlabelled paired=on_same_rows clusters confidence intervals margin conclusion findings notes "
    "table ranks pairs segments",
):
    """Models ranked by one or more figures, and every two of them compared.

    ``models`` are the evaluations by name, ``table`` the ranking, ``pairs`` the comparisons, ``conclusion`` a summary
    in one sentence. ``segments`` are the same within each segment, with p-values that are corrected for the pairs of
    all of them. ``unlabelled`` rows have no truth, and figures are estimates for all rows.
    """

    models: Mapping[str, Evaluation]
    table: Sequence[Place]
    pairs: Sequence[Pair]
    confidence: Finite = 0.95
    simultaneous: bool = False
    margin: Finite | None = None
    on_same_rows: bool = True
    clusters: int | None = None
    contestants: Sequence[Contestant] = ()
    segments: Mapping[str, "Comparison"] = field(default_factory=dict)
    unlabelled: Count = 0

    plotted_as = "comparison"

    @property
    def plots(self) -> tuple[str, ...]:
        """The kinds of plots that there are: differences, and the curves of all models together."""
        shared = set.intersection(*(set(model.plots) for model in self.models.values()))
        two = all(model.task == "binary" for model in self.models.values())
        return ("forest", *(kind for kind in ("roc", "pr", "reliability", "decision") if two and kind in shared))

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that the models are compared by."""
        return list(dict.fromkeys(place.metric for place in self.table))

    @property
    def rows(self) -> RowCount | list[RowCount]:
        """The (weighted) number of rows, or the numbers when the models saw different ones."""
        sizes = [model.rows for model in self.models.values()]
        return sizes[0] if self.on_same_rows else sizes

    @property
    def intervals(self) -> Literal["unadjusted", "simultaneous"]:
        """How sure the intervals are: each by itself (unadjusted), or all of a metric at once (simultaneous)."""
        return "simultaneous" if self.simultaneous else "unadjusted"

    def pair(self, one: str, other: str, metric: str | None = None) -> Pair:
        """Return the comparison of two models, by the first metric if none is named, whatever their order."""
        wanted = self.metrics[0] if metric is None else metrics.find(metric).text
        known = all(is_one_of(name, self.models) for name in (one, other))
        for pair in self._pairs_by(wanted) if known else ():
            if {pair.first, pair.second} == {one, other}:
                return pair
        named = f"{short(repr(one))} and {short(repr(other))}"
        models = some(list(self.models))
        raise InputError("no-such-pair", f"there is no pair of {named} by that metric; the models are {models}")

    def curve(self, kind: str, first: str = "", second: str = "", *, thresholds: Column = None) -> Curve:
        """Return the "decision" curve of two models: how much more net benefit the first one has than the second.

        Its band is that of each threshold probability by itself, for rows (or clusters) that both models share.
        """
        if not is_one_of(kind, ("decision",)):
            raise errors.no_such_curve(kind, ["decision"])
        if len(self.models) == 2 and isinstance(first, str) and isinstance(second, str) and not first + second:
            first, second = self.models
        known = all(is_one_of(name, self.models) for name in (first, second))
        if not known or first == second:
            raise InputError(
                "not-two-models",
                f"{short(repr(first))} and {short(repr(second))} are not two of the models; there are "
                f"{some(list(self.models))}",
            )
        sides = [model for name in (first, second) for model in self.contestants if model.name == name]
        if not self.on_same_rows:
            raise errors.no_curve(kind, "the models were not evaluated on the same rows")
        scores = []
        for model in sides:
            if model.sample.positive is None or model.scores is None or not model.evaluation.probabilities:
                raise errors.no_curve(kind, f"{model.name} gives no probabilities of two classes")
            if model.elsewhere is not None:
                raise errors.no_curve(kind, Text("the rows were not brought here; pass ", Pass("exact", True)))
            scores.append(model.scores)
        one, other = scores
        return decision_difference(sides[0].sample, one, other, self.confidence, thresholds=thresholds)

    # ── in words ─────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def conclusion(self) -> str:
        """The conclusion that the intervals support."""
        return lines([" ".join(words for found in self.findings if found.answers for words in found.words)])

    def pair_like(self, pair: Pair) -> Pair:
        """Return the pair of the same models here, in the order of the given pair."""
        found = self.pair(pair.first, pair.second, pair.metric)
        if found.first == pair.first:
            return found
        low, high = (None if end is None else -end for end in (found.high, found.low))
        swapped = replace(found, first=pair.first, second=pair.second, flipped=None)
        return replace(swapped, difference=-found.difference, low=low, high=high)

    def _pairs_by(self, metric: str) -> list[Pair]:
        return [pair for pair in self.pairs if pair.metric == metric]

    def _places_by(self, metric: str) -> list[Place]:
        return [place for place in self.table if place.metric == metric]

    @cached_property
    def ranks(self) -> Sequence[PossibleRanks]:
        """The ranks that each model can have: below those shown to be better, above those shown to be worse.

        The tests of all pairs hold at once, so these ranks do, too.
        """
        found = []
        for name in self.metrics:
            models = [place.model for place in self._places_by(name)]
            sure = [pair for pair in self._pairs_by(name) if pair.told_apart(self.confidence)]
            better = {model: sum(pair.second == model for pair in sure) for model in models}
            worse = {model: sum(pair.first == model for pair in sure) for model in models}
            found += [PossibleRanks(name, one, 1 + better[one], len(models) - worse[one]) for one in models]
        return found

    def _standing(self, metric: str) -> BestOfAll:
        """How the best model by a metric stands against each of the others."""
        best = self._places_by(metric)[0]
        found = BestOfAll(best)
        for pair in self._pairs_by(metric):
            if best.model in (pair.first, pair.second):
                sure, known = pair.told_apart(self.confidence), math.isfinite(pair.difference)
                (found.beaten if sure else found.alike if known else found.lost).append(pair.second)
        return found

    @property
    def dropped(self) -> int:
        """How many rows lacked a value and were left out; the sum over models where each has its own rows."""
        lost = [model.counted.dropped for model in self.models.values()]
        return max(lost) if self.on_same_rows else sum(lost)

    @property
    def _pair_notes(self) -> list[tuple[str, str]]:
        """The metrics of pairs with notes, and the notes, each once."""
        return list(dict.fromkeys((pair.metric, pair.note) for pair in self.pairs if pair.note))

    @property
    def notes(self) -> list[str]:
        """The conclusion, and what a careful colleague would point out."""
        return [*(words for found in self.findings for words in found.words), *map(": ".join, self._pair_notes)]

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per pair, for a data frame; of segments those follow, all rows are None."""
        nothing = dict.fromkeys(Flipped.__dataclass_fields__)
        rows = [asdict(pair) for pair in self.pairs]
        flat = [{k: v for k, v in row.items() if k != "flipped"} | (row["flipped"] or nothing) for row in rows]
        if not self.segments:
            return flat
        inner = [{"segment": name, **row} for name, part in self.segments.items() for row in part.to_rows()]
        return [*({"segment": None, **row} for row in flat), *inner]

    def __repr__(self) -> str:
        return visible(f"<Comparison of {and_list(list(self.models))} by {and_list(self.metrics)}>")
