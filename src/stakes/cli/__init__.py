"""The door of the command line: it loads next to nothing, so that what goes wrong from then on ends in one line."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    import click

__all__ = ["cli", "main"]

UNABLE = 3
"""The exit code of work that could not be done, through no fault of the input."""


def __getattr__(name: str) -> object:
    if name == "cli":
        from stakes.cli.group import cli

        return cli
    raise AttributeError(f"module 'stakes.cli' has no attribute {name!r}")


def main() -> NoReturn:
    """Run a command, and say what went wrong in one line.

    Exit code 1 is a check that is not met, 2 wrong input, 3 work that could not be done, 130 an interruption.
    """
    try:
        _open_closed_streams()
        from stakes.cli import guard

        limit = guard.memory_limit()
        code = None if limit is None else guard.follow(limit, _died, UNABLE)
        if code is not None:
            sys.exit(code)
        sys.unraisablehook = _interrupted_unheard
        if not _debugging():
            guard.silence_libraries()
        with guard.interruptible(_interrupted):
            _run()
    except KeyboardInterrupt:  # while importing, or just after the answer
        _interrupted()
    except SystemExit:
        raise
    except BaseException as problem:  # a panic of Polars is no Exception
        if _from_interruption(problem):
            _interrupted()
        _unable(problem)


def _run() -> NoReturn:
    import click

    from stakes.cli.group import cli
    from stakes.cli.words import as_option, end
    from stakes.errors import StakesError, UnableError
    from stakes.text import ERRORS

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)  # a terminal that lacks a letter gets its escape, not a traceback
    warnings.showwarning = _warn
    code = 0
    try:
        code = cli.main(standalone_mode=False) or 0
        sys.stdout.flush()  # here, where errors are still reported
    except (click.exceptions.Abort, KeyboardInterrupt):
        _interrupted()
    except click.ClickException as problem:
        _show(problem)
        sys.exit(2)
    except UnableError:
        raise
    except StakesError as problem:
        end(problem.written(as_option), 2)
    except (BrokenPipeError, SystemExit):  # click and rich end so when the pipe is closed; print nothing
        _forget_output()
        sys.exit(code)
    except OSError:
        _forget_output()
        raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the answer is out; a late Ctrl-C shall not print a traceback
    sys.exit(code)


def _open_closed_streams() -> None:
    """Let streams that were closed (`2>&-`) lead nowhere: otherwise the next file that is opened gets their number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _show(problem: click.ClickException) -> None:
    """Say what click found wrong; the arguments that it quotes may be of any length, and stay on one line."""
    import click

    from stakes.errors import StakesError

    context = problem.ctx if isinstance(problem, click.UsageError) else None
    with contextlib.suppress(OSError):
        click.UsageError(str(StakesError("usage", problem.format_message())), context).show(sys.stderr)


def _unable(problem: BaseException) -> NoReturn:
    """Say why the work could not be done."""
    try:
        from stakes import errors
        from stakes.cli import guard
        from stakes.cli.words import complain

        if _debugging():
            import traceback

            traceback.print_exception(problem)
        limited = isinstance(problem, SystemError) and guard.memory_limit() is not None  # for lack of room
        words = errors.unable(MemoryError() if limited else problem)
    except (MemoryError, SystemError):
        os.write(2, b"stakes: there is not enough memory, not even to say what for; give it more\n")
        os._exit(UNABLE)
    guard.will_say()
    complain(words)
    if guard.memory_limit() is not None:  # clearing up, a library that lacks memory would end the process once more
        os._exit(UNABLE)
    sys.exit(UNABLE)


def _died() -> NoReturn:
    """Report that a library has ended the child."""
    from stakes import errors

    _unable(errors.lack_of_memory())


def _debugging() -> bool:
    return "--debug" in sys.argv[1:]


def _interrupted() -> NoReturn:
    """End at once: Python itself would wait for threads, or end by the signal if it came within an import."""
    try:
        print("stakes: interrupted", file=sys.stderr, flush=True)
        if writing := sys.modules.get("stakes.engines.files.writing"):  # if anything was written at all
            writing.discard_unfinished()
    finally:
        os._exit(130)


def _from_interruption(problem: BaseException | None) -> bool:
    """Whether Ctrl-C came first.

    Python 3.11 makes another exception of it where it falls within a class, and Polars a panic that only names it.
    """
    while problem is not None:
        if isinstance(problem, KeyboardInterrupt) or str(KeyboardInterrupt) in str(problem):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def _interrupted_unheard(unraisable: sys.UnraisableHookArgs) -> None:
    """Exit on Ctrl-C within a destructor, which Python would only report."""
    if unraisable.exc_type is KeyboardInterrupt:
        _interrupted()
    sys.__unraisablehook__(unraisable)


def _forget_output() -> None:
    """Discard unwritten output; otherwise Python tries once more at exit, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_warned: set[str] = set()


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line, once, without the place in the code."""
    from stakes import errors
    from stakes.cli.words import as_option, complain

    if isinstance(message, errors.InputWarning | errors.UndefinedWarning):
        words = message.written(as_option)
    else:
        words = errors.first_line(str(message))
    if words not in _warned:
        _warned.add(words)
        complain(f"warning: {words}")
