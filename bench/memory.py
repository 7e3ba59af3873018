"""Memory of an evaluation, and what it takes to start: an import of stakes against one of NumPy."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import alone
import contest
import stakes
from contest import Line, Measurement, at_most
from samples import two_classes


def pieces(n: int) -> Iterator[Measurement]:
    yield _evaluation(max(n, 10**6))
    yield _start_up()


def _evaluation(n: int) -> Measurement:
    what, wanted = f"peak of memory on top of the rows, {n:,} rows", at_most(4)

    def lines() -> list[Line]:
        extra, column = alone.measured("memory.evaluated", n).extra, 8 * n
        ours = f"{extra / 1e6:,.0f} MB: `evaluate(truth=y, score=s).to_rows()`"
        return [Line.of(what, ours, f"{column / 1e6:,.0f} MB: the float64 score column", extra / column, wanted)]

    return Measurement(what, lines, wanted)


def evaluated(n: int) -> Callable[[], object]:
    y, s, _ = two_classes(n)
    stakes.evaluate(truth=y[:2_000_000], score=s[:2_000_000]).to_rows()  # everything is loaded now
    return lambda: bool(stakes.evaluate(truth=y, score=s).to_rows())


def _start_up() -> Measurement:
    what, wanted = "start-up, CPU time of a new interpreter", at_most(1.6)
    whole, bare = "import stakes; stakes.evaluate", "import stakes"

    def lines() -> list[Line]:
        # installed packages have their bytecode; an editable checkout may not
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(Path(stakes.__file__).parent)], check=True)
        best = {whole: float("inf"), bare: float("inf"), "import numpy": float("inf")}
        until = time.monotonic() + 3 * contest.ENOUGH
        for _ in range(contest.RUNS):
            for code in best:
                best[code] = min(best[code], _cpu_seconds(code))
            if time.monotonic() > until:
                break
        shown = {code: f"{took:.3f} s: `{code}`" for code, took in best.items()}
        return [
            Line.of(f"{what}{more}", shown[code], shown["import numpy"], best[code] / best["import numpy"], wanted)
            for more, code in ((", nothing of stakes used", bare), (", all that an evaluation needs", whole))
        ]

    return Measurement(what, lines, wanted)


def _cpu_seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
