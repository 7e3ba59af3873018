"""Whatever takes longer than two seconds says on a terminal what is being done, and clears it before the answer."""

import os
import pty
import subprocess
import sys

import pytest


def typed(arguments, patience):
    """What a terminal sees of a command, with less patience than people have."""
    master, slave = pty.openpty()
    code = f"import stakes.cli.progress as p; p.PATIENCE = {patience}; from stakes.cli import main; main()"
    done = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=slave, stderr=slave, stdin=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    done.wait(60)
    return seen.decode()


@pytest.mark.slow
def test_what_takes_long_says_what_is_being_done(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p\n" + "".join(f"{i % 2},{0.3 * (i % 2) + i % 7 / 10}\n" for i in range(400)))
    asked = ["evaluate", str(file), "--truth", "y", "--score", "p"]
    shown = typed(asked, 0.001)
    assert "reading and counting rows" in shown
    assert shown.rindex("reading and counting rows") < shown.index("400 rows")
    assert "counting rows …" not in typed([*asked, "--no-progress"], 0.001)
    assert "counting rows …" not in typed(asked, 60)
