"""The threshold with the best figure of its decisions."""

import math
from dataclasses import replace
from functools import partial

import numpy as np

from stakes import metrics
from stakes.decisions.thresholds.decision import Decision, threshold_way
from stakes.decisions.thresholds.objectives import BestFigure, tables_at
from stakes.decisions.thresholds.out_of_bag import Resamples
from stakes.decisions.thresholds.search import Search, over_thresholds, ranges
from stakes.decisions.thresholds.search import alike as as_good_as_best
from stakes.decisions.thresholds.threshold_grid import ThresholdGrid, evenly
from stakes.metrics import Estimate
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.intervals import intervals, table_limits


class ByFigure(Search):
    """The search for the threshold with the best figure."""

    wanted: BestFigure

    def decision(self, wanted: BestFigure) -> Decision:
        """Return the threshold, with that figure on rows that did not choose it."""
        self.wanted = wanted
        place = wanted.best_place(self.table.confusions())
        threshold = math.inf if not place else float(self.columns.scores[place - 1])
        grid = ThresholdGrid(evenly(self.columns, [threshold, *self.usual]), [(0.0, 0.0)])
        resamples = Resamples(grid, self.sampling)
        tables = tables_at(grid, resamples.held)
        here = grid.place_of(threshold)
        soft = self._soft(grid, resamples.policy(self.wanted.choose(tables)[None])[1], resamples)
        metric = self.wanted.metric
        usual = {threshold_way(start): self.table.at(start) for start in self.usual}
        others = {name: one for name, one in usual.items() if np.isfinite(wanted.merit(one))}  # a condition is kept
        alike = (ranges(grid, self._alike(grid, here, tables)),)
        return Decision(
            criterion=self.wanted.words,
            question=self.rows_in_words,
            decisions=(self.table.negative, self.table.positive),
            thresholds=(threshold,),
            apparent=self._figure(metric, self.table.at(threshold)),
            corrected=self._interval(metric, *soft),
            alternatives={name: self._figure(metric, table) for name, table in others.items()},
            condition=None if self.wanted.condition is None else self._interval(self.wanted.condition, *soft),
            limit=None if self.wanted.condition is None else ("≥" if self.wanted.at_least else "≤", self.wanted.limit),
            alike=alike,
            in_use_alike=self.kept(alike) if self.wanted.condition is None else None,
            shown_as=self.shown([threshold], alike),
            find_over_thresholds=partial(over_thresholds, self.table, metric.text, metric.of, threshold, self.sampling),
            positive=self.table.positive,
            negative=self.table.negative,
            rows=self.rows,
            confidence=self.sampling.confidence,
        )

    def _soft(self, grid: ThresholdGrid, called: Array, resamples: Resamples) -> tuple[Confusion, Array | None]:
        """The out-of-bag confusion table, as of rows of equal weight, and that of each cluster."""
        if resamples.counts is None:
            equal, each = self.table.equal_rows / float(self.table.total), None
            whole = equal * _cells((called * grid.weight).sum(-1), grid.sizes)
        else:
            each = _cells((resamples.counts * called).sum(-1), resamples.counts.sum(-1))
            whole = each.sum(0)
        (tn, fp), (fn, tp) = whole
        return Confusion.two_class(tp=tp, fn=fn, fp=fp, tn=tn), each

    def _interval(self, metric: metrics.Metric, table: Confusion, each: Array | None) -> Estimate:
        found = self._figure(metric, table)
        rows = replace(self.sampling, clusters=None)
        if each is None:
            (limits,) = intervals([metric], [found.value], table, rows)
        else:
            (limits,) = table_limits([metric], [found.value], table, each, rows)
        return replace(found, low=limits.low, high=limits.high, method=limits.method, no_interval=limits.reason)

    def _figure(self, metric: metrics.Metric, table: Confusion) -> Estimate:
        level = self.sampling.confidence
        prior = None if metric.population is None else metric.population.by_class
        values = float(metric.of(table)), float(metric.baseline_of(table))
        return Estimate(metric.text, *values, confidence=level, prior=prior)

    def _alike(self, grid: ThresholdGrid, place: int, resampled: Confusion) -> Array:
        """Which places cannot be told from the best, or might be just where the condition begins to hold."""
        if self.wanted.condition is not None:
            found = np.nan_to_num(np.asarray(self.wanted.condition.of(resampled)), nan=self.wanted.limit)
            low, high = self.sampling.percentiles(found)
            return np.asarray((low <= self.wanted.limit) & (self.wanted.limit <= high))
        merit = self.wanted.merit(tables_at(grid, np.ones((1, 2, len(grid.scores)))))[0]
        again = self.wanted.merit(resampled)
        known = np.isfinite(merit)
        merits = np.where(np.isfinite(again), again, merit)[:, known]
        found = np.zeros(len(merit), bool)
        found[known] = as_good_as_best(
            -merit[known], -merits, int(np.count_nonzero(known[:place])), self.sampling.confidence
        )
        return found


def _cells(called: Array, rows: Array) -> Array:
    """The cells of tables from the rows called positive, of each class the positive one first (last axis)."""
    return np.stack([np.maximum(rows - called, 0.0), called], axis=-1)[..., ::-1, :]
