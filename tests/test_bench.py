"""The bench runs at tiny sizes, keeps to its budgets, and RESULTS.md says nothing that its own numbers contradict."""

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
BENCH = ROOT / "bench"


def page_of(file: Path) -> str:
    return file.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


RESULTS, _, VERY_MANY_ROWS = page_of(BENCH / "RESULTS.md").partition("## Very many rows")


@pytest.fixture(scope="module", autouse=True)
def _bench_is_importable():
    sys.path.insert(0, str(BENCH))
    yield
    sys.path.remove(str(BENCH))


# ── what a line says ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("value", [*np.random.default_rng(0).lognormal(0, 5, 50), 19.96, 20.0, 1e-300])
def test_rounding_does_not_flatter(value):
    from contest import at_least, at_most

    assert 0 <= value - at_least(1).rounded(value) <= 0.01 * value
    assert 0 <= at_most(1).rounded(value) - value <= 0.01 * value


def test_a_line_says_whether_it_is_met():
    from contest import Line, at_least, at_most

    assert str(Line.of("a", "b", "c", 19.96, at_least(20))) == "| a | b | c | 19.9 × | ≥ 20 × | **no** |"
    assert str(Line.of("a", "b", "c", 0.6, at_most(0.6, "GB"))).endswith("| 0.6 GB | ≤ 0.6 GB | yes |")
    assert str(Line.of("a", "b", "c", 0.6001, at_most(0.6, "GB"))).endswith("| 0.601 GB | ≤ 0.6 GB | **no** |")
    assert str(Line.of("a", "b", "c", 12345.6, at_least(1000))).endswith("| 12,300 × | ≥ 1,000 × | yes |")


def test_a_part_of_the_work_is_scaled_up():
    from contest import Contest, Side, at_least

    naps = Side("naps", lambda: time.sleep(0.01), (20, 2000))
    (line,) = Contest("rest", Side("a nap", lambda: time.sleep(0.01)), naps, at_least(50)).run()
    assert "(20 of 2,000 run, × 100)" in line.theirs
    assert 50 < float(line.measured.split()[0]) < 200
    assert line.met


# ── budgets ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_what_does_not_fit_or_fails_says_so():
    from budget import Group
    from contest import Line, Measurement

    def broken():
        raise ValueError("no such column | really")

    works = [lambda: [Line("first", "", "", "1 ×")], broken, lambda: time.sleep(30), lambda: [Line("late", "", "", "")]]
    names = ("first", "broken", "slow", "late")
    pieces = [Measurement(name, work) for name, work in zip(names, works, strict=True)]
    start = time.monotonic()
    found = list(Group("g", "G", lambda rows: pieces, 0, 0).records(1, 0.5))
    assert time.monotonic() - start < 5
    assert [line.what for line in found] == list(names)
    no_time = "left out: no time"
    reasons = ["1 ×", "failed: ValueError: no such column / really", no_time, no_time]
    assert [line.measured for line in found] == reasons


def test_the_budgets_add_up_to_less_than_twenty_and_two_minutes():
    from run import GROUPS

    assert sum(group.budget for group in GROUPS) <= 19 * 60
    assert sum(group.quick for group in GROUPS) <= 105


def test_very_many_rows_keep_their_section():
    from results import LARGE, with_large

    page = with_large("# Measured\n", "old")
    assert with_large(page, "new") == f"# Measured\n\n{LARGE}\n\nnew\n"
    assert with_large("# Again\n", page.partition(LARGE)[2]) == f"# Again\n\n{LARGE}\n\nold\n"


# ── tiny runs ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.deep
def test_a_tiny_run_writes_a_page(tmp_path):
    import decisions
    import figures

    page = tmp_path / "page.md"
    command = [sys.executable, BENCH / "run.py", "--quick", "--only", "figures,decisions", "--rows", "1000"]
    before = (BENCH / "RESULTS.md").read_bytes()
    done = subprocess.run([*command, "--output", page], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    text = page_of(page)
    assert re.findall(r"^## (.*)", text, re.M) == ["Figures", "Decisions and calibration"]
    listed = [piece.left_out("").what for make in (figures.pieces, decisions.pieces) for piece in make(1000)]
    assert [what for what in listed if not any(line[0].startswith(what) for line in lines_of(text))] == []
    check_page(text)
    assert "failed" not in text
    assert (BENCH / "RESULTS.md").read_bytes() == before


def test_peers_answer_the_same_question():
    """Everybody who is installed finds the same auc and f1 of the same rows; who is not, says so."""
    from sklearn.metrics import f1_score, roc_auc_score

    import peers
    from samples import two_classes

    y, s, d = two_classes(1000)
    y, d = y.astype(int), d.astype(int)
    missing = peers.Peer("task", "nobody", "nothing", lambda: None, str, ("no_such_package",))
    assert "not installed: no_such_package" in missing.run()[0].shown(1.0)
    for tasks, expected in (
        (peers._tables(y, d), f"f1 {f1_score(y, d):.4f}"),
        (peers._auc(y, s), f"auc {roc_auc_score(y, s):.6f}"),
    ):
        rows = [row for peer in tasks for row in peer.run()]
        assert {row.found for row in rows if row.seconds is not None} == {expected}
        assert all(row.found.startswith("not installed: ") for row in rows if row.seconds is None)


def test_growth_is_drawn_and_tabled(tmp_path):
    import growth

    points = [
        growth.Point(task.name, side, rows, 1e-8 * rows, 16.0 * rows) if rows < 10**6 or side == "stakes"
        else growth.Point(task.name, side, rows, None, None, "left out: about 30 s")
        for task in growth.TASKS
        for side in growth.SIDES
        for rows in (10**4, 10**5, 10**6)
    ]  # fmt: skip
    growth.draw(points, tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").read_text().count("scikit-learn") >= 6  # each curve has its label
    text = growth.shown(points)
    assert text.count("left out: about 30 s") == 6
    assert "16.0 MB, 16.0 a row" in text


# ── the page that is published ───────────────────────────────────────────────────────────────────────────────────
def lines_of(page: str) -> list[list[str]]:
    """Cells of the lines that have "wanted" and "met"."""
    tables = re.findall(r"^\| what \| stakes \|.*\n\|[-|]+\n((?:\|.*\n?)+)", page, re.M)
    return [line.strip("| ").split(" | ") for table in tables for line in table.strip().splitlines()]


def cells(line: list[str]) -> tuple[str, str, str, str]:
    what, _, _, measured, wanted, met = [cell.strip(" |") for cell in [*line, "", "", ""][:6]]
    return what, measured, wanted, met


def check_page(page: str) -> None:
    """What is met is what the numbers say, and the summary counts it right."""
    counted = {"yes": 0, "**no**": 0, "": 0}
    for line in map(cells, lines_of(page)):
        _, measured, wanted, met = line
        if not wanted:
            continue
        counted[met] += 1
        sign, bound, unit = re.fullmatch(r"([≥≤]) ([\d.,e+-]+) (.*)", wanted).groups()
        if measured.startswith(("left out", "failed")):
            assert met == "", line
            continue
        value = float(measured.removesuffix(f" {unit}").replace(",", ""))
        bound = float(bound.replace(",", ""))
        assert met == ("yes" if (value >= bound if sign == "≥" else value <= bound) else "**no**"), line
    said = re.search(r"^(\d+) of (\d+) wanted figures are met, (\d+) are not, (\d+) were not", page, re.M)
    met, wanted, missed, unknown = map(int, said.groups())
    assert (met, missed, unknown) == (counted["yes"], counted["**no**"], counted[""])
    assert wanted == sum(counted.values())


def test_results_agree_with_their_own_numbers():
    check_page(RESULTS)
    check_page(VERY_MANY_ROWS)
    assert len(lines_of(RESULTS)) > 40


SHOWN_FIRST = {
    "10⁷": "every figure with its interval, against eleven, 10,000,000 rows",
    "10⁸": "Parquet, 100,000,000 rows: every figure, exact, beside pandas",
}
"""Which line of the bench a row of the README repeats."""


@pytest.mark.parametrize("page", ["README.md", "README.es.md", "README.ru.md"])
@pytest.mark.parametrize("rows", SHOWN_FIRST)
def test_the_readme_repeats_what_was_measured(page, rows):
    (told,) = [line for line in page_of(ROOT / page).splitlines() if line.startswith("|") and rows in line]
    (measured,) = [line for line in lines_of(RESULTS) if line[0] == SHOWN_FIRST[rows]]
    numbers = re.findall(r"([\d.]+) (?:s|GB)\b", " ".join(measured[1:3]))
    said = [number.replace(",", ".") for number in re.findall(r"(\d+[.,]\d+) (?:s|с|GB|ГБ)\b", told)]
    assert len(said) == len(numbers) >= 2
    for one, other in zip(said, numbers, strict=True):
        assert float(one) == round(float(other), len(one.partition(".")[2]))


def test_the_page_of_three_numbers_repeats_what_was_measured():
    rows = [line for line in page_of(ROOT / "docs" / "speed.md").splitlines() if line.startswith("| **")]
    measured = {line[0]: " ".join(line[1:]) for line in lines_of(RESULTS)}
    shown = (
        ("every figure with its interval, against eleven, 10,000,000 rows",),
        ("evaluate() with all intervals, 1,000,000 rows",),
        (
            "Parquet, 100,000,000 rows: every figure, even scores in bins",
            "Parquet, 100,000,000 rows: every figure, exact, beside pandas",
        ),
    )
    for row, names in zip(rows, shown, strict=True):
        seen = " ".join(measured[name] for name in names)
        amounts = re.findall(r"\d+\.\d+ (?:s|GB)\b", row)
        assert len(amounts) >= 2
        assert [amount for amount in amounts if amount not in seen] == []
        (ratio,) = re.findall(r"\*\*([\d.]+) ×", row) or [None]
        assert ratio is None or any(abs(float(ratio) - float(one)) < 0.5 for one in re.findall(r"([\d.]+) ×", seen))


def test_results_have_every_section_in_order():
    from run import GROUPS

    assert re.findall(r"^## (.*)", RESULTS, re.M) == [group.title for group in GROUPS]
    assert (BENCH / "growth.svg").exists()
    assert "](growth.svg)" in RESULTS
    for fact in ("processor", "memory", "system", "versions", "date", "took"):
        assert f"\n| {fact} | " in RESULTS


def test_results_have_a_line_for_everything_that_is_measured_and_no_other():
    import growth
    import peers
    from contest import Line
    from large import CASES
    from run import GROUPS

    def plain(what: str) -> str:
        return re.sub(r"[\d,]+ (rows|sorted scores|distinct scores)", r"\1", what)

    listed = [piece.left_out("") for group in GROUPS for piece in group.pieces(1000)]
    asked = {plain(record.what) for record in listed if isinstance(record, Line)}
    said = {plain(cells(line)[0]) for line in lines_of(RESULTS)}
    assert all(any(what.startswith(start) for what in said) for start in asked), asked
    left_over = {what for what in said if not any(what.startswith(start) for start in asked)}
    assert not left_over
    large = {piece.left_out("").what for make, _ in CASES.values() for piece in make(10**4)}
    said_of_many = {plain(cells(line)[0]).removesuffix(", beside less") for line in lines_of(VERY_MANY_ROWS)}
    assert said_of_many == set(map(plain, large))
    tasks = {plain(record.task) for record in listed if isinstance(record, peers.Row)}
    assert tasks == {plain(task) for task in re.findall(r"^### (.*)", RESULTS, re.M)}
    assert all(task.ran(side) in RESULTS for task in growth.TASKS for side in growth.SIDES)
