"""Rewrite what the documents show of commands: each console block gets the output of today.

A block that ends in … keeps as many lines as it shows.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = [*ROOT.glob("README*.md"), ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    """Rewrite those documents whose names contain one of the words given, or all of them."""
    for document in DOCUMENTS:
        if not sys.argv[1:] or any(word in document.name for word in sys.argv[1:]):
            text = document.read_text(encoding="utf-8")
            document.write_text(re.sub(r"(?<=^```console\n).*?(?=^```$)", as_of_today, text, flags=re.M | re.S))


def as_of_today(block: re.Match[str]) -> str:
    """Return the block with the output that its command has now."""
    command, *shown = block[0].rstrip().splitlines()
    words = [sys.executable, "-m", "stakes", *shlex.split(command.removeprefix("$ stakes "))]
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=ROOT, env={**os.environ, "COLUMNS": "100"}, check=True
    )
    lines = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    lines = [*lines[: len(shown) - 1], "…"] if shown[-1:] == ["…"] else lines
    return "\n".join([command, *lines, ""])


if __name__ == "__main__":
    main()
