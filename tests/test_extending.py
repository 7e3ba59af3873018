"""The changes that docs/extending walks through work: each is applied to a copy, in which its tests then run."""

import json
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

    def apply(name, tests=False):
        for folder in ("src", "tools", "tests") if tests else ("src", "tools"):
            shutil.copytree(ROOT / folder, tmp_path / folder, ignore=NOT_COPIED)
        shutil.copy(ROOT / "pyproject.toml", tmp_path)
        (tmp_path / "docs").mkdir()
        patch = PAGES / "changes" / f"{name}.patch"
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}  # no repository but this folder
        command = ["git", "apply", *([] if tests else ["--exclude", "tests/*"]), str(patch)]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
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
    copy = changed("metric", tests)
    # COVID table: √(2739/2795 · 1042/1046)
    code = "import stakes; print(stakes.metrics.g_mean(stakes.Confusion.two_class(tp=2739, fn=56, fp=4, tn=1042)))\n"
    code += "ev = stakes.evaluate(truth=[1, 0, 1, 0], prediction=[1, 0, 0, 0]); print(ev['g_mean'])\n"
    code += "import sys; sys.path.insert(0, 'tools/pages'); import catalogue\n"
    code += "print(repr(''.join(catalogue.pages()['catalogue/agreement.md'].partition('## g_mean')[1:])))"
    value, shown, page = answer(copy, code).splitlines()
    assert float(value) == pytest.approx((2739 / 2795 * 1042 / 1046) ** 0.5, rel=1e-15)
    assert "0.7071" in shown
    files = ("tests/metrics/test_declarations.py", "tests/metrics/test_oracles.py", "tests/views/test_report.py")
    if tests:
        all_pass(copy, 12, *files, "-k", "declarations or oracle or agree or translate_every_metric")
    assert eval(page).startswith("## g_mean\n\n*How well are both classes found")


DECLARED = {
    "regression": """

@metric(
    loss=lambda t, p: np.sqrt(np.abs(t - p)),
    parts=("rows",),
    question="How large is the root of the error on average?",
    formula="sum(sqrt(abs(t - p)) for t, p in rows) / n",
    better="lower",
    undefined=(needs_parts("rows"),),
)
def mean_root_error(s: ErrorSums) -> Number:
    return s.mean_of(mean_root_error.loss)


@metric(
    question="What share of the squared error of always saying the mean is left?",
    formula="sum((t - p)**2 for t, p in rows) / sum((t - mean)**2 for t in truths)",
    better="lower",
    parts=("baseline",),
    baseline=ONE,
    undefined=(NO_BASELINE, CONSTANT_TRUTH),
)
def share_left(s: ErrorSums) -> Number:
    return ratio(s.sum_of(e=2), s.constant.sum_of(e=2))
""",
    "probability": """

@metric(
    loss=(AWAY := Losses(lambda p: 1.0 - p, lambda p: p)),
    question="How far are the probabilities from what happened?",
    formula="sum(abs(p - y) for p, y in rows) / n",
    better="lower",
    undefined=NEEDS_PROBABILITIES,
)
def mean_distance(table: ScoreTable) -> Number:
    return mean_loss(AWAY, table)
""",
    "rates": """

@metric(
    question="How many misses are there for each hit?",
    formula="fn / tp",
    range=(0, np.inf),
    better="lower",
    undefined=(NO_POSITIVES,),
)
def misses_per_hit(c: Confusion) -> Number:
    return ratio(c.fn, c.tp)
""",
    "ranking": """

def _half_found(steps: Steps) -> Number:
    return total(np.where(2 * (steps.tp + steps.fp) <= np.expand_dims(steps.P + steps.N, -1), steps.positives, 0))


found_in_half = metric(
    name="found_in_half",
    question="What share of the positives lies in the upper half of the ranking?",
    formula="positives_in_upper_half / P",
    better="higher",
    undefined=(NO_POSITIVES,),
)(Fold(_half_found, lambda found, table: ratio(found, table.P)))
""",
}
"""What stands at the end of a file of metrics: means of a row loss, ratios, and a figure of scores."""

ASKED = """
import warnings
import numpy as np, stakes
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
t, noise = rng.normal(size=(2, 300))
numbers = {"a": t + noise, "b": t + rng.normal(size=300)}
y = rng.random(300) < 0.4
scores = {name: 1 / (1 + np.exp(-rng.normal(size=300) - 1.5 * y + 0.7)) for name in "ab"}
decided = {name: one >= 0.5 for name, one in scores.items()}
high = np.argsort(-scores["a"])[:150]
expected = {
    "mean_root_error": (t, numbers, np.sqrt(np.abs(noise)).mean()),
    "share_left": (t, numbers, (noise**2).sum() / ((t - t.mean()) ** 2).sum()),
    "mean_distance": (y, scores, np.abs(scores["a"] - y).mean()),
    "misses_per_hit": (y, decided, (y & ~decided["a"]).sum() / (y & decided["a"]).sum()),
    "found_in_half": (y, scores, y[high].sum() / y.sum()),
}
by = np.where(rng.random(300) < 0.5, "left", "right")
for name, (truth, outputs, value) in expected.items():
    column = "score" if outputs is scores else "prediction"
    metric = stakes.metrics.find(name)
    assert abs(getattr(stakes.metrics, name)(truth, outputs["a"]) - value) < 1e-12, name
    ev = stakes.evaluate(truth=truth, **{column: outputs["a"]}, by={"side": by})
    found = ev[name]
    assert abs(found.value - value) < 1e-12 and found.low < value < found.high, found
    assert name in ev.figures and name in ev.to_dict()["figures"]
    pair = stakes.compare(truth=truth, **{f"{column}s": outputs}, metric=name).pairs[0]
    assert (pair.low > 0 or pair.high < 0) == (pair.p_value < 0.05) and pair.low < pair.difference < pair.high, pair
    segments = list(ev.by_segment(name))
    assert len(segments) == 2 and all(one.low < one.value < one.high for one in segments), segments
    assert all(one.p_value is not None for one in segments), segments
    sign = "<=" if metric.better == "lower" else ">="
    assert stakes.gate(ev, require=[f"{name} {sign} {value + (1e-9 if sign == '<=' else -1e-9)}"]).passed
    shuffled = stakes.permutation_test(truth=truth, **{column: outputs["a"]}, metric=name, permutations=99)
    assert shuffled.p_value <= 0.02, shuffled
    ev.report("page.html")
    assert metric.question in open("page.html", encoding="utf-8").read()
    clusters = stakes.evaluate(truth=truth, **{column: outputs["a"]}, cluster=np.arange(300) // 3)[name]
    weighted = stakes.evaluate(truth=truth, **{column: outputs["a"]}, weight=1 + np.arange(300) % 3)[name]
    assert clusters.low < clusters.value < clusters.high and weighted.low < weighted.value < weighted.high
"""


@pytest.mark.deep  # tests/metrics/test_own.py declares one in its own process
def test_a_figure_is_one_declaration_in_one_file(tmp_path):
    """It works wherever figures do: called, evaluated, compared, by segment, gated, shuffled, reported, catalogued."""
    for folder in ("src", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=NOT_COPIED)
    for family, text in DECLARED.items():
        with (tmp_path / "src/stakes/metrics" / f"{family}.py").open("a", encoding="utf-8") as file:
            file.write(text if "np." not in text else f"\n\nimport numpy as np  # noqa: E402\n{text}")
    shown = (
        "import json, sys; sys.path.insert(0, 'tools/pages')\nimport catalogue; print(json.dumps(catalogue.pages()))"
    )
    pages = json.loads(answer(tmp_path, ASKED + shown))
    for family, text in DECLARED.items():
        for question in re.findall('question="(.*?)"', text):
            assert question in pages[f"catalogue/{family}.md"]


def test_the_option_is_known_to_every_face(changed):
    """A row and its use are all that is written."""
    copy = changed("option")
    code = """
import inspect, sys
import stakes
from stakes.cli import cli
y, p = [0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]
stakes.evaluate(truth=y, score=p, least_rows=4)
try:
    stakes.evaluate(truth=y, score=p, least_rows=5)
except stakes.InputError as problem:
    print(problem)
verbs = ("evaluate", "compare", "decide", "calibrate", "permutation_test", "validate", "count", "gate", "report")
print(all("least_rows" in inspect.signature(getattr(stakes, verb)).parameters for verb in verbs))
print(sum(any(one.name == "least_rows" for one in command.params) for command in cli.commands.values()))
sys.path.insert(0, "tools/pages")
import options_of_verbs
print("| `least_rows` | ● | ● |" in options_of_verbs.pages()["options.md"])
"""
    assert answer(copy, code).splitlines() == ["least_rows=5 is more than 4 rows; give more rows", "True", "11", "True"]
    (copy / "rows.csv").write_text("y,p\n0,0.1\n1,0.9\n1,0.8\n")
    question = ("evaluate", "rows.csv", "--truth", "y", "--score", "p", "--least-rows", 4)
    refused = run(copy, "-m", "stakes", *question)
    assert (refused.returncode, refused.stderr) == (2, "stakes: --least-rows 4 is more than 3 rows; give more rows\n")
    shown = run(copy, "-m", "stakes", "evaluate", "--help").stdout
    assert re.search(r"  --least-rows INTEGER +How many rows there must be\.", shown)


@WITH_ITS_TESTS
def test_the_finding(changed, tests):
    copy = changed("finding", tests)
    if tests:
        all_pass(copy, 4, "tests/findings/test_situations.py", "-k", "close")
    code = """
import stakes
from stakes.language import speaking
y, p = [0, 1, 1, 0] * 9, [0.501, 0.5045, 0.5038, 0.5023] * 9
ev = stakes.evaluate(truth=y, score=p)
for lang in ("en", "es", "ru"):
    with speaking(lang):
        print(" ".join(str(ev).split()))
"""
    for said in answer(copy, code).splitlines():
        assert re.search(r" 0[.,]501 (and|y|и) 0[.,]5045: ", said)


@WITH_ITS_TESTS
def test_the_kind_of_file(changed, tests):
    since("polars", "2.0", "does not read the Avro that it writes")
    copy = changed("engine", tests)
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
    copy = changed("rule", tests)
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
    copy = changed("language", tests)
    report = ("tests/views/test_report.py", "-k", "languages_hold and de or same_gaps and de")
    if tests:
        code, passed, said = pytest_in(copy, *report)
        assert code == 1
        assert "Extra items in the left set" in said  # and there what is missing is named
    drafted = run(copy, "tools/draft_texts.py", "de")
    assert re.fullmatch(r"de\.toml: \d{3,4} places are left to translate\n", drafted.stdout), drafted.stderr
    if tests:
        code, passed, said = pytest_in(copy, *report)
        assert (code, passed) == (1, 1)
        assert re.search(r"page\.\w+ is a draft", said)
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
    copy = changed("language", tests=True)
    assert run(copy, "tools/draft_texts.py", "de").returncode == 0
    all_pass(copy, 1, "tests/views/test_report_browser.py", "-k", "phone and de")


@pytest.mark.parametrize("change", ["metric", "option", "finding", "engine", "rule", "language"])
def test_every_line_of_a_change_fits(change):
    """Also those of its tests, which are not copied above."""
    patch = PAGES / "changes" / f"{change}.patch"
    done = subprocess.run(["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{patch.name} does not fit the code any more: {done.stderr}"


def test_pages_show_every_line_of_the_changes():
    """A page shows its change in pieces, which together are the whole of it."""
    for page in ("metric", "option", "finding", "engine", "rule", "language"):
        patch = (PAGES / "changes" / f"{page}.patch").read_text().splitlines()
        text = (PAGES / f"{page}.md").read_text()
        pieces = re.findall(rf"literalinclude\}} changes/{page}\.patch\n(.*?)```", text, re.S)
        spans = [re.search(r":lines: (\d+)-(\d+)", piece) for piece in pieces]
        shown = {number for span in spans for number in range(int(span[1]), int(span[2]) + 1)}
        unseen = [line for number, line in enumerate(patch, 1) if number not in shown]
        assert [line for line in unseen if re.match(r"[+-] *[^+\- ]", line)] == []
