"""scikit-learn's own tests of its metrics, run against ``stakes.sklearn``; docs/migrating shows the counts."""

import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.parts import since

since("scikit-learn", "1.9", "has other tests of its own")

HERE = Path(__file__).parent
DIFFERS = {
    f"{file}::{test}": why
    for file, tests in tomllib.loads((HERE / "differs.toml").read_text(encoding="utf-8")).items()
    for test, why in tests.items()
}
MOST_THAT_DIFFER = 1
FILES = [f"sklearn.metrics.tests.test_{name}" for name in ("classification", "ranking", "regression", "common")]


def judge(folder: Path, *arguments: str) -> dict[str, dict]:
    """Run the tests in a process of their own, since their functions are exchanged, and return what became of each."""
    found = folder / "judged.json"
    paths = [str(HERE), str(HERE.parents[1] / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"STAKES_JUDGE": str(found), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    settings = ["-c", os.devnull, "-p", "judge", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--pyargs"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *settings, *arguments], cwd=folder, env=environment, capture_output=True
    )
    return json.loads(found.read_text(encoding="utf-8"))


def failed(found: dict[str, dict]) -> dict[str, str]:
    return {test: entry["why"] for test, entry in found.items() if entry["outcome"] == "failed"}


def counts(found: dict[str, dict]) -> dict[str, list[int]]:
    """For each function, how many tests that call it pass, and of how many."""
    ran = [entry for entry in found.values() if entry["outcome"] != "skipped"]
    total = Counter(name for entry in ran for name in entry["names"])
    passed = Counter(name for entry in ran if entry["outcome"] == "passed" for name in entry["names"])
    whole = [sum(entry["outcome"] == "passed" for entry in ran), len(ran)]
    return {"all tests": whole} | {name: [passed[name], total[name]] for name in sorted(total)}


def test_the_list_of_tests_that_differ_does_not_grow():
    assert len(DIFFERS) <= MOST_THAT_DIFFER


@pytest.mark.slow
def test_some_tests_of_scikit_learn_pass(tmp_path):
    found = judge(tmp_path, FILES[0], FILES[2], "-k", "test_regression_metrics or warnings or losses")
    assert len(found) > 10
    ran = {test for test, entry in found.items() if entry["outcome"] != "skipped"}
    assert set(failed(found)) == set(DIFFERS) & ran


@pytest.mark.deep
def test_every_other_test_of_scikit_learn_passes(tmp_path):
    """Whoever changes the face writes the counts anew with STAKES_WRITE_COUNTS=1; docs/migrating shows them."""
    found = judge(tmp_path, *FILES)
    assert set(failed(found)) == set(DIFFERS), failed(found)
    passed, total = counts(found)["all tests"]
    assert passed >= 0.98 * total
    kept = HERE / "counts.json"
    if os.environ.get("STAKES_WRITE_COUNTS"):
        kept.write_text(json.dumps(counts(found), indent=0) + "\n", encoding="utf-8")
    assert json.loads(kept.read_text(encoding="utf-8")) == counts(found)
