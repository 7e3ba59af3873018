"""How plots look: colours that colour-blind people tell apart, thin lines, a light grid; the user's settings stay."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stakes.errors import Given, InputError, MissingPartError
from stakes.metrics import Estimate
from stakes.metrics.estimate import percent
from stakes.text import escaped, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#6B6B6B")
"""After Okabe & Ito (2008); the first one is the model."""

INK, PALE, GRID = "#333333", "#8C8C8C", "#E6E6E6"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
BAND = 0.18
"""How strongly bands are coloured."""

_LONGEST = 28
_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlepad": 10,
    "axes.labelsize": 10,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "legend.fontsize": 8.5,
    "legend.frameon": True,
    "legend.framealpha": 0.9,
    "legend.edgecolor": "none",
    "legend.facecolor": "white",
    "legend.labelcolor": INK,
    "lines.linewidth": 1.8,
    "figure.dpi": 110,
    "savefig.dpi": 200,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "text.color": INK,
    "text.usetex": False,
    "text.parse_math": True,
}


@dataclass(frozen=True, eq=False, repr=False)
class Display:
    """A plot that was drawn: the axes, their figure, and what was drawn in them by name."""

    kind: str
    ax_: "Axes"
    figure_: "Figure"
    artists: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Display of {self.kind}: {', '.join(self.artists)}>"


def pyplot() -> Any:
    """Return matplotlib.pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPartError(
            "missing-matplotlib", "plots are drawn with matplotlib, which is missing; pip install 'stakes[plots]'"
        ) from None
    return plt


@contextlib.contextmanager
def axes(ax: Any, width: float, height: float) -> Iterator["Axes"]:
    """Give the axes to draw in: those that were given, or those of a new figure. Settings hold inside only."""
    plt = pyplot()
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise InputError(
            "no-axes",
            Given("ax"),
            f" must be axes of matplotlib (of subplots, one of them: axes[0]), not a {type(ax).__name__}",
        )
    with plt.rc_context(_SETTINGS):
        made = None
        if ax is None:
            made, ax = plt.subplots(figsize=(width, height), layout="constrained")
        try:
            _polish(ax)
            yield ax
        except BaseException:
            if made is not None:  # a plot that failed leaves no empty figure behind
                plt.close(made)
            raise


def _polish(ax: "Axes") -> None:
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.8)
        spine.set_color(PALE)
    ax.tick_params(color=PALE, labelcolor=INK, width=0.8, length=3, labelsize=9)
    ax.grid(True, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)


def display(kind: str, ax: "Axes", **artists: Any) -> Display:
    """Put a drawn plot together."""
    return Display(kind, ax, ax.figure, artists)  # type: ignore[arg-type]


def legend_beside(ax: "Axes") -> None:
    """Put a long legend to the right of the plot, where it hides nothing."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def legend_below(ax: "Axes") -> None:
    """Put a legend under the name of the x axis."""
    from matplotlib.transforms import ScaledTranslation

    lower = ax.transAxes + ScaledTranslation(0, -36 / 72, ax.figure.dpi_scale_trans)
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=lower, borderaxespad=0)


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────
def inert(name: object, longest: int = _LONGEST) -> str:
    """Return a name from the data as text that matplotlib draws as it is: no formula, one line, not too long."""
    line = "".join(map(_with_glyph, " ".join(visible(str(name)).split())))
    short = line if len(line) <= longest else f"{line[: longest - 1]}…"
    # labels that begin with an underscore would be left out of legends
    return (" " if short.startswith("_") else "") + short.replace("$", r"\$")


def _with_glyph(sign: str) -> str:
    """A letter that no font has is escaped; otherwise matplotlib draws an empty box, and warns."""
    return sign if sign.isascii() or any(font.get_char_index(ord(sign)) for font in _fonts()) else escaped(sign)


def _fonts() -> Iterator[Any]:
    """The fonts that letters are looked for in, one after the other."""
    from matplotlib import font_manager, rcParams

    for name in rcParams["font.sans-serif"]:
        with contextlib.suppress(ValueError):  # most of those that are named are not installed
            yield font_manager.get_font(font_manager.findfont(name, fallback_to_default=False))


def figure_in_words(name: str, estimate: Estimate) -> str:
    """Write a figure with its interval: AUC 0.91 [0.88, 0.93]."""
    if not estimate.defined:
        return f"{name} undefined"
    return f"{name} {with_interval(estimate.value, estimate.low, estimate.high)}"


def with_interval(value: float, low: float | None, high: float | None) -> str:
    """Write a number and the ends of its interval, with as many decimals as the interval is worth."""
    if low is None or high is None or not 0 < high - low < math.inf:
        return short_number(value)
    decimals = min(max(1 - math.floor(math.log10((high - low) / 2)), 0), 6)
    value_, low_, high_ = (f"{one:,.{decimals}f}".replace("-", "−") for one in (value, low, high))
    return f"{value_} [{low_}, {high_}]"


def short_number(value: float) -> str:
    """Write a number shortly: two decimals, or three digits of a large or small one."""
    text = f"{value:.2f}" if 0.01 <= abs(value) < 100 or value == 0 else f"{value:,.3g}"
    if abs(value) >= 1000:
        text = f"{value:,.0f}"
    return text.replace("-", "−")


def interval_name(confidence: float, what: str = "interval") -> str:
    """Name intervals or bands by their confidence."""
    return f"{percent(confidence)} {what}"


def in_words(name: str) -> str:
    """A metric's name to be read: mean_absolute_error is mean absolute error."""
    return name.replace("_", " ")
