"""evaluate(…, unlabelled="estimate") of numbers: a judge has graded every row, people a few of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from stakes.engines.plan import FEW_LABELS
from stakes.engines.unlabelled import PartlyLabelled
from stakes.errors import Given, InputError, some
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate, find
from stakes.metrics.regression import (
    mean_absolute_error,
    mean_error,
    mean_squared_error,
    root_mean_squared_error,
)
from stakes.question.question import Question
from stakes.records import Count, Finite, Record
from stakes.results import Reportable
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.few_labels import regressed_mean

FEWEST = 30
"""From so many labels on anything is estimated."""

FEWEST_OTHERS = 5
"""From so many labelled rows on that differ from the most frequent value a mean has an interval."""

MEAN_TRUTH = "mean_truth"
"""The mean of what people say, of all rows: corrected for how the judge errs."""

METHOD = "few labels: a line between the judge and the labels, Student's t"

_LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    MEAN_TRUTH: lambda truth, judge: truth,
    mean_error.name: lambda truth, judge: judge - truth,
    mean_absolute_error.name: lambda truth, judge: np.abs(judge - truth),
    mean_squared_error.name: lambda truth, judge: (judge - truth) ** 2,
}


@dataclass(frozen=True, eq=False)
class FewGrades(
    Record,
    Narrated,
    Reportable,
    stakes="few grades",
    form=1,
    shown="rows labelled confidence figures as_good_as segments findings",
):
    """What a few grades of people and those of a judge for all rows tell: the mean grade, and how the judge errs.

    ``found["mean_truth"]`` is the mean that people would give to all rows. It holds where labelled rows were chosen at
    random, or with known probabilities. ``as_good_as`` says how many labels alone would tell as much.
    """

    truth: Array
    judge: Array
    labelled_rows: Array
    confidence: Finite
    weight: Array | None = None
    segments: Mapping[str, "FewGrades"] = field(default_factory=dict)

    drawn_as = "few labels"
    main_figures = (MEAN_TRUTH, mean_error.name, mean_absolute_error.name)
    key_figure = MEAN_TRUTH
    positive = ""
    task = FEW_LABELS

    @property
    def rests_on(self) -> str:
        """What has to hold, as a sentence is called."""
        return "few.at_random" if self.weight is None else "few.known_chance"

    def take(self, rows: Array) -> "FewGrades":
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        here = {name: getattr(self, name)[rows] for name in ("truth", "judge", "labelled_rows")}
        return replace(self, **here, weight=weight)

    @property
    def rows(self) -> Count:
        """All rows, labelled or not."""
        return len(self.judge)

    @property
    def labelled(self) -> Count:
        """The rows that people graded."""
        return int(self.labelled_rows.sum())

    @property
    def why_nothing(self) -> str:
        """Why nothing can be estimated; empty where it can."""
        if self.labelled < FEWEST:
            return f"{self.labelled:,} of {self.rows:,} rows have a truth, and {FEWEST} at least are needed"
        return ""

    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """The mean of the truth, and how far the judge is off."""
        return {name: self[name] for name in (*_LOSSES, root_mean_squared_error.name)}

    def __getitem__(self, name: str) -> Estimate:
        name = name if name == MEAN_TRUTH else find(name).name
        if name == root_mean_squared_error.name:
            return _root(name, self[mean_squared_error.name])
        if name not in _LOSSES:
            raise InputError("few-grades-figure", f"few labels tell {some(list(self.figures))}; {name} is none of them")
        if why := self.why_nothing:
            return Estimate(name, math.nan, reason=why, no_interval=why)
        value, low, high = self._mean(name, self.judge)
        lost = self._losses(name)
        _, counts = np.unique(lost, return_counts=True)
        if (others := len(lost) - int(counts.max())) < FEWEST_OTHERS:
            few = f"labelled rows that differ from the most frequent value: only {others}"
            return Estimate(name, value, confidence=self.confidence, no_interval=few)
        least = -math.inf if name in (MEAN_TRUTH, mean_error.name) else 0.0
        return Estimate(name, max(value, least), math.nan, max(low, least), high, "", self.confidence, METHOD)

    @cached_property
    def as_good_as(self) -> Mapping[str, float]:
        """How many labels alone would give intervals as narrow."""
        found = {}
        for name in _LOSSES:
            if self[name].low is not None:
                (_, low, high), (_, least, most) = (self._mean(name, judge) for judge in (self.judge, None))
                found[name] = self.labelled * ((most - least) / (high - low)) ** 2
        return found

    def _losses(self, name: str) -> Array:
        return _LOSSES[name](self.truth[self.labelled_rows], self.judge[self.labelled_rows])

    def _mean(self, name: str, judge: Array | None) -> tuple[float, float, float]:
        beside = None if judge is None else (judge[self.labelled_rows], judge)
        weight = None if self.weight is None else self.weight[self.labelled_rows]
        return regressed_mean(self._losses(name), beside, self.confidence, weight)

    def decide(self, *_: object) -> "FewGrades":
        """Refuse: numbers have no threshold."""
        raise InputError("grades-decided", "decisions are between classes, and these are numbers")

    def next_labels(self, name: str = MEAN_TRUTH, count: int = 100) -> Array:
        """Refuse: rows to grade are chosen at random, since a line need not fit where few of them lie."""
        raise InputError("grades-at-random", "rows whose mean is estimated are chosen at random; choose any")

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per figure, for a data frame; of segments, too."""
        found: list[dict[str, object]] = [
            {"segment": "", "metric": name, "value": one.value, "low": one.low, "high": one.high,
             "no_interval": one.no_interval, "as_good_as": self.as_good_as.get(name)}
            for name, one in self.figures.items()
        ]  # fmt: skip
        return found + [{**row, "segment": name} for name, part in self.segments.items() for row in part.to_rows()]

    def __repr__(self) -> str:
        return f"<FewGrades: {self.labelled:,} of {self.rows:,} rows have a truth>"


def _root(name: str, square: Estimate) -> Estimate:
    value, low, high = (None if one is None else math.sqrt(one) for one in (square.value, square.low, square.high))
    return replace(square, name=name, value=math.nan if value is None else value, low=low, high=high)


def estimate_grades(partly: PartlyLabelled, question: Question) -> FewGrades:
    """Estimate what people would grade, from rows that a judge graded."""
    if question["prior"] is not None:
        raise InputError("prior-of-grades", Given("prior"), " is about classes, and these are numbers")
    rows, by = partly.read.rows, partly.read.by
    if rows.prediction is None:
        raise InputError("few-grades-alone", "few labels of numbers need a prediction of each row")
    truth, judge = (np.asarray(one, np.float64) for one in (rows.truth, rows.prediction))
    found = FewGrades(truth, judge, partly.labelled, question.sampling.confidence, partly.weight)
    parts = {} if by is None else {name: by.codes == code for code, name in enumerate(by.names)}
    return replace(found, segments={name: found.take(here) for name, here in parts.items()})
