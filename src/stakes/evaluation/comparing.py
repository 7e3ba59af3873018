"""compare(): several models on the same rows, ranked, and every two of them compared."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from stakes import errors
from stakes.engines.files.text_format import FORMAT_OPTIONS, hearing, in_format
from stakes.errors import Given, InputError, Pass, rows_text
from stakes.evaluation.by_segment import LEAST_ROWS
from stakes.evaluation.comparison import Comparison, Pair, Place
from stakes.evaluation.contestants import Contestant, contestants
from stakes.evaluation.from_tallies import refuse_tallies
from stakes.evaluation.over_folds import OverFolds, columns_of, models_of
from stakes.evaluation.shared_models import shared_contestants
from stakes.metrics import Estimate, Metric
from stakes.metrics.cost import expected_cost
from stakes.metrics.usual import COMPARED
from stakes.question.options import Column, Compared, Data, Value, asks
from stakes.question.question import Question
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, TermSums
from stakes.tallies.arithmetic import is_real
from stakes.uncertainty import paired as paired_rows
from stakes.uncertainty.sampling import FEW_CLUSTERS, Sampling
from stakes.uncertainty.two_samples import holm

_RESAMPLES = 2000


@asks("compare")
def compare(data: Data = None, *arrays: Column, **asked: Unpack[Compared]) -> Comparison:
    """Compare two or more models on the same rows: who is better, by how much, and is that more than chance?

    ``scores`` and ``predictions`` are lists of column names of ``data`` (a data frame, a dictionary of columns, or the
    name of a CSV or Parquet file), or dictionaries model → column or array; for more than two classes a model's score
    is a dictionary class → column, or an (n, k) array with ``classes``. A list of tables holds one model each:
    ``compare(["a.csv", "b.csv"], id="case", truth="y", scores="p")`` joins them by case number.

    ``metric`` is any figure that has a better and a worse side, or a list of them; by default expected_cost where there
    are ``costs``, otherwise auc for scores, macro_auc for scores of several classes, accuracy for decisions,
    mean_absolute_error for numbers. Differences of accuracy come with Tango's interval and McNemar's exact test, of
    costs with the method of :func:`stakes.decide`, all others with an interval and a test by what each row changes in
    both figures; the two always agree. With ``simultaneous`` all intervals and p-values of a metric hold at once.

    ``margin`` is the difference that would still not matter: each pair says whether one model is shown to be not worse
    than the other by more than that. ``cluster`` names rows that belong together (visits of a patient). ``by`` compares
    the models within each segment, too (``comparison.segments``). With
    ``paired=False`` every model brings rows of its own: ``scores={"a": (truth, score), "b": (truth, score)}``, or a
    published table: ``compare({"a": Confusion(…), "b": Confusion(…)}, paired=False)``.

    Validations are compared by the means over their folds, which must be the same ones, with Nadeau and Bengio's
    corrected test: ``compare(validate(a, X, y), validate(b, X, y))``, or by name ``compare({"a": …, "b": …})``.

    With ``costs`` (and ``prior``, ``training_prior``, see :func:`stakes.evaluate`) every model decides so as to cost
    least, and they are ranked by that. Rows of very large files, and of lazy tables, stay where they are, unless
    ``exact=True``. Other arguments are those of :func:`stakes.evaluate`; ``missing="drop"`` leaves
    out every row in which any model lacks a value.

    >>> y = [1, 1, 1, 0, 0, 0]
    >>> both = compare(truth=y, predictions={"old": [1, 0, 0, 0, 1, 0], "new": [1, 1, 1, 0, 1, 0]})
    >>> print(both.findings[0].words[0])
    “new” and “old” cannot be told apart by accuracy on these rows.
    """
    if isinstance(data, list | tuple) and data and all(isinstance(one, Confusion) for one in data):
        data = {f"table {number}": one for number, one in enumerate(data, 1)}
    over_folds = models_of(data, arrays)
    if over_folds is not None:
        asked.update(columns_of(over_folds))  # type: ignore[typeddict-item]
        data, arrays = None, ()
    refuse_tallies(data)
    if isinstance(data, Mapping) and data and all(isinstance(one, Confusion) for one in data.values()):
        asked["predictions"], data = data, None
    question = Question.of("compare", asked)
    several, data = isinstance(data, list | tuple), in_format(data, question.text_format)
    _refuse_unclear(question, several, bool(arrays))
    with hearing():
        models = _models(data, question.without(*FORMAT_OPTIONS))  # the format is part of the data by now
    terms = _terms(question, models)
    whole = _compare_all(models, terms, math.comb(len(models), 2), over_folds)
    if whole.clusters is not None and whole.clusters < FEW_CLUSTERS:
        errors.warn("few-clusters", errors.few_clusters(whole.clusters, FEW_CLUSTERS))
    return whole if models[0].by is None else replace(whole, segments=_compare_segments(models, terms))


def _refuse_unclear(question: Question, several: bool, arrays: bool) -> None:
    """Refuse a call that leaves open which rows are compared: of one table, of ``several``, or of bare ``arrays``."""
    paired, predictions, margin = question["paired"], question["predictions"], question["margin"]
    if paired and isinstance(predictions, Mapping) and any(isinstance(one, Confusion) for one in predictions.values()):
        raise InputError(
            "tables-of-same-rows",
            "two tables do not show in which rows the models differ; pass ",
            Pass("paired", False),
            " if they are of different cases, otherwise the rows: the truth and each model's predictions",
        )
    if arrays or (question["truth"] is None and paired):
        raise InputError(
            "how-to-compare",
            "write which columns are which: compare(data, truth='y', scores=['a', 'b']), or compare(truth=y, "
            "scores={'a': p, 'b': q})",
        )
    if margin is not None and (not is_real(margin) or not 0 <= margin < math.inf):
        raise InputError(
            "bad-margin",
            Given("margin", margin),
            " is not a number from 0 on; give the difference that would still not matter",
        )
    if question["id"] is not None and not (paired and several):
        joins = InputError(
            "id-of-one-table", Given("id"), " joins several tables; give a list of them, or leave it out"
        )
        raise joins if paired else errors.not_unpaired("id")
    for name in ("cluster", "weight", "frequency", "by"):
        if not paired and not several and question[name] is not None:
            raise errors.not_unpaired(name)


def _models(data: Data, question: Question) -> list[Contestant]:
    """The models with their rows, wherever those are."""
    if question["threshold"] is not None and question["predictions"] is not None:
        raise errors.threshold_and_prediction()
    if question["unlabelled"] == "estimate":
        from stakes.evaluation.few_pairs import few_contestants  # few calls need it

        return few_contestants(data, question)
    return shared_contestants(data, question) or contestants(data, question)


def _wanted(texts: Value, models: Sequence[Contestant]) -> list[Metric]:
    """The metrics to rank by; the default depends on what the models output."""
    named = list(texts) if isinstance(texts, list | tuple) else [] if texts is None else [texts]
    meant = [_meant(text, models[0]) for text in named or [_usual(models)]]
    for metric in meant:
        if metric.better == "neither":
            raise errors.no_direction(metric.text)
    return list({metric.text: metric for metric in meant}.values())


def _usual(models: Sequence[Contestant]) -> str:
    kind = type(models[0].evaluation._size)
    if issubclass(kind, TermSums | OutputSums):
        return models[0].evaluation._usual_figure
    if models[0].numbers is not None:
        return COMPARED[ErrorSums]
    if models[0].evaluation.pricing is not None:
        return expected_cost.name
    if any(model.scores is None for model in models):
        return COMPARED[Confusion]
    return COMPARED[ClassScores if models[0].sample.positive is None else ScoreTable]


def _meant(text: str, model: Contestant) -> Metric:
    """The metric by that name for this task: a loss of two classes has a namesake for more."""
    metric = model.evaluation._find(text)
    many = bool(model.sample.classes) and not model.sample.positive
    return model.evaluation._find(metric.of_many) if many and metric.of_many else metric


@dataclass(frozen=True)
class _Terms:
    """How models are compared: the metrics, the sampling, and the least number of rows."""

    metrics: Sequence[Metric]
    sampling: Sampling
    simultaneous: bool
    margin: float | None
    on_same_rows: bool
    least: int = 0


def _terms(question: Question, models: Sequence[Contestant]) -> _Terms:
    """The terms of a question about these models."""
    wanted = _wanted(question["metric"], models)
    for metric in wanted if models[0].estimated is not None else ():
        if metric.tally is not Confusion:
            words = (
                f"few labels give differences of decisions only, and {metric.text} is about scores; name another figure"
            )
            raise InputError("few-labels-of-scores", words)
    sampling = replace(question.sampling, replicates=int(question["resamples"]))
    return _Terms(wanted, sampling, question["simultaneous"], question["margin"], question["paired"])


def _compare_all(
    models: Sequence[Contestant], terms: _Terms, tests: int, over_folds: Mapping[str, OverFolds] | None = None
) -> Comparison:
    """Compare models; ``tests`` is the number of differences that are tested together."""
    held = [model.evaluation.counted.clusters for model in models]
    counts = [clusters.count for clusters in held if clusters is not None]
    each = terms.sampling
    if terms.simultaneous:
        each = replace(each, confidence=1 - (1 - each.confidence) / tests)
    table: list[Place] = []
    pairs: list[Pair] = []
    for metric in terms.metrics:
        means = {
            name: one.mean_over_folds(metric.text, terms.sampling.confidence)
            for name, one in (over_folds or {}).items()
        }
        estimates = {m.name: means.get(m.name) or m[metric.text] for m in models}
        ranked = _rank(metric, models, estimates)
        table += [Place(rank, m.name, metric.text, estimates[m.name]) for rank, m in enumerate(ranked, 1)]
        if over_folds:
            two_by_two = itertools.combinations([(m.name, over_folds[m.name]) for m in ranked], 2)
            found = [_pair_over_folds(metric, *two, each.confidence, terms.margin) for two in two_by_two]
        else:
            found = [_pair(metric, *two, replace(terms, sampling=each)) for two in itertools.combinations(ranked, 2)]
        pairs += _adjust(found, terms.simultaneous)
    evaluations = {model.name: model.evaluation for model in models}
    how = (terms.sampling.confidence, terms.simultaneous, terms.margin, terms.on_same_rows, min(counts, default=None))
    few = models[0].estimated
    return Comparison(evaluations, table, pairs, *how, models, unlabelled=0 if few is None else few.rows - few.labelled)


def _compare_segments(models: Sequence[Contestant], terms: _Terms) -> dict[str, Comparison]:
    """Compare the models within each segment that all of them have; p-values are corrected over all segments."""
    names = [name for name in models[0].evaluation.segments if all(name in m.evaluation.segments for m in models)]
    tests, terms = len(names) * math.comb(len(models), 2), replace(terms, least=LEAST_ROWS)
    found = {name: _compare_all([model.within(name) for model in models], terms, tests) for name in names}
    adjusted: dict[str, list[Pair]] = {name: [] for name in names}
    for metric in terms.metrics:
        places = [(name, pair) for name, part in found.items() for pair in part._pairs_by(metric.text)]
        for (name, _), pair in zip(places, _adjust([pair for _, pair in places], terms.simultaneous), strict=True):
            adjusted[name].append(pair)
    return {name: replace(part, pairs=adjusted[name]) for name, part in found.items()}


def pair_of(comparison: Comparison, metric: Metric) -> Pair:
    """Return the first of two models minus the second by a metric, whether or not they were ranked by it."""
    first, second = comparison.contestants
    sampling = replace(first.evaluation.sampling, confidence=comparison.confidence, replicates=_RESAMPLES)
    return _pair(metric, first, second, _Terms([metric], sampling, False, None, comparison.on_same_rows))


def _pair_over_folds(
    metric: Metric, first: tuple[str, OverFolds], second: tuple[str, OverFolds], confidence: float, margin: float | None
) -> Pair:
    """Two models by the mean difference over the folds."""
    (one, over), (other, against) = first, second
    found = over.minus(against, metric.text, confidence)
    known = (found.limits.low, found.limits.high, found.p_value)
    pair = Pair(one, other, metric.text, found.value, *known, method=found.limits.method, note=found.limits.reason)
    return pair if margin is None else _add_inferiority(margin, metric, pair)


def _rank(metric: Metric, models: Sequence[Contestant], estimates: Mapping[str, Estimate]) -> list[Contestant]:
    """The best first; those without a figure last; names decide between equals."""
    sign = -1 if metric.better == "higher" else 1

    def place(model: Contestant) -> tuple[bool, float, str]:
        estimate = estimates[model.name]
        return not estimate.defined, sign * estimate.value if estimate.defined else 0.0, model.name

    return sorted(models, key=place)


def _pair(metric: Metric, first: Contestant, second: Contestant, terms: _Terms) -> Pair:
    gap = first[metric.text].value - second[metric.text].value
    flipped = first.flipped(second) if terms.on_same_rows else None
    pair = Pair(first.name, second.name, metric.text, gap, flipped=flipped)
    one, other = first.output(metric), second.output(metric)
    if not math.isfinite(gap) or one is None or other is None:
        return replace(pair, note=_why_no_difference(metric, first, second))
    rows = min(model.rows for model in (first, second))
    if rows < terms.least:
        return replace(pair, note=f"too small: {rows_text(round(rows))}; at least {terms.least} wanted")
    if terms.on_same_rows:
        found = first.minus(second, metric, terms.sampling)
    else:
        found = paired_rows.difference_of_unpaired(metric, (first.sample, one), (second.sample, other), terms.sampling)
    if found.value is not None:
        pair = replace(pair, difference=found.value)
    pair = replace(pair, low=found.low, high=found.high, p_value=found.p_value, method=found.method, note=found.note)
    return pair if terms.margin is None else _add_inferiority(terms.margin, metric, pair)


def _why_no_difference(metric: Metric, *models: Contestant) -> str:
    for model in models:
        estimate = model[metric.text]
        if not estimate.defined:
            return f"{estimate.name} of {model.name} is undefined: {estimate.reason}"
    return f"{metric.text} is infinite"


def _add_inferiority(margin: float, metric: Metric, pair: Pair) -> Pair:
    """Say whether the interval shows that one is not worse than the other by more than the margin."""
    if pair.low is None or pair.high is None:
        return pair
    worst_of_first, worst_of_second = (-pair.low, pair.high) if metric.better == "higher" else (pair.high, -pair.low)
    return replace(pair, not_inferior=worst_of_first < margin, second_not_inferior=worst_of_second < margin)


def _adjust(pairs: Sequence[Pair], simultaneous: bool) -> list[Pair]:
    """Add p-values that are corrected for all pairs; pairs without a p-value do not count as tests.

    Simultaneous intervals are Bonferroni's, and so are the p-values that agree with them; otherwise they are Holm's.
    """
    tested = [pair.p_value for pair in pairs if pair.p_value is not None]
    corrected = iter([min(1.0, len(tested) * p) for p in tested] if simultaneous else holm(tested))
    return [pair if pair.p_value is None else replace(pair, adjusted_p_value=next(corrected)) for pair in pairs]
