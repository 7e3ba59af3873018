"""Files of more rows than are kept, from the command line: bins, and a bar on a terminal only."""

import os
import pty
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from stakes.engines.streaming import MOST_EXACT

pytestmark = pytest.mark.deep  # in small: test_progress.py, engines/test_streaming.py

STAKES = [sys.executable, "-m", "stakes"]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """More than 20 million rows, which repeat so that the file is small."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    generator = np.random.default_rng(0)
    score = generator.random(1 << 16).astype(np.float32)
    part = pl.DataFrame({"y": (generator.random(1 << 16) < score).astype(np.int8), "p": score})
    pl.concat([part] * (MOST_EXACT // (1 << 16) + 1)).write_parquet(path)
    return path


def run(large, *options, terminal):
    """Run the evaluation, with a terminal or a pipe for what is said beside the result; return both."""
    listening, speaking = pty.openpty() if terminal else os.pipe()
    arguments = ("evaluate", large, "--truth", "y", "--score", "p", *options)
    with subprocess.Popen([*STAKES, *arguments], stdout=subprocess.PIPE, stderr=speaking) as done:
        os.close(speaking)
        said = b""
        try:
            while part := os.read(listening, 1 << 16):
                said += part
        except OSError:  # how a terminal ends
            pass
        result = done.stdout.read().decode()
    os.close(listening)
    assert done.returncode == 0, said
    return result, said.decode()


def test_a_terminal_sees_a_bar_if_wanted(large):
    result, said = run(large, terminal=True)
    assert "rows/s" in said
    assert "Scores were counted in bins" in result
    assert "20,054,016 rows" in result
    assert "rows/s" not in result
    assert run(large, "--no-progress", terminal=True) == (result, "")


def test_a_pipe_sees_no_bar(large):
    assert run(large, terminal=False)[1] == ""


def test_exact_keeps_every_score(large):
    result, _ = run(large, "--exact", terminal=False)
    assert "counted in bins" not in result
    assert "log loss" in result
