"""stakes count, and tallies where other commands take files: run as a user runs them."""

import json

import numpy as np
import pytest

import stakes
from tests.command import run

COLUMNS = ("--truth", "ill", "--score", "risk", "--positive", "yes")


def write(path, seed, rows):
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.3
    risk = 1 / (1 + np.exp(1.2 - 2 * ill - rng.normal(size=rows)))
    ward = rng.choice(["north", "south"], rows)
    lines = [f"{'yes' if i else 'no'},{r:.9f},{w}" for i, r, w in zip(ill, risk, ward, strict=True)]
    path.write_text("\n".join(["ill,risk,ward", *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory):
    """Two hospitals' rows, and their tallies at a threshold."""
    folder = tmp_path_factory.mktemp("hospitals")
    for seed, (name, rows) in enumerate({"monday": 500, "tuesday": 400}.items()):
        rows_of = write(folder / f"{name}.csv", seed, rows)
        done = run("count", rows_of, *COLUMNS, "--by", "ward", "--threshold", "0.3", "-o", folder / f"{name}.tally")
        assert done.returncode == 0, done.stderr
    return folder


def test_what_was_counted_is_said_in_two_lines(hospitals, tmp_path):
    out = tmp_path / "m.tally"
    done = run("count", hospitals / "monday.csv", *COLUMNS, "--by", "ward", "--threshold", "0.3", "-o", out)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.splitlines()
    assert first == f"{out}: 500 rows, 2 segments, decisions at 0.3; {out.stat().st_size:,} bytes"
    counted = stakes.load(out)
    columns, ranges = counted.scores.as_columns().scores, counted.scores.grid.ranges
    assert second == (
        f"scores in {len(columns)} bins, {len(ranges)} of them put together from smaller ones "
        "(the smallest with 10 rows of a class)"
    )
    assert out.read_bytes() == (hospitals / "monday.tally").read_bytes()
    rows = {"truth": "ill", "score": "risk", "positive": "yes", "by": "ward", "threshold": 0.3}
    stakes.count(hospitals / "monday.csv", **rows).save(tmp_path / "same.tally")
    assert out.read_bytes() == (tmp_path / "same.tally").read_bytes()


def test_the_facts_as_json(hospitals, tmp_path):
    out = tmp_path / "m.tally"
    done = run("count", hospitals / "monday.csv", *COLUMNS, "--where", "ward = 'north'", "--json", "-o", out)
    facts = json.loads(done.stdout)
    assert facts["rows"] == stakes.load(out).scores.total < 500
    assert 0 < facts["smallest_cell"] < 10  # few rows of a class lie on one side of ½
    assert {**facts, "rows": 0, "bytes": 0, "scores": 0, "put_together": 0, "smallest_cell": 0} == {
        "stakes": "count",
        "format": 1,
        "written": str(out),
        "bytes": 0,
        "task": "classification",
        "tallies": ["scores"],
        "rows": 0,
        "dropped": 0,
        "segments": [],
        "threshold": None,
        "min_cell": 10,
        "smallest_cell": 0,
        "rows_without_segment": 0,
        "scores": 0,
        "put_together": 0,
    }
    assert run("count", hospitals / "monday.csv", *COLUMNS[:4], "-o", out).returncode == 2  # a score of which class?


def test_two_tallies_are_evaluated_as_all_rows(hospitals):
    done = run("evaluate", hospitals / "monday.tally", hospitals / "tuesday.tally", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    files = (hospitals / "monday.csv", hospitals / "tuesday.csv")
    rows = json.loads(run("evaluate", *files, *COLUMNS, "--by", "ward", "--threshold", "0.3", "--json").stdout)
    for part, wanted in ((found, rows), *((found["segments"][w], rows["segments"][w]) for w in ("north", "south"))):
        assert part["confusion"] == wanted["confusion"]
        for name in ("recall", "precision", "f1", "mcc", "accuracy"):
            assert part["figures"][name] == wanted["figures"][name]
        auc = part["figures"]["auc"]
        assert auc["low"] < wanted["figures"]["auc"]["low"] < wanted["figures"]["auc"]["value"] < auc["high"]
    assert found["threshold"] == 0.3
    pattern = run("evaluate", hospitals / "*.tally", "--json")
    assert pattern.stdout == done.stdout


def test_a_tally_says_where_to_decide(hospitals):
    files = (hospitals / "monday.tally", hospitals / "tuesday.tally")
    done = run("decide", *files, "--miss", "5", "--false-alarm", "1", env={"COLUMNS": "400"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].startswith("900 rows")
    assert "0.166667 lies inside a bin of these scores" in done.stdout
    assert "“yes” from score" in run("decide", *files, "--best", "youden").stdout


def test_exact_scores_warn_in_one_line(hospitals, tmp_path):
    out = tmp_path / "e.tally"
    done = run("count", hospitals / "monday.csv", *COLUMNS, "--exact", "-o", out)
    assert done.returncode == 0
    assert done.stderr.startswith("stakes: warning: exact: distinct scores are row-level data")
    assert done.stderr.count("\n") == 1
    assert done.stdout.splitlines()[1] == "500 distinct scores, as they are"
    found = run("evaluate", out, "--json").stdout
    assert found == run("evaluate", hospitals / "monday.csv", *COLUMNS, "--json").stdout


def test_weights_and_dropped_rows_are_told(tmp_path):
    rows = tmp_path / "w.csv"
    rows.write_text("y,d,w\n" + "1,1,0.5\n0,1,2\n1,,1\n" * 5)
    arguments = ("--truth", "y", "--prediction", "d", "--weight", "w", "--missing", "drop")
    done = run("count", rows, *arguments, "-o", tmp_path / "w.tally")
    size = (tmp_path / "w.tally").stat().st_size
    assert done.stdout == f"{tmp_path / 'w.tally'}: rows of weight 12.5, 5 left out; {size:,} bytes\n"


def test_mistakes_are_one_line(hospitals, tmp_path):
    monday, out = hospitals / "monday.csv", tmp_path / "x.tally"
    tally = hospitals / "monday.tally"
    for arguments, words in (
        (("count", monday, *COLUMNS), "say where with -o OUT.tally"),
        (("count", monday, "-o", out), "--truth COLUMN says what really happened"),
        (("evaluate", monday), "--truth COLUMN says what really happened"),
        (("decide", monday, "--best", "f1"), "--truth COLUMN says what really happened"),
        (("count", monday, *COLUMNS, "-o", monday), "which is never written over"),
        (("count", monday, *COLUMNS, "-o", tmp_path / "x.csv"), "the name of a tally ends in .tally"),
        (("count", monday, *COLUMNS, "-o", tmp_path / "no" / "x.tally"), "folder"),
        (("count", monday, *COLUMNS, "-o", out, "--min-cell", "0"), "--min-cell"),
        (
            ("count", monday, "--truth", "nowhere", "--cluster", "id", "-o", out),
            "--cluster means nothing to count: a tally",
        ),
        (("count", tally, "-o", out), "has been counted already"),
        (("count", tally, *COLUMNS, "-o", tally), "which is never written over"),
        (("evaluate", tally, monday), "is a tally but"),
        (("evaluate", tally, *COLUMNS), "--positive: the question of a tally was fixed"),
        (("evaluate", tally, tally), "twice"),
        (("evaluate", tmp_path / "none.tally"), "there is no such file"),
        (("evaluate", tally, "--threshold", "0.31"), "--threshold 0.31 lies inside a bin of this table"),
    ):
        done = run(*arguments)
        assert done.returncode == 2, arguments
        assert words in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
        assert done.stdout == ""
    assert not out.exists()


def test_different_questions_are_named(hospitals, tmp_path):
    out = tmp_path / "other.tally"
    run("count", hospitals / "monday.csv", *COLUMNS, "--by", "ward", "--threshold", "0.4", "-o", out)
    done = run("evaluate", hospitals / "monday.tally", out)
    assert done.returncode == 2
    assert "different questions: the threshold is 0.3 in one and 0.4 in the other" in done.stderr


def test_a_damaged_tally_is_one_line(hospitals, tmp_path):
    broken = tmp_path / "broken.tally"
    broken.write_bytes((hospitals / "monday.tally").read_bytes()[:-30])
    done = run("evaluate", broken)
    assert done.returncode == 2
    assert done.stderr.startswith(f"stakes: {broken} is damaged or no tally (")
    assert done.stderr.count("\n") == 1
