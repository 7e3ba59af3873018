"""Data that ship with the package: ``demo:breast_cancer`` is understood wherever a file may be named.

``tools/make_demo_files.py`` makes the tables, with fixed seeds; every row was scored by models that had not seen it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from stakes.errors import InputError, short
from stakes.tallies.checks import check_flag, check_text

if TYPE_CHECKING:
    import polars as pl

PREFIX = "demo:"
FOLDER = Path(__file__).parents[2] / "demo"


def demo_names() -> dict[str, Path]:
    """The demo files by name."""
    return {file.stem: file for file in sorted(FOLDER.iterdir()) if file.suffix in (".csv", ".toml")}


def real_name(name: str | os.PathLike[str]) -> str:
    """Return the name of a file as it is on this machine: ``demo:NAME`` stands for a file of the package."""
    text = os.fspath(name)
    if not text.startswith(PREFIX) or os.path.exists(text):
        return text
    files = demo_names()
    if text.removeprefix(PREFIX) not in files:
        known = ", ".join(PREFIX + name for name in files)
        raise InputError("no-such-demo", f"{short(text)}: there is no such data; there are {known}")
    return str(files[text.removeprefix(PREFIX)])


@overload
def demo_data(name: str = ..., path: Literal[False] = ...) -> "pl.DataFrame": ...
@overload
def demo_data(name: str, path: Literal[True]) -> str: ...
def demo_data(name: str = "breast_cancer", path: bool = False) -> "pl.DataFrame | str":
    """Return data that ship with stakes as a Polars frame, or with ``path=True`` the name of their file.

    ``"breast_cancer"``: is a tumour malignant? 569 of them, and the probabilities of two models (``logistic``,
    ``neighbours``), which had not seen them, from three measurements of the Wisconsin data. ``"diabetes"``: how far has
    the disease come after a year? 442 patients of Efron et al. (2004) and the predictions of two models (``linear``,
    ``forest``). Files of systems (``"clinic_and"``, ``"clinic_or"``) have a path only. Where a file is named,
    ``"demo:breast_cancer"`` is the same.

    >>> demo_data("breast_cancer").columns
    ['diagnosis', 'size', 'logistic', 'neighbours']
    """
    check_text("name", name)
    check_flag("path", path)
    file = real_name(f"{PREFIX}{name}")
    if path is True:
        return file
    if not file.endswith(".csv"):
        raise InputError(
            "demo-of-system", f"{name} describes a system, not rows; stakes.System.from_toml('demo:{name}') reads it"
        )
    import polars as pl  # takes longer to load than all of this

    return pl.read_csv(file)
