"""What results can do beside holding figures: show, plot and report themselves.

How things look is no business of figures, so nothing below the views imports them. The front door of the package, which
knows where everything is, opens the way when it is loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the front door: typing takes longer to load than this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from types import ModuleType
    from typing import Any, ClassVar


class Door:
    """The way to what stands above: ``find`` returns what has a public name, ``view`` a module of ``stakes.views``."""

    find: ClassVar[Callable[[str], Any]]
    view: ClassVar[Callable[[str], ModuleType]]


class Shown:
    """What prints itself: ``_page()`` is what there is to see, ``_more`` says how to see what that leaves out."""

    _more: ClassVar[str] = ""

    def _page(self) -> object:
        raise NotImplementedError

    def _pictures(self) -> list[str]:
        """What a notebook draws beside the page."""
        return []

    def show(self) -> None:
        """Print what there is to see."""
        Door.view("terminal").show(self._page(), self._more)

    def __str__(self) -> str:
        return str(Door.view("terminal").text(self._page(), self._more))

    def _repr_html_(self) -> str:
        return str(Door.view("notebook").html(self._page(), self._pictures()))


class Plottable:
    """What can be plotted: ``plots`` are the kinds of plots that it has, the usual one first."""

    drawn_as: ClassVar[str]

    @property
    def plots(self) -> Sequence[str]:
        """The kinds of plots that there are of this."""
        raise NotImplementedError

    def plot(self, kind: str | None = None, ax: object = None, **options: object) -> Any:
        """Draw with matplotlib, into ``ax`` or a new figure; returns a display with ``ax_`` and ``figure_``."""
        return Door.find("plot")(self, kind, ax, **options)


class Reportable:
    """What has a page of its own, to be explored in a browser."""

    def report(self, path: str | PathLike[str], lang: str = "en", about: str = "") -> None:
        """Write one offline HTML page on which to explore it.

        ``lang`` is the code of a language, such as "es"; ``about`` is a line below the title: which model, which file.
        """
        Door.find("report")(self, path, lang, about)
