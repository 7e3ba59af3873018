"""Measure tensors that are counted where they lie, against torchmetrics, and write bench/GPU.md.

    python bench/gpu.py                    # on a GPU: up to 10⁹ rows, some two minutes
    python bench/gpu.py --quick            # few rows on the CPU, to the terminal: only to see that it runs
    python bench/gpu.py --output FILE      # somewhere else
    python bench/gpu.py --only bins,10⁷    # the parts whose names hold one of these

Each part is tried by itself: one that fails says why in its line, and the page is written anew after each part. Times
are the best of several, from the call until the tally is here, with what PyTorch had queued before finished. Memory is
what the GPU lacks at the worst moment, beyond the tensors that are counted, whichever library took it.
"""

import argparse
import datetime
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of the memory for itself

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import machine
import stakes
from stakes.engines.reading import RowQuestion
from stakes.engines.tensors import counting, operations
from stakes.engines.tensors.binned import BinCounts
from stakes.tallies.order import Order

FILE = Path(__file__).parent / "GPU.md"
HEAD = "| what | stakes | wanted | met | memory | wanted | met | torchmetrics, and what else is worth knowing |"
VERSIONS = ("torch", "cupy", "cupy-cuda12x", "cupy-cuda13x", "jax", "torchmetrics", "triton", "numpy")


class Bench:
    """The lines of the page, and how they are measured on one device."""

    def __init__(self, quick: bool, output: Path | None, only: list[str]) -> None:
        self.device = "cpu" if quick or not torch.cuda.is_available() else "cuda"
        self.scale = 100_000 if self.device == "cpu" else 1
        if self.device == "cpu":
            torch.set_num_threads(1)
        self.output, self.only, self.lines = output, only, []
        self.repeats = 1 if self.device == "cpu" else 5

    # ── measuring ────────────────────────────────────────────────────────────────────────────────────────────
    def wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()

    def best(self, action: Callable[[], object], repeats: int | None = None) -> tuple[float, float, object]:
        """The shortest time in seconds, the memory in GB that it took beyond what was there, and the last result."""
        found = action()  # what is compiled or set up once is not measured
        times = []
        for _ in range(self.repeats if repeats is None or self.device == "cpu" else repeats):
            del found
            self.wait()
            start = time.perf_counter()
            found = action()
            self.wait()
            times.append(time.perf_counter() - start)
        return min(times), self.memory(action), found

    def memory(self, action: Callable[[], object]) -> float:
        if self.device == "cpu":
            return 0.0
        self.tidy()
        with _least_free() as least:
            before = torch.cuda.mem_get_info()[0]
            action()
            self.wait()
        return (before - min(least, default=before)) / 1e9

    def tidy(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            if (cupy := operations._cupy()) is not None:
                cupy.get_default_memory_pool().free_all_blocks()

    def rows(self, n: int, kind: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
        """Truths of one byte and skewed scores, made a part at a time."""
        torch.manual_seed(0)
        truth, score = (torch.empty(n, dtype=one, device=self.device) for one in (torch.uint8, kind))
        for start in range(0, n, 1 << 26):
            here = slice(start, min(start + (1 << 26), n))
            part = torch.rand(here.stop - start, device=self.device)
            truth[here] = part < 0.3
            score[here] = torch.sigmoid(torch.randn(len(part), device=self.device) + 1.5 * truth[here] - 1).to(kind)
        return truth, score

    def count(self, truth: torch.Tensor, score: torch.Tensor, exact: bool | None = None) -> object:
        """What is measured: until the tally is here."""
        if self.device == "cuda":
            return stakes.count(truth=truth, score=score, exact=exact)
        return counting.count_columns({"truth": truth, "score": score}, RowQuestion(truth=truth, score=score), exact)

    # ── the page ─────────────────────────────────────────────────────────────────────────────────────────────
    def line(
        self, what: str, seconds: float, wanted: float | None, memory: float = 0.0, most: float | None = None,
        beside: str = "",
    ) -> None:  # fmt: skip
        """One line; wanted times are in milliseconds, memory is in GB."""
        took = seconds * 1e3
        cells = [what, f"{took:,.3g} ms" if took >= 1 else f"{took * 1e3:,.3g} µs", *_judged(took, wanted, "ms")]
        cells += [f"{memory:.2f} GB", *_judged(memory, most, "GB"), beside]
        self.say(f"| {' | '.join(cells)} |")

    def say(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)
        if self.output is not None:
            self.output.write_text("\n".join([*self.heading(), HEAD, "|---" * 8 + "|", *self.lines]) + "\n")

    def heading(self) -> list[str]:
        card = torch.cuda.get_device_name() if self.device == "cuda" else "no GPU: few rows on the CPU"
        versions = ", ".join(f"{name} {machine.version(name)}" for name in VERSIONS)
        return [
            "# Tensors on a GPU", "",
            f"{card}, {datetime.date.today():%Y-%m-%d}, Python {platform.python_version()}, {versions}.", "",
            "Written by `python bench/gpu.py`, which anybody with a card can run. Times are from the call until the "
            "tally is here, the best of several; memory is beyond the tensors that are counted. Scores are float32, "
            "truths have one byte.", "",
        ]  # fmt: skip

    def run(self) -> None:
        for part in PARTS:
            if self.only and not any(one in part.__doc__ for one in self.only):
                continue
            try:
                self.tidy()
                part(self)
            except Exception as problem:  # the other parts are worth having
                told = " ".join(f"{type(problem).__name__}: {problem}".split())[:300].replace("|", "/")
                self.say(f"| {part.__doc__} | failed | | | | | | {told} |")


def _judged(value: float, wanted: float | None, unit: str) -> list[str]:
    return ["", ""] if wanted is None else [f"≤ {wanted:g} {unit}", "yes" if value <= wanted else "**no**"]


@contextmanager
def _least_free() -> Iterator[list[int]]:
    """Look again and again how much memory the GPU has left."""
    seen: list[int] = []
    done = threading.Event()

    def look() -> None:
        torch.cuda.init()
        while not done.is_set():
            seen.append(torch.cuda.mem_get_info()[0])
            time.sleep(0.0005)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        done.set()
        looking.join()


@contextmanager
def without_cupy() -> Iterator[None]:
    """PyTorch by itself."""
    there = operations._cupy
    operations._cupy = lambda: None
    try:
        yield
    finally:
        operations._cupy = there


# ── the parts ────────────────────────────────────────────────────────────────────────────────────────────────────
def same_as_in_memory(bench: Bench) -> None:
    """the same figures as rows in memory, 10⁷ rows"""
    truth, score = bench.rows(10**7 // bench.scale)
    here = stakes.evaluate(truth=truth.cpu().numpy(), score=score.cpu().numpy())
    told = []
    for exact in (None, False):
        there = stakes.Evaluation(bench.count(truth, score, exact))
        names = ("auc", "ks", "accuracy", "f1", "average_precision", "brier_score", "log_loss")
        apart = {name: abs(there[name].value / here[name].value - 1) for name in names}
        told.append(f"exact={exact}: " + ", ".join(f"{name} {gap:.1e}" for name, gap in apart.items()))
    plain = BinCounts(operations.operations_on(score), score)
    with without_cupy():
        plain.add(score, truth, 1)
    kernel = BinCounts(operations.operations_on(score), score)
    kernel.add(score, truth, 1)
    same = bool((plain.counts == kernel.counts).all()), float((plain.sums / kernel.sums - 1).abs().max())
    told.append(f"CuPy works beside PyTorch: {_cupy_works(truth, score)}")
    told.append(f"bins by the kernel and by plain operations the same: {same[0]}, losses apart by {same[1]:.1e}")
    bench.say(f"| {same_as_in_memory.__doc__} | | | | | | | relative differences: {'; '.join(told)} |")


def kernels_and_plain(bench: Bench) -> None:
    """kernels and plain operations, random tables"""
    seeds, apart = range(200 if bench.device == "cuda" else 2), []
    for seed in seeds:
        columns, exact = _random_table(seed, bench.device), (None, False)[seed % 2]
        asked = RowQuestion(**columns, task="classification")
        fast = counting.count_columns(columns, asked, exact)
        with without_cupy():
            slow = counting.count_columns(columns, asked, exact)
        if not _alike(fast, slow):
            apart.append(seed)
    kinds = "ties, 0, 1, −0.0 and the smallest floats among them"
    told = f"{len(seeds)} tables of every kind of label and score, {kinds}: {len(apart)} differ {apart[:9] or ''}"
    bench.say(f"| {kernels_and_plain.__doc__} | | | | | | | {told} |")


def _random_table(seed: int, device: str) -> dict[str, torch.Tensor]:
    """Scores or decisions of some rows: many or few, of every kind, also with ties and at the ends of floats."""
    made = torch.Generator().manual_seed(seed)
    rows = (3, 1_000, 100_003, 3_000_001)[seed % 4 if device == "cuda" else 1]
    labels = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)[seed % 6]
    if seed % 5 == 4 and labels not in (torch.bool, torch.uint8, torch.int8):
        truth, said = (torch.randint(-5, 700, (rows,), generator=made).to(labels) for _ in range(2))
        return {"truth": truth.to(device), "prediction": said.to(device)}
    score = torch.rand(rows, generator=made, dtype=torch.float64) ** (1 + 40 * (seed % 3 == 2))
    score = score.to((torch.float32, torch.float64)[seed // 2 % 2])
    if seed % 7 == 3:
        score = (score * 20).round() / 20
    ends = torch.tensor([0.0, -0.0, 1.0, 1e-45, 5e-324, 1e-40, 1 - 2**-24, 0.5], dtype=score.dtype)
    score[: min(rows, 8)] = ends[: min(rows, 8)]
    truth = (torch.rand(rows, generator=made) < 0.4).to(labels)
    truth[:2] = torch.tensor([0, 1]).to(labels)
    return {"truth": truth.to(device), "score": score.to(device)}


def _alike(one: object, other: object) -> bool:
    """Whether tallies have the same counts, and sums that agree to the twelfth digit."""
    if one.scores is None or other.scores is None:
        return one.tallies == other.tallies
    mine, theirs = one.scores, other.scores
    if replace(mine, losses=None) != replace(theirs, losses=None):
        return False
    orders = [table.order or Order(0, 0.0, 0) for table in (mine, theirs)]
    sums = [
        np.append(0.0 if table.losses is None else table.losses, order.precision)
        for table, order in zip((mine, theirs), orders, strict=True)
    ]
    whole = [(order.twice_wins, order.widest_gap) for order in orders]
    return whole[0] == whole[1] and np.allclose(*sums, rtol=1e-12, atol=0)


def _cupy_works(truth: torch.Tensor, score: torch.Tensor) -> str:
    """Whether CuPy sorts and counts, which stakes does without where it fails."""
    cupy = operations._cupy()
    if cupy is None or not score.is_cuda:
        return "not there"
    try:
        with cupy.cuda.Device(score.device.index), cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            cupy.from_dlpack(torch.arange(9, 0, -1, device=score.device, dtype=torch.int32)).sort()
            taken, labels = cupy.from_dlpack(score[:1000]), cupy.from_dlpack(truth[:1000])
            keys, found = cupy.empty(1000, "int32"), cupy.zeros(1, "int64")
            given = {"scores": taken, "truth": labels, "positive": 1, "keys": keys, "into": found}
            assert operations.CupyOperations(cupy).by_kernel("pack_keys", 1000, **given)
            return "yes" if int(found[0]) == int((labels == 1).sum()) else "no: the kernel counts wrongly"
    except Exception as problem:  # which is what is asked here
        return " ".join(f"no: {type(problem).__name__}: {problem}".split())[:300].replace("|", "/")


def very_many(bench: Bench) -> None:
    """10⁹ scores: exact, in bins, torchmetrics"""
    n = 10**9 // bench.scale
    truth, score = bench.rows(n)
    seconds, memory, counted = bench.best(lambda: bench.count(truth, score), 3)
    start = time.perf_counter()
    rows = len(stakes.Evaluation(counted).to_rows())
    figures = f"all {rows} figures with their intervals then take {time.perf_counter() - start:.2g} s here"
    auc = stakes.metrics.auc(counted.scores)
    bench.line(f"{n:,} scores, exact, with CuPy if it is there", seconds, 80, memory, 20, figures)
    with without_cupy():
        seconds, memory, _ = bench.best(lambda: bench.count(truth, score), 3)
    bench.line(f"{n:,} scores, exact, PyTorch alone", seconds, 110, memory)
    bench.tidy()
    seconds, memory, in_bins = bench.best(lambda: bench.count(truth, score, False), 3)
    least, most = stakes.metrics.auc_bounds(in_bins.scores)
    bench.line(f"{n:,} scores in bins", seconds, 30, memory, 1, f"auc between {least:.9f} and {most:.9f}")
    with without_cupy():
        seconds, memory, _ = bench.best(lambda: bench.count(truth, score, False), 2)
    bench.line(f"{n:,} scores in bins, PyTorch alone", seconds, None, memory)
    bench.tidy()
    try:
        from torchmetrics.functional.classification import binary_auroc, binary_average_precision
    except ImportError:
        bench.say(f"| {n:,} scores, torchmetrics | not installed | | | | | | |")
        return
    for name, figure in (("auroc", binary_auroc), ("average precision", binary_average_precision)):
        labels = truth.int()
        seconds, memory, value = bench.best(lambda: figure(score, labels), 2)  # noqa: B023
        beside = f"{float(value):.9f}; stakes' auc {auc:.9f}" if name == "auroc" else f"{float(value):.9f}"
        bench.line(f"{n:,} scores, torchmetrics' {name} alone", seconds, None, memory, None, beside)


def ordinary(bench: Bench) -> None:
    """10⁷ and 10⁶ scores, exact"""
    for n, wanted in ((10**7, 3.0), (10**6, 1.5)):
        truth, score = bench.rows(n // bench.scale)
        for name, how in (("with CuPy if it is there", None), ("PyTorch alone", without_cupy())):
            if how is None:
                seconds, memory, _ = bench.best(lambda: bench.count(truth, score), 20)  # noqa: B023
            else:
                with how:
                    seconds, memory, _ = bench.best(lambda: bench.count(truth, score), 20)  # noqa: B023
            bench.line(f"{len(score):,} scores, exact, {name}", seconds, wanted, memory)


def kinds_of_scores(bench: Bench) -> None:
    """10⁷ scores of other kinds, exact"""
    for kind in (torch.bfloat16, torch.float16, torch.float64):
        truth, score = bench.rows(10**7 // bench.scale, kind)
        seconds, memory, _ = bench.best(lambda: bench.count(truth, score))  # noqa: B023
        bench.line(f"{len(score):,} scores of {str(kind).removeprefix('torch.')}, exact", seconds, None, memory)


def many_decisions(bench: Bench) -> None:
    """10⁸ decisions between 1,000 classes"""
    n, k = 10**8 // bench.scale, 1000 if bench.device == "cuda" else 10
    truth, said = (torch.randint(0, k, (n,), device=bench.device, dtype=torch.int32) for _ in range(2))

    def count() -> object:
        if bench.device == "cuda":
            return stakes.count(truth=truth, prediction=said, task="classification")
        asked = RowQuestion(truth=truth, prediction=said, task="classification")
        return counting.count_columns({"truth": truth, "prediction": said}, asked)

    seconds, memory, counted = bench.best(count)
    assert counted.confusion.total == n
    bench.line(f"{n:,} decisions between {k:,} classes", seconds, 5, memory)


def loop(bench: Bench) -> None:
    """Counter.update with batches of 10⁵"""
    truth, score = bench.rows(10**5)
    counter, times, many = stakes.Counter(), [], 100 if bench.device == "cuda" else 2
    for _ in range(20 if bench.device == "cuda" else 1):
        counter.update(truth, score)
    bench.wait()
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(many):
            counter.update(truth, score)
        times.append((time.perf_counter() - start) / many)
        bench.wait()
    start = time.perf_counter()
    ev = counter.compute()
    until = time.perf_counter() - start
    bench.line("`Counter.update` of 100,000 rows", min(times), 0.1, 0.0, None,
               f"nobody waits; compute() of {ev.rows:,} rows then {until * 1e3:.3g} ms")  # fmt: skip


def other_libraries(bench: Bench) -> None:
    """10⁷ scores of CuPy and of JAX, without a copy"""
    truth, score = bench.rows(10**7 // bench.scale)
    wanted = stakes.metrics.auc(bench.count(truth, score).scores)
    for name in ("cupy", "jax"):
        try:
            taken = _handed_to(name, truth, score)
            seconds, memory, counted = bench.best(lambda: stakes.count(truth=taken[0], score=taken[1]))  # noqa: B023
            same = stakes.metrics.auc(counted.scores) == wanted
            bench.line(f"{len(score):,} scores of {name}", seconds, None, memory, None, f"the same auc: {same}")
        except Exception as problem:  # one of them may not be there
            told = " ".join(str(problem).split())[:200].replace("|", "/")
            bench.say(f"| scores of {name} | not measured | | | | | | {type(problem).__name__}: {told} |")


def _handed_to(name: str, truth: torch.Tensor, score: torch.Tensor) -> list[object]:
    if name == "cupy":
        import cupy

        return [cupy.from_dlpack(one) for one in (truth, score)]
    import jax

    return [jax.dlpack.from_dlpack(one) for one in (truth, score)]


PARTS = (
    same_as_in_memory,
    kernels_and_plain,
    ordinary,
    very_many,
    many_decisions,
    loop,
    kinds_of_scores,
    other_libraries,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rows on the CPU")
    parser.add_argument("--output", type=Path, help="where to write the page (default: bench/GPU.md)")
    parser.add_argument("--only", default="", help="parts whose names hold one of these, with commas between")
    asked = parser.parse_args()
    bench = Bench(asked.quick, asked.output or (None if asked.quick else FILE), [o for o in asked.only.split(",") if o])
    print("\n".join([*bench.heading(), HEAD, "|---" * 8 + "|"]))
    bench.run()


if __name__ == "__main__":
    main()
