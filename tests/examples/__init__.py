"""The examples of the gallery run, and print what somebody else's code gives."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed(name: str) -> str:
    """Run an example in a process of its own, and return what it prints."""
    environment = {**os.environ, "COLUMNS": "100", "MPLBACKEND": "Agg"}
    script = EXAMPLES / f"{name}.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
