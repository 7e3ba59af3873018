"""Time every function of stakes.sklearn beside its namesake of scikit-learn, and write bench/FACE.md.

    python bench/face.py                 # 10 … 10⁷ rows, some 15 minutes
    python bench/face.py --most 1e5      # fewer rows, to the terminal
    python bench/face.py --only r2_score mean_poisson_deviance --least 1e5 --keep    # other cells stay in FACE.md

Both sides run in turn and the best times are compared, because machines are shared and noisy.
"""

import argparse
import math
import statistics
import time
import warnings
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import sklearn.metrics

import machine
import stakes.sklearn
from stakes.sklearn import HOMES

PAGE = Path(__file__).parent / "FACE.md"
SIZES = (10, 1000, 10**5, 10**6, 10**7)
LEFT_OUT = {"auc": "an area under any points", "metric_at_thresholds": "its time is that of the metric given to it"}
WANTED, WANTED_OF_MEDIANS, WANTED_MEDIAN = 0.67, 0.83, 0.4
ENOUGH = 1.0
"""After so many seconds a side is not run again."""


def columns(n: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    truth, decided = rng.integers(0, 2, n), rng.integers(0, 2, n)
    truth[:2] = 0, 1
    score = np.clip(np.where(truth, rng.beta(3, 2, n), rng.beta(2, 3, n)), 1e-9, 1 - 1e-9)
    numbers = rng.gamma(2.0, size=n), rng.gamma(2.0, size=n)
    of_scores = truth, score
    table = max(n // 10, 2), 10  # as many numbers, ten a row
    of_table = rng.integers(0, 2, table), rng.random(table)
    return {
        "decisions": (truth, decided),
        "report": (truth, decided),
        "ranking": of_scores,
        "probability": of_scores,
        "regression": numbers,
        "labels": of_table,
        "searches": of_table,
    }


def best(name: str, rows: tuple[np.ndarray, np.ndarray]) -> float:
    """Our best time over scikit-learn's."""
    options = {"fbeta_score": {"beta": 2.0}, "top_k_accuracy_score": {"k": 1}}.get(name, {})
    sides = [getattr(stakes.sklearn, name), getattr(sklearn.metrics, name)]
    times: list[list[float]] = [[], []]
    calls = 20 if len(rows[0]) <= 1000 else 1
    began = time.perf_counter()
    while len(times[0]) < 7 and (not times[0] or time.perf_counter() - began < ENOUGH):
        for side, took in zip(sides, times, strict=True):
            start = time.perf_counter()
            for _ in range(calls):
                side(*rows, **options)
            took.append(time.perf_counter() - start)
    return min(times[0]) / min(times[1])


def measure(least: float, most: float, names: Sequence[str]) -> dict[str, dict[int, float]]:
    warnings.simplefilter("ignore")
    found: dict[str, dict[int, float]] = {}
    for n in (size for size in SIZES if least <= size <= most):
        data = columns(n)
        for name in names:
            if name not in LEFT_OUT and hasattr(sklearn.metrics, name):
                found.setdefault(name, {})[n] = best(name, data[HOMES[name]])
        print(f"{n:,} rows: median {statistics.median(each[n] for each in found.values()):.2f}", flush=True)
    return found


def earlier() -> dict[str, dict[int, float]]:
    """The cells of bench/FACE.md."""
    table = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if "| " in line]
    sizes = [int(size.replace(",", "")) for size in table[0][1:]]
    rows = [row for row in table if row[0].startswith("`")]
    return {row[0].strip("`"): dict(zip(sizes, map(_cell, row[1:]), strict=True)) for row in rows}


def _cell(text: str) -> float:
    return float(text.rstrip("°").replace("–", "nan"))


def page(found: dict[str, dict[int, float]], facts: dict[str, str], old: dict[str, dict[int, float]]) -> str:
    sizes = sorted({n for each in (*found.values(), *old.values()) for n in each})
    new, names = found, sorted({*found, *old})
    found = {name: dict.fromkeys(sizes, math.nan) | old.get(name, {}) | new.get(name, {}) for name in names}
    bounds = {name: WANTED_OF_MEDIANS if name == "median_absolute_error" else WANTED for name in found}
    missed = [f"`{name}` at {n:,}" for name, each in found.items() for n in each if each[n] > bounds[name]]
    lines = [
        "# The scikit-learn face, measured",
        "",
        "Time of `stakes.sklearn` over that of scikit-learn's function of the same name, on the same arrays; intervals",
        f"are not asked for. Wanted: at most {WANTED} ({WANTED_OF_MEDIANS} for medians of errors), and a median over",
        f"the functions of at most {WANTED_MEDIAN}. Rounded up. Written by `python bench/face.py`.",
        "",
        "Each side runs up to seven times and for about a second, in turn, and the best times are compared; of 10⁷",
        "rows that is often a single run. On a busy machine a cell can be off either way. Cells with ° are those of an",
        "earlier run, cells with – were not measured: there scikit-learn loops over the rows in Python for minutes.",
        "",
        *(f"- {name}: {text}" for name, text in facts.items()),
        "",
        f"Not met: {', '.join(missed) if missed else 'none'}.",
        "",
        "| function | " + " | ".join(f"{n:,}" for n in sizes) + " |",
        "|---|" + "---|" * len(sizes),
    ]
    for name, each in found.items():
        cells = [_up(each[n]) + "°" * (n not in new.get(name, {}) and not math.isnan(each[n])) for n in sizes]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    middle = [_up(statistics.median(each[n] for each in found.values() if not math.isnan(each[n]))) for n in sizes]
    lines.append("| **median** | " + " | ".join(f"**{one}**" for one in middle) + " |")
    out = "; ".join(f"`{name}` ({why})" for name, why in LEFT_OUT.items())
    return "\n".join([*lines, "", f"Left out: {out}.", ""])


def _up(ratio: float) -> str:
    return "–" if math.isnan(ratio) else f"{math.ceil(ratio * 100) / 100:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=float, default=SIZES[0], help="the fewest rows")
    parser.add_argument("--most", type=float, default=SIZES[-1], help="the most rows")
    parser.add_argument("--only", nargs="+", default=stakes.sklearn.FUNCTIONS, help="these functions")
    parser.add_argument("--keep", action="store_true", help="write FACE.md, and keep its other cells")
    asked = parser.parse_args()
    facts = {"measured on": date.today().isoformat(), **machine.described()}  # how busy it is before this
    text = page(measure(asked.least, asked.most, asked.only), facts, earlier() if asked.keep else {})
    whole = all(getattr(asked, name) == parser.get_default(name) for name in ("least", "most", "only"))
    if whole or asked.keep:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
