"""Numbers as a language writes them; the script of the page writes them alike (``numbers.js``)."""

import math
from typing import TYPE_CHECKING, Any

from stakes.text import current_language

if TYPE_CHECKING:
    from decimal import Decimal

MINUS, MISSING = "−", "–"

_POINT = {"en": "."}
"""The decimal sign, where it is no comma."""

_GROUPS = {"en": ",", "es": ".", "ru": "\xa0"}
_PERCENT = {"en": "%"}
"""The sign of per cent, where no blank stands before it."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def write(value: Any, form: str = "number") -> str:
    """Return a number in one of the forms that gaps of sentences name; what is not known is a dash."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    return FORMS[form](value, current_language())


def in_signs(text: str, lang: str = "") -> str:
    """Return a number that is written as in English with the signs of a language, by default that of the reader."""
    lang = lang or current_language()
    return text.translate(str.maketrans("-.,", MINUS + _POINT.get(lang, ",") + _GROUPS.get(lang, ",")))


def number(value: float, lang: str) -> str:
    """Return a figure: four decimals, five digits from 10 on, or as many as a very large or small one needs."""
    size = abs(value)
    if size and not 1e-4 <= size < 1e7:
        return _powers_of_ten(value, lang)
    if size >= 1e3:
        return _decimals(value, lang, most=2)
    if size >= 10:
        return _digits(value, lang, 5)
    return _digits(value, lang, 3) if 0 < size < 1e-2 else _decimals(value, lang, most=4, least=4)


def count(value: float, lang: str) -> str:
    """Return a number of rows; weights have one decimal where they are few."""
    return _decimals(value, lang, most=0 if value == int(value) or value >= 1e4 else 1)


def percent(value: float, lang: str) -> str:
    """Return a share with one decimal, and with more where everything happens near 0 or 1."""
    room = min(value, 1 - value)
    digits = _decimals(value, lang, scale=100, most=3 if 0 < room < 0.01 else 1)
    return digits + _PERCENT.get(lang, "\xa0%")


def cost(value: float, lang: str) -> str:
    """Return a cost with five digits."""
    return _digits(value, lang, 5)


def money(value: float, lang: str) -> str:
    """Return an amount of a currency: two decimals or none, and none from 1,000 on; three digits below 1."""
    size = abs(value)
    if size < 1:
        return _digits(value, lang, 3)
    whole = size >= 1e3 or value == int(value)
    return _decimals(value, lang, most=0) if whole else _decimals(value, lang, most=2, least=2)


def exact(value: float, lang: str) -> str:
    """Return a threshold with the digits that distinguish it from its neighbours."""
    return _digits(value, lang, 6)


def p_value(value: float, lang: str) -> str:
    """Return a p-value: one that no float tells from 0 is written as the smallest are."""
    return number(value or math.ulp(0.0), lang)


FORMS = {
    "number": number,
    "p": p_value,
    "count": count,
    "percent": percent,
    "cost": cost,
    "money": money,
    "short": cost,
    "exact": exact,
}


def _decimal(value: float) -> "Decimal":
    """The number as it is usually written, by the fewest digits that mean it: halves of those are rounded up."""
    from decimal import Decimal  # nothing is written while figures are worked out

    return Decimal(repr(float(value)))


def _digits(value: float, lang: str, most: int) -> str:
    """So many significant digits, without zeros at the end."""
    from decimal import ROUND_HALF_UP, Context  # as above

    rounded = Context(prec=most, rounding=ROUND_HALF_UP).create_decimal(_decimal(value))
    return _signs(rounded, lang)


def _decimals(value: float, lang: str, most: int, least: int = 0, scale: int = 1) -> str:
    from decimal import ROUND_HALF_UP, Context, Decimal  # as above

    exact_value = _decimal(value) * scale
    room = Context(prec=max(exact_value.adjusted(), 0) + most + 3, rounding=ROUND_HALF_UP)
    rounded = exact_value.quantize(Decimal(1).scaleb(-most), context=room)
    return _signs(rounded, lang, least)


def _signs(value: "Decimal", lang: str, least: int = 0) -> str:
    """The signs of a language: for decimals, between thousands, and below 0."""
    whole, _, rest = f"{abs(value):,f}".partition(".")
    rest = rest.rstrip("0").ljust(least, "0")
    if lang == "es" and len(whole) == 5:
        whole = whole.replace(",", "")  # as the Spanish academies have it: four digits stand together
    below = MINUS if value < 0 else ""
    return below + whole.replace(",", _GROUPS.get(lang, ",")) + (_POINT.get(lang, ",") + rest if rest else "")


def _powers_of_ten(value: float, lang: str) -> str:
    if abs(value) < 1e-300:
        return f"<{_powers_of_ten(1e-300, lang)}"
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{_digits(float(digits), lang, 3)}·10{str(int(power)).translate(_RAISED)}"
