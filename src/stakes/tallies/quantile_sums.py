"""Predicted quantiles and intervals: sums of the losses of rows, and of the places of the truth among them."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Array
from stakes.tallies.keys import add_up
from stakes.tallies.term_sums import Matrix, TermRows, Terms, TermSums

ENSEMBLE = "member"
"""How the names of the members of an ensemble begin; other names are levels of quantiles."""


def levels_of(names: Sequence[str]) -> Array:
    """The levels of quantiles; the members of an ensemble are as many, evenly spaced, once each row is sorted."""
    if names[0].startswith(ENSEMBLE):
        return np.asarray((np.arange(len(names)) + 0.5) / len(names))
    return np.array([float(name) for name in names])


def pairs_of(levels: Array) -> list[tuple[int, int]]:
    """The places of the two ends of each central interval, the widest first."""
    ends = [(i, len(levels) - 1 - i) for i in range(len(levels) // 2)]
    return [(i, j) for i, j in ends if abs(levels[i] + levels[j] - 1) < 1e-9]


@dataclass(frozen=True, eq=False)
class QuantileSums(TermSums):
    """Predicted quantiles of a number; ``names`` are their levels, or the members of an ensemble.

    Of each level: in how many rows the truth lies at or below the quantile (``below``), and its pinball loss. Of the
    rows: whether the widest interval covers the truth, how wide it is, its interval score, and the scores of all
    quantiles together.
    """

    kind = "quantiles"
    task = "regression"
    wide = ("below", "loss")

    @cached_property
    def levels(self) -> Array:
        """The levels of the quantiles."""
        return levels_of(self.names)

    @property
    def level(self) -> float:
        """The share of rows that the widest interval should cover; NaN where there is none."""
        pairs = pairs_of(self.levels)
        return float(self.levels[pairs[0][1]] - self.levels[pairs[0][0]]) if pairs else np.nan

    @classmethod
    def terms_of(
        cls, columns: Mapping[str, Matrix], names: tuple[str, ...], parts: Collection[str] | None = None
    ) -> Terms:
        """Work out the losses of each row."""
        truth, predicted, levels = columns["truth"], columns["quantiles"], levels_of(names)
        above = truth[:, None] - predicted
        pinball = np.maximum(levels * above, (levels - 1) * above)
        if parts is not None and not names[0].startswith(ENSEMBLE) and set(parts) <= {"baseline"}:
            return {"distance": 2 * pinball.mean(axis=1)}
        terms = {"below": above <= 0, "loss": pinball, "quantile score": pinball.mean(axis=1)}
        if pairs := pairs_of(levels):
            scores = [_interval_score(truth, predicted[:, i], predicted[:, j], 2 * levels[i]) for i, j in pairs]
            i, j = pairs[0]
            low, high = predicted[:, i], predicted[:, j]
            terms |= {"covered": (low <= truth) & (truth <= high), "width": high - low, "interval score": scores[0]}
            middle = [place for place, level in enumerate(levels) if level == 0.5]
            if 2 * len(pairs) + len(middle) == len(levels):
                weighed = sum(levels[i] * score for (i, _), score in zip(pairs, scores, strict=True))
                if middle:
                    weighed = weighed + np.abs(above[:, middle[0]]) / 2
                terms["weighted interval score"] = weighed / (len(pairs) + len(middle) / 2)
        crps = 2 * terms["quantile score"]
        if names[0].startswith(ENSEMBLE):
            m = len(names)  # Σ|x − x′| over all pairs, from the order of each row
            spread = (predicted * (2 * np.arange(m) - m + 1)).sum(axis=1) / m**2
            crps = np.abs(above).mean(axis=1) - spread
        return {**terms, "distance": crps}

    @classmethod
    def constant_answer(cls, rows: TermRows, names: tuple[str, ...]) -> Array:
        """The quantiles of the truth alone."""
        truth = rows.columns["truth"]
        values, weights, counts = add_up(truth, rows.weights, np.ones(len(truth)))
        return quantiles_of(values, weights, counts, levels_of(names))

    @classmethod
    def columns_answering(cls, columns: Mapping[str, Matrix], answer: Array) -> Mapping[str, Matrix]:
        """Predict these quantiles in every row."""
        truth = columns["truth"]
        return {"truth": truth, "quantiles": np.broadcast_to(answer, (len(truth), len(answer)))}


def quantiles_of(values: Array, weights: Array, rows: Array, levels: Array) -> Array:
    """The (weighted) quantiles of sorted different numbers, each of which is that of several rows.

    A row lies in the middle of its own weight. Rows with the same value share their weight, so that their order is
    of no consequence, and the quantile is that value from the middle of the first to the middle of the last.
    """
    reached, half = np.cumsum(weights), weights / rows / 2
    ends = np.stack([reached - weights + half, reached - half], axis=1)
    return np.asarray(np.interp(levels, ends.ravel() / reached[-1], np.repeat(values, 2)))


def _interval_score(truth: Array, low: Array, high: Array, miss: float) -> Array:
    """The width of an interval, and how far the truth lies beyond it, times 2 over the share that may lie there."""
    beyond = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return np.asarray(high - low + 2 / miss * beyond)
