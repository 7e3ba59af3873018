"""What a comparison of several models found: the ranking, the pairs, and what can honestly be said of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal

from stakes import errors, metrics
from stakes.decisions.curves.decision import decision_difference
from stakes.decisions.curves.kinds import Curve
from stakes.errors import InputError, short, some
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import wrongs
from stakes.evaluation.contestants import Contestant
from stakes.metrics import Estimate
from stakes.metrics.estimate import percent
from stakes.question.options import Column
from stakes.records import Finite, Positive, Record, RowCount, Share
from stakes.results import Plottable, Reportable, Shown
from stakes.tallies.checks import is_one_of
from stakes.tallies.names import and_list
from stakes.text import lines, visible
from stakes.uncertainty.paired import Flipped
from stakes.views import page


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
    """Two models: the difference of a figure (first minus second, the first ranking higher) and how sure it is.

    ``p_value`` is two-sided, ``adjusted_p_value`` Holm's over all pairs, or Bonferroni's with simultaneous intervals.
    ``flipped`` counts the rows on which both, one or none of them is right. ``not_inferior`` says whether the interval
    shows that the first is not worse than the second by more than the margin; ``second_not_inferior`` the same of the
    second. What is not known is None; ``note`` says why.
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
class Standing:
    """The best model by a metric: whom it surely beats, whom it cannot be told apart from, or compared with."""

    best: Place
    beaten: list[str] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Comparison(
    Record,
    Shown,
    Plottable,
    Reportable,
    stakes="comparison",
    form=1,
    shown="rows dropped paired=on_same_rows clusters confidence intervals margin conclusion notes table pairs",
):
    """Models ranked by one or more figures, and every two of them compared.

    ``models`` are the evaluations by name, ``table`` the ranking, ``pairs`` the comparisons, ``conclusion`` what can
    be said in one sentence.
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

    drawn_as = "comparison"
    plots = ("forest",)

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
            raise errors.no_curve(kind, "the models were not judged on the same rows")
        scores = []
        for model in sides:
            if model.sample.positive is None or model.scores is None or not model.evaluation.probabilities:
                raise errors.no_curve(kind, f"{model.name} gives no probabilities of two classes")
            scores.append(model.scores)
        one, other = scores
        return decision_difference(sides[0].sample, one, other, self.confidence, thresholds=thresholds)

    # ── in words ─────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def conclusion(self) -> str:
        """What can be said, never more than the intervals do."""
        return lines(["; ".join(self._sentence(metric) for metric in self.metrics)])

    def _pairs_by(self, metric: str) -> list[Pair]:
        return [pair for pair in self.pairs if pair.metric == metric]

    def _places_by(self, metric: str) -> list[Place]:
        return [place for place in self.table if place.metric == metric]

    def _standing(self, metric: str) -> Standing:
        """How the best model by a metric stands against each of the others."""
        best = self._places_by(metric)[0]
        found = Standing(best)
        for pair in self._pairs_by(metric):
            if best.model in (pair.first, pair.second):
                sure, known = pair.told_apart(self.confidence), math.isfinite(pair.difference)
                (found.beaten if sure else found.alike if known else found.lost).append(pair.second)
        return found

    def _sentence(self, metric: str) -> str:
        pairs = self._pairs_by(metric)
        if len(pairs) == 1:
            return self._sentence_of_two(pairs[0])
        found = self._standing(metric)
        best, estimate = found.best.model, found.best.estimate
        if not estimate.defined:
            return f"no model has a {metric} {self._where}: {estimate.reason}"
        parts = [f"it is better than {and_list(found.beaten)}"] if found.beaten else []
        parts += [f"it cannot be told apart from {and_list(found.alike)}"] if found.alike else []
        if found.lost:
            why = f"whose {metric} is infinite or undefined"
            parts.append(f"it cannot be compared with {and_list(found.lost)}, {why}")
        lead = f"{best} has the best {metric} ({page.number(estimate.value)}) of {len(self.models)} models"
        return f"{lead} {self._where}: {', but '.join(parts)}"

    def _sentence_of_two(self, pair: Pair) -> str:
        names = f"{pair.first} and {pair.second}"
        if not math.isfinite(pair.difference):
            return f"{names} cannot be compared by {pair.metric} {self._where}: {pair.note}"
        if pair.low is None or pair.high is None:
            found = f"difference in {pair.metric} {_signed(pair.difference)}, p {_chance(pair.p_value)}"
            return f"how far {names} are apart {self._where} is not known ({found}; {pair.note})"
        ends = f"{percent(self.confidence)} interval {_signed(pair.low)} to {_signed(pair.high)}"
        amount = f"{_signed(pair.difference)}, {ends}"
        if pair.low == pair.high == 0:
            return f"{names} are the same {self._where} as far as {pair.metric} can tell"
        if not pair.told_apart(self.confidence):
            beside = pair.low > 0 or pair.high < 0  # then the p-value, corrected for all pairs, is what forbids a claim
            chance = f", but p {_chance(pair.adjusted_p_value)}" if beside else ""
            return f"{names} cannot be told apart {self._where} (difference in {pair.metric} {amount}{chance})"
        how = "a higher" if metrics.find(pair.metric).better == "higher" else "a lower"
        return f"{pair.first} has {how} {pair.metric} than {pair.second} {self._where} (difference {amount})"

    def _of_margin(self, pair: Pair) -> str:
        """Whether either is shown to be not worse than the other by more than the margin."""
        if pair.not_inferior and pair.second_not_inferior:
            alone = percent((1 - self.confidence) / 2)
            names = f"{pair.metric}: {pair.first} and {pair.second}"
            return f"{names} are equivalent within {self.margin:g} (two one-sided tests at {alone})"
        sides = ((pair.first, pair.second, pair.not_inferior), (pair.second, pair.first, pair.second_not_inferior))
        shown = [
            f"{one} is at most {self.margin:g} worse than {other}: {'shown' if so else 'not shown'}"
            for one, other, so in sides
        ]
        return f"{pair.metric}, by the {percent(self.confidence)} interval: {'; '.join(shown)}"

    @property
    def _where(self) -> str:
        if not self.on_same_rows:
            return "on these rows"
        return f"on these {self.rows:,} rows" if isinstance(self.rows, int) else "on these weighted rows"

    @property
    def dropped(self) -> int:
        """How many rows lacked a value and were left out, of all models together where each has its own rows."""
        lost = [model.counted.dropped for model in self.models.values()]
        return max(lost) if self.on_same_rows else sum(lost)

    @property
    def notes(self) -> list[str]:
        """The conclusion, and what a careful colleague would point out."""
        notes = [self._sentence(metric) for metric in self.metrics]
        notes += [self._of_margin(pair) for pair in self.pairs if pair.not_inferior is not None]
        told = "; ".join(notes)
        notes += dict.fromkeys(f"{p.metric}: {p.note}" for p in self.pairs if p.note and p.note not in told)
        if self.clusters is not None:
            notes.append(
                f"the {self.clusters:,} clusters were left out as a whole: their rows are not independent, so "
                "McNemar's test does not apply"
            )
        if self.dropped:
            notes.append(errors.rows_left_out(self.dropped))
        notes += [f"{name}: {wrong.words}" for name, model in self.models.items() for wrong in wrongs(model)]
        return notes

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _correction(self) -> str:
        return "Bonferroni" if self.simultaneous else "Holm"

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per pair, for a data frame."""
        nothing = dict.fromkeys(Flipped.__dataclass_fields__)
        rows = [asdict(pair) for pair in self.pairs]
        return [{k: v for k, v in row.items() if k != "flipped"} | (row["flipped"] or nothing) for row in rows]

    # ── to look at ───────────────────────────────────────────────────────────────────────────────────────────
    def _page(self) -> page.Page:
        count = math.comb(len(self.models), 2)
        over = f" over {count} pairs" if count > 1 else ""
        rows = ", ".join(map(_size, self.rows)) if isinstance(self.rows, list) else _size(self.rows)
        facts = {
            "rows": f"{rows}, {'the same for every model' if self.on_same_rows else 'different ones for each model'}",
            "intervals": f"{percent(self.confidence)}, {self.intervals}{over if self.simultaneous else ''}",
        }
        if over:
            facts["p-values"] = f"two-sided; {self._correction}'s are corrected{over}"
        grids = [grid for metric in self.metrics for grid in (self._ranking(metric), self._differences(metric))]
        return page.Page(facts, [*grids, *self._flips()], self.notes)

    def _ranking(self, metric: str) -> page.Grid:
        places = self._places_by(metric)
        intervals = any(place.estimate.low is not None for place in places)
        shown = ("value", *(("low", "high") if intervals else ()), "baseline")
        rows = [(one.model, *(page.number(getattr(one.estimate, name)) for name in shown)) for one in places]
        return page.Grid(("model", metric, *shown[1:]), rows)

    def _differences(self, metric: str) -> page.Grid:
        pairs = self._pairs_by(metric)
        several = len(pairs) > 1
        head = ["first minus second", metric, "low", "high", "p", *([f"{self._correction} p"] if several else [])]
        rows = []
        for pair in pairs:
            row = [f"{pair.first} − {pair.second}", _signed(pair.difference), _signed(pair.low), _signed(pair.high)]
            rows.append([*row, _chance(pair.p_value), *([_chance(pair.adjusted_p_value)] if several else [])])
        methods = dict.fromkeys(pair.method for pair in pairs if pair.method)
        return page.Grid(head, rows, title="; ".join(methods))

    def _flips(self) -> list[page.Grid]:
        """On how many rows the models of each pair are right."""
        head = ("rows: first, second", "both right", "only first", "only second", "both wrong")
        rows = [
            (f"{pair.first}, {pair.second}", *(f"{count:,}" for count in asdict(pair.flipped).values()))
            for pair in self._pairs_by(self.metrics[0])
            if pair.flipped
        ]
        return [page.Grid(head, rows)] if rows else []

    def __repr__(self) -> str:
        return visible(f"<Comparison of {and_list(list(self.models))} by {and_list(self.metrics)}>")

    def _pictures(self) -> list[str]:
        from stakes.views import pictures  # only notebooks need it

        metric = self.metrics[0]
        drawn = [
            (f"{pair.first} − {pair.second}", pair.difference, pair.low, pair.high)
            for pair in self._pairs_by(metric)
            if math.isfinite(pair.difference)
        ]
        title = f"differences in {metric}, {percent(self.confidence)} intervals"
        return [pictures.forest(title, drawn)] if drawn else []


def _signed(value: float | None) -> str:
    return page.number(value).replace("-", "−")


def _chance(p_value: float | None) -> str:
    if p_value is None:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.001 else f"{p_value:.1e}" if p_value else "< 1e-300"


def _size(rows: float) -> str:
    return f"{rows:,}" if isinstance(rows, int) else f"weight {rows:,.6g}"
