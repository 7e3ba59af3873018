"""Rules that fuse what models say into one answer, and say in words what they do.

A rule is a small tree. An *answer* stands for a label (what a model says, the winner of a vote), a *condition* for yes
or no. Either can be used in the place of the other where two classes have a positive one: an answer holds when it says
the positive class, and a condition that holds answers with it.
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from stakes.errors import InputError, Pass, some
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import and_list

_MOST_WEIGHT = 1 << 20
"""Votes with larger weights than this are assumed to be able to tie."""

AnswerCodes = Mapping[str, Array]
"""The answers of each model or fuser: one code into ``letters`` per combination."""


@dataclass(frozen=True)
class RuleTerms:
    """What rules speak of: every label as a number, what each model or fuser can say, and what counts as a yes.

    ``letters`` begin with the classes in their order, which is also how ties are broken: the first wins.
    """

    letters: tuple[str, ...]
    outputs: Mapping[str, tuple[str, ...]]
    positive: str | None = None
    negative: str | None = None
    yes: Mapping[str, str] = field(default_factory=dict)

    def code(self, label: str) -> int:
        """Return the number of a label."""
        return self._codes[label]

    @functools.cached_property
    def _codes(self) -> dict[str, int]:
        return {label: i for i, label in enumerate(self.letters)}

    def pair(self) -> tuple[str, str]:
        """Return the positive and the negative class, which yes and no stand for."""
        if self.positive is None or self.negative is None:
            raise InputError(
                "no-yes-in-rule",
                f"and, or, not and counts ask for a positive class, and {some(self.letters)} have none; compare "
                f"instead, as in a == {self.letters[0]!r}, and answer with labels: 'x' if … else 'y'",
            )
        return self.positive, self.negative

    def yes_of(self, name: str) -> str:
        """Return what a model says when it says yes."""
        positive, _ = self.pair()
        if name in self.yes:
            return self.yes[name]
        if positive not in self.outputs[name]:
            raise InputError(
                "no-yes-of-model",
                f"{name} says {some(self.outputs[name], last='or')} and never {positive!r}, so the rule cannot tell "
                f"its yes; compare ({name} == {self.outputs[name][0]!r}), or give the model ",
                Pass("right", each="output"),
            )
        return positive


class Node:
    """A part of a rule."""

    def inside(self) -> tuple["Node", ...]:
        """The parts that this one is made of."""
        fields = [value if isinstance(value, tuple) else (value,) for value in vars(self).values()]
        return tuple(part for field in fields for part in field if isinstance(part, Node))

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        """Return the label that this part answers with, for each combination."""
        raise NotImplementedError

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        """Return whether this part is true, for each combination."""
        raise NotImplementedError

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        """Return the labels that this part can answer with."""
        raise NotImplementedError

    def words(self, terms: RuleTerms) -> str:
        """Say what this part answers."""
        raise NotImplementedError

    def when(self, terms: RuleTerms) -> str:
        """Say when this part is true."""
        raise NotImplementedError

    def names(self) -> Iterator[str]:
        """The models and fusers that this part listens to."""
        for part in self.inside():
            yield from part.names()

    def ties(self, terms: RuleTerms) -> bool:
        """Whether votes can tie somewhere in this part."""
        return any(part.ties(terms) for part in self.inside())

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        """Who is asked, read from the left, and in which combinations, if this part itself is asked ``when``."""
        for part in self.inside():
            yield from part.asks(answers, terms, when)


class ModelAnswer(Node):
    """A part that stands for a label."""

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return np.asarray(self.labels(answers, terms) == terms.code(terms.pair()[0]))

    def when(self, terms: RuleTerms) -> str:
        return f"{self.words(terms)} is {terms.pair()[0]!r}"


class RuleCondition(Node):
    """A part that is true or false."""

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        positive, negative = map(terms.code, terms.pair())
        return np.where(self.holds(answers, terms), positive, negative)

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        return terms.pair()

    def words(self, terms: RuleTerms) -> str:
        positive, negative = terms.pair()
        return f"{positive!r} when {self.when(terms)}, otherwise {negative!r}"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Says(ModelAnswer):
    """What a model or another fuser says."""

    name: str

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return answers[self.name]

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return np.asarray(answers[self.name] == terms.code(terms.yes_of(self.name)))

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        return terms.outputs[self.name]

    def words(self, terms: RuleTerms) -> str:
        return f"what {self.name} says"

    def when(self, terms: RuleTerms) -> str:
        return f"{self.name} says {terms.yes_of(self.name)!r}"

    def names(self) -> Iterator[str]:
        yield self.name

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        yield self.name, when


@dataclass(frozen=True)
class Label(ModelAnswer):
    """Always the same label."""

    label: str

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return np.array(terms.code(self.label))

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        return (self.label,)

    def words(self, terms: RuleTerms) -> str:
        return repr(self.label)


@dataclass(frozen=True)
class Vote(ModelAnswer):
    """The label with the most votes; of labels that tie, the one listed first."""

    parts: tuple[Node, ...]
    weights: tuple[Fraction, ...]

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        standing = sorted(map(terms.code, self.possible(terms)))
        votes = [part.labels(answers, terms) for part in self.parts]
        weights = whole(self.weights)
        tally = [sum(w * (vote == letter) for w, vote in zip(weights, votes, strict=True)) for letter in standing]
        return np.asarray(np.array(standing)[np.argmax(np.stack(np.broadcast_arrays(*tally)), axis=0)])

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        return tuple(dict.fromkeys(label for part in self.parts for label in part.possible(terms)))

    def words(self, terms: RuleTerms) -> str:
        return f"what most of {_list(self.parts, self.weights, terms)} say"

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        standing = np.array(sorted(map(terms.code, self.possible(terms))))[:, None]
        tally, weights = np.zeros((len(standing), when.size), np.int64), whole(self.weights)
        for i, part in enumerate(self.parts):  # until the leading label is certain to win
            yield from part.asks(answers, terms, when)
            vote = np.broadcast_to(part.labels(answers, terms), when.shape).ravel()
            tally += weights[i] * (vote == standing)
            lead, after = tally.argmax(0), np.arange(len(standing))[:, None]
            reached = tally + sum(weights[i + 1 :]) + (after < lead)  # of those that tie, the first wins
            open_ = ((reached > tally.max(0)) & (after != lead)).any(0)
            when = when & open_.reshape(when.shape)

    def ties(self, terms: RuleTerms) -> bool:
        """Whether votes can tie: between two labels, when some of the votes are half of all of them."""
        if len(self.possible(terms)) != 2:
            return len(self.parts) > 1 or super().ties(terms)
        return _halves(whole(self.weights)) or super().ties(terms)


@dataclass(frozen=True)
class Choose(ModelAnswer):
    """One answer if a condition holds, another otherwise."""

    condition: Node
    then: Node
    otherwise: Node

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        chosen = self.condition.holds(answers, terms)
        return np.where(chosen, self.then.labels(answers, terms), self.otherwise.labels(answers, terms))

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.then.possible(terms), *self.otherwise.possible(terms)]))

    def words(self, terms: RuleTerms) -> str:
        then, otherwise = self.then.words(terms), self.otherwise.words(terms)
        return f"{then} if {self.condition.when(terms)}, otherwise {otherwise}"

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        yield from self.condition.asks(answers, terms, when)
        chosen = self.condition.holds(answers, terms)
        yield from self.then.asks(answers, terms, when & chosen)
        yield from self.otherwise.asks(answers, terms, when & ~chosen)


@dataclass(frozen=True, eq=False)
class Lookup(ModelAnswer):
    """An answer written down for every combination: a table, or what a Python function returned."""

    of: tuple[str, ...]
    answers: Array
    """Letters, with one axis for each of ``of``."""
    origin: str

    def labels(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        places = []
        for name in self.of:
            place = np.zeros(len(terms.letters), np.int64)
            place[[terms.code(label) for label in terms.outputs[name]]] = np.arange(len(terms.outputs[name]))
            places.append(place[answers[name]])
        return self.answers[tuple(places)]

    def possible(self, terms: RuleTerms) -> tuple[str, ...]:
        return tuple(terms.letters[code] for code in np.unique(self.answers))

    def words(self, terms: RuleTerms) -> str:
        return f"what {self.origin} of {and_list(self.of)} gives"

    def names(self) -> Iterator[str]:
        yield from self.of

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        yield from ((name, when) for name in self.of)


# ── conditions ───────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Is(RuleCondition):
    """An answer is one of some labels, or is none of them."""

    part: Node
    wanted: tuple[str, ...]
    negated: bool = False

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return np.isin(self.part.labels(answers, terms), [*map(terms.code, self.wanted)]) ^ self.negated

    def when(self, terms: RuleTerms) -> str:
        wanted = " or ".join(map(repr, self.wanted))
        if isinstance(self.part, Says):
            return f"{self.part.name} {'does not say' if self.negated else 'says'} {wanted}"
        return f"{self.part.words(terms)} {'is not' if self.negated else 'is'} {wanted}"


@dataclass(frozen=True)
class Agree(RuleCondition):
    """Two parts answer the same, or do not."""

    left: Node
    right: Node
    negated: bool = False

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return np.asarray((self.left.labels(answers, terms) == self.right.labels(answers, terms)) ^ self.negated)

    def when(self, terms: RuleTerms) -> str:
        left, right = (p.name if isinstance(p, Says) else p.words(terms) for p in (self.left, self.right))
        return f"{left} and {right} {'disagree' if self.negated else 'agree'}"


@dataclass(frozen=True)
class _Joined(RuleCondition):
    """Parts joined by one word."""

    parts: tuple[Node, ...]
    word: ClassVar[str]
    join: ClassVar[np.ufunc]
    goes_on: ClassVar[bool]

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return functools.reduce(self.join, [part.holds(answers, terms) for part in self.parts])

    def when(self, terms: RuleTerms) -> str:
        return f" {self.word} ".join(_in_brackets(part, terms, unless=type(self)) for part in self.parts)

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        for part in self.parts:  # short circuit
            yield from part.asks(answers, terms, when)
            when = when & (part.holds(answers, terms) == self.goes_on)


class AllOf(_Joined):
    """Every part holds."""

    word, join, goes_on = "and", np.logical_and, True


class AnyOf(_Joined):
    """At least one part holds."""

    word, join, goes_on = "or", np.logical_or, False


@dataclass(frozen=True)
class Negation(RuleCondition):
    """The part does not hold."""

    part: Node

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        return ~self.part.holds(answers, terms)

    def when(self, terms: RuleTerms) -> str:
        return f"it is not so that {_in_brackets(self.part, terms)}"


_COMPARED = {"at_least": np.greater_equal, "at_most": np.less_equal, "exactly": np.equal}


@dataclass(frozen=True)
class Count(RuleCondition):
    """At least, at most or exactly so many of the parts hold (each counting by its weight)."""

    how: str
    number: Fraction
    parts: tuple[Node, ...]
    weights: tuple[Fraction, ...]

    def holds(self, answers: AnswerCodes, terms: RuleTerms) -> Array:
        *weights, number = whole([*self.weights, self.number])
        votes = sum(w * part.holds(answers, terms) for w, part in zip(weights, self.parts, strict=True))
        return _COMPARED[self.how](votes, number)

    def asks(self, answers: AnswerCodes, terms: RuleTerms, when: Array) -> Iterator[tuple[str, Array]]:
        *weights, number = whole([*self.weights, self.number])
        votes, left = np.zeros(when.shape, np.int64), sum(weights)
        for weight, part in zip(weights, self.parts, strict=True):  # until the answer is certain
            yield from part.asks(answers, terms, when)
            votes, left = votes + weight * part.holds(answers, terms), left - weight
            ends = [_COMPARED[self.how](one, number) for one in (votes, votes + left)]
            between = (votes <= number) & (number <= votes + left)
            when = when & (between if self.how == "exactly" else ends[0] != ends[1])

    def when(self, terms: RuleTerms) -> str:
        yes = [terms.yes_of(part.name) if isinstance(part, Says) else None for part in self.parts]
        alike = f"say {yes[0]!r}" if yes[0] is not None and len(set(yes)) == 1 else "hold"
        listed = _list(self.parts, self.weights, terms, conditions=alike == "hold")
        return f"{self.how.replace('_', ' ')} {plain(self.number)} of {listed} {alike}"


# ── words and numbers ────────────────────────────────────────────────────────────────────────────────────────────
def whole(numbers: Sequence[Fraction]) -> list[int]:
    """Scale numbers to whole ones, so that ties are exact."""
    scale = math.lcm(*(number.denominator for number in numbers))
    return [int(number * scale) for number in numbers]


def _halves(weights: Sequence[int]) -> bool:
    """Whether some of the weights sum to half of all; bit n of ``sums`` says that some sum to n."""
    if sum(weights) % 2 or sum(weights) > _MOST_WEIGHT:
        return sum(weights) > _MOST_WEIGHT
    sums = functools.reduce(lambda sums, weight: sums | sums << weight, weights, 1)
    return bool(sums >> sum(weights) // 2 & 1)


def plain(number: Fraction) -> str:
    """Write a number as a person would."""
    return str(number) if number.denominator == 1 else f"{float(number):g}"


def _in_brackets(part: Node, terms: RuleTerms, unless: type[Node] = Node) -> str:
    """Say when a part is true; joined parts stand in brackets, unless the same word goes on around them."""
    words = part.when(terms)
    return f"({words})" if isinstance(part, _Joined) and type(part) is not unless else words


def _list(parts: Sequence[Node], weights: Sequence[Fraction], terms: RuleTerms, conditions: bool = False) -> str:
    """List who votes, and with what weight."""
    shown = []
    for part, weight in zip(parts, weights, strict=True):
        if isinstance(part, Says) and not conditions:
            name = part.name
        else:
            name = f"({part.when(terms) if conditions else part.words(terms)})"
        shown.append(name if weight == 1 else f"{name} (counting {plain(weight)} times)")
    return and_list(shown)
