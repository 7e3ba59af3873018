"""Figures of decisions, by scikit-learn's names and conventions."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, Protocol

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass
from stakes.metrics import Metric, find, measure
from stakes.metrics.declare import CATALOGUE
from stakes.metrics.many import average_of
from stakes.metrics.multilabel import over_labels
from stakes.sklearn.labels import source_of_labels
from stakes.sklearn.result import FloatWithInterval, Source, warn_undefined
from stakes.sklearn.targets import Decisions, SeveralLabels, as_array, negative_weights, read_decisions
from stakes.tallies import Confusion, Tally
from stakes.tallies.arithmetic import Array, Number, Values, divide, exact, is_real, ratio

Average = Literal["binary", "micro", "macro", "weighted", "samples"] | None
ZeroDivision = float | Literal["warn"]

ACCURACY, BALANCED, MCC, KAPPA = map(find, ("accuracy", "balanced_accuracy", "mcc", "kappa"))
PRECISION, RECALL, F1, JACCARD = map(find, ("precision", "recall", "f1", "jaccard"))
SUBSET, HAMMING = map(find, ("subset_accuracy", "hamming_loss"))
RATIOS = tuple(map(find, ("positive_likelihood_ratio", "negative_likelihood_ratio")))

_MANY = "there are too many labels"
_SEVERAL = "no interval is known of some of the labels, or of this mean over rows"


# ── one figure of all decisions ──────────────────────────────────────────────────────────────────────────────────
def accuracy_score(
    y_true: Values, y_pred: Values, *, normalize: bool = True, sample_weight: Values = None
) -> FloatWithInterval:
    """Return the share of right decisions; of several labels per row, of rows that are right in all of them."""
    return _share_right(read_decisions(y_true, y_pred, sample_weight), normalize=normalize)


def zero_one_loss(
    y_true: Values, y_pred: Values, *, normalize: bool = True, sample_weight: Values = None
) -> FloatWithInterval:
    """Return the share of wrong decisions."""
    return _share_right(read_decisions(y_true, y_pred, sample_weight), wrong=True, normalize=normalize)


def _share_right(seen: Decisions | SeveralLabels, *, wrong: bool = False, normalize: bool = True) -> FloatWithInterval:
    """The share of rows that are right, or wrong; otherwise their number."""
    if isinstance(seen, SeveralLabels):
        right = np.asarray(~seen.differ.any(1))
        unit = np.ones(len(right), int) if seen.weight is None else seen.weight
        hits, total = (unit @ right).item(), unit.sum().item()
    else:
        hits, total = seen.margins[0].sum().item(), seen.total
    count = total - hits if wrong else hits
    value = float(ratio(*exact(np.array([count, total])))) if normalize else float(count)

    def scale(share: float) -> float:
        return (1 - share if wrong else share) * (1 if normalize else total)

    if isinstance(seen, SeveralLabels):
        return FloatWithInterval(value, _of_flags_only(SUBSET, seen), scale)
    return FloatWithInterval(value, _of(ACCURACY, seen), scale)


def _of_labels(metric: Metric, seen: SeveralLabels) -> Source:
    return source_of_labels(metric, seen.weight, truth=seen.truth, decided=seen.decided)


def _of_flags_only(metric: Metric, seen: SeveralLabels) -> Source:
    """The same of a figure that depends on where matrices differ, which has to be where their flags do."""

    def source() -> tuple[Metric, Tally]:
        if (seen.differ != (seen.truth ^ seen.decided)).any():
            raise InputError(
                "not-flags", "y_true and y_pred hold other values than 0 and 1; give flags for an interval"
            )
        return _of_labels(metric, seen)()

    return source


def _of(metric: Metric, seen: Decisions) -> Source:
    return lambda: (metric, seen.table)


def hamming_loss(y_true: Values, y_pred: Values, *, sample_weight: Values = None) -> FloatWithInterval:
    """Return the share of labels that are wrong."""
    seen = read_decisions(y_true, y_pred, sample_weight)
    if isinstance(seen, Decisions):
        return _share_right(seen, wrong=True)
    wrong = seen.differ.sum(1)
    counted = wrong.sum() if seen.weight is None else wrong @ seen.weight
    total = len(wrong) if seen.weight is None else seen.weight.sum()
    return FloatWithInterval(float(counted) / float(total * seen.truth.shape[1]), _of_flags_only(HAMMING, seen))


def _single(y_true: Values, y_pred: Values, sample_weight: Values = None) -> Decisions:
    """One label for each row, and nothing else."""
    seen = read_decisions(y_true, y_pred, sample_weight)
    if isinstance(seen, SeveralLabels):
        raise InputError(
            "several-labels-of-decisions", "multilabel-indicator is not supported here; give one label for each row"
        )
    return seen


def balanced_accuracy_score(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, adjusted: bool = False, strict: bool = False
) -> FloatWithInterval:
    """Return the mean recall of the classes; scikit-learn leaves out a class without rows, ``strict`` does not."""
    seen = _single(y_true, y_pred, sample_weight)
    hits, true, _ = seen.margins
    classes = len(true) if strict else int(np.count_nonzero(true))
    chance = 1 / classes
    scale = partial(_beyond, chance=chance) if adjusted else float
    if classes == len(true) > 1 and seen.counts is not None:
        return FloatWithInterval(scale(float(BALANCED.of(seen.table))), _of(BALANCED, seen), scale)
    if not strict and classes < len(true):
        errors.warn("decided-only", "y_pred contains classes not in y_true")
    value = math.nan if strict and classes < len(true) else float((hits[true != 0] / true[true != 0]).mean())
    source = _of(BALANCED, seen) if len(true) > 1 and seen.counts is not None else None
    return FloatWithInterval(scale(value), source, scale, _MANY if len(true) > 1 else "there is one class")


def _beyond(value: float, chance: float) -> float:
    """A figure rescaled so that chance is 0 and the best is 1; undefined for one class."""
    if chance == 1:
        return math.nan if value == chance else -math.inf
    return (value - chance) / (1 - chance)


def matthews_corrcoef(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, strict: bool = False
) -> FloatWithInterval:
    """Return Matthews' correlation; a constant column gives 0, with ``strict`` NaN."""
    seen = _single(y_true, y_pred, sample_weight)
    value = seen.beyond_chance(squared=True) if seen.counts is None else float(MCC.of(seen.table))
    source = None if seen.counts is None else _of(MCC, seen)
    return FloatWithInterval(0.0 if math.isnan(value) and not strict else value, source, why_none=_MANY)


def cohen_kappa_score(
    y1: Values,
    y2: Values,
    *,
    labels: Values = None,
    weights: Literal["linear", "quadratic"] | None = None,
    sample_weight: Values = None,
    replace_undefined_by: float = math.nan,
) -> FloatWithInterval:
    """Return Cohen's kappa: the agreement of two raters beyond chance; ``weights`` make far disagreements worse."""
    check_value("weights", weights, (None, "linear", "quadratic"))
    if not is_real(replace_undefined_by) or abs(replace_undefined_by) > 1:
        words = " is neither NaN nor from -1 to 1; leave it out for NaN"
        raise InputError("bad-stand-in", Given("replace_undefined_by", replace_undefined_by), words)
    seen = _among(_single(y1, y2, sample_weight), labels)
    if seen.counts is None and weights is None:
        return FloatWithInterval(seen.beyond_chance(squared=False), why_none=_MANY)
    metric = KAPPA if weights is None else find(f"{weights}_kappa")
    value = float(metric.of(seen.table)) if seen.total else math.nan
    if math.isnan(value):
        warn_undefined(
            f"cohen_kappa_score is undefined, because there is one label; it is set to {replace_undefined_by}"
        )
        value = replace_undefined_by
    return FloatWithInterval(value, _of(metric, seen) if seen.total else None, why_none="no row has these labels")


def class_likelihood_ratios(
    y_true: Values,
    y_pred: Values,
    *,
    labels: Values = None,
    sample_weight: Values = None,
    replace_undefined_by: float | dict[str, float] = math.nan,
    strict: bool = False,
) -> tuple[FloatWithInterval, FloatWithInterval]:
    """Return by how much a positive and a negative decision change the odds; with ``strict`` x/0 is infinite."""
    instead = replace_undefined_by
    stand_ins = [instead.get(key, math.nan) for key in ("LR+", "LR-")] if isinstance(instead, dict) else [instead] * 2
    if isinstance(instead, dict) and set(instead) != {"LR+", "LR-"}:
        raise InputError("bad-stand-in", f"replace_undefined_by has the keys {sorted(instead)}; give LR+ and LR-")
    for stand_in, (low, high) in zip(stand_ins, ((1, math.inf), (0, 1)), strict=True):
        if not isinstance(stand_in, int | float) or not (math.isnan(stand_in) or low <= stand_in <= high):
            raise InputError(
                "bad-stand-in", Given("replace_undefined_by", instead), " is out of range; give a ratio, or NaN"
            )
    seen = _among(_single(y_true, y_pred, sample_weight), labels)
    if len(seen.labels) != 2:
        raise InputError(
            "not-two-classes-of-decisions",
            f"there are {len(seen.labels)} classes, and ratios are of binary ones; give two",
        )
    found = [_likelihood_ratio(*one, seen, strict) for one in zip(RATIOS, stand_ins, strict=True)]
    return found[0], found[1]


def _likelihood_ratio(metric: Metric, instead: float, seen: Decisions, strict: bool) -> FloatWithInterval:
    value = float(metric.of(seen.table))
    if not strict and not math.isfinite(value):
        warn_undefined(f"{metric.name} is undefined and set to {instead}")
        value = instead if seen.margins[1][1] else math.nan
    return FloatWithInterval(value, _of(metric, seen))


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────
def confusion_matrix(
    y_true: Values,
    y_pred: Values,
    *,
    labels: Values = None,
    sample_weight: Values = None,
    normalize: Literal["true", "pred", "all"] | None = None,
) -> Array:
    """Return how often each decision met each truth: rows are the truth."""
    check_value("normalize", normalize, (None, "true", "pred", "all"))
    if labels is not None and np.size(labels) == 0:
        raise InputError("no-labels-of-decisions", "labels is empty; it should contain at least one label")
    if labels is not None and not len(as_array("y_true", y_true)) and not len(as_array("y_pred", y_pred)):
        return np.zeros((np.size(labels),) * 2, int)
    seen = _among(_single(y_true, y_pred, sample_weight), labels)
    table = seen.counts
    if table is None:
        assert seen.codes is not None
        truth, decided, weight = seen.codes
        size = len(seen.labels)
        table = np.bincount(truth * size + decided, weight, size * size).reshape(size, size)
    if table.shape == (1, 1):
        errors.warn("one-label", "there is a single label; pass all with ", Pass("labels"))
    if normalize is None:
        return np.array(table)
    axes = {"true": 1, "pred": 0, "all": None}
    return np.nan_to_num(divide(table, table.sum(axis=axes[normalize], keepdims=True)))


def _among(seen: Decisions, labels: Values) -> Decisions:
    """The same counts of some labels, in their order."""
    if labels is None:
        return seen
    wanted = np.asarray(labels)
    if not np.isin(seen.labels[seen.margins[1] > 0], wanted).any():
        raise InputError(
            "labels-not-there", "none of labels is in y_true; at least one label specified must be in y_true"
        )
    if seen.counts is None:
        raise InputError(
            "too-many-labels", f"there are {len(seen.labels):,} labels; group them, or leave out ", Pass("labels")
        )
    places = _places(seen, wanted)
    last = {label: place for place, label in enumerate(wanted.tolist())}  # of a label that is named twice
    places[[last[label] != place for place, label in enumerate(wanted.tolist())]] = len(seen.labels)
    padded = [
        None if one is None else np.pad(one, (0, 1))[np.ix_(places, places)] for one in (seen.counts, seen.squares)
    ]
    return Decisions(wanted, padded[0], padded[1])


def _places(seen: Decisions | SeveralLabels, wanted: Array) -> Array:
    """Where the wanted labels stand, past the end for those that do not occur."""
    order = {label: place for place, label in enumerate(seen.labels.tolist())}
    return np.array([order.get(label, len(order)) for label in wanted.tolist()], int)


def multilabel_confusion_matrix(
    y_true: Values, y_pred: Values, *, sample_weight: Values = None, labels: Values = None, samplewise: bool = False
) -> Array:
    """Return the table of each label against the rest, or of each row over its labels."""
    rest = label_tables(read_decisions(y_true, y_pred, sample_weight), labels, samplewise)
    return np.array(rest.counts)


def label_tables(seen: Decisions | SeveralLabels, labels: Values, samplewise: bool = False) -> Confusion:
    """Along a leading axis, each of the labels against all other rows, or each row over its labels."""
    wanted = None if labels is None else np.asarray(labels)
    if isinstance(seen, SeveralLabels):
        return _of_flags(seen, wanted, samplewise)
    if samplewise:
        raise InputError("rows-of-one-label", "rows have one label each; samplewise figures need several labels")
    hits, true, decided = seen.margins
    if wanted is not None:
        places = _places(seen, wanted)
        hits, true, decided = (np.append(one, one.dtype.type(0))[places] for one in (hits, true, decided))
    return _tables([hits, true, decided], seen.total)


def _of_flags(seen: SeveralLabels, wanted: Array | None, samplewise: bool) -> Confusion:
    truth, decided, weight = seen.truth, seen.decided, seen.weight
    if wanted is not None:
        if len(wanted) and (wanted.max() >= truth.shape[1] or wanted.min() < 0):
            raise InputError(
                "no-such-label-of-decisions", f"all labels must be in [0, {truth.shape[1]}), the columns of y_true"
            )
        truth, decided = (flags[:, wanted.astype(int)] for flags in (truth, decided))
    columns = (truth & decided, truth, decided)
    if not samplewise:
        unit = np.ones(len(truth), int) if weight is None else weight
        return _tables([unit @ flags for flags in columns], unit.sum())
    counts = [flags.sum(1) for flags in columns]
    if weight is None:
        return _tables(counts, truth.shape[1])
    return _tables([weight * count for count in counts], weight * truth.shape[1])


def _tables(counts: Sequence[Array], total: Number) -> Confusion:
    """Tables from how often labels are hit, true and decided."""
    hits, true, decided = counts
    cells = {"tp": hits, "fn": true - hits, "fp": decided - hits, "tn": total - true - decided + hits}
    if any(cell.dtype.kind == "f" for cell in cells.values()):  # differences of sums of weights leave crumbs
        least = 1e-12 * np.abs(total)
        cells = {name: np.where(np.abs(cell) > least, cell, 0.0) for name, cell in cells.items()}
        if any((cell < 0).any() for cell in cells.values()):
            raise negative_weights()
    return Confusion.two_class(**cells)


# ── figures of each label ────────────────────────────────────────────────────────────────────────────────────────
class AverageableFunction(Protocol):
    """A figure of each label, of which one can be made in several ways."""

    __name__: str
    __qualname__: str

    def __call__(
        self,
        y_true: Values,
        y_pred: Values,
        *,
        labels: Values = None,
        pos_label: object = 1,
        average: Average = "binary",
        sample_weight: Values = None,
        zero_division: ZeroDivision = "warn",
        strict: bool = False,
    ) -> FloatWithInterval | Array:
        """Return the figure of the positive label, an average over labels, or an array of all."""


def _function_of(metric: Metric, name: str, words: str) -> AverageableFunction:
    """The function of a figure that is asked in the same words as all of its kind."""

    def function(
        y_true: Values,
        y_pred: Values,
        *,
        labels: Values = None,
        pos_label: object = 1,
        average: Average = "binary",
        sample_weight: Values = None,
        zero_division: ZeroDivision = "warn",
        strict: bool = False,
    ) -> FloatWithInterval | Array:
        seen = read_decisions(y_true, y_pred, sample_weight)
        return rate(metric, seen, labels, pos_label, average, zero_division, strict)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = words
    return function


precision_score = _function_of(PRECISION, "precision_score", "Return how often a positive decision is right.")
recall_score = _function_of(RECALL, "recall_score", "Return what share of the positives is found.")
f1_score = _function_of(F1, "f1_score", "Return the harmonic mean of precision and recall.")
jaccard_score = _function_of(
    JACCARD, "jaccard_score", "Return what truth and decisions have in common, of all that is in either."
)


def fbeta_score(
    y_true: Values,
    y_pred: Values,
    *,
    beta: float,
    labels: Values = None,
    pos_label: object = 1,
    average: Average = "binary",
    sample_weight: Values = None,
    zero_division: ZeroDivision = "warn",
    strict: bool = False,
) -> FloatWithInterval | Array:
    """Return the mean of precision and recall in which recall counts ``beta`` times as much."""
    seen = read_decisions(y_true, y_pred, sample_weight)
    return rate(_f(beta), seen, labels, pos_label, average, zero_division, strict)


def _f(beta: float) -> Metric:
    """Of beta 0 precision is left, and of an infinite one recall."""
    if not isinstance(beta, int | float | np.number) or not beta >= 0:
        raise InputError("bad-beta", Given("beta", beta), " is no number from 0 on; 1 is usual")
    if beta in (0, 1, math.inf):
        return {0: PRECISION, 1: F1, math.inf: RECALL}[beta]
    return find("f_beta").with_parameters(beta=float(beta))


def precision_recall_fscore_support(
    y_true: Values,
    y_pred: Values,
    *,
    beta: float = 1.0,
    labels: Values = None,
    pos_label: object = 1,
    average: Average = None,
    warn_for: Sequence[str] = ("precision", "recall", "f-score"),
    sample_weight: Values = None,
    zero_division: ZeroDivision = "warn",
    strict: bool = False,
) -> tuple[FloatWithInterval | Array, FloatWithInterval | Array, FloatWithInterval | Array, Array | None]:
    """Return precision, recall, their mean, and (of each label) how many rows there are."""
    seen = read_decisions(y_true, y_pred, sample_weight)
    how = (labels, pos_label, average, zero_division, strict)
    found = [
        rate(metric, seen, *how, warns=name in warn_for)
        for metric, name in zip((PRECISION, RECALL, _f(beta)), ("precision", "recall", "f-score"), strict=True)
    ]
    support = None if average is not None else label_tables(seen, labels).counts[:, 1].sum(-1)
    return found[0], found[1], found[2], support


def rate(
    metric: Metric,
    seen: Decisions | SeveralLabels,
    labels: Values,
    pos_label: object,
    average: Average,
    zero_division: ZeroDivision,
    strict: bool,
    warns: bool = True,
) -> FloatWithInterval | Array:
    """A figure of each label, or one figure made of them."""
    check_value("average", average, ("binary", "micro", "macro", "weighted", "samples", None))
    instead = _stand_in(zero_division)
    say = partial(_say_undefined, metric, average, warns and not strict and zero_division == "warn")
    if average == "binary":
        table = _positive_table(seen, pos_label)
        return _one(metric, table, instead, strict, say)
    if pos_label not in (None, 1):
        parts = (Given("pos_label", pos_label), " is ignored when ", Given("average", average), "; leave it out")
        errors.warn("ignored-label", *parts)
    rest = label_tables(seen, labels, average == "samples")
    if average == "micro":
        value = _one(metric, rest.pooled(), instead, strict, say)
        return FloatWithInterval(value, *_interval_of(metric, "micro", seen, labels))
    each = np.asarray(metric.of(rest), np.float64)
    undefined = np.isnan(each)
    if undefined.any():
        say(one=len(each) == 1)
        each = each if strict else np.where(undefined, instead, each)
    if average is None:
        return each
    return FloatWithInterval(_mean(each, rest, seen, average, strict), *_interval_of(metric, average, seen, labels))


def _mean(each: Array, rest: Confusion, seen: Decisions | SeveralLabels, average: Average, strict: bool) -> float:
    """The mean over the labels; without those that are undefined, unless these shall count."""
    weight = rest.counts[:, 1].sum(-1) if average == "weighted" else None
    if average == "samples" and isinstance(seen, SeveralLabels):
        weight = seen.weight
    if weight is not None and not weight.any():
        weight = None
    known = np.ones(len(each), bool) if strict else ~np.isnan(each)
    if weight is not None and strict:
        known = weight > 0
    if not known.any() or (weight is not None and not weight[known].any()):
        return float(np.mean(each)) if len(each) else math.nan
    return float(np.average(each[known], weights=None if weight is None else weight[known]))


def _one(metric: Metric, table: Confusion, instead: float, strict: bool, say: Callable[..., None]) -> FloatWithInterval:
    value = float(metric.of(table))
    if math.isnan(value) and not strict:
        say(one=True)
        value = instead
    return FloatWithInterval(value, lambda: (metric, table))


def _positive_table(seen: Decisions | SeveralLabels, pos_label: object) -> Confusion:
    """Two classes, one of which is positive."""
    if isinstance(seen, SeveralLabels) or len(seen.labels) > 2:
        kind, ways = ("multiclass", "") if isinstance(seen, Decisions) else ("multilabel-indicator", ", 'samples'")
        others = f"; give another average: None, 'micro', 'macro', 'weighted'{ways}"
        raise InputError("not-two-classes-of-decisions", f"Target is {kind} but ", Given("average", "binary"), others)
    labels = seen.labels.tolist()
    if pos_label not in labels:
        if len(labels) == 2:
            raise InputError(
                "no-such-label-of-decisions",
                Given("pos_label", pos_label),
                f" is not a valid label; it should be one of {labels}",
            )
        return _tables([np.zeros((), one.dtype) for one in seen.margins], seen.total)
    table, name = seen.table, seen.names[labels.index(pos_label)]
    assert isinstance(table, Confusion)
    return table if table.positive == name else table.called(name)


def _interval_of(
    metric: Metric, average: Average, seen: Decisions | SeveralLabels, labels: Values
) -> tuple[Source | None, None, str]:
    """Where the interval of an average over labels comes from, if it is known."""
    if isinstance(seen, SeveralLabels):
        if average in ("micro", "macro", "weighted") and labels is None:
            return _of_labels(over_labels(average_of(metric, average)), seen), None, ""
        samples = None if labels is not None or metric.parameters else CATALOGUE.get(f"samples_{metric.name}")
        return (None if samples is None else _of_labels(samples, seen)), None, _SEVERAL
    if seen.counts is None or average not in ("micro", "macro", "weighted"):
        return None, None, _MANY
    places = None if labels is None else _places(seen, np.asarray(labels))
    if places is not None and (places >= len(seen.labels)).any():
        return None, None, "a label has no rows"
    declared = average_of(metric, average)
    if places is not None and sorted(places) != list(range(len(seen.labels))):
        declared = replace(declared, function=partial(_average_of_some, base=metric, how=average, places=places))
    return (lambda: (declared, seen.table)), None, ""


def _average_of_some(c: Confusion, *, base: Metric, how: str, places: Array, **_: float) -> Number:
    """The average over some of the classes; the parameters are those of the base."""
    rest = c.against_rest()
    some = rest.with_counts(rest.counts[..., places, :, :])
    if how == "micro":
        return measure([base], some.pooled())[0]
    each = np.asarray(measure([base], some)[0])
    if how == "macro":
        return each.mean(-1)[()]
    sizes = some.counts[..., 1, :].sum(-1)
    return ratio((each * sizes).sum(-1)[()], sizes.sum(-1)[()])


def _stand_in(zero_division: ZeroDivision) -> float:
    """What stands for a figure without a value."""
    if isinstance(zero_division, str):
        check_value("zero_division", zero_division, ("warn",))
        return 0.0
    if zero_division in (0, 1) or math.isnan(zero_division):
        return float(zero_division)
    raise InputError("bad-stand-in", Given("zero_division", zero_division), " is not known; give 0, 1, NaN or 'warn'")


_LACKING = {
    "precision": ("Precision", "predicted"),
    "recall": ("Recall", "true"),
    "jaccard": ("Jaccard", "true or predicted"),
}


def _say_undefined(metric: Metric, average: Average, warns: bool, *, one: bool) -> None:
    """Warn in scikit-learn's words, by which users filter warnings."""
    if warns:
        name, lacking = _LACKING.get(metric.name, ("F-score", "true nor predicted"))
        of, over = ("label", "sample") if average == "samples" else ("sample", "label")
        where = "due to" if one else f"in {over}s with"
        text = f"{name} is ill-defined and being set to 0.0 {where} no {lacking} {of}s."
        warn_undefined(f"{text} Use `zero_division` parameter to control this behavior.")


def check_value(name: str, value: object, known: Sequence[object]) -> None:
    """Refuse a word that an option does not have."""
    if not any(value is one or (isinstance(one, str) and value == one) for one in known):
        raise InputError("unknown-value-of-decisions", Given(name, value), f" is not known; give one of {list(known)}")
