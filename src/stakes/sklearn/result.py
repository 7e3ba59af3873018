"""What functions of this package return: a float that works out its interval on first use."""

import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from stakes.errors import InputError, UndefinedWarning
from stakes.metrics import Metric
from stakes.metrics.estimate import Estimate
from stakes.tallies import Tally
from stakes.uncertainty.interval import figure
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import Sampling

Source = Callable[[], tuple[Metric, Tally]]
"""Gives the declared metric behind a number, and the tally that its interval is made from."""

Scale = Callable[[float], float]
"""Turns the declared figure into scikit-learn's: an accuracy into an error, say."""


class FloatWithInterval(float):
    """A float that knows its interval: ``.low`` and ``.high``, and ``.reason`` where the figure is undefined.

    The interval is worked out when it is first asked for. ``.estimate`` holds everything else, such as the method and
    the baseline. A copy that was pickled, or an array, holds the number alone.
    """

    _source: Source | None
    _scale: Scale | None
    _why_none: str

    def __new__(
        cls, value: float, source: Source | None = None, scale: Scale | None = None, why_none: str = ""
    ) -> "FloatWithInterval":
        """Take the number, and where its interval comes from, or why it has none."""
        made = super().__new__(cls, value)
        made._source, made._scale, made._why_none = source, scale, why_none
        return made

    @cached_property
    def estimate(self) -> Estimate:
        """The figure with its interval, baseline, method and reason."""
        if self._source is None:
            return Estimate("", float(self), no_interval=self._why_none)
        try:
            metric, tally = self._source()
        except InputError as problem:  # a mean over rows may have weights with which there is no interval
            return Estimate("", float(self), no_interval=str(problem))
        value = float(metric.of(tally))
        if math.isnan(value):
            why = metric.why_undefined(tally)
            return Estimate(metric.text, float(self), reason=why, no_interval=why)
        found, scale = interval(metric, value, tally, Sampling()), self._scale or float
        if found.low is not None and found.high is not None:
            low, high = sorted((scale(found.low), scale(found.high)))
            found = replace(found, low=low, high=high)
        baseline = scale(float(metric.baseline_of(tally)))
        return figure(metric.text, float(self), baseline, found, Sampling().confidence)

    @property
    def has_source(self) -> bool:
        """Whether an interval can be asked for."""
        return self._source is not None

    @property
    def low(self) -> float | None:
        """The lower end of the 95 % interval; None where there is none."""
        return self.estimate.low

    @property
    def high(self) -> float | None:
        """The upper end."""
        return self.estimate.high

    @property
    def reason(self) -> str:
        """Why the figure is undefined (the number then follows scikit-learn's convention), or has no interval."""
        return self.estimate.reason or self.estimate.no_interval

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


def warn_undefined(text: str) -> None:
    """Warn at the user's line, with scikit-learn's class of warning where scikit-learn is loaded."""
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "UndefinedMetricWarning", None)
    problem = UndefinedWarning("undefined", text)
    if theirs is None:
        warnings.warn(problem, stacklevel=4)
    else:
        warnings.warn(str(problem), theirs, stacklevel=4)
