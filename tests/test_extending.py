"""The changes that docs/extending walks through work: each is applied to a copy, in which its tests then run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.parts import needs, since

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "extending"
NOT_COPIED = shutil.ignore_patterns(".*_cache")  # what is compiled already is copied too: it saves a third of the time


@pytest.fixture
def changed(tmp_path):
    """Return a function that copies what is needed and applies a change to it."""

    def apply(name):
        for folder in ("src", "tests", "tools"):
            shutil.copytree(ROOT / folder, tmp_path / folder, ignore=NOT_COPIED)
        shutil.copy(ROOT / "pyproject.toml", tmp_path)
        (tmp_path / "docs").mkdir()
        patch = PAGES / "changes" / f"{name}.patch"
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}  # no repository but this folder
        done = subprocess.run(
            ["git", "apply", str(patch)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{patch.name} does not fit the code any more: {done.stderr}"
        return tmp_path

    return apply


def run(copy, *arguments):
    """Run Python in the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=copy, capture_output=True, text=True, env=environment, timeout=300
    )


def answer(copy, code):
    done = run(copy, "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def pytest_in(copy, *arguments):
    """Run some tests of the copy, and return how many passed and what was said."""
    done = run(copy, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *arguments)
    passed = re.search(r"(\d+) passed", done.stdout + "0 passed")
    return done.returncode, int(passed[1]), done.stdout


def all_pass(copy, at_least, *arguments):
    code, passed, said = pytest_in(copy, *arguments)
    assert code == 0, said
    assert passed >= at_least, said


WITH_ITS_TESTS = pytest.mark.parametrize("tests", [False, pytest.param(True, marks=pytest.mark.deep)])
"""Whether the tests of the copy are run too, which takes several times as long as trying what was added."""


@WITH_ITS_TESTS
def test_the_metric(changed, tests):
    copy = changed("metric")
    # COVID table: √(2739/2795 · 1042/1046)
    code = "import stakes; print(stakes.metrics.g_mean(stakes.Confusion.two_class(tp=2739, fn=56, fp=4, tn=1042)))\n"
    code += "ev = stakes.evaluate(truth=[1, 0, 1, 0], prediction=[1, 0, 0, 0]); print(ev['g_mean'])"
    value, shown = answer(copy, code).splitlines()
    assert float(value) == pytest.approx((2739 / 2795 * 1042 / 1046) ** 0.5, rel=1e-15)
    assert "0.7071" in shown
    files = ("tests/metrics/test_declarations.py", "tests/metrics/test_oracles.py", "tests/views/test_report.py")
    if tests:
        all_pass(copy, 12, *files, "-k", "g_mean or outside_oracle or translate_every_metric")
    assert run(copy, "tools/pages").returncode == 0
    assert "## g_mean\n\n*How well are both classes found" in (copy / "docs" / "catalogue" / "agreement.md").read_text()


@WITH_ITS_TESTS
def test_the_kind_of_file(changed, tests):
    since("polars", "2.0", "does not read the Avro that it writes")
    copy = changed("engine")
    if tests:
        all_pass(copy, 3, "tests/engines/test_files.py", "-k", "avro")
    code = """
import stakes
question = {"truth": "diagnosis", "score": "logistic", "positive": "malignant", "by": "size"}
demo = "demo:breast_cancer"
stakes.demo_data("breast_cancer").write_avro("demo.avro")
assert stakes.evaluate("demo.avro", **question).to_dict() == stakes.evaluate(demo, **question).to_dict()
with open("broken.avro", "wb") as file:
    file.write(open("demo.avro", "rb").read()[:500])
try:
    stakes.evaluate("broken.avro", **question)
except stakes.InputError as problem:
    print(problem)
"""
    said = answer(copy, code)
    assert said.startswith("broken.avro")
    assert "\n" not in said


@WITH_ITS_TESTS
def test_the_word_of_a_rule(changed, tests):
    copy = changed("rule")
    if tests:
        all_pass(copy, 7, "tests/systems/test_rules.py", "-k", "median or what_is_no_rule or any_text")
    code = """
import stakes
costs = stakes.Costs(miss=5, false_alarm=1)
models = {"a": 0.8, "b": 0.8, "c": 0.8}
ask = dict(classes=["sick", "healthy"], models=models, costs=costs, prior=0.3)
print(stakes.System(decide="median(a, b, c)", **ask).cost - stakes.System(decide="majority(a, b, c)", **ask).cost)
"""
    assert float(answer(copy, code)) == pytest.approx(0, abs=1e-15)
    code = code.replace('"median(a, b, c)"', '"median"')
    assert "does not say of whom; write median(a, b, c)" in run(copy, "-c", code).stderr


@WITH_ITS_TESTS
def test_the_language(changed, tests):
    copy = changed("language")
    report = ("tests/views/test_report.py", "-k", "languages_hold and de or same_gaps and de")
    if tests:
        code, passed, said = pytest_in(copy, *report)
        assert code == 1
        assert "Extra items in the left set" in said  # and there what is missing is named
    drafted = run(copy, "tools/draft_texts.py", "de")
    assert re.fullmatch(r"de\.toml: \d{3} places are left to translate\n", drafted.stdout), drafted.stderr
    if tests:
        code, passed, said = pytest_in(copy, *report)
        assert (code, passed) == (1, 1)
        assert "page.many_classes is a draft" in said
    text = (copy / "src/stakes/language/texts/de.toml").read_text()
    assert 'title = "Urteil"' in text
    (copy / "src/stakes/language/texts/de.toml").write_text(text.replace("⟦", "").replace("⟧", ""))
    if tests:
        all_pass(copy, 2, *report)
    command = ("-m", "stakes", "demo", "--report", "demo.html", "--lang", "de")
    assert run(copy, *command).returncode == 0
    assert '<html lang="de">' in (copy / "demo.html").read_text()


@pytest.mark.deep  # it starts another browser; those of the other languages are tried in the one that is there
def test_a_page_opens_in_the_new_language(changed):
    needs("chromium", "a page is opened in a real browser: install chromium")
    copy = changed("language")
    assert run(copy, "tools/draft_texts.py", "de").returncode == 0
    all_pass(copy, 1, "tests/views/test_report_browser.py", "-k", "phone and de")


def test_pages_show_every_line_of_the_changes():
    """A page shows its change in pieces, which together are the whole of it."""
    for page in ("metric", "engine", "rule", "language"):
        patch = (PAGES / "changes" / f"{page}.patch").read_text().splitlines()
        text = (PAGES / f"{page}.md").read_text()
        pieces = re.findall(rf"literalinclude\}} changes/{page}\.patch\n(.*?)```", text, re.S)
        spans = [re.search(r":lines: (\d+)-(\d+)", piece) for piece in pieces]
        shown = {number for span in spans for number in range(int(span[1]), int(span[2]) + 1)}
        unseen = [line for number, line in enumerate(patch, 1) if number not in shown]
        assert [line for line in unseen if re.match(r"[+-] *[^+\- ]", line)] == []
