"""Labels that are nearly alike: noticed before they count as wrong answers, and made alike where a user asks.

``Yes`` and ``yes``, ``1`` and ``1.0`` and ``true`` in a text file, a blank at the end, a letter with its accent in one
or in two characters: such labels never match, and an accuracy of 0 looks like a bad model.
"""

import functools
import itertools
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from stakes import errors
from stakes.engines.columns import Values, read_number
from stakes.errors import Given, InputError, Pass, short, some
from stakes.frozen import dataclass, field
from stakes.tallies.names import canonical

_BOOLEANS = {"false": "0", "true": "1"}
_INTEGER = r"[+-]?[0-9]{1,300}"
_GROUPS = r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?"
_DECIMAL_COMMA = r"[+-]?[0-9]+,[0-9]+"
_AROUND = "'\"`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a\u00ab\u00bb,;:/\\()[]{}"
_SIGNS = r"\s_.\u2026\u2010-\u2015\-" + re.escape(_AROUND)
"""Dashes, quotes, dots, commas, slashes and brackets: what people write in and around words, or leave out."""
_CODE = r"0[0-9]"
"""Start of a text that is a code, such as 007, rather than the number 7."""


def _in_one_form(name: str) -> str:
    """Normalise a name to NFKC, without accents and invisible characters."""
    if name.isascii():
        return name
    signs = (sign for sign in unicodedata.normalize("NFKD", name) if not "\u0300" <= sign <= "\u036f")
    return unicodedata.normalize("NFKC", "".join(sign for sign in signs if unicodedata.category(sign) != "Cf"))


def _without(signs: str) -> Callable[[str], str]:
    """A function that removes signs from a name; between digits, where they carry meaning, they become one blank."""
    between, others = rf"(?<=\d)[{signs}]+(?=\d)", rf"(?<!\d)[{signs}]+|[{signs}]+(?!\d)"
    return lambda name: re.sub(others, "", re.sub(between, " ", name)) or name


_without_blanks, _without_signs = _without(r"\s"), _without(_SIGNS)


def _without_punctuation(name: str) -> str:
    """A name without quotes, dashes and the like; a number keeps its sign and its dot."""
    bare = name.strip(_AROUND)
    return _without_signs(name) if read_number(bare) is None else bare


def _as_number(name: str) -> str:
    """The number that a text spells, in the form of labels that are numbers; true and false are 1 and 0."""
    if name.casefold() in _BOOLEANS:
        return _BOOLEANS[name.casefold()]
    if re.match(_CODE, name):
        return name
    if re.fullmatch(_INTEGER, name):  # exactly, beyond what a float holds
        return str(int(name))
    if re.fullmatch(_GROUPS, name) or re.fullmatch(_DECIMAL_COMMA, name):
        name = name.replace(",", "" if re.fullmatch(_GROUPS, name) else ".")
    number = read_number(name)
    return name if number is None or not math.isfinite(number) else canonical(number)


_FORMS: dict[str, Callable[[str], str]] = {
    "unicode": _in_one_form,
    "blanks": _without_blanks,
    "case": str.casefold,
    "numbers": _as_number,
    "punctuation": _without_punctuation,
}
"""The words of ``alike=`` and what each does to a name, in the order of application."""

_DIFFERENCES = {
    "unicode": "accents or characters that look alike",
    "blanks": "blanks",
    "case": "case",
    "numbers": "how a number is written",
    "punctuation": "punctuation or blanks",
}

ALIKE = tuple(_FORMS)


@functools.lru_cache(maxsize=10_000)  # the same few labels come up again and again
def form(name: str, words: tuple[str, ...]) -> str:
    """The form of a name in which labels are compared."""
    made = functools.reduce(lambda so_far, word: _FORMS[word](so_far), words, name)
    return name if made == name else form(made, words)  # a quoted number is read only once its quotes are gone


@dataclass(frozen=True)
class Spelling:
    """The spelling of labels that ``alike=`` makes equal: as the call spells them, otherwise in their form."""

    words: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, alike: Values, classes: Values, positive: Values, others: Iterable[str] = ()) -> "Spelling":
        """Check ``alike=`` (a word, several separated by commas, or a list) and note how the call spells classes."""
        if alike is None:
            return cls()
        chosen = [word.strip() for word in alike.split(",")] if isinstance(alike, str) else alike
        if not isinstance(chosen, Sequence) or not chosen or not all(word in ALIKE for word in chosen):
            raise InputError(
                "unknown-alike",
                Given("alike", alike),
                f" is not known; pass {some(ALIKE, last='or')}, several with commas between them",
            )
        words = tuple(word for word in ALIKE if word in chosen)
        known: dict[str, str] = {}
        declared = [*(() if positive is None else (positive,)), *(() if classes is None else classes), *others]
        for name in map(canonical, declared):
            known.setdefault(form(name, words), name)
        return cls(words, known)

    def __call__(self, name: str) -> str:
        """Spell a label."""
        name = form(name, self.words)
        return self.known.get(name, name)


def refuse_alike(
    truth: Collection[str], prediction: Collection[str], declared: Collection[str], needed: bool = False
) -> None:
    """Refuse labels that differ only in how they are written if that changes the figures; otherwise warn.

    It does if truth and prediction share few labels but would share more, if it makes a third class, or if every label
    is ``needed``. Labels that are ``declared`` are meant to differ.
    """
    names = dict.fromkeys([*truth, *prediction])
    if len({form(name, ALIKE) for name in names}) == len(names):
        return
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(form(name, ALIKE), []).append(name)
    ambiguous = [group for group in groups.values() if len(group) > 1 and not set(group) <= set(declared)]
    if not ambiguous:
        return
    truths, predictions = set(truth), set(prediction)
    both = truths & predictions
    apart = [group for group in ambiguous if {*group} & truths and {*group} & predictions and not {*group} & both]
    one, other = apart[0][:2] if apart else ambiguous[0][:2]
    merged = len(names) - sum(len(group) - 1 for group in ambiguous)
    words = _difference(one, other)
    every = {word for group in ambiguous for name in group[1:] for word in _difference(group[0], name)}
    shown = ascii if {"unicode", "punctuation"} & {*words} else repr  # otherwise both could look the same
    problem = InputError(
        "nearly-alike",
        f"the labels {short(shown(one))} and {short(shown(other))} differ in "
        f"{' and '.join(_DIFFERENCES[word] for word in words)} only, and count as two classes; pass ",
        Pass("alike", ",".join(word for word in ALIKE if word in every)),
        " if they mean the same, or ",
        Pass("classes"),
        " with both if they do not",
    )
    if merged <= 2 or (apart and (needed or len(both) <= len(apart))):
        raise problem
    if not needed:  # otherwise the truth has been checked by itself before
        errors.warn(problem.code, problem.text)


def _difference(one: str, other: str) -> tuple[str, ...]:
    """The fewest words that make two labels alike."""
    choices = itertools.chain.from_iterable(itertools.combinations(ALIKE, size) for size in range(1, len(ALIKE) + 1))
    return next(words for words in choices if form(one, words) == form(other, words))
