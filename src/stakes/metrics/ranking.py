"""Figures of the order that scores give: how well positives rank above negatives, over all thresholds or some."""

import math
from typing import Annotated, Literal

import numpy as np

from stakes import errors
from stakes.metrics.declare import COUNT, SHARE, OneRow, metric
from stakes.metrics.folds import Each, Finish, Fold, fold_all, largest, total
from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES, NO_ROWS
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Array, Number, divide, ratio

_ROUNDING = 1e-12
"""Rounding of sums of weights, by which a rate that is reached may be missed."""

CHOSEN_THRESHOLD = "the threshold is chosen on the same rows, which no resampling undoes"


# ── the whole order ──────────────────────────────────────────────────────────────────────────────────────────────
def twice_wins(steps: Steps) -> Number:
    """Twice the pairs in which the positive outranks the negative, a tie counting once."""
    return total(steps.positives * (2 * steps.tn + steps.negatives))


def placements(positives: Array, negatives: Array, unit: Array) -> Array:
    """What the auc loses without a row: how far its share of the other class lies from the auc, over the rest.

    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44.
    """
    P, N = positives.sum(), negatives.sum()
    outranked = (N - np.cumsum(negatives) + negatives / 2) / N
    outranking = (np.cumsum(positives) - positives / 2) / P
    value = (positives * outranked).sum() / P
    away = np.stack([outranked, outranking]) - value
    return np.asarray(unit * away / (np.array([[P], [N]]) - unit))


def _by_order(each: Each, known: str, finish: Finish, keep: Literal["sum", "max"] = "sum") -> Fold:
    """A figure of the order, which may be known for scores in bins as well (``tallies/order.py``)."""

    def found(walked: Number, table: ScoreTable) -> Number:
        exact = getattr(table.order, known, None)
        return finish(walked if exact is None else exact, table)

    return Fold(each, found, keep)


def auc_bounds(table: ScoreTable) -> tuple[Number, Number]:
    """Return the auc with every tie lost and with every tie won.

    For a table of bins the auc of the scores themselves lies between the two.
    """
    if not isinstance(table, ScoreTable):
        raise errors.wrong_tally("auc_bounds", ScoreTable.kind, type(table).__name__)
    if table.order is not None:
        wins, left_open = table.order.twice_wins, table.order.open_pairs
        lowest, highest = (ratio(end, 2 * table.P * table.N) for end in (wins - left_open, wins + left_open))
        return lowest, highest

    def part(won: int) -> Fold:
        return Fold(
            lambda steps: total(steps.positives * (steps.tn + won * steps.negatives)),
            lambda wins, table: ratio(wins, table.P * table.N),
        )

    lost, won = fold_all([(part(0), {}), (part(1), {})], table)
    return lost, won


def _gini_bounds(table: ScoreTable) -> tuple[Number, Number]:
    lost, won = auc_bounds(table)
    return 2 * lost - 1, 2 * won - 1


_BY_PLACEMENTS = OneRow(placements, lambda value, positives, negatives: 0.0, "both", auc_bounds)
_TWICE = OneRow(lambda *levels: 2 * placements(*levels), lambda value, positives, negatives: 0.0, "both", _gini_bounds)


auc = metric(
    name="auc",
    within_classes=True,
    question="How often does a random positive score higher than a random negative (ties count half)?",
    formula="sum((a > b) + (a == b) / 2 for a in positives for b in negatives) / (P * N)",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    aliases=("roc_auc", "auroc", "c_statistic", "concordance", "c_index", "cindex"),
    laws=("auc == (1 + gini) / 2",),
    swapped="auc",
    pitfall="Averages over thresholds that nobody would use, and does not see the prevalence.",
    reference="Hanley & McNeil (1982), Radiology 143; DeLong et al. (1988), Biometrics 44",
    interval="area",
    one_row=_BY_PLACEMENTS,
    headline=True,
)(_by_order(twice_wins, "twice_wins", lambda wins, table: ratio(wins, 2 * table.P * table.N)))


gini = metric(
    name="gini",
    within_classes=True,
    question="How much more often is a pair ordered rightly than wrongly?",
    formula="sum((a > b) - (a < b) for a in positives for b in negatives) / (P * N)",
    range=(-1, 1),
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    aliases=("accuracy_ratio", "somers_d"),
    laws=("gini == 2 * auc - 1",),
    swapped="gini",
    pitfall="The auc on another scale, so it misleads in the same ways; not the Gini impurity of trees.",
    reference="Somers (1962), American Sociological Review 27",
    interval="area",
    one_row=_TWICE,
)(_by_order(twice_wins, "twice_wins", lambda wins, table: ratio(wins - table.P * table.N, table.P * table.N)))


def _precision_at_positives(steps: Steps) -> Number:
    return total(np.where(steps.positives > 0, steps.positives * steps.precision, 0))


def _precision_bounds(table: ScoreTable) -> tuple[Number, Number]:
    """The average precision if the positives of each score came one by one below its negatives, and tied above them.

    The i-th of those below has the precision (tp + i)/(tp + i + fp), and Σ 1/(m + i) is a difference of digammas; of
    logarithms, where rows may have any weight, however small. Where all scores were sorted before they went into bins
    nothing is open.
    """
    from scipy.special import digamma

    if table.order is not None and table.order.precision is not None:
        known = ratio(table.order.precision, table.P)
        return known, known

    def below(steps: Steps) -> Number:
        fp = np.asarray(steps.fp, np.float64)
        before = np.asarray(steps.tp - steps.positives, np.float64) + fp
        if table.weighted:
            return total(steps.positives - fp * np.log1p(divide(steps.positives, before)))
        return total(steps.positives - fp * (digamma(before + steps.positives + 1) - digamma(before + 1)))

    def above(steps: Steps) -> Number:
        tp = np.asarray(steps.tp, np.float64)
        return total(divide(steps.positives * tp, tp + steps.fp - steps.negatives))

    lost, won = fold_all(
        [(Fold(each, lambda found, table: ratio(found, table.P)), {}) for each in (below, above)], table
    )
    return lost, won


def _precision_without(positives: Array, negatives: Array, unit: Array) -> Array:
    """What the average precision loses without a row; of weighted rows to first order.

    As much as one usual row is taken away, or as there is at the first of its class: less than nothing cannot be left.
    """
    usual = (unit * np.stack([positives, negatives])).sum() / max(positives.sum() + negatives.sum(), 1e-300)
    P, found, rows = positives.sum(), np.cumsum(positives), np.cumsum(positives + negatives)
    now = divide(positives * found, rows)
    above, value = np.cumsum(now) - now, now.sum() / P
    one = min(usual, _first_of(positives))
    fewer = divide(positives * np.maximum(found - one, 0.0), rows - one)
    own = divide((positives - one) * np.maximum(found - one, 0.0), rows - one)
    without_positive = (above + own + fewer.sum() - np.cumsum(fewer)) / (P - one)
    other = min(usual, _first_of(negatives))
    shorter = divide(positives * found, np.where(rows > found, rows - other, 0.0))
    without_negative = (above + shorter.sum() - np.cumsum(shorter) + shorter) / P
    changes = [(value - without_positive) / one, (value - without_negative) / other]
    return np.asarray(np.stack(changes) * unit)


def _first_of(counts: Array) -> float:
    """How many rows of a class there are at the highest score that has any."""
    return float(counts[np.argmax(counts > 0)]) or 1.0


def _precision_unseen(value: float, positives: Array, negatives: Array) -> float:
    """The largest change by an unseen positive at either end, or an unseen negative on top."""
    P, found, rows = positives.sum(), np.cumsum(positives), np.cumsum(positives + negatives)
    on_top = (positives * (divide(found, rows) - found / (rows + 1))).sum() / P
    return float(max(value / (P + 1), (1 - value) / (P + 1), on_top))


average_precision = metric(
    name="average_precision",
    question="Walking down the ranking, how precise is it on average when a positive turns up?",
    formula="sum((tpr(t) - tpr(above(t))) * precision(t) for t in thresholds)",
    undefined=(NO_POSITIVES,),
    aliases=("ap", "pr_auc", "auprc", "prauc"),
    pitfall="Depends on the prevalence: compare it with its baseline, not between data sets.",
    reference="Davis & Goadrich (2006), ICML",
    one_row=OneRow(_precision_without, _precision_unseen, "positives", _precision_bounds),
    headline=True,
)(_by_order(_precision_at_positives, "precision", lambda found, table: ratio(found, table.P)))


# ── the best or a chosen part of the curve ───────────────────────────────────────────────────────────────────────
def _widest_gap(steps: Steps) -> Number:
    """The largest TPR − FPR of the block, times P·N."""
    return largest(steps.tp * steps.tn - steps.fp * steps.fn)


ks = metric(
    name="ks",
    within_classes=True,
    question="How far apart are positives and negatives at the threshold that separates them best?",
    formula="max(0, max(tpr(t) - fpr(t) for t in thresholds))",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    aliases=("kolmogorov_smirnov", "best_informedness"),
    swapped="ks",
    pitfall="The threshold is chosen on the same rows, so the figure is optimistic.",
    no_interval=CHOSEN_THRESHOLD,
    reference="Thomas, Edelman & Crook (2002), Credit Scoring and Its Applications",
)(
    _by_order(
        _widest_gap,
        "widest_gap",
        lambda gap, table: ratio(np.maximum(gap, 0) if table.leading else max(gap, 0), table.P * table.N),
        keep="max",
    )
)


def _area_to_the_left(steps: Steps, *, max_fpr: Annotated[float, SHARE] = 0.1) -> Number:
    """The area under the ROC curve up to max_fpr, times P·N."""
    if steps.single and steps.fp[0] - steps.negatives[0] >= max_fpr * steps.N:
        return 0.0
    positives, negatives, N = (np.asarray(v, float) for v in (steps.positives, steps.negatives, steps.N))
    width = np.clip(max_fpr * N[..., None] - (steps.fp.astype(float) - negatives), 0, negatives)
    share = divide(width, negatives)
    return total(width * (steps.tp.astype(float) - positives + positives * share / 2))


def _mcclish(area: Number, table: ScoreTable, *, max_fpr: float) -> Number:
    """Rescale so that chance is ½ and a perfect order 1, whatever max_fpr."""
    least = max_fpr**2 / 2
    return (1 + (ratio(area, table.P * table.N) - least) / (max_fpr - least)) / 2


def _area_up_to(positives: Array, negatives: Array, reach: Array) -> Array:
    """The area under the curve of positives found over false alarms (numbers, not shares), up to so many alarms."""
    found, alarms = np.cumsum(positives) - positives, np.cumsum(negatives) - negatives
    steps = negatives * (found + positives / 2)
    place = np.minimum(np.searchsorted(alarms + negatives, reach), len(alarms) - 1)
    width = np.clip(reach - alarms[place], 0.0, negatives[place])
    steep = divide(positives[place], negatives[place])
    return np.asarray((np.cumsum(steps) - steps)[place] + width * (found[place] + steep * width / 2))


def _stretch(max_fpr: float) -> float:
    """How much the rescaled figure moves with the area itself."""
    return 0.5 / (max_fpr - max_fpr**2 / 2)


def _left_changes(positives: Array, negatives: Array, unit: Array, *, max_fpr: float) -> Array:
    """What the area loses without a positive: what lies to its right; without a negative the region moves, too."""
    P, N = positives.sum(), negatives.sum()
    alarms, found = np.cumsum(negatives) - negatives, np.cumsum(positives) - positives
    inside = np.clip(max_fpr * N - alarms, 0.0, negatives)
    own = (np.maximum(max_fpr * N - alarms - negatives, 0.0) + divide(inside**2, 2 * negatives)) / N
    area = float(_area_up_to(positives, negatives, np.array(max_fpr * N))) / (P * N)
    taken = unit[1]
    reach, left = max_fpr * (N - taken), negatives - taken
    before, beyond = (_area_up_to(positives, negatives, one) for one in (reach, reach + taken))
    width = np.clip(reach - alarms, 0.0, np.maximum(left, 0.0))
    partly = _area_up_to(positives, negatives, alarms) + width * (found + divide(positives * width, 2 * left))
    without = np.select(
        [reach <= alarms, reach >= alarms + left], [before, beyond - taken * (found + positives / 2)], partly
    )
    each = [unit[0] * (own - area) / (P - unit[0]), area - divide(without, P * (N - taken), math.nan)]
    return np.asarray(_stretch(max_fpr) * np.stack(each))


def _left_unseen(value: float, positives: Array, negatives: Array, *, max_fpr: float) -> float:
    """One more row of either class, above or below all others."""
    P, N = positives.sum(), negatives.sum()
    reach = max_fpr * (N + 1) - np.array([0.0, 1.0, max_fpr])
    *others, area = _area_up_to(positives, negatives, np.maximum(reach, 0.0)) / (P * np.array([N + 1, N + 1, N]))
    moved = [(max_fpr - area) / (P + 1), area / (P + 1), *(abs(other - area) for other in others)]
    return float(_stretch(max_fpr) * max(moved))


partial_auc = metric(
    name="partial_auc",
    within_classes=True,
    question="How good is the order where false alarms are few (FPR up to max_fpr; chance ½, perfect 1)?",
    formula="(1 + (area(max_fpr) - max_fpr**2 / 2) / (max_fpr - max_fpr**2 / 2)) / 2",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    pitfall="Choose max_fpr before looking; few negatives lie in the region, so it is unsure.",
    one_row=OneRow(_left_changes, _left_unseen, "both"),
    reference="McClish (1989), Medical Decision Making 9",
)(Fold(_area_to_the_left, _mcclish))


def _recall_at_precision(steps: Steps, *, precision: Annotated[float, SHARE] = 0.9) -> Number:
    """The most positives found at a threshold that is precise enough; −1 when none is."""
    return largest(np.where(steps.precision >= precision, steps.tp, -1))


recall_at_precision = metric(
    name="recall_at_precision",
    question="What share of the positives can be found while alarms stay this precise?",
    formula="max(tpr(t) for t in thresholds if precision(t) >= wanted)",
    undefined=(NO_POSITIVES,),
    otherwise="no threshold reaches a precision of {precision}",
    pitfall="The threshold is chosen on the same rows, so the figure is optimistic.",
    no_interval=CHOSEN_THRESHOLD,
    reference="Eban et al. (2017), AISTATS",
)(
    Fold(
        _recall_at_precision,
        lambda found, table: ratio(np.where(np.less(found, 0), np.nan, found)[()], table.P),
        keep="max",
    )
)


def _best_precision(steps: Steps, *, recall: Annotated[float, SHARE] = 0.9) -> Number:
    enough = ratio(steps.tp, np.expand_dims(steps.P, -1)) >= recall
    return largest(np.where(enough, steps.precision, -1.0))


precision_at_recall = metric(
    name="precision_at_recall",
    question="How precise can alarms be while this share of the positives is found?",
    formula="max(precision(t) for t in thresholds if tpr(t) >= wanted)",
    undefined=(NO_POSITIVES,),
    pitfall="The threshold is chosen on the same rows, so the figure is optimistic.",
    no_interval=CHOSEN_THRESHOLD,
    reference="Eban et al. (2017), AISTATS",
)(Fold(_best_precision, lambda best, table: best, keep="max"))


# A rate at the threshold where the other class reaches its rate. A row more or less of the other class moves the
# threshold; how far the rate follows is estimated around it, over the range in which the threshold would vary.
def _best_recall(steps: Steps, *, specificity: Annotated[float, SHARE] = 0.9) -> Number:
    """The most positives found at a threshold that is specific enough; nobody always is."""
    enough = ratio(steps.tn, np.expand_dims(steps.N, -1)) >= specificity - _ROUNDING
    return largest(np.where(enough, steps.tp, 0))


def _best_specificity(steps: Steps, *, recall: Annotated[float, SHARE] = 0.9) -> Number:
    enough = ratio(steps.tp, np.expand_dims(steps.P, -1)) >= recall - _ROUNDING
    return largest(np.where(enough, steps.tn, 0))


def _rate_at(own: Array, other: Array, share: float, unit: float = 1.0) -> tuple[Array, float, float, float]:
    """The part of the ranking with at most that share of the ``other`` class: which places, the shares of ``own`` rows
    and of the others in it, and the slope of the one in the other around its end. A row has the weight ``unit``.
    """
    size, whole, reached = own.sum(), other.sum(), np.cumsum(other)
    within = reached <= share * whole * (1 + 1e-12)
    width = 2 * math.sqrt(max(share * (1 - share) * unit / whole, (unit / whole) ** 2))
    ends = np.clip([share - width, share + width], 0.0, 1.0)
    heights = np.interp(ends * whole, np.append(0.0, reached), np.append(0.0, np.cumsum(own)) / size)
    slope = (heights[1] - heights[0]) / (ends[1] - ends[0])
    return within, float(own[within].sum() / size), float(other[within].sum() / whole), float(slope)


def _rate_changes(own: Array, other: Array, unit: Array, share: float) -> Array:
    """What that share of own rows loses without one of them, and without one of the other class."""
    within, value, taken, slope = _rate_at(own, other, share, float(unit.mean()))
    each = [(within - value) / (own.sum() - unit[0]), -slope * (within - taken) / (other.sum() - unit[1])]
    return np.asarray(unit * np.stack(each))


def _rate_unseen(own: Array, other: Array, share: float) -> float:
    """One more row of either class, at either end."""
    _, value, taken, slope = _rate_at(own, other, share)
    moved = slope * max(taken, 1 - taken) / float(other.sum() + 1)
    return max(value / float(own.sum() + 1), (1 - value) / float(own.sum() + 1), moved)


def _recall_changes(positives: Array, negatives: Array, unit: Array, *, specificity: float) -> Array:
    return _rate_changes(positives, negatives, unit, 1 - specificity)


def _specificity_changes(positives: Array, negatives: Array, unit: Array, *, recall: float) -> Array:
    """The same from the end of the ranking."""
    found = _rate_changes(negatives[::-1], positives[::-1], unit[::-1, ::-1], 1 - recall)
    return found[::-1, ::-1]


def _recall_unseen(value: float, positives: Array, negatives: Array, *, specificity: float) -> float:
    return _rate_unseen(positives, negatives, 1 - specificity)


def _specificity_unseen(value: float, positives: Array, negatives: Array, *, recall: float) -> float:
    return _rate_unseen(negatives[::-1], positives[::-1], 1 - recall)


recall_at_specificity = metric(
    name="recall_at_specificity",
    within_classes=True,
    question="What share of the positives can be found while this share of the negatives raises no alarm?",
    formula="max(tpr(t) for t in [inf, *thresholds] if 1 - fpr(t) >= wanted)",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    aliases=("sensitivity_at_specificity",),
    pitfall="The threshold is chosen on the same rows; with few negatives it can be quite another one elsewhere.",
    interval="rate",
    one_row=OneRow(_recall_changes, _recall_unseen, "both", place=True, rate=("tp", "fp")),
    reference="Pepe (2003), The Statistical Evaluation of Medical Tests, chapter 4",
)(Fold(_best_recall, lambda found, table: ratio(found, table.P), keep="max"))


specificity_at_recall = metric(
    name="specificity_at_recall",
    within_classes=True,
    question="What share of the negatives can be spared an alarm while this share of the positives is found?",
    formula="max(1 - fpr(t) for t in thresholds if tpr(t) >= wanted)",
    undefined=(NO_POSITIVES, NO_NEGATIVES),
    aliases=("specificity_at_sensitivity",),
    pitfall="The threshold is chosen on the same rows; with few positives it can be quite another one elsewhere.",
    interval="rate",
    one_row=OneRow(_specificity_changes, _specificity_unseen, "both", place=True, rate=("tn", "fn")),
    reference="Pepe (2003), The Statistical Evaluation of Medical Tests, chapter 4",
)(Fold(_best_specificity, lambda spared, table: ratio(spared, table.N), keep="max"))


# ── the top of the list ──────────────────────────────────────────────────────────────────────────────────────────
def _positives_in_top(steps: Steps, *, k: Annotated[int, COUNT] = 10) -> Number:
    """Positives among the first k rows of usual weight; of rows that tie at the end, the expected share."""
    wanted = np.expand_dims(k * np.asarray(steps.row_weight, float), -1)
    if steps.single and steps.rows_before[0] >= wanted[0]:
        return 0.0
    rows = steps.rows.astype(float)
    share = divide(wanted - steps.rows_before.astype(float), rows)
    return total(steps.positives.astype(float) * np.clip(share, 0, 1))


def _near_the_end(positives: Array, negatives: Array, k: float, unit: float = 1.0) -> tuple[Array, float]:
    """What share of the rows at each score is among the first k, and the share of positives around place k."""
    rows = positives + negatives
    reached = np.cumsum(rows)

    def above(place: float) -> Array:
        return np.clip(divide(place - reached + rows, rows), 0.0, 1.0)

    width = math.sqrt(k * unit)
    around = above(k + width) - above(k - width)
    return above(k), float((positives * around).sum() / max((rows * around).sum(), 1e-300))


def _place(positives: Array, negatives: Array, unit: Array, k: float) -> float:
    """The weight of the k highest rows: k times that of an effective row."""
    return k * float(((positives * unit[0]) + (negatives * unit[1])).sum() / (positives + negatives).sum())


def _top_changes(positives: Array, negatives: Array, unit: Array, *, k: float) -> Array:
    """What the precision of the k highest loses without a row: a row like those around place k takes its place."""
    return _precision_changes(positives, negatives, unit, _place(positives, negatives, unit, k))


def _precision_changes(positives: Array, negatives: Array, unit: Array, k: float) -> Array:
    """The same of the highest rows that weigh k."""
    within, next_one = _near_the_end(positives, negatives, k, float(unit.mean()))
    value, total = (positives * within).sum() / k, positives.sum() + negatives.sum()
    each = np.stack([1 - next_one, -next_one])[:, None] * within - k / total * (value - next_one)
    return np.asarray(unit * each / k)


def _recall_at_k_changes(positives: Array, negatives: Array, unit: Array, *, k: float) -> Array:
    """What the share of the positives among the k highest loses without a row."""
    return _found_changes(positives, negatives, unit, k=_place(positives, negatives, unit, k))


def _found_changes(positives: Array, negatives: Array, unit: Array, *, k: float) -> Array:
    """The same of the highest rows that weigh k."""
    P, total = positives.sum(), positives.sum() + negatives.sum()
    found = (positives * _near_the_end(positives, negatives, k)[0]).sum()
    shares = np.array([[1.0], [0.0]]) - P / total
    return np.asarray(_precision_changes(positives, negatives, unit, k) * k / P - unit * shares * found / P**2)


def _found_unseen(value: float, positives: Array, negatives: Array, **_: float) -> float:
    return max(value, 1 - value) / float(positives.sum() + 1)


precision_at_k = metric(
    name="precision_at_k",
    question="Of the k highest scores, what share is positive?",
    formula="found_in_top(k) / k",
    undefined=(NO_ROWS,),
    otherwise="there are fewer than {k} rows",
    pitfall="Rows that tie at place k count by their expected share. With weights the k highest are k of as many rows "
    "of equal weight as tell as much (Kish's effective number), whatever the scale of the weights.",
    one_row=OneRow(_top_changes, lambda value, *_, k: max(value, 1 - value) / k, "rows", place=True),
    reference="Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval",
)(Fold(_positives_in_top, lambda found, table, *, k: _if_enough(ratio(found, k * table.row_weight), table, k)))


def _if_enough(value: Number, table: ScoreTable, k: int) -> Number:
    needed = k * np.asarray(table.row_weight) * (1 - 1e-9)  # weights round
    return np.where(np.less(np.asarray(table.total, float), needed), np.nan, value)[()]


recall_at_k = metric(
    name="recall_at_k",
    question="What share of the positives is among the k highest scores?",
    formula="found_in_top(k) / P",
    undefined=(NO_POSITIVES,),
    otherwise="there are fewer than {k} rows",
    pitfall="Cannot reach 1 when there are more than k positives. With weights the k highest are k of as many rows of "
    "equal weight as tell as much (Kish's effective number), whatever the scale of the weights.",
    one_row=OneRow(_recall_at_k_changes, _found_unseen, "rows", place=True),
    reference="Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval",
)(Fold(_positives_in_top, lambda found, table, *, k: _if_enough(ratio(found, table.P), table, k)))


# ── a share of the list ──────────────────────────────────────────────────────────────────────────────────────────
def _positives_in_share(steps: Steps, *, share: Annotated[float, SHARE] = 0.1) -> Number:
    """Positives among the highest scores, so many as are that share of all rows."""
    rows = steps.rows.astype(float)
    wanted = np.expand_dims(share * np.asarray(steps.P + steps.N, float), -1)
    taken = np.clip(divide(wanted - steps.rows_before.astype(float), rows), 0, 1)
    return total(steps.positives.astype(float) * taken)


def _gain_changes(positives: Array, negatives: Array, unit: Array, *, share: float) -> Array:
    return _found_changes(positives, negatives, unit, k=share * (positives.sum() + negatives.sum()))


gain = metric(
    name="gain",
    question="What share of the positives is among the highest scores, this share of all rows?",
    formula="found_in_top(share * n) / P",
    undefined=(NO_POSITIVES,),
    aliases=("cumulative_gain", "capture_rate"),
    pitfall="Cannot reach 1 where there are more positives than that share of the rows.",
    one_row=OneRow(_gain_changes, _found_unseen, "positives", place=True),
    reference="Berry & Linoff (2004), Data Mining Techniques",
)(Fold(_positives_in_share, lambda found, table: ratio(found, table.P)))


lift = metric(
    name="lift",
    question="How many times as frequent as in all rows are positives among the highest scores, this share of all?",
    formula="found_in_top(share * n) / P / share",
    range_of=lambda share: (0, 1 / share),
    undefined=(NO_POSITIVES,),
    pitfall="At most 1 / prevalence, so lifts are not compared between data sets.",
    one_row=OneRow(
        lambda *levels, share: _gain_changes(*levels, share=share) / share,
        lambda value, *counts, share: _found_unseen(share * value, *counts) / share,
        "positives",
        place=True,
    ),
    reference="Berry & Linoff (2004), Data Mining Techniques",
)(Fold(_positives_in_share, lambda found, table, *, share: ratio(found, table.P) / share))
