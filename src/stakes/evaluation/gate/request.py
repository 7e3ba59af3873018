"""What is asked of a gate, read and checked before any row is."""

from dataclasses import dataclass

from stakes import errors
from stakes.errors import Given, InputError, Pass
from stakes.evaluation.gate.conditions import Figure, Requirement
from stakes.evaluation.gate.differences import margins
from stakes.question.options import Value
from stakes.tallies.checks import as_list, check_share


@dataclass(frozen=True)
class Request:
    """Conditions, margins from a baseline, and the share of rows that may be left out."""

    conditions: tuple[Requirement, ...]
    margins: dict[Figure, float]
    allow_dropped: float

    @classmethod
    def parse(cls, require: Value, no_worse: Value, allow_dropped: Value, against: bool) -> "Request":
        """Read what was asked; ``against`` says whether there is a baseline."""
        texts = [require] if isinstance(require, str) else [] if require is None else as_list(require)
        if texts is None:
            raise errors.bad_requirement(require)
        asked = cls(
            tuple(map(Requirement.parse, texts)), margins(no_worse), check_share("allow_dropped", allow_dropped)
        )
        if not asked.conditions and not asked.margins:
            raise InputError(
                "nothing-required",
                "there is nothing to check; give conditions (",
                Pass("require"),
                ") or margins from a baseline (",
                Pass("no_worse"),
                ")",
            )
        if asked.margins and not against:
            raise InputError(
                "no-baseline",
                Given("no_worse"),
                " needs a baseline; give ",
                Pass("baseline"),
                ", an evaluation, a comparison or a tally",
            )
        if against and not asked.margins:
            raise InputError(
                "baseline-without-margin",
                "a baseline alone checks nothing; say with ",
                Pass("no_worse"),
                " which figure may be how much worse",
            )
        for condition in asked.conditions:
            if condition.points_the_wrong_way:
                metric = condition.figure.metric
                errors.warn("wrong-way", errors.wrong_way(condition.text, metric.name, metric.better))
        return asked

    def refuse_without_costs(self) -> None:
        """Refuse conditions on costs, where none are given."""
        for figure in (*(condition.figure for condition in self.conditions), *self.margins):
            if figure.metric.lacking:
                raise errors.which_costs(figure.metric.name)
