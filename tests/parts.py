"""Parts that a machine may lack: there a test is skipped; in CI a missing part is a failure, never a skip.

What older releases of a library do otherwise is skipped with them, and says since which it is so.
"""

import importlib.metadata
import os
import shutil

import pytest


def lacking(words: str) -> None:
    """Say what is missing, and end the test."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(words)


def needs(program: str, words: str) -> str:
    """Return where a program is; ``words`` say what it is for."""
    place = shutil.which(program)
    if place is None:
        lacking(words)
    return str(place)


def since(library: str, version: str, words: str) -> None:
    """End the test where a library is older; ``words`` say what that does."""
    if is_older(library, version):
        pytest.skip(f"{library} before {version} {words}")


def is_older(library: str, version: str) -> bool:
    """Whether a library is of a release before that."""
    return _numbers(importlib.metadata.version(library)) < _numbers(version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))
