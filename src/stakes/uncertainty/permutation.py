"""Could the figure be chance? Labels are shuffled, and the figure is compared with what comes out then.

Shuffled figures are sampled from the tally where its law is known, else row by row. Two classes need no sampling: given
its margins a table has one free cell, so every table can be listed.
"""

import bisect
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations

import numpy as np

from stakes import errors
from stakes.engines import progress
from stakes.errors import InputError
from stakes.language.narrated import Narrated
from stakes.metrics import Metric, ranking
from stakes.metrics.folds import Fold, fold_all
from stakes.metrics.many import ROW_LOSSES, Average, mean_over_classes
from stakes.metrics.prior import base_of
from stakes.metrics.probability import BETWEEN_CUTS
from stakes.metrics.ranking import twice_wins
from stakes.records import Count, Record, Share
from stakes.results import Plottable, Reportable
from stakes.tallies import ClassScores, Confusion, ErrorSums, JointCounts, ScoreTable, Steps, Tally
from stakes.tallies.arithmetic import Array, Number
from stakes.tallies.checks import check_whole
from stakes.tallies.columns import Columns
from stakes.tallies.error_sums import ErrorRows
from stakes.tallies.error_terms import TERMS, terms_of
from stakes.tallies.losses import Losses
from stakes.uncertainty.numbers import sums_at, variation_about_mean
from stakes.uncertainty.scores import corrects_losses

QUESTION = "Do the predictions say anything about the truth, or could the figure be chance?"

_CLOSE = 1e-12
"""Figures this close are equal: rounding must not decide which one is better."""

_TINY = 1e-300

Again = Callable[[np.random.Generator], Tally]
"""Shuffles rows that were kept, and counts them."""

Law = Callable[[int, np.random.Generator], tuple[Array, str]]
"""Samples the figure of this many shuffles from counts beyond the tally, and says how."""

_CELLS = 1 << 21
"""Cells of tables that are sampled at a time."""

_COST_OF_A_DRAW = 10
"""Sampling a count takes about as long as shuffling this many rows."""

_FEW_AT_A_TIME = 100
"""Sampling a cell of fewer tables than this at a time does not pay."""

_MOST_ROWS = 10**9
"""NumPy samples no hypergeometric counts from more rows."""

_MOST_SINGLE = 1 << 11
"""More positives than this are sampled part by part of the ranking."""

PARTS_OF_RANKING = 128

_MOST_LISTED = 1 << 22
"""Most labels, over all orders, that are listed: a table of some megabytes."""

_FEW_ORDERS = 10_000
"""Up to this many orders of the truth are all counted."""

_BLOCK = 1 << 16
_MOST_TABLES = 1 << 27
"""More tables than this, from some 10¹³ rows on, take minutes."""

_PLAIN = ("one", "truth", "truth2", "error", "square", "cross", "away")
"""Terms of predicted numbers (``tallies/error_variation.py``) whose sums under a shuffle are known."""

_FEWEST_SUMMED, _HEAVIEST = 20_000, 0.1
"""With fewer rows, or fourth moments this large for their number, a sum is not near enough to a gamma."""

_HARDLY_SKEWED = 1e-6

_UNDERFLOW = 760.0
"""Tables e⁷⁶⁰ times rarer than the most likely one have a probability that no float holds."""


@dataclass(frozen=True, eq=False, repr=False)
class PermutationTest(
    Record,
    Narrated,
    Plottable,
    Reportable,
    stakes="permutation test",
    shown="metric value p_value permutations method question findings null dropped prior?",
):
    """A figure, what it is when labels are shuffled, and how often that is as good or better.

    ``p_value`` is (1 + as good or better) / (1 + permutations), so it is never 0, or exact where ``null`` is None; an
    exact one that no float holds is given as the smallest that does. ``dropped`` rows lacked a value. ``prior`` are the
    class frequencies that the figure is about, where those of the rows are others.
    """

    metric: str
    value: float
    p_value: Share
    null: Array | None
    permutations: Count
    method: str
    question: str
    dropped: Count = 0
    prior: Mapping[str, float] | None = None

    plotted_as = "permutation test"
    plots = ("null",)

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary, for a data frame."""
        return [{name: getattr(self, name) for name in ("metric", "value", "p_value", "permutations", "method")}]

    def __repr__(self) -> str:
        p = f"p = {self.p_value:.2g}" if self.p_value >= _TINY else f"p < {_TINY:g}"
        return f"<PermutationTest of {self.metric} {self.value:.6g}, {p}>"


def permute(
    tally: Tally,
    metric: Metric,
    permutations: int = 10_000,
    seed: int = 0,
    again: Again | None = None,
    law: Law | None = None,
) -> PermutationTest:
    """Compare a figure of fixed predictions with what it is when the truth is shuffled against them.

    Wherever the law of the shuffled tally is known the tally is shuffled, not the rows. Decisions between two classes
    need no sampling at all, nor do rows with no more orders than permutations. For weighted classes ``again(rng)``
    must shuffle the rows and count them, unless their ``law`` is given; for few rows with scores of several classes it
    should.
    """
    check_whole("permutations", permutations, least=1)
    check_whole("seed", seed, 0, math.inf)
    if metric.better == "neither":
        raise errors.no_direction(metric.text)
    value, where = figure_to_test(tally, metric)
    if math.isnan(value):
        raise errors.nothing_to_compare(metric.text, metric.why_undefined(tally))
    good = as_good(metric, value)
    if isinstance(tally, Confusion) and tally.of_pair and not tally.weighted:
        p, fisher = probability(tally.either_called(), lambda tables: good(metric.of(tables)))
        method = "Fisher's exact test, one-sided" if fisher else "exact, over all tables with these margins, one-sided"
        return PermutationTest(metric.text, value, p, None, 0, method, QUESTION)
    few = isinstance(tally, ClassScores) and tally.total < _FEWEST_SUMMED
    if law is None:
        known = shuffles(tally, metric)
        by_rows = again if few or not known else None
        if by_rows is None and not known:
            words = "needs the rows to shuffle them, and only counts were kept; give all rows in one table"
            raise InputError("rows-not-kept", f"{metric.text} {words}")
        tally = at_middles(tally)
        if by_rows is None and (listed := every(tally, metric, permutations)) is not None:
            method = f"exact, over all {len(listed):,} orders of the truth, one-sided{where}"
            return PermutationTest(metric.text, value, float(good(listed).mean()), None, 0, method, QUESTION)
        law = partial(draw, tally, metric, again=by_rows)
    null, method = law(permutations, np.random.default_rng(seed))
    method += where
    undefined = int(np.isnan(null).sum())
    if undefined:
        method += f"; undefined in {undefined:,} of them, which count as good"
    p = (1 + int(good(null).sum())) / (1 + permutations)
    return PermutationTest(metric.text, value, p, null, permutations, method, QUESTION)


def figure_to_test(tally: Tally, metric: Metric) -> tuple[float, str]:
    """The figure of the rows, or where bins leave it open that of their middles, and words that say so."""
    value = float(metric.of(tally))
    if not isinstance(tally, ScoreTable | ClassScores) or not any(tally.grids) or tally.merged:
        return value, ""
    if metric.reads_values or corrects_losses(metric) or math.isnan(value):
        return float(metric.of(tally.at_middles())), "; each score taken as one inside its bin"
    return value, ""


def at_middles(tally: Tally) -> Tally:
    """The same with scores in the middles of their bins, if they lie in any."""
    return tally.at_middles() if isinstance(tally, ScoreTable | ClassScores) else tally


def as_good(metric: Metric, value: float) -> Callable[[Number], Array]:
    """Return the function that says which figures are as good as the value or better.

    Undefined ones count as good: a p-value may be too large, never too small.
    """
    size = max(abs(value), *(abs(end) for end in metric.range if math.isfinite(end)), 0.0)
    slack = _CLOSE * size if math.isfinite(size) else 0.0
    if metric.better == "higher":
        return lambda figures: ~np.less(figures, value - slack)
    return lambda figures: ~np.greater(figures, value + slack)


def shuffles(tally: Tally, metric: Metric) -> bool:
    """Whether a tally alone determines how a figure varies when the truth is shuffled."""
    rng = np.random.default_rng(0)
    if isinstance(tally, ErrorSums):
        return tally.rows is not None or _of_sums(tally, metric, 1, rng) is not None
    if isinstance(tally, ScoreTable) and tally.merged and not (metric.one_row and metric.one_row.bounds):
        return False  # what scores of wide bins would lose is not known
    return not tally.weighted and (not isinstance(tally, ClassScores) or _of_classes(tally, metric, 1, rng) is not None)


# ── figures of shuffled truths ─────────────────────────────────────────────────────────────────────────────────────
def draw(
    tally: Tally, metric: Metric, permutations: int, rng: np.random.Generator, again: Again | None
) -> tuple[Array, str]:
    """Return the figure of each shuffle, and how they were made."""
    if again is not None:
        weights = ", each with its weight" if tally.weighted else ""
        null = [metric.of(again(rng)) for _ in _times(permutations)]
        return np.array(null, np.float64), f"{permutations:,} shuffles of the truth{weights}"
    if isinstance(tally, ErrorSums):
        if (rows := tally.rows) is None:
            null_of_sums = np.asarray(_of_sums(tally, metric, permutations, rng))
            return null_of_sums, f"{permutations:,} draws of what a shuffle of the truth adds up to"
        moved = (
            rng.permuted(np.broadcast_to(rows.prediction, (size, len(rows.truth))), axis=1)
            for size in in_parts(permutations, 8 * len(rows.truth))
        )
        return _errors(tally, rows, metric, moved), f"{permutations:,} shuffles of the truth"
    if tally.total >= _MOST_ROWS:
        raise errors.too_many_rows_to_shuffle(int(tally.total))
    if isinstance(tally, Confusion):
        return figures_of(metric, _tables(tally, permutations, rng)), f"{permutations:,} tables with the same margins"
    if isinstance(tally, JointCounts):
        return figures_of(metric, _combinations(tally, permutations, rng)), f"{permutations:,} shuffles of the truth"
    if isinstance(tally, ClassScores):
        of_each = np.asarray(_of_classes(tally, metric, permutations, rng))
        return of_each, f"{permutations:,} draws of the rows of each class, as wide as those of all can be together"
    if not isinstance(tally, ScoreTable):
        raise errors.wrong_tally(metric.name, metric.tally.kind, type(tally).__name__)
    if metric.population is None and isinstance(metric.function, Fold) and metric.function.each in BETWEEN_CUTS:
        return _draw_between_cuts(tally, metric, permutations, rng), f"{permutations:,} draws of the positives"
    added = _add_up(tally, metric)
    if added is None:
        tables = _with_positives(tally, _positives(tally, permutations, rng))
        return figures_of(metric, tables), f"{permutations:,} draws of the positives"
    fold, of_one, of_all = added
    sums, parts = _sums_of_positives(tally, of_one, permutations, rng)
    what = "draws of the ranks of the positives" if fold.each is twice_wins else "draws of the positives"
    within = f"; counted in {parts} parts of the ranking, normal within each" if parts else ""
    there = tally if metric.population is None else metric.population.of(tally)
    return np.asarray(fold.finish(sums + of_all, there), np.float64), f"{permutations:,} {what}{within}"


def every(tally: Tally, metric: Metric, most: int) -> Array | None:
    """Return the figure of every order of the truth, each as likely as any other; None where there are more."""
    if isinstance(tally, Confusion):
        sizes = tally.counts.sum(-1).astype(np.int64).tolist()
    elif isinstance(tally, ScoreTable):
        sizes = [int(tally.N), int(tally.P)]
    elif isinstance(tally, ErrorSums) and tally.rows is not None:
        sizes = [1] * len(tally.rows.truth)
    else:
        return None
    if (number := _number_of_orders(sizes, most)) is None or number * sum(sizes) > _MOST_LISTED:
        return None
    listed = orders(sizes)
    if isinstance(tally, ErrorSums):
        assert tally.rows is not None
        return _errors(tally, tally.rows, metric, iter([tally.rows.prediction[listed]]))
    if isinstance(tally, Confusion):
        decided = np.repeat(np.arange(tally.counts.shape[-1]), tally.counts.sum(-2).astype(np.int64))
        return figures_of(metric, iter([tally.with_counts(_counted(listed, decided, tally.counts.shape))]))
    rows = rows_at_scores(tally)
    found = np.add.reduceat(listed, np.cumsum(rows) - rows, axis=1)
    return figures_of(metric, _with_positives(tally, iter([found])))


def _number_of_orders(sizes: list[int], most: int) -> int | None:
    """How many different orders there are of so many labels of each class, unless there are more than ``most``."""
    number, left = 1, sum(sizes)
    for size in sorted(sizes)[:-1]:
        for taken in range(1, size + 1):
            number = number * (left - size + taken) // taken
            if number > most:
                return None
        left -= size
    return number


def orders(sizes: list[int]) -> Array:
    """List every different order of so many labels of each class, one in a row."""
    rest = int(np.argmax(sizes))
    listed = np.full((1, sum(sizes)), rest)
    for code, size in enumerate(sizes):
        if code == rest:
            continue
        free = np.nonzero(listed == rest)[1].reshape(len(listed), -1)
        choices = list(combinations(range(free.shape[1]), size))
        chosen = free[:, np.array(choices, np.int64).reshape(len(choices), size)]
        listed = np.repeat(listed, len(choices), axis=0)
        np.put_along_axis(listed, chosen.reshape(len(listed), size), code, axis=1)
    return listed


def figures_of(metric: Metric, tallies: Iterator[Tally]) -> Array:
    """The figure of each shuffle, of tallies that hold some shuffles each."""
    return np.concatenate([np.atleast_1d(metric.of(tally)) for tally in tallies]).astype(np.float64)


def in_parts(permutations: int, cells: int) -> Iterator[int]:
    """Split the permutations into batches that fit into memory."""
    most = max(1, _CELLS // cells)
    for start in range(0, permutations, most):
        progress.tell(start, permutations, "shuffling labels")
        yield min(most, permutations - start)


def _times(permutations: int) -> Iterator[int]:
    """Count shuffles that are made one at a time."""
    return (1 for _ in in_parts(permutations, _CELLS))


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def _tables(table: Confusion, permutations: int, rng: np.random.Generator) -> Iterator[Confusion]:
    """Sample tables with the same margins, by the cheaper method."""
    truths, decisions = (table.counts.sum(axis).astype(np.int64) for axis in (-1, -2))
    size, rows = table.counts.size, int(truths.sum())
    by_cells = _COST_OF_A_DRAW * size <= rows and _FEW_AT_A_TIME * size <= _CELLS
    cells = size if by_cells else size + rows
    sample = random_tables if by_cells else shuffled_tables
    for size in in_parts(permutations, cells):
        yield table.with_counts(sample(truths, decisions, size, rng))


def random_tables(truths: Array, decisions: Array, size: int, rng: np.random.Generator) -> Array:
    """Sample tables with these margins, cell by cell: each is hypergeometric given those before it."""
    tables = np.zeros((len(truths), len(decisions), size), np.int64)
    left = np.repeat(decisions[:, None], size, axis=1)
    for row, total in zip(tables[:-1], truths, strict=False):
        wanted, others = np.full(size, total), left.sum(0)
        for cell, available in zip(row[:-1], left, strict=False):
            others -= available
            cell[:] = rng.hypergeometric(available, others, wanted)
            wanted -= cell
        row[-1] = wanted
        left -= row
    tables[-1] = left
    return np.moveaxis(tables, -1, 0)


def shuffled_tables(truths: Array, decisions: Array, size: int, rng: np.random.Generator) -> Array:
    """Shuffle the decisions of single rows and count: cheaper for many classes and few rows."""
    decided = np.tile(np.repeat(np.arange(len(decisions)), decisions), (size, 1))
    rng.permuted(decided, axis=1, out=decided)
    return _counted(np.repeat(np.arange(len(truths)), truths), decided, (len(truths), len(decisions)))


def _counted(truth: Array, decided: Array, shape: tuple[int, ...]) -> Array:
    """Count rows into tables: one for each line of whichever of the two has several."""
    cells = truth * shape[1] + decided
    size, each = len(cells), math.prod(shape)
    cells += np.arange(size)[:, None] * each
    return np.bincount(cells.ravel(), minlength=size * each).reshape(size, *shape)


def _combinations(joint: JointCounts, permutations: int, rng: np.random.Generator) -> Iterator[JointCounts]:
    truth, decision = (np.repeat(joint.codes[:, column], joint.counts) for column in (0, 1))
    for _ in _times(permutations):
        yield JointCounts.from_rows(joint.columns, joint.labels, (truth, rng.permutation(decision)))


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _add_up(table: ScoreTable, metric: Metric) -> tuple[Fold, Array, float] | None:
    """The figure as a fold, what a positive at each score adds to its sum, and what all rows add to it.

    None for figures that are no such sum.
    """
    base, there = metric if metric.population is None else base_of(metric), metric.population
    fold = base.function
    if not isinstance(fold, Fold):
        return None
    rows, P = rows_at_scores(table), int(table.P)
    if fold.each is twice_wins:  # ranks stay, and shuffling chooses which of them are the positives'
        twice_ranks = 2 * (rows[::-1].cumsum()[::-1] - rows) + rows + 1  # the middle rank of those that tie
        return fold, twice_ranks, -P * (P + 1)
    if isinstance(base.loss, Losses) and metric.loss is not None:
        scores = np.asarray(table.as_columns().scores, np.float64)
        often = np.ones(2)
        if there is not None:  # a row counts as its class is frequent there
            sizes = np.array([table.N, table.P], np.float64)
            often = there.weights(np.arange(2), sizes, (table.negative, table.positive))
        lost, spared = (often[int(flag)] * metric.loss(np.full(len(scores), flag), scores) for flag in (True, False))
        if np.isfinite(lost).all() and np.isfinite(spared).all():
            return fold, lost - spared, float(rows @ spared)
    return None


def _draw_between_cuts(table: ScoreTable, metric: Metric, permutations: int, rng: np.random.Generator) -> Array:
    """Sample figures of the positives between cuts of the scores, where rows and their probabilities stay."""
    assert isinstance(metric.function, Fold)
    whole = Fold(metric.function.each, lambda sums, _: sums)
    _, rows, probabilities = np.asarray(fold_all([(whole, metric.parameters)], table)[0])
    found = rng.multivariate_hypergeometric(rows.astype(np.int64), int(table.P), permutations, method="marginals")
    sums = np.stack([found, *(np.broadcast_to(one, found.shape) for one in (rows, probabilities))])
    return np.asarray(metric.function.finish(sums, table))


def _sums_of_positives(
    table: ScoreTable, of_one: Array, permutations: int, rng: np.random.Generator
) -> tuple[Array, int]:
    """Sample the sum over the positives of what one at each score adds, and say in how many parts of the ranking.

    With many positives at many scores, their numbers in parts of the ranking are sampled. Only the place of each within
    its part is taken as normal, with its mean and variance. That is less than a thousandth of the variance of the sum
    (a ten-thousandth for ranks), so the approximation is far below the noise of the draws.
    """
    rows, P = rows_at_scores(table), int(table.P)
    fewer = min(P, int(table.N))  # sampling the smaller class costs less
    if _COST_OF_A_DRAW * len(rows) <= min(_MOST_SINGLE, table.total):
        return np.concatenate([found @ of_one for found in _positives(table, permutations, rng)]), 0
    if fewer <= _MOST_SINGLE:
        of_rows = np.repeat(of_one, rows)
        sums = np.array([of_rows[_draw(len(of_rows), fewer, rng)].sum() for _ in _times(permutations)])
        return (sums if fewer == P else of_rows.sum() - sums), 0
    starts = _starts_of_parts(rows, of_one)
    sizes = np.add.reduceat(rows, starts)
    means = np.add.reduceat(rows * of_one.astype(np.float64), starts) / sizes
    away = of_one - np.repeat(means, np.diff(starts, append=len(rows)))
    spread = np.add.reduceat(rows * away**2, starts) / (sizes * np.maximum(sizes - 1.0, 1.0))
    some = []
    for size in in_parts(permutations, len(sizes)):
        found = rng.multivariate_hypergeometric(sizes, P, size, method="marginals")
        some.append(found @ means + np.sqrt((found * (sizes - found)) @ spread) * rng.standard_normal(size))
    return np.concatenate(some), len(sizes)


def _starts_of_parts(rows: Array, of_one: Array) -> Array:
    """Cut the ranking into parts with equal shares of rows and of their variance: outliers stand alone."""
    away = rows * (of_one - np.average(of_one, weights=rows)) ** 2
    share = (rows / rows.sum() + away / max(away.sum(), sys.float_info.min)) / 2
    middle = np.cumsum(share) - share / 2
    return np.unique(middle * PARTS_OF_RANKING // 1, return_index=True)[1]


def _with_positives(table: ScoreTable, positives: Iterator[Array]) -> Iterator[ScoreTable]:
    scores, rows = table.as_columns().scores, rows_at_scores(table)
    for found in positives:
        values = {"positives": found, "negatives": rows - found}
        yield ScoreTable(table.positive, table.negative, Columns(scores, values), table.grid)


def _positives(table: ScoreTable, permutations: int, rng: np.random.Generator) -> Iterator[Array]:
    """Sample how many positives lie at each score, one row for each shuffle."""
    rows, P = rows_at_scores(table), int(table.P)
    if _COST_OF_A_DRAW * len(rows) <= table.total:
        for size in in_parts(permutations, len(rows)):
            yield rng.multivariate_hypergeometric(rows, P, size, method="marginals")
        return
    places = np.repeat(np.arange(len(rows)), rows)
    fewer = min(P, int(table.N))
    for size in in_parts(permutations, len(rows)):
        positives = [np.bincount(places[_draw(len(places), fewer, rng)], minlength=len(rows)) for _ in range(size)]
        yield np.array(positives) if fewer == P else rows - np.array(positives)


def rows_at_scores(table: ScoreTable) -> Array:
    """How many rows have each score."""
    values = table.as_columns().values
    return np.asarray(values["positives"] + values["negatives"], np.int64)


def _draw(rows: int, size: int, rng: np.random.Generator) -> Array:
    return rng.choice(rows, size, replace=False, shuffle=False)


# ── scores of several classes ────────────────────────────────────────────────────────────────────────────────────
def _of_classes(scores: ClassScores, metric: Metric, permutations: int, rng: np.random.Generator) -> Array | None:
    """The figure of each shuffle, from each class's scores; None for figures that look at several scores of a row.

    The rows of each class are sampled by themselves. How those of two classes vary together depends on scores of the
    same row. The variance of sampling with replacement is an upper bound, and is used instead: p may be too large,
    never too small.
    """
    shares, average = scores.sizes / scores.sizes.sum(), metric.function
    if metric.population is not None or not scores.tables:
        return None
    tables = scores.at_middles().tables
    if isinstance(average, Average):
        base = average.base.with_parameters(**metric.parameters)
        each = [draw(table, base, permutations, rng, None)[0] for table in tables]
        wide = np.stack([_widened(one, share) for one, share in zip(each, shares, strict=True)], axis=-1)
        return np.asarray(mean_over_classes(wide, scores.sizes if average.how == "weighted" else None))
    if metric.loss not in ROW_LOSSES or not scores.probabilities:
        return None
    lost, squared = np.zeros(permutations), metric.loss is not ROW_LOSSES[0]
    for table, share in zip(tables, shares, strict=True):
        columns, rows = table.as_columns(), rows_at_scores(table)
        with np.errstate(divide="ignore"):
            of_one = 1 - 2 * columns.scores if squared else -np.log(columns.scores)
        impossible = int(rows[np.isinf(of_one)].sum())
        sums, _ = _sums_of_positives(table, np.where(np.isinf(of_one), 0.0, of_one), permutations, rng)
        lost += _widened(sums, share) + (rows @ columns.scores**2 if squared else 0.0)
        lost[rng.hypergeometric(impossible, int(table.total) - impossible, int(table.P), permutations) > 0] = math.inf
    of_1 = float(metric.of(replace(scores, tables=(), squares=1.0, surprise=1.0)))
    return of_1 * (np.sqrt(lost) if metric.root else lost)


def _widened(sums: Array, share: float) -> Array:
    """Sums over sampled rows of a class of this share, given the variance of sampling with replacement."""
    centre = sums.mean()
    return np.asarray(centre + (sums - centre) / math.sqrt(max(1 - share, 1e-9)))


# ── the sum of ranks ───────────────────────────────────────────────────────────────────────────────────────────────
def _tied(steps: Steps) -> float:
    """Σ t³ − t over groups of t rows with the same score."""
    rows = np.asarray(steps.rows, np.float64)
    return float((rows**3 - rows).sum())


def rank_sum_p_value(table: ScoreTable, auc: float) -> float | None:
    """Return how often shuffled labels would give an auc at least this far from ½, on either side.

    Few rows are counted in every order, many are nearly normal (ties counted).
    None for weighted rows, whose ranks have no such law.
    """
    if table.weighted or not table.P or not table.N:
        return None
    if (listed := every(table, ranking.auc, _FEW_ORDERS)) is not None:
        return float((np.abs(listed - 0.5) >= abs(auc - 0.5) - 1e-12).mean())
    P, N = float(table.P), float(table.N)
    rows = P + N
    (ties,) = fold_all([(Fold(_tied, lambda whole, _: whole), {})], table)
    variance = (rows + 1 - float(ties) / (rows * (rows - 1))) / (12 * P * N)
    if variance <= 0:  # every score is the same
        return 1.0
    return math.erfc(abs(auc - 0.5) / math.sqrt(2 * variance))


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _errors(sums: ErrorSums, rows: ErrorRows, metric: Metric, moved: Iterator[Array]) -> Array:
    """The figure of each shuffle of the predictions; they come some at a time."""
    if set(metric.parts) <= {"prediction", "baseline"} and not metric.no_interval:  # figures of sums
        return figures_of(metric, _shuffled_sums(sums, rows, metric, moved))
    baseline = sums.baseline if sums.baseline_given else None
    sums_of = partial(ErrorSums.from_rows, rows.truth, weight=rows.weight, baseline=baseline, parts=metric.parts)
    return figures_of(metric, (sums_of(one) for some in moved for one in some))


def _shuffled_sums(sums: ErrorSums, rows: ErrorRows, metric: Metric, moved: Iterator[Array]) -> Iterator[ErrorSums]:
    """Add up, for many shuffles at once, what a figure of sums needs."""
    weight = np.ones(len(rows.truth)) if rows.weight is None else rows.weight.astype(np.float64)
    truth, total, (varied, at) = rows.truth.astype(np.float64), float(weight.sum()), variation_about_mean(sums, rows)

    def mean(name: str, some: Array) -> Array:
        return np.asarray(np.broadcast_to(terms_of(truth, some, at)[name], some.shape) @ weight / total)

    for some in moved:
        means = cache(partial(mean, some=some.astype(np.float64)))
        yield sums_at(sums, varied, np.full(len(some), total), means, metric.parts)


def _of_sums(sums: ErrorSums, metric: Metric, permutations: int, rng: np.random.Generator) -> Array | None:
    """The figure of each shuffle, from Σ truth · prediction: all else that it is a function of stays as it is.

    That sum is sampled from a gamma distribution with the mean, variance and skewness of all shuffles. None where a
    figure is a function of something else, such as |error|, rows have weights or clusters, or a few carry the sum.
    """
    varied, n = sums.variation, float(sums.total)
    if varied is None or varied.products is None or sums.weighted or n < _FEWEST_SUMMED:
        return None
    mean = {(a, b): float(varied.products[TERMS.index(a), TERMS.index(b)]) / n for a in _PLAIN for b in _PLAIN}
    t, e, t2, te, e2 = (mean["one", name] for name in ("truth", "error", "truth2", "cross", "square"))
    p, p2 = t - e, t2 - 2 * te + e2
    t3, t4 = mean["truth", "truth2"], mean["truth2", "truth2"]
    p3 = t3 - 3 * mean["truth2", "error"] + 3 * mean["truth", "square"] - mean["error", "square"]
    p4 = t4 - 4 * mean["truth2", "cross"] + 6 * mean["truth2", "square"] - 4 * mean["cross", "square"]
    p4 += mean["square", "square"]
    both = zip(_about_mean(t, t2, t3, t4), _about_mean(p, p2, p3, p4), strict=True)
    spread, cubes, fourth = (one * other for one, other in both)
    if not spread > 0 or fourth > _HEAVIEST * n * spread**2:
        return None
    product = t * p + math.sqrt(spread / (n - 1)) * _skewed(cubes / spread**1.5 / math.sqrt(n), permutations, rng)
    known: dict[str, Array | float] = {"one": 1.0, "truth": t, "error": e, "truth2": t2, "away": mean["one", "away"]}
    known |= {"cross": t2 - product, "square": t2 - 2 * product + p2, "product": product}
    known |= {"prediction": p, "prediction2": p2}
    try:
        shuffled = sums_at(sums, varied, np.full(permutations, n), lambda name: np.asarray(known[name]), metric.parts)
        return np.broadcast_to(np.asarray(metric.of(shuffled), np.float64), permutations)
    except KeyError:
        return None


def _about_mean(m: float, m2: float, m3: float, m4: float) -> tuple[float, float, float]:
    """The second, third and fourth moment about the mean, from those about another number."""
    return m2 - m**2, m3 - 3 * m * m2 + 2 * m**3, m4 - 4 * m * m3 + 6 * m**2 * m2 - 3 * m**4


def _skewed(skewness: float, count: int, rng: np.random.Generator) -> Array:
    """Draws of mean 0 and variance 1 with this skewness."""
    if abs(skewness) < _HARDLY_SKEWED:
        return rng.standard_normal(count)
    shape = 4 / skewness**2
    return math.copysign(1.0, skewness) * (rng.gamma(shape, size=count) - shape) / math.sqrt(shape)


# ── two classes, every table ─────────────────────────────────────────────────────────────────────────────────────
def probability(table: Confusion, good: Callable[[Confusion], Array]) -> tuple[float, bool]:
    """Return the probability of the tables that are as good, when the truth is shuffled.

    And whether those are the tables with at least as many positives found: then it is Fisher's exact test.
    """
    tp, P, PP, n = (int(count) for count in (table.tp, table.P, table.PP, table.total))
    likely = total = 0.0
    fisher = True
    for found, likelihood in _possible_tables(P, PP, n):
        shuffled = Confusion.two_class(
            tp=found,
            fn=P - found,
            fp=PP - found,
            tn=n - P - PP + found,
            positive=str(table.positive),
            negative=next(name for name in table.truths if name != table.positive),
        )
        chosen = good(shuffled)
        likely += float(likelihood[chosen].sum())
        total += float(likelihood.sum())
        fisher = fisher and bool((chosen == (found >= tp)).all())
    return max(likely / total, sys.float_info.min), fisher


def _possible_tables(P: int, PP: int, n: int) -> Iterator[tuple[Array, Array]]:
    """Yield the possible numbers of positives found, block by block, and their likelihoods up to a factor.

    Each likelihood comes from the one before it, which keeps its digits where differences of factorials lose them.
    """
    log = _log_likelihood(P, PP, n)
    low, high = _window(log, P, PP, n)
    if high - low >= _MOST_TABLES:
        raise errors.too_many_rows_to_shuffle(n)
    level = log(low)
    for start in range(low, high + 1, _BLOCK):
        found = np.arange(start, min(start + _BLOCK, high + 1))
        later = found[1:] if start == low else found
        t = later.astype(np.float64)
        steps = np.log((P - t + 1) * (PP - t + 1) / (t * (n - P - PP + t)))
        if start == low:
            steps = np.append(0.0, steps)
        logs = level + np.cumsum(steps)
        level = float(logs[-1])
        yield found, np.exp(logs)


def _log_likelihood(P: int, PP: int, n: int) -> Callable[[int], float]:
    """The logarithm of the likelihood of a number of positives found, 0 for the most likely one."""

    def log_share(t: int) -> float:
        return -sum(math.lgamma(cell + 1) for cell in (t, P - t, PP - t, n - P - PP + t))

    most = log_share((P + 1) * (PP + 1) // (n + 2))
    return lambda t: log_share(t) - most


def _window(log: Callable[[int], float], P: int, PP: int, n: int) -> tuple[int, int]:
    """The fewest and the most positives found that have a probability to speak of."""
    least, most, mode = max(0, P + PP - n), min(P, PP), (P + 1) * (PP + 1) // (n + 2)
    low = bisect.bisect_left(range(least, mode), True, key=lambda t: log(t) > -_UNDERFLOW)
    high = bisect.bisect_left(range(mode, most), True, key=lambda t: log(t + 1) <= -_UNDERFLOW)
    return least + low, mode + high
