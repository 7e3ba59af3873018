"""evaluate(…, unlabelled="estimate") of several classes: every row has a decision, a few of them a truth."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from stakes.errors import InputError, short, some
from stakes.evaluation.few_rows import FEWEST_OF_A_CLASS, FewEstimates, Rows, evaluate_labelled
from stakes.metrics import Estimate, Metric, find
from stakes.metrics.agreement import accuracy, kappa, mcc
from stakes.records import Finite, Record
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.tallies.names import figure_of_class, written_of_class
from stakes.uncertainty.few_labels import stratified
from stakes.uncertainty.influence import Influence, limits
from stakes.uncertainty.sampling import Sampling

METHOD = "few labels: the labels of each decision, and what one of them changes"

_ANY_CLASS = (accuracy.name, kappa.name, mcc.name)
_FEWEST_OF_EACH = {"macro_recall": 15}
"""Figures that need more labels of every class than others: with 10 of a rare one their intervals held in 86 of 100."""

_FIGURES = (*_ANY_CLASS, "macro_recall", "macro_precision", "macro_f1")


@dataclass(frozen=True, eq=False, repr=False)
class FewClasses(
    Record,
    FewEstimates,
    stakes="few classes",
    shown="rows labelled classes confidence figures as_good_as segments findings",
):
    """Estimates for a model of several classes from a few labelled rows and the decisions about all rows.

    Unlabelled rows of a decision are taken to be like its labelled ones. That holds where labelling depends on the
    decision only. ``as_good_as`` says how many labels alone would give an interval as narrow.
    """

    classes: tuple[str, ...]
    kept: Rows
    confidence: Finite
    seed: int = 0
    segments: Mapping[str, "FewClasses"] = field(default_factory=dict)

    main_figures = (accuracy.name, "macro_recall", "macro_f1")

    @cached_property
    def labels(self) -> Array:
        """How many labelled rows there are of each class and decision."""
        here, many = self.kept.labelled, len(self.classes)
        codes = self.kept.truth[here] * many + self.kept.decided[here]
        counts = None if self.kept.counts is None else self.kept.counts[here]
        return np.bincount(codes, counts, many * many).reshape(many, many).astype(np.float64)

    @cached_property
    def decisions(self) -> Array:
        """How many rows have each decision, labelled or not."""
        return np.bincount(self.kept.decided, self.kept.counts, len(self.classes)).astype(np.float64)

    @property
    def why_nothing(self) -> str:
        """Why nothing can be estimated: too few labels, or none of a decision; empty where it can."""
        silent = (self.decisions > 0) & (self.labels.sum(axis=0) == 0)
        if not super().why_nothing and silent.any():
            name = short(repr(self.classes[int(np.argmax(silent))]))
            return f"no row that was decided {name} has a truth, and there are {self.decisions[silent][0]:,.0f}"
        return super().why_nothing

    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """The usual figures; others of decisions by their name."""
        return {name: self[name] for name in _FIGURES}

    def _alone(self) -> Mapping[str, Estimate]:
        if self.why_nothing:
            return {}
        alone = evaluate_labelled(self.kept, self.classes, Sampling(self.confidence, seed=self.seed))
        return {name: alone[name] for name in self.figures}

    def __getitem__(self, name: str | tuple[str, str]) -> Estimate:
        metric, of = self._meant(name)
        text = metric.text if of is None else written_of_class(metric.text, self.classes[of])
        if why := self.why_nothing:
            return Estimate(text, math.nan, reason=why, no_interval=why)
        value, influence = self._moves(metric, of)
        if why := self._too_few(metric, of):
            return Estimate(text, value, confidence=self.confidence, no_interval=why)
        found = limits(value, influence, metric.range, self.confidence, centred=True).around(value)
        return Estimate(text, value, math.nan, found.low, found.high, "", self.confidence, METHOD, found.reason)

    def _meant(self, name: str | tuple[str, str]) -> tuple[Metric, int | None]:
        """A metric, and the place of the class that it is about; None for all classes."""
        pair = figure_of_class(name) if isinstance(name, str) else name
        if pair is not None and not is_one_of(pair[1], self.classes):
            raise InputError("few-labels-class", f"{short(repr(pair[1]))} is none of {some(list(self.classes))}")
        metric = find(str(name) if pair is None else pair[0])
        metric = find(metric.of_many) if pair is None and metric.of_many else metric
        if metric.tally is not Confusion or metric.lacking:
            words = f"few labels of several classes give figures of decisions ({', '.join(_FIGURES)}, recall[…] …)"
            raise InputError("few-classes-figure", f"{words}; {metric.name} is none of them")
        return metric, None if pair is None else self.classes.index(pair[1])

    def _moves(self, metric: Metric, of: int | None) -> tuple[float, Influence]:
        """A figure of all rows, and what one label or row changes in it."""

        def figure(cells: Array) -> Array:
            table = Confusion(self.classes, self.classes, cells, squares=cells)
            with np.errstate(all="ignore"):
                found = np.asarray(metric.of(table if of is None else table.against_rest()), np.float64)
            return found if of is None else found[..., of]

        return stratified(figure, self.labels, self.decisions)

    def _too_few(self, metric: Metric, of: int | None) -> str:
        """Why a figure has no interval: classes that it is about have too few labels."""
        seen = self.labels.sum(axis=1)
        place = int(np.argmin(seen)) if of is None else of
        wanted = _FEWEST_OF_EACH.get(metric.name, FEWEST_OF_A_CLASS)
        if (of is None and metric.name in _ANY_CLASS) or seen[place] >= wanted:
            return ""
        return f"labelled rows of {short(repr(self.classes[place]))}: only {seen[place]:.0f}; label more"

    def _worth_of_labels(self, metric: Metric) -> Array:
        """How far the labels of each decision move a figure, relative to its number of rows."""
        _, found = self._moves(metric, None)
        columns = np.nonzero(self.labels)[1]
        own, labelled = slice(len(columns)), self.labels.sum(axis=0)
        square = np.bincount(columns, found.counts[own] * found.changes[own] ** 2, len(self.classes))
        return np.asarray(np.sqrt(square * np.maximum(labelled, 1.0)) / np.maximum(self.decisions, 1.0))
