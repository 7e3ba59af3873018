"""What no handler of Python's can do: end in time on Ctrl-C, and survive a library that ends the process."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NoReturn

_PATIENCE = 1.0
"""Seconds that a library may take to come back to Python after Ctrl-C."""

_LACK_OF_MEMORY = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGKILL) if os.name == "posix" else ()
_PARENT_DIED = 1
"""Linux' PR_SET_PDEATHSIG."""


@contextmanager
def interruptible(end: Callable[[], NoReturn]) -> Iterator[None]:
    """See to it that Ctrl-C ends the process, also while a library keeps Python from noticing it."""
    import threading

    heard, told = os.pipe()
    os.set_blocking(told, False)

    def listen() -> None:
        import time

        while number := os.read(heard, 1):
            if number[0] == signal.SIGINT:
                time.sleep(_PATIENCE)
                if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # otherwise all is said already
                    end()
        os.close(heard)

    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=listen, daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(told)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep standard error for Python: what libraries write there by themselves when they give up goes nowhere."""
    with ExitStack() as undone:
        with suppress(OSError, ValueError, AttributeError):  # there is none, or it is no file
            before = sys.stderr
            before.flush()
            own, shown = (os.dup(before.fileno()) for _ in range(2))
            words = open(shown, "w", encoding=before.encoding, errors=before.errors, buffering=1)  # noqa: SIM115
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, before.fileno())
            os.close(nowhere)
            sys.stderr = words
            undone.callback(_speak_again, before, own)
        yield


def _speak_again(before: Any, own: int) -> None:
    sys.stderr, words = before, sys.stderr
    words.close()
    os.dup2(own, before.fileno())
    os.close(own)


def memory_is_limited() -> bool:
    """Whether the system gives this process a limited amount of memory (``ulimit -v``), and can tell about a child."""
    if not hasattr(signal, "sigwaitinfo"):
        return False
    import resource

    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


def followed(died: Callable[[], NoReturn]) -> int | None:
    """Go on in a child (None), and return its exit code to the parent, which says when it ``died``.

    A library that lacks memory ends the whole process, which nobody can catch; but a parent can put it into words.
    """
    heeded = {signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    parent, mask = os.getpid(), signal.pthread_sigmask(signal.SIG_BLOCK, heeded)
    child = os.fork()
    if not child:
        _die_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return None
    code = _wait(child, heeded)
    if -code in _LACK_OF_MEMORY:
        died()
    if code < 0:  # ended by another signal, as the parent shall be
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.kill(os.getpid(), -code)
    return code


def _wait(child: int, heeded: set[signal.Signals]) -> int:
    """Wait for the end of a child, and hand on what is sent to this process alone; a terminal tells both."""
    while True:
        heard = signal.sigwaitinfo(heeded)
        if heard.si_signo != signal.SIGCHLD:
            if heard.si_code <= 0:
                os.kill(child, heard.si_signo)
            continue
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)


def _die_with(parent: int) -> None:
    """Let the system end this process when its parent ends."""
    with suppress(Exception):  # not on every system
        import ctypes

        ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
