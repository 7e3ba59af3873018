"""The forms of an answer: text for people, JSON, CSV, Markdown, one line; to the terminal or into a file."""

import functools
import io
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Protocol

import click

from stakes import errors
from stakes.cli.paths import Given, OutputFile
from stakes.cli.progress import bar, take_away
from stakes.cli.words import as_asked, on_the_command_line, say
from stakes.errors import short
from stakes.frozen import dataclass
from stakes.question.options import Value
from stakes.results import Reportable
from stakes.text import as_json, in_language, lines, uncommanding

if TYPE_CHECKING:
    from stakes.views.page import Page

FORMS = ("json", "csv", "markdown", "quiet")

_HELP = {
    "json": "Write JSON.",
    "csv": "Write CSV, a row for each figure or part.",
    "markdown": "Write Markdown.",
    "quiet": "Say the essential line or nothing, and show no progress.",
}


_MOST_ASKED = 1_000
"""The most characters of a command that a page shows: hundreds of files may be named in it."""


@dataclass(frozen=True)
class Answer:
    """What a command found, to be written in the requested form; ``code`` is its exit code.

    ``line`` is the essence in one line. Markdown is a table of the rows where there is no page. ``dropped`` rows were
    left out; forms without a place for that note it on standard error.
    """

    show: Callable[[], None]
    data: Callable[[], object]
    rows: Callable[[], Iterable[Mapping[str, object]]]
    line: Callable[[], str]
    page: Callable[[], "Page"] | None = None
    code: int = 0
    compact: bool = False
    dropped: int = 0
    lang: str = "en"

    def render(self, form: str, encoding: str = "utf-8") -> str:
        """Return the answer as text of some form; in JSON names are exact, whatever the encoding."""
        from stakes.views import csv

        if form == "json":
            return as_json(self.data(), None if self.compact else 2, only_ascii=not encoding.startswith("utf"))
        if form == "csv":
            return uncommanding(csv.of_rows(self.rows()))
        if form == "markdown":
            return uncommanding(self._markdown())
        return lines([self.line()]) if form == "quiet" else self._shown()

    def _markdown(self) -> str:
        from stakes.views import markdown

        if self.page is not None:
            return markdown.of_page(self.page())
        return "\n\n".join(filter(None, (markdown.paragraph(self.line()), markdown.of_rows(self.rows()))))

    def _shown(self) -> str:
        with redirect_stdout(io.StringIO()) as text:
            self.show()
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines()).rstrip()


class Result(Protocol):
    """A result that converts to data and to rows."""

    def to_dict(self) -> object: ...  # noqa: D102
    def to_rows(self) -> Iterable[Mapping[str, object]]: ...  # noqa: D102


def of(found: Result, line: Callable[[], str], show: Callable[[], None], **parts: Value) -> Answer:
    """Return the answer that a result gives."""
    parts = {"dropped": getattr(getattr(found, "counted", found), "dropped", 0), **parts}
    parts = {"data": found.to_dict, **parts}
    return Answer(show, rows=found.to_rows, line=lambda: on_the_command_line(line()), **parts)


def of_page(
    found: Result,
    line: Callable[[], str],
    everything: bool = False,
    more: str = "",
    report: str | None = None,
    **parts: Value,
) -> Answer:
    """Return the answer of an object whose page is shown; ``more`` says how to see what it leaves out.

    ``report`` is where to write the page on which to explore it.
    """
    if report is not None:
        if not isinstance(found, Reportable):
            raise click.UsageError("few labels have no page; leave --report out.")
        found.report(report, about=short(as_asked(), _MOST_ASKED))

    def in_words() -> "Page":
        from stakes.views.pages import page_of

        return page_of(found, everything, more).mapped(on_the_command_line)

    def show() -> None:
        from stakes.views import terminal

        page = in_words()
        take_away()
        terminal.show_page(page)

    parts = {"page": in_words, "lang": getattr(found, "lang", "en"), **parts}
    return of(found, line, parts.pop("show", show), **parts)


def forms(*wanted: str, to_file: bool = True) -> Callable[[Callable[..., Answer]], Callable[..., None]]:
    """Let a command return an :class:`Answer`, and give it the options of its form."""
    names = wanted or FORMS

    def decorated(command: Callable[..., Answer]) -> Callable[..., None]:
        @functools.wraps(command)
        def answering(**given: Value) -> None:
            chosen = [name for name in names if given.pop(f"as_{name}")]
            if len(chosen) > 1:
                raise click.UsageError(f"{' and '.join(f'--{name}' for name in chosen)} are two forms; choose one.")
            target = given.pop("output_file") if to_file else None
            with bar("quiet" not in chosen):
                answer = command(**given)
            try:
                with in_language(answer.lang), bar("quiet" not in chosen):
                    _tell(answer, chosen[0] if chosen else None, target)
            except (BrokenPipeError, SystemExit):  # the pipe is closed; the exit code is still right
                if not answer.code:
                    raise
            if answer.code:
                click.get_current_context().exit(answer.code)

        made: Callable[..., None] = answering
        if to_file:
            words = "Write to this file (-: standard output), whole or not at all; .json, .csv and .md choose the form."
            kind = OutputFile(_form)
            made = click.option("-o", "--output", "output_file", metavar="FILE", type=kind, help=words)(made)
        for name in reversed(names):
            made = click.option(f"--{name}", f"as_{name}", is_flag=True, help=_HELP[name])(made)
        return made

    return decorated


def _form(given: Given) -> str:
    """The form of an answer that is written to a file: the one that was asked for, or that its name chooses."""
    from stakes.engines.files.writing import form_of

    return next((name for name in FORMS if given.get(f"as_{name}")), None) or form_of(str(given["output_file"]))


def _tell(answer: Answer, form: str | None, target: str | None) -> None:
    if target is not None:
        form = _form(click.get_current_context().params)
        write(target, answer.render(form), form)
    elif form is None:
        answer.show()
    else:
        text = answer.render(form, str(getattr(sys.stdout, "encoding", None) or "utf-8").lower())
        take_away()
        if text:
            say(text)
    if answer.dropped and form in ("csv", "quiet"):
        click.echo(f"stakes: {errors.rows_left_out(answer.dropped)}", err=True)


def write(target: str, text: str, form: str) -> None:
    """Write a text of some form, whole or not at all."""
    from stakes.engines.files.writing import write_text

    write_text(target, text + "\n", form)
