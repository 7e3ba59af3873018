"""The text of a rule, read by a grammar of its own: nothing that a user writes is ever run as code.

images and history                       or, not, brackets
majority(a, b, 2 * c)                    votes, each with a weight
at_least(2, a, b, c)                     also at_most and exactly
a if b == "sick" else c                  ==, !=, in ("x", "y")
a if a == b else "ask"                   two models that agree
`chest x-ray` and history                names that are no plain words, in backticks
"""

import ast
import math
import re
import warnings
from collections.abc import Callable, Collection
from fractions import Fraction

from stakes import errors
from stakes.errors import InputError, short
from stakes.systems.rules import Agree, AllOf, AnyOf, Choose, Count, Is, Label, Negation, Node, Says, Vote, plain, whole
from stakes.tallies.arithmetic import is_real
from stakes.tallies.names import canonical

MOST_CHARACTERS = 10_000
MOST_NESTED = 100
_MOST_VOTES = 1 << 62
"""The largest total weight: votes are added up as 64-bit integers."""

_KEYWORDS = ("and", "or", "not", "if", "else", "in")
_QUOTED = "quoted_name_{}_"


def parse(text: str, names: Collection[str]) -> Node:
    """Read the text of a rule about these models and fusers."""
    return _Reader(text, names).read()


class _Reader:
    """Walks over Python's syntax tree, which is only a notation here, and accepts the nodes that it knows."""

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text, self.plain, self.names = text, text, names
        self.quoted: dict[str, str] = {}
        self.depth = 0

    def read(self) -> Node:
        if len(self.text) > MOST_CHARACTERS:
            raise InputError(
                "rule-too-long",
                f"the rule has {len(self.text):,} characters, more than {MOST_CHARACTERS:,}; split it into fusers",
            )
        plain = self.plain = re.sub(r"`([^`]+)`", self._set_aside, self.text)
        try:
            with warnings.catch_warnings(action="ignore"):  # Python's own advice would mislead
                tree = ast.parse(plain.strip(), mode="eval")
            return self._node(_Negative().visit(tree).body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
            if isinstance(problem, errors.InputError):
                raise
            if isinstance(problem, RecursionError | MemoryError):
                raise errors.rule_too_deep(MOST_NESTED) from None
            self._refuse_slips()
            raise InputError(
                "rule-unreadable",
                f"the rule {short(repr(self.text), 80)} cannot be read "
                f"({' '.join(str(getattr(problem, 'msg', problem)).partition(';')[0].split())}); write it like 'a and "
                "b', 'majority(a, b, c)', 'at_least(2, a, b, c)' or 'a if b == \"sick\" else c'; names that are no "
                "plain words stand in backticks: `chest x-ray`",
            ) from None

    def _refuse_slips(self) -> None:
        """Name what is probably wrong in a text that cannot be read: a name without backticks, AND for and."""
        for name in self.names:
            if not name.isidentifier() and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.plain):
                raise InputError(
                    "backticks-wanted", f"the model {name!r} is no plain word; write `{name}` in the rule, in backticks"
                )
        for word in re.findall(r"[A-Za-z]+", self.plain):
            if word not in self.names and word != word.lower() and word.lower() in _KEYWORDS:
                raise InputError(
                    "rule-word-in-capitals", f"{word!r} is nothing that a rule can say; write {word.lower()}"
                )

    def _set_aside(self, found: re.Match[str]) -> str:
        placeholder = _QUOTED.format(len(self.quoted))
        self.quoted[placeholder] = found[1]
        return placeholder

    def _node(self, tree: ast.expr) -> Node:
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise errors.rule_too_deep(MOST_NESTED)
        found = self._part(tree)
        self.depth -= 1
        return found

    def _part(self, tree: ast.expr) -> Node:
        match tree:
            case ast.Name():
                return Says(self._known(self.quoted.get(tree.id, tree.id)))
            case ast.Constant(value=str() | int() | float()):
                return Label(canonical(tree.value))
            case ast.BoolOp():
                kind = AllOf if isinstance(tree.op, ast.And) else AnyOf
                return kind(tuple(map(self._condition, tree.values)))
            case ast.UnaryOp(op=ast.Not()):
                return Negation(self._condition(tree.operand))
            case ast.IfExp():
                return Choose(self._condition(tree.test), self._node(tree.body), self._node(tree.orelse))
            case ast.Compare(ops=[_], comparators=[_]):
                return self._comparison(tree)
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS:
                return _FUNCTIONS[name](self, name, tree.args)
        self._refuse_slips()
        raise errors.rule_part_unknown(self._shown(tree), list(_FUNCTIONS))

    def _condition(self, tree: ast.expr) -> Node:
        """A part that is asked whether it holds, which a label by itself cannot be."""
        found = self._node(tree)
        if isinstance(found, Label):
            raise InputError(
                "label-as-condition",
                f"the rule uses {found.label!r} as if it could be true; compare a model with it: a == {found.label!r}",
            )
        return found

    def _known(self, name: str) -> str:
        if name in self.names:
            return name
        if name in _FUNCTIONS:
            number = "2, " if _FUNCTIONS[name] is _Reader._count else ""
            raise InputError(
                "nobody-in-rule",
                f"the rule {short(repr(self.text), 60)} does not say of whom; write {name}({number}"
                f"{', '.join(list(self.names)[:4])})",
            )
        raise errors.unknown_in_rule(name, list(self.names), self.text)

    def _comparison(self, tree: ast.Compare) -> Node:
        operator, right = tree.ops[0], tree.comparators[0]
        if isinstance(operator, ast.Eq | ast.NotEq) and not isinstance(right, ast.Constant):
            return Agree(self._node(tree.left), self._node(right), isinstance(operator, ast.NotEq))
        several = isinstance(operator, ast.In | ast.NotIn)
        labels = right.elts if several and isinstance(right, ast.Tuple | ast.List | ast.Set) else [right]
        wanted = [label.value for label in labels if isinstance(label, ast.Constant)]
        known = isinstance(operator, ast.Eq | ast.NotEq) or (several and labels != [right])
        if not known or len(wanted) != len(labels) or not wanted:
            raise errors.rule_part_unknown(self._shown(tree), list(_FUNCTIONS))
        negated = isinstance(operator, ast.NotEq | ast.NotIn)
        return Is(self._node(tree.left), tuple(map(canonical, wanted)), negated)

    def _majority(self, name: str, arguments: list[ast.expr]) -> Node:
        return Vote(*self._votes(name, arguments))

    def _count(self, name: str, arguments: list[ast.expr]) -> Node:
        if not arguments or (number := _number(arguments[0])) is None:
            raise InputError("count-without-number", f"{name} begins with a number: write {name}(2, a, b, c)")
        parts, weights = self._votes(name, arguments[1:], number)
        total = sum(weights, Fraction(0))
        if not 0 <= number <= total or number == {"at_least": 0, "at_most": total}.get(name):
            raise InputError(
                "count-beyond",
                f"{name}({plain(number)}, …) gives the same answer for every case: there are {plain(total)} votes; "
                "choose another number",
            )
        return Count(name, number, parts, weights)

    def _votes(
        self, name: str, arguments: list[ast.expr], *numbers: Fraction
    ) -> tuple[tuple[Node, ...], tuple[Fraction, ...]]:
        if not arguments:
            raise InputError("nothing-to-vote", f"{name} has nobody to count; name the models in the brackets")
        weights, parts = zip(*map(self._weighted, arguments), strict=True)
        if sum(whole([*weights, *numbers])) > _MOST_VOTES:
            raise InputError(
                "votes-beyond-sums",
                f"the numbers in {name} are too large, or too far apart, to be added up; write weights such as 2 * a "
                "and 0.5 * b",
            )
        return parts, weights

    def _weighted(self, tree: ast.expr) -> tuple[Fraction, Node]:
        """A vote, perhaps with a weight: 2 * a."""
        if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.Mult):
            return Fraction(1), self._node(tree)
        for weight, vote in ((_number(tree.left), tree.right), (_number(tree.right), tree.left)):
            if weight is not None and weight > 0:
                return weight, self._node(vote)
        raise InputError(
            "bad-vote-weight",
            f"{short(self._shown(tree), 60)!r} is no weighted vote; write a number above 0 times a model: 2 * a",
        )

    def _shown(self, tree: ast.expr) -> str:
        words = ast.unparse(tree)
        for placeholder, name in self.quoted.items():
            words = words.replace(placeholder, f"`{name}`")
        return words


_FUNCTIONS: dict[str, Callable[[_Reader, str, list[ast.expr]], Node]] = {
    "majority": _Reader._majority,
    "at_least": _Reader._count,
    "at_most": _Reader._count,
    "exactly": _Reader._count,
}
"""Words with brackets, and how what stands in them is read."""


class _Negative(ast.NodeTransformer):
    """Takes a minus before a number as part of it, so that −1 is a label like any other."""

    def visit_UnaryOp(self, tree: ast.UnaryOp) -> ast.expr:
        match tree:
            case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)) if _number(tree.operand) is not None:
                return ast.Constant(-number)
        self.generic_visit(tree)
        return tree


def _number(tree: ast.expr) -> Fraction | None:
    """The number that is written there, if it is one: 0.1 is a tenth."""
    if isinstance(tree, ast.Constant) and is_real(tree.value) and tree.value != math.inf:
        return Fraction(repr(tree.value))
    return None
