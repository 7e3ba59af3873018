"""The options of a call, checked once and handed on as one object."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from stakes import errors
from stakes.engines.files.text_format import TextFormat
from stakes.engines.kinds import has_columns
from stakes.engines.plan import NAMES_OF_COLUMNS, REMEMBERED
from stakes.engines.reading import RowQuestion
from stakes.errors import About, Given, InputError, Pass
from stakes.frozen import dataclass
from stakes.question.options import Value, call, options, refuse_unknown, table
from stakes.tallies.checks import check_threshold
from stakes.tallies.names import canonical
from stakes.tallies.pricing import Frequencies, Pricing
from stakes.uncertainty.sampling import Sampling

_AT_PRIOR = ("evaluate", "compare", "decide", "gate", "report", "validate", "permutation_test")
"""Verbs whose figures can be those of other class frequencies than the rows have."""

_ESTIMATE_PRIOR = ("evaluate", "gate", "report")
"""Verbs that can estimate the class frequencies of rows without a truth."""

_OF_ROWS = set(RowQuestion.__dataclass_fields__)
"""The options that are about rows: those of a :class:`RowQuestion`."""


@dataclass(frozen=True, eq=False)
class Question:
    """Every option of a verb as given, or its default; the sampling, and the pricing."""

    verb: str
    given: Mapping[str, Any]
    sampling: Sampling

    @classmethod
    def of(cls, verb: str, asked: Mapping[str, Any]) -> Self:
        """Check what is asked."""
        refuse_unknown(verb, asked)
        if verb in ("calibrate", "permutation_test") and has_columns(asked.get("truth")):
            words = " has several columns, which can be evaluated and compared; here give one of them"
            raise InputError("one-column-here", About("truth"), words)
        known = options(verb)
        given = {name: asked.get(name, option.default) for name, option in known.items()}
        prior = _known_prior(verb, given)
        there = at_frequencies(prior, given["training_prior"]) if verb in _AT_PRIOR else None
        how = {name: given[name] for name in ("confidence", "design", "seed", "horizon") if name in given}
        sampling = Sampling(**how, population=there)
        for name, option in known.items():
            if given[name] is not option.default:
                option.check(name, given[name])
        if sampling.horizon > 1 and given["order"] is None:
            raise InputError(
                "horizon-without-order", Given("horizon"), " is of forecasts in time; pass ", Pass("order")
            )
        if given.get("threshold") is not None:
            check_threshold(given["threshold"])
        return cls(verb, given, sampling)

    @cached_property
    def pricing(self) -> Pricing | None:
        """What decisions cost, and where; None without costs."""
        costs, training = (self.given.get(name) for name in ("costs", "training_prior"))
        return None if costs is None else Pricing(costs, _known_prior(self.verb, self.given), training)

    @property
    def prior_unknown(self) -> bool:
        """Whether the class frequencies of rows without a truth are to be estimated."""
        return isinstance(self["prior"], str) and self["prior"] == "estimate"

    @property
    def cost_columns(self) -> Sequence[str]:
        """The columns that say what decisions cost in each row, if any do."""
        return () if self.pricing is None else self.pricing.costs.columns

    def without(self, *names: str) -> Self:
        """Return the same question, with some options as if they had not been given."""
        return type(self).of(self.verb, {name: value for name, value in self.given.items() if name not in names})

    def __getitem__(self, name: str) -> Any:
        """What was given, or the default; None for options that the verb does not have."""
        return self.given.get(name)

    @property
    def rows(self) -> dict[str, Any]:
        """The fields of a :class:`RowQuestion`: which rows, which columns, which classes, and what decides."""
        named = {name: value for name, value in self.given.items() if name in _OF_ROWS}
        return {**named, "pricing": self.pricing, "text_format": self.text_format}

    @property
    def text_format(self) -> TextFormat | None:
        """The format of text files, if any option gives it."""
        return TextFormat.of(self.given)

    def words(self, of_table: bool) -> dict[str, Any]:
        """What a tally remembers: texts and numbers; no arrays, and names of columns only of a table."""
        found = {name: self.given[name] for name in REMEMBERED if name in self.changed}
        if not of_table:
            found = {name: value for name, value in found.items() if name not in NAMES_OF_COLUMNS}
        if isinstance(score := found.get("score"), Mapping) and _all_texts(score.values()):
            found["score"] = sorted(f"{canonical(name)}={column}" for name, column in score.items())
        lists = {name: ", ".join(v) for name, v in found.items() if isinstance(v, list | tuple) and _all_texts(v)}
        words = {**found, **lists} | ({} if self.pricing is None else {"costs": self.pricing.costs.in_full})
        return {name: value for name, value in words.items() if isinstance(value, REMEMBERED[name])}

    def call(self, files: Sequence[str]) -> str:
        """How it was asked in Python; arrays and tables, which have no name, are left open."""
        changed = self.changed - {"lang"}
        return call(self.verb, files, {name: value for name, value in self.given.items() if name in changed})

    @cached_property
    def changed(self) -> set[str]:
        """The options that were given another value than their default."""
        return {name for name, option in options(self.verb).items() if not _same(self.given[name], option.default)}

    @property
    def about_rows(self) -> dict[str, Any]:
        """The given options that are about rows, costs and intervals."""
        return {name: self.given[name] for name in table("evaluate") if name in self.changed and name != "lang"}

    @property
    def answered_by_counting(self) -> dict[str, Any]:
        """The given options that only counting can answer."""
        return {
            name: value
            for name, value in self.about_rows.items()
            if name in _OF_ROWS and name not in ("threshold", "auc_error")
        }

    def refuse_useless_threshold(self) -> None:
        """Refuse a threshold without scores, or beside decisions."""
        if self["threshold"] is None:
            return
        if self["prediction"] is not None:
            raise errors.threshold_and_prediction()
        if self["score"] is None:
            raise errors.threshold_without_score()


def _known_prior(verb: str, given: Mapping[str, Any]) -> Any:
    """The class frequencies that were given; None where they are to be estimated from rows without a truth."""
    prior = given.get("prior")
    if not isinstance(prior, str) or prior != "estimate":
        return prior
    can = verb in _ESTIMATE_PRIOR
    if can and given["unlabelled"] == "estimate":
        return None
    words = " finds how frequent classes are among rows without a truth; "
    advice = ("pass ", Pass("unlabelled", "estimate")) if can else ("give their shares",)
    raise InputError("prior-of-labelled-rows", Given("prior", "estimate"), words, *advice)


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _same(given: Any, usual: Any) -> bool:
    """Whether an option has its default; arrays are never the same."""
    return given is usual or (isinstance(given, str | float | int) and given == usual)


def pricing_of(costs: Value, prior: Value, training_prior: Value) -> Pricing | None:
    """Combine costs and class frequencies; frequencies alone are refused."""
    if costs is not None:
        return Pricing(costs, prior, training_prior)
    for name, value in {"prior": prior, "training_prior": training_prior}.items():
        if value is not None:
            raise InputError(
                "prior-without-costs",
                Given(name),
                " changes here only what decisions cost, but no costs were given; say what a miss and others cost",
            )
    return None


def at_frequencies(prior: Value, training_prior: Value) -> Frequencies | None:
    """Combine class frequencies, if any are given."""
    return None if prior is None and training_prior is None else Frequencies(prior, training_prior)
