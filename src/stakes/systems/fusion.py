"""From what the models say to the system's decision: fusers that feed fusers, and the last rule."""

import graphlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stakes import errors
from stakes.errors import InputError, nearest
from stakes.question.options import Value
from stakes.systems import lookups
from stakes.systems.rules import Is, Label, Node, RuleTerms
from stakes.systems.syntax import parse
from stakes.tallies.arithmetic import Array

DECISION = "decision"
"""How the last rule is called beside the other fusers."""


@dataclass(frozen=True, eq=False)
class Fusion:
    """The rules of a system, in the order in which they are asked; the last one decides."""

    terms: RuleTerms
    models: tuple[str, ...]
    rules: Mapping[str, Node]
    texts: Mapping[str, str]
    decisions: tuple[str, ...]

    def __call__(self, codes: Mapping[str, Array]) -> Array:
        """Return the decision (a code) for each combination of what the models say (codes of their own)."""
        if self._written_down is None:
            found = self._decide(codes)
        else:
            places: Array = np.zeros((), np.int32)  # quicker than as many indexes as there are models
            for name in self.heard:
                places = places * len(self.terms.outputs[name]) + codes[name]
            found = self._written_down[places]
        if found.size and found.min() < 0:
            place = int(np.argmin(found))
            said = {name: self.terms.outputs[name][int(np.ravel(codes[name])[place])] for name in self.heard}
            answer = next(label for label in self.rules[DECISION].possible(self.terms) if label not in self.decisions)
            raise errors.decision_without_cost(said, answer, self.decisions)
        return found

    @cached_property
    def heard(self) -> tuple[str, ...]:
        """The models that the decision listens to, directly or through fusers."""
        return tuple(name for name in self.models if name in self._matter)

    @cached_property
    def _matter(self) -> set[str]:
        """The models and rules that the decision depends on."""
        wanted, found = [DECISION], set()
        while wanted:
            name = wanted.pop()
            found.add(name)
            wanted += [other for other in self.rules[name].names() if other not in found] if name in self.rules else []
        return found

    @cached_property
    def _written_down(self) -> Array | None:
        """The decision for every combination, where there are few: asking a table is quicker than asking rules."""
        sizes = [len(self.terms.outputs[name]) for name in self.heard]
        if math.prod(sizes) > lookups.MOST_COMBINATIONS:
            return None
        return self._decide(dict(zip(self.heard, np.indices(sizes, sparse=True), strict=True))).ravel()

    def _decide(self, codes: Mapping[str, Array]) -> Array:
        places = {label: i for i, label in enumerate(self.decisions)}
        decided = np.array([places.get(label, -1) for label in self.terms.letters])[self._answers(codes)[DECISION]]
        return np.broadcast_to(decided, np.broadcast_shapes(*map(np.shape, codes.values())))

    def _answers(self, codes: Mapping[str, Array]) -> dict[str, Array]:
        """What models and rules say in each combination."""
        terms = self.terms
        said: dict[str, Array] = {}
        for name in self.heard:
            said[name] = np.array([*map(terms.code, terms.outputs[name])], np.int32)[codes[name]]
        for name, rule in self.rules.items():
            if name in self._matter:
                said[name] = rule.labels(said, terms)
        return said

    def asked(self, codes: Mapping[str, Array]) -> dict[str, Array]:
        """In which combinations each model has to be asked: rules are read from the left, and stop when they know."""
        said, size = self._answers(codes), np.broadcast_shapes(*map(np.shape, codes.values()))
        found = dict.fromkeys([*self.models, *self.rules], np.zeros(size, bool)) | {DECISION: np.ones(size, bool)}
        for name, rule in reversed(list(self.rules.items())):
            for other, when in rule.asks(said, self.terms, found[name]) if name in self._matter else ():
                found[other] = found[other] | when
        return {name: found[name] for name in self.models}

    @property
    def ties(self) -> bool:
        """Whether votes can tie."""
        return any(rule.ties(self.terms) for rule in self.rules.values())

    def words(self) -> dict[str, str]:
        """Say what each rule does, in words."""
        return {name: f"says {rule.words(self.terms)}" for name, rule in self.rules.items()}


@dataclass(frozen=True)
class _Draft:
    """A rule of which it is known to whom it listens, but not yet what they can say."""

    text: str
    listens: tuple[str, ...]
    make: Callable[[RuleTerms], tuple[Node, tuple[str, ...]]]


def fuse(terms: RuleTerms, decisions: Sequence[str], fusers: Mapping[str, Value], decide: Value) -> Fusion:
    """Put rules in order and check what they speak of; ``terms`` know the models and the classes."""
    models = tuple(terms.outputs)
    for name in fusers:
        if name in (*models, DECISION, "truth"):
            raise errors.name_taken(name)
    names = [*models, *fusers]
    drafts = {name: _draft(rule, names, models) for name, rule in {**fusers, DECISION: decide}.items()}
    rules: dict[str, Node] = {}
    for name in in_order({name: draft.listens for name, draft in drafts.items()}):
        rule, letters = drafts[name].make(terms)
        terms = replace(terms, letters=tuple(dict.fromkeys([*letters, *decisions])))
        for part in walk(rule):
            _check(part, terms)
        terms = replace(terms, outputs={**terms.outputs, name: rule.possible(terms)})
        rules[name] = rule
    rules[DECISION] = rules.pop(DECISION)  # the last one
    return Fusion(terms, models, rules, {name: draft.text for name, draft in drafts.items()}, tuple(decisions))


def in_order(listens: Mapping[str, Sequence[str]]) -> list[str]:
    """Return names so that each comes after those it listens to, otherwise as listed; a circle is an error."""
    inner = {name: [other for other in others if other in listens] for name, others in listens.items()}
    try:
        graphlib.TopologicalSorter(inner).prepare()
    except graphlib.CycleError as problem:
        raise InputError(
            "circle", f"{' → '.join(problem.args[1])} is a circle: nobody can answer first; break it"
        ) from None
    found: list[str] = []
    while len(found) < len(inner):
        found.append(next(name for name in inner if name not in found and set(inner[name]) <= set(found)))
    return found


def _draft(rule: Value, names: Sequence[str], models: Sequence[str]) -> _Draft:
    if isinstance(rule, str):
        node = parse(rule, names)
        constants = tuple(part.label for part in walk(node) if isinstance(part, Label))
        return _Draft(rule, tuple(node.names()), lambda terms: (node, (*terms.letters, *constants)))
    if isinstance(rule, Mapping):
        of, fill, origin = lookups.of_table(rule, models)
    elif callable(rule):
        of, fill, origin = lookups.of_function(rule, names, models)
    else:
        raise InputError(
            "no-rule", f"decide is a {type(rule).__name__}; give the text of a rule, a full table or a function"
        )
    for name in of:
        if name not in names:
            raise errors.unknown_in_rule(name, list(names), origin)
    return _Draft(f"{origin} of {', '.join(of)}", of, lambda terms: lookups.lookup(of, fill, origin, terms))


def walk(node: Node) -> Iterator[Node]:
    """Yield a rule and every part of it."""
    yield node
    for part in node.inside():
        yield from walk(part)


def _check(part: Node, terms: RuleTerms) -> None:
    """A comparison with what a model never says is a slip."""
    if isinstance(part, Is):
        possible = part.part.possible(terms)
        for label in part.wanted:
            if label not in possible:
                raise InputError(
                    "never-says",
                    f"the rule compares {part.part.words(terms)} with {label!r}, which it never "
                    f"is{nearest(label, possible)}",
                )
