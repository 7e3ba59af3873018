"""What makes a threshold the best one: the lowest cost, the best figure, or the best figure under a condition."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors, metrics
from stakes.decisions.thresholds.threshold_grid import ThresholdGrid, cumulate
from stakes.errors import InputError
from stakes.metrics import Metric
from stakes.metrics.rates import precision, recall
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array, divide
from stakes.tallies.names import read_limit


@dataclass(frozen=True, eq=False)
class LowestCost:
    """Thresholds between decisions that together cost least.

    ``shares`` are how frequent the classes count; None for those of the rows, in every resample its own.
    """

    shares: Array | None = None

    def paid(self, grid: ThresholdGrid, held: Array) -> Array:
        """What each threshold costs per case at each place, beyond the lower decision: (threshold, resample, place)."""
        rows = np.einsum("bcj,cj->bc", held, grid.weight)
        if self.shares is None:
            factors = np.ones((len(held), 2)) / np.maximum(rows.sum(-1, keepdims=True), 1e-300)
        else:
            factors = divide(self.shares, rows)
        steps = np.diff(grid.costs, axis=0)
        return np.stack([cumulate(np.einsum("bcj,cj,bc->bj", held, step, factors)) for step in steps])

    @staticmethod
    def choose(paid: Array) -> Array:
        """The places of the thresholds, the lowest first: (threshold, resample). Higher decisions lie higher up."""
        best, ways = paid[0], []
        for following in paid[1:]:
            # the next threshold can stand no lower than this one: the cheapest at this place or further down
            downwards = np.minimum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
            ways.append(best)
            best = following + downwards
        places = [best.argmin(axis=1)]
        for earlier in reversed(ways):
            allowed = np.arange(earlier.shape[1]) >= places[0][:, None]
            places.insert(0, np.where(allowed, earlier, math.inf).argmin(axis=1))
        return np.stack(places)


@dataclass(frozen=True, eq=False)
class BestFigure:
    """The threshold with the best figure of its confusion table, among those that meet a condition if there is one."""

    metric: Metric
    condition: Metric | None = None
    at_least: bool = True
    limit: float = math.nan

    @classmethod
    def parse(cls, text: str) -> "BestFigure":
        """Read ``f_beta(beta=2)``, ``recall >= 0.9`` or ``alarm_rate <= 0.1``."""
        found = re.fullmatch(r"(.+?)\s*(>=|<=|≥|≤)\s*([-+.\deE]+\s*%?)\s*", str(text))
        if found is None and re.search(r"[<>≤≥%]", str(text)):
            raise errors.bad_condition(str(text))
        if found is None:
            return cls(_of_decisions(text))
        name, sign, limit = found.groups()
        condition = _of_decisions(name.strip(), directed=False)
        wanted = read_limit(limit)
        if wanted is None:
            raise errors.bad_condition(text)
        wished = precision if condition is recall else recall
        return cls(wished, condition, sign in (">=", "≥"), wanted)

    def of_each(self, change: Callable[[Metric], Metric]) -> "BestFigure":
        """Return the same with other figures in the place of its own."""
        return replace(self, metric=change(self.metric), condition=self.condition and change(self.condition))

    @property
    def words(self) -> str:
        """What is wanted, in words."""
        if self.condition is None:
            return f"the {'highest' if self.metric.better == 'higher' else 'lowest'} {self.metric.text}"
        sign = "≥" if self.at_least else "≤"
        return f"the highest {self.metric.text} with {self.condition.text} {sign} {self.limit:g}"

    def merit(self, tables: Confusion) -> Array:
        """How good each table is; −∞ where the figure is undefined or the condition is not met."""
        sign = 1 if self.metric.better == "higher" else -1
        merit = sign * np.asarray(self.metric.of(tables), np.float64)
        merit = np.where(np.isnan(merit), -math.inf, merit)
        if self.condition is None:
            return merit
        found = self._figures(self.condition, tables)
        return np.where(found >= self.limit if self.at_least else found <= self.limit, merit, -math.inf)

    def _figures(self, condition: Metric, tables: Confusion) -> Array:
        """What is to meet the condition; where it is undefined, as far from that as can be."""
        found = np.asarray(condition.of(tables), np.float64)
        return np.where(np.isnan(found), -math.inf if self.at_least else math.inf, found)

    def best_place(self, tables: Confusion) -> int:
        """The best of some tables; refuse where none meets the condition, or has the figure."""
        merit = self.merit(tables)
        if not np.isneginf(merit.max()):
            return int(merit.argmax())
        if self.condition is None:
            raise InputError(
                "no-figure-anywhere",
                f"{self.metric.name} is undefined at every threshold of these scores, so none can be chosen by it",
            )
        found = self.condition.of(tables)
        nearest = float(np.nanmax(found) if self.at_least else np.nanmin(found))
        words = self.words.partition(" with ")[2]
        if nearest >= self.limit if self.at_least else nearest <= self.limit:
            raise InputError(
                "condition-without-figure",
                f"{words} holds only where {self.metric.name} is undefined; loosen the condition",
            )
        raise InputError(
            "condition-never-met",
            f"no threshold gives {words} on these rows; the nearest is {nearest:.6g}: loosen the condition",
        )

    def choose(self, tables: Confusion) -> Array:
        """The place of the best threshold of each row of tables; where none meets the condition, the nearest to it."""
        merit = self.merit(tables)
        chosen: Array = merit.argmax(axis=-1)
        if self.condition is None:
            return chosen
        found = self._figures(self.condition, tables)
        nearest = found.argmax(axis=-1) if self.at_least else found.argmin(axis=-1)
        return np.where(np.isneginf(merit.max(axis=-1)), nearest, chosen)


def _of_decisions(text: str, directed: bool = True) -> Metric:
    metric = metrics.find(text)
    if metric.tally is not Confusion:
        raise InputError(
            "not-of-decisions",
            f"{metric.name} is no figure of decisions between two classes, so no threshold can be chosen by it; name "
            "one that is, such as f1",
        )
    if directed and metric.better == "neither":
        raise errors.no_direction(metric.name)
    return metric


def tables_at(grid: ThresholdGrid, held: Array) -> Confusion:
    """The confusion tables of all places: (resample, place)."""
    found = cumulate(held * grid.weight)
    whole = found[..., -1:]
    (tp, fp), (fn, tn) = (np.moveaxis(part, -2, 0) for part in (found, np.maximum(whole - found, 0.0)))
    return Confusion.two_class(tp=tp, fn=fn, fp=fp, tn=tn)
