"""Figures of scores and curves, by scikit-learn's names and conventions."""

import itertools
import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass
from stakes.metrics import Metric, find
from stakes.metrics.declare import CATALOGUE
from stakes.metrics.many import average_of
from stakes.metrics.multilabel import over_labels
from stakes.sklearn.decisions import check_value
from stakes.sklearn.labels import source_of_labels
from stakes.sklearn.result import FloatWithInterval, Source, warn_undefined
from stakes.sklearn.targets import (
    Kind,
    as_array,
    as_numbers,
    codes_among,
    dense,
    different_shapes,
    distinct,
    encode,
    flat,
    kind_of,
    numbers,
    same_length,
    warn_of_indexes,
    weights,
)
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.arithmetic import Array, Values

AUC, PARTIAL, PRECISION = map(find, ("auc", "partial_auc", "average_precision"))
HAND_TILL, TOP_K = map(find, ("hand_till_auc", "top_k_accuracy"))

Curve = tuple[Array, Array, Array]


# ── who is positive ──────────────────────────────────────────────────────────────────────────────────────────────
def positives(y_true: Values, pos_label: object = None, several: bool = False) -> Array:
    """Return which rows are positive; without ``pos_label`` only labels 0, 1, −1 tell it by themselves."""
    truth = flat("y_true", y_true)
    if truth.dtype.kind in "biu" and pos_label in (None, 1) and truth.size and truth.max() <= 1 and truth.min() >= 0:
        return truth.astype(bool)
    kind = kind_of("y_true", truth)
    if kind != "binary" and not (kind == "multiclass" and pos_label is not None and several):
        raise InputError("not-two-classes-of-scores", f"{kind} format is not supported; give labels of two classes")
    labels = distinct("y_true", truth).tolist()
    if pos_label is None:
        if truth.dtype.kind in "OUS" or not any(labels == known for known in ([0], [-1], [1], [0, 1], [-1, 1])):
            text = f"y_true takes value in {labels} and pos_label is not specified; pass "
            raise InputError("which-positive-of-scores", text, Pass("pos_label"))
        pos_label = 1
    return np.asarray(truth == pos_label)


def _as_column(weight: Values) -> Values:
    """Weights that stand in a column of their own as a plain one."""
    return weight[:, 0] if isinstance(weight, np.ndarray) and weight.ndim == 2 and weight.shape[1] == 1 else weight


def _score_table(y_true: Array, y_score: Values, sample_weight: Values) -> ScoreTable:
    """Count scores; rows that weigh nothing are left out."""
    if hasattr(y_score, "toarray"):
        as_array("y_score", y_score)
    score = numbers("y_score", y_score)
    same_length(y_true=y_true, y_score=score, sample_weight=sample_weight)
    weight = weights(_as_column(sample_weight), len(score))
    if weight is not None:
        if (weight < 0).any():
            raise InputError(
                "negative-weights-of-scores", "sample_weight holds negative values; give weights from 0 on"
            )
        weight = weight.astype(np.float64)
        if not weight.all():
            heavy = weight > 0
            if not heavy.any():
                raise InputError("empty-input-of-scores", "all rows weigh 0; give one or more that count")
            y_true, score, weight = y_true[heavy], score[heavy], weight[heavy]
    return ScoreTable.from_rows(score, y_true, weight)


# ── curves ───────────────────────────────────────────────────────────────────────────────────────────────────────
def confusion_matrix_at_thresholds(
    y_true: Values, y_score: Values, *, pos_label: object = None, sample_weight: Values = None
) -> tuple[Array, Array, Array, Array, Array]:
    """Return tn, fp, fn, tp at every distinct score, highest first, and these scores."""
    warn_of_indexes(y_true, y_score)
    columns = _score_table(positives(y_true, pos_label, several=True), y_score, sample_weight).as_columns()
    tp, fp = (np.cumsum(columns.values[name], dtype=np.float64) for name in ("positives", "negatives"))
    kind = np.asarray(y_score).dtype  # thresholds are numbers of the kind that scores are
    thresholds = np.asarray(columns.scores, kind if kind.kind in "fiu" else np.float64)
    return fp[-1] - fp, fp, tp[-1] - tp, tp, thresholds


def roc_curve(
    y_true: Values,
    y_score: Values,
    *,
    pos_label: object = None,
    sample_weight: Values = None,
    drop_intermediate: bool = True,
) -> Curve:
    """Return false positive rates, true positive rates and thresholds."""
    asked = {"pos_label": pos_label, "sample_weight": sample_weight}
    _, fp, _, tp, thresholds = confusion_matrix_at_thresholds(y_true, y_score, **asked)
    if drop_intermediate and len(fp) > 2:
        corner = np.ones(len(fp), bool)
        corner[1:-1] = (np.diff(fp, 2) != 0) | (np.diff(tp, 2) != 0)
        fp, tp, thresholds = fp[corner], tp[corner], thresholds[corner]
    rates = [_share(np.append(0.0, one), name) for one, name in ((fp, "negative"), (tp, "positive"))]
    return rates[0], rates[1], np.append(math.inf, thresholds)


def _share(counts: Array, name: str) -> Array:
    if counts[-1] > 0:
        return np.asarray(counts / counts[-1])
    warn_undefined(f"no {name} rows in y_true, so that their rate is undefined")
    return np.full(len(counts), math.nan)


def precision_recall_curve(
    y_true: Values,
    y_score: Values,
    *,
    pos_label: object = None,
    sample_weight: Values = None,
    drop_intermediate: bool = False,
) -> Curve:
    """Return precisions, recalls and thresholds, from the lowest one on."""
    asked = {"pos_label": pos_label, "sample_weight": sample_weight}
    _, fp, _, tp, thresholds = confusion_matrix_at_thresholds(y_true, y_score, **asked)
    if drop_intermediate and len(fp) > 2:
        fp, tp, thresholds = _where_recall_moves(fp, tp, thresholds)
    precision = tp / (tp + fp)  # some row has each score
    if tp[-1] == 0:
        text = "No positive class found in y_true, recall is set to one for all thresholds"
        errors.warn("no-positives", text)
    recall = tp / tp[-1] if tp[-1] else np.ones(len(tp))
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1]


def _where_recall_moves(fp: Array, tp: Array, thresholds: Array) -> Curve:
    """Leave out points with the same true positives on either side."""
    kept = np.ones(len(tp), bool)
    kept[1:-1] = (np.diff(tp[:-1]) != 0) | (np.diff(tp[1:]) != 0)
    return fp[kept], tp[kept], thresholds[kept]


def det_curve(
    y_true: Values,
    y_score: Values,
    pos_label: object = None,
    sample_weight: Values = None,
    drop_intermediate: bool = False,
) -> Curve:
    """Return false positive rates, false negative rates and thresholds, from the lowest one on."""
    asked = {"pos_label": pos_label, "sample_weight": sample_weight}
    _, fp, _, tp, thresholds = confusion_matrix_at_thresholds(y_true, y_score, **asked)
    fp, tp, thresholds = np.append(0.0, fp), np.append(0.0, tp), np.append(math.inf, thresholds)
    if drop_intermediate and len(fp) > 2:
        fp, tp, thresholds = _where_recall_moves(fp, tp, thresholds)
    if not (fp[-1] and tp[-1]):
        raise InputError("one-class-of-scores", "Only one class is present in y_true; the curve needs two")
    part = slice(int(np.searchsorted(fp, 0.0, "right")) - 1, int(np.searchsorted(tp, tp[-1])) + 1)
    return fp[part][::-1] / fp[-1], (tp[-1] - tp[part][::-1]) / tp[-1], thresholds[part][::-1]


def metric_at_thresholds(
    y_true: Values,
    y_score: Values,
    metric_func: Callable[..., object],
    *,
    sample_weight: Values = None,
    metric_params: dict[str, object] | None = None,
) -> tuple[Array, Array]:
    """Return a metric of the decisions at every distinct score, and these scores, highest first."""
    truth, score = as_numbers("y_true", flat("y_true", y_true)), numbers("y_score", y_score)
    same_length(y_true=truth, y_score=score, sample_weight=sample_weight)
    weight = weights(sample_weight, len(score))
    asked: dict[str, object] = dict(metric_params or {})
    if weight is not None:
        truth, score, weight = (column[weight != 0] for column in (truth, score, weight))
        asked["sample_weight"] = weight
    thresholds = np.unique(score)[::-1]
    return np.asarray([metric_func(truth, (score >= t).astype(np.int32), **asked) for t in thresholds]), thresholds


def auc(x: Values, y: Values) -> float:
    """Return the area under any curve, by the trapezoidal rule."""
    same_length(x=x, y=y)
    across, up = numbers("x", x), numbers("y", y)
    if len(across) < 2:
        raise InputError("too-few-points", f"At least 2 points are needed to compute an area; x has {len(across)}")
    steps = np.diff(across)
    if (steps < 0).any() and (steps > 0).any():
        raise InputError("no-direction-of-scores", "x is neither increasing nor decreasing; sort the points")
    area = float(np.dot(steps, up[1:].astype(np.float64) + up[:-1])) / 2
    return -area if (steps < 0).any() else area


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────
def roc_auc_score(
    y_true: Values,
    y_score: Values,
    *,
    average: Literal["micro", "macro", "samples", "weighted"] | None = "macro",
    sample_weight: Values = None,
    max_fpr: float | None = None,
    multi_class: Literal["raise", "ovr", "ovo"] = "raise",
    labels: Values = None,
) -> FloatWithInterval | Array:
    """Return how often a random positive scores higher than a random negative."""
    warn_of_indexes(y_true, y_score)
    truth = dense("y_true", y_true)
    score = y_score if type(y_score) is np.ndarray else as_numbers("y_score", as_array("y_score", y_score))
    metric, sample_weight = AUC if max_fpr in (None, 1) else _partial(max_fpr), _as_column(sample_weight)
    check_value("average", average, ("micro", "macro", "samples", "weighted", None))
    kind, codes = _kind_and_codes(truth)
    if kind == "multiclass" or (kind == "binary" and score.ndim == 2 and score.shape[1] > 2):
        if metric is PARTIAL or max_fpr not in (None, 1):
            raise InputError("partial-of-many", "'max_fpr' must be None: the partial area is of two classes")
        return _auc_of_many(truth, as_numbers("y_score", score), labels, multi_class, average, sample_weight)
    if kind in ("continuous", "multiclass-multioutput", "unknown"):
        raise InputError("not-two-classes-of-scores", f"{kind} format is not supported; give labels")
    if kind == "binary" and (score.ndim == 1 or score.shape[1] == 1):
        return _area(metric, codes, score, sample_weight)
    same_length(y_true=truth, y_score=score)
    if truth.shape != score.shape:
        raise different_shapes(truth, score)
    return _over_labels(metric, truth > 0, as_numbers("y_score", score), average, sample_weight)


def _partial(max_fpr: float | None) -> Metric:
    if not isinstance(max_fpr, int | float) or not 0 < max_fpr <= 1:
        raise InputError(
            "bad-max-fpr", Given("max_fpr", max_fpr), " is not above 0 and at most 1; Expected max_fpr in (0, 1]"
        )
    return PARTIAL.with_parameters(max_fpr=float(max_fpr))


def _kind_and_codes(truth: Array) -> tuple[Kind, Array]:
    """What the labels are, and for two classes which rows are of the second."""
    if truth.ndim == 1 and truth.size and truth.dtype.kind in "biu" and truth.min() >= 0 and truth.max() <= 1:
        return "binary", truth.astype(bool)
    kind = kind_of("y_true", truth)
    if kind != "binary":
        return kind, truth
    labels = distinct("y_true", truth)
    return kind, np.asarray(truth.reshape(-1) == labels[-1]) if len(labels) == 2 else np.zeros(len(truth), bool)


def _area(metric: Metric, positive: Array, score: Values, weight: Values) -> FloatWithInterval:
    table = _score_table(positive, score, weight)
    return FloatWithInterval(_value(metric, table), lambda: (metric, table))


def _over_labels(
    metric: Metric, flags: Array, scores: Array, average: str | None, weight: Values
) -> FloatWithInterval | Array:
    """A figure of each column of labels, or one made of them."""
    if flags.shape != scores.shape:
        raise different_shapes(flags, scores)
    why = "no interval is known of the mean over rows of a figure of their labels"
    units = weights(weight, len(flags))
    columns = {"truth": flags, "scores": scores.astype(np.float64, copy=False)}
    if average == "micro":
        unit = None if units is None else np.repeat(units, flags.shape[1])
        value = _value(metric, _score_table(flags.ravel(), scores.ravel(), unit))
        pooled = CATALOGUE.get(f"micro_{metric.text}")
        source = None if pooled is None else source_of_labels(pooled, units, **columns)
        return FloatWithInterval(value, source, why_none=why)
    if average == "samples":
        flags, scores, over, inner = flags.T, scores.T, units, None
    else:
        over, inner = None, units
    if average == "weighted":
        over = flags.sum(0) if units is None else units @ flags
        if not over.any():
            return FloatWithInterval(0.0, why_none=why)
    tables = (_score_table(flags[:, j], scores[:, j], inner) for j in range(flags.shape[1]))
    each = np.array([_value(metric, table) for table in tables])
    if average is None:
        return each
    if over is not None:
        each = np.where(over > 0, each, 0.0)
    source = None
    if average != "samples":
        source = source_of_labels(over_labels(average_of(metric, str(average))), units, **columns)
    return FloatWithInterval(float(np.average(each, weights=over)), source, why_none=why)


def _value(metric: Metric, table: ScoreTable) -> float:
    """The figure, or what scikit-learn says of a single class."""
    if metric.name == PRECISION.name:
        if not table.P:
            text = "No positive class found in y_true, recall is set to one for all thresholds"
            errors.warn("no-positives", text)
            return 0.0
    elif not table.P or not table.N:
        warn_undefined("Only one class is present in y_true. ROC AUC score is not defined in that case.")
        return math.nan
    return float(metric.of(table))


def _auc_of_many(
    truth: Array, scores: Array, labels: Values, multi_class: str, average: str | None, weight: Values
) -> FloatWithInterval | Array:
    """Every class against the rest, or every two classes."""
    check_value("multi_class", multi_class, ("ovo", "ovr"))
    classes, codes = _classes_of_columns(truth, scores, labels)
    if not np.allclose(1, scores.sum(1)):
        raise InputError(
            "no-probabilities-of-scores", "y_score should be probabilities, which sum up to 1.0 over classes"
        )
    names = tuple(map(str, classes.tolist()))
    check_value("average", average, (*(("micro",) if multi_class == "ovr" else ()), "macro", "weighted", None))
    if multi_class == "ovo":
        if average is None:
            raise NotImplementedError("average=None is not implemented for multi_class='ovo'; give 'macro'")
        if weight is not None:
            raise InputError("weighted-pairs", "sample_weight is not supported for every two classes; leave it out")
        return _auc_of_pairs(codes, scores, names, average)
    return _against_rest(AUC, codes, scores, names, average, weight)


def _against_rest(
    metric: Metric, codes: Array, scores: Array, names: tuple[str, ...], average: str | None, weight: Values
) -> FloatWithInterval | Array:
    """A figure of each class against the rest, or one made of them."""
    found = _over_labels(metric, codes[:, None] == np.arange(len(names)), scores, average, weight)
    if average in ("macro", "weighted") and isinstance(found, float):
        return FloatWithInterval(found, _of_classes(average_of(metric, average), codes, scores, names, weight))
    return found


def _of_classes(metric: Metric, codes: Array, scores: Array, names: tuple[str, ...], weight: Values) -> Source:
    unit = weights(weight, len(codes))
    return lambda: (metric, ClassScores.from_rows(scores, codes, names, unit))


def _auc_of_pairs(codes: Array, scores: Array, names: tuple[str, ...], average: str) -> FloatWithInterval:
    sizes = np.bincount(codes, minlength=len(names))
    areas, shares = [], []
    for a, b in itertools.combinations(np.flatnonzero(sizes), 2):
        rows = (codes == a) | (codes == b)
        both = [_value(AUC, _score_table(codes[rows] == one, scores[rows, one], None)) for one in (a, b)]
        areas.append(sum(both) / 2)
        shares.append((sizes[a] + sizes[b]) / len(codes))
    value = float(np.average(areas, weights=shares if average == "weighted" else None))
    if average == "macro":
        return FloatWithInterval(value, _of_classes(HAND_TILL, codes, scores, names, None))
    return FloatWithInterval(value, why_none="no interval is known of pairs that are weighted by their classes")


def _classes_of_columns(truth: Array, scores: Array, labels: Values) -> tuple[Array, Array]:
    """The classes that the columns of scores stand for, and the place of each row's among them."""
    if scores.ndim != 2:
        raise InputError(
            "no-column-for-each", f"`y_score` needs to be of shape `(n_samples, n_classes)`, not {scores.shape}"
        )
    same_length(y_true=truth, y_score=scores)
    if labels is None:
        classes, codes = encode(truth.reshape(-1))
        if len(classes) != scores.shape[1]:
            text = f"y_true has {len(classes)} classes and y_score {scores.shape[1]} columns; pass all classes as "
            raise InputError("classes-and-columns-of-scores", text, Pass("labels"))
        return classes, codes
    classes = flat("labels", labels)
    ordered = distinct("labels", classes)
    if len(ordered) != len(classes):
        raise InputError("repeated-labels", "Parameter 'labels' must be unique")
    if not np.array_equal(ordered, classes):
        raise InputError("unordered-labels-of-scores", "Parameter 'labels' must be ordered")
    if len(classes) != scores.shape[1]:
        raise InputError(
            "classes-and-columns-of-scores", f"labels has {len(classes)} classes and y_score {scores.shape[1]} columns"
        )
    return classes, codes_among(classes, *encode(truth.reshape(-1)))


def average_precision_score(
    y_true: Values,
    y_score: Values,
    *,
    average: Literal["micro", "macro", "samples", "weighted"] | None = "macro",
    pos_label: object = 1,
    sample_weight: Values = None,
) -> FloatWithInterval | Array:
    """Return the mean precision over the positives, walking down the ranking."""
    check_value("average", average, ("micro", "macro", "samples", "weighted", None))
    warn_of_indexes(y_true, y_score)
    truth = dense("y_true", y_true)
    (kind, _), sample_weight = _kind_and_codes(truth), _as_column(sample_weight)
    if kind == "binary":
        labels = distinct("y_true", truth).tolist() if truth.dtype.kind not in "biu" or pos_label != 1 else []
        if len(labels) == 2 and pos_label not in labels:
            raise InputError(
                "no-such-label-of-scores",
                Given("pos_label", pos_label),
                f" is not a valid label; it should be one of {labels}",
            )
        return _area(PRECISION, np.asarray(truth.reshape(-1) == pos_label), y_score, sample_weight)
    if kind not in ("multiclass", "multilabel-indicator"):
        raise InputError("not-two-classes-of-scores", f"{kind} format is not supported; give labels")
    if pos_label != 1:
        raise InputError("fixed-positive", f"pos_label is fixed to 1 for {kind} y_true; leave it out")
    scores = as_numbers("y_score", as_array("y_score", y_score))
    if kind == "multilabel-indicator":
        return _over_labels(PRECISION, truth == 1, scores, average, sample_weight)
    classes, codes = _classes_of_columns(truth, scores, None)
    return _against_rest(PRECISION, codes, scores, tuple(map(str, classes.tolist())), average, sample_weight)


def top_k_accuracy_score(
    y_true: Values,
    y_score: Values,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: Values = None,
    labels: Values = None,
    strict: bool = False,
) -> FloatWithInterval:
    """Return how often the true class is among the k highest scores.

    Of classes that tie scikit-learn puts the last one first; with ``strict`` the first one goes first, as in decisions.
    """
    warn_of_indexes(y_true, y_score)
    truth, scores = flat("y_true", y_true), as_numbers("y_score", as_array("y_score", y_score))
    kind = kind_of("y_true", truth)
    if kind == "binary" and labels is not None and len(labels) > 2:
        kind = "multiclass"
    if kind not in ("binary", "multiclass"):
        raise InputError("not-classes", f"y type must be 'binary' or 'multiclass', got {kind!r} instead")
    if kind == "binary":
        scores = _two_columns(scores)
        labels = distinct("y_true", truth) if labels is None else labels
        if len(labels) < 2:
            raise InputError(
                "classes-and-columns-of-scores", "there is one class in y_true; pass both with ", Pass("labels")
            )
    classes, codes = _classes_of_columns(truth, scores, labels)
    if not isinstance(k, int | np.integer) or k < 1:
        raise InputError("bad-k", Given("k", k), " is no whole number from 1 on; 2 is usual")
    if k >= len(classes):
        warn_undefined(f"'k' ({k}) is not below the number of classes ({len(classes)}), so that every row is a hit")
    weight, metric = weights(sample_weight, len(codes)), TOP_K.with_parameters(k=int(k))
    if kind == "binary":
        hit = (scores[:, 1] > scores[:, 0]) == codes if k == 1 else np.ones(len(codes), bool)
    elif strict:
        hit = metric.row_losses(codes, scores)
    else:  # from the last class to the first
        hit = metric.row_losses(len(classes) - 1 - codes, scores[:, ::-1])
    source = _of_classes(metric, codes, scores, tuple(map(str, classes.tolist())), weight)
    if normalize:
        return FloatWithInterval(float(np.average(hit, weights=weight)), source)
    total = float(len(hit) if weight is None else weight.sum())
    return FloatWithInterval(float(hit.sum() if weight is None else hit @ weight), source, lambda share: share * total)


def _two_columns(scores: Array) -> Array:
    """Scores of the second of two classes, which is decided above ½, or above 0 where they are no probabilities."""
    if scores.ndim == 2 and scores.shape[1] != 1:
        text = f"`y_true` is binary while y_score is 2d with {scores.shape[1]} classes; pass all classes as "
        raise InputError("classes-and-columns-of-scores", text, Pass("labels"))
    one = scores.reshape(-1)
    middle = 0.5 if one.min() >= 0 and one.max() <= 1 else 0
    return np.stack([np.full(len(one), float(middle)), one], 1)
