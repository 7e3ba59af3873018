"""docs/promises.md names, for each promise, tests that are there and a command that runs them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "promises.md"
LINES = [line for line in PAGE.read_text().splitlines() if line.startswith("| ") and "| promise |" not in line]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))


def test_there_are_promises():
    assert len(LINES) >= 45


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split("|")[1].replace("*", "").strip()[:50])
def test_a_promise_names_its_tests_and_their_command(line):
    *_, held, command = (cell.strip() for cell in line.strip("|").split("|"))
    commands = set(re.findall(r"`make ([\w-]+)`", command))
    assert commands
    assert commands <= TARGETS
    linked = re.findall(r"\]\((\.\./tests/[^)]+\.py)\)", held)
    tests = "\n".join((PAGE.parent / file).read_text() for file in linked)
    assert bool(tests) == ("test" in commands), "make test runs tests, and nothing else does"
    for name in re.findall(r"`((?:test_|…)\w*…?)`", held):
        pattern = name.replace("…", r"\w*")
        assert re.search(rf"def {pattern}\(", tests), f"there is no {name} in the files beside it"
    large = re.search(r"mark\.(deep|spread|each_choice)|hypothesis import", tests) is not None
    assert large == ("test-deep" in commands), "make test-deep is named where there is a large form"
