"""A bar that shows how far the reading of large files has come: on a terminal only, and gone when it is done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
        self._progress: Any = None

    def tell(self, rows: int, total: int) -> None:
        if self._progress is None:
            self._begin(total)
        elapsed = self._progress.tasks[0].elapsed
        self._progress.update(0, completed=rows, total=total, rate=rows / elapsed if elapsed else 0.0)
        if rows >= total:
            self.end()

    def _begin(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        rows = TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows")
        rate = TextColumn("{task.fields[rate]:,.0f} rows/s")
        options: Any = {"transient": True, "redirect_stdout": False, "redirect_stderr": False}
        console = Console(stderr=True)
        self._progress = Progress(rows, BarColumn(), rate, TimeRemainingColumn(), console=console, **options)
        self._progress.start()
        self._progress.add_task("", total=total, rate=0.0)

    def end(self) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
