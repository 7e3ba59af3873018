"""Pages of the report: what writing one takes once the answer is there, how large it is, and a step of its slider."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import alone
import stakes
from contest import Line, Measurement, at_most
from samples import two_classes
from systems import twelve_voters

COSTS = stakes.Costs(miss=5, false_alarm=1)
STEP = """([place]) => {
  const slider = document.getElementById("threshold-slider"), began = performance.now();
  slider.value = String(Math.round(place * Number(slider.max)));
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.getBoundingClientRect();
  return performance.now() - began;
}"""
"""One step: what the page works out and draws anew, and where the browser then puts it."""


def pieces(n: int) -> Iterator[Measurement]:
    rows = n // 10
    for kind in KINDS:
        of = "" if kind == "a system of 12 models" else f", {rows:,} rows"
        yield Measurement(f"page of {kind}{of}", partial(_written, kind, of, rows), at_most(1, "s"))
    step = f"a step of the threshold's slider, {rows:,} rows"
    yield Measurement(step, partial(_moved, step, rows), at_most(16, "ms"))


def _written(kind: str, of: str, rows: int) -> list[Line]:
    found = alone.measured("report_pages.written", kind, rows)
    size = float(str(found.found)) / 1e6
    what, ran = f"page of {kind}{of}", "`stakes.report(answer, file)`, the answer told before"
    return [
        Line.of(f"{what}: writing it", f"{found.seconds:.2f} s: {ran}", "", found.seconds, at_most(1, "s")),
        Line.of(f"{what}: its size", f"{size:.2f} MB", "", size, at_most(1, "MB")),
    ]


def _moved(what: str, rows: int) -> list[Line]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return [Line(what, "", "", "left out: playwright is not installed")]
    browser = shutil.which("chromium")
    if browser is None:
        return [Line(what, "", "", "left out: there is no Chromium here")]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page = Path(folder) / "page.html"
        stakes.report(_two_classes(rows), page)
        opened = play.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        opened.goto(page.as_uri())
        took = [opened.evaluate(STEP, [place]) for place in np.linspace(0.02, 0.98, 49).tolist()]
    ours = f"median of {len(took)} steps over the whole scale; the longest {max(took):.1f} ms"
    return [Line.of(what, ours, "", float(np.median(took)), at_most(16, "ms"))]


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def written(kind: str, rows: int) -> Callable[[], int]:
    answer, file = KINDS[kind](rows), Path(tempfile.mkdtemp()) / "page.html"
    str(answer)  # whoever writes a page has seen what it is about

    def write() -> int:
        stakes.report(answer, file)
        size = file.stat().st_size
        shutil.rmtree(file.parent)
        return size

    return write


def _two_classes(rows: int) -> object:
    y, s, _ = two_classes(rows)
    return stakes.evaluate(truth=y, score=s, by={"site": np.arange(rows) % 5}, costs=COSTS)


def _several_classes(rows: int) -> object:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, rows)
    likely = np.exp(rng.normal(size=(rows, 4)) + 1.5 * (y[:, None] == np.arange(4)))
    return stakes.evaluate(truth=y, score=likely / likely.sum(axis=1, keepdims=True))


def _numbers(rows: int) -> object:
    y = np.random.default_rng(2).normal(size=rows)
    return stakes.evaluate(truth=y, prediction=0.8 * y + np.random.default_rng(3).normal(size=rows))


def _comparison(rows: int) -> object:
    y, s, _ = two_classes(rows)
    noise = np.random.default_rng(4).random(rows)
    return stakes.compare(truth=y, scores={"one": s, "two": 0.9 * s + 0.1 * noise, "three": 0.5 * (s + noise)})


def _decision(rows: int) -> object:
    y, s, _ = two_classes(rows)
    return stakes.decide(truth=y, score=s, costs=COSTS)


KINDS: dict[str, Callable[[int], object]] = {
    "two classes": _two_classes,
    "four classes": _several_classes,
    "predicted numbers": _numbers,
    "three models compared": _comparison,
    "a decision": _decision,
    "a system of 12 models": lambda _: twelve_voters(),
}
