"""How often do 95 % intervals cover the truth? Simulate it, and write docs/coverage.md.

Generators whose true figures are known from integrals, not from samples. *Two bells*: scores of the negatives are
standard normal, those of the positives 1.5 higher, turned into calibrated probabilities; a row is decided positive
from a probability of 0.5 (0.2 at prevalence 0.05). *Noise*: a standard normal target, predicted with normal errors of
standard deviation 0.7 (or errors with heavy tails: Student's t with 5 degrees of freedom, scaled to 0.5). *Five
classes*: 85 % right, mistakes mostly with the neighbour.

    python bench/coverage.py [--runs 2000]
"""

import argparse
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import ndtr, stdtrit

import stakes
from stakes.metrics import find
from stakes.tallies import Confusion, ErrorSums, ScoreTable
from stakes.uncertainty.intervals import intervals
from stakes.uncertainty.sampling import Sampling

TARGET = Path(__file__).parents[1] / "docs" / "coverage.md"
SIZES = (50, 200, 2000)
APART = 1.5
DECISIONS, SCORES = ("accuracy", "f1", "mcc", "kappa"), ("auc", "average_precision", "brier_score", "log_loss")
FIVE, MANY = tuple("abcde"), ("accuracy", "kappa", "mcc", "balanced_accuracy", "macro_f1")
NUMBERS = ("mean_absolute_error", "r2")


# ── two bells ────────────────────────────────────────────────────────────────────────────────────────────────────
def probability(x: np.ndarray, prevalence: float) -> np.ndarray:
    """The calibrated probability of a score."""
    return 1 / (1 + (1 - prevalence) / prevalence * np.exp(APART * APART / 2 - APART * x))


def threshold(prevalence: float) -> float:
    return 0.5 if prevalence == 0.5 else 0.2


def true_bells(prevalence: float) -> dict[str, float]:
    """The figures of infinitely many rows."""
    odds = prevalence / (1 - prevalence)
    cut = (math.log(threshold(prevalence) / (1 - threshold(prevalence)) / odds) + APART**2 / 2) / APART
    tpr, fpr = 1 - ndtr(cut - APART), 1 - ndtr(cut)
    cells = {"tp": prevalence * tpr, "fn": prevalence * (1 - tpr)}
    cells |= {"fp": (1 - prevalence) * fpr, "tn": (1 - prevalence) * (1 - fpr)}
    table = Confusion.two_class(**cells)
    x = np.linspace(-9, 11, 400_001)
    positives, negatives = (np.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi) for m in (APART, 0.0))
    p, step = probability(x, prevalence), x[1] - x[0]
    above = prevalence * (1 - ndtr(x - APART)), (1 - prevalence) * (1 - ndtr(x))
    with np.errstate(all="ignore"):
        precision = np.nan_to_num(above[0] / (above[0] + above[1]), nan=1.0)
        surprise = -prevalence * positives * np.log(p) - (1 - prevalence) * negatives * np.log1p(-p)
    squares = prevalence * positives * (1 - p) ** 2 + (1 - prevalence) * negatives * p**2
    return {name: float(find(name).of(table)) for name in DECISIONS} | {
        "auc": float(ndtr(APART / math.sqrt(2))),
        "average_precision": float((positives * precision).sum() * step),
        "brier_score": float(squares.sum() * step),
        "log_loss": float(np.nan_to_num(surprise).sum() * step),
    }


def draw_bells(n: int, prevalence: float, rng: np.random.Generator) -> list[tuple[tuple[str, ...], object]]:
    positive = rng.random(n) < prevalence
    p = probability(rng.normal(size=n) + APART * positive, prevalence)
    scores = ScoreTable.from_rows(p, positive)
    return [(DECISIONS, scores.at(threshold(prevalence))), (SCORES, scores)]


# ── five classes ─────────────────────────────────────────────────────────────────────────────────────────────────
def five_classes() -> np.ndarray:
    """How often each decision meets each truth: 85 % right, mistakes mostly with the neighbour."""
    law = np.full((5, 5), 0.01)
    for c in range(5):
        law[c, (c + 1) % 5] = 0.12
        law[c, c] = 0.85
    return law / 5


def true_five() -> dict[str, float]:
    return {name: float(find(name).of(Confusion(FIVE, FIVE, five_classes()))) for name in MANY}


def draw_five(n: int, rng: np.random.Generator) -> list[tuple[tuple[str, ...], object]]:
    counts = rng.multinomial(n, five_classes().ravel()).reshape(5, 5)
    return [(MANY, Confusion(FIVE, FIVE, counts))]


# ── noise ────────────────────────────────────────────────────────────────────────────────────────────────────────
def true_noise(heavy: bool) -> dict[str, float]:
    if not heavy:
        return {"mean_absolute_error": 0.7 * math.sqrt(2 / math.pi), "r2": 1 - 0.49}
    levels = (np.arange(4_000_000) + 0.5) / 4_000_000
    return {"mean_absolute_error": float(np.abs(0.5 * stdtrit(5, levels)).mean()), "r2": 1 - 0.25 * 5 / 3}


def draw_noise(n: int, heavy: bool, rng: np.random.Generator) -> list[tuple[tuple[str, ...], object]]:
    truth = rng.normal(size=n)
    errors = 0.5 * rng.standard_t(5, n) if heavy else 0.7 * rng.normal(size=n)
    return [(NUMBERS, ErrorSums.from_rows(truth, truth - errors, parts=("prediction", "rows")))]


# ── counting ─────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Cell:
    """One generator at one size, and what came out for each figure."""

    words: str
    n: int
    truth: dict[str, float]
    draw: Callable[[np.random.Generator], list]
    smallest_class: float

    def run(self, runs: int, seed: int = 0) -> dict[str, dict[str, float]]:
        found: dict[str, list] = {name: [] for name in self.truth}
        streams = np.random.SeedSequence([seed, self.n]).spawn(runs)
        for i, stream in enumerate(streams):
            for names, tally in self.draw(np.random.default_rng(stream)):
                wanted = [find(name) for name in names]
                values = [float(v) for v in stakes.metrics.measure(wanted, tally)]
                for name, value, one in zip(
                    names, values, intervals(wanted, values, tally, Sampling(seed=i)), strict=True
                ):
                    found[name].append((value, one.low, one.high))
        return {name: self._summed(self.truth[name], figures) for name, figures in found.items()}

    @staticmethod
    def _summed(truth: float, figures: list) -> dict[str, float]:
        made = [(value, low, high) for value, low, high in figures if low is not None]
        values, low, high = (np.array(column) for column in zip(*made, strict=True))
        return {
            "coverage": float(((low <= truth) & (truth <= high)).mean()),
            "width": float(np.mean(high - low) / (2 * 1.959964 * values.std())),
            "without": 1 - len(made) / len(figures),
        }


def cells() -> list[Cell]:
    made = []
    for prevalence in (0.5, 0.05):
        truth = true_bells(prevalence)
        for n in SIZES:
            draw = partial(draw_bells, n, prevalence)
            made.append(Cell(f"two bells, prevalence {prevalence}", n, truth, draw, n * prevalence))
    for n in SIZES:
        made.append(Cell("five classes", n, true_five(), partial(draw_five, n), n / 5))
    for heavy in (False, True):
        for n in SIZES:
            words = "noise, heavy tails" if heavy else "noise"
            made.append(Cell(words, n, true_noise(heavy), partial(draw_noise, n, heavy), n))
    return made


def rows(cell: Cell, found: dict[str, dict[str, float]]) -> list[str]:
    few = "" if cell.smallest_class >= 50 else "*"
    where = f"{cell.words} | {cell.n:,}{few}"
    return [
        f"| {name} | {where} | {one['coverage']:.1%} | {one['width']:.2f} | {one['without']:.1%} |"
        for name, one in found.items()
    ]


HEAD = """# How often intervals cover the truth

Written by `make coverage` ({runs:,} samples a line, which tells a coverage of 95 % to ± {error:.1%}). A 95 % interval
should cover the true figure in 95 % of the samples. *Width* is the mean width divided by that of an
interval which knows the true standard error (± 1.96 standard deviations of the figure over all samples): 1 is the
best that can be had. *None* is the share of samples on which there is no interval, mostly because a class is missing.
Sizes marked * have fewer than 50 rows in a class; there stakes adds a note to the result.

| figure | generator | rows | covered | width | none |
|---|---|---|---|---|---|
"""

TAIL = """
*Two bells*: scores of negatives are standard normal, those of positives 1.5 higher, as calibrated probabilities;
decided positive from 0.5 (0.2 at prevalence 0.05). *Noise*: a standard normal target, errors of standard deviation
0.7; *heavy tails*: errors from Student's t with 5 degrees of freedom, times 0.5. *Five classes*: 85 % right,
12 % taken for the next class, 1 % for each other one. True figures come from integrals.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    made = cells()
    with ProcessPoolExecutor() as pool:
        results = list(pool.map(partial(_run, runs), made))
    lines = [line for cell, found in zip(made, results, strict=True) for line in rows(cell, found)]
    error = 1.96 * math.sqrt(0.95 * 0.05 / runs)
    TARGET.write_text(HEAD.format(runs=runs, error=error) + "\n".join(sorted(lines)) + "\n" + TAIL)
    print(TARGET.read_text())


def _run(runs: int, cell: Cell) -> dict[str, dict[str, float]]:
    return cell.run(runs)


if __name__ == "__main__":
    main()
