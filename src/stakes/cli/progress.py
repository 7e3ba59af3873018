"""Progress, on a terminal only and cleared at the end: a bar while large files are read, and after two seconds of
anything else a line that says what is being done.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from stakes.engines import progress

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.status import Status

PATIENCE = 2.0
"""Seconds before the status line appears."""

_NOTHING = "nothing"
"""Where nobody wants to see it, or could."""

_shown: "_Bar | str | None" = None


@contextmanager
def bar(wanted: bool = True) -> Iterator[None]:
    """Show rows, rate and time left while files are read, and what is being done where something takes longer."""
    global _shown
    before = _shown
    if before is None:
        _shown = _Bar() if wanted and sys.stderr.isatty() else _NOTHING
    try:
        with progress.telling(_shown.tell if isinstance(_shown, _Bar) else None):
            yield
    finally:
        if before is None:
            take_away()
            _shown = None


def take_away() -> None:
    """Clear the terminal for the answer."""
    if isinstance(_shown, _Bar):
        _shown.end()


class _Bar:
    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._status: Status | None = None
        asked = click.get_current_context(silent=True)
        self._lang = "en" if asked is None else asked.params.get("lang") or "en"
        self._doing, self._lock = "reading and counting rows", threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._lose_patience)
        self._timer.daemon = True
        self._timer.start()

    def _lose_patience(self) -> None:
        """Say what is being done, unless a bar shows it."""
        from rich.console import Console

        with self._lock:
            if self._progress is None and self._status is None and not self._timer.finished.is_set():
                self._status = Console(stderr=True).status(self._in_words(), spinner="line")
                self._status.start()

    def tell(self, rows: int, total: int, doing: str) -> None:
        with self._lock:
            if doing:
                self._say(f"{doing}, {100 * rows / total:.0f}% done")
                return
            self._clear_status()
            self._tell(rows, total)

    def _say(self, doing: str) -> None:
        """Change the status line, now or when it appears."""
        if doing != self._doing:
            self._doing = doing
            if self._status is not None:
                self._status.update(self._in_words())

    def _in_words(self) -> str:
        """What is being done, in the language of the answer."""
        from stakes.language import speaking
        from stakes.language.sentences import reason_text

        with speaking(self._lang):
            return f"{reason_text(self._doing)} …"

    def _tell(self, rows: int, total: int) -> None:
        shown = self._progress = self._progress or self._begin(total)
        elapsed, task = shown.tasks[0].elapsed, shown.task_ids[0]
        shown.update(task, completed=rows, total=total, rate=rows / elapsed if elapsed else 0.0)
        if rows >= total:
            self._clear_bar()
            self._doing = "working out figures and how sure they are"
            self._status = shown.console.status(self._in_words(), spinner="line")
            self._status.start()

    def _begin(self, total: int) -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        rows = TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows")
        rate = TextColumn("{task.fields[rate]:,.0f} rows/s")
        parts, console = (rows, BarColumn(), rate, TimeRemainingColumn()), Console(stderr=True)
        shown = Progress(*parts, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        shown.start()
        shown.add_task("", total=total, rate=0.0)
        return shown

    def end(self) -> None:
        """Clear the bar and the status line."""
        with self._lock:
            self._timer.cancel()
            self._clear_status()
            self._clear_bar()

    def _clear_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _clear_bar(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
