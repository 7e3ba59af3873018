"""From what the models say to the system's decision: fusers that feed fusers, and the last rule."""

import functools
import graphlib
import inspect
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, nearest, short, some
from stakes.question.options import Value
from stakes.systems.rules import Is, Label, Lookup, Node, RuleTerms
from stakes.systems.syntax import parse
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import canonical

DECISION = "decision"
"""The name of the last rule among the fusers."""

MOST_COMBINATIONS = 1 << 20
"""The most combinations that are written down one by one."""

Answers = dict[tuple[str, ...], Value]

Filled = Callable[[RuleTerms], Answers]
"""A function from the outputs of models to what a rule answers for each combination."""


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
            places: Array = np.zeros((), np.int32)  # one flat index is quicker than one per model
            for name in self.heard:
                places = places * len(self.terms.outputs[name]) + codes[name]
            found = self._written_down[places]
        if found.size and found.min() < 0:
            place = int(np.argmin(found))
            answers = {name: self.terms.outputs[name][int(np.ravel(codes[name])[place])] for name in self.heard}
            answer = next(label for label in self.rules[DECISION].possible(self.terms) if label not in self.decisions)
            raise InputError(
                "decision-without-cost",
                f"when {errors.who_says(answers)}, the rule decides for {answer!r}, which has no "
                f"cost{nearest(answer, self.decisions)}",
            )
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
        if math.prod(sizes) > MOST_COMBINATIONS:
            return None
        return self._decide(dict(zip(self.heard, np.indices(sizes, sparse=True), strict=True))).ravel()

    def _decide(self, codes: Mapping[str, Array]) -> Array:
        places = {label: i for i, label in enumerate(self.decisions)}
        decided = np.array([places.get(label, -1) for label in self.terms.letters])[self._answers(codes)[DECISION]]
        return np.broadcast_to(decided, np.broadcast_shapes(*map(np.shape, codes.values())))

    def _answers(self, codes: Mapping[str, Array]) -> dict[str, Array]:
        """What models and rules say in each combination."""
        terms = self.terms
        answers: dict[str, Array] = {}
        for name in self.heard:
            answers[name] = np.array([*map(terms.code, terms.outputs[name])], np.int32)[codes[name]]
        for name, rule in self.rules.items():
            if name in self._matter:
                answers[name] = rule.labels(answers, terms)
        return answers

    def asked(self, codes: Mapping[str, Array]) -> dict[str, Array]:
        """In which combinations each model has to be asked: rules are evaluated left to right, with short circuits."""
        answers, size = self._answers(codes), np.broadcast_shapes(*map(np.shape, codes.values()))
        found = dict.fromkeys([*self.models, *self.rules], np.zeros(size, bool)) | {DECISION: np.ones(size, bool)}
        for name, rule in reversed(list(self.rules.items())):
            for other, when in rule.asks(answers, self.terms, found[name]) if name in self._matter else ():
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
    """A rule whose inputs are known, but not yet what they can say."""

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
    """Sort rules topologically, otherwise as listed; a cycle is an error."""
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
        of, fill, origin = of_table(rule, models)
    elif callable(rule):
        of, fill, origin = of_function(rule, names, models)
    else:
        raise InputError(
            "no-rule", f"decide is a {type(rule).__name__}; give the text of a rule, a full table or a function"
        )
    for name in of:
        if name not in names:
            raise errors.unknown_in_rule(name, list(names), origin)
    return _Draft(f"{origin} of {', '.join(of)}", of, lambda terms: lookup(of, fill, origin, terms))


def walk(node: Node) -> Iterator[Node]:
    """Yield a rule and every part of it."""
    yield node
    for part in node.inside():
        yield from walk(part)


def _check(part: Node, terms: RuleTerms) -> None:
    """Refuse comparisons with labels that a model never says."""
    if isinstance(part, Is):
        possible = part.part.possible(terms)
        for label in part.wanted:
            if label not in possible:
                raise InputError(
                    "never-says",
                    f"the rule compares {part.part.words(terms)} with {label!r}, which it never "
                    f"is{nearest(label, possible)}",
                )


# ── rules that are no text: a full table, or a Python function asked once for every combination ───────────────────
def of_table(table: Mapping[Value, Value], models: Sequence[str]) -> tuple[tuple[str, ...], Filled, str]:
    """Take a full table: combinations → answer, of all models in their order or of those named in ``of``."""
    of, cells = models, table
    if "table" in table:
        strange = [key for key in table if key not in ("of", "table")]
        if strange:
            raise errors.unknown_words("decide", strange, ("of", "table"))
        of, cells = table.get("of", models), table["table"]
    of = (of,) if isinstance(of, str) else of
    listed = isinstance(cells, list | tuple) and all(isinstance(row, list | tuple) and len(row) > 1 for row in cells)
    if not isinstance(of, list | tuple) or not (listed or isinstance(cells, Mapping)):
        raise InputError(
            "bad-rule-table",
            f"the table of the rule is {short(repr(table))}; give {{(what each model says, …): answer}}, or rows that "
            "end with the answer",
        )
    if not all(isinstance(name, str) for name in of) or len(set(of)) != len(of):
        raise InputError(
            "bad-names-of-rule-table",
            Given("of", of),
            " does not work; list the models that the table of the rule is about, once each",
        )
    rows = cells.items() if isinstance(cells, Mapping) else [(row[:-1], row[-1]) for row in cells]
    answers: Answers = {}
    for key, answer in rows:
        combination = tuple(map(canonical, key)) if isinstance(key, tuple | list) else (canonical(key),)
        if combination in answers:
            raise InputError(
                "table-row-twice", f"the table of the rule answers {some(combination)} twice; keep one of them"
            )
        answers[combination] = answer
    return tuple(of), lambda terms: answers, "the table"


def of_function(
    function: Callable[..., Value], names: Collection[str], models: Sequence[str]
) -> tuple[tuple[str, ...], Filled, str]:
    """Take a Python function, whose arguments are called like models or fusers."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # built-in functions need not tell
        raise errors.rule_of_positions() from None
    bound = function.keywords if isinstance(function, functools.partial) else {}
    parameters = [p for p in parameters if p.name not in bound]
    of = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind == p.VAR_KEYWORD for p in parameters):
        of += [name for name in models if name not in of and name not in bound]
    elif len(of) != len(parameters):
        raise errors.rule_of_positions()
    called = _name(function)
    for name in of:
        if name not in names:
            raise errors.unknown_in_rule(name, list(names), called)

    def fill(terms: RuleTerms) -> Answers:
        combinations = itertools.product(*(terms.outputs[name] for name in of))
        return {answers: _answer(function, called, dict(zip(of, answers, strict=True))) for answers in combinations}

    return tuple(of), fill, f"the function {called}"


def _name(function: Callable[..., Value]) -> str:
    """The name of a function; of a partial one, that of the function inside; of other objects, that of their class."""
    if isinstance(function, functools.partial):
        return _name(function.func)
    return getattr(function, "__name__", type(function).__name__)


def _answer(function: Callable[..., Value], called: str, answers: dict[str, str]) -> Value:
    try:
        return function(**answers)
    except Exception as problem:  # whatever a user's function raises
        why = " ".join(f"{type(problem).__name__}: {problem}".split())
        raise InputError(
            "rule-failed", f"the function {called} fails when {errors.who_says(answers)} ({why}); mend it"
        ) from problem


def refuse_too_many(origin: str, sizes: Sequence[int]) -> None:
    """Refuse more combinations than can be written down."""
    if math.prod(sizes) > MOST_COMBINATIONS:
        raise errors.too_many_to_write_down(origin, math.prod(sizes), MOST_COMBINATIONS)


def lookup(of: tuple[str, ...], fill: Filled, origin: str, terms: RuleTerms) -> tuple[Lookup, tuple[str, ...]]:
    """Tabulate the answer of every combination; also return the labels, those known before first."""
    sizes = [len(terms.outputs[name]) for name in of]
    refuse_too_many(origin, sizes)
    found = {key: _label(answer, terms) for key, answer in fill(terms).items()}
    wanted = list(itertools.product(*(terms.outputs[name] for name in of)))
    for key in wanted:
        if key not in found:
            when = errors.who_says(dict(zip(of, key, strict=True)))
            raise InputError(
                "table-row-missing", f"the table of the rule has no answer when {when}; give one for every combination"
            )
    for key in found.keys() - set(wanted):
        known = "; ".join(f"{name}: {some(terms.outputs[name])}" for name in of)
        raise InputError(
            "table-row-unknown", f"the table of the rule answers {some(sorted(key))}, which cannot be said ({known})"
        )
    letters = tuple(dict.fromkeys([*terms.letters, *found.values()]))
    place = {label: i for i, label in enumerate(letters)}
    answers = np.array([place[found[key]] for key in wanted]).reshape(sizes)
    return Lookup(of, answers, origin), letters


def _label(answer: Value, terms: RuleTerms) -> str:
    """A label; a plain yes or no stands for the positive and the negative class."""
    if isinstance(answer, bool | np.bool_) and canonical(answer) not in terms.letters:
        return terms.pair()[0 if answer else 1]
    return canonical(answer)
