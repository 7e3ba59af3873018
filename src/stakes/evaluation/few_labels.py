"""evaluate(…, unlabelled="estimate"): many rows have an output, a few of them a truth."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from stakes import errors
from stakes.decisions.thresholds.objectives import BestFigure
from stakes.engines.columns import Data
from stakes.engines.labels import Labels
from stakes.engines.plan import FEW_LABELS, Counted
from stakes.engines.reading import RowQuestion
from stakes.engines.unlabelled import LABELLED, PartlyLabelled, count_partly_elsewhere, parts_of, read_partly
from stakes.errors import Given, InputError, Pass
from stakes.evaluation.base import Evaluation
from stakes.evaluation.few_grades import FEWEST, FewGrades, estimate_grades
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate, Metric, find
from stakes.metrics.agreement import accuracy, balanced_accuracy, f1, kappa, mcc
from stakes.metrics.cost import expected_cost
from stakes.metrics.probability import brier_score
from stakes.metrics.ranking import auc
from stakes.metrics.rates import alarm_rate, precision, prevalence, recall, specificity
from stakes.question.options import Value
from stakes.question.question import Question
from stakes.records import Count, Finite, Record
from stakes.results import Reportable
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole
from stakes.tallies.population import Population
from stakes.tallies.pricing import Frequencies
from stakes.text import visible
from stakes.uncertainty.few_labels import SOFTENED, Bins, Draws, draw_decisions, draw_tables, effective_labels

FEWEST_OF_A_CLASS = 5
"""From so many labels of a class on figures of that class have an interval."""

AT_RANDOM = 0.2
"""The share of the next labels that are chosen at random, whatever the model says."""

METHOD = "few labels: a curve between scores and labels, moved to the labels of each decision"
METHOD_OF_DECISIONS = "few labels: the labels of each decision"

_BINS = 40
"""About so many bins follow the positives that the scores promise, and as many the negatives."""

_ANY_CLASS = (prevalence, alarm_rate, accuracy, brier_score, expected_cost)
_TABLE = (prevalence, alarm_rate, accuracy, recall, specificity, precision, f1, mcc, kappa, balanced_accuracy)


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as few labels need them: codes of decisions (1 is positive), scores, and the truth of those labelled.

    ``numbers`` are those of the rows in the table, from 0; None where a condition chose them out of sight. In a tally
    each entry stands for as many rows as ``counts`` says. ``weight`` is how many rows a labelled one stands for, where
    the probability of being labelled is known. ``shifted`` rows without a truth have other class frequencies than the
    labelled ones. The threshold was ``chosen`` by the labels.
    """

    decided: Array
    score: Array | None
    truth: Array
    labelled: Array
    numbers: Array | None = None
    counts: Array | None = None
    weight: Array | None = None
    shifted: bool = False
    chosen: bool = False

    def take(self, rows: Array | slice) -> "Rows":
        """Return some of the rows."""
        columns: dict[str, Value] = {one.name: getattr(self, one.name) for one in fields(self)}
        taken = {name: one[rows] for name, one in columns.items() if isinstance(one, np.ndarray)}
        return Rows(**{**columns, **taken})

    def count(self, chosen: Array) -> int:
        """How many rows are chosen, by what is said of each entry."""
        return int(chosen.sum() if self.counts is None else self.counts[chosen].sum())

    @property
    def unlabelled(self) -> Array:
        """The places of all rows without a truth, of a tally each as often as there are such rows."""
        places = np.flatnonzero(~self.labelled)
        return places if self.counts is None else np.repeat(places, self.counts[places])

    @cached_property
    def places(self) -> tuple[Array, int]:
        """The bin of each row, and how many there are: of each decision apart."""
        if self.score is None:
            return self.decided.astype(np.int64), 2
        edges = _edges(self.score, self.counts)
        bins = np.searchsorted(edges, self.score, side="right") + self.decided * (len(edges) + 1)
        numbers = np.cumsum(np.bincount(bins, self.counts) > 0)  # of the bins that hold rows
        return numbers[bins] - 1, int(numbers[-1])

    @cached_property
    def bins(self) -> Bins:
        """All that is needed of the rows: sums that add up."""
        codes, many = self.places

        def summed(values: Array | None = None) -> Array:
            if self.counts is not None:
                values = self.counts if values is None else values * self.counts
            return np.bincount(codes, values, many).astype(np.float64)

        score = np.zeros(len(codes)) if self.score is None else self.score
        labels, unseen = self._labels()
        positive = labels * (self.truth == 1)
        sums = (summed(), summed(positive), summed(labels - positive), summed(score), summed(score**2))
        elsewhere = summed(~self.labelled) if self.shifted else None
        return Bins(*sums, np.round(summed(self.decided) / summed()).astype(np.int64), unseen, elsewhere)

    def _labels(self) -> tuple[Array, tuple[float, float] | None]:
        """How many labels each row counts for; and, if they weigh differently, one more of each decision at most.

        Together those of a decision count for as many plain labels as tell its share of positives as well.
        """
        labels = self.labelled.astype(np.float64)
        if self.weight is None:
            return labels, None
        unseen = []
        for decision in (0, 1):
            here = self.labelled & (self.decided == decision)
            labels[here] = effective_labels(self.weight[here], self.truth[here])
            unseen.append(float(max(labels[here].max(initial=0.0), 1.0)))
        return labels, (unseen[0], unseen[1])


def _edges(score: Array, counts: Array | None) -> Array:
    """Where bins end: each has a small part of the positives that the scores promise, and of the negatives.

    Bins of equal numbers of rows would be wide where rare positives are, and their order within a bin would be lost.
    """
    order = None if counts is None else np.argsort(score, kind="stable")
    ordered, many = (np.sort(score), 1.0) if order is None or counts is None else (score[order], counts[order])
    steps = np.linspace(0, 1, _BINS + 1)[1:-1]
    promised = (np.cumsum(many * ordered), np.cumsum(many * (1 - ordered)))
    return np.unique(ordered[np.concatenate([np.searchsorted(total, steps * total[-1]) for total in promised])])


@dataclass(frozen=True, eq=False)
class FewLabels(
    Record,
    Narrated,
    Reportable,
    stakes="few labels",
    form=1,
    shown="rows labelled labelled_positives positive threshold prior confidence figures as_good_as segments findings",
):
    """What a few labelled rows and many others tell about a model of two classes.

    ``ev["recall"]`` is an :class:`~stakes.Estimate`. ``as_good_as`` says how many labels alone would tell as much about
    each figure. It holds where whether a row was labelled depends on its output only: labels of rows that somebody
    found interesting for another reason mislead, and nothing in the numbers shows it. With ``label_probability=`` it
    may depend on anything, if the probability is right; with ``prior="estimate"`` figures are those of the rows without
    a truth, whose class frequencies may differ. ``prior`` is the share of positives where the model is used, if it is
    another one. The ``threshold`` was chosen, by costs or by the ``best`` figure.
    """

    positive: str
    negative: str
    confidence: Finite
    seed: int
    kept: Rows
    alone: Mapping[str, float] = field(default_factory=dict)
    costs: Array | None = None
    unit: str = ""
    threshold: Finite | None = None
    segments: Mapping[str, "FewLabels"] = field(default_factory=dict)
    prior: Finite | None = None
    best: str = ""

    drawn_as = "few labels"
    key_figure = accuracy.name
    task = FEW_LABELS

    @property
    def rows(self) -> Count:
        """All rows, labelled or not."""
        return int(self.kept.bins.rows.sum())

    @cached_property
    def labelled(self) -> Count:
        """The rows that have a truth."""
        return self.kept.count(self.kept.labelled)

    @cached_property
    def labelled_positives(self) -> Count:
        """The labelled rows that are positive."""
        return self.kept.count(self.kept.labelled & (self.kept.truth == 1))

    @property
    def rests_on(self) -> str:
        """What has to hold, as a sentence is called."""
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

    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """The usual figures; others by their name: ``ev["f_beta(beta=2)"]``."""
        usual: list[Metric] = [*_TABLE, *((auc, brier_score) if self._of_scores else ())]
        return {one.name: self[one.name] for one in (*usual, *((expected_cost,) if self.costs is not None else ()))}

    @property
    def as_good_as(self) -> Mapping[str, float]:
        """How many labels alone would give intervals as narrow, of each figure that both have."""
        found = {}
        for name, one in self.figures.items():
            if name == alarm_rate.name:
                continue  # it is known of all rows, and needs no label
            if one.low is not None and one.high is not None and name in self.alone and one.high > one.low:
                found[name] = self.labelled * (self.alone[name] / (one.high - one.low)) ** 2
        return found

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
        """The figures that are told first."""
        known = () if self.prior is None else (prevalence.name,)
        usual = (prevalence.name, accuracy.name, recall.name, *((auc.name,) if self._of_scores else ()))
        return tuple(name for name in usual if name not in known)

    @property
    def _of_scores(self) -> bool:
        """Whether figures of scores are told: of other places their intervals held too rarely."""
        return self.kept.score is not None and not self.kept.shifted

    def next_labels(self, name: str = accuracy.name, count: int = 100) -> Array:
        """Return which rows to label next for a figure, by their numbers from 0: those that narrow its interval most.

        A fifth of them is chosen at random among all rows without a truth.
        """
        check_whole("count", count, 1)
        if self.kept.shifted:
            words = " is for rows that nobody labels; to choose some of them, leave it out"
            raise InputError("labels-elsewhere", Given("prior", "estimate"), words)
        if self.kept.numbers is None:
            raise InputError(
                "label-all-rows",
                "rows to label are chosen among all rows of a table; leave out ",
                Pass("where"),
                ", or keep the rows of a large file with ",
                Pass("exact", True),
            )
        return np.asarray(self.kept.numbers[np.sort(self._next(find(name), count))])

    def _next(self, metric: Metric, count: int) -> Array:
        generator = np.random.default_rng(self.seed)
        free = generator.permutation(self.kept.unlabelled)
        chosen, left = np.split(free, [math.ceil(AT_RANDOM * count)])
        worth = self._worth_of_labels(metric)[self.kept.places[0][left]]
        keys = np.log(generator.random(len(left))) / np.maximum(worth, 1e-300)  # a weighted sample (Efraimidis 2006)
        best = np.argsort(-keys, kind="stable")[: max(count - len(chosen), 0)]
        return np.append(chosen, left[best])

    def decide(self, best: str | None = None, there: Frequencies | None = None) -> "FewLabels":
        """Return the same at the threshold that costs least, or has the ``best`` figure, by the mean of all draws."""
        rows = self.kept
        if (self.costs is None and best is None) or rows.score is None or rows.shifted:
            words = "few labels decide by probabilities of rows of one place, and by costs or a figure; give "
            raise InputError("few-labels-decide", words, Pass("score"), " and ", Pass("costs"), " or ", Pass("best"))
        if why := self._too_few(auc, 0.0, 1.0):
            raise InputError("too-few-labels", why)
        found = replace(self, prior=_share_there(there, (self.negative, self.positive)))
        bins, order = rows.bins, np.argsort(rows.bins.means)
        drawn = found._at_prior(self._curve)
        below = [np.append(0.0, np.cumsum(part[:, order].mean(axis=0))) for part in (drawn.negatives, drawn.positives)]
        cells = np.stack([np.stack([part, part[-1] - part], axis=-1) for part in below], axis=-2)
        if best is not None:
            place = BestFigure.parse(best).best_place(self._confusion(cells))
        else:
            place = int(np.argmin((cells * self.costs).sum((-1, -2))))
        lowest = np.full(len(bins.rows), np.inf)
        np.minimum.at(lowest, rows.places[0], rows.score)
        threshold = float(lowest[order][place]) if place < len(order) else float(np.nextafter(rows.score.max(), 2.0))
        kept = replace(rows, decided=(rows.score >= threshold).astype(np.int64), chosen=True)
        return replace(found, kept=kept, alone={}, threshold=threshold, best=best or "")

    def sentences(self) -> Iterator[str]:
        """Tell what the labels tell in plain words."""
        return (visible(words) for found in self.findings for words in found.words)

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per figure, for a data frame; of segments, too."""
        found = [{"segment": "", **_flat(one), "as_good_as": self.as_good_as.get(name)}
                 for name, one in self.figures.items()]  # fmt: skip
        return found + [{**row, "segment": name} for name, part in self.segments.items() for row in part.to_rows()]

    def __repr__(self) -> str:
        return f"<FewLabels: {self.labelled:,} of {self.rows:,} rows have a truth>"

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
        """Figures of draws; rankings, losses, other places and chosen thresholds believe the curve alone, too."""
        found = self._figure(metric, self._draws)
        by_labels = metric.tally is Confusion and not self.kept.shifted and not self.kept.chosen
        if self.kept.score is None or by_labels:
            return found
        return np.concatenate([found, self._figure(metric, self._soft_draws)])

    def _figure(self, metric: Metric, drawn: Draws) -> Array:
        """A figure of tables that were drawn; refuse those that few labels do not tell."""
        drawn = self._at_prior(drawn)
        if metric.name in (auc.name, brier_score.name):
            if self.kept.score is None:
                raise InputError("few-labels-no-score", f"{metric.name} needs scores, and there are only decisions")
            if not self._of_scores:
                words = f": intervals of {metric.name} held too rarely; evaluate the labelled rows alone"
                raise InputError("figure-elsewhere", Given("prior", "estimate"), words)
            return _auc(drawn) if metric.name == auc.name else self._brier(drawn)
        return self.figure_of_cells(metric, self._table(drawn))

    def _at_prior(self, drawn: Draws) -> Draws:
        """The same rows where positives are as frequent as the prior says."""
        if self.prior is None:
            return drawn
        shares = zip((drawn.positives, drawn.negatives), (self.prior, 1 - self.prior), strict=True)
        return Draws(*(share * part / np.maximum(part.sum(-1, keepdims=True), 1e-300) for part, share in shares))

    def figure_of_cells(self, metric: Metric, cells: Array) -> Array:
        """A figure of decisions of each table that was drawn."""
        if metric.name == expected_cost.name and metric.lacking and self.costs is not None:
            return np.asarray((cells * self.costs).sum((-1, -2)) / cells.sum((-1, -2)))
        if metric.tally is not Confusion or metric.lacking:
            raise InputError(
                "few-labels-figure",
                f"few labels tell figures of decisions, auc and brier_score; {metric.name} is none of them",
            )
        return np.asarray(metric.of(self._confusion(cells)), np.float64)

    def _confusion(self, cells: Array) -> Confusion:
        names = (self.negative, self.positive)
        return Confusion(names, names, cells, squares=cells, positive=self.positive)

    def _table(self, drawn: Draws) -> Array:
        return cells_of(drawn, self.kept.bins.cell)

    def _brier(self, drawn: Draws) -> Array:
        bins = self.kept.bins
        mean, square = bins.means, bins.square / np.maximum(bins.rows, 1e-300)
        lost = drawn.positives @ (1 - 2 * mean + square) + drawn.negatives @ square
        return np.asarray(lost / (drawn.positives + drawn.negatives).sum(-1))

    @property
    def why_nothing(self) -> str:
        """Why nothing can be estimated: too few labels, or those of one class alone; empty where it can."""
        if self.labelled < FEWEST:
            return f"{self.labelled:,} of {self.rows:,} rows have a truth, and {FEWEST} at least are needed"
        if not 0 < self.labelled_positives < self.labelled:
            return f"every labelled row is {(self.positive if self.labelled_positives else self.negative)!r}"
        return ""

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
        share = float(np.median(self._figure_of_draws(prevalence)))
        share = share if kind == "positive" else 1 - share
        more = math.ceil((FEWEST_OF_A_CLASS - seen) / max(share, 1e-3))
        few = f"labelled positives: only {seen}" if kind == "positive" else f"labelled negatives: only {seen}"
        where = ""
        if self.kept.score is not None and not self.kept.shifted:
            best = self.kept.score[self._next(recall if kind == "positive" else specificity, more)]
            where = f"; best those with scores from {np.quantile(best, 0.1):.2g} to {np.quantile(best, 0.9):.2g}"
        return f"{few}; anything from {low:.2g} to {high:.2g} fits; label about {more:,} more{where}"

    def _worth_of_labels(self, metric: Metric) -> Array:
        """How much a label tells in each bin: what turning a row to positive changes, times how open that is."""
        bins = self.kept.bins
        share = (self._draws.positives / np.maximum(self._draws.positives + self._draws.negatives, 1e-300)).mean(axis=0)
        usual, step = Draws((bins.rows * share)[None], (bins.rows * (1 - share))[None]), 1e-3 * bins.rows.sum()
        moved = step * np.eye(len(bins.rows))
        turned = Draws(usual.positives + moved, np.maximum(usual.negatives - moved, 0.0))
        with np.errstate(all="ignore"):
            slope = np.abs(self._figure(metric, turned) - self._figure(metric, usual))
        return np.asarray(np.nan_to_num(slope) * np.sqrt(np.maximum(share * (1 - share), 1e-6)))


def cells_of(drawn: Draws, decision: Array) -> Array:
    """The four cells of each draw, the negative class and decision first; ``decision`` is that of each bin."""
    said = np.stack([decision == 0, decision == 1], axis=-1).astype(np.float64)
    return np.stack([drawn.negatives @ said, drawn.positives @ said], axis=1)


def _auc(drawn: Draws) -> Array:
    """Bins are in the order of decisions first: those of one decision lie on one side, as a threshold parts them."""
    wins = drawn.positives * (np.cumsum(drawn.negatives, axis=-1) - drawn.negatives / 2)
    return np.asarray(wins.sum(-1) / (drawn.positives.sum(-1) * drawn.negatives.sum(-1)))


def _flat(one: Estimate) -> dict[str, object]:
    return {"metric": one.name, "value": one.value, "low": one.low, "high": one.high, "no_interval": one.no_interval}


# ── from rows, and from tallies of them ──────────────────────────────────────────────────────────────────────────
def estimate_few(question: Question, data: Data) -> "FewLabels | FewGrades":
    """Read rows of which some have a truth (or take their tally), and estimate what all of them would tell."""
    counted = data if isinstance(data, Counted) else None
    if counted is None and question["exact"] is not True:
        counted = count_partly_elsewhere(data, row_question(question))
    if counted is not None:
        data = counted
        names = _names_in(data)
        parts = {name: _of_tally(part, names, question) for name, part in parts_of(data).items()}
    else:
        partly = read_partly(data, row_question(question))
        if partly.read.plan is None:
            return enough(estimate_grades(partly, question))
        names = (partly.plan.negative, str(partly.plan.positive))
        return enough(with_segments(rows_of(partly, question), names, partly.read.by, question))
    found = {name: estimate_rows(names, part, question) for name, part in parts.items()}
    return replace(enough(found.pop("")), segments=found)


def with_segments(rows: Rows, names: tuple[str, str], by: Labels | None, question: Question) -> FewLabels:
    """What the labels tell about all rows, and about those of each segment."""
    parts = {} if by is None else {name: np.flatnonzero(by.codes == code) for code, name in enumerate(by.names)}
    segments = {name: estimate_rows(names, rows.take(here), question) for name, here in parts.items()}
    return replace(estimate_rows(names, rows, question), segments=segments)


def _refuse_labels_elsewhere(found: FewLabels) -> None:
    """Refuse labels that lie at other scores than all rows without one."""
    if (seen := found.labelled_scores) is None:
        return
    low, high, _ = seen
    rest = found.kept.score[~found.kept.labelled] if found.kept.score is not None else np.zeros(0)
    if len(rest) and (rest.min() > high or rest.max() < low):
        raise InputError(
            "labels-at-other-scores",
            f"labelled rows have scores from {low:.3g} to {high:.3g}, and all others from {rest.min():.3g} to "
            f"{rest.max():.3g}, of which no label tells; label some there",
        )


Found = TypeVar("Found", FewLabels, FewGrades)


def enough(found: Found) -> Found:
    """The estimate, if there are labels enough for any, and where rows lie."""
    if why := found.why_nothing:
        raise InputError("too-few-labels", f"{why}; label more, chosen at random")
    if isinstance(found, FewLabels):
        _refuse_labels_elsewhere(found)
    return found


def row_question(question: Question) -> RowQuestion:
    """What is asked of the rows; what means nothing to few labels is refused."""
    for name in ("training_prior", "design", *(("prior",) if question.verb == "compare" else ())):
        if name in question.changed:
            raise InputError(
                "few-labels-as-they-are", Given(name), " means nothing to few labels: they tell of these rows"
            )
    return RowQuestion(**{name: value for name, value in question.rows.items() if name != "exact"})


def _names_in(counted: Counted) -> tuple[str, str]:
    """The negative and the positive class of a tally."""
    table = counted.scores or counted.confusion
    if table.positive is None:
        raise InputError("few-labels-positive", "say which class is positive: ", Pass("positive"))
    return next(name for name in table.class_sizes() if name != table.positive), table.positive


def _of_tally(parts: Mapping[str, Counted], names: tuple[str, str], question: Question) -> Rows:
    """The rows of a tally: one entry for each score or decision, of either class if labelled."""
    first = next(iter(parts.values()))
    by_score = first.scores is not None and (first.confusion is None or first.decided_by != "rows")
    if question["threshold"] is not None and not by_score:
        raise errors.threshold_and_prediction()
    counted = first.threshold if question["threshold"] is None else None
    threshold = _threshold(question, *names) if counted is None else counted
    entries = []
    for kind, part in parts.items():
        if by_score:
            part.scores.at(threshold)  # refuses one within a bin
            columns = part.scores.as_columns()
            score = np.asarray(columns.scores, np.float64)
            decided = (score >= threshold).astype(np.int64)
            cells = np.stack([columns.values[name] for name in ("negatives", "positives")])
        else:
            table, score, decided = part.confusion, np.zeros(2), np.arange(2)
            cells = np.asarray(table.counts)[[table.truths.index(name) for name in names]]
            cells = cells[:, [table.decisions.index(name) for name in names]]
        for truth, counts in enumerate(cells):
            here = np.full((2, len(score)), [[truth], [kind == LABELLED]])
            entries.append(np.vstack([decided, score, here, counts])[:, counts > 0])
    decided, score, truth, labelled, counts = np.hstack(entries)
    kept = score if by_score else None
    return Rows(decided.astype(np.int64), kept, truth.astype(np.int64), labelled > 0, None, counts.astype(np.int64))


def rows_of(partly: PartlyLabelled, question: Question) -> Rows:
    """The rows of two classes that were read, as few labels need them."""
    read, plan = partly.read, partly.plan
    if plan.positive is None:
        raise InputError("few-labels-positive", "say which class is positive: ", Pass("positive"))
    if {*plan.decisions} != {*plan.classes}:
        raise InputError("few-labels-decisions", "few labels are estimated for decisions between the two classes")
    places = {name: i for i, name in enumerate(plan.classes)}
    truth = (read.rows.truth == places[plan.positive]).astype(np.int64)
    score = None if read.rows.scores is None else np.asarray(read.rows.scores, np.float64)
    honest = score is not None and bool(((score >= 0) & (score <= 1)).all())
    if read.rows.prediction is not None:
        decided = (read.rows.prediction == list(plan.decisions).index(plan.positive)).astype(np.int64)
    elif score is not None and honest:
        decided = (score >= _threshold(question, plan.negative, plan.positive)).astype(np.int64)
    else:
        raise InputError(
            "few-labels-no-probabilities",
            "the scores are no probabilities, so labels cannot be spread by them; give decisions, or calibrate them",
        )
    kept = score if honest and score is not None and _in_order(score, decided) else None
    return Rows(decided, kept, truth, partly.labelled, partly.numbers, weight=partly.weight)


def _threshold(question: Question, negative: str, positive: str) -> float:
    """From which probability on to decide: as asked, where costs are least, or from a half on."""
    if question["threshold"] is not None:
        return float(question["threshold"])
    if question.pricing is None or question.pricing.costs.columns:
        return 0.5
    names = (negative, positive)
    if question["prior"] is not None and not question.prior_unknown:
        words = " and costs move the threshold, by how frequent classes are here, which few labels only estimate; give "
        raise InputError(
            "few-labels-threshold", Given("prior"), words, Pass("threshold"), ", or choose one with decide"
        )
    costs = np.asarray(question.pricing.costs.for_table(names, names, positive), np.float64)
    alarm, miss = costs[0, 1] - costs[0, 0], costs[1, 0] - costs[1, 1]
    return float(alarm / (alarm + miss)) if alarm + miss > 0 else 0.5


def _in_order(score: Array, decided: Array) -> bool:
    """Whether a threshold parts the decisions; others say nothing about the ranking, and are taken by themselves."""
    low, high = score[decided == 0], score[decided == 1]
    return not len(low) or not len(high) or bool(low.max() < high.min())


def estimate_rows(names: tuple[str, str], rows: Rows, question: Question) -> FewLabels:
    """What the labels tell about these rows; ``names`` are the negative and the positive class."""
    negative, positive = names
    costs, unit = None, ""
    if question.pricing is not None:
        if question.pricing.costs.columns:
            raise InputError("few-labels-costs-by-row", Given("costs"), " differ by row, which few labels do not tell")
        costs = np.asarray(question.pricing.costs.for_table(names, names, positive), np.float64)
        unit = question.pricing.costs.unit
    rows = replace(rows, shifted=question.prior_unknown)
    alone = {} if rows.shifted or not rows.labelled.any() else _alone(rows, names, question)
    how, share = question.sampling, _share_there(question.sampling.population, names)
    return FewLabels(positive, negative, how.confidence, how.seed, rows, alone, costs, unit, prior=share)


def _share_there(there: Frequencies | Population | None, names: tuple[str, str]) -> float | None:
    """The share of positives where the model is used, if that was given."""
    if not isinstance(there, Frequencies):
        return None
    if there.cases(names) is not None:
        words = " are counts, whose own chance was not tried with few labels; give shares"
        raise InputError("few-labels-shares", Given("prior"), words)
    shares = there.deployed(names, names[1])
    return None if shares is None else float(shares[1])


def _alone(rows: Rows, names: tuple[str, str], question: Question) -> dict[str, float]:
    """How wide the intervals are that the labelled rows give by themselves."""
    found = evaluate_labelled(rows, names, question)
    wanted = [*_TABLE, *((auc, brier_score) if rows.score is not None else ())]
    widths = {one.name: found[one.name] for one in wanted}
    return {name: one.high - one.low for name, one in widths.items() if one.low is not None and one.high is not None}


def evaluate_labelled(rows: Rows, names: tuple[str, str], question: Question, by: Labels | None = None) -> Evaluation:
    """The labelled rows by themselves, evaluated as usual."""
    from stakes.engines.counting import count_rows

    here, both = rows.labelled, np.array(names, object)
    columns: dict[str, Value] = {} if rows.counts is None else {"frequency": rows.counts[here]}
    columns |= {"truth": both[rows.truth[here]], "prediction": both[rows.decided[here]]}
    if rows.score is not None:
        columns["score"] = rows.score[here]
    if by is not None:
        columns["by"] = np.array(by.names, object)[by.codes]
    if rows.weight is not None and np.ptp(rows.weight[here]):
        columns["weight"] = rows.weight[here]
    counted = count_rows(None, **columns, positive=names[1], classes=list(names))
    return Evaluation(counted, sampling=question.sampling, pricing=question.pricing)
