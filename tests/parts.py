"""Parts that a machine may lack: there a test is skipped; in CI a missing part is a failure, never a skip."""

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
