"""Sizes beyond reason: an answer or one line that says what is wrong, in little time and memory."""

import os
import resource
import subprocess
import sys

import pytest

from tests.command import run

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")]

MB = 1 << 20
SMALL = 50 * MB
FULL = pytest.param(1 << 30, marks=pytest.mark.deep)
LONGEST = 60


def stakes_within(megabytes, *words, seconds=LONGEST):
    """Run a command that may use so much memory; threads of Polars reserve room that they never use, so not less."""
    room = (2_048 + megabytes) * MB
    environment = {**os.environ, "POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-m", "stakes", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=seconds,
        env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room)),
    )


def refused(done, *words):
    lines = done.stderr.splitlines()
    assert done.returncode == 2, done.stderr[-500:]
    assert len(lines) == 1
    assert len(lines[0]) < 700
    for word in words:
        assert word in lines[0]


def written(path, begin, middle, end, size):
    """A file of about that size, written a piece at a time."""
    piece = middle * (MB // len(middle))
    with open(path, "w") as file:
        file.write(begin)
        for _ in range(size // MB):
            file.write(piece)
        file.write(end)
    return path


@pytest.mark.parametrize("size", [SMALL, FULL])
@pytest.mark.parametrize(
    ("name", "begin", "middle", "words"),
    [
        ("a.csv", "", "a", "a line has more than 16,777,216 bytes"),
        pytest.param("a.csv", "y,p\n0,0.5\n1,", "9", "a line has more than 16,777,216 bytes", marks=pytest.mark.deep),
        pytest.param("a.csv", 'y,p\n0,0.5\n1,"', "b", "a line has more than 16,777,216 bytes", marks=pytest.mark.deep),
        ("a.jsonl", '{"y": 1, "p": "', "a", "a line has more than 16,777,216 bytes"),
        pytest.param("a.tally", "", "a", "a.tally is damaged or no tally", marks=pytest.mark.deep),
        ("a.toml", "decide = '", "a", "a.toml: cannot be read: it has more than 1,000,000 bytes"),
    ],
)
@pytest.mark.spread(1)
def test_one_endless_line(tmp_path, name, begin, middle, words, size):
    path = written(tmp_path / name, begin, middle, "", size)
    command = {"a.toml": ["system", path], "a.tally": ["evaluate", path]}
    done = stakes_within(0, *command.get(name, ["evaluate", path, "--truth", "y", "--score", "p"]))
    refused(done, words)


@pytest.mark.deep
def test_a_line_of_very_many_fields(tmp_path):
    path = written(tmp_path / "a.csv", "", "1,", "\n", 1 << 30)
    refused(stakes_within(0, "evaluate", path, "--truth", "y", "--score", "p"), "a line has more than 16,777,216 bytes")
    path = written(tmp_path / "b.csv", "", "1,", "\n", 8 * MB)
    refused(
        stakes_within(500, "evaluate", path, "--truth", "y", "--score", "p"),
        "the header names more than 100,000 columns",
    )


@pytest.mark.deep
def test_a_million_columns(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("y,p," + ",".join(f"c{i}" for i in range(1_000_000)) + "\n")
    done = stakes_within(1_000, "evaluate", path, "--truth", "y", "--score", "p")
    refused(done, "the header names more than 100,000 columns; keep those that are needed")


@pytest.mark.parametrize(
    ("columns", "truth", "code"),
    [(5_000, "y", 0), *(pytest.param(99_000, *one, marks=pytest.mark.deep) for one in (("y", 0), ("z", 2)))],
)
def test_a_hundred_thousand_columns(tmp_path, columns, truth, code):
    path = tmp_path / "wide.csv"
    rows = [[str(i), f"0.{i + 1}", *["1"] * columns] for i in range(2)]
    names = ["y", "p", *(f"c{i}" for i in range(columns))]
    path.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
    done = stakes_within(1_000, "evaluate", path, "--truth", truth, "--score", "p", "--json")
    assert done.returncode == code, done.stderr[-500:]
    if code:
        refused(done, "there is no column 'z'")


@pytest.fixture(scope="module", params=[20_000, pytest.param(100_000, marks=pytest.mark.deep)])
def many_labels(tmp_path_factory, request):
    path = tmp_path_factory.mktemp("labels") / f"{request.param}.csv"
    rows = "".join(f"label {i},label {i if i % 3 else 0},site {i % 20_000}\n" for i in range(request.param))
    path.write_text("y,d,site\n" + rows)
    return path


@pytest.mark.parametrize("how", [["--all"], *(pytest.param(how, marks=pytest.mark.deep) for how in ([], ["--json"]))])
def test_a_hundred_thousand_labels(many_labels, how):
    done = stakes_within(1_000, "evaluate", many_labels, "--truth", "y", "--prediction", "d", *how)
    assert done.returncode == 0, done.stderr[-500:]
    assert len(done.stdout) < 20_000 or "--json" in how
    assert "0.66667" in done.stdout or "0.6667" in done.stdout or "0.66666" in done.stdout  # accuracy: two of three


@pytest.mark.deep
def test_a_hundred_thousand_labels_travel(many_labels, tmp_path):
    columns = ["--truth", "y", "--prediction", "d"]
    assert run("count", many_labels, *columns, "-o", tmp_path / "a.tally").returncode == 0
    assert stakes_within(1_000, "evaluate", tmp_path / "a.tally", "--json").returncode == 0


@pytest.mark.deep
def test_tens_of_thousands_of_segments_of_as_many_labels(many_labels):
    done = stakes_within(1_000, "evaluate", many_labels, "--truth", "y", "--prediction", "d", "--by", "site")
    refused(
        done, f"makes 20,000 segments of {int(many_labels.stem):,} classes each", "group the segments, or the classes"
    )


@pytest.mark.deep
@pytest.mark.parametrize("verb", ["compare", "decide", "permute"])
def test_a_hundred_thousand_labels_where_two_are_wanted(many_labels, verb):
    score = ["--prediction", "d", "--prediction", "site"] if verb == "compare" else ["--score", "d"]
    extra = ["--best", "f1"] if verb == "decide" else []
    done = stakes_within(1_000, verb, many_labels, "--truth", "y", *score, *extra)
    assert done.returncode in (0, 2), done.stderr[-500:]
    assert "Traceback" not in done.stderr
