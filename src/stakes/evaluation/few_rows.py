"""Rows of which a few have a truth, and what all estimates from them have in common."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NoReturn, Self

import numpy as np

from stakes.engines import memory
from stakes.engines.labels import Labels
from stakes.engines.plan import FEW_LABELS, Plan
from stakes.errors import Given, InputError, Pass, several
from stakes.evaluation.base import Evaluation
from stakes.evaluation.members import NotOfThisTaskError
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate, Metric, find
from stakes.metrics.agreement import accuracy
from stakes.question.options import Value
from stakes.records import Count, Finite
from stakes.results import Reportable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole
from stakes.tallies.pricing import Frequencies, Pricing
from stakes.text import visible
from stakes.uncertainty.few_labels import Bins, effective_labels
from stakes.uncertainty.sampling import Sampling

FEWEST = 30
"""Least number of labels for any estimate."""

FEWEST_OF_A_CLASS = 5
"""Least number of labels of a class for intervals of its figures."""

AT_RANDOM = 0.2
"""The share of the next labels that are chosen at random, whatever the output."""

_BINS = 40
"""Number of quantiles of the expected positives at which bins end, and as many of the negatives."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as few labels need them: codes of decisions (1 is positive), scores, and the truth of those labelled.

    ``numbers`` are those of the rows in the table, from 0; None where a condition selected rows elsewhere. In a tally
    each entry stands for ``counts`` rows. ``weight`` is the inverse probability of being labelled, where that is
    known, and ``square`` its square (means of both in a tally). ``shifted``: rows without a truth have other class
    frequencies than the labelled ones. ``chosen``: the labels chose the threshold.
    """

    decided: Array
    score: Array | None
    truth: Array
    labelled: Array
    numbers: Array | None = None
    counts: Array | None = None
    weight: Array | None = None
    square: Array | None = None
    shifted: bool = False
    chosen: bool = False

    def take(self, rows: Array | slice) -> "Rows":
        """Return some of the rows."""
        columns: dict[str, Value] = {one.name: getattr(self, one.name) for one in fields(self)}
        columns |= {name: one[rows] for name, one in columns.items() if isinstance(one, np.ndarray)}
        return Rows(**columns)

    @classmethod
    def joined(cls, parts: Sequence["Rows"]) -> "Rows":
        """Put rows together that are of one kind."""
        columns: dict[str, Value] = {one.name: [getattr(part, one.name) for part in parts] for one in fields(cls)}
        for name, every in columns.items():
            columns[name] = np.concatenate(every) if isinstance(every[0], np.ndarray) else every[0]
        return cls(**columns)

    def count(self, chosen: Array) -> int:
        """How many rows are chosen, by a flag for each entry."""
        return int(chosen.sum() if self.counts is None else self.counts[chosen].sum())

    def by_segment(self, by: Labels | None) -> dict[str, "Rows"]:
        """The rows of each segment, where there are any."""
        return {} if by is None else {name: self.take(by.codes == code) for code, name in enumerate(by.names)}

    @property
    def unlabelled(self) -> Array:
        """The places of all rows without a truth, of a tally each as often as there are such rows."""
        places = np.flatnonzero(~self.labelled)
        return places if self.counts is None else np.repeat(places, self.counts[places])

    @cached_property
    def places(self) -> tuple[Array, int]:
        """The bin of each row, and the number of bins; decisions have bins of their own."""
        if self.score is None:
            return self.decided.astype(np.int64), max(2, int(self.decided.max(initial=0)) + 1)
        edges = _edges(self.score, self.counts)
        bins = np.searchsorted(edges, self.score, side="right") + self.decided * (len(edges) + 1)
        numbers = np.cumsum(np.bincount(bins, self.counts) > 0)  # of the bins that hold rows
        return numbers[bins] - 1, int(numbers[-1])

    @cached_property
    def bins(self) -> Bins:
        """The sums by bin that estimates need."""
        codes, many = self.places

        def summed(values: Array | None = None, chosen: Array | slice = slice(None)) -> Array:
            if self.counts is not None:
                values = self.counts[chosen] if values is None else values * self.counts[chosen]
            return np.bincount(codes[chosen], values, many).astype(np.float64)

        score = np.zeros(len(codes)) if self.score is None else self.score
        (here,), (labels, unseen), cell = np.nonzero(self.labelled), self._labels(), np.zeros(many, np.int64)
        cell[codes] = self.decided
        positive = labels * (self.truth[here] == 1)
        by_class = summed(positive, here), summed(labels - positive, here)
        elsewhere = summed(~self.labelled) if self.shifted else None
        return Bins(summed(), *by_class, summed(score), summed(score**2), cell, unseen, elsewhere)

    def weights(self, chosen: Array) -> tuple[Array, Array]:
        """The sums of weights and of their squares of chosen entries."""
        assert self.weight is not None
        many = 1 if self.counts is None else self.counts[chosen]
        square = self.weight**2 if self.square is None else self.square
        return many * self.weight[chosen], many * square[chosen]

    def _labels(self) -> tuple[Array, tuple[float, float] | None]:
        """How many labels each labelled row counts for; and, with weights, one more label of each decision.

        Together those of a decision count for their effective number. One more could be any of its rows, labelled or
        not: its weight is their weighted mean weight.
        """
        decided, truth = self.decided[self.labelled], self.truth[self.labelled]
        labels, unseen = np.ones(len(decided)), [1.0, 1.0]
        if self.weight is None:
            return labels, None
        for decision in (0, 1):
            here, all_rows = decided == decision, self.decided == decision
            if here.any():
                weight, square = self.weights(self.labelled & all_rows)
                each = effective_labels(weight, square, truth[here]) / weight.sum()
                labels[here] = each * self.weight[self.labelled][here]
                sums, squares = self.weights(all_rows)
                unseen[decision] = max(each * squares.sum() / sums.sum(), 1.0)
        return labels, (unseen[0], unseen[1])


def _edges(score: Array, counts: Array | None) -> Array:
    """The ends of bins: each holds a small part of the expected positives, and of the expected negatives.

    Bins of equal numbers of rows would be wide where rare positives are, and their order within a bin would be lost.
    """
    order = None if counts is None else np.argsort(score, kind="stable")
    ordered, many = (np.sort(score), 1.0) if order is None or counts is None else (score[order], counts[order])
    steps = np.linspace(0, 1, _BINS + 1)[1:-1]
    promised = (np.cumsum(many * ordered), np.cumsum(many * (1 - ordered)))
    return np.unique(ordered[np.concatenate([np.searchsorted(total, steps * total[-1]) for total in promised])])


class FewEstimates(Narrated, Reportable):
    """The base of all estimates from few labels: their number, the rows to label next, all as a table."""

    kept: Rows
    confidence: Finite
    seed: int
    segments: Mapping[str, "FewEstimates"]

    plotted_as = "few labels"
    task = FEW_LABELS
    _key_figure = accuracy.name

    @property
    def figures(self) -> Mapping[str, Estimate]:
        """The usual figures; others by their name."""
        raise NotImplementedError

    @property
    def main_figures(self) -> tuple[str, ...]:
        """The figures that are shown first."""
        raise NotImplementedError

    @cached_property
    def as_good_as(self) -> Mapping[str, float]:
        """How many labels alone would give intervals as narrow, for each figure that both have."""
        both = {name: (self[name], alone) for name, alone in self._alone().items()}
        widths = {name: [None if e.low is None or e.high is None else e.high - e.low for e in two]
                  for name, two in both.items()}  # fmt: skip
        return {name: self.labelled * (alone / own) ** 2 for name, (own, alone) in widths.items()
                if own and alone is not None}  # fmt: skip

    def _alone(self) -> Mapping[str, Estimate]:
        """The figures of the labelled rows by themselves."""
        raise NotImplementedError

    @property
    def rests_on(self) -> str:
        """The key of the sentence that states the assumption."""
        return "few.provided"

    @property
    def why_nothing(self) -> str:
        """Why nothing can be estimated, as from too few labels; empty where it can."""
        if self.labelled < FEWEST:
            return f"{self.labelled:,} of {self.rows:,} rows have a truth, and {FEWEST} at least are needed"
        return ""

    def __getitem__(self, name: str) -> Estimate:
        raise NotImplementedError

    def refuse_unless_enough(self) -> Self:
        """Return the same, if there are labels enough for any estimate."""
        if why := self.why_nothing:
            raise InputError("too-few-labels", f"{why}; label more, chosen at random")
        return self

    def in_segments(self, parts: Mapping[str, Rows]) -> Self:
        """Return the same with the estimates of each segment."""
        whole: Value = self
        segments = {name: dataclasses.replace(whole, kept=part) for name, part in parts.items()}
        found: Self = dataclasses.replace(whole, segments=segments)
        return found

    def __getattr__(self, name: str) -> NoReturn:
        """Say why a member of other evaluations is missing here."""
        if name.startswith("_") or hasattr(type(self), name) or not hasattr(Evaluation, name):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)
        raise NotOfThisTaskError(
            "few-labels-member",
            f"ev.{name} needs the truth of every row, and few labels give figures, such as ev['accuracy']; evaluate "
            "the labelled rows alone",
        )

    def decide(self, best: str | None = None, there: Frequencies | None = None, **asked: Value) -> "FewEstimates":
        """Return the same at the chosen threshold, or say why there is none; other options belong to the rows."""
        if asked:
            words = ": few labels choose a threshold by the options of the rows; give it there: decide(rows, …, "
            raise InputError("few-labels-decide-rows", several(list(asked)), words, Pass("unlabelled", "estimate"), ")")
        return self._decide(best, there)

    def _decide(self, best: str | None, there: Frequencies | None) -> "FewEstimates":
        raise InputError(
            "few-labels-decided",
            "few labels choose a threshold of scores of two classes, and these are decisions or numbers; evaluate them",
        )

    @property
    def rows(self) -> Count:
        """All rows, labelled or not."""
        return self.kept.count(np.ones(len(self.kept.labelled), bool))

    @cached_property
    def labelled(self) -> Count:
        """The rows that have a truth."""
        return self.kept.count(self.kept.labelled)

    def next_labels(self, name: str | None = None, count: int = 100) -> Array:
        """Return the numbers (from 0) of the rows to label next for a figure: those that narrow its interval most.

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
        return np.asarray(self.kept.numbers[np.sort(self._next(find(name or self._key_figure), count))])

    def _next(self, metric: Metric, count: int) -> Array:
        generator = np.random.default_rng(self.seed)
        free = generator.permutation(self.kept.unlabelled)
        chosen, left = np.split(free, [math.ceil(AT_RANDOM * count)])
        worth = self._worth_of_labels(metric)[self.kept.places[0][left]]
        keys = np.log(generator.random(len(left))) / np.maximum(worth, 1e-300)  # a weighted sample (Efraimidis 2006)
        best = np.argsort(-keys, kind="stable")[: max(count - len(chosen), 0)]
        return np.append(chosen, left[best])

    def _worth_of_labels(self, metric: Metric) -> Array:
        """The worth of another label for a figure, in each bin."""
        raise NotImplementedError

    def sentences(self) -> Iterator[str]:
        """Yield the findings in plain words."""
        return (visible(words) for found in self.findings for words in found.words)

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per figure and segment, for a data frame."""
        found: list[dict[str, object]]
        found = [{"segment": "", "metric": name, "value": one.value, "low": one.low, "high": one.high,
                  "no_interval": one.no_interval, "as_good_as": self.as_good_as.get(name)}
                 for name, one in self.figures.items()]  # fmt: skip
        return found + [{**row, "segment": name} for name, part in self.segments.items() for row in part.to_rows()]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.labelled:,} of {self.rows:,} rows have a truth>"


def evaluate_labelled(
    rows: Rows, names: Sequence[str], sampling: Sampling, pricing: Pricing | None = None, by: Labels | None = None
) -> Evaluation:
    """Evaluate the labelled rows by themselves; of two classes the last is positive."""
    here, plan = rows.labelled, Plan((*names,), (*names,), names[1] if len(names) == 2 else None)
    alone = memory.Rows(rows.truth[here], rows.decided[here], None if rows.score is None else rows.score[here])
    if rows.weight is not None and np.ptp(rows.weight[here]):
        alone = alone.standing_for(*rows.weights(here))
    elif rows.counts is not None:
        alone = alone.standing_for(rows.counts[here], None)
    return Evaluation(memory.count_classes(plan, alone, by), sampling=sampling, pricing=pricing)
