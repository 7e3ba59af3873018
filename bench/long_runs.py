"""Promises about many looks: all ranks at once, and alarms over a year; the last sections of docs/coverage.md.

python bench/long_runs.py [--runs 300]      to the terminal, some minutes
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from stakes import metrics
from stakes.evaluation.watch import bets_by_day
from stakes.evaluation.watch.monitors import Area, Mean, Monitor, Rate, TableFigure
from stakes.tallies import Confusion
from stakes.tallies.graded_items import GradedItems
from stakes.uncertainty import sequences
from stakes.uncertainty.interval import wilson
from stakes.uncertainty.ranks import PairTests, rank_limits

YEAR, FLOOR, CHANGE = 365, 0.9, 100

# ── ranks ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Board(NamedTuple):
    """A leaderboard of models on items (in clusters, if there are any), all equally good or one after the other."""

    words: str
    models: int
    items: int
    clusters: int = 0
    rate: float = 0.6
    step: float = 0.0

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray | None]:
        """Scores of 0 and 1, and the cluster of each item."""
        hard = rng.normal(size=self.items)
        cluster = None
        if self.clusters:
            sizes = rng.multinomial(self.items, rng.dirichlet(np.full(self.clusters, 3.0)))
            cluster = np.repeat(np.arange(self.clusters), sizes)
            hard = hard + rng.normal(size=self.clusters)[cluster]
            own = rng.normal(size=(self.clusters, self.models))[cluster]
        else:
            own = np.zeros((self.items, self.models))
        ability = self.step * np.arange(self.models)[::-1]
        logit = math.log(self.rate / (1 - self.rate)) * 1.6 + hard[:, None] + 0.7 * own + ability
        return (rng.random((self.items, self.models)) < expit(logit)).astype(float), cluster


BOARDS = (
    Board("5 equal models", 5, 100),
    Board("20 equal models", 20, 400),
    Board("20 equal models, nearly all right", 20, 400, rate=0.97),
    Board("20 equal models, 20 unequal clusters", 20, 400, clusters=20),
    Board("100 equal models", 100, 1000),
    Board("10 models, each a little better than the next", 10, 1000, step=0.15),
)


def run_board(board: Board, runs: int) -> list[str]:
    """How often the intervals of all ranks cover at once: ours, those of single pairs, and the bootstrap's."""
    rng, kept, widths = np.random.default_rng(board.models + board.clusters), np.zeros(3), np.zeros(3)
    true_low, true_high = (1, board.models) if not board.step else (None, None)
    for _ in range(runs):
        scores, cluster = board.draw(rng)
        names = [str(name) for name in range(board.models)]
        tally = GradedItems.from_items(names, scores, cluster, [str(one) for one in range(board.clusters)])
        tests = PairTests.of(tally)
        alone = (tests.p_values <= 0.05) & (tests.gaps > 0)
        every = [rank_limits(tests.surely_better(0.95)), rank_limits(alone), _bootstrap_ranks(scores, rng)]
        for place, (low, high) in enumerate(every):
            if board.step:
                ranks = np.arange(1, board.models + 1)
                kept[place] += bool(((low <= ranks) & (ranks <= high)).all())
            else:  # all models share every rank, so that all ranks must be possible
                kept[place] += bool((low <= true_low).all() and (high >= true_high).all())
            widths[place] += float((high - low + 1).mean())
    shown = [f"{100 * one / runs:.1f}" for one in kept]
    marked = [shown[0], *(f"**{one}**" if float(one) < 93 else one for one in shown[1:])]
    wide = [f"{one / runs:.1f}" for one in widths]
    return [board.words, f"{board.items:,}", *marked, *wide]


def _bootstrap_ranks(scores: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The 2.5th and 97.5th percentile of each model's rank over resampled items."""
    counts = rng.multinomial(len(scores), np.full(len(scores), 1 / len(scores)), size=200)
    means = counts @ scores
    ranks = 1 + (means[:, None, :] > means[:, :, None]).sum(axis=2) if scores.shape[1] <= 30 else _ranks_of(means)
    low, high = np.quantile(ranks, (0.025, 0.975), axis=0)
    return np.floor(low), np.ceil(high)


def _ranks_of(means: np.ndarray) -> np.ndarray:
    return 1 + np.argsort(np.argsort(-means, axis=1), axis=1)


# ── watching ─────────────────────────────────────────────────────────────────────────────────────────────────────
Days = Callable[[np.random.Generator, int, int | None], np.ndarray]
"""Draws the numbers of so many days, the last of them after a change at a day, if there is one."""


def _rates(before: float, after: float, spread: float = 0.0, rows: int = 100) -> Days:
    def draw(rng: np.random.Generator, days: int, change: int | None) -> np.ndarray:
        rate = np.where(np.arange(days) < (days if change is None else change), before, after)
        rate = np.clip(rate + spread * rng.normal(size=days), 0, 1)
        return np.stack([rng.binomial(rows, rate), np.full(days, rows)], axis=1).astype(float)

    return draw


def _apart(auc: float) -> float:
    from scipy.special import ndtri

    return math.sqrt(2) * float(ndtri(auc))


EDGES = np.linspace(-3, 4, 49)


def _areas(before: float, after: float, spread: float = 0.0, rows: int = 200) -> Days:
    def draw(rng: np.random.Generator, days: int, change: int | None) -> np.ndarray:
        found = []
        for day, more in enumerate(spread * rng.normal(size=days)):
            positives = rng.binomial(rows, 0.3)
            apart = _apart(min((before if change is None or day < change else after) + more, 0.99))
            scores = rng.normal(size=rows - positives), apart + rng.normal(size=positives)
            counts = (np.bincount(np.searchsorted(EDGES, one), minlength=len(EDGES) + 2) for one in scores)
            found.append([one for one in counts for _ in ("lowest", "highest")])  # each row has one place
        return np.array(found, float).reshape(days, -1)

    return draw


def _tables(before: Sequence[float], after: Sequence[float], spread: float = 0.0, rows: int = 200) -> Days:
    """Tables of days, whose share of positives that are found differs with a standard deviation of its own."""

    def draw(rng: np.random.Generator, days: int, change: int | None) -> np.ndarray:
        split = days if change is None else change
        chances = np.array([before] * split + [after] * (days - split))
        lost = chances[:, 2:].sum(axis=1) * spread * rng.normal(size=days)
        chances[:, 2:] += np.stack([lost, -lost], axis=1)
        return np.array([rng.multinomial(rows, one) for one in np.clip(chances, 1e-3, None)], float)

    return draw


def _weighted(draw_plain: Days) -> Days:
    """The same rows with lognormal weights: cells, and their sums of squared weights."""

    def draw(rng: np.random.Generator, days: int, change: int | None) -> np.ndarray:
        cells = [np.repeat(np.arange(4), day) for day in draw_plain(rng, days, change).astype(int)]
        weights = [rng.lognormal(size=len(one)) for one in cells]
        found = [[np.bincount(cell, one, 4), np.bincount(cell, one**2, 4)]
                 for cell, one in zip(cells, weights, strict=True)]  # fmt: skip
        return np.array(found).reshape(days, 8)

    return draw


def _losses(before: float, after: float, spread: float = 0.0, rows: int = 200) -> Days:
    """Brier scores of probabilities that are honest before: squares of beta variables with these means."""

    def draw(rng: np.random.Generator, days: int, change: int | None) -> np.ndarray:
        mean = np.where(np.arange(days) < (days if change is None else change), before, after)
        mean = np.clip(mean + spread * rng.normal(size=days), 0.02, 0.9)
        values = rng.beta(2 * mean[:, None], 2 * (1 - mean[:, None]), size=(days, rows))
        return np.stack([np.full(days, rows), values.sum(axis=1), (values**2).sum(axis=1)], axis=1).astype(float)

    return draw


TABLE = Confusion.two_class(tp=1, fn=1, fp=1, tn=1)
GOOD, WORSE = (0.70, 0.05, 0.08, 0.17), (0.70, 0.07, 0.10, 0.13)  # tn, fp, fn, tp: f1 0.72, then 0.60
F1, MCC = 2 * 0.17 / (2 * 0.17 + 0.05 + 0.08), 0.6411


class Watched(NamedTuple):
    """A figure at its limit, for false alarms, and one that is better first and worse later, for delays."""

    words: str
    way: Monitor
    at_limit: Days
    falling: Days
    alike: bool = False


def _table(name: str, limit: float, weighted: bool = False) -> TableFigure:
    like = replace(TABLE, squares=TABLE.counts) if weighted else TABLE
    return TableFigure(metrics.find(name), True, limit, 0.05, like=like)


AREA = Area(metrics.find("auc"), True, 0.82, 0.05, edges=EDGES)
LOSS = Mean(metrics.find("brier_score"), False, 0.15, 0.015)
RATE = Rate(metrics.find("recall"), True, FLOOR, 0.05)

CASES = (
    Watched("recall ≥ 0.90, days alike", RATE, _rates(0.9, 0.9), _rates(0.93, 0.85), True),
    Watched("recall ≥ 0.90", RATE, _rates(0.9, 0.9), _rates(0.93, 0.85)),
    Watched("recall ≥ 0.90, a larger fall", RATE, _rates(0.9, 0.9), _rates(0.93, 0.8)),
    Watched("recall ≥ 0.90, days differ by 0.03", RATE, _rates(0.9, 0.9, 0.03), _rates(0.93, 0.85, 0.03)),
    Watched("the same, taken for alike", RATE, _rates(0.9, 0.9, 0.03), _rates(0.93, 0.85, 0.03), True),
    Watched("recall ≥ 0.90, days differ by 0.05", RATE, _rates(0.9, 0.9, 0.05), _rates(0.93, 0.85, 0.05)),
    Watched("auc ≥ 0.82", AREA, _areas(0.82, 0.82), _areas(0.85, 0.8)),
    Watched("auc ≥ 0.82, days differ by 0.03", AREA, _areas(0.82, 0.82, 0.03), _areas(0.85, 0.8, 0.03)),
    Watched("the same, taken for alike", AREA, _areas(0.82, 0.82, 0.03), _areas(0.85, 0.8, 0.03), True),
    Watched("f1 ≥ 0.72", _table("f1", F1), _tables(GOOD, GOOD), _tables(GOOD, WORSE)),
    Watched(
        "f1 ≥ 0.72, recall of days differs by 0.1",
        _table("f1", F1),
        _tables(GOOD, GOOD, 0.1),
        _tables(GOOD, WORSE, 0.1),
    ),
    Watched("mcc ≥ 0.64", _table("mcc", MCC), _tables(GOOD, GOOD), _tables(GOOD, WORSE)),
    Watched(
        "recall ≥ 0.68, lognormal weights",
        _table("recall", 0.68, True),
        _weighted(_tables(GOOD, GOOD)),
        _weighted(_tables(GOOD, WORSE)),
    ),
    Watched("mean loss ≤ 0.15", LOSS, _losses(0.15, 0.15), _losses(0.14, 0.18)),
    Watched("mean loss ≤ 0.15, days differ by 0.02", LOSS, _losses(0.15, 0.15, 0.02), _losses(0.14, 0.18, 0.02)),
    Watched("the same, taken for alike", LOSS, _losses(0.15, 0.15, 0.02), _losses(0.14, 0.18, 0.02), True),
)


def first_alarm(watched: Watched, days: np.ndarray, alpha: float = 0.05) -> sequences.Alarm | None:
    """The first alarm in the days of a year, if there is one."""
    spread = np.ones(len(days)) if watched.alike else watched.way.spread(days)
    for day, terms in enumerate(bets_by_day(watched.way, days, spread)):
        if sequences.log_total(terms) >= -math.log(alpha):
            return sequences.Alarm.of(day, terms)
    return None


def run_watched(number: int, runs: int) -> list[str]:
    """False alarms in years at the limit, then delays and dates of falls on day 100."""
    watched, rng = CASES[number], np.random.default_rng(100 + number)
    runs = runs if isinstance(watched.way, Rate) else max(runs // 5, 10)
    false = sum(first_alarm(watched, watched.at_limit(rng, YEAR, None)) is not None for _ in range(runs))
    error = 100 * math.sqrt(max(false, 1) / runs * (1 - false / runs) / runs)
    found, early = [], 0
    for _ in range(max(min(runs // 3, 40), 10)):
        alarm = first_alarm(watched, watched.falling(rng, YEAR, CHANGE))
        if alarm is None or alarm.day < CHANGE:
            early += alarm is not None
            found.append((math.inf, math.nan, 0.0))
        else:
            found.append((alarm.day - CHANGE, abs(alarm.change - CHANGE), float(CHANGE in alarm.days)))
    delay, off, held = (np.array(one) for one in zip(*found, strict=True))
    share = f"{100 * false / runs:.1f} ± {error:.1f}"
    shown = f"**{share}**" if false / runs > 0.05 + 2 * error / 100 else share
    later = np.isfinite(delay)
    dates = [f"{np.nanmedian(off[later]):.0f}", f"{100 * held[later].mean():.0f} %"] if later.any() else ["–", "–"]
    return [watched.words, f"{runs:,}", shown, f"{np.median(delay):.0f}", *dates]


def run_fixed(runs: int) -> list[list[str]]:
    """What is usual instead: a 95 % interval of all days so far looked at daily, and a CUSUM."""
    rng = np.random.default_rng(7)
    fixed = cusum = 0
    for _ in range(runs):
        hits = rng.binomial(100, FLOOR, YEAR)
        total = np.cumsum(hits) / np.arange(100, 100 * YEAR + 1, 100)
        _, high = wilson(total, np.arange(100, 100 * YEAR + 1, 100), 0.95)
        fixed += bool((high < FLOOR).any())
        gain = hits * math.log(0.85 / FLOOR) + (100 - hits) * math.log(0.15 / (1 - FLOOR))
        walk = np.cumsum(gain)
        cusum += bool((walk - np.minimum.accumulate(np.minimum(walk, 0))).max() >= math.log(20))
    names = ("a 95 % interval of all days so far, looked at daily", "a CUSUM towards 0.85, alarm at ln 20")
    return [
        [name, f"{runs:,}", f"**{100 * count / runs:.1f}**", "", "", ""]
        for name, count in zip(names, (fixed, cusum), strict=True)
    ]


# ── the sections ─────────────────────────────────────────────────────────────────────────────────────────────────
RANKS = """## Ranks of all models at once

Scores of 0 and 1 on items of different difficulty, {runs:,} boards a line. *Covered* is how often intervals of **all**
ranks hold at once (where models are equally good every rank must be possible); *ranks* is how many ranks an interval
holds in the mean. Beside them ranks by pairs that are each tested alone, and percentiles of ranks over resampled items.

| board | items | covered, % | pairs alone | bootstrap | ranks | pairs alone | bootstrap |
|---|---|---|---|---|---|---|---|
"""
WATCHING = """## Alarms over a year

A figure exactly at its limit for 365 days (100 rows a day for rates, 200 for others): *false* is the share of years
with an alarm on any day, which should be 5 % at most. Then a figure that is better and falls on day 100: the *delay*
until the alarm, how far the told day is *off* (both in days, medians), and how often its 95 % set *holds* the day.

| watched | years | false, % | delay | off | holds |
|---|---|---|---|---|---|
"""


def sections(runs: int) -> str:
    """Both sections as Markdown."""
    with ProcessPoolExecutor() as pool:
        boards = pool.map(partial(run_board, runs=runs), BOARDS)
        watched = pool.map(partial(run_watched, runs=runs), range(len(CASES)))
        return f"{RANKS.format(runs=runs)}{_lines(boards)}\n{WATCHING}{_lines([*watched, *run_fixed(10 * runs)])}"


def _lines(rows: Iterator[list[str]] | list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="samples of each line")
    print(sections(parser.parse_args().runs))
