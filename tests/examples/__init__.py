"""The examples of the gallery run, and print what somebody else's code gives."""

import contextlib
import io
import os
import runpy
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

EXAMPLES = Path(__file__).parents[2] / "examples"


def ran(name: str) -> tuple[str, dict[str, Any]]:
    """Run an example as a script; return what it prints and its variables.

    It runs in this process, where its libraries are loaded already; the site runs all of them once more in their own.
    """
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    out = io.StringIO()
    with warnings.catch_warnings(), mock.patch.dict(os.environ, COLUMNS="100"), contextlib.redirect_stdout(out):
        warnings.simplefilter("default")
        variables = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    plt.close("all")
    return out.getvalue(), variables


def printed(name: str) -> str:
    """Run an example, and return what it prints."""
    return ran(name)[0]
