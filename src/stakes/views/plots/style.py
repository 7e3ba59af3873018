"""How plots look: colours that colour-blind people can distinguish, thin lines, a light grid; users' settings stay."""

import contextlib
import os
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stakes.errors import Given, InputError, MissingPartError
from stakes.frozen import dataclass
from stakes.language.numbers import in_signs
from stakes.text import current_language

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    from numpy.typing import ArrayLike

Axes: TypeAlias = "matplotlib.axes.Axes"
Artists: TypeAlias = dict[str, Any]
"""Artists of matplotlib, or lists of them, by name."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5195", "#6B6B6B")
"""After Okabe & Ito (2008); the first one is the model."""

INK, PALE, GRID = "#333333", "#8C8C8C", "#E6E6E6"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
BAND = 0.18
"""How strongly bands are coloured."""

_SETTINGS: dict[str, object] = {
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
    ax_: Axes
    artists: Artists

    @property
    def figure_(self) -> "matplotlib.figure.Figure | matplotlib.figure.SubFigure":
        """The figure that the axes are part of."""
        return self.ax_.figure

    @property
    def ax(self) -> Axes:
        """The axes, as ``ax_``."""
        return self.ax_

    @property
    def figure(self) -> "matplotlib.figure.Figure | matplotlib.figure.SubFigure":
        """The figure, as ``figure_``."""
        return self.figure_

    def savefig(self, path: "str | os.PathLike[str]", **options: Any) -> None:
        """Save the figure in a file, as matplotlib does."""
        self.ax_.figure.figure.savefig(path, **options)

    def __repr__(self) -> str:
        return f"<Display of {self.kind}: {', '.join(self.artists)}>"


def pyplot() -> ModuleType:
    """Return matplotlib.pyplot, or say what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingPartError(
            "missing-matplotlib", "plots are drawn with matplotlib, which is missing; pip install matplotlib"
        ) from None
    return plt


@contextlib.contextmanager
def axes(ax: object, width: float, height: float) -> Iterator[Axes]:
    """Give the axes to draw in: those that were given, or those of a new figure. Settings hold inside only."""
    plt = pyplot()
    from matplotlib import axes

    if ax is not None and not isinstance(ax, axes.Axes):
        raise InputError(
            "no-axes",
            Given("ax"),
            f" must be axes of matplotlib (of subplots, one of them: axes[0]), not a {type(ax).__name__}",
        )
    with plt.rc_context(_SETTINGS):
        new = {"figsize": (width, height), "layout": "constrained"}
        made, shown = plt.subplots(**new) if ax is None else (None, ax)
        try:
            _polish(shown)
            yield shown
            _write_ticks(shown)
        except BaseException:
            if made is not None:  # a plot that failed leaves no empty figure behind
                plt.close(made)
            raise


def _write_ticks(ax: Axes) -> None:
    """Write the numbers along the axes as the language of the reader has them."""
    from matplotlib.ticker import FuncFormatter, ScalarFormatter

    lang = current_language()
    for axis in () if lang == "en" else (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.set_major_formatter(FuncFormatter(lambda value, _: in_signs(f"{value:.6g}", lang)))


def _polish(ax: Axes) -> None:
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_linewidth(0.8)
        spine.set_color(PALE)
    ax.tick_params(color=PALE, labelcolor=INK, width=0.8, length=3, labelsize=9)
    ax.grid(True, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)


def reference(ax: Axes, x: "ArrayLike", y: "ArrayLike", label: str, linestyle: str = "--") -> object:
    """Draw a pale line to compare with."""
    return ax.plot(x, y, color=PALE, linestyle=linestyle, linewidth=1.2, label=label, zorder=1)[0]


def legend(ax: Axes, place: Literal["beside", "below"], **more: Any) -> object:
    """Put a legend to the right of the plot, or under the name of the x axis, where it hides nothing."""
    from matplotlib.transforms import ScaledTranslation

    if place == "beside":
        return ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, **more)
    lower = ax.transAxes + ScaledTranslation(0, -36 / 72, ax.figure.dpi_scale_trans)
    return ax.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=lower, borderaxespad=0, **more)
