"""Losses of probabilities, and how far probabilities agree with frequencies."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated

import numpy as np

from stakes.metrics.declare import BINS, Metric, metric
from stakes.metrics.folds import Each, Finish, Fold, total
from stakes.metrics.reasons import BINNED, NO_LOSSES, NO_NEGATIVES, NO_POSITIVES, NO_PROBABILITIES, NO_ROWS
from stakes.tallies import ScoreTable, Steps
from stakes.tallies.arithmetic import Array, Number, as_float, divide, ratio
from stakes.tallies.losses import SQUARES, SURPRISE, Losses

NEEDS_PROBABILITIES = (NO_ROWS, NO_PROBABILITIES, BINNED)
_LOSES = (NO_ROWS, NO_PROBABILITIES, NO_LOSSES)


# ── losses ───────────────────────────────────────────────────────────────────────────────────────────────────────
DISTANCES = Losses(lambda p: 1.0 - p, lambda p: p)


def surprise_of_frequencies(sizes: Array) -> Array:
    """The mean log loss of giving everyone the class frequencies; the classes lie along the last axis."""
    shares = sizes / sizes.sum(-1, keepdims=True)
    return np.asarray(-np.where(shares > 0, shares * np.log(np.where(shares > 0, shares, 1.0)), 0.0).sum(-1))


def _squares_of_frequencies(sizes: Array) -> Array:
    return np.asarray(sizes.prod(-1) / sizes.sum(-1) ** 2)


def _distances_of_frequencies(sizes: Array) -> Array:
    return 2 * _squares_of_frequencies(sizes)


def _sum_of(losses: Losses, steps: Steps) -> Number:
    with np.errstate(divide="ignore", invalid="ignore"):  # log 0 is meant; where nothing lies there, it does not count
        positives = steps.positives * losses.of_positive(steps.scores)
        negatives = steps.negatives * losses.of_negative(steps.scores)
    found = total(positives + negatives)
    if not np.isnan(found).any():
        return found
    return total(np.where(steps.positives > 0, positives, 0.0) + np.where(steps.negatives > 0, negatives, 0.0))


_SUMS = {losses: partial(_sum_of, losses) for losses in (DISTANCES, SQUARES, SURPRISE)}
"""The sums of losses of a block: figures that share a loss add it up once."""


def _of_losses(losses: Losses, finish: Finish) -> Fold:
    """A figure of the sum of a loss, which is known for rows in bins as well."""
    return Fold(
        _SUMS[losses], lambda walked, table: finish(walked if table.grid is None else table.lost(losses), table)
    )


def _relative_to_frequencies(squares: Number, table: ScoreTable) -> Number:
    """Squared errors over those of giving everyone the prevalence."""
    return ratio(squares * as_float(table.total), as_float(table.P * table.N))


def mean_loss(loss: Callable[[Array, Array], Array], table: ScoreTable) -> Number:
    """The mean of what each row adds, from whether it is positive and from its probability."""
    columns = table.as_columns()
    scores = np.asarray(columns.scores, np.float64)
    paid = sum(
        np.where(columns.values[name] > 0, columns.values[name] * loss(np.full(len(scores), flag), scores), 0.0).sum(-1)
        for name, flag in (("positives", True), ("negatives", False))
    )
    return ratio(paid[()] if table.leading else float(paid), as_float(table.total))


def _entropy(table: ScoreTable) -> Number:
    """The log loss of giving everyone the prevalence, times n."""

    def term(count: Number) -> Number:
        if table.leading:
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(count > 0, -count * np.log(count / table.total), 0.0)
        return -float(count) * math.log(count / table.total) if count else 0.0

    return term(table.P) + term(table.N)


brier_score = metric(
    name="brier_score",
    loss=SQUARES,
    of_many="multiclass_brier_score",
    question="What is the mean squared distance of the probabilities from what happened?",
    formula="sum((p - y)**2 for p, y in rows) / n",
    better="lower",
    undefined=_LOSES,
    aliases=("brier", "brier_loss", "brier_score_loss"),
    swapped="brier_score",
    pitfall="With two classes the sum over both classes is twice this figure.",
    reference="Brier (1950), Monthly Weather Review 78",
    headline=True,
)(_of_losses(SQUARES, lambda loss, table: ratio(loss, table.total)))


normalised_brier_score = metric(
    name="normalised_brier_score",
    loss=SQUARES,
    relative_to=_squares_of_frequencies,
    question="What is left of the Brier score that the class frequencies alone would get? (below 1 is useful)",
    formula="sum((p - y)**2 for p, y in rows) / n / (P * N / n**2)",
    range=(0, math.inf),
    better="lower",
    undefined=(NO_POSITIVES, NO_NEGATIVES, *_LOSES),
    swapped="normalised_brier_score",
    laws=("brier_score == normalised_brier_score * prevalence * (1 - prevalence)",),
    pitfall="Compared with the frequency in these rows: at another prevalence it is another figure.",
    reference="Steyerberg et al. (2010), Epidemiology 21",
)(_of_losses(SQUARES, _relative_to_frequencies))


log_loss = metric(
    name="log_loss",
    loss=SURPRISE,
    of_many="multiclass_log_loss",
    question="How surprised is the model by what happened (natural logarithm)?",
    formula="-sum(log(p) if y else log(1 - p) for p, y in rows) / n",
    range=(0, math.inf),
    better="lower",
    undefined=_LOSES,
    aliases=("cross_entropy", "logarithmic_loss", "logloss", "nll"),
    swapped="log_loss",
    pitfall="A single certain and wrong probability makes it infinite; nothing is clipped.",
    reference="Good (1952), Journal of the Royal Statistical Society B 14",
    headline=True,
)(_of_losses(SURPRISE, lambda loss, table: ratio(loss, table.total)))


normalised_log_loss = metric(
    name="normalised_log_loss",
    loss=SURPRISE,
    relative_to=surprise_of_frequencies,
    question="What is left of the log loss that the class frequencies alone would get? (below 1 is useful)",
    formula="-sum(log(p) if y else log(1 - p) for p, y in rows) / -(P * log(P / n) + N * log(N / n))",
    range=(0, math.inf),
    better="lower",
    undefined=(NO_POSITIVES, NO_NEGATIVES, *_LOSES),
    aliases=("normalised_cross_entropy",),
    swapped="normalised_log_loss",
    pitfall="One certain and wrong probability makes it infinite; at another prevalence it is another figure.",
    reference="He et al. (2014), ADKDD",
)(_of_losses(SURPRISE, lambda loss, table: ratio(loss, _entropy(table))))


WEKA = "Witten, Frank & Hall (2011), Data Mining, chapter 5, as Weka prints them"
"""Where the errors of class probabilities come from."""

OF_THESE_ROWS = "Weka compares with the class frequencies of the training rows; here they are those of these rows."
"""What to know before such an error is compared with Weka's."""

mean_probability_error = metric(
    name="mean_probability_error",
    loss=DISTANCES,
    of_many="macro_mean_probability_error",
    question="How far are the probabilities from what happened, on average?",
    formula="sum(abs(p - y) for p, y in rows) / n",
    better="lower",
    undefined=NEEDS_PROBABILITIES,
    aliases=("weka_mae", "probability_mae"),
    swapped="mean_probability_error",
    pitfall="Saying 0 or 1 lowers it even where that is dishonest; the Brier score rewards honesty.",
    reference=WEKA,
)(Fold(_SUMS[DISTANCES], lambda loss, table: ratio(loss, table.total)))


root_mean_squared_probability_error = metric(
    name="root_mean_squared_probability_error",
    loss=SQUARES,
    root=True,
    of_many="multiclass_root_mean_squared_probability_error",
    question="How far are the probabilities from what happened, large errors counting more?",
    formula="sqrt(sum((p - y)**2 for p, y in rows) / n)",
    better="lower",
    undefined=_LOSES,
    aliases=("weka_rmse", "probability_rmse"),
    swapped="root_mean_squared_probability_error",
    pitfall="The root of the Brier score: roots of several samples have no simple mean.",
    reference=WEKA,
)(_of_losses(SQUARES, lambda loss, table: np.sqrt(ratio(loss, table.total))))


relative_probability_error = metric(
    name="relative_probability_error",
    loss=DISTANCES,
    relative_to=_distances_of_frequencies,
    of_many="multiclass_relative_probability_error",
    question="What is left of the mean error of the class frequencies alone? (below 1 is useful)",
    formula="sum(abs(p - y) for p, y in rows) / n / (2 * P * N / n**2)",
    range=(0, math.inf),
    better="lower",
    undefined=(NO_POSITIVES, NO_NEGATIVES, *NEEDS_PROBABILITIES),
    aliases=("weka_rae", "probability_rae"),
    swapped="relative_probability_error",
    pitfall=OF_THESE_ROWS,
    reference=WEKA,
)(Fold(_SUMS[DISTANCES], lambda loss, table: ratio(loss * as_float(table.total), 2 * as_float(table.P * table.N))))


root_relative_squared_probability_error = metric(
    name="root_relative_squared_probability_error",
    loss=SQUARES,
    relative_to=_squares_of_frequencies,
    root=True,
    of_many="multiclass_root_relative_squared_probability_error",
    question="What is left of the root mean squared error of the class frequencies alone? (below 1 is useful)",
    formula="sqrt(sum((p - y)**2 for p, y in rows) / n / (P * N / n**2))",
    range=(0, math.inf),
    better="lower",
    undefined=(NO_POSITIVES, NO_NEGATIVES, *_LOSES),
    aliases=("weka_rrse", "probability_rrse"),
    swapped="root_relative_squared_probability_error",
    pitfall=OF_THESE_ROWS,
    reference=WEKA,
)(_of_losses(SQUARES, lambda loss, table: np.sqrt(_relative_to_frequencies(loss, table))))


NOISE = "noise alone makes it larger than 0, so resampling would be biased"
"""Why figures of calibration have no interval."""


# ── calibration in bins ──────────────────────────────────────────────────────────────────────────────────────────
def _by_width(steps: Steps, *, bins: Annotated[int, BINS] = 10) -> Array:
    """Positives, rows and the sum of probabilities in bins of equal width, each with its lower edge."""
    upwards = steps.scores[::-1]
    edges = np.arange(bins, -1, -1) / bins
    edges[0], edges[-1] = np.inf, -np.inf
    cuts = len(upwards) - np.searchsorted(upwards, edges, side="left")
    return _sums_between(steps, cuts)


def _by_mass(steps: Steps, *, bins: Annotated[int, BINS] = 10) -> Array:
    """The same in bins of equally many rows; rows that tie stay together, in the bin of the first of them."""
    if not steps.single:
        sums = np.stack([_by_mass(part, bins=bins) for part in _single(steps)], axis=1)
        return sums.reshape(3, *steps.rows.shape[:-1], bins)
    edges = np.arange(bins) * (float(steps.P + steps.N) / bins)
    cuts = np.searchsorted(steps.rows_before, edges, side="left")
    return _sums_between(steps, np.append(cuts, len(steps.scores)))


def _single(steps: Steps) -> Iterator[Steps]:
    """The steps of each table along the leading axes."""
    for place in np.ndindex(steps.rows.shape[:-1]):
        columns = (steps.positives, steps.negatives, steps.tp, steps.fp, steps.P, steps.N)
        yield Steps(lambda: steps.scores, *(column[place] for column in columns))


def _sums_between(steps: Steps, cuts: Array) -> Array:
    """Add up between cut and cut: shape (3, …, bins)."""
    sums = np.zeros((3, *steps.rows.shape[:-1], len(cuts) - 1))
    for b in np.flatnonzero(np.diff(cuts)):
        here = slice(cuts[b], cuts[b + 1])
        rows = steps.rows[..., here]
        sums[..., b] = [part.sum(-1) for part in (steps.positives[..., here], rows, rows * steps.scores[here])]
    return sums


BETWEEN_CUTS = (_by_width, _by_mass)
"""What adds up positives, rows and probabilities between cuts that do not depend on which rows are positive."""


def _mean_gap(sums: Array, table: ScoreTable) -> Number:
    positives, _, probabilities = sums
    return ratio(np.abs(positives - probabilities).sum(-1)[()], as_float(table.total))


def _largest_gap(sums: Array, table: ScoreTable) -> Number:
    positives, rows, probabilities = sums
    gaps = divide(np.abs(positives - probabilities), rows)
    return gaps.max(-1)[()]


def _mean_squared_gap(sums: Array, table: ScoreTable) -> Number:
    positives, rows, probabilities = sums
    return ratio(divide((positives - probabilities) ** 2, rows, 0.0).sum(-1)[()], as_float(table.total))


def _calibration_error(
    name: str, spread: str, bins: str, each: Each, finish: Finish, **facts: str | tuple[str, ...]
) -> Metric:
    return metric(
        name=name,
        no_interval=NOISE,
        question=f"How far are the probabilities from the frequencies {spread}, in {bins}?",
        better="lower",
        undefined=NEEDS_PROBABILITIES,
        pitfall="A binned estimate: it depends on the bins, and noise makes it larger than 0 even for honest models.",
        **facts,
    )(Fold(each, finish))


ece = _calibration_error(
    "ece",
    "on average",
    "bins of equal width",
    _by_width,
    _mean_gap,
    formula="sum(abs(sum(y - p for p, y in b)) for b in bins_of_equal_width(bins)) / n",
    aliases=("expected_calibration_error",),
    reference="Naeini et al. (2015), AAAI",
)
mce = _calibration_error(
    "mce",
    "at most",
    "bins of equal width",
    _by_width,
    _largest_gap,
    formula="max(abs(sum(y - p for p, y in b)) / len(b) for b in bins_of_equal_width(bins))",
    aliases=("maximum_calibration_error",),
    reference="Naeini et al. (2015), AAAI",
)
ece_equal_mass = _calibration_error(
    "ece_equal_mass",
    "on average",
    "bins of equally many rows",
    _by_mass,
    _mean_gap,
    formula="sum(abs(sum(y - p for p, y in b)) for b in bins_of_equal_mass(bins)) / n",
    aliases=("adaptive_calibration_error",),
    reference="Nguyen & O'Connor (2015), EMNLP",
)
mce_equal_mass = _calibration_error(
    "mce_equal_mass",
    "at most",
    "bins of equally many rows",
    _by_mass,
    _largest_gap,
    formula="max(abs(sum(y - p for p, y in b)) / len(b) for b in bins_of_equal_mass(bins))",
    reference="Naeini et al. (2015), AAAI; Nguyen & O'Connor (2015), EMNLP",
)
quadratic_calibration_error = _calibration_error(
    "quadratic_calibration_error",
    "on average, squared",
    "bins of equal width",
    _by_width,
    _mean_squared_gap,
    formula="sum(sum(y - p for p, y in b)**2 / len(b) for b in bins_of_equal_width(bins)) / n",
    aliases=("squared_calibration_error",),
    reference="Murphy (1973), Journal of Applied Meteorology 12; Kumar, Liang & Ma (2019), NeurIPS",
)
root_calibration_error = _calibration_error(
    "root_calibration_error",
    "on average, large gaps counting more",
    "bins of equal width",
    _by_width,
    lambda sums, table: np.sqrt(_mean_squared_gap(sums, table)),
    formula="sqrt(sum(sum(y - p for p, y in b)**2 / len(b) for b in bins_of_equal_width(bins)) / n)",
    aliases=("rmsce", "l2_calibration_error", "root_mean_squared_calibration_error"),
    reference="Kumar, Liang & Ma (2019), NeurIPS",
)
