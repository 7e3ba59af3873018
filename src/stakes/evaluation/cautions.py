"""What a careful colleague would point out before anybody believes a figure.

Decided here once, for every view: ``ev.notes`` tells it in English, the report in the language of its reader, and a
gate refuses to judge where something is plainly ``wrong``.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from stakes import errors
from stakes.engines.alike import ALIKE, form
from stakes.errors import Pass, Text, short, some
from stakes.metrics import Estimate, agreement, cost, ranking
from stakes.tallies import Confusion, ErrorSums, JointCounts, ScoreTable

if TYPE_CHECKING:
    from stakes.evaluation.base import Evaluation
    from stakes.evaluation.many_classes import ManyClassEvaluation
    from stakes.evaluation.two_classes import TwoClassEvaluation

Gaps: TypeAlias = Mapping[str, object]
"""What fills the gaps of a sentence, by name."""

FEW_ROWS = 50
"""From this many rows in every class on, intervals have been seen to cover as often as they say."""

NEAR_PERFECT = 0.999
"""From here on a figure of many rows is more likely a leak than a success."""

FLIPS = 0.5
"""How far apart f1 must be for the two classes before it is pointed out."""

_ROWS_TO_COPY = 20
"""So many predicted numbers are not right to the last digit by chance."""

_MOST_NAMES = 5
_FAR_ABOVE = 0.1
_DOMINATED = 2
"""From this many times the mean absolute error on, a few errors make most of the squared ones."""


_WORDS = {
    "own_truth": "{column} is the truth itself, perhaps in other numbers, so every figure is perfect; name the "
    "model's own",
    "constant": "score is {value:.6g} in every row, so it orders nothing; name the column with the model's scores",
    "constant_prediction": "prediction is {value:.6g} in every row, so it follows nothing; name the model's own",
    "downwards": "the predictions surely go down as the truth goes up (pearson {value:.4f}, at most {high:.4f}); turn "
    "them around, or name the model's own",
    "edge": "the threshold {threshold:.6g} lies at the edge of the scores ({low:.6g} to {high:.6g}), so everyone gets "
    "the same decision",
    "chance": "the interval of the auc, {low:.4f} to {high:.4f}, covers chance",
    "bins": "scores were counted in bins: the auc lies between {low:.6f} and {high:.6f}; other figures of the ranking "
    "are those of rows that tie within their bin",
    "logits": "the scores run from {low:.6g} to {high:.6g}: they look like logits or margins, not probabilities",
    "r_above_r2": "r² = {squared:.4f} is far above r2 = {r2:.4f}: the predictions follow the truth, but shifted or "
    "scaled",
    "few_large_errors": "rmse is {times:.1f} times mae: a few large errors dominate; the largest are listed",
    "f1_flips": "f1 is {here:.4f} with {positive!r} as the positive class, but {there:.4f} with {negative!r}: say "
    "which one you mean",
    "perfect": "auc {value:.4f} is suspiciously perfect: were these rows used for training, or does a column give the "
    "answer away?",
    "perfect_figure": "{figure} {value:.4f} is suspiciously perfect: were these rows used for training, or does a "
    "column give the answer away?",
    "majority": "accuracy {share:.4f} is no better than always deciding for the most frequent class ({always:.4f})",
    "never_cheapest": "the decision {name!r} is never worth taking at these costs",
    "deployment": "only the costs are for the deployment; all other figures are at the frequencies of the rows",
}
"""Cautions in English; those that errors or other notes word are not among them."""


@dataclass(frozen=True)
class Caution:
    """One thing to point out.

    ``key`` is its sentence in the report's catalogue, ``values`` fill the gaps there (``figure`` is the name of a
    metric). ``words`` are for everywhere else; none where other notes say it already. ``wrong`` means that the figures
    answer another question than the one that was asked.
    """

    key: str
    words: str = ""
    values: Gaps = field(default_factory=dict)
    wrong: bool = False


def _caution(key: str, *, wrong: bool = False, **values: object) -> Caution:
    """A caution of the table of words."""
    return Caution(key, _WORDS[key.removeprefix("caution.")].format(**values), values, wrong)


def cautions(evaluation: "Evaluation") -> Iterator[Caution]:
    """Yield everything that applies to an evaluation, the worst first."""
    found = list(wrongs(evaluation))
    yield from found
    copied = any(caution.key == "caution.own_truth" for caution in found)
    for caution in _BY_TASK[evaluation.task](evaluation):
        if not (copied and caution.key in _TOO_GOOD):  # that was said already
            yield caution
    yield from (caution for caution in _strangers(evaluation) if not caution.wrong)
    yield from _of_rows(evaluation)


# ── wrong ────────────────────────────────────────────────────────────────────────────────────────────────────────
def wrongs(evaluation: "Evaluation") -> Iterator[Caution]:
    """Yield what makes every figure meaningless; looks at no more than the tallies, the auc and pearson."""
    copied = evaluation.counted.same_column or _copy_of_truth(evaluation)
    if copied:
        yield _caution("caution.own_truth", column=copied, wrong=True)
        return
    tables = _score_tables(evaluation)
    if tables and all(table.constant_score for table in tables) and tables[0].total > 1:
        yield _caution("caution.constant", value=tables[0].range[0], wrong=True)
    elif evaluation.task == "binary" and tables:
        auc = evaluation._auc
        if auc.high is not None and auc.high < 0.5:
            positive, negative = tables[0].positive, tables[0].negative
            words = Text(
                f"the auc is surely below chance ({auc.value:.4f}, at most {auc.high:.4f}): high scores go with "
                f"{short(repr(negative))}; pass ",
                Pass("positive", negative),
                f", or the scores of {short(repr(positive))}",
            )
            yield Caution("caution.upside_down", words, {"value": auc.value}, wrong=True)
    elif tables:
        yield from _classes_upside_down(evaluation, wrong=True)
    yield from (caution for caution in _strangers(evaluation) if caution.wrong)
    sums = evaluation._held(ErrorSums)
    if sums is not None and sums.total > 1 and sums.has("prediction") and not sums.spread("p"):
        yield _caution("caution.constant_prediction", value=float(sums.mean(p=1)), wrong=True)
    elif sums is not None and (r := evaluation["pearson"]).high is not None and r.high < 0:
        yield _caution("caution.downwards", value=r.value, high=r.high, wrong=True)


def warn_of_wrongs(evaluation: "Evaluation") -> None:
    """Warn of what makes every figure meaningless, where the answer has no place for it."""
    for caution in wrongs(evaluation):
        errors.warn(caution.key.removeprefix("caution."), caution.words)


def _classes_upside_down(evaluation: "Evaluation", wrong: bool) -> Iterator[Caution]:
    """Classes whose scores surely run the wrong way; ``wrong`` if all classes together do."""
    low = [table.positive for table in _score_tables(evaluation) if ranking.auc.of(table) < 0.5]
    if not low or _below_chance(evaluation["macro_auc"]) != wrong:
        return
    surely = [name for name in low if _below_chance(evaluation["auc", name])] or (low if wrong else [])
    if surely:
        names = surely[:_MOST_NAMES] + ["…"] * (len(surely) > _MOST_NAMES)
        yield Caution(
            "caution.classes_upside_down",
            f"the auc against the rest is surely below chance for {some(surely)}; give each class the column of its "
            "own scores",
            {"names": names},
            wrong,
        )


def _strangers(evaluation: "Evaluation") -> Iterator[Caution]:
    """Classes that are never predicted beside predictions that are never true, which may be the same or no classes.

    It is wrong if two of them are nearly alike, or if no class is ever predicted.
    """
    table = evaluation._held(Confusion) or evaluation._held(JointCounts)
    if table is None or evaluation.counted.decided_by != "rows":
        return
    true, said = _occurring(table)
    missed, strange = list(true - said), list(said - true)
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
        yield Caution(
            "caution.strangers",
            f"the prediction never says {some(missed)}, which the truth has, and says {some(strange)}, which the truth "
            "never has; write a class alike in both, or name the right column",
            values,
            bool(alike or apart),
        )


def _occurring(table: Confusion | JointCounts) -> Iterator[set[str]]:
    """The classes that are true of some row, and the decisions that are taken in some."""
    if isinstance(table, Confusion):
        sizes = table.truth_totals, table.decision_totals
    else:
        sizes = table.sizes(0), table.sizes(1)
    for names, each in zip((table.truths, table.decisions), sizes, strict=True):
        yield {name for name, size in zip(names, each.tolist(), strict=True) if size}


def _score_tables(evaluation: "Evaluation") -> tuple[ScoreTable, ...]:
    """The scores of two classes, or those of each class against the rest."""
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
def _of_two_classes(evaluation: "TwoClassEvaluation") -> Iterator[Caution]:
    table, decided, figures = evaluation.scores, evaluation.confusion, evaluation.figures
    yield from _no_better_than_constant(figures)
    if table is None:
        yield from _too_good(evaluation, "accuracy")
    if decided is not None and decided.of_pair and 0 < evaluation.prevalence < 1:
        here, there = figures["f1"].value, float(agreement.f1.of(decided.swapped()))
        if abs(here - there) >= FLIPS:
            pair = {"positive": evaluation.positive, "negative": evaluation.negative}
            yield _caution("caution.f1_flips", wrong=False, here=here, there=there, **pair)
    if table is not None:
        yield from _of_scores(evaluation, table)


def _of_scores(evaluation: "TwoClassEvaluation", table: ScoreTable) -> Iterator[Caution]:
    threshold, auc = evaluation.threshold, evaluation.figures["auc"]
    low, high = table.range
    if threshold is not None and (threshold <= low or threshold > high):
        yield _caution("caution.edge", threshold=threshold, low=low, high=high)
    if auc.low is not None and auc.high is not None and auc.low <= 0.5 <= auc.high:
        yield _caution("caution.chance", low=auc.low, high=auc.high)
    if evaluation.rows >= FEW_ROWS and auc.value >= NEAR_PERFECT:
        yield _caution("caution.perfect", value=auc.value)
    yield from _not_probabilities(evaluation)
    if table.grid is not None:
        least, most = map(float, ranking.auc_bounds(table))
        yield _caution("caution.bins", low=least, high=most)


def _of_many_classes(evaluation: "ManyClassEvaluation") -> Iterator[Caution]:
    yield from _no_better_than_constant(evaluation.figures)
    yield from _too_good(evaluation, "accuracy", "macro_auc")
    yield from _classes_upside_down(evaluation, wrong=False)
    yield from _not_probabilities(evaluation)
    if evaluation._unnamed:
        one, other = evaluation.classes
        words = Text(
            f"neither {short(repr(one))} nor {short(repr(other))} is obviously the positive class, so recall, "
            "precision and f1 are those of each against the other; to have them of one pass ",
            Pass("positive", other),
            " or ",
            Pass("positive", one),
        )
        yield Caution("caution.no_positive", words, {"one": one, "other": other})
    if evaluation.confusion is None and evaluation.joint is not None:
        yield Caution("caution.too_many_classes", values={"n": len(evaluation.classes)})


def _of_numbers(evaluation: "Evaluation") -> Iterator[Caution]:
    figures = evaluation.figures
    r, r2 = figures["pearson"].value, figures["r2"].value
    if r**2 - r2 > _FAR_ABOVE:
        yield _caution("caution.r_above_r2", r=r, squared=r**2, r2=r2)
    mean, root = figures["mean_absolute_error"].value, figures["root_mean_squared_error"].value
    if mean and root / mean > _DOMINATED:
        yield _caution("caution.few_large_errors", times=root / mean)
    yield from _too_good(evaluation, "r2")


_BY_TASK: dict[str, Callable[[Any], Iterator[Caution]]] = {
    "binary": _of_two_classes,
    "multiclass": _of_many_classes,
    "regression": _of_numbers,
}
_TOO_GOOD = ("caution.perfect", "caution.perfect_figure")


def _no_better_than_constant(figures: Mapping[str, Estimate]) -> Iterator[Caution]:
    found = figures.get("accuracy")
    if found is not None and found.defined and found.value <= found.baseline:
        yield _caution("caution.majority", share=found.value, always=found.baseline)


def _too_good(evaluation: "Evaluation", *names: str) -> Iterator[Caution]:
    for name in names if evaluation.rows >= FEW_ROWS else ():
        found = evaluation.figures.get(name)
        if found is not None and found.value >= NEAR_PERFECT > found.baseline:
            yield _caution("caution.perfect_figure", figure=name, value=found.value)
            return


def _not_probabilities(evaluation: "Evaluation") -> Iterator[Caution]:
    scores = evaluation._any_scores
    if scores is not None and not evaluation.probabilities:
        low, high = scores.range
        if low < 0 < high:
            yield _caution("caution.logits", low=low, high=high)


# ── rows and costs ───────────────────────────────────────────────────────────────────────────────────────────────
def _of_rows(evaluation: "Evaluation") -> Iterator[Caution]:
    """Yield what is to be said about the rows and the costs of any evaluation."""
    counted, pricing = evaluation.counted, evaluation.pricing
    if counted.dropped:
        yield Caution("caution.dropped", errors.rows_left_out(counted.dropped), {"n": counted.dropped})
    for name, size in evaluation._sizes().items():
        if size < FEW_ROWS:
            yield Caution("caution.few", values={"n": math.floor(size), "name": name})
    if pricing is None:
        return
    for name in pricing.costs.never_cheapest():
        yield _caution("caution.never_cheapest", name=name)
    if pricing.prior is not None:
        yield _caution("caution.deployment", figure=cost.expected_cost.name)
