"""stakes doctor: what is installed, and what else would be possible."""

import platform
import shutil
from contextlib import suppress
from functools import partial
from importlib import metadata, util
from typing import TYPE_CHECKING

import click

from stakes import __version__
from stakes.cli import output
from stakes.cli.output import Answer
from stakes.cli.paths import Command
from stakes.frozen import dataclass
from stakes.records import Record

if TYPE_CHECKING:
    from stakes.views.page import Page

_NEEDED = ("numpy", "scipy", "narwhals", "polars", "click", "rich")
_OPTIONAL = {
    "pandas": "data frames of pandas as input",
    "pyarrow": "tables of Arrow as input",
    "duckdb": "tables of DuckDB databases, and relations",
    "fastexcel": "spreadsheets (.xlsx)",
    "pyspark": "counting where Spark's rows live (needs Java 17, too)",
    "scikit-learn": "stakes validate, refitting permutation tests, scorers",
    "matplotlib": "ev.plot() and all other plots",
    "mlflow": "logging evaluations to MLflow",
}
_MODULES = {"scikit-learn": "sklearn"}
_ALSO_AS = {"mlflow": "mlflow-skinny"}
"""Packages that come under another name, too."""


@dataclass(frozen=True)
class InstalledPart(Record):
    """A part that stakes needs or can use."""

    name: str
    version: str | None
    needed: bool
    enables: str
    install: str | None = None


@dataclass(frozen=True)
class Installed(Record, stakes="doctor"):
    """What is installed, and what else would be possible."""

    version: str
    python: str
    platform: str
    parts: list[InstalledPart]


@click.command(cls=Command)
@output.forms("json", "csv", "markdown")
def doctor() -> Answer:
    """Tell which versions are installed, which optional parts are missing, and what they would enable.

    \b
    Example:
      stakes doctor --json
    """
    from stakes.views import terminal

    needed = [InstalledPart(name, _version(name), True, "everything") for name in _NEEDED]
    parts = [*needed, *map(_optional_part, _OPTIONAL), _java()]
    found = Installed(__version__, platform.python_version(), platform.platform(), parts)
    rows, page = [part.data() for part in parts], partial(_page, found)
    return Answer(lambda: terminal.show_page(page()), found.to_dict, lambda: rows, lambda: "", page)


def _optional_part(name: str) -> InstalledPart:
    version, package = _version(name), _ALSO_AS.get(name, name)
    return InstalledPart(name, version, False, _OPTIONAL[name], None if version else f"pip install {package}")


def _java() -> InstalledPart:
    """Java is no package; asking it for its version would start it, so its path is shown."""
    place = shutil.which("java")
    install = None if place else "a Java 17 on the PATH (Debian: openjdk-17-jre-headless)"
    return InstalledPart("java", place, False, "Spark", install)


def _version(name: str) -> str | None:
    """The version of a package that can be imported."""
    if util.find_spec(_MODULES.get(name, name)) is None:
        return None
    for distribution in (name, _ALSO_AS.get(name, name)):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(distribution)
    return "unknown"


def _page(found: Installed) -> "Page":
    from stakes.views.page import Page, TextTable

    facts = [f"stakes {found.version}", f"Python {found.python}", found.platform]
    rows = [
        (part.name, part.version or ("missing!" if part.needed else "missing"), part.enables) for part in found.parts
    ]
    advice = [f"{part.name}: {part.install}" for part in found.parts if part.install]
    return Page(facts=facts, grids=[TextTable(("part", "version", "enables"), rows, words=(0, 1, 2))], notes=advice)
