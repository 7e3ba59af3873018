"""Full and read-only disks, Ctrl-C, kills, two writers at once, broken pipes: an output is whole or not there."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from tests.command import run, run_alone
from tests.parts import bound_by_permissions, lacking

STAKES = [sys.executable, "-m", "stakes"]
FIT = ["--truth", "y", "--score", "p"]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")]


def file_of(path, rows, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.01, 0.99, rows)
    frame = pl.DataFrame({"y": (rng.random(rows) < p).astype(int), "p": p, "case": np.arange(rows)})
    (frame.write_parquet if path.suffix == ".parquet" else frame.write_csv)(path)
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Predictions, few and many, and a calibrator to apply to them."""
    folder = tmp_path_factory.mktemp("faults")
    small, large = file_of(folder / "small.csv", 2_000), file_of(folder / "large.csv", 200_000)
    done = run("calibrate", small, *FIT, "--method", "sigmoid", "-o", folder / "calibrator.json")
    assert done.returncode == 0, done.stderr
    return {"small": small, "large": large, "calibrator": folder / "calibrator.json"}


def applying(files, size, out):
    return ["calibrate", files[size], "--score", "p", "--apply", files["calibrator"], "-o", out]


def one_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    assert "Traceback" not in text
    return lines[0]


# ── nowhere to write to ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", ["out.csv", pytest.param("out.parquet", marks=pytest.mark.deep)])
def test_no_room_keeps_the_earlier_output(files, tmp_path, name):
    """A limit on the size of files stands for a full disk where nothing can be mounted."""
    out = tmp_path / name
    out.write_text("earlier")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, 8_192))  # noqa: E731
    done = run_alone(*applying(files, "small", out), preexec_fn=limit)
    assert done.returncode == 3
    assert f"cannot write {out}: " in one_line(done.stderr)
    assert "File too large" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert out.read_text() == "earlier"


def in_own_mount(options, folder, *command):
    """Run a command with a small disk mounted on a folder that nobody else sees, then show what is on it."""
    script = f'mount -t tmpfs -o {options} tmpfs "$0" || exit 99; "$@"; code=$?; ls -A "$0" >&2; exit $code'
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script, folder, *STAKES, *command], capture_output=True, text=True, timeout=120
    )


def can_mount(folder):
    try:
        tried = subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, timeout=60
        )
    except FileNotFoundError:
        return False
    return tried.returncode == 0


@pytest.mark.parametrize(
    ("options", "name", "words"),
    [
        pytest.param("size=8k", "out.csv", "No space left on device", marks=pytest.mark.deep),
        ("size=8k", "out.parquet", "No space left on device"),
        pytest.param("size=8k,ro", "out.csv", "Read-only file system", marks=pytest.mark.deep),
    ],
)
def test_a_full_or_read_only_disk_is_one_line(files, tmp_path, options, name, words):
    if not can_mount(tmp_path):
        lacking("mounting needs root")
    done = in_own_mount(options, tmp_path, *applying(files, "small", tmp_path / name))
    assert done.returncode == 3
    line = one_line(done.stderr)  # nothing is listed: no part of a file stays behind
    assert line == f"stakes: cannot write {tmp_path / name}: {words}"


def test_a_folder_without_permission(files, tmp_path):
    command = [*bound_by_permissions(), *STAKES, *applying(files, "small", tmp_path / "out.csv")]
    tmp_path.chmod(0o500)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    tmp_path.chmod(0o700)
    assert (done.returncode, "Permission denied" in one_line(done.stderr)) == (3, True)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="a folder that nobody can write to is known on Linux")
@pytest.mark.parametrize("option", [["--report", "/proc/x.html"], ["-o", "/proc/x.json"]])
def test_a_folder_that_cannot_be_written_to_is_noticed_before_the_work(files, option):
    """The column that does not exist would be noticed when the file is opened."""
    done = run_alone("evaluate", files["small"], "--truth", "nowhere", "--score", "p", *option)
    assert done.returncode == 3
    assert one_line(done.stderr) == f"stakes: cannot write {option[1]}: No such file or directory"


def test_a_calibrator_is_whole_or_not_there_too(files, tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))  # noqa: E731
    saved = tmp_path / "c.json"
    done = run_alone("calibrate", files["small"], *FIT, "-o", saved, preexec_fn=limit, stdin=subprocess.DEVNULL)
    assert done.returncode == 3
    assert "File too large" in one_line(done.stderr)
    assert list(tmp_path.iterdir()) == []


# ── standard output ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("how", [[], pytest.param(["--json"], marks=pytest.mark.deep)])
def test_a_full_standard_output_is_one_line(files, how):
    with open("/dev/full", "w") as full:
        command = [*STAKES, "evaluate", files["small"], *FIT, *how]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 3
    assert one_line(done.stderr) == "stakes: cannot write: No space left on device"


@pytest.mark.parametrize("how", [["--json"], pytest.param([], marks=pytest.mark.deep)])
def test_a_reader_that_leaves_is_no_fault(files, how):
    """`stakes … | head -c 10`: the reader has enough, which is nothing to complain about."""
    done = subprocess.Popen(
        [*STAKES, "evaluate", files["small"], *FIT, *how], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    done.stdout.close()  # before anything is written, so that every write fails
    assert (done.stderr.read(), done.wait(120)) == (b"", 0)
    done.stderr.close()


def test_a_device_is_written_to_and_not_replaced(files):
    before = os.stat("/dev/null")
    done = run("calibrate", files["small"], *FIT, "-o", "/dev/null")
    assert done.returncode == 0, done.stderr
    assert os.stat("/dev/null").st_rdev == before.st_rdev


def test_a_link_stays_a_link(files, tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("earlier")
    link.symlink_to(real)
    assert run(*applying(files, "small", link)).returncode == 0
    assert link.is_symlink()
    assert len(pl.read_csv(real)) == 2_000


# ── signals ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("number", [0, *(pytest.param(n, marks=pytest.mark.deep) for n in (1, 2, 3, 4))])
def test_ctrl_c_at_any_moment(files, tmp_path, number):
    """The rows come through a pipe; once they are asked for, the command is at work."""
    out = tmp_path / "calibrator.json"
    out.write_text("earlier")
    command = [*STAKES, "calibrate", "-", *FIT, "-o", out]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as done:
        done.stdin.write(files["large"].read_bytes()[:-1])  # more than a pipe holds
        done.stdin.flush()
        if number:  # otherwise while it is still reading
            done.stdin.close()
            time.sleep(random.Random(number).uniform(0, 1.5))
        done.send_signal(signal.SIGINT)
        if not number:
            done.stdin.close()
        words = done.stderr.read().decode()
        code = done.wait(120)
    assert code in ((130,) if number == 0 else (0, 130)), words
    assert [p.name for p in tmp_path.iterdir()] == ["calibrator.json"]
    if code:
        assert one_line(words) == "stakes: interrupted"
        assert out.read_text() == "earlier" or json.loads(out.read_text())["rows"] == 200_000  # it came too late


@pytest.mark.parametrize("kills", [3, pytest.param(40, marks=pytest.mark.deep)])
def test_kills_at_random_moments_leave_the_earlier_output_whole(files, tmp_path, kills):
    out, chance = tmp_path / "out.csv", random.Random(1)
    assert run(*applying(files, "small", out)).returncode == 0
    whole = {out.read_bytes()}
    other = tmp_path / "other.csv"
    assert run(*applying(files, "large", other)).returncode == 0
    whole.add(other.read_bytes())
    other.unlink()
    killed = 0
    for number in range(kills):
        running = subprocess.Popen([*STAKES, *map(str, applying(files, "large", out))], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + (60 if number % 2 else chance.uniform(0, 2))
        while running.poll() is None and time.monotonic() < deadline and len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.001)  # every other one is killed as soon as it writes
        time.sleep(chance.uniform(0, 0.03))
        running.kill()
        killed += running.wait() == -signal.SIGKILL
        assert out.read_bytes() in whole
        for litter in set(tmp_path.iterdir()) - {out}:
            assert litter.name.startswith(".out.csv.")
    assert killed >= kills // 4
    assert run(*applying(files, "large", out)).returncode == 0
    assert list(tmp_path.iterdir()) == [out]


REPORTING = """
import os, signal, sys
import stakes
from stakes.findings.pages import payload_of
out, kills = sys.argv[1], int(sys.argv[2])
evaluations = [stakes.evaluate(truth=[0, 1] * n, score=[0.25, 0.75] * n) for n in (40, 41)]
payloads = [payload_of(one) for one in evaluations]
from stakes.views import report
for payload in payloads:
    report.html(payload)  # what is read once has been read
print("ready", flush=True)
for line in sys.stdin:
    number = int(line)
    child = os.fork()
    if not child:
        os.write(1, b"go\\n")
        while True:  # write after write, so that a kill at any moment meets one
            report.write(payloads[number % 2], out)
            number += 1
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""


@pytest.mark.parametrize("kills", [3, pytest.param(1_000, marks=pytest.mark.deep)])
def test_kills_at_random_moments_of_a_report(tmp_path, kills):
    """A process that writes two reports in turn is killed; forked anew each time, since starting Python takes long."""
    import stakes
    from stakes.findings.pages import payload_of
    from stakes.views import report

    out, chance, litter = tmp_path / "report.html", random.Random(kills), 0
    whole = set()
    for rows in (40, 41):
        report.write(payload_of(stakes.evaluate(truth=[0, 1] * rows, score=[0.25, 0.75] * rows)), out)
        whole.add(out.read_bytes())
    command = [sys.executable, "-c", REPORTING, out, str(kills)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        children = f"/proc/{writer.pid}/task/{writer.pid}/children"
        for number in range(kills):
            print(number, file=writer.stdin, flush=True)
            assert writer.stdout.readline() == "go\n"
            time.sleep(chance.uniform(0, 0.02))
            with open(children) as file:
                os.kill(int(file.read().split()[0]), signal.SIGKILL)
            assert writer.stdout.readline() == "dead\n"
            assert out.read_bytes() in whole  # never a half one
            left = [path for path in tmp_path.iterdir() if path != out]
            assert len(left) <= 1  # what the one before left is cleared by the next
            litter += len(left)
        writer.stdin.close()
    assert litter >= kills // 100  # some of many kills did meet a write
    stakes.evaluate(truth=[0, 1], score=[0.25, 0.75]).report(out)
    assert list(tmp_path.iterdir()) == [out]


HALF = """
import os, signal, sys
from pathlib import Path
from stakes.engines.files.writing import written_beside
with written_beside(Path(sys.argv[1]), "text") as place:
    place.write_text("half")
    print(place, flush=True)
    os.kill(os.getpid(), signal.SIGKILL) if sys.argv[2] == "die" else sys.stdin.read()
"""


def test_litter_of_the_dead_is_cleared_and_that_of_the_living_is_not(tmp_path):
    from stakes.engines.files.writing import written_beside

    out, others = tmp_path / "out.txt", [".out.txt.elsewhere-1.part", ".out.txt.notes", ".other.txt.x-1.part"]
    out.write_text("earlier")
    for name in others:
        (tmp_path / name).touch()
    died = subprocess.run([sys.executable, "-c", HALF, out, "die"], capture_output=True, text=True, timeout=60)
    assert died.returncode == -signal.SIGKILL
    assert os.path.exists(died.stdout.strip())
    assert out.read_text() == "earlier"
    living = subprocess.Popen(
        [sys.executable, "-c", HALF, out, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    place = living.stdout.readline().strip()
    assert not os.path.exists(died.stdout.strip())  # the next one that writes this target cleans up
    with written_beside(out, "text") as beside:
        beside.write_text("mine")
    assert os.path.exists(place)  # still being written
    assert out.read_text() == "mine"
    living.communicate("", timeout=60)
    assert out.read_text() == "half"  # the last one that is done stays
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*others, "out.txt"])


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.deep)])
def test_two_writers_of_one_target_leave_one_of_both_outputs(files, tmp_path, times):
    out, expected = tmp_path / "out.csv", set()
    for size in ("small", "large"):
        assert run(*applying(files, size, tmp_path / f"{size}.csv")).returncode == 0
        expected.add((tmp_path / f"{size}.csv").read_bytes())
        (tmp_path / f"{size}.csv").unlink()
    for _ in range(times):
        both = [
            subprocess.Popen([*STAKES, *map(str, applying(files, size, out))], stdout=subprocess.DEVNULL)
            for size in ("large", "small")
        ]
        assert [one.wait(120) for one in both] == [0, 0]
        assert out.read_bytes() in expected
        assert list(tmp_path.iterdir()) == [out]


def test_what_is_being_written_when_ctrl_c_ends_the_process_is_removed(tmp_path):
    """The process ends by os._exit(), past all finally clauses, if a library does not come back in time."""
    work = (
        "from pathlib import Path\n"
        "from stakes import cli\n"
        "from stakes.engines.files.writing import written_beside\n"
        f"with written_beside(Path({str(tmp_path / 'a.csv')!r}), 'table') as place:\n"
        "    place.write_text('half of it')\n"
        "    cli._interrupted()\n"
    )
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "stakes: interrupted\n")
    assert list(tmp_path.iterdir()) == []
