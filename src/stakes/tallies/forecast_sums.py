"""Forecasts of series: sums of their errors, and of those of repeating the last value."""

from collections.abc import Collection, Mapping

import numpy as np

from stakes.frozen import dataclass
from stakes.tallies.term_sums import Matrix, Terms, TermSums


@dataclass(frozen=True, eq=False)
class ForecastSums(TermSums):
    """Errors of the rows that have a value before them in their series, and those of the naive forecast there."""

    kind = "forecast"
    task = "regression"

    @classmethod
    def terms_of(
        cls, columns: Mapping[str, Matrix], names: tuple[str, ...], parts: Collection[str] | None = None
    ) -> Terms:
        """Work out both errors of each row; a row without one before it has neither."""
        truth, before = columns["truth"], columns["before"]
        there = ~np.isnan(before)
        own = np.where(there, truth - columns["prediction"], 0.0)
        naive = np.where(there, truth - np.where(there, before, 0.0), 0.0)
        both = {"error": np.abs(own), "naive error": np.abs(naive)}
        return {**both, "squared error": own**2, "squared naive error": naive**2, "with one before": there}
