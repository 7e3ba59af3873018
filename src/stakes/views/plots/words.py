"""Words in plots, in the language of the reader: names are drawn as they are, figures with their intervals."""

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stakes.language.numbers import in_signs
from stakes.language.sentences import metric_name, words
from stakes.metrics import Estimate
from stakes.text import current_language, escaped, visible

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

_LONGEST = 28


def inert(name: object, longest: int = _LONGEST) -> str:
    """Return a name from the data as text that matplotlib draws as it is: no formula, one line, not too long."""
    line = "".join(map(_with_glyph, " ".join(visible(str(name)).split())))
    short = line if len(line) <= longest else f"{line[: longest - 1]}…"
    # labels that begin with an underscore would be left out of legends
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def _with_glyph(sign: str) -> str:
    """A letter that no font has is escaped; otherwise matplotlib draws an empty box, and warns."""
    return sign if sign.isascii() or any(font.get_char_index(ord(sign)) for font in _fonts()) else escaped(sign)


def _fonts() -> Iterator["FT2Font"]:
    """The fonts that letters are looked for in, one after the other."""
    from matplotlib import font_manager, rcParams

    for name in rcParams["font.sans-serif"]:
        with contextlib.suppress(ValueError):  # most of those that are named are not installed
            yield font_manager.get_font(font_manager.findfont(name, fallback_to_default=False))


def figure_in_words(name: str, estimate: Estimate) -> str:
    """Write a figure with its interval: AUC 0.91 [0.88, 0.93]."""
    if not estimate.defined:
        return words("plot.undefined", name=name)
    return f"{name} {with_interval(estimate.value, estimate.low, estimate.high)}"


def with_interval(value: float, low: float | None, high: float | None) -> str:
    """Write a number and the ends of its interval, with as many decimals as the interval is worth."""
    if low is None or high is None or not 0 < high - low < math.inf:
        return short_number(value)
    decimals = min(max(1 - math.floor(math.log10((high - low) / 2)), 0), 6)
    value_, low_, high_ = (in_signs(f"{one:,.{decimals}f}") for one in (value, low, high))
    return f"{value_} [{low_}{', ' if current_language() == 'en' else '; '}{high_}]"


def short_number(value: float) -> str:
    """Write a number shortly: two decimals, or three digits of a large or small one."""
    text = f"{value:.2f}" if 0.01 <= abs(value) < 100 or value == 0 else f"{value:,.3g}"
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    return in_signs(text)


def interval_name(confidence: float) -> str:
    """Name intervals by their confidence."""
    return words("plot.interval", confidence=confidence)


def figure_name(name: str) -> str:
    """Return what a metric is called, as text that matplotlib draws as it is."""
    return inert(metric_name(name))
