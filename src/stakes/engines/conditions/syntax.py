"""Parses a condition by a grammar of its own: a question about the columns of one row, and nothing else.

site = 'A' AND NOT age > 60              also OR, brackets; = <> < <= > >=
ward IN ('a', 'b') OR code LIKE 'x%'     NOT IN, BETWEEN 1 AND 5, ILIKE, IS NULL, IS NOT NULL
(high - low) / 2 >= 0.1 * abs(width)     + - * / %, in float64
upper("site name") = 'NORTH'             also lower, trim, length; odd names in double quotes or backticks

No engine ever sees the text, so there is no word for a query, a function of several rows, a file or a network.
"""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from stakes import errors
from stakes.engines.conditions import tree
from stakes.errors import Given, InputError, short

MOST_CHARACTERS = 30_000
MOST_NESTED = 100
_LONGEST_EXPONENT = 3
_LONGEST_PATTERN = 1_000
"""Longest pattern that every engine accepts."""

FUNCTIONS = {"abs": "number", "length": "number", "lower": "text", "trim": "text", "upper": "text"}
"""The functions, and the kinds that they return."""


def parse(text: object) -> tree.Condition:
    """Parse a condition."""
    if not isinstance(text, str):
        raise errors.bad_where(text, f"it is no text but of the type {type(text).__name__}")
    if len(text) > MOST_CHARACTERS:
        raise errors.bad_where(
            text, f"it has {len(text):,} characters, more than {MOST_CHARACTERS:,}", "give a shorter one"
        )
    return _Parser(text).read()


# ── words and signs ──────────────────────────────────────────────────────────────────────────────────────────────
_SLIPS = {
    **dict.fromkeys(("&&", "&"), "write AND"),
    **dict.fromkeys(("||", "|"), "write OR"),
    **{"!": "write NOT", "~": "write LIKE", "===": "write =", ">>": "write >", "<<": "write <", "×": "write *"},
    **{"=>": "write >=", "≥": "write >=", "=<": "write <=", "≤": "write <=", "≠": "write <>"},
    **dict.fromkeys(("−", "–"), "write -"),
    **dict.fromkeys("‘’‚′“”„«»", "write text in straight single quotes: 'A'"),
    **dict.fromkeys(("--", "/*", "#"), "leave comments out"),
    **{
        "'": "write a single quote at the end of the text, too",
        '"': "write a double quote at the end of the name, too",
    },
    **{"`": "write ` at the end of the name, too", ";": "give one condition"},
}
_TOKEN = re.compile(
    rf"""(?P<blank>\s+)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])
    |(?P<text>'[^']*(?:''[^']*)*')
    |(?P<quoted>"[^"]*(?:""[^"]*)*"|`[^`]*(?:``[^`]*)*`)
    |(?P<word>[^\W0-9]\w*)
    |(?P<slip>{"|".join(re.escape(sign) for sign in _SLIPS if len(sign) > 1)})
    |(?P<sign><=|>=|<>|!=|==|[=<>()+\-*/%,])
    |(?P<other>[\w.]+|.)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = {"AND", "OR", "NOT", "IN", "IS", "LIKE", "ILIKE", "BETWEEN", "NULL", "TRUE", "FALSE"}
_COMPARING = ("=", "==", "<>", "!=", "<", "<=", ">", ">=")
_POWERS = {
    **{"OR": 1, "AND": 2},
    **dict.fromkeys((*_COMPARING, "IS", "NOT", "IN", "LIKE", "ILIKE", "BETWEEN"), 4),
    **{"+": 5, "-": 5, "*": 6, "/": 6, "%": 6},
}
"""Binding power of operators; NOT before a condition lies between AND and =."""
_AFTER_NOT, _OF_VALUES, _OF_ONE = 3, 5, 7
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    **{"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": math.fmod},
}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    place: int

    @property
    def key(self) -> str:
        """The keyword or sign of this token, or ""."""
        if self.kind == "word" and self.text.upper() in _KEYWORDS:
            return self.text.upper()
        return self.text if self.kind == "sign" else ""


def _tokens(text: str) -> list[_Token]:
    """Split a text into tokens; characters that no table can hold are refused at once."""
    for found in re.finditer("[\0\ud800-\udfff]", text):
        raise errors.bad_where(text, f"character {found.start() + 1:,} is U+{ord(found[0]):04X}", "leave it out")
    tokens = (_Token(str(found.lastgroup), found[0], found.start() + 1) for found in _TOKEN.finditer(text))
    return [*(token for token in tokens if token.kind != "blank"), _Token("end", "", len(text) + 1)]


class _Parser:
    """Parses from left to right, by binding power."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.place, self.depth = text, _tokens(text), 0, 0
        self.names: list[tree.Name] = []

    def read(self) -> tree.Condition:
        test = self._test(self._expression(0))
        if self._next.kind != "end":
            self._refuse("AND, OR or the end")
        return tree.Condition(self.text, test, tuple(self.names))

    def _wrong(self, why: str, advice: str | None = None) -> InputError:
        return errors.bad_where(self.text, why, advice)

    # ── what comes next ──────────────────────────────────────────────────────────────────────────────────────────
    @property
    def _next(self) -> _Token:
        return self.tokens[self.place]

    def _take(self, *keys: str) -> str:
        """Consume and return one of these keywords or signs if it comes next, otherwise ""."""
        key = self._next.key
        self.place += key in keys
        return key if key in keys else ""

    def _take_all(self, *keys: str) -> list[str]:
        """Consume as many of these as come next."""
        return list(iter(lambda: self._take(*keys), ""))

    def _expect(self, key: str, wanted: str) -> None:
        if not self._take(key):
            self._refuse(wanted)

    def _refuse(self, wanted: str) -> NoReturn:
        token = self._next
        if token.kind == "end":
            raise self._wrong(f"it ends where {wanted} should follow")
        advice = _SLIPS.get(token.text)
        if token.kind == "other" and not advice:
            dotted = 'write a name that has a dot in double quotes: "a.b"'
            advice = dotted if token.text[0] == "." else "write numbers as 1000 or 0.5, and odd names in double quotes"
        shown = short(token.text if token.text.isprintable() else ascii(token.text)[1:-1])
        raise self._wrong(f"{shown} at character {token.place:,} stands where {wanted} should", advice)

    # ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────
    def _expression(self, least: int) -> tree.Value | tree.Test:
        """Parse an operand, and all operators after it that bind at least this tightly."""
        self.depth += 1
        if self.depth > MOST_NESTED:
            raise errors.nested_condition(self.text, MOST_NESTED)
        left = self._operand()
        while least <= _POWERS.get(self._next.key, -1):
            left = self._continue(left, self._next.key)
        self.depth -= 1
        return left

    def _continue(self, left: tree.Value | tree.Test, key: str) -> tree.Value | tree.Test:
        if key in ("AND", "OR"):
            parts = [self._test(left)]
            while self._take(key):
                parts.append(self._test(self._expression(_POWERS[key] + 1)))
            return _combine(key == "AND", parts)
        value = self._value(left)
        if key in ("IS", "NOT", "IN", "LIKE", "ILIKE") and isinstance(value, _LITERALS):
            raise self._wrong(f"no column stands before {key}", "compare written values with signs")
        self.place += 1
        if key in ("+", "-", "*", "/", "%"):
            return self._arithmetic(key, value, self._value(self._expression(_POWERS[key] + 1)))
        if key == "IS":
            negated = bool(self._take("NOT"))
            self._expect("NULL", "NULL or NOT NULL")
            return _opposite(tree.IsNull(value), negated)
        if key == "NOT":
            after = self._take("IN", "LIKE", "ILIKE", "BETWEEN")
            return _opposite(self._choice(after, value) if after else self._refuse("IN, LIKE or BETWEEN"))
        if key in ("IN", "LIKE", "ILIKE", "BETWEEN"):
            return self._choice(key, value)
        sign = "=" if key in ("==", "<>", "!=") else key
        test = self._compare(sign, value, self._value(self._expression(_OF_VALUES)))
        return _opposite(test, key in ("<>", "!="))

    def _choice(self, key: str, value: tree.Value) -> tree.Test:
        if key == "BETWEEN":
            low = self._value(self._expression(_OF_VALUES))
            self._expect("AND", "AND and the other end")
            high = self._value(self._expression(_OF_VALUES))
            return _combine(True, [self._compare(">=", value, low), self._compare("<=", value, high)])
        if key == "IN":
            self._expect("(", "values in brackets, such as ('A', 'B'),")
            items = [self._item()]
            while self._take(","):
                items.append(self._item())
            self._expect(")", "a comma or a closing bracket")
            return tree.In(value, tuple(items))
        if self._next.kind != "text":
            self._refuse(f"text in single quotes after {key}")
        pattern = self._text().value
        if len(pattern) > _LONGEST_PATTERN:
            raise InputError(
                "long-pattern",
                Given("where"),
                f": the pattern after {key} has {len(pattern):,} letters; give one of at most {_LONGEST_PATTERN:,}",
            )
        return tree.Like(value, pattern, key == "ILIKE")

    def _text(self) -> tree.Text:
        """Consume text in single quotes, which comes next."""
        quoted = self._next.text
        self.place += 1
        return tree.Text(quoted[1:-1].replace("''", "'"))

    def _item(self) -> tree.Value:
        if self._next.kind not in ("number", "text") and self._next.key not in ("-", "+", "TRUE", "FALSE", "NULL"):
            self._refuse("a number or a text in single quotes")
        value = self._value(self._expression(_OF_ONE))
        self._refuse_blank(value)
        return value

    def _operand(self) -> tree.Value | tree.Test:
        if self._next.key == "NOT":
            odd = len(self._take_all("NOT")) % 2 == 1
            return _opposite(self._test(self._expression(_AFTER_NOT)), odd)
        if signs := self._take_all("-", "+"):
            value = self._value(self._expression(_OF_ONE))
            return self._arithmetic("-" if signs.count("-") % 2 else "+", tree.Number(0), value)
        return self._in_brackets() if self._take("(") else self._single()

    def _in_brackets(self) -> tree.Value | tree.Test:
        inner = self._expression(0)
        self._expect(")", "a closing bracket")
        return inner

    def _single(self) -> tree.Value:
        token = self._next
        if token.key in ("TRUE", "FALSE"):
            self.place += 1
            return tree.Truth(token.key == "TRUE")
        if token.key == "NULL":
            raise self._wrong("nothing equals NULL", "write IS NULL or IS NOT NULL after the column")
        if token.kind not in ("number", "text", "quoted", "word") or token.key:
            self._refuse("a column, a number or a text in single quotes")
        if token.kind == "text":
            return self._text()
        self.place += 1
        if token.kind == "number":
            return self._number(token.text)
        if token.kind == "word" and self._next.key == "(":
            return self._call(token.text)
        quote = token.text[0] if token.kind == "quoted" else ""
        after = self.tokens[self.place - 2].key if self.place > 1 else ""
        column = token.text[1:-1].replace(quote * 2, quote) if quote else token.text
        self.names.append(tree.Name(column, quote == '"' or after in _COMPARING))
        return self.names[-1]

    def _call(self, name: str) -> tree.Value:
        if name.lower() not in FUNCTIONS:
            why = f"{short(name)}() is no function that looks at one value of one row"
            raise self._wrong(why, f"use {', '.join(list(FUNCTIONS)[:-1])} or {list(FUNCTIONS)[-1]}")
        self._expect("(", "an opening bracket")
        value = self._value(self._in_brackets())
        if isinstance(value, tree.Number | tree.Text):
            return self._compute_call(name.lower(), value)
        return tree.Call(name.lower(), value, self._height(value), FUNCTIONS[name.lower()])

    # ── what parts mean ──────────────────────────────────────────────────────────────────────────────────────────
    def _test(self, part: tree.Value | tree.Test) -> tree.Test:
        """Take a part as a test; the only value that can be one is a column of booleans."""
        if isinstance(part, tree.Name):
            return tree.Compare("=", part, tree.Truth(True))
        if not isinstance(part, tree.Test):
            raise self._wrong("a part of it is neither true nor false", "compare it with something")
        return part

    def _value(self, part: tree.Value | tree.Test) -> tree.Value:
        if not isinstance(part, tree.Value):
            raise self._wrong("a comparison is used as a value", "write 1 < x AND x < 5 for 1 < x < 5")
        return part

    def _compare(self, sign: str, left: tree.Value, right: tree.Value) -> tree.Test:
        for value in (left, right):
            self._refuse_blank(value)
        if isinstance(left, _LITERALS) and isinstance(right, _LITERALS):
            if type(left) is not type(right):
                raise self._wrong("it compares a number, a text or TRUE with another of these")
            return tree.Truth(SIGNS[sign](left.value, right.value))
        return tree.Compare(sign, left, right)

    def _refuse_blank(self, value: tree.Value) -> None:
        if isinstance(value, tree.Text) and not value.value.strip():
            raise self._wrong(f"{value.value!r} is a missing value", "write IS NULL or IS NOT NULL after the column")

    def _number(self, text: str) -> tree.Number:
        exponent = text.lower().partition("e")[2].lstrip("+-0")
        if math.isinf(float(text)) or len(exponent) > _LONGEST_EXPONENT:
            raise self._wrong(f"{short(text)} is beyond what a float64 holds", "write a smaller number")
        return tree.Number(int(text) if text.isdigit() else Decimal(text))

    def _arithmetic(self, sign: str, left: tree.Value, right: tree.Value) -> tree.Value:
        """Combine two numbers; literals are computed at once."""
        if left == tree.Number(0) and isinstance(right, tree.Number) and sign in "+-":
            return tree.Number(_negative(right.value) if sign == "-" else right.value)
        for value in (left, right):
            if isinstance(value, tree.Number) and isinstance(value.value, int) and abs(value.value) > tree.LARGEST:
                seen = f"{short(str(value.value))} is beyond 2**53, where arithmetic of float64 rounds"
                raise self._wrong(seen, "compare whole numbers as they are")
        if not isinstance(left, tree.Number) or not isinstance(right, tree.Number):
            return tree.Arithmetic(sign, left, right, self._height(left, right))
        return self._compute(sign, float(left.value), float(right.value))

    def _compute(self, sign: str, left: float, right: float) -> tree.Number:
        if sign in "/%" and right == 0:
            raise self._wrong("it divides by zero", "leave that out")
        result = float(SIGNS[sign](left, right))
        if math.isinf(result):
            raise self._wrong(f"{left:g} {sign} {right:g} is beyond what a float64 holds", "write a smaller number")
        return tree.Number(int(result) if result.is_integer() and abs(result) <= tree.LARGEST else Decimal(result))

    def _compute_call(self, name: str, literal: tree.Number | tree.Text) -> tree.Value:
        if isinstance(literal, tree.Number) != (name == "abs"):
            raise self._wrong(f"{name}() is for {'numbers' if name == 'abs' else 'text'}")
        if isinstance(literal, tree.Number):
            return literal if literal.value >= 0 else tree.Number(_negative(literal.value))
        if name == "length":
            return tree.Number(len(literal.value))
        functions: dict[str, Callable[[str], str]] = {"lower": str.lower, "upper": str.upper, "trim": str.strip}
        return tree.Text(functions[name](literal.value))

    def _height(self, *parts: tree.Value) -> int:
        height = 1 + max(part.height for part in parts)
        if height > MOST_NESTED:
            raise errors.nested_condition(self.text, MOST_NESTED)
        return height


_LITERALS = (tree.Number, tree.Text, tree.Truth)


def _negative(value: int | Decimal) -> int | Decimal:
    return value.copy_negate() if isinstance(value, Decimal) else -value  # -Decimal would round


def _opposite(test: tree.Test, negated: bool = True) -> tree.Test:
    if isinstance(test, tree.Truth):
        return tree.Truth(test.value != negated)
    return tree.Not(test) if negated else test


def _combine(every: bool, parts: list[tree.Test]) -> tree.Test:
    """AND or OR of the parts, simplified where one is TRUE or FALSE."""
    if tree.Truth(not every) in parts:
        return tree.Truth(not every)
    left = tuple(part for part in parts if not isinstance(part, tree.Truth))
    return tree.Several(every, left) if len(left) > 1 else left[0] if left else tree.Truth(every)
