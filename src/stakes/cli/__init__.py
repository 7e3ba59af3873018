"""The command line: verbs to functions. Heavy imports stay inside commands, so that --help answers at once."""

import io
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn

import click

from stakes import __version__, errors
from stakes.cli.calibrate import calibrate
from stakes.cli.compare import compare
from stakes.cli.count import count
from stakes.cli.decide import decide
from stakes.cli.demo import demo
from stakes.cli.doctor import doctor
from stakes.cli.evaluate import evaluate
from stakes.cli.gate import gate
from stakes.cli.metrics import metrics
from stakes.cli.permute import permute
from stakes.cli.system import system
from stakes.cli.validate import validate
from stakes.cli.words import FileError, as_options, complain, stop
from stakes.errors import StakesError
from stakes.text import ERRORS, visible

__all__ = ["cli", "main"]


_EPILOG = """\b
Completion of commands and options, for the start-up file of your shell:
  bash  eval "$(_STAKES_COMPLETE=bash_source stakes)"
  zsh   eval "$(_STAKES_COMPLETE=zsh_source stakes)"
  fish  _STAKES_COMPLETE=fish_source stakes | source
"""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, epilog=_EPILOG)
@click.version_option(__version__, prog_name="stakes")
def cli() -> None:
    """What do a model's mistakes cost, how sure are we, and what should be decided?

    \b
    Example:
      stakes evaluate preds.csv --truth y --score p
      stakes demo
    """


_VERBS = (evaluate, decide, count, compare, calibrate, permute, system, validate, gate)
for command in (*_VERBS, metrics, demo, doctor):
    cli.add_command(command)


def main() -> NoReturn:
    """Run a command; a user's mistake is one line and exit code 2, Ctrl-C is 130."""
    try:
        _run()
    except KeyboardInterrupt:  # in the very moment in which all was said
        _interrupted()


def _run() -> NoReturn:
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)  # a terminal that lacks a letter gets its escape, not a traceback
    warnings.showwarning = _warn  # type: ignore[assignment]
    code = 0
    try:
        code = cli.main(standalone_mode=False) or 0
        sys.stdout.flush()  # here, where what goes wrong can still be said
    except (click.exceptions.Abort, KeyboardInterrupt):
        _interrupted()
    except click.ClickException as problem:
        with suppress(OSError):
            _show(problem)
        sys.exit(2)
    except FileError as problem:
        stop(str(problem), 2)
    except StakesError as problem:
        stop(as_options(str(problem)), 2)
    except (BrokenPipeError, SystemExit):  # click and rich end so when nobody is listening any more; say nothing
        _forget_output()
        sys.exit(code)
    except OSError as problem:
        _forget_output()
        stop(f"cannot write: {problem.strerror or problem}", 1)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; a late Ctrl-C shall not end this in a traceback
    sys.exit(code)


def _open_closed_streams() -> None:
    """Let streams that were closed (`2>&-`) lead nowhere: otherwise the next file that is opened gets their number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _show(problem: click.ClickException) -> None:
    """Say what click found wrong, with the arguments that it quotes on one line."""
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    click.UsageError(visible(problem.format_message()), context).show(sys.stderr)


def _interrupted() -> NoReturn:
    """End at once: Python itself would wait for threads, or end by the signal if it came within an import."""
    complain("interrupted")
    os._exit(130)


def _forget_output() -> None:
    """Let what was not written yet go nowhere; otherwise Python tries once more at the end, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_warned: set[str] = set()


def _warn(message: Warning | str, *_: Any) -> None:
    """A warning is one line for a person, said once, without the place in the code."""
    words = errors.first_line(message)
    if words not in _warned:
        _warned.add(words)
        complain(f"warning: {as_options(words)}")
