"""What ends work that could not be done: lack of memory, faults of our own, missing parts, Ctrl-C. Real processes."""

import functools
import importlib
import json
import math
import os
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import stakes
from stakes import errors
from stakes.cli import _from_interruption, cli
from stakes.engines.files.room import memory_left
from tests.bad_inputs import crafted
from tests.command import run
from tests.parts import since
from tests.test_faults import one_line

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")]

ROOT = Path(__file__).parents[1]
MB = 1 << 20
FIT = ["--truth", "y", "--score", "p"]


def stakes_at_work(*words, script="from stakes.cli import main; main()", room=None, **options):
    """Start a command by a script of our own, within so many bytes of address space."""
    limit = None if room is None else lambda: resource.setrlimit(resource.RLIMIT_AS, (room, room))
    code = f"import sys; sys.argv = ['stakes', *sys.argv[1:]]\n{script}"
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
        **options,
    )


def ended(process, seconds=120):
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def measured(*words, room=resource.RLIM_INFINITY, **options):
    """Run a command: its exit code, standard error, the most memory that it held, in bytes, and its processor time."""
    script = (
        "import resource, subprocess, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({room}, {room}))\n"
        "done = subprocess.run([sys.executable, '-m', 'stakes', *sys.argv[1:]], capture_output=True, text=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(done.returncode, used.ru_maxrss, used.ru_utime + used.ru_stime)\n"
        "print(done.stderr, end='')"
    )
    command = [sys.executable, "-c", script, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    first, _, said = done.stdout.partition("\n")
    code, kilobytes, seconds = first.split()
    return int(code), said, int(kilobytes) * 1024, float(seconds)


def refused_cheaply(*words, **options):
    """Run a command on a bomb: one line, within 500 MB and 5 seconds of processor time."""
    return is_cheap(*measured(*words, **options))


def is_cheap(code, err, peak, seconds):
    assert code == 2, err
    assert peak < 500 * MB
    assert seconds < 5
    return one_line(err)


ONE_AFTER_ANOTHER = """
import json, resource, sys, time
from tests.command import run
for words in json.load(sys.stdin):
    start = time.process_time()
    done = run(*words)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([done.returncode, done.stderr, peak, time.process_time() - start]), flush=True)
"""


def measured_in_one_process(commands):
    """Run commands one after another: the same of each as above, but for the memory, the most until then."""
    asked = json.dumps([[str(word) for word in words] for words in commands])
    alone = ["sh", "-c", '"$@"; exit $?', "sh"]  # a child of pytest's own would begin with the memory of pytest
    command = [*alone, sys.executable, "-c", ONE_AFTER_ANOTHER]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=600, cwd=ROOT)
    return [json.loads(line) for line in done.stdout.splitlines()]


def predictions(path, rows):
    chance = np.random.default_rng(0)
    p = chance.random(rows)
    frame = pl.DataFrame({"y": (chance.random(rows) < p).astype(int), "p": p})
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_csv)(path)
    return path


# ── exit code 3 ──────────────────────────────────────────────────────────────────────────────────────────────────
RAISING = """
from stakes.cli import main
from stakes.cli.group import cli
class PanicException(BaseException): pass
def fail(**_): raise {problem}
cli.commands[{command!r}].callback = fail
main()
"""


class PanicException(BaseException):
    """As Polars raises it."""


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (KeyError("x"), "a fault of stakes itself: KeyError: 'x'; run again with --debug to see where, and please"),
        (RecursionError("too deep"), "a fault of stakes itself: RecursionError: too deep"),
        (PanicException("index out of bounds"), "a fault of stakes itself: PanicException: index out of bounds"),
        (ValueError("first\nsecond"), "a fault of stakes itself: ValueError: first;"),
        (AssertionError, "a fault of stakes itself: AssertionError: ;"),
        (
            MemoryError("Unable to allocate 7 GiB"),
            "there is not enough memory (Unable to allocate 7 GiB); name fewer",
        ),
        (RuntimeError("Cannot allocate memory (os error 12)"), "there is not enough memory (Cannot allocate memory"),
    ],
)
def test_what_could_not_be_done_is_one_line_and_code_3(monkeypatch, problem, words):
    def fail(**_):
        raise problem

    monkeypatch.setattr(cli.commands["doctor"], "callback", fail)
    done = run("doctor")
    assert (done.returncode, done.stdout) == (3, "")
    assert one_line(done.stderr).startswith(f"stakes: {words}")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        ("PanicException('index out of bounds')", "a fault of stakes itself: PanicException: index out of bounds"),
        ("OSError(28, 'No space left on device')", "cannot write: No space left on device"),
        ("OSError(12, 'Cannot allocate memory')", "there is not enough memory"),
    ],
)
def test_what_could_not_be_done_ends_a_process_of_its_own_in_one_line_too(problem, words):
    code, out, err = ended(stakes_at_work("doctor", script=RAISING.format(problem=problem, command="doctor")))
    assert (code, out) == (3, "")
    assert one_line(err).startswith(f"stakes: {words}")


@pytest.mark.parametrize("words", [["--debug", "doctor"], ["doctor", "--debug"]])
def test_debug_shows_where_before_the_line(words):
    script = RAISING.format(problem="KeyError('x')", command="doctor")
    code, _, err = ended(stakes_at_work(*words, script=script))
    assert code == 3
    assert err.startswith("Traceback (most recent call last):")
    assert "in fail" in err
    assert err.splitlines()[-1].startswith("stakes: a fault of stakes itself: KeyError: 'x'")


def test_debug_changes_nothing_else():
    found, expected = run("metrics", "auc", "--debug"), run("metrics", "auc")
    assert (found.returncode, found.stdout, found.stderr) == (0, expected.stdout, expected.stderr)
    assert "--debug" in run("--help").stdout


def test_a_fault_in_a_gate_does_not_look_like_a_closed_one(tmp_path, monkeypatch):
    words = ["gate", predictions(tmp_path / "a.csv", 50), *FIT, "--require", "auc >= 0.99"]
    assert run(*words).returncode == 1
    monkeypatch.setattr("stakes.evaluation.gate.judge", lambda *_, **__: {}["x"])
    done = run(*words)
    assert (done.returncode, done.stdout) == (3, "")
    assert "KeyError" in one_line(done.stderr)


def test_a_missing_part_is_code_3(tmp_path, monkeypatch):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    duckdb.connect(str(tmp_path / "a.duckdb")).execute("CREATE TABLE t AS SELECT 1 AS y, 0.5 AS p").close()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    done = run("evaluate", f"{tmp_path / 'a.duckdb'}::t", *FIT)
    assert (done.returncode, done.stdout) == (3, "")
    assert one_line(done.stderr).endswith("needs the package duckdb: pip install duckdb")


def test_in_python_the_kinds_are_those_of_python():
    assert isinstance(errors.lack_of_memory(), MemoryError)
    missing = errors.MissingPartError("missing-duckdb", "x")
    assert isinstance(missing, ImportError)
    for problem in (errors.lack_of_memory(), missing):
        assert isinstance(problem, stakes.UnableError)
        assert not isinstance(problem, stakes.InputError)


def test_what_a_library_writes_by_itself_is_not_said():
    noise = "os.write(2, b'thread panicked at lib.rs'); print('from Python', file=sys.stderr); raise KeyError('x')"
    script = f"import os\nfrom stakes.cli import main\nfrom stakes.cli.group import cli\ndef fail(**_): {noise}\n"
    script += "cli.commands['doctor'].callback = fail\nmain()"
    _, _, err = ended(stakes_at_work("doctor", script=script))
    assert [line.split(":")[0] for line in err.splitlines()] == ["from Python", "stakes"]
    assert "panicked" in ended(stakes_at_work("doctor", "--debug", script=script))[2]


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def many(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    return [predictions(folder / name, 300_000) for name in ("a.csv", "a.parquet")]


@pytest.mark.parametrize(
    "megabytes", [300, *(pytest.param(m, marks=pytest.mark.deep) for m in (500, 700, 900, 1_100, 1_500))]
)
def test_a_limit_on_memory_ends_in_an_answer_or_one_line(many, megabytes):
    for path in many:
        code, out, err = ended(stakes_at_work("evaluate", path, *FIT, "--quiet", room=megabytes * MB))
        assert (code, err == "") in ((0, True), (3, False)), err
        if code:
            assert out == ""
            assert "not enough memory" in one_line(err) or "takes some" in err


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_ten_million_rows_within_a_limit(tmp_path, kind):
    path = predictions(tmp_path / f"a.{kind}", 10_000_000)
    for megabytes in (500, 700, 900, 1_000, 1_200, 1_500, 2_000, 3_000):
        for more in ([], ["--bins"]):
            code, _, err = ended(stakes_at_work("evaluate", path, *FIT, "--quiet", *more, room=megabytes * MB))
            assert (code, len(err.splitlines())) in ((0, 0), (3, 1)), err
    code, _, err = ended(stakes_at_work("evaluate", path, *FIT, "--quiet", room=4_000 * MB))
    assert (code, err) == (0, "")
    peaks = {}
    for more in ("--exact", "--bins"):
        code, _, peaks[more], _ = measured("evaluate", path, *FIT, "--quiet", more)
        assert code == 0
    assert peaks["--bins"] <= peaks["--exact"] < 1_000 * MB


@pytest.mark.deep
@pytest.mark.parametrize("kind", [0, 1], ids=["csv", "parquet"])
def test_bins_take_no_more_memory_than_exact_scores(many, kind):
    """Within a limit that is large enough, too."""
    peaks = []
    for more in ("--exact", "--bins"):
        code, err, peak, _ = measured("evaluate", many[kind], *FIT, "--quiet", more, room=1_500 * MB)
        assert (code, err) == (0, "")
        peaks.append(peak)
    exact, binned = peaks
    assert binned <= exact + 25 * MB  # the table of bins itself; from four million rows on they take less
    assert exact < 300 * MB


def test_more_than_memory_holds_is_refused_before_it_is_read(monkeypatch, tmp_path):
    monkeypatch.setattr("stakes.engines.files.room.memory_left", lambda: 1e3)
    path = predictions(tmp_path / "a.parquet", 1_000)
    with pytest.raises(
        errors.LackOfMemoryError, match=r"a\.parquet: reading it takes some 0\.0 GB of memory, and 0\.0 GB"
    ):
        stakes.evaluate(path, truth="y", score="p")


def test_memory_that_is_left_knows_the_limit():
    code = "from stakes.engines.files.room import memory_left; print(memory_left())"
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (900 * MB, 900 * MB))  # noqa: E731
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, preexec_fn=limit, timeout=60)
    assert 300 * MB < float(done.stdout) < 900 * MB
    assert 0 < memory_left() < math.inf


def test_a_process_that_a_library_ends_is_told_by_its_parent():
    script = "import os\nfrom stakes.cli import main\nfrom stakes.cli.group import cli\n"
    for how, code in (("os.abort()", 3), ("os.kill(os.getpid(), 9)", 3), ("os.kill(os.getpid(), 15)", -15)):
        dying = f"{script}def die(**_): {how}\ncli.commands['doctor'].callback = die\nmain()"
        found, _, err = ended(stakes_at_work("doctor", script=dying, room=2_048 * MB))
        assert found == code
        assert err == "" if code < 0 else one_line(err).startswith("stakes: there is not enough memory; ")


def test_a_process_that_waits_for_a_dead_thread_is_ended_by_its_parent():
    script = "import mmap, stakes.cli.guard, time\nfrom stakes.cli import main\nfrom stakes.cli.group import cli\n"
    script += "stakes.cli.guard._STUCK = 0.2\ndef wait(**_): room = mmap.mmap(-1, SIZE << 20); time.sleep(1.2)\n"
    script += "cli.commands['doctor'].callback = wait\nmain()"
    near, far = (
        stakes_at_work("doctor", script=script.replace("SIZE", size), room=2_048 * MB) for size in ("1800", "10")
    )
    near, far = ended(near), ended(far)
    assert (near[0], far[0]) == (3, 0)
    assert "not enough memory" in one_line(near[2])


def test_a_limit_changes_no_exit_code(tmp_path):
    path = predictions(tmp_path / "a.csv", 50)
    words = ["gate", path, *FIT, "--require", "auc >= 1"]
    limited = ended(stakes_at_work(*words, room=3_000 * MB, env={**os.environ, "COLUMNS": "100"}))
    free = run(*words)
    assert limited == (free.returncode, free.stdout, free.stderr)
    assert free.returncode == 1


def test_no_more_files_to_open_is_code_3(tmp_path):
    predictions(tmp_path / "rows.csv", 100)
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))"
    code, _, err = ended(
        stakes_at_work("evaluate", tmp_path / "rows.csv", *FIT, script=f"import polars\n{few}\n{READY}")
    )
    assert (code, one_line(err)) == (
        3,
        "stakes: the system opens no more files for this process; raise the limit (ulimit -n)",
    )


def test_a_working_directory_that_is_gone(tmp_path):
    since("polars", "2.0", "may panic where the working directory is gone")
    predictions(tmp_path / "rows.csv", 100)
    (tmp_path / "gone").mkdir()
    leave = f"import os; os.chdir({str(tmp_path / 'gone')!r}); os.rmdir('../gone')"
    code, out, err = ended(stakes_at_work("evaluate", "../rows.csv", *FIT, script=f"{leave}\n{READY}"))
    if code:  # not every system knows what is above it
        assert (code, one_line(err)) == (
            3,
            "stakes: the working directory is not there any more; change to one that is",
        )
    else:
        assert "Can we trust this result?" in out


def test_a_terminal_without_width(tmp_path):
    predictions(tmp_path / "rows.csv", 100)
    done = run("evaluate", tmp_path / "rows.csv", *FIT, env={"COLUMNS": "0"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "AUC" in done.stdout


# ── bombs ────────────────────────────────────────────────────────────────────────────────────────────────────────
def zipped(head, block, times):
    """What gzip makes of a head and so many equal blocks, of which it packs one: a packed block can stand repeated."""
    packer, sum_ = zlib.compressobj(9, wbits=-15), zlib.crc32(head)
    packed = [packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in (head, block)]
    for _ in range(times):
        sum_ = zlib.crc32(block, sum_)
    size = len(head) + times * len(block)
    packed = [packed[0], *[packed[1]] * times, packer.flush(zlib.Z_FINISH)]
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + b"".join(packed) + struct.pack("<2I", sum_, size)


@functools.cache
def zeros():
    return crafted.archive("{}", bytes(200 * MB))


SMALL_FILES = {
    "line.csv.gz": lambda: zipped(b"y,p\n1,0.5\n0,", b"9" * MB, 120),
    "zeros.tally": zeros,
    "lying.tally": lambda: crafted.claiming(1_000, zeros()),
    "texts.tally": lambda: crafted.archive('["a"' + ',"a"' * (4 * MB - 10) + "]"),
}


def test_a_bomb_takes_little_memory(tmp_path):
    for name, content in SMALL_FILES.items():
        (tmp_path / name).write_bytes(content())
        assert (tmp_path / name).stat().st_size < 600_000
    asked = [["evaluate", tmp_path / name, *(FIT if name.endswith(".gz") else [])] for name in SMALL_FILES]
    found = measured_in_one_process(asked)
    assert len([is_cheap(*one) for one in found]) == len(SMALL_FILES)


VIEWS = {
    "long": "SELECT 1 AS y, {} AS p",
    "many": "WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i < 999) SELECT i y, {} p FROM t",
    "endless": "WITH RECURSIVE t(y, p) AS (SELECT 1, 0.5 UNION ALL SELECT 1 - y, p FROM t) SELECT y, p FROM t",
}


def database_of(kind, view):
    """Write a database whose view, or column, works out more than a machine holds."""

    def write(path):
        text = {"sqlite3": "hex(zeroblob({}))", "duckdb": "repeat('00', {})"}[kind]
        connection = importlib.import_module(kind).connect(str(path))
        if view == "column":
            size = 200_000_000 if kind == "duckdb" else 20_000_000  # SQLite works it out when rows are changed, too
            connection.execute(f"CREATE TABLE t (y INT, p TEXT GENERATED ALWAYS AS ({text.format(f'{size} * y')}))")
            connection.execute("INSERT INTO t VALUES (0), (0)")
            connection.execute("UPDATE t SET y = 1 + rowid % 2")  # DuckDB works the text out when rows are inserted
        else:
            made = text.format(400_000 if view == "many" else 400_000_000)
            connection.execute(f"CREATE VIEW t AS {VIEWS[view].format(made)}")
        connection.commit()
        connection.close()

    return write


def holding(head, block, times, end=b""):
    def write(path):
        content = zipped(head, block, times) if path.suffix == ".gz" else head + block * times + end
        path.write_bytes(content)

    return write


def keys(path):
    rows = ({"y": i % 2, "p": 0.5, **{f"{i} {j}": 1 for j in range(100)}} for i in range(3_000))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


ROWS = b"1,0.5\n0,0.25\n" * 10_000
OPEN = "a quote that is not closed within 1,048,576 bytes"
TEXT = "has more than 134,217,728 bytes of text, or never ends; make a table of its rows"
BOMBS = {
    "quote.csv": (holding(b'y,p\n1,"0.5\n', ROWS, 100), f"line 2 opens {OPEN}"),
    "quote.csv.gz": (holding(b'y,p\n"', ROWS, 1_000), f"line 2 opens {OPEN}"),
    "stray.csv": (holding(b"y,p\n" + ROWS * 50 + b'1,0".5\n', ROWS, 50), f"line 1,000,002 opens {OPEN}"),
    "blank.csv.gz": (holding(b"y,p\n", b"\n" * MB, 300), "more than 1,048,576 bytes of it are empty lines"),
    "blank.csv": (holding(b"y,p\n", b"\n" * MB, 40, b"1,0.5\n"), "more than 1,048,576 bytes of it are empty"),
    "keys.jsonl": (keys, "the lines name more than 10,000 columns; keep those that are needed"),
    "sqlite3::long": (database_of("sqlite3", "long"), "string or blob too big"),
    "sqlite3::many": (database_of("sqlite3", "many"), TEXT),
    "sqlite3::column": (database_of("sqlite3", "column"), "string or blob too big"),
    "duckdb::long": (database_of("duckdb", "long"), TEXT),
    "duckdb::many": (database_of("duckdb", "many"), TEXT),
    "duckdb::column": (database_of("duckdb", "column"), TEXT),
    "duckdb::endless": (database_of("duckdb", "endless"), "has more than 100,000 rows, or never ends"),
}


def test_text_and_views_without_measure_take_little_memory(tmp_path):
    asked = []
    for name, (write, _) in BOMBS.items():
        path = tmp_path / name.replace("::", ".")
        write(path)
        asked.append(["evaluate", f"{path}::t" if "::" in name else path, *FIT])
    for (name, (_, words)), found in zip(BOMBS.items(), measured_in_one_process(asked), strict=True):
        assert words in is_cheap(*found), name


def test_a_pipe_without_end_is_left(monkeypatch):
    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as endless:
        code, _, err = ended(stakes_at_work("evaluate", "-", *FIT, stdin=endless.stdout))
        endless.kill()
    assert code == 2
    assert "standard input: a line has more than 16,777,216 bytes" in one_line(err)
    with subprocess.Popen(["yes", "1,0.5"], stdout=subprocess.PIPE) as endless:
        said = refused_cheaply("evaluate", "-", *FIT, stdin=endless.stdout)
        endless.kill()
    assert "standard input: more than 268,435,456 bytes come out of it, or it never ends; save th" in said
    monkeypatch.setattr(sys.modules["stakes.engines.files.sources"], "_MOST_PIPED", 32 * MB)
    said = run("evaluate", "/dev/urandom", *FIT)
    assert said.returncode == 2
    assert "/dev/urandom: more than 33,554,432 bytes come out of it" in one_line(said.stderr)


# ── Ctrl-C ───────────────────────────────────────────────────────────────────────────────────────────────────────
READY = """
from stakes import cli
first = cli._open_closed_streams
cli._open_closed_streams = lambda: (print("ready", flush=True), first())
cli.main()
"""  # ready where main listens: a moment before, the signal is Python's own to tell of


def interrupted(seconds, *words, room=None, once_it_reads=None):
    """Send Ctrl-C so long after the command line has begun: the exit code, what was said, and how long that took."""
    process = stakes_at_work(*words, script=READY, room=room)
    try:
        assert process.stdout.readline() == "ready\n"
        if once_it_reads is not None:
            wait_for(lambda: has_open(process, once_it_reads))
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        code, _, err = ended(process)
        return code, err, time.monotonic() - start
    finally:
        process.kill()  # where something went wrong it would work on for ever


def wait_for(event, seconds=60):
    end = time.monotonic() + seconds
    while not event():
        assert time.monotonic() < end
        time.sleep(0.02)


def has_open(process, path):
    """Whether a process has opened a file; where the system does not say, three seconds are enough for it."""
    folder = Path(f"/proc/{process.pid}/fd")
    if not folder.exists():
        time.sleep(3)
        return True
    with suppress(FileNotFoundError):  # a file that was closed while looking
        return any(os.path.realpath(one) == os.path.realpath(path) for one in folder.iterdir())
    return False


def test_a_panic_that_names_an_interruption_is_one():
    panic = BaseException(f"called `Result::unwrap()` on an `Err` value: PyErr {{ type: {KeyboardInterrupt} }}")
    inner = RuntimeError("within a class")
    inner.__cause__ = panic
    assert _from_interruption(inner)
    assert not _from_interruption(RuntimeError("another fault"))


@pytest.mark.parametrize("moments", [3, pytest.param(150, marks=pytest.mark.deep)])
def test_ctrl_c_at_any_moment_also_while_importing(many, moments):
    codes = []
    for number in range(moments):
        room = 4_000 * MB if number % 5 == 4 else None
        code, err, took = interrupted(0.6 * number / moments, "evaluate", many[0], *FIT, "--quiet", room=room)
        assert code in (0, 130), err
        assert took < 10  # 2 s, and what a busy machine adds
        assert code == 0 or one_line(err) == "stakes: interrupted"
        codes.append(code)
    assert codes[0] == 130


SLOW = (
    "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < 1e12) SELECT i % 2 AS y, 0.5 AS p FROM t"
)


SLOW_IN_DUCKDB = "SELECT count(*) AS y, 0.5 AS p FROM range(3000000) a(i), range(3000000) b(j) WHERE i * j % 7 = 3"


@pytest.fixture
def slow_view(tmp_path):
    with sqlite3.connect(tmp_path / "slow.db") as database:
        database.execute(f"CREATE VIEW slow AS {SLOW} WHERE i > 9e11")
    database.close()
    return f"{tmp_path / 'slow.db'}::slow"


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("duckdb", marks=pytest.mark.deep)])
def test_ctrl_c_within_a_view(tmp_path, slow_view, kind):
    if kind == "duckdb":
        slow_view = f"{tmp_path / 'slow.duckdb'}::slow"
        with importlib.import_module("duckdb").connect(str(tmp_path / "slow.duckdb")) as database:
            database.execute(f"CREATE VIEW slow AS {SLOW_IN_DUCKDB}")
    file = slow_view.removesuffix("::slow")
    code, err, took = interrupted(0.7, "evaluate", slow_view, *FIT, once_it_reads=file)
    assert (code, one_line(err)) == (130, "stakes: interrupted")
    assert took < 5


def test_ctrl_c_within_a_view_is_an_interruption_in_python_too(slow_view):
    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            stakes.evaluate(slow_view, truth="y", score="p")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_ends_a_library_that_does_not_listen():
    """Sleeping in C with the signal handled only once it is over, as a long sort does."""
    deaf = "import ctypes; ctypes.CDLL(None).sleep(30); ctypes.CDLL(None).sleep(30)"
    script = (
        f"from stakes.cli.group import cli\ndef sleep(**_): {deaf}\ncli.commands['doctor'].callback = sleep\n{READY}"
    )
    process = stakes_at_work("doctor", script=script)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    code, _, err = ended(process)
    assert (code, one_line(err)) == (130, "stakes: interrupted")
    assert time.monotonic() - start < 10


def test_ctrl_c_that_became_another_exception_is_an_interruption():
    """As Python 3.11 does with it while a class is made."""
    stopped = (
        "def stopped(**_):\n try: raise KeyboardInterrupt\n except KeyboardInterrupt as c: raise RuntimeError from c"
    )
    script = f"from stakes.cli.group import cli\n{stopped}\ncli.commands['doctor'].callback = stopped\n{READY}"
    code, _, err = ended(stakes_at_work("doctor", script=script))
    assert (code, one_line(err)) == (130, "stakes: interrupted")
