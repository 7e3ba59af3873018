"""A bar that shows how far the reading of large files has come: on a terminal only, and gone when it is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress


@contextmanager
def bar(wanted: bool = True) -> Iterator[None]:
    """Show rows, rate and time left on a terminal while files are read; those that are read at once show nothing."""
    if not wanted or not sys.stderr.isatty():
        yield
        return
    from stakes.engines import progress

    shown = _Bar()
    with progress.telling(shown.tell):
        try:
            yield
        finally:
            shown.end()


class _Bar:
    def __init__(self) -> None:
        self._progress: Progress | None = None

    def tell(self, rows: int, total: int) -> None:
        shown = self._progress = self._progress or self._begin(total)
        elapsed, task = shown.tasks[0].elapsed, shown.task_ids[0]
        shown.update(task, completed=rows, total=total, rate=rows / elapsed if elapsed else 0.0)
        if rows >= total:
            self.end()

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
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
