"""Write the real output into the console blocks of documents: ``python tools/console_blocks.py [FILE …]``.

A block that ends with … keeps as many lines as it had before that sign.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def shown(command: str) -> list[str]:
    """Return what a command prints on a terminal of 100 columns that is none."""
    arguments = shlex.split(command.removeprefix("$ stakes "))
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": str(ROOT / "src")}
    run = [sys.executable, "-m", "stakes", *arguments]
    done = subprocess.run(run, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    return [line.rstrip() for line in done.stdout.splitlines()]


def rewritten(block: re.Match[str]) -> str:
    """Return a block with what its command prints now."""
    command, *before = block[1].rstrip().splitlines()
    lines = shown(command)
    if before and before[-1] == "…" and len(lines) > len(before):
        lines = [*lines[: len(before) - 1], "…"]
    return "```console\n" + "\n".join([command, *lines]) + "\n```"


def main() -> None:
    """Rewrite the documents that are named, or all of them."""
    named = [Path(name).resolve() for name in sys.argv[1:]] or [
        *sorted(ROOT.glob("README*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ]
    for document in named:
        text = document.read_text(encoding="utf-8")
        new = re.sub(r"```console\n(.*?)```", rewritten, text, flags=re.DOTALL)
        if new != text:
            document.write_text(new, encoding="utf-8")
            print(document.relative_to(ROOT))


if __name__ == "__main__":
    main()
