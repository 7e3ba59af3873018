"""Beyond Python's own handlers: end in time on Ctrl-C, and report it when a library ends the process."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

_PATIENCE = 1.0
"""Seconds that a library may take to come back to Python after Ctrl-C."""

_LACK_OF_MEMORY = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL) if os.name == "posix" else ()
_PARENT_DIED = 1
"""Linux' PR_SET_PDEATHSIG."""

_LEAST = 512 << 20
"""Bytes of address space without which NumPy and Polars do not even load."""

_STUCK, _NEARLY = 10.0, 0.8
"""A process that is idle for so many seconds, and came so near to its memory limit, hangs."""


@contextmanager
def interruptible(end: Callable[[], NoReturn]) -> Iterator[None]:
    """See to it that Ctrl-C ends the process, also while a library keeps Python from noticing it."""
    import threading

    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)

    def listen() -> None:
        import time

        while number := os.read(read_end, 1):
            if number[0] == signal.SIGINT:
                time.sleep(_PATIENCE)
                if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # otherwise the answer is out already
                    end()
        os.close(read_end)

    before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=listen, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(write_end)


def silence_libraries() -> None:
    """Keep standard error for Python: messages that libraries write there themselves are discarded."""
    with suppress(OSError, ValueError, AttributeError):  # there is none, or it is no file
        before = sys.stderr
        before.flush()
        own = os.dup(before.fileno())
        sys.stderr = open(own, "w", encoding=before.encoding, errors=before.errors, buffering=1)  # noqa: SIM115
        os.dup2(os.open(os.devnull, os.O_WRONLY), before.fileno())


def memory_limit() -> int | None:
    """The memory limit of this process (``ulimit -v``), if there is one and a child can be watched."""
    if not hasattr(signal, "sigtimedwait"):
        return None
    import resource

    limits = [resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)]
    return min((limit for limit in limits if limit != resource.RLIM_INFINITY), default=None)


_report_pipes: list[int] = []
"""The pipe by which a child announces that it reports by itself why it ends."""


def will_say() -> None:
    """Tell the parent, if there is one, that the reason is being reported: a library may end the child meanwhile."""
    for pipe in _report_pipes:
        os.write(pipe, b"!")


def follow(limit: int, died: Callable[[], NoReturn], unable: int) -> int | None:
    """Go on in a child (None), and return its exit code to the parent, which calls ``died`` if the child died.

    A library that lacks memory ends the whole process, which cannot be caught; but a parent can report it. Where the
    ``limit`` leaves no room for libraries to begin with, there is no child. ``unable`` is the code of a child that has
    reported the reason itself.
    """
    if limit < _LEAST:
        died()
    heeded = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    parent, mask = os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, heeded)
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        _report_pipes.append(write_end)
        _die_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return None
    os.close(write_end)
    code = _wait(child, heeded, limit)
    if -code in _LACK_OF_MEMORY:
        if os.read(read_end, 1):
            return unable
        died()
    if code < 0:  # ended by another signal, as the parent shall be
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.kill(os.getpid(), -code)
    return code


def _wait(child: int, heeded: set[signal.Signals], limit: int) -> int:
    """Wait for the end of a child, and pass on signals sent to this process alone; those of a terminal reach both."""
    worked = -1
    while True:
        heard = signal.sigtimedwait(heeded, _STUCK)
        if heard is None:
            before, worked = worked, _time_of(child)
            if worked == before and _peak_of(child) > _NEARLY * limit:  # it waits for threads that died
                os.kill(child, signal.SIGKILL)
        elif heard.si_signo != signal.SIGCHLD:
            if heard.si_code <= 0:
                os.kill(child, heard.si_signo)
        else:
            found, status = os.waitpid(child, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)


def _time_of(process: int) -> int:
    """The ticks of the clock for which a process and its threads have worked."""
    with open(f"/proc/{process}/stat") as file:
        return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))


def _peak_of(process: int) -> int:
    """The most address space that a process has held, in bytes."""
    with open(f"/proc/{process}/status") as file:
        found = dict(line.split(":", 1) for line in file)
    return int(found.get("VmPeak", "0 kB").split()[0]) * 1024


def _die_with(parent: int) -> None:
    """Let the system end this process when its parent ends."""
    with suppress(Exception):  # not on every system
        import ctypes

        ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
