"""The repository as somebody else would get it."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.parts import lacking, needs

ROOT = Path(__file__).parents[1]


def copy_of_what_git_knows(target: Path, wanted: Callable[[str], bool] = bool) -> None:
    """The files as they are, or some of them, changed ones too, and none that only this machine has."""
    needs("git", "a clean copy is made by git")
    if not (ROOT / ".git").exists():
        lacking("a clean copy is made from a clone")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(wanted, names.split("\0")[:-1]):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
