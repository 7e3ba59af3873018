"""Whatever takes longer than two seconds says on a terminal what is being done, and clears it before the answer."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest

from tests.parts import all_told

pytestmark = pytest.mark.slow

IN_TURN = """
import json, sys
from stakes.cli import main, progress
from stakes.engines import streaming
for words, progress.PATIENCE, streaming.MOST_EXACT in json.loads(sys.argv[1]):
    sys.argv = ["stakes", *words]
    try:
        main()
    except SystemExit:
        print("====", flush=True)
"""
BRIEF, LONG = 0.001, 60
FEW, MANY = 200, 20_000_000


def typed(*commands):
    """What a terminal sees of commands, each with the patience that people have and the rows that are kept."""
    master, slave = pty.openpty()
    command = [sys.executable, "-c", IN_TURN, json.dumps(commands)]
    done = subprocess.Popen(command, stdout=slave, stderr=slave, stdin=slave)
    os.close(slave)
    seen = all_told(master)
    done.wait(60)
    os.close(master)
    return seen.split("====")[:-1]


def test_what_takes_long_says_what_is_being_done(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p\n" + "".join(f"{i % 2},{0.3 * (i % 2) + i % 7 / 10}\n" for i in range(400)))
    asked = ["evaluate", str(file), "--truth", "y", "--score", "p"]
    quiet = [*asked, "--no-progress"]
    shown, unasked, soon, bar, no_bar = typed(
        (asked, BRIEF, MANY), (quiet, BRIEF, MANY), (asked, LONG, MANY), (asked, LONG, FEW), (quiet, LONG, FEW)
    )
    assert "reading and counting rows" in shown
    assert shown.rindex("reading and counting rows") < shown.index("400 rows")
    assert "counting rows …" not in unasked + soon
    assert "rows/s" in bar
    assert bar.rindex("rows/s") < bar.index("Scores were counted in bins")
    assert "rows/s" not in shown + unasked + soon + no_bar
    assert "Scores were counted in bins" in no_bar


def test_shuffling_says_how_far_it_is(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p\n" + "".join(f"{i % 2},{(i * 37 % 401) / 401}\n" for i in range(400)))
    asked = ["permute", str(file), "--truth", "y", "--score", "p", "--metric", "ks", "--permutations", "400"]
    english, spanish = typed((asked, BRIEF, MANY), ([*asked, "--lang", "es"], BRIEF, MANY))
    assert re.search(r"shuffling labels, \d+% done …", english)
    assert re.search(r"barajando etiquetas: \d+ % hecho …", spanish)
