"""Parts that tests need: programs that a machine may lack, and libraries that take long to load."""

import importlib
import os
import shutil
from typing import Any

import pytest


def lacking(words: str) -> None:
    """Say what is missing, and end the test: it is skipped; in CI a missing part is a failure, never a skip."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(words)


def needs(program: str, words: str) -> str:
    """Return where a program is; ``words`` say what it is for."""
    place = shutil.which(program)
    if place is None:
        lacking(words)
    return str(place)


class Lazily:
    """A module that is loaded when a test first uses it, so that collecting does not wait for it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, item: str) -> Any:
        if item.startswith(("_", "pytest")):  # what collecting asks of everything in a module
            raise AttributeError(item)
        return getattr(importlib.import_module(self.name), item)
