"""Measure work in a process of its own, so that its time and its peak of memory are its own.

Work is named by module and function of this folder; the function prepares (makes rows, names a file) and returns
what is to be measured.
"""

import importlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import contest


@dataclass(frozen=True)
class Alone:
    """Best seconds; bytes at the peak, and how many of them on top of what was there before; what came out."""

    seconds: float
    peak: float
    extra: float
    found: object

    @property
    def gigabytes(self) -> float:
        return self.peak / 1024**3

    def __str__(self) -> str:
        return f"{self.seconds:.2f} s, {self.gigabytes:.2f} GB"


def measured(work: str, *arguments: object, runs: int = 1) -> Alone:
    """Measure work such as ``"large_files.scan"`` in a new process, the best of so many runs."""
    command = [sys.executable, __file__, work, json.dumps(arguments), str(runs), str(contest.ENOUGH)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"the process ended with {done.returncode}").splitlines()[-1])
    return Alone(*json.loads(done.stdout.splitlines()[-1]))


def too_large(need: float) -> str:
    """Why work that needs so many bytes is left out, if it is: other programs need room too."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    return f"left out: needs about {need / 1e9:.0f} GB" if need > 0.7 * free else ""


# ── inside that process ──────────────────────────────────────────────────────────────────────────────────────────
def memory(name: str) -> int:
    """Bytes of this process: now ("VmRSS") or at the peak ("VmHWM")."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def _main(work: str, arguments: str, runs: str, enough: str) -> None:
    module, function = work.split(".")
    action = getattr(importlib.import_module(module), function)(*json.loads(arguments))
    before, peak_before = memory("VmRSS"), memory("VmHWM")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    best, spent, peak, found = float("inf"), 0.0, 0, None
    for _ in range(int(runs)):
        took = time.perf_counter()
        found = action()
        took = time.perf_counter() - took
        best, spent = min(best, took), spent + took
        peak = peak or memory("VmHWM")  # of the first run: later ones may find the result of the one before
        if spent > float(enough):
            break
    print(json.dumps([best, max(peak, peak_before), max(peak - before, 0), found]))


if __name__ == "__main__":
    _main(*sys.argv[1:])
