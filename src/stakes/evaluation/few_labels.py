"""evaluate(…, unlabelled="estimate"): many rows have an output, a few of them a truth."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from stakes import errors
from stakes.decisions.thresholds.objectives import BestFigure
from stakes.engines.columns import Data
from stakes.engines.plan import WEIGHED, Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.unlabelled import (
    LABELLED,
    UNLABELLED,
    PartlyLabelled,
    count_partly_elsewhere,
    parts_of,
    read_partly,
    tried_for_two,
)
from stakes.errors import Given, InputError, Pass
from stakes.evaluation.few_classes import FewClasses
from stakes.evaluation.few_grades import estimate_grades
from stakes.evaluation.few_rows import FEWEST_OF_A_CLASS, FewEstimates, Rows, evaluate_labelled
from stakes.metrics import Estimate, Metric, find
from stakes.metrics.agreement import accuracy, balanced_accuracy, f1, kappa, mcc
from stakes.metrics.cost import expected_cost
from stakes.metrics.probability import brier_score
from stakes.metrics.ranking import auc
from stakes.metrics.rates import alarm_rate, precision, prevalence, recall, specificity
from stakes.question.question import Question
from stakes.records import Count, Finite, Record
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.tallies.population import Population
from stakes.tallies.pricing import Frequencies
from stakes.uncertainty.few_labels import SOFTENED, Draws, draw_decisions, draw_tables
from stakes.uncertainty.sampling import Sampling

METHOD = "few labels: a curve between scores and labels, moved to the labels of each decision"
METHOD_OF_DECISIONS = "few labels: the labels of each decision"

_ANY_CLASS = (prevalence, alarm_rate, accuracy, brier_score, expected_cost)
_TABLE = (prevalence, alarm_rate, accuracy, recall, specificity, precision, f1, mcc, kappa, balanced_accuracy)


@dataclass(frozen=True, eq=False, repr=False)
class FewLabels(
    Record,
    FewEstimates,
    stakes="few labels",
    shown="rows labelled labelled_positives positive threshold prior confidence figures as_good_as segments findings",
):
    """Estimates for a model of two classes from a few labelled rows and many others.

    ``ev["recall"]`` is an :class:`~stakes.Estimate`. ``as_good_as`` says how many labels alone would give an interval
    as narrow. Estimates hold where labelling depends on a row's output only: labels of rows that somebody found
    interesting for another reason mislead, and nothing in the numbers shows it. With ``label_probability=`` labelling
    may depend on anything, if the probability is right; with ``prior="estimate"`` figures are those of the rows
    without a truth, whose class frequencies may differ. ``prior`` is the share of positives where the model is used,
    if it is another one. The ``threshold`` was chosen, by costs or by the ``best`` figure.
    """

    positive: str
    negative: str
    confidence: Finite
    seed: int
    kept: Rows
    costs: Array | None = None
    unit: str = ""
    threshold: Finite | None = None
    segments: Mapping[str, "FewLabels"] = field(default_factory=dict)
    prior: Finite | None = None
    best: str = ""

    @cached_property
    def labelled_positives(self) -> Count:
        """The labelled rows that are positive."""
        return self.kept.count(self.kept.labelled & (self.kept.truth == 1))

    @property
    def rests_on(self) -> str:
        """The key of the sentence that states the assumption."""
        if self.kept.shifted:
            return "few.shifted"
        return "few.provided" if self.kept.weight is None else "few.known_chance"

    @property
    def labelled_scores(self) -> tuple[float, float, float] | None:
        """The lowest and the highest score of labelled rows, and the share of all rows outside; None without scores."""
        rows = self.kept
        if rows.score is None or not rows.labelled.any():
            return None
        seen = rows.score[rows.labelled]
        low, high = float(seen.min()), float(seen.max())
        return low, high, rows.count((rows.score < low) | (rows.score > high)) / self.rows

    def refuse_unless_enough(self) -> Self:
        """Return the same, if there are labels enough, and at scores where other rows lie."""
        if (seen := super().refuse_unless_enough().labelled_scores) is None or self.kept.score is None:
            return self
        low, high, _ = seen
        rest = self.kept.score[~self.kept.labelled]
        if len(rest) and (rest.min() > high or rest.max() < low):
            raise InputError(
                "labels-at-other-scores",
                f"labelled rows have scores from {low:.3g} to {high:.3g}, and all others from {rest.min():.3g} to "
                f"{rest.max():.3g}, where there are no labels; label some there",
            )
        return self

    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """The usual figures; others by their name: ``ev["f_beta(beta=2)"]``."""
        usual: list[Metric] = [*_TABLE, *((auc, brier_score) if self._of_scores else ())]
        return {one.name: self[one.name] for one in (*usual, *((expected_cost,) if self.costs is not None else ()))}

    def _alone(self) -> Mapping[str, Estimate]:
        if self.kept.shifted or self.kept.chosen or not self.labelled:
            return {}
        names = (self.negative, self.positive)
        there = None if self.prior is None else Frequencies({self.positive: self.prior, self.negative: 1 - self.prior})
        alone = evaluate_labelled(self.kept, names, Sampling(self.confidence, seed=self.seed, population=there))
        known = (prevalence.name,) if self.prior is not None else ()
        return {one: alone[one] for one in self.figures if one not in (alarm_rate.name, expected_cost.name, *known)}

    def __getitem__(self, name: str) -> Estimate:
        metric = find(name)
        if why := self.why_nothing:
            return Estimate(metric.text, math.nan, reason=why, no_interval=why)
        found = np.asarray(self._figure_of_draws(metric), np.float64)
        draws = found[np.isfinite(found)]
        if not len(draws):
            return Estimate(metric.text, math.nan, reason="it is undefined in every table that fits the labels")
        tail = (1 - self.confidence) / 2
        low, value, high = (float(one) for one in np.quantile(draws, (tail, 0.5, 1 - tail)))
        method = METHOD_OF_DECISIONS if self.kept.score is None else METHOD
        if why := self._too_few(metric, low, high):
            return Estimate(metric.text, value, confidence=self.confidence, no_interval=why)
        there = None if self.prior is None else {self.positive: self.prior, self.negative: 1 - self.prior}
        return Estimate(metric.text, value, math.nan, low, high, "", self.confidence, method, prior=there)

    @property
    def main_figures(self) -> tuple[str, ...]:
        """The figures that are shown first."""
        known = () if self.prior is None else (prevalence.name,)
        usual = (prevalence.name, accuracy.name, recall.name, *((auc.name,) if self._of_scores else ()))
        return tuple(name for name in usual if name not in known)

    @property
    def _of_scores(self) -> bool:
        """Whether figures of scores are given: with a shifted prior their intervals held too rarely."""
        return self.kept.score is not None and not self.kept.shifted

    def _decide(self, best: str | None, there: Frequencies | None) -> "FewLabels":
        """Return the same at the threshold that costs least, or has the ``best`` figure, by the mean of all draws."""
        rows = self.kept
        if (self.costs is None and best is None) or rows.score is None or rows.shifted:
            words = "few labels decide by probabilities of rows of one place, and by costs or a figure; give "
            raise InputError("few-labels-decide", words, Pass("score"), " and ", Pass("costs"), " or ", Pass("best"))
        if rows.weight is not None:
            words = " was not tried for a threshold that few labels choose; evaluate at one that is given"
            raise InputError("labels-of-known-chance", Given("label_probability"), words)
        if why := self._too_few(auc, 0.0, 1.0):
            raise InputError("too-few-labels-to-decide", why)
        found = replace(self, prior=_share_there(there, (self.negative, self.positive)))
        bins, order = rows.bins, np.argsort(rows.bins.means)
        draws = found._at_prior(self._curve)
        below = [np.append(0.0, np.cumsum(part[:, order].mean(axis=0))) for part in (draws.negatives, draws.positives)]
        cells = np.stack([np.stack([part, part[-1] - part], axis=-1) for part in below], axis=-2)
        if best is not None:
            place = BestFigure.parse(best).best_place(self._confusion(cells))
        else:
            place = int(np.argmin((cells * self.costs).sum((-1, -2))))
        lowest = np.full(len(bins.rows), np.inf)
        np.minimum.at(lowest, rows.places[0], rows.score)
        threshold = float(lowest[order][place]) if place < len(order) else float(np.nextafter(rows.score.max(), 2.0))
        kept = replace(rows, decided=(rows.score >= threshold).astype(np.int64), chosen=True)
        return replace(found, kept=kept, threshold=threshold, best=best or "")

    # ── figures of draws ─────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def _draws(self) -> Draws:
        bins = self.kept.bins
        if self.kept.score is None:
            return draw_decisions(bins, self.seed)
        return draw_tables(bins, self.seed)

    @cached_property
    def _curve(self) -> Draws:
        return draw_tables(self.kept.bins, self.seed, anchored=False)

    @cached_property
    def _soft_draws(self) -> Draws:
        return draw_tables(self.kept.bins, self.seed + 1, anchored=False, power=SOFTENED)

    def _figure_of_draws(self, metric: Metric) -> Array:
        """Figures of draws; rankings, losses, shifted priors and chosen thresholds also use the curve alone."""
        found = self._figure(metric, self._draws)
        by_labels = metric.tally is Confusion and not self.kept.shifted and not self.kept.chosen
        if self.kept.score is None or by_labels:
            return found
        return np.concatenate([found, self._figure(metric, self._soft_draws)])

    def _figure(self, metric: Metric, draws: Draws) -> Array:
        """A figure of the tables that were sampled; refuse figures that few labels do not give."""
        draws = self._at_prior(draws)
        if metric.name in (auc.name, brier_score.name):
            if self.kept.score is None:
                raise InputError("few-labels-no-score", f"{metric.name} needs scores, and there are only decisions")
            if not self._of_scores:
                words = f": intervals of {metric.name} held too rarely; evaluate the labelled rows alone"
                raise InputError("figure-elsewhere", Given("prior", "estimate"), words)
            return _auc(draws) if metric.name == auc.name else self._brier(draws)
        return self.figure_of_cells(metric, cells_of(draws, self.kept.bins.cell))

    def _at_prior(self, draws: Draws) -> Draws:
        """The same rows with positives as frequent as the prior says."""
        if self.prior is None:
            return draws
        shares = zip((draws.positives, draws.negatives), (self.prior, 1 - self.prior), strict=True)
        return Draws(*(share * part / np.maximum(part.sum(-1, keepdims=True), 1e-300) for part, share in shares))

    def figure_of_cells(self, metric: Metric, cells: Array) -> Array:
        """A figure of decisions of each sampled table."""
        if metric.name == expected_cost.name and metric.lacking and self.costs is not None:
            return np.asarray((cells * self.costs).sum((-1, -2)) / cells.sum((-1, -2)))
        if metric.tally is not Confusion or metric.lacking:
            raise InputError(
                "few-labels-figure",
                f"few labels give figures of decisions, auc and brier_score; {metric.name} is none of them",
            )
        return np.asarray(metric.of(self._confusion(cells)), np.float64)

    def _confusion(self, cells: Array) -> Confusion:
        names = (self.negative, self.positive)
        return Confusion(names, names, cells, squares=cells, positive=self.positive)

    def _brier(self, draws: Draws) -> Array:
        bins = self.kept.bins
        mean, square = bins.means, bins.square / np.maximum(bins.rows, 1e-300)
        lost = draws.positives @ (1 - 2 * mean + square) + draws.negatives @ square
        return np.asarray(lost / (draws.positives + draws.negatives).sum(-1))

    @property
    def why_nothing(self) -> str:
        """Why nothing can be estimated: too few labels, or those of one class alone; empty where it can."""
        if not 0 < self.labelled_positives < self.labelled and not super().why_nothing:
            return f"every labelled row is {(self.positive if self.labelled_positives else self.negative)!r}"
        return super().why_nothing

    # ── what labels are too few for, and which come next ─────────────────────────────────────────────────────────
    def _too_few(self, metric: Metric, low: float, high: float) -> str:
        """Why a figure has no interval: too few labelled rows of a class that it is about."""
        if metric.name in {one.name for one in _ANY_CLASS}:
            return ""
        seen = {"positive": self.labelled_positives, "negative": self.labelled - self.labelled_positives}
        wanted = {"P": ("positive",), "N": ("negative",)}.get(metric.share_of, ("positive", "negative"))
        for name in wanted:
            if seen[name] < FEWEST_OF_A_CLASS:
                return self._label_more(name, seen[name], low, high)
        return ""

    def _label_more(self, kind: str, seen: int, low: float, high: float) -> str:
        positives, negatives = (part.sum(-1) for part in (self._draws.positives, self._draws.negatives))
        share = float(np.median(positives / (positives + negatives)))
        share = share if kind == "positive" else 1 - share
        more = math.ceil((FEWEST_OF_A_CLASS - seen) / max(share, 1e-3))
        few = f"labelled positives: only {seen}" if kind == "positive" else f"labelled negatives: only {seen}"
        where = ""
        if self.kept.score is not None and not self.kept.shifted:
            best = self.kept.score[self._next(recall if kind == "positive" else specificity, more)]
            where = f"; best those with scores from {np.quantile(best, 0.1):.2g} to {np.quantile(best, 0.9):.2g}"
        return f"{few}; anything from {low:.2g} to {high:.2g} fits; label about {more:,} more{where}"

    def _worth_of_labels(self, metric: Metric) -> Array:
        """The worth of a label in each bin: what a positive in place of a negative changes, times its uncertainty."""
        bins = self.kept.bins
        share = (self._draws.positives / np.maximum(self._draws.positives + self._draws.negatives, 1e-300)).mean(axis=0)
        usual, step = Draws((bins.rows * share)[None], (bins.rows * (1 - share))[None]), 1e-3 * bins.rows.sum()
        moved = step * np.eye(len(bins.rows))
        positive = Draws(usual.positives + moved, np.maximum(usual.negatives - moved, 0.0))
        with np.errstate(all="ignore"):
            slope = np.abs(self._figure(metric, positive) - self._figure(metric, usual))
        return np.asarray(np.nan_to_num(slope) * np.sqrt(np.maximum(share * (1 - share), 1e-6)))


def cells_of(draws: Draws, decision: Array) -> Array:
    """The four cells of each draw, the negative class and decision first; ``decision`` is that of each bin."""
    decided = np.stack([decision == 0, decision == 1], axis=-1).astype(np.float64)
    return np.stack([draws.negatives @ decided, draws.positives @ decided], axis=1)


def _auc(draws: Draws) -> Array:
    """The auc of each draw; bins are sorted by decision first, as a threshold separates them."""
    wins = draws.positives * (np.cumsum(draws.negatives, axis=-1) - draws.negatives / 2)
    return np.asarray(wins.sum(-1) / (draws.positives.sum(-1) * draws.negatives.sum(-1)))


# ── from rows, and from tallies of them ──────────────────────────────────────────────────────────────────────────
def estimate_few(question: Question, data: Data) -> FewEstimates:
    """Read rows of which some have a truth (or take their tally), and estimate the figures of all rows."""
    counted = data if isinstance(data, Counted) else None
    if counted is None and question["exact"] is not True:
        counted = count_partly_elsewhere(data, row_question(question))
    if counted is not None:
        names = _names_in(counted)
        parts = {name: _of_tally(part, names, question) for name, part in parts_of(counted).items()}
        return estimate_rows(names, parts.pop(""), question).in_segments(parts).refuse_unless_enough()
    partly = read_partly(data, row_question(question))
    if partly.read.plan is None:
        return estimate_grades(partly, question).refuse_unless_enough()
    names, rows = rows_of(partly, question)
    return estimate_rows(names, rows, question).in_segments(rows.by_segment(partly.read.by)).refuse_unless_enough()


def row_question(question: Question) -> RowQuestion:
    """The question about the rows; options that do not apply to few labels are refused."""
    for name in ("training_prior", "design", *(("prior",) if question.verb == "compare" else ())):
        if name in question.changed:
            raise InputError(
                "few-labels-as-they-are", Given(name), " means nothing to few labels, which are about these rows"
            )
    return RowQuestion(**question.rows)


def _names_in(counted: Counted) -> tuple[str, ...]:
    """The negative and the positive class of a tally, or all of several."""
    table = counted.scores or counted.confusion
    names = tuple(dict.fromkeys([*table.class_sizes(), *getattr(table, "decisions", ())]))
    if len(names) > 2:
        return names
    if table.positive is None:
        raise InputError("few-labels-positive", "say which class is positive: ", Pass("positive"))
    return next(name for name in names if name != table.positive), table.positive


def _of_tally(parts: Mapping[str, Counted], names: tuple[str, ...], question: Question) -> Rows:
    """The rows of a tally: one entry for each score or decision, of each class if labelled."""
    first = next(iter(parts.values()))
    by_score = first.scores is not None and (first.confusion is None or first.decided_by != "rows")
    if question["threshold"] is not None and not by_score:
        raise errors.threshold_and_prediction()
    counted = first.threshold if question["threshold"] is None else None
    threshold = (_threshold(question, names) if counted is None else counted) if by_score else math.nan
    entries = []
    for kind in (LABELLED, UNLABELLED):
        if kind not in parts:
            continue
        again = parts.get(f"{WEIGHED}_{kind}")
        if by_score:
            parts[kind].scores.at(threshold)  # refuses one within a bin
        score = parts[kind].scores.as_columns().scores.astype(np.float64) if by_score else None
        decided = np.arange(len(names)) if score is None else (score >= threshold).astype(np.int64)
        sums = [*_amounts(parts[kind], names, by_score), *(() if again is None else _amounts(again, names, by_score))]
        for truth, (counts, *weights) in enumerate(zip(*sums, strict=True)):
            there = np.flatnonzero(counts)
            same = np.full(len(there), truth), np.full(len(there), kind == LABELLED)
            weight, square = (one[there] / counts[there] for one in weights) if weights else (None, None)
            found = Rows(decided[there], None if score is None else score[there], *same, None, counts[there])
            entries.append(replace(found, weight=weight, square=square))
    return replace(Rows.joined(entries), shifted=question.prior_unknown)


def _amounts(part: Counted, names: tuple[str, ...], by_score: bool) -> list[Array]:
    """How many rows of each class have each score or decision; of rows with weights Σw and Σw²."""
    if by_score:
        columns = part.scores.as_columns()
        found = [columns.counts(), *([columns.counts("_squared")] if columns.weighted else [])]
        return [one[::-1] for one in found]
    table = part.confusion
    places = np.ix_(*([names.index(name) for name in side] for side in (table.truths, table.decisions)))
    tables = []
    for counts in (one for one in (table.counts, table.squares) if one is not None):
        tables.append(np.zeros((len(names), len(names)), counts.dtype))
        tables[-1][places] = counts
    return tables


def rows_of(partly: PartlyLabelled, question: Question) -> tuple[tuple[str, ...], Rows]:
    """The classes (of two the positive one last), and the rows that were read as few labels need them."""
    read, plan = partly.read, partly.plan
    names = tuple(dict.fromkeys([*plan.classes, *plan.decisions]))
    if len(plan.classes) == 2:
        if plan.positive is None:
            raise InputError("few-labels-positive", "say which class is positive: ", Pass("positive"))
        if len(names) > 2:
            raise InputError("few-labels-decisions", "few labels are estimated for decisions between the two classes")
        names = plan.negative, plan.positive
    truth, of_decisions = (np.array([names.index(name) for name in side]) for side in (plan.classes, plan.decisions))
    score = None if read.rows.scores is None else np.asarray(read.rows.scores, np.float64)
    honest = score is not None and bool(((score >= 0) & (score <= 1)).all())
    if read.rows.prediction is not None:
        decided = of_decisions[read.rows.prediction]
    elif score is not None and honest:
        decided = (score >= _threshold(question, names)).astype(np.int64)
    else:
        raise InputError(
            "few-labels-no-probabilities",
            "the scores are no probabilities, so labels cannot be spread by them; give decisions, or calibrate them",
        )
    kept = score if honest and score is not None and _in_order(score, decided) else None
    rows = Rows(decided, kept, truth[read.rows.truth], partly.labelled, partly.numbers, weight=partly.weight)
    return names, replace(rows, shifted=question.prior_unknown)


def _threshold(question: Question, names: tuple[str, ...]) -> float:
    """The threshold: as asked, where costs are least, or a half."""
    if question["threshold"] is not None:
        return float(question["threshold"])
    if (costs := _costs(question, names)) is None:
        return 0.5
    if question["prior"] is not None and not question.prior_unknown:
        words = " and costs move the threshold, by how frequent classes are here, which few labels only estimate; give "
        raise InputError(
            "few-labels-threshold", Given("prior"), words, Pass("threshold"), ", or choose one with decide"
        )
    alarm, miss = costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]
    return float(alarm / (alarm + miss)) if alarm + miss > 0 else 0.5


def _costs(question: Question, names: tuple[str, ...]) -> Array | None:
    """What decisions cost, if given; costs that differ by row are refused."""
    if question.pricing is None:
        return None
    if question.pricing.costs.columns:
        raise InputError("few-labels-costs-by-row", Given("costs"), " differ by row, which few labels cannot estimate")
    return np.asarray(question.pricing.costs.for_table(names, names, names[-1]), np.float64)


def _in_order(score: Array, decided: Array) -> bool:
    """Whether a threshold separates the decisions; otherwise scores are ignored."""
    low, high = score[decided == 0], score[decided == 1]
    return not len(low) or not len(high) or bool(low.max() < high.min())


def estimate_rows(names: tuple[str, ...], rows: Rows, question: Question) -> FewLabels | FewClasses:
    """The estimates for these rows of two classes, of which the last is positive, or of several."""
    how = question.sampling
    if len(names) > 2:
        for name in (one for one in ("prior", "label_probability") if question[one] is not None):
            raise tried_for_two(name)
        return FewClasses(names, rows, how.confidence, how.seed)
    if rows.shifted and rows.weight is not None:
        words = " was not tried with known probabilities of labelling; leave one of them out"
        raise InputError("chances-elsewhere", Given("prior", "estimate"), words)
    costs, unit = _costs(question, names), "" if question.pricing is None else question.pricing.costs.unit
    share = _share_there(how.population, (names[0], names[1]))
    return FewLabels(names[1], names[0], how.confidence, how.seed, rows, costs, unit, prior=share)


def _share_there(there: Frequencies | Population | None, names: tuple[str, str]) -> float | None:
    """The share of positives where the model is used, if that was given."""
    if not isinstance(there, Frequencies):
        return None
    if there.cases(names) is not None:
        words = " are counts, whose own chance was not tried with few labels; give shares"
        raise InputError("few-labels-shares", Given("prior"), words)
    shares = there.deployed(names, names[1])
    return None if shares is None else float(shares[1])
