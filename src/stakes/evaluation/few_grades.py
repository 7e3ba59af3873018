"""evaluate(…, unlabelled="estimate") of numbers: a judge has graded every row, people a few of them."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from stakes.engines.unlabelled import PartlyLabelled
from stakes.errors import Given, InputError, some
from stakes.evaluation.few_rows import FewEstimates, Rows
from stakes.metrics import Estimate, find
from stakes.metrics.regression import mean_absolute_error, mean_error, mean_squared_error, root_mean_squared_error
from stakes.question.question import Question
from stakes.records import Finite, Record
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.few_labels import regressed_mean

FEWEST_OTHERS = 5
"""Least number of labelled rows that differ from the most frequent value, for an interval of a mean."""

MEAN_TRUTH = "mean_truth"
"""The mean grade by people over all rows: the judge's mean corrected for its error."""

METHOD = "few labels: a line between the judge and the labels, Student's t"

_LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    MEAN_TRUTH: lambda truth, judge: truth,
    mean_error.name: lambda truth, judge: judge - truth,
    mean_absolute_error.name: lambda truth, judge: np.abs(judge - truth),
    mean_squared_error.name: lambda truth, judge: (judge - truth) ** 2,
}


@dataclass(frozen=True, eq=False, repr=False)
class FewGrades(
    Record, FewEstimates, stakes="few grades", shown="rows labelled confidence figures as_good_as segments findings"
):
    """The mean grade and the errors of a judge, from a few grades by people and the judge's grades of all rows.

    ``found["mean_truth"]`` is the mean that people would give to all rows. It holds where labelled rows were chosen at
    random, or with known probabilities. ``as_good_as`` says how many labels alone would give an interval as narrow.
    """

    kept: Rows
    confidence: Finite
    segments: Mapping[str, "FewGrades"] = field(default_factory=dict)

    main_figures = (MEAN_TRUTH, mean_error.name, mean_absolute_error.name)
    _key_figure = MEAN_TRUTH

    @property
    def rests_on(self) -> str:
        """The key of the sentence that states the assumption."""
        return "few.at_random" if self.kept.weight is None else "few.known_chance"

    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """The mean of the truth, and how far the judge is off."""
        return {name: self[name] for name in (*_LOSSES, root_mean_squared_error.name)}

    def __getitem__(self, name: str) -> Estimate:
        name = name if name == MEAN_TRUTH else find(name).name
        if name == root_mean_squared_error.name:
            return _root(name, self[mean_squared_error.name])
        if name not in _LOSSES:
            raise InputError("few-grades-figure", f"few labels give {some(list(self.figures))}; {name} is none of them")
        if why := self.why_nothing:
            return Estimate(name, math.nan, reason=why, no_interval=why)
        value, low, high = self._mean(name)
        lost = self._losses(name)
        _, counts = np.unique(lost, return_counts=True)
        if (others := len(lost) - int(counts.max())) < FEWEST_OTHERS:
            few = f"labelled rows that differ from the most frequent value: only {others}"
            return Estimate(name, value, confidence=self.confidence, no_interval=few)
        return Estimate(name, value, math.nan, low, high, "", self.confidence, METHOD)

    def _alone(self) -> Mapping[str, Estimate]:
        alone = {name: self._mean(name, beside=False) for name in _LOSSES} if not self.why_nothing else {}
        return {name: Estimate(name, value, low=low, high=high) for name, (value, low, high) in alone.items()}

    def _losses(self, name: str) -> Array:
        here = self.kept.labelled
        return _LOSSES[name](self.kept.truth[here], self.kept.decided[here])

    def _mean(self, name: str, beside: bool = True) -> tuple[float, float, float]:
        """The mean and its limits, with or without the correction by the judge's grades ``beside`` the labels."""
        here, judge, weight = self.kept.labelled, self.kept.decided, self.kept.weight
        others, weights = (judge[here], judge) if beside else None, None if weight is None else weight[here]
        value, low, high = regressed_mean(self._losses(name), others, self.confidence, weights)
        least = -math.inf if name in (MEAN_TRUTH, mean_error.name) else 0.0
        return max(value, least), max(low, least), high

    def next_labels(self, name: str | None = None, count: int = 100) -> Array:
        """Refuse: rows to grade must be chosen at random, since the line need not fit where few rows lie."""
        raise InputError("grades-at-random", "rows whose mean is estimated are chosen at random; choose any")


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
    kept = Rows(judge, None, truth, partly.labelled, partly.numbers, weight=partly.weight)
    return FewGrades(kept, question.sampling.confidence).in_segments(kept.by_segment(by))
