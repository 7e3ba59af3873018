"""What a study shall reach: a narrow interval, a difference found, none that matters, or a condition met."""

import math
from dataclasses import dataclass

import numpy as np

from stakes.errors import Given, InputError
from stakes.evaluation.gate.conditions import Requirement
from stakes.metrics import Estimate
from stakes.planning.basis import Basis
from stakes.planning.rates import OBSERVED_EXPECTED
from stakes.planning.result import Aim
from stakes.planning.sizes import power_of
from stakes.tallies.arithmetic import Array, is_real
from stakes.uncertainty.sampling import normal


@dataclass(frozen=True)
class Goal:
    """How far the expected value lies ``away`` from the value to be excluded (for a width, half of it).

    The interval reaches ``reach`` standard errors towards that value; ``power`` is how often it shall exclude it, None
    where the width itself is the goal.
    """

    aim: Aim
    target: float
    away: float
    reach: float
    power: float | None = None
    condition: Requirement | None = None
    of_logarithm: bool = False

    @property
    def error(self) -> float:
        """The largest standard error that will do."""
        return self.away / (self.reach + (0.0 if self.power is None else normal(self.power)))

    def reached(self, error: float) -> float:
        """What studies with this standard error reach: a width, or how often they succeed."""
        if self.power is not None:
            return power_of(self.away, error, self.reach)
        half = self.reach * error
        return 2 * math.sinh(half) if self.of_logarithm else 2 * half

    def reached_by(self, study: Estimate) -> float | None:
        """What one study reached: its width, or 1 where it succeeded and 0 where it did not."""
        if self.condition is not None:
            return float(self.condition.compare(study).passed)
        return None if study.low is None or study.high is None else study.high - study.low

    def errors_at(self, values: Array, expected: float) -> Array:
        """The largest standard errors that will do at other values of the figure."""
        if self.condition is None:
            return np.full(len(values), self.error)
        return np.asarray(self.error * (values - self.target) / (expected - self.target))


def width_goal(width: object, basis: Basis, reach: float) -> Goal:
    """An interval of this width; observed over expected is planned on the scale of its logarithm."""
    target, logarithm = number_above_0("width", width), basis.figure == OBSERVED_EXPECTED
    low, high = basis.range
    if target >= high - low:
        lies = f"{basis.figure} lies in {low:g} to {high:g}"
        raise InputError("plan-any-width", Given("width", width), f" is met by any study: {lies}")
    away = math.asinh(target / 2) if logarithm else target / 2
    return Goal("width", target, away, reach, of_logarithm=logarithm)


def difference_goal(difference: object, reach: float, power: float) -> Goal:
    """A difference that is found."""
    target = number_above_0("difference", difference)
    return Goal("difference", target, target, reach, power)


def margin_goal(margin: object, difference: object, reach: float, power: float) -> Goal:
    """A model that is shown to be no worse by the margin; it may be better by a difference (or worse: below 0)."""
    target = number_above_0("margin", margin)
    better = 0.0 if difference is None else difference
    if not is_real(better) or not target + float(better) > 0:
        words = " lies beyond the margin, so it would be shown to be worse"
        raise InputError("plan-worse", Given("difference", difference), words)
    return Goal("margin", target, target + float(better), reach, power)


def condition_goal(condition: Requirement, basis: Basis, reach: float, power: float) -> Goal:
    """A condition that is met: by an end of the interval, or by the figure itself."""
    upwards = condition.sign in (">=", ">")
    if condition.every_segment or condition.end == ("high" if upwards else "low"):
        raise InputError(
            "plan-condition", f"{condition.text!r} cannot be planned for; name the worse end of a figure, of all rows"
        )
    away = (basis.value - condition.limit) * (1 if upwards else -1)
    if not away > 0:
        raise InputError(
            "plan-not-met",
            f"{condition.text} is not met by the expected {basis.figure} of {basis.value:.6g}, so no rows help",
        )
    # the variance of a bounded figure at the limit is another one, and intervals follow it (Wilson)
    low, high = basis.range
    here, there = ((one - low) * (high - one) for one in (basis.value, condition.limit))
    wider = math.sqrt(there / here) if math.isfinite(here) and here > 0 and there > 0 else 1.0
    reach = 0.0 if condition.end == "value" else reach * wider
    return Goal("require", condition.limit, away, reach, power, condition)


def number_above_0(name: str, value: object) -> float:
    """Return a number above 0; refuse what is none."""
    if not is_real(value) or not 0 < float(value) < math.inf:
        raise InputError("bad-target", Given(name, value), " is no aim; give a number above 0")
    return float(value)
