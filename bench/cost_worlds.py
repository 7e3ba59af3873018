"""How often do the intervals of costs, savings and chosen thresholds cover the truth? Worlds with rare, dear misses.

Scores of negatives and positives are drawn from known laws; what a threshold costs in truth is read off a large sample
of them. A file has some ten or twenty positives, and a miss costs as much as 20 to 100 false alarms.

    python bench/cost_worlds.py [--runs 500]
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import stakes
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.decisions.thresholds.decision import Decision
from stakes.metrics import Estimate
from stakes.tallies import ScoreTable
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.sampling import Sampling

Scores = Callable[[np.random.Generator, np.ndarray], np.ndarray]

WORLDS: dict[str, Scores] = {
    "two bells 1.5 apart": lambda rng, y: rng.normal(size=len(y)) + 1.5 * y,
    "two bells 2.5 apart": lambda rng, y: rng.normal(size=len(y)) + 2.5 * y,
    "noise": lambda rng, y: rng.normal(size=len(y)),
    "ties": lambda rng, y: np.round(rng.normal(size=len(y)) + 1.5 * y),
    "40 % cannot be found": lambda rng, y: rng.normal(size=len(y)) + 2.5 * (y & (rng.random(len(y)) < 0.6)),
    "exponential, four times as large": lambda rng, y: rng.exponential(size=len(y)) * np.where(y, 4, 1),
}
SIZES = ((10, 200, 20), (10, 500, 50), (20, 400, 50), (20, 1000, 100))
"""Positives on average, rows, and what a miss costs in false alarms."""

SHARES = ("cost", "saving against never", "saving against always", "earns falsely", "loses falsely", "1.5·D exceeded")
_LARGE = 400_000


@dataclass(frozen=True)
class World:
    """A law of scores with so many positives among so many rows, at the cost of a miss."""

    scores: Scores
    positives: int
    rows: int
    miss: float

    def truth(self, rng: np.random.Generator) -> Callable[[float], float]:
        """What a threshold costs per case in truth."""
        y = np.arange(_LARGE) % 2 == 0
        s = self.scores(rng, y)
        positives, negatives, share = np.sort(s[y]), np.sort(s[~y]), self.positives / self.rows

        def cost(threshold: float) -> float:
            missed = np.searchsorted(positives, threshold) / len(positives)
            alarmed = 1 - np.searchsorted(negatives, threshold) / len(negatives)
            return float(self.miss * share * missed + (1 - share) * alarmed)

        return cost

    def draw(self, rng: np.random.Generator) -> ScoreTable:
        y = np.zeros(self.rows, bool)
        while not y.any():  # both classes are needed; ten positives are none in five of 100,000 files
            y = rng.random(self.rows) < self.positives / self.rows
        return ScoreTable.from_rows(self.scores(rng, y), y)


def covers(found: Estimate, true: float) -> bool:
    low, high = (found.value, found.value) if found.low is None or found.high is None else (found.low, found.high)
    return low - 1e-9 <= true <= high + 1e-9


def simulate(world: World, runs: int, seed: int = 0) -> dict[str, float]:
    """Shares of files: cost and savings covered, "earns" and "loses" said falsely, more than 1.5·D left to gain."""
    rng = np.random.default_rng(seed)
    cost = world.truth(rng)
    share = world.positives / world.rows
    best = min(map(cost, np.linspace(-6, 30, 3601).tolist()))
    always = {"always negative": world.miss * share, "always positive": 1 - share}
    pricing = Pricing(stakes.Costs(miss=world.miss, false_alarm=1))

    def judge(choice: Decision) -> tuple[float, ...]:
        true = cost(choice.threshold)
        worth = min(always.values()) - true
        saved = [covers(choice.savings_by_score[name], paid - true) for name, paid in always.items()]
        left = true - best > choice.most_worth_of_labels + 1e-9
        said = bool(choice.enough_evidence) and worth <= 0, choice.worse and worth >= 0
        return (covers(choice.corrected, true), *saved, *said, left, choice.corrected.value, true)

    samplings = [Sampling(seed=seed + k) for k in range(runs)]
    found = [judge(decide_by_cost(world.draw(rng), pricing, sampling, False)) for sampling in samplings]
    *shares, corrected, true = np.mean(found, axis=0).tolist()
    return dict(zip(SHARES, shares, strict=True)) | {"bias": corrected / true - 1}


def worlds() -> Iterator[tuple[str, World]]:
    for name, scores in WORLDS.items():
        for size in SIZES:
            yield name, World(scores, *size)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--runs", type=int, default=500)
    runs = asked.parse_args().runs
    for name, world in worlds():
        shown = ", ".join(f"{key} {value:.3f}" for key, value in simulate(world, runs).items())
        print(f"{name}, {world.positives} of {world.rows}, a miss {world.miss:g}: {shown}", flush=True)
