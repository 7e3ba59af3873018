"""What results can do besides holding figures: show, plot and report themselves.

Figures do not depend on how they look, so nothing below the views imports them. The front door of the package sets the
way to them when it is loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the front door: typing takes longer to load than this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from os import PathLike
    from types import ModuleType
    from typing import Any, ClassVar, TypeVar

    Result = TypeVar("Result")


class Door:
    """The way to higher layers: ``find`` returns a public name, ``view`` a module of ``stakes.views``.

    ``speaking`` sets the language of sentences until the end of a block.
    """

    find: ClassVar[Callable[[str], Any]]
    view: ClassVar[Callable[[str], ModuleType]]
    speaking: ClassVar[Callable[[str], AbstractContextManager[None]]]


class Shown:
    """A result that shows itself in the language of its question: the verdict first, then figures and notes."""

    lang: str = "en"

    def show(self, everything: bool = False, lang: str | None = None) -> None:
        """Print the verdict and what else matters, or everything; ``lang`` is the code of a language, such as "es"."""
        with self._speaking(lang):
            Door.view("terminal").show(self, everything)

    def to_rows(self) -> Any:
        """Return flat dictionaries, for a data frame."""
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return :meth:`to_rows` as a data frame: of pandas where that is in use, otherwise of Polars."""
        import sys

        rows = list(self.to_rows())
        if "pandas" in sys.modules:
            return sys.modules["pandas"].DataFrame(rows)
        import polars

        return polars.DataFrame(rows, infer_schema_length=None, strict=False)

    def to_markdown(self, lang: str | None = None) -> str:
        """Return what is shown as Markdown."""
        with self._speaking(lang):
            return str(Door.view("markdown").of_result(self))

    def __str__(self) -> str:
        with self._speaking():
            return str(Door.view("terminal").text(self))

    def _repr_html_(self) -> str:
        with self._speaking():
            return str(Door.view("notebook").html(self))

    def _speaking(self, lang: str | None = None) -> AbstractContextManager[None]:
        """Set the language, by default that of the question, until the end of the block."""
        return Door.speaking(self.lang if lang is None else lang)


def speak(result: Result, lang: str) -> Result:
    """Let a result show itself in a language."""
    if lang != "en" and isinstance(result, Shown):
        vars(result)["lang"] = lang  # results are frozen, but the language is not one of their figures
    return result


class Plottable:
    """A result that can be plotted: ``plots`` are its kinds of plots, ``plotted_as`` the name of their set."""

    plotted_as: ClassVar[str]

    @property
    def plots(self) -> Sequence[str]:
        """The kinds of plots that there are of this."""
        raise NotImplementedError

    def plot(self, kind: str | None = None, ax: object = None, **options: object) -> Any:
        """Draw with matplotlib, into ``ax`` or a new figure; the display has ``ax``, ``figure`` and ``savefig``."""
        return Door.find("plot")(self, kind, ax, **options)


class Reportable:
    """A result with a page of its own, to be explored in a browser; ``origin`` is the call that made it."""

    lang: str
    origin: Any = None

    def report(self, path: str | PathLike[str], lang: str | None = None, about: str = "") -> None:
        """Write one offline HTML page on which to explore it.

        ``lang`` is the code of a language, such as "es"; ``about`` is a line below the title: which model, which file.
        """
        Door.find("report")(self, path, lang=self.lang if lang is None else lang, about=about)

    def explore(self, lang: str | None = None, height: int = 800) -> Any:
        """Show the page within a notebook, offline; ``height`` is that of its frame in pixels."""
        return Door.view("notebook").Frame(self, self.lang if lang is None else lang, height)
