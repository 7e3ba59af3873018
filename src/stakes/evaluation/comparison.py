"""compare(): several models on the same rows, and what can honestly be said about which one is better."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from stakes import errors, metrics
from stakes.decisions.curves.decision_difference import decision_difference
from stakes.decisions.curves.kinds import Curve
from stakes.evaluation.base import Evaluation, priced
from stakes.evaluation.contestants import Contestant, contestants, entries, entries_joined, entries_of_tables
from stakes.metrics import Estimate, Metric
from stakes.metrics.estimate import AsJson, Plottable, Reportable, percent, plain
from stakes.tallies.arithmetic import is_real
from stakes.uncertainty import holm
from stakes.uncertainty import paired as paired_rows
from stakes.uncertainty.paired import Flipped
from stakes.uncertainty.sampling import FEW_CLUSTERS, REPLICATES, Sampling, check_whole
from stakes.views import notebook, page, terminal

FORMAT = 1
"""The version of what to_dict() and to_json() give."""

_LEAST_RESAMPLES = 100
_RESAMPLES = 2000


@dataclass(frozen=True)
class Place:
    """A model's place in the ranking by a metric."""

    rank: int
    model: str
    metric: str
    estimate: Estimate


@dataclass(frozen=True)
class Pair:
    """Two models: the difference of a figure (first minus second, the first ranking higher) and how sure it is.

    ``p_value`` is two-sided, ``adjusted_p_value`` Holm's over all pairs. ``flipped`` counts the rows on which both,
    one or none of them is right. ``not_inferior`` says whether the interval shows that the first is not worse than
    the second by more than the margin; ``second_not_inferior`` the same of the second. What is not known is None;
    ``note`` says why.
    """

    first: str
    second: str
    metric: str
    difference: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
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

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {name: plain(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class Comparison(AsJson, Plottable, Reportable):
    """Models ranked by one or more figures, and every two of them compared.

    ``models`` are the evaluations by name, ``table`` the ranking, ``pairs`` the comparisons, ``conclusion`` what can
    be said in one sentence.
    """

    models: Mapping[str, Evaluation]
    table: Sequence[Place]
    pairs: Sequence[Pair]
    confidence: float = 0.95
    simultaneous: bool = False
    margin: float | None = None
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
    def rows(self) -> Any:
        """The (weighted) number of rows, or the numbers when the models saw different ones."""
        sizes = [model.rows for model in self.models.values()]
        return sizes[0] if self.on_same_rows else sizes

    @property
    def intervals(self) -> str:
        """How sure the intervals are: each by itself (unadjusted), or all of a metric at once (simultaneous)."""
        return "simultaneous" if self.simultaneous else "unadjusted"

    def pair(self, one: str, other: str, metric: str | None = None) -> Pair:
        """Return the comparison of two models, by the first metric if none is named, whatever their order."""
        wanted = self.metrics[0] if metric is None else metrics.find(metric).text
        for pair in self.pairs:
            if {pair.first, pair.second} == {one, other} and pair.metric == wanted:
                return pair
        raise errors.no_such_pair(one, other, list(self.models))

    def curve(self, kind: str, first: str = "", second: str = "", *, thresholds: Any = None) -> Curve:
        """Return the "decision" curve of two models: how much more net benefit the first one has than the second.

        Its band is that of each threshold probability by itself, for rows (or clusters) that both models share.
        """
        if kind != "decision":
            raise errors.no_such_curve(kind, ["decision"])
        if len(self.models) == 2 and not first and not second:
            first, second = self.models
        sides = [model for name in (first, second) for model in self.contestants if model.name == name]
        if len(sides) != 2 or first == second:
            raise errors.not_two_models(first, second, list(self.models))
        if not self.on_same_rows:
            raise errors.no_curve(kind, "the models were not judged on the same rows")
        for model in sides:
            if model.sample.positive is None or model.scores is None or not model.evaluation.probabilities:
                raise errors.no_curve(kind, f"{model.name} gives no probabilities of two classes")
        scores: Any = [model.scores for model in sides]
        return decision_difference(sides[0].sample, scores[0], scores[1], self.confidence, thresholds=thresholds)

    # ── in words ─────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def conclusion(self) -> str:
        """What can be said, never more than the intervals do."""
        return "; ".join(self._sentence(metric) for metric in self.metrics)

    def _sentence(self, metric: str) -> str:
        pairs = [pair for pair in self.pairs if pair.metric == metric]
        if len(pairs) == 1:
            return self._sentence_of_two(pairs[0])
        best = next(place for place in self.table if place.metric == metric)
        if not best.estimate.defined:
            return f"no model has a {metric} {self._where}: {best.estimate.reason}"
        of_best = [pair for pair in pairs if best.model in (pair.first, pair.second)]
        worse = [pair.second for pair in of_best if pair.told_apart(self.confidence)]
        known = [pair for pair in of_best if math.isfinite(pair.difference)]
        open_ones = [pair.second for pair in known if not pair.told_apart(self.confidence)]
        lost = [pair.second for pair in of_best if pair not in known]
        parts = [f"it is better than {_listed(worse)}"] if worse else []
        parts += [f"it cannot be told apart from {_listed(open_ones)}"] if open_ones else []
        parts += (
            [f"it cannot be compared with {_listed(lost)}, whose {metric} is infinite or undefined"] if lost else []
        )
        found = f"{best.model} has the best {metric} ({page.number(best.estimate.value)}) of {len(self.models)} models"
        return f"{found} {self._where}: {', but '.join(parts)}"

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
        sides = ((pair.first, pair.second, pair.not_inferior), (pair.second, pair.first, pair.second_not_inferior))
        words = {True: "at most {:g} worse than {}: shown", False: "at most {:g} worse than {}: not shown"}
        shown = [f"{one} is {words[bool(so)].format(self.margin, other)}" for one, other, so in sides]
        return f"{pair.metric}, by the {percent(self.confidence)} interval: {'; '.join(shown)}"

    @property
    def _where(self) -> str:
        if not self.on_same_rows:
            return "on these rows"
        return f"on these {self.rows:,} rows" if isinstance(self.rows, int) else "on these weighted rows"

    @property
    def notes(self) -> list[str]:
        """The conclusion, and what a careful colleague would point out."""
        notes = [self._sentence(metric) for metric in self.metrics]
        notes += [self._of_margin(pair) for pair in self.pairs if pair.not_inferior is not None]
        told = "; ".join(notes)
        notes += dict.fromkeys(f"{p.metric}: {p.note}" for p in self.pairs if p.note and p.note not in told)
        if self.clusters is not None:
            notes.append(
                f"the {self.clusters:,} clusters were drawn and swapped as a whole: their rows are not independent, so "
                "DeLong's and McNemar's tests and swaps of single rows do not apply"
            )
        return notes

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON; what is not known is None."""
        return {
            "stakes": "comparison",
            "format": FORMAT,
            "rows": self.rows,
            "paired": self.on_same_rows,
            "clusters": self.clusters,
            "confidence": self.confidence,
            "intervals": self.intervals,
            "margin": self.margin,
            "conclusion": self.conclusion,
            "table": [
                {"rank": p.rank, "model": p.model, "metric": p.metric} | _without_name(p.estimate) for p in self.table
            ],
            "pairs": [pair.to_dict() for pair in self.pairs],
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per pair, for a data frame."""
        nothing = dict.fromkeys(Flipped.__dataclass_fields__)
        rows = [asdict(pair) for pair in self.pairs]
        return [{k: v for k, v in row.items() if k != "flipped"} | (row["flipped"] or nothing) for row in rows]

    # ── to look at ───────────────────────────────────────────────────────────────────────────────────────────
    def _page(self) -> page.Page:
        count = math.comb(len(self.models), 2)
        over = f" over {count} pairs" if count > 1 else ""
        rows = _size(self.rows) if self.on_same_rows else ", ".join(map(_size, self.rows))
        facts = {
            "rows": f"{rows}, {'the same for every model' if self.on_same_rows else 'different ones for each model'}",
            "intervals": f"{percent(self.confidence)}, {self.intervals}{over if self.simultaneous else ''}",
        }
        if over:
            facts["p-values"] = f"two-sided; Holm's are corrected{over}"
        grids = [grid for metric in self.metrics for grid in (self._ranking(metric), self._differences(metric))]
        return page.Page(facts, [*grids, *self._flips()], self.notes)

    def _ranking(self, metric: str) -> page.Grid:
        places = [place for place in self.table if place.metric == metric]
        intervals = any(place.estimate.low is not None for place in places)
        head = ("model", metric, *(("low", "high") if intervals else ()), "baseline")
        rows = []
        for place in places:
            estimate = place.estimate
            ends = (page.number(estimate.low), page.number(estimate.high)) if intervals else ()
            rows.append((place.model, page.number(estimate.value), *ends, page.number(estimate.baseline)))
        return page.Grid(head, rows)

    def _differences(self, metric: str) -> page.Grid:
        pairs = [pair for pair in self.pairs if pair.metric == metric]
        several = len(pairs) > 1
        head = ["first minus second", metric, "low", "high", "p", *(["Holm p"] if several else [])]
        rows = []
        for pair in pairs:
            row = [f"{pair.first} − {pair.second}", _signed(pair.difference), _signed(pair.low), _signed(pair.high)]
            rows.append([*row, _chance(pair.p_value), *([_chance(pair.adjusted_p_value)] if several else [])])
        methods = dict.fromkeys(pair.method for pair in pairs if pair.method)
        return page.Grid(head, rows, title="; ".join(methods))

    def _flips(self) -> list[page.Grid]:
        """On how many rows the models of each pair are right."""
        pairs = [pair for pair in self.pairs if pair.metric == self.metrics[0] and pair.flipped]
        head = ("rows: first, second", "both right", "only first", "only second", "both wrong")
        rows = [(f"{p.first}, {p.second}", *(f"{n:,}" for n in asdict(p.flipped).values())) for p in pairs]  # type: ignore[arg-type]
        return [page.Grid(head, rows)] if rows else []

    def show(self) -> None:
        """Print the ranking and the pairs."""
        terminal.show(self._page(), "")

    def __str__(self) -> str:
        return terminal.text(self._page(), "")

    def __repr__(self) -> str:
        return f"<Comparison of {_listed(list(self.models))} by {_listed(self.metrics)}>"

    def _repr_html_(self) -> str:
        from stakes.views import pictures  # only notebooks need it

        metric = self.metrics[0]
        pairs = [pair for pair in self.pairs if pair.metric == metric and math.isfinite(pair.difference)]
        lines = [(f"{pair.first} − {pair.second}", pair.difference, pair.low, pair.high) for pair in pairs]
        title = f"differences in {metric}, {percent(self.confidence)} intervals"
        return notebook.html(self._page(), [pictures.forest(title, lines)] if lines else [])


def _without_name(estimate: Estimate) -> dict[str, Any]:
    return {name: value for name, value in estimate.to_dict().items() if name != "name"}


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _signed(value: float | None) -> str:
    return page.number(value).replace("-", "−")


def _chance(p_value: float | None) -> str:
    if p_value is None:
        return "–"
    return f"{p_value:.4f}" if p_value >= 0.001 else f"{p_value:.1e}" if p_value else "< 1e-300"


def _size(rows: Any) -> str:
    return f"{rows:,}" if isinstance(rows, int) else f"weight {rows:,.6g}"


# ── compare ──────────────────────────────────────────────────────────────────────────────────────────────────────
def compare(
    data: Any = None,
    *arrays: Any,
    truth: Any = None,
    scores: Any = None,
    predictions: Any = None,
    metric: str | Sequence[str] | None = None,
    positive: Any = None,
    classes: Any = None,
    task: str = "auto",
    weight: Any = None,
    threshold: float | None = None,
    cluster: Any = None,
    margin: float | None = None,
    paired: bool = True,
    confidence: float = 0.95,
    simultaneous: bool = False,
    seed: int = 0,
    resamples: int = _RESAMPLES,
    id: str | None = None,
    costs: Any = None,
    prior: Any = None,
    training_prior: Any = None,
    where: str | None = None,
) -> Comparison:
    """Compare two or more models on the same rows: who is better, by how much, and is that more than chance?

    ``scores`` and ``predictions`` are lists of column names of ``data`` (a data frame, a dictionary of columns, or the
    name of a CSV or Parquet file), or dictionaries model → column or array; for more than two classes a model's score
    is a dictionary class → column, or an (n, k) array with ``classes``. A list of tables holds one model each:
    ``compare(["a.csv", "b.csv"], id="case", truth="y", scores="p")`` joins them by case number.

    ``metric`` is any figure that has a better and a worse side, or a list of them; by default expected_cost where there
    are ``costs``, otherwise auc for scores, macro_auc for scores of several classes, accuracy for decisions,
    mean_absolute_error for numbers. Differences of auc come with
    DeLong's interval and test, of accuracy with Tango's interval and McNemar's exact test, others with ``resamples``
    paired draws and swaps. For decisions their time does not grow with the rows (unless weighted); for figures of
    scores and numbers every draw walks over all rows, so a million rows want fewer ``resamples``.

    ``margin`` is the difference that would still not matter: each pair says whether one model is shown to be not worse
    than the other by more than that. ``cluster`` names rows that belong together (visits of a patient). With
    ``paired=False`` every model brings rows of its own: ``scores={"a": (truth, score), "b": (truth, score)}``.

    With ``costs`` (and ``prior``, ``training_prior``, see :func:`stakes.evaluate`) every model decides so as to cost
    least, and they are ranked by that. ``where`` keeps the rows of one file that satisfy a condition.

    >>> y = [1, 1, 1, 0, 0, 0]
    >>> both = compare(truth=y, predictions={"old": [1, 0, 0, 0, 1, 0], "new": [1, 1, 1, 0, 1, 0]})
    >>> print(both.conclusion)
    new and old cannot be told apart on these 6 rows (difference in accuracy 0.3333, 95 % interval −0.1871 to 0.7000)
    """
    if arrays or (truth is None and paired):
        raise errors.how_to_compare()
    sampling = _sampling(confidence, seed, resamples, margin)
    columns = {"truth": truth, "score": scores, "prediction": predictions, "weight": weight, "cluster": cluster}
    options = {"task": task, "positive": positive, "classes": classes, "weight": weight, "cluster": cluster}
    options |= {"where": where, "pricing": priced(costs, prior, training_prior)}
    if where is not None and isinstance(data, list | tuple):
        raise errors.where_of_tables()
    if not paired and id is not None:
        raise errors.not_unpaired("id=")
    if not paired and not isinstance(data, list | tuple) and not (weight is None and cluster is None):
        raise errors.not_unpaired("weight=" if cluster is None else "cluster=")
    if not isinstance(data, list | tuple):
        if id is not None:
            raise errors.id_of_one_table()
        found = entries(data, truth, scores, predictions, paired)
    elif paired:
        pricing: Any = options["pricing"]
        found, others = entries_joined(data, id, columns, () if pricing is None else pricing.costs.columns)
        options |= others
    else:
        found = entries_of_tables(data, columns)
    models = contestants(found, threshold, replace(sampling, replicates=REPLICATES), **options)
    return _compared(models, _wanted(metric, models), sampling, simultaneous, margin, paired)


def _sampling(confidence: Any, seed: Any, resamples: Any, margin: Any) -> Sampling:
    """Check what says how sure a comparison shall be."""
    if margin is not None and (not is_real(margin) or not 0 <= margin < math.inf):
        raise errors.bad_margin(margin)
    check_whole("resamples", resamples, _LEAST_RESAMPLES)
    return Sampling(confidence, seed=seed, replicates=int(resamples))


def _wanted(texts: Any, models: Sequence[Contestant]) -> list[Metric]:
    """The metrics to rank by; what there is to judge tells the default."""
    named = texts if isinstance(texts, list | tuple) else [texts]
    meant = [_meant(text, models[0]) for text in ([_usual(models)] if not texts else named)]
    for metric in meant:
        if metric.better == "neither":
            raise errors.no_direction(metric.text)
    return list({metric.text: metric for metric in meant}.values())


def _usual(models: Sequence[Contestant]) -> str:
    if models[0].numbers is not None:
        return "mean_absolute_error"
    if models[0].evaluation.pricing is not None:
        return "expected_cost"
    if any(model.scores is None for model in models):
        return "accuracy"
    return "auc" if models[0].sample.positive is not None else "macro_auc"


def _meant(text: str, model: Contestant) -> Metric:
    """The metric by that name for this task: a loss of two classes has a namesake for more."""
    metric = model.evaluation._find(text)
    many = not model.sample.positive and model.numbers is None
    return metrics.find(metric.of_many) if many and metric.of_many else metric


def _compared(
    models: Sequence[Contestant],
    wanted: Sequence[Metric],
    sampling: Sampling,
    simultaneous: bool,
    margin: float | None,
    on_same_rows: bool,
) -> Comparison:
    clusters = None if models[0].sample.cluster is None else min(int(m.sample.cluster.max()) + 1 for m in models)  # type: ignore[union-attr]
    if clusters is not None and clusters < FEW_CLUSTERS:
        errors.warn(errors.few_clusters(clusters, FEW_CLUSTERS))
    each = sampling
    if simultaneous:
        each = replace(sampling, confidence=1 - (1 - sampling.confidence) / math.comb(len(models), 2))
    table: list[Place] = []
    pairs: list[Pair] = []
    for metric in wanted:
        ranked = _ranked(metric, models)
        table += [Place(rank, m.name, metric.text, m.evaluation[metric.text]) for rank, m in enumerate(ranked, 1)]
        found = [_pair(metric, *two, each, margin, on_same_rows) for two in itertools.combinations(ranked, 2)]
        pairs += _corrected(found)
    evaluations = {model.name: model.evaluation for model in models}
    how = (sampling.confidence, simultaneous, margin, on_same_rows, clusters)
    return Comparison(evaluations, table, pairs, *how, models)


def pair_of(comparison: Comparison, metric: Metric) -> Pair:
    """Return the first of two models minus the second by a metric, whether or not they were ranked by it."""
    first, second = comparison.contestants
    sampling = replace(first.evaluation.sampling, confidence=comparison.confidence, replicates=_RESAMPLES)
    return _pair(metric, first, second, sampling, None, comparison.on_same_rows)


def _ranked(metric: Metric, models: Sequence[Contestant]) -> list[Contestant]:
    """The best first; those without a figure last; names decide between equals."""
    sign = -1 if metric.better == "higher" else 1

    def place(model: Contestant) -> tuple[bool, float, str]:
        estimate = model.evaluation[metric.text]
        return not estimate.defined, sign * estimate.value if estimate.defined else 0.0, model.name

    return sorted(models, key=place)


def _pair(
    metric: Metric,
    first: Contestant,
    second: Contestant,
    sampling: Sampling,
    margin: float | None,
    on_same_rows: bool,
) -> Pair:
    figures = [model.evaluation[metric.text] for model in (first, second)]
    gap = figures[0].value - figures[1].value
    flipped = None
    if on_same_rows and first.can_be_right and second.can_be_right:
        flipped = paired_rows.flipped(first.sample, first.decided, second.decided)  # type: ignore[arg-type]
    pair = Pair(first.name, second.name, metric.text, gap, flipped=flipped)
    if not math.isfinite(gap):
        return replace(pair, note=_why_no_difference(first, second, figures))
    outputs = [model.output(metric) for model in (first, second)]
    if on_same_rows:
        found = paired_rows.difference(metric, first.sample, outputs[0], outputs[1], sampling)
    else:
        sides = ((first.sample, outputs[0]), (second.sample, outputs[1]))
        found = paired_rows.difference_of_unpaired(metric, *sides, sampling)
    judged = replace(pair, low=found.low, high=found.high, p_value=found.p_value, method=found.method, note=found.note)
    return judged if margin is None else _judged_by(margin, metric, judged)


def _why_no_difference(first: Contestant, second: Contestant, figures: Sequence[Estimate]) -> str:
    for model, estimate in zip((first, second), figures, strict=True):
        if not estimate.defined:
            return f"{estimate.name} of {model.name} is undefined: {estimate.reason}"
    return f"{figures[0].name} is infinite"


def _judged_by(margin: float, metric: Metric, pair: Pair) -> Pair:
    """Say whether the interval shows that one is not worse than the other by more than the margin."""
    if pair.low is None or pair.high is None:
        return pair
    worst_of_first, worst_of_second = (-pair.low, pair.high) if metric.better == "higher" else (pair.high, -pair.low)
    return replace(pair, not_inferior=worst_of_first < margin, second_not_inferior=worst_of_second < margin)


def _corrected(pairs: Sequence[Pair]) -> list[Pair]:
    """Add Holm's p-values; a pair without a p-value is none of the tests."""
    tested = [pair.p_value for pair in pairs if pair.p_value is not None]
    corrected = iter(holm.adjusted(tested))
    return [pair if pair.p_value is None else replace(pair, adjusted_p_value=next(corrected)) for pair in pairs]
