"""Several labels per row: of each row how well it was labelled and ranked, and averages over the labels."""

import functools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from stakes import errors
from stakes.metrics.baselines import COIN, Baseline
from stakes.metrics.declare import FORMS, Metric, measure, metric
from stakes.metrics.many import Average, Ranking, mean_over_classes
from stakes.metrics.ranking import auc, average_precision
from stakes.metrics.reasons import NO_SCORES, Undefined
from stakes.tallies import Confusion, LabelSums, ScoreTable
from stakes.tallies.arithmetic import Array, Number, ratio

UNDECIDED = Undefined("no decisions were given", lambda sums: "decided" not in sums)
UNRANKED = Undefined(NO_SCORES, lambda sums: not {"depth", "rank loss"} & set(sums.terms))
_OF_SCORES = {"scores", "depth", "ranks"}
NO_LABEL_SCORES = Undefined("no scores were given, or the rows were not kept", lambda sums: not sums.tables)
_SECHIDIS = "Tsoumakas, Katakis & Vlahavas (2010), Data Mining and Knowledge Discovery Handbook"
_ROWS_WITHOUT = "Rows in which it is undefined do not count: many empty rows make it a figure of the others."


def _share(name: str, words: str, there: str, of_row: str, question: str) -> Callable[[LabelSums], Number]:
    """The mean of a figure of the rows in which it is defined."""
    term = name.replace("samples_", "row ")

    def figure(sums: LabelSums) -> Number:
        return ratio(sums[term][()], sums[there][()])

    figure.__name__ = name
    return metric(
        question=f"On average over the rows, {question}?",
        formula=f"mean of {of_row} over the rows with {words}",
        parts=("rows",),
        undefined=(UNDECIDED, Undefined(f"no row has {words}", lambda sums: sums[there] == 0)),
        pitfall=_ROWS_WITHOUT,
        reference=_SECHIDIS,
    )(figure)


samples_precision = _share(
    "samples_precision", "a label given", "any given", "hits / given", "what share of the labels given is right"
)
samples_recall = _share("samples_recall", "a label", "any own", "hits / own", "what share of their labels was given")
samples_f1 = _share(
    "samples_f1", "a label, own or given", "any", "2 * hits / (own + given)",
    "how well do labels given match those they have, both errors counted",
)  # fmt: skip
samples_jaccard = _share(
    "samples_jaccard", "a label, own or given", "any", "hits / (own + given - hits)",
    "what share of the labels that they have or were given is both",
)  # fmt: skip


@metric(
    question="In what share of the rows are all labels right?",
    formula="share of rows with own == given",
    share_of="total",
    parts=("rows",),
    undefined=(UNDECIDED,),
    aliases=("exact_match_ratio",),
    pitfall="One wrong label of many counts as much as all wrong: it falls with the number of labels.",
    reference=_SECHIDIS,
    headline=True,
)
def subset_accuracy(s: LabelSums) -> Number:
    return s.mean("alike")


@metric(
    question="What share of all labels of all rows is wrong?",
    formula="(labels missed + labels wrongly given) / (rows * labels)",
    better="lower",
    undefined=(UNDECIDED,),
    aliases=("hamming",),
    pitfall="Where labels are rare, giving none scores well; compare it with its baseline.",
    reference=_SECHIDIS,
    headline=True,
)
def hamming_loss(s: LabelSums) -> Number:
    wrong = (s["truth"] + s["decided"] - 2 * s["hits"]).sum(-1)
    return ratio(wrong[()], (s.sums[..., 0] * len(s.names))[()])


@metric(
    question="How far down the ranking of a row's labels does one have to go to find all that it has?",
    formula="mean over rows of the worst rank of an own label",
    range=(0, math.inf),
    better="lower",
    parts=("depth",),
    undefined=(UNRANKED,),
    pitfall="Its best value is the mean number of labels, not 0; rows without labels count as 0.",
    reference=_SECHIDIS,
)
def coverage_error(s: LabelSums) -> Number:
    return s.mean("depth")


@metric(
    question="Of the labels ranked at or above one that the row has, what share does it have?",
    formula="mean over rows of the mean over own labels of (own labels at or above) / rank",
    parts=("ranks",),
    undefined=(UNRANKED,),
    aliases=("lrap", "label_ranking_average_precision_score"),
    pitfall="Rows that have no label, or all of them, count as 1.",
    reference=_SECHIDIS,
    headline=True,
)
def label_ranking_average_precision(s: LabelSums) -> Number:
    return s.mean("rank precision")


@metric(
    question="What share of the pairs of a label that the row has and one that it lacks is ranked the wrong way round?",
    formula="mean over rows of (pairs with the lacking label at or above the own one) / (own * lacking)",
    better="lower",
    parts=("ranks",),
    undefined=(UNRANKED,),
    pitfall="Rows that have no label, or all of them, count as 0.",
    reference=_SECHIDIS,
)
def label_ranking_loss(s: LabelSums) -> Number:
    return s.mean("rank loss")


def needs_scores(figure: Metric) -> bool:
    """Whether a figure of several labels is one of their scores."""
    return bool(_OF_SCORES & set(figure.parts)) or figure.changes is not None


# ── averages over the labels ─────────────────────────────────────────────────────────────────────────────────────
def _micro(base: Metric, name: str) -> Metric:
    """A figure of the scores of all labels in one ranking."""

    def figure(sums: LabelSums) -> Number:
        return float(base.of(sums.pooled))

    figure.__name__ = name
    return metric(
        question=f"With the scores of all labels in one ranking: {base.question[0].lower()}{base.question[1:]}",
        formula=f"{base.formula}, each row and label a case",
        better="higher",
        baseline=Baseline("a constant score", value=lambda _, sums: _constant_of(base, sums)),
        parts=("scores",),
        undefined=(NO_LABEL_SCORES,),
        otherwise="every row has all labels, or none",
        changes=functools.partial(_changes_in_one_ranking, base),
        pitfall="Frequent labels decide it, and scores of different labels have to be comparable.",
        reference=base.reference,
    )(figure)


def _constant_of(base: Metric, sums: LabelSums) -> Number:
    return base.baseline_of(sums.pooled) if sums.tables else math.nan


def _changes_in_one_ranking(base: Metric, sums: LabelSums, groups: Array, count: int) -> Array | None:
    """What groups of rows change in a figure of all labels in one ranking; None where that is not known."""
    if sums.rows is None:
        return _changes_in_cells(base, sums, sums.pooled, -1)
    truth, scores = sums.rows.columns["truth"], sums.rows.columns["scores"]
    ranking = Ranking(scores.ravel(), truth.ravel(), np.repeat(sums.rows.weights, truth.shape[1]))
    return np.bincount(groups, ranking.changes(base).reshape(truth.shape).sum(axis=1), count)


def _changes_in_cells(base: Metric, sums: LabelSums, table: ScoreTable, place: int) -> Array | None:
    """What groups of rows change in a figure of a ranking, by the pieces of it that they lie in."""
    if not sums.cells or base.one_row is None:
        return None
    columns = table.as_columns()
    counts = np.stack([columns.values[name].astype(np.float64) for name in ("positives", "negatives")])
    unit = np.full(counts.shape, float(table.row_weight))
    return sums.cells[place].add_up(table, base.one_row.changes(*counts, unit, **base.parameters) / unit)


micro_auc = _micro(auc, "micro_auc")
micro_average_precision = _micro(average_precision, "micro_average_precision")

_KNOWN: dict[str, Metric] = {}

_FEW_LABELS = 50
"""The rankings of more labels than this are handled side by side, those of fewer one by one."""


def over_labels(figure: Metric) -> Metric:
    """Return the average of a two-class figure over labels, for one that averages it over classes."""
    average = figure.function
    if not isinstance(average, Average):
        raise errors.which_average(figure.name, ["LABEL"], pooled=figure.tally is Confusion)
    if figure.full_text not in _KNOWN:
        _KNOWN[figure.full_text] = _over_labels(figure, average)
    return _KNOWN[figure.full_text]


def _over_labels(figure: Metric, average: Average) -> Metric:
    scored = average.base.tally is ScoreTable
    return replace(
        figure,
        tally=LabelSums,
        function=functools.partial(_of_scores if scored else _of_decisions, average),
        question=figure.question.replace("classes", "labels"),
        family="multilabel",
        baseline=Baseline(COIN.words, value=_constant_average) if scored else average.base.baseline,
        undefined=(NO_LABEL_SCORES if scored else UNDECIDED,),
        otherwise=f"{average.base.name} is undefined for a label",
        changes=functools.partial(_changes_over_labels, average) if scored else None,
        interval="influence",
        within_classes=False,
        parts=("scores",) if scored else (),
    )


def _constant_average(figure: Metric, sums: LabelSums) -> Number:
    if not sums.tables:
        return math.nan
    average: Average = figure.function.args[0]  # type: ignore[union-attr]
    each = _of_each_label(average.base, sums, constant=True)
    return mean_over_classes(each, sums["truth"] if average.how == "weighted" else None)


def _of_decisions(average: Average, sums: LabelSums, **given: float) -> Number:
    tables, base = sums.against_rest(), average.base.with_parameters(**given)
    if average.how == "micro":
        return measure([base], tables.pooled())[0]
    each = np.asarray(measure([base], tables)[0])
    return mean_over_classes(each, sums["truth"] if average.how == "weighted" else None)


def _of_scores(average: Average, sums: LabelSums, **given: float) -> Number:
    each = _of_each_label(average.base.with_parameters(**given), sums)
    return mean_over_classes(each, sums["truth"] if average.how == "weighted" else None)


def _of_each_label(base: Metric, sums: LabelSums, constant: bool = False) -> Array:
    """A figure of the scores of each label, or of one score for all rows; of very many labels several at once."""
    known: dict[tuple[str, bool], Array] = vars(sums).setdefault("_of_labels", {})
    key = base.full_text, constant
    if key not in known and (len(sums.names) <= _FEW_LABELS or base.one_row is None):
        of_table = base.baseline_of if constant else base.of
        known[key] = np.array([float(of_table(table)) for table in sums.tables])
    elif key not in known:
        known[key] = np.empty(len(sums.names))
        for places, tables in sums.side_by_side(constant):
            known[key][places] = base.of(tables)
    return known[key]


def _changes_over_labels(average: Average, sums: LabelSums, groups: Array, count: int) -> Array | None:
    """What groups of rows change in the average over the labels of a figure of their scores; None if not known."""
    totals = sums["truth"]
    shares = totals / totals.sum() if average.how == "weighted" else np.full(len(totals), 1 / len(totals))
    each = [_changes_of_label(average.base, sums, place, groups, count) for place in range(len(totals))]
    if any(one is None for one in each):
        return None
    found = shares @ np.array(each)
    if average.how == "weighted":  # the shares of the labels change, too
        own = sums.own_by(groups, count)
        values = _of_each_label(average.base, sums)
        found += (shares - (totals - own) / (totals - own).sum(axis=1, keepdims=True)) @ values
    return np.asarray(found)


def _changes_of_label(base: Metric, sums: LabelSums, place: int, groups: Array, count: int) -> Array | None:
    if sums.rows is None:
        return _changes_in_cells(base, sums, sums.tables[place], place)
    scores, truth = (np.ascontiguousarray(sums.rows.columns[name][:, place]) for name in ("scores", "truth"))
    return np.bincount(groups, Ranking(scores, truth, sums.rows.weights).changes(base), count)


FORMS[LabelSums] = over_labels
