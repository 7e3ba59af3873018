"""Parts that tests need: programs that a machine may lack, libraries that take long to load, random examples."""

import contextlib
import importlib
import importlib.metadata
import os
import shutil
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings


def lacking(words: str) -> None:
    """Say what is missing, and end the test: it is skipped; in CI a missing part is a failure, never a skip."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(words)


def needs(program: str, words: str) -> str:
    """Return where a program is; ``words`` say what it is for."""
    place = shutil.which(program)
    if place is None:
        lacking(words)
    return str(place)


def bound_by_permissions() -> list[str]:
    """What to put before a command so that permissions bind it, also where the tests are run by root."""
    if os.geteuid():
        return []
    return [needs("setpriv", "root is bound by setpriv of util-linux"), "--bounding-set=-dac_override"]


class Lazily:
    """A module that is loaded when a test first uses it, so that collecting does not wait for it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, item: str) -> Any:
        if item.startswith(("_", "pytest")):  # what collecting asks of everything in a module
            raise AttributeError(item)
        return getattr(importlib.import_module(self.name), item)


def corrected(p_values: list[float], method: str = "holm") -> list[float]:
    """p-values corrected by statsmodels, which would look through all memory for garbage besides."""
    with mock.patch("gc.collect"):
        multitest = importlib.import_module("statsmodels.stats.multitest")
        return list(multitest.multipletests(p_values, method=method)[1])


def examples(many: int, **options: Any) -> settings:
    """How many random examples are tried: a twentieth of them, the same ones every time; in ``make test-deep`` all."""
    deep = settings.get_current_profile_name() == "deep"
    return settings(max_examples=many if deep else max(3, many // 20), deadline=None, derandomize=not deep, **options)


def since(library: str, version: str, words: str) -> None:
    """End the test, or all of a file, where a library is older; ``words`` say what that does."""
    if is_older(library, version):
        pytest.skip(f"{library} before {version} {words}", allow_module_level=True)


def is_older(library: str, version: str) -> bool:
    """Whether a library is of a release before that."""
    return _numbers(importlib.metadata.version(library)) < _numbers(version)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")[:2]))


def all_told(terminal: int) -> str:
    """What a terminal has been told, once nobody writes to it any more."""
    text = b""
    with contextlib.suppress(OSError):  # which is how its end looks
        while part := os.read(terminal, 65_536):
            text += part
    return text.decode()


def complete(metric, **prices):
    """A metric with some numbers for the parameters that it cannot do without."""
    given = {"miss": 1, "false_alarm": 1, "threshold": 0.3, **prices}
    return metric.with_parameters(**{name: given[name] for name in metric.lacking})
