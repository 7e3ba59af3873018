"""The examples run, and print what scikit-learn's own cross-validation gives."""

import os
import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").rglob("*.py"))


def printed(name: str) -> str:
    path = next(path for path in EXAMPLES if path.stem == name)
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_clinical_system():
    text = printed("clinic")
    assert re.search(r"^history +250 +320 +390 ", text, re.M)
    assert "costs 4 more than if history had been right" in text
    misses, alarms = 10 + 90 * 0.2, 60 * 0.2  # the new model's own errors, and those of images where it is right
    assert f"would pay {5 * misses + alarms:g} if it erred on its own" in text
    assert "pays when 400·TPR + 40·TNR > 260" in text
