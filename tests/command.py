"""The command line as a user runs it: in this process, or in one of its own where the process is what is tried."""

import io
import os
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest import mock

from stakes import cli, demo_data

DEMO_FILE = Path(demo_data("breast_cancer", path=True))
DEMO_FILES = DEMO_FILE.parent


def run(*arguments: Any, env: dict[str, str] | None = None, input: str = "") -> CompletedProcess[str]:
    """Run a command through the whole door of the command line, without the second that a new Python takes."""
    words = ["stakes", *map(str, arguments)]
    out, err, typed = (io.TextIOWrapper(io.BytesIO(text), encoding="utf-8") for text in (b"", b"", input.encode()))
    with _as_it_was(), redirect_stdout(out), redirect_stderr(err), mock.patch.object(sys, "stdin", typed):
        os.environ.update({"COLUMNS": "100", **(env or {})})
        sys.argv = words
        try:
            cli.main()
        except SystemExit as end:
            code = end.code
    return CompletedProcess(words, code, _text(out), _text(err))


def run_alone(*arguments: Any, env: dict[str, str] | None = None, **options: Any) -> CompletedProcess[str]:
    """Run a command in a process of its own."""
    command = [sys.executable, "-m", "stakes", *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "100", **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, **options)


@contextmanager
def _as_it_was() -> Any:
    """Take back what the door changes for its process; warnings are shown as they are to users."""
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    fresh = mock.patch.multiple(cli, _warned=set())  # what was said before is said again
    with mock.patch.dict(os.environ), mock.patch.object(sys, "argv", []), fresh, warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("default")
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, handler)
            sys.unraisablehook = hook


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()  # type: ignore[attr-defined]
