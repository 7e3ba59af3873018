"""What a careful colleague would point out before anybody believes a figure.

Decided here once, for every view; a gate refuses evaluations in which something is plainly ``wrong``.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stakes import errors
from stakes.engines.alike import ALIKE, form
from stakes.errors import Pass
from stakes.language.sentences import Finding, caution, metric, reason, sentence
from stakes.metrics import Estimate, agreement, many, ranking
from stakes.tallies import Confusion, ErrorSums, JointCounts, ScoreTable
from stakes.uncertainty.sampling import FEW_CLUSTERS, FEW_ROWS

if TYPE_CHECKING:
    from stakes.evaluation.base import Evaluation
    from stakes.evaluation.many_classes import ManyClassEvaluation
    from stakes.evaluation.two_classes import TwoClassEvaluation

NEAR_PERFECT = 0.999
"""From here on a figure of many rows is more likely a leak than a success."""

FLIPS = 0.5
"""How far apart f1 must be for the two classes before it is pointed out."""

_ROWS_TO_COPY = 20
"""This many predicted numbers are not right to the last digit by chance."""

_MOST_NAMES = 5
_FAR_ABOVE = 0.1
_FOLLOWS = 0.1
"""A correlation that is surely above this is called following."""
_DOMINATED = 2
"""From this many times the mean absolute error on, a few errors make most of the squared ones."""


def cautions(evaluation: "Evaluation") -> Iterator[Finding]:
    """Yield everything that applies to an evaluation, the worst first."""
    found = list(wrongs(evaluation))
    yield from found
    copied = any(one.key == "caution.own_truth" for one in found)
    for one in _BY_TASK[evaluation.task](evaluation):
        if not (copied and one.key in _TOO_GOOD):  # the copy says so already
            yield one
    yield from (one for one in _strangers(evaluation) if one.tone != "wrong")
    yield from _of_rows(evaluation)


# ── wrong ────────────────────────────────────────────────────────────────────────────────────────────────────────
def wrongs(evaluation: "Evaluation") -> Iterator[Finding]:
    """Yield what makes every figure meaningless; only needs the tallies, the auc and pearson."""
    copied = evaluation.counted.same_column or _copy_of_truth(evaluation)
    if copied:
        yield caution("caution.own_truth", True, column=copied)
        return
    tables = score_tables(evaluation)
    if tables and all(table.constant_score for table in tables) and tables[0].total > 1:
        yield caution("caution.constant", True, value=tables[0].range[0])
    elif evaluation.task == "binary" and tables:
        auc = evaluation._auc
        if auc.high is not None and auc.high < 0.5:
            names = {"positive": tables[0].positive, "negative": tables[0].negative}
            option = Pass("positive", names["negative"])
            yield caution("caution.upside_down", True, value=auc.value, high=auc.high, **names, option=option)
    elif tables:
        yield from _classes_upside_down(evaluation, wrong=True)
    yield from (one for one in _strangers(evaluation) if one.tone == "wrong")
    sums = evaluation._held(ErrorSums)
    if sums is not None and sums.total > 1 and sums.has("prediction") and not sums.spread("p"):
        yield caution("caution.constant_prediction", True, value=float(sums.mean(p=1)))
    elif sums is not None and (r := evaluation["pearson"]).high is not None and r.high < 0:
        yield caution("caution.downwards", True, value=r.value, high=r.high)


def warn_of_wrongs(evaluation: "Evaluation") -> None:
    """Warn of what makes every figure meaningless, where the answer has no place for it."""
    for found in wrongs(evaluation):
        errors.warn(found.key.removeprefix("caution."), *found.words)


def _classes_upside_down(evaluation: "Evaluation", wrong: bool) -> Iterator[Finding]:
    """Classes whose scores surely run the wrong way; ``wrong`` if all classes together do."""
    low = [table.positive for table in score_tables(evaluation) if ranking.auc.of(table) < 0.5]
    if not low or _below_chance(evaluation["macro_auc"]) != wrong:
        return
    surely = [name for name in low if _below_chance(evaluation["auc", name])] or (low if wrong else [])
    if surely:
        names = surely[:_MOST_NAMES] + ["…"] * (len(surely) > _MOST_NAMES)
        yield caution("caution.classes_upside_down", wrong, names=names)


def _strangers(evaluation: "Evaluation") -> Iterator[Finding]:
    """Classes that are never predicted, and predictions that are never true: perhaps one class under two names.

    It is wrong if two of them are nearly alike, or if no class is ever predicted.
    """
    table = evaluation._held(Confusion) or evaluation._held(JointCounts)
    if table is None or evaluation.counted.decided_by != "rows":
        return
    true, predicted = _occurring(table)
    missed, strange = list(true - predicted), list(predicted - true)
    forms = {form(name, ALIKE): name for name in missed}
    alike = [(forms[like], name) for name in strange if (like := form(name, ALIKE)) in forms]
    apart = evaluation.pricing is None and len(missed) == len(true) and len(missed) + len(strange) > 2
    if alike:
        missed, strange = ([name] for name in alike[0])
    elif not apart:
        strange = list({*strange} & {*table.truths})  # others are decisions besides the classes
    if missed and strange:
        missed, strange = sorted(missed), sorted(strange)
        values = {"classes": missed[:_MOST_NAMES], "labels": strange[:_MOST_NAMES]}
        yield caution("caution.strangers", bool(alike or apart), **values)


def _occurring(table: Confusion | JointCounts) -> Iterator[set[str]]:
    """The classes that are true of some row, and the decisions that are taken in some."""
    if isinstance(table, Confusion):
        sizes = table.truth_totals, table.decision_totals
    else:
        sizes = table.sizes(0), table.sizes(1)
    for names, each in zip((table.truths, table.decisions), sizes, strict=True):
        yield {name for name, size in zip(names, each.tolist(), strict=True) if size}


def score_tables(evaluation: "Evaluation") -> tuple[ScoreTable, ...]:
    """Return the scores of two classes, or those of each class against the rest."""
    scores = evaluation._any_scores
    return () if scores is None else (scores,) if isinstance(scores, ScoreTable) else scores.tables


def _copy_of_truth(evaluation: "Evaluation") -> str:
    """The argument that holds the truth itself, perhaps in other numbers; empty where none does."""
    sums, scores = evaluation._held(ErrorSums), evaluation._any_scores
    if sums is not None:
        return "prediction" if sums.largest == 0 and sums.total >= _ROWS_TO_COPY and sums.spread("t") else ""
    if isinstance(scores, ScoreTable):
        return "score" if min(scores.effective_rows) >= 2 and scores.copies_truth else ""
    if scores is None or scores.equal_rows < 2 * len(scores.classes):
        return ""
    occurring = [table for table in scores.tables if table.P]
    return "score" if len(occurring) > 1 and all(table.copies_truth for table in occurring) else ""


def _below_chance(auc: Estimate) -> bool:
    return auc.high is not None and auc.high < 0.5


# ── doubtful ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _of_two_classes(evaluation: "TwoClassEvaluation") -> Iterator[Finding]:
    table, decided, figures = evaluation.scores, evaluation.confusion, evaluation.figures
    yield from _no_better_than_constant(figures)
    if table is None:
        yield from _too_good(evaluation, "accuracy")
    if decided is not None and decided.of_pair and 0 < evaluation.prevalence < 1:
        here, there = figures["f1"].value, float(agreement.f1.of(decided.swapped()))
        if abs(here - there) >= FLIPS:
            names = {"positive": evaluation.positive, "negative": evaluation.negative}
            yield caution("caution.f1_flips", here=here, there=there, **names)
    if table is not None:
        yield from _of_scores(evaluation, table)


def _of_scores(evaluation: "TwoClassEvaluation", table: ScoreTable) -> Iterator[Finding]:
    threshold, auc = evaluation.threshold, evaluation.figures["auc"]
    if threshold is not None and evaluation.figures["alarm_rate"].value in (0, 1):
        low, high = table.at_middles().range
        yield caution("caution.edge", threshold=threshold, low=low, high=high)
    if auc.low is not None and auc.high is not None and auc.low <= 0.5 <= auc.high:
        yield caution("caution.chance", low=auc.low, high=auc.high)
    if evaluation._size.equal_rows >= FEW_ROWS and auc.value >= NEAR_PERFECT:
        yield caution("caution.perfect", value=auc.value)
    yield from _not_probabilities(evaluation)
    if table.grid is not None:
        yield from _of_bins(table)


def _of_bins(table: ScoreTable) -> Iterator[Finding]:
    """Say which figures are those of bins, and how far the area may be off."""
    order = table.order
    if order is not None and order.precision is not None:
        yield caution("caution.sorted_bins")
        return
    if not table.P or not table.N:
        return  # one class has no area, which is said by itself
    least, most = map(float, ranking.auc_bounds(table))
    yield caution("caution.bins", low=least, high=most)
    if order is not None:
        megabytes = math.ceil(order.memory / 1e6)
        yield caution("caution.finer_bins", within=(most - least) / 2, megabytes=megabytes)


def _of_many_classes(evaluation: "ManyClassEvaluation") -> Iterator[Finding]:
    yield from _no_better_than_constant(evaluation.figures)
    yield from _too_good(evaluation, "accuracy", "macro_auc")
    yield from _classes_upside_down(evaluation, wrong=False)
    yield from _not_probabilities(evaluation)
    yield from _class_scores_in_bins(evaluation)
    if evaluation._unnamed:
        names = dict(zip(("one", "other"), evaluation.classes, strict=True))
        options = {f"{name}_option": Pass("positive", value) for name, value in names.items()}
        yield caution("caution.no_positive", **names, **options)
    if evaluation.confusion is None and evaluation.joint is not None:
        yield caution("caution.too_many_classes", n=len(evaluation.classes))
    kappa = evaluation.figures.get("kappa")
    if evaluation.confusion is not None and kappa is not None and kappa.defined:
        yield caution("caution.kappa", value=kappa.value, words=sentence(f"kappa.{_landis_koch(kappa.value)}"))


def _class_scores_in_bins(evaluation: "ManyClassEvaluation") -> Iterator[Finding]:
    """Say between which bounds the areas of all classes lie."""
    scores = evaluation.scores
    if scores is None or not scores.in_bins or not (scores.sizes > 0).all():
        return
    least, most = (sum(ends) / len(ends) for ends in zip(*map(ranking.auc_bounds, scores.tables), strict=True))
    yield caution("caution.bins_of_classes", low=float(least), high=float(most))
    if scores.pair_ties is not None:
        low, high = many.hand_till_bounds(scores)
        yield caution("caution.bins_of_pairs", low=low, high=high)


def _of_numbers(evaluation: "Evaluation") -> Iterator[Finding]:
    figures = evaluation.figures
    line, r2 = figures["pearson"], figures["r2"].value
    r, least = line.value, line.value if line.low is None else line.low
    if r**2 - r2 > _FAR_ABOVE and least > _FOLLOWS:
        yield caution("caution.r_above_r2", r=r, squared=r**2, r2=r2)
    mean, root = figures["mean_absolute_error"].value, figures["root_mean_squared_error"].value
    if mean and root / mean > _DOMINATED:
        yield caution("caution.few_large_errors", times=root / mean)
    yield from _too_good(evaluation, "r2")


_BY_TASK: dict[str, Callable[[Any], Iterator[Finding]]] = {
    "binary": _of_two_classes,
    "multiclass": _of_many_classes,
    "regression": _of_numbers,
    **dict.fromkeys(("labels", "outputs", "quantiles"), lambda evaluation: iter(())),
}
_TOO_GOOD = ("caution.perfect", "caution.perfect_figure")


def _no_better_than_constant(figures: Mapping[str, Estimate]) -> Iterator[Finding]:
    found = figures.get("accuracy")
    if found is not None and found.defined and found.value <= found.baseline:
        yield caution("caution.majority", share=found.value, always=found.baseline)


def _too_good(evaluation: "Evaluation", *names: str) -> Iterator[Finding]:
    for name in names if evaluation._size.equal_rows >= FEW_ROWS else ():
        found = evaluation.figures.get(name)
        if found is not None and found.value >= NEAR_PERFECT > found.baseline:
            yield caution("caution.perfect_figure", figure=metric(name), value=found.value)
            return


_LEAST_PERCENT = 10
"""Scores from 0 to more than this and at most 100 may be percentages."""


def _not_probabilities(evaluation: "Evaluation") -> Iterator[Finding]:
    scores = evaluation._any_scores
    if scores is not None and not evaluation.probabilities:
        low, high = scores.range
        if low < 0 < high:
            yield caution("caution.logits", low=low, high=high, option=Pass("from_logits", True))
        elif low >= 0 and _LEAST_PERCENT < high <= 100:
            yield caution("caution.percentages", low=low, high=high, option=Pass("percent", True))


# ── rows and costs ───────────────────────────────────────────────────────────────────────────────────────────────
def _of_rows(evaluation: "Evaluation") -> Iterator[Finding]:
    """Yield cautions about the rows and the costs of any evaluation."""
    counted, pricing = evaluation.counted, evaluation.pricing
    yield from (caution("caution.read_as", words=reason(words)) for words in counted.read_as)
    if counted.dropped:
        yield caution("caution.dropped", n=counted.dropped)
    if counted.rows_without_segment:
        yield caution("caution.without_segment", n=float(counted.rows_without_segment))
    yield from noted(evaluation)
    yield from _of_intervals(evaluation)
    worthless = () if pricing is None else pricing.costs.never_cheapest()
    yield from (caution("caution.never_cheapest", name=name) for name in worthless)


def _of_intervals(evaluation: "Evaluation") -> Iterator[Finding]:
    """Why there are no intervals, or with how few rows or clusters they can be too short."""
    whys = {estimate.no_interval for estimate in evaluation.figures.values() if estimate.defined}
    clusters = evaluation.counted.clusters
    if len(whys) == 1 and whys != {""}:
        yield caution("caution.no_intervals", why=reason(whys.pop()))
    elif clusters is not None and clusters.count < FEW_CLUSTERS:
        yield caution("caution.few_clusters", n=clusters.count, least=FEW_CLUSTERS)
    else:
        few = {name: size for name, size in evaluation._sizes().items() if size < FEW_ROWS}
        for name, size in few.items():
            key = "caution.few" if evaluation.task in ("binary", "multiclass") else "caution.few_rows"
            yield caution(key, n=math.floor(size), name=name) if size else caution("caution.absent", name=name)


def marks(evaluation: "Evaluation") -> dict[str, str]:
    """Return the mark of each figure that has a note of its own: another number of stars for each note."""
    notes = notes_of(evaluation, main=True) | notes_of(evaluation, main=False)
    order = list(dict.fromkeys(notes.values()))
    return {name: "*" * (1 + order.index(note)) for name, note in notes.items()}


def notes_of(evaluation: "Evaluation", main: bool) -> dict[str, str]:
    """Return the notes of the main figures, or of the others, without the note on all intervals."""
    own = {name: one.note.removesuffix(evaluation._caution) for name, one in evaluation.figures.items()}
    notes = {name: note.removesuffix("; ") for name, note in own.items() if note}
    return {name: note for name, note in notes.items() if evaluation._find(name).headline == main}


def noted(evaluation: "Evaluation", main: bool = True) -> Iterator[Finding]:
    """Yield the notes of the main figures, or of the others, each with its mark in the table."""
    notes, mark = notes_of(evaluation, main), marks(evaluation)
    for note in dict.fromkeys(notes.values()):
        names = [name for name, one in notes.items() if one == note]
        values = {"mark": mark[names[0]], "name": metric(names[0]), "n": len(names) - 1, "why": reason(note)}
        yield caution("caution.noted_more" if len(names) > 1 else "caution.noted", **values)


def _landis_koch(kappa: float) -> str:
    """The word that Landis and Koch (1977) have for a kappa."""
    words = ("poor", "slight", "fair", "moderate", "substantial", "perfect")
    return "poor" if kappa < 0 else words[1 + sum(kappa > limit for limit in (0.2, 0.4, 0.6, 0.8))]
