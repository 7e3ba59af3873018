"""A cell of the table of coverage: figures of one world, asked in one way, of many samples."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

import stakes
from worlds import Rows, World

SHORT, TOO_OFTEN = 0.02, 0.01
"""An interval may cover so much less than it says, a test reject so much more, two simulation errors apart."""


class Outcome(NamedTuple):
    """What one sample gave for one figure: an estimate, its interval, whether a note warns, p, and the truth."""

    value: float
    low: float | None = None
    high: float | None = None
    noted: bool = False
    p: float | None = None
    truth: float | None = None


# ── what is asked of a sample ────────────────────────────────────────────────────────────────────────────────────
def evaluated(cell: "Cell", rows: Rows, seed: int) -> Iterator[Outcome]:
    sample = stakes.evaluate(**rows, **cell.asked, seed=seed)
    for figure in cell.figures:
        found = sample[figure]
        yield Outcome(found.value, found.low, found.high, bool(found.note))


def compared(cell: "Cell", rows: Rows, seed: int) -> Iterator[Outcome]:
    for figure in cell.figures:
        pair = stakes.compare(**rows, **cell.asked, metric=figure, seed=seed).pairs[0]
        found, ends = pair.difference, (pair.low, pair.high)
        if pair.first == "b":
            found, ends = -found, [None if end is None else -end for end in reversed(ends)]
        yield Outcome(found, *ends, bool(pair.note), pair.p_value)


def chosen(cell: "Cell", rows: Rows, seed: int) -> Iterator[Outcome]:
    """The cost of what is recommended and of the threshold these rows chose, what the score saves, what is claimed."""
    choice, true_cost = stakes.decide(**rows, **cell.asked, seed=seed), cell.true_cost
    recommended, by_score = (true_cost(starts[0]) for starts in (choice.recommended, choice.by_score))
    by_name = {
        RECOMMENDED: (choice.cost, recommended),
        CHOSEN: (choice.corrected, true_cost(choice.threshold)),
        SAVED_ALARMS: (choice.savings_by_score[f"always {choice.positive}"], true_cost(-math.inf) - by_score),
        SAVED_SILENCE: (choice.savings_by_score[f"always {choice.negative}"], true_cost(math.inf) - by_score),
    }
    for name in cell.figures:
        if name == EARNS:
            yield Outcome(math.nan, p=0.0 if choice.enough_evidence else 1.0)
        else:
            found, truth = by_name[name]
            yield Outcome(found.value, found.low, found.high, bool(found.note), truth=truth)


def segmented(cell: "Cell", rows: Rows, seed: int) -> Iterator[Outcome]:
    """Whether any of several groups that are alike is told to differ from the rest: the family's error."""
    found = stakes.evaluate(**rows, **cell.asked, seed=seed)
    for figure in cell.figures:
        known = [one.adjusted_p_value for one in found.by_segment(figure) if one.adjusted_p_value is not None]
        yield Outcome(math.nan, p=min(known, default=1.0))


def gapped(cell: "Cell", rows: Rows, seed: int) -> Iterator[Outcome]:
    """The largest gap between groups that are alike."""
    found = stakes.evaluate(**rows, **cell.asked, seed=seed)
    for figure in cell.figures:
        gap = found.gap(figure.removeprefix("gap of "))
        yield Outcome(gap.value, gap.low, gap.high, bool(gap.reason), 0.0 if gap.low and gap.low > 0 else 1.0, 0.0)


def worthy(cell: "Cell", rows: Rows, seed: int) -> Iterator[Outcome]:
    """What making each model of a system perfect would save per case."""
    data, given = rows["data"], {name: value for name, value in rows.items() if name != "data"}
    found = stakes.System(data, **given, **cell.asked, seed=seed).worth()
    for name in cell.figures:
        one = found[name.split()[-1]]
        low, high = one.saving_limits or (math.nan, math.nan)
        yield Outcome(*(value / found.cases for value in (one.saving, low, high)), False)


RECOMMENDED, CHOSEN = "cost, recommended threshold", "cost, chosen threshold"
SAVED_ALARMS, SAVED_SILENCE = "saving against all alarms", "saving against no alarm"
EARNS = '"earns its keep"'


# ── a cell ───────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Cell:
    """Figures of one world, asked in one way.

    ``known`` are true figures that a net of points does not give, because what is rarest decides them.
    """

    world: World
    figures: tuple[str, ...]
    ask: Callable[["Cell", Rows, int], Iterator[Outcome]] = evaluated
    asked: Mapping[str, object] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        return self.asked.get("confidence", 0.95)

    def run(self, runs: int, seed: int = 0) -> dict[str, "Summary"]:
        warnings.simplefilter("ignore")
        truths = self.truths()
        streams = np.random.SeedSequence([seed, 21]).spawn(runs)
        samples = (self.world.sample(np.random.default_rng(stream)) for stream in streams)
        outcomes = [tuple(self.ask(self, rows, i)) for i, rows in enumerate(samples)]
        return {
            figure: Summary.of(one, truths.get(figure, math.nan), self.confidence)
            for figure, one in zip(self.figures, zip(*outcomes, strict=True), strict=True)
        }

    def truths(self) -> dict[str, float]:
        """The figures of infinitely many rows; none where each sample has its own, or only a test is looked at."""
        if self.ask in (chosen, segmented, gapped):
            return {}
        rows, wanted = self.world.ideal(), [name for name in self.figures if name not in self.known]
        return {**self.known, **{name: _true_figure(name, rows, self.asked) for name in wanted}}

    @cached_property
    def true_cost(self) -> Callable[[float], float]:
        """What deciding positive from a threshold on costs per case."""
        rows, costs = self.world.ideal(), self.asked["costs"]
        positives, negatives = (np.sort(rows["score"][rows["truth"] == truth]) for truth in (True, False))

        def cost(threshold: float) -> float:
            missed, silent = (np.searchsorted(scores, threshold) for scores in (positives, negatives))
            return (costs.miss * missed + costs.false_alarm * (len(negatives) - silent)) / len(rows["truth"])

        return cost


def _true_figure(figure: str, rows: Rows, asked: Mapping[str, object]) -> float:
    if "models" in rows:
        found = stakes.System(rows["data"], truth=rows["truth"], models=rows["models"], **asked).worth()
        return found[figure.split()[-1]].saving / found.cases
    several, one = ("scores", "score") if "scores" in rows else ("predictions", "prediction")
    if several not in rows:
        return stakes.evaluate(**rows, **asked)[figure].value
    rows, models = {name: column for name, column in rows.items() if name != several}, rows[several]
    a, b = (stakes.evaluate(**rows, **{one: models[name]}, **asked)[figure].value for name in "ab")
    return a - b


class Summary(NamedTuple):
    """What all samples of a cell gave for a figure; shares, and NaN for what there is not."""

    runs: int
    covered: float
    error: float
    width: float
    noted: float
    without: float
    rejected: float
    rejected_error: float
    contradictions: int
    confidence: float

    @classmethod
    def of(cls, outcomes: Sequence[Outcome], truth: float, confidence: float) -> "Summary":
        value, low, high, noted, p, own = np.array(outcomes, dtype=float).T
        truth = np.where(np.isnan(own), truth, own)
        there = ~np.isnan(low)
        covered = _mean((low <= truth)[there] & (truth <= high)[there])
        spread = np.nanstd(value - truth) if there.any() else math.nan
        width = _mean((high - low)[there]) / (2 * ndtri((1 + confidence) / 2) * spread)
        tested = ~np.isnan(p)
        rejects = p < 1 - confidence
        contradicted = (rejects != ((low > 0) | (high < 0)))[tested & there]
        rejected = _mean(rejects[tested])
        return cls(
            len(outcomes), covered, _error(covered, there.sum()), width, _mean(noted == 1), 1 - _mean(there),
            rejected, _error(rejected, tested.sum()), int(contradicted.sum()), confidence,
        )  # fmt: skip

    @property
    def short(self) -> bool:
        """Whether the interval covers less than it says."""
        return self.covered + 2 * self.error < self.confidence - SHORT

    @property
    def rash(self) -> bool:
        """Whether the test rejects what is true more often than it says."""
        return self.rejected - 2 * self.rejected_error > 1 - self.confidence + TOO_OFTEN

    @property
    def kept(self) -> bool:
        return not (self.short or self.rash or self.contradictions)


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _error(share: float, runs: int) -> float:
    """The simulation error of a share; of none or all it is that of one sample more."""
    share = (share * runs + 0.5) / (runs + 1)
    return math.sqrt(share * (1 - share) / runs) if runs else math.nan
