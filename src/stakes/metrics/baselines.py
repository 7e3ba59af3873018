"""What ignoring the input would score: the figure that every other figure is read against."""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Number, divide

if TYPE_CHECKING:
    from stakes.metrics.declare import Metric


@dataclass(frozen=True)
class Baseline:
    """A model that ignores the input: the ``tallies`` it could give, of which the best counts, or the ``value``."""

    words: str
    tallies: Callable[[Any], Sequence[Any]] = lambda tally: ()
    value: Callable[["Metric", Any], Number] | None = None


def best(metric: "Metric", values: Sequence[Number]) -> Number:
    """The best of some values of a figure, where it is defined; NaN if there is none."""
    if len(values) < 2:
        return values[0] if values else math.nan
    each = np.array(values)
    sign = 1 if metric.better == "higher" else -1
    found = sign * np.max(np.where(np.isnan(each), -math.inf, sign * each), axis=0)
    return np.where(np.isnan(each).all(axis=0), math.nan, found)[()]


def _constant_of(sums: Any) -> Sequence[Any]:
    """The sums of a model that ignores the input, where they are known."""
    return () if sums.constant is None else (sums.constant,)


def _same_sized(table: Confusion) -> Confusion:
    """The coin's table with as many rows as there are, for figures that may count them."""
    coin = table.coin()
    return coin.with_counts(coin.counts * divide(1.0, np.asarray(table.total, np.float64))[..., None, None])


COIN = Baseline("a coin that takes each decision as often as the model", lambda table: (table.coin(),))
SAME_SIZED_COIN = Baseline(COIN.words, lambda table: (_same_sized(table),))
BEST_CONSTANT = Baseline("the best constant decision", lambda table: table.constants())
CONSTANT_SCORE = Baseline("the prevalence as everybody's score", lambda table: (table.constant(),))
ZERO = Baseline("0", value=lambda metric, table: 0.0)
USUAL_LABELS = Baseline(
    "the labels that more than half of the rows have, or their frequencies as scores, for every row", _constant_of
)
CLASS_FREQUENCIES = Baseline("the class frequencies as everybody's scores", CONSTANT_SCORE.tallies)
MEAN = Baseline("always predicting the mean (or the baseline that was given)", _constant_of)
NOTHING = Baseline(
    "0 for the mean; the figure of the baseline that was given",
    value=lambda metric, sums: metric.of(sums.constant) if sums.baseline_given and sums.constant is not None else 0.0,
)
QUANTILES_OF_TRUTH = Baseline("the quantiles of the truth alone", _constant_of)
