"""The path of somebody who has just heard of stakes: a clean folder, the README's command, a file of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clean_copy import ROOT, copy_of_what_git_knows
from tests.parts import needs

pytestmark = pytest.mark.slow

ROWS = ['Fall Nr.,wirklich passiert?,"p (krank), geschätzt"']
ROWS += [f"{i},{'gesund' if i % 3 else 'krank'},{(0.2 if i % 3 else 0.9) - 0.01 * (i % 17):.2f}" for i in range(90)]


def with_stakes_at_hand(clone: Path) -> None:
    """Stand in for the environment that make would install, which takes half a minute, and for what it compiles."""
    shutil.copytree(ROOT / "src", clone / "src", dirs_exist_ok=True)
    programs = clone / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, what in (("python", ""), ("stakes", "-m stakes")):
        (programs / name).write_text(f"#!/bin/sh\nPYTHONPATH='{clone}/src' exec '{sys.executable}' {what} \"$@\"\n")
        (programs / name).chmod(0o755)
    (clone / ".venv" / ".installed").touch()


def run(folder: Path, *command: str) -> str:
    bare = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS")}
    environment = {**bare, "COLUMNS": "100"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=400, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("installs", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_from_a_clone_to_a_report_of_ones_own(tmp_path, opened, installs):
    needs("make", "a newcomer needs make")
    clone = tmp_path / "a clone"
    copy_of_what_git_knows(clone)
    if not installs:
        with_stakes_at_hand(clone)
    shown = run(clone, "make", "demo")
    assert "569" in shown
    assert "37.3% are “malignant”" in shown
    assert "stakes evaluate FILE --truth COLUMN --score COLUMN" in shown

    own = tmp_path / "Fälle, 2026 (v2).csv"
    own.write_text("\n".join(ROWS), encoding="utf-8")
    asked = ["evaluate", own.name, "--truth", "wirklich passiert?", "--score", "p (krank), geschätzt"]
    stakes = str(clone / ".venv" / "bin" / "stakes")
    shown = run(tmp_path, stakes, *asked, "--positive", "krank", "--report", "Bericht.html", "--lang", "es")
    assert "el 33,3\u00a0% es «krank»" in shown

    page = opened(tmp_path / "Bericht.html")
    assert page.locator("html").get_attribute("lang") == "es"
    assert "krank" in page.locator("h1").inner_text()
    assert page.locator("#verdict").inner_text().strip()
    asked_for = "stakes evaluate 'Fälle, 2026 (v2).csv' --truth 'wirklich passiert?' --score 'p (krank), geschätzt'"
    file, _, command = page.locator(".source").inner_text().partition("\n")
    assert file.startswith("archivo: Fälle, 2026 (v2).csv · valor real: wirklich passiert?")
    assert command.strip() == f"{asked_for} --positive krank"
