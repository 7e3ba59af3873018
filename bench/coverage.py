"""How often do intervals cover the truth, and how often do tests reject it? Simulate it, and write docs/coverage.md.

python bench/coverage.py [--runs 2000] [--only WORDS]      half an hour at most on two cores
python bench/coverage.py --quick                           few samples, to the terminal, two minutes at most
"""

import argparse
import math
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill

import numpy as np
from scipy.special import ndtri

import few_labels
import long_runs
import stakes
import worlds
from cells import (
    CHOSEN,
    EARNS,
    RECOMMENDED,
    SAVED_ALARMS,
    SAVED_SILENCE,
    Cell,
    Summary,
    chosen,
    compared,
    gapped,
    segmented,
    worthy,
)
from worlds import World

TARGET = Path(__file__).parents[1] / "docs" / "coverage.md"


# ── the cells, the hard ones first ───────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Section:
    title: str
    words: str
    cells: tuple[Cell, ...]


AUC, AP = ("auc",), ("average_precision",)
TABLE = ("recall", "precision", "accuracy", "f1", "mcc", "kappa")
MACRO = ("macro_f1", "macro_precision", "macro_recall", "accuracy", "kappa", "mcc")
LOSSES = ("brier_score", "log_loss")
ERRORS = ("mean_absolute_error", "median_absolute_error")
SQUARES = ("r2", "root_relative_squared_error", "root_mean_squared_error", "pearson")


def near_one() -> Iterator[Cell]:
    for auc in (0.995, 0.98):
        make = worlds.ranked(0.025, worlds.apart_for(auc))
        yield Cell(World(f"auc {auc}, 50 positives of 2,000", 2000, 3, make), AUC)
    for positives in (10, 20):
        make = worlds.ranked(positives / 200, 5, hidden=0.5)
        yield Cell(World(f"half of {positives} positives of 200 undetectable, auc 0.75", 200, 3, make), AUC)
    yield Cell(World("probabilities near 0 or 1", 200, 3, worlds.extreme), LOSSES)


def rare() -> Iterator[Cell]:
    yield Cell(World("20 positives of 2,000", 2000, 3, worlds.ranked(0.01, 2)), (*AP, *AUC))
    yield Cell(World("10 positives of 200", 200, 3, worlds.ranked(0.05, 1.5)), (*AP, *AUC))
    heavy = partial(worlds.stdtrit, 2)
    for prevalence in (0.4, 0.9):
        words = f"prevalence {prevalence}, scores with heavy tails (t₂)"
        yield Cell(World(words, 200, 3, worlds.ranked(prevalence, 1.5, law=heavy)), AP)
    yield Cell(World("20 positives of 1,000", 1000, 2, worlds.decided(0.02, (0.7, 0.03))), TABLE)
    yield Cell(World("5 positives of 100", 100, 2, worlds.decided(0.05, (0.8, 0.1))), TABLE)
    yield Cell(World("20 positives of 1,000, honest probabilities", 1000, 2, worlds.calibrated(0.02, 1.5)), LOSSES)


def clusters() -> Iterator[Cell]:
    figures = ("mcc", "average_precision", "auc", "recall", "accuracy")
    for count, prevalence, threshold in ((30, 0.3, 0.3), (50, 0.05, 0.1)):
        words = f"{count} clusters of unequal sizes, prevalence {prevalence}"
        world = World(words, 20 * count, 4, worlds.clustered(prevalence, 1.5), clusters=count, shared=2)
        yield Cell(world, figures, asked={"threshold": threshold})
    world = World("40 clusters of unequal sizes", 800, 3, worlds.clustered_numbers, clusters=40, shared=1)
    yield Cell(world, ("mean_absolute_error", "root_mean_squared_error"))


def many_classes() -> Iterator[Cell]:
    for k in (5, 20):
        yield Cell(World(f"{k} classes, 70 % right", 100, 3, worlds.many_decided(k, 0.7)), MACRO)
    for k in (3, 5):
        world = World(f"{k} classes with probabilities", 200, k + 1, worlds.many_scored(k, 1.2))
        yield Cell(world, ("multiclass_log_loss", "macro_auc"))


def weights() -> Iterator[Cell]:
    kinds = {"lognormal weights": lambda u: np.exp(ndtri(u)), "weights 1 and 20": worlds.few_heavy}
    for words, law in kinds.items():
        decided = worlds.weighted(worlds.decided(0.3, (0.8, 0.1)), law)
        yield Cell(World(words, 200, 3, decided), ("recall", "f1", "accuracy"))
        yield Cell(World(words, 200, 4, worlds.weighted(worlds.ranked(0.3, 1.5), law)), AUC)


def heavy_tails() -> Iterator[Cell]:
    for rows in (200, 1000):
        make = worlds.predicted(ndtri, 1, truth=worlds.lognormal)
        yield Cell(World("lognormal truth, normal errors", rows, 2, make), ("relative_absolute_error",))
    for words, (law, _) in HEAVY.items():
        yield Cell(World(words, 200, 2, worlds.predicted(law)), ERRORS if law is not worlds.outliers else ERRORS[1:])


HEAVY = {
    "lognormal errors": (worlds.lognormal, math.e**2 - math.e),
    "t₃ errors": (worlds.student, 3),
    "1 % outliers": (worlds.outliers, 0.99 + 0.01 * 20**2),
}
"""Laws of errors, and their variance."""


def not_rescued() -> Iterator[Cell]:
    for words, (law, variance) in HEAVY.items():
        left = variance / 4
        known = dict(zip(SQUARES, (1 - left, left**0.5, left**0.5, (1 + left) ** -0.5), strict=True))
        for rows in (50, 200, 1000):
            figures = (*SQUARES, *ERRORS[:1]) if law is worlds.outliers else SQUARES
            yield Cell(World(words, rows, 2, worlds.predicted(law)), figures, known=known)
    world = World("t₃ errors against normal ones", 200, 3, worlds.both_predicted(worlds.student, 3**-0.5))
    yield Cell(world, SQUARES[2:3], compared, known={SQUARES[2]: 0})


def costs() -> Iterator[Cell]:
    for positives, miss in ((10, 100), (15, 50), (20, 50)):
        asked = {"costs": stakes.Costs(miss=miss, false_alarm=1)}
        words = f"{positives} positives of 300, a miss costs {miss}"
        given = World(f"{words}, decisions given", 300, 2, worlds.decided(positives / 300, (0.85, 0.3)))
        yield Cell(given, ("expected_cost", "normalised_cost"), asked=asked)
        honest = World(f"{words}, honest probabilities", 300, 2, worlds.calibrated(positives / 300, 1.5))
        figures = (RECOMMENDED, CHOSEN, SAVED_ALARMS, SAVED_SILENCE)
        yield Cell(honest, figures, chosen, asked)
        false = worlds.calibrated(positives / 300, 1.5, dishonest=0.4, steps=40)
        yield Cell(World(f"{words}, dishonest probabilities in 40 steps", 300, 2, false), figures, chosen, asked)


def claims() -> Iterator[Cell]:
    asked = {"costs": stakes.Costs(miss=50, false_alarm=1)}
    prevalence, found = 0.05, 0.9
    alarms = 1 - prevalence * (1 - found) * 50 / (1 - prevalence)
    make = worlds.two_valued(prevalence, (found, alarms), (1 / 52, 0.06))
    yield Cell(World("15 positives of 300, a miss costs 50; saves nothing", 300, 2, make), (EARNS, SAVED_ALARMS),
               chosen, asked)  # fmt: skip
    asked = {"costs": stakes.Costs(miss=19, false_alarm=1)}
    world = World("15 positives of 300, a miss costs 19; a worthless score", 300, 3, worlds.ranked(0.05, 0))
    yield Cell(world, (EARNS, SAVED_ALARMS, SAVED_SILENCE), chosen, asked)


def equal_models() -> Iterator[Cell]:
    precise = worlds.both_decided(0.2, (0.01 / 0.2, 0.01 / 0.8), (0.16 / 0.2, 0.16 / 0.8))
    for rows in (500, 2000):
        yield Cell(World("precision ½ both, alarms 2 % and 32 %", rows, 3, precise), ("precision",), compared)
    dear = worlds.both_decided(0.05, (0.5, 0.05), (0.9, 0.4475 / 0.95))
    yield Cell(World("15 positives, a miss costs 20; few and many alarms", 300, 3, dear), ("expected_cost",), compared,
               {"costs": stakes.Costs(miss=20, false_alarm=1)})  # fmt: skip
    equal_f1 = worlds.both_decided(0.3, (0.5, 0.15 / 0.7), (0.9, 0.51 / 0.7))
    yield Cell(World("few and many alarms", 200, 3, equal_f1), ("f1",), compared)
    equal_accuracy = worlds.both_decided(0.3, (0.4, 0.02), (0.95, 0.179 / 0.7))
    yield Cell(World("few and many alarms", 200, 3, equal_accuracy), ("accuracy",), compared)
    yield Cell(World("20 positives of 100, one score spreads", 100, 3, worlds.both_ranked(0.2, 1.2, 2)), AUC, compared)
    yield Cell(World("20 positives of 400", 400, 3, worlds.both_ranked(0.05, 1.5)), (*AP, *AUC), compared)
    yield Cell(World("20 positives of 400, one score spreads", 400, 3, worlds.both_precise(0.05, 1.5, 2)), AP, compared)
    yield Cell(World("two views of the same chances", 200, 4, worlds.both_honest), LOSSES, compared)
    yield Cell(World("5 classes, each model knows others", 100, 3, worlds.both_many()), ("macro_f1", "mcc"), compared)
    skewed = worlds.both_predicted(worlds.lognormal, math.sqrt(2 / math.pi) / 1.2626)
    yield Cell(World("normal errors against lognormal ones", 200, 3, skewed), ERRORS[:1], compared)
    flat = worlds.both_predicted(worlds.uniform, math.sqrt(12))
    yield Cell(World("normal errors against uniform ones", 200, 3, flat), SQUARES[2:3], compared)
    world = World("40 clusters of unequal sizes", 800, 6, worlds.both_clustered, clusters=40, shared=3)
    yield Cell(world, ("auc", "accuracy", "f1", "brier_score"), compared)
    world = World("15 clusters of unequal sizes", 300, 6, worlds.both_clustered, clusters=15, shared=3)
    yield Cell(world, ("auc", "average_precision", "log_loss", "mcc"), compared)
    places = ("recall_at_specificity", "partial_auc", "lift", "net_benefit(threshold=0.3)")
    yield Cell(World("two views of the same chances", 150, 4, worlds.both_honest), places, compared)


PLACES = ("recall_at_specificity", "specificity_at_recall", "partial_auc", "lift", "net_benefit(threshold=0.2)")
LINE_FIGURES = ("calibration_slope", "calibration_intercept", "calibration_in_the_large")


def other_figures() -> Iterator[Cell]:
    for rows, prevalence in ((300, 0.1), (80, 0.4)):
        words = f"prevalence {prevalence}, honest probabilities"
        yield Cell(World(words, rows, 2, worlds.calibrated(prevalence, 1.5)), (*PLACES, *LINE_FIGURES))
    world = World("30 clusters of unequal sizes", 600, 4, worlds.clustered(0.3, 1.5), clusters=30, shared=2)
    yield Cell(world, (*PLACES, "calibration_slope", *LOSSES))
    heavy = worlds.weighted(worlds.calibrated(0.3, 1.5), lambda u: np.where(u < 0.5, 1.0, 5.0))
    yield Cell(World("weights 1 and 5", 80, 3, heavy), (*AUC, *AP, *LOSSES, *PLACES, "calibration_slope"))
    decided = worlds.weighted(worlds.decided(0.3, (0.85, 0.1)), lambda u: np.where(u < 0.5, 1.0, 5.0))
    yield Cell(World("weights 1 and 5", 80, 3, decided), TABLE)
    yield Cell(World("3 classes, 80 % right", 40, 3, worlds.many_decided(3, 0.8)), (*MACRO, "weighted_f1"))
    scored = ("multiclass_brier_score", "macro_auc", "hand_till_auc", "weighted_average_precision", "top_k_accuracy")
    yield Cell(World("3 classes with probabilities", 60, 4, worlds.many_scored(3, 1.2)), scored)


def other_frequencies() -> Iterator[Cell]:
    asked = {"prior": 0.03}
    world = World("prevalence 0.3, used where it is 0.03", 200, 2, worlds.decided(0.3, (0.8, 0.1)))
    yield Cell(world, ("precision", "accuracy", "f1", "mcc"), asked=asked)
    world = World("prevalence 0.3, used where it is 0.03", 200, 2, worlds.calibrated(0.3, 1.5))
    yield Cell(world, (*AP, *LOSSES, "net_benefit(threshold=0.2)"), asked=asked)


def groups() -> Iterator[Cell]:
    decided = worlds.grouped(worlds.decided(0.3, (0.8, 0.1)), 8)
    world = World("8 groups alike, 10 to 90 rows", 400, 3, decided)
    yield Cell(world, ("recall", "f1", "accuracy"), segmented)
    yield Cell(world, ("gap of recall", "gap of f1"), gapped)
    scored = worlds.grouped(worlds.calibrated(0.3, 1.5), 8)
    yield Cell(World("8 groups alike, 10 to 90 rows", 400, 3, scored), (*AUC, *LOSSES), segmented)
    skewed = worlds.grouped(worlds.predicted(worlds.lognormal), 8)
    yield Cell(World("8 groups alike, lognormal errors", 400, 3, skewed), ERRORS[:1], segmented)


def amounts() -> Iterator[Cell]:
    asked = {"costs": stakes.Costs(miss="amount", false_alarm=0.3)}
    for sigma in (0.5, 1.0):
        make = worlds.amounts(worlds.decided(0.1, (0.7, 0.1)), sigma)
        world = World(f"30 positives of 300, lognormal amounts (σ {sigma})", 300, 3, make)
        yield Cell(world, ("expected_cost", "normalised_cost"), asked=asked)
    asked = {"decide": "images or history", "costs": stakes.Costs(miss=10, false_alarm=1), "positive": "sick"}
    world = World("two models, either raises the alarm", 200, 4, worlds.two_readers)
    yield Cell(world, ("worth of images", "worth of history"), worthy, asked)


def designs() -> Iterator[Cell]:
    fixed = {"design": "classes fixed"}
    world = World("100 of 200 positive, class counts fixed", 200, 2, worlds.decided(0.5, (0.8, 0.1)), fixed=True)
    yield Cell(world, TABLE, asked=fixed)
    yield Cell(World("30 of 200 positive, class counts fixed", 200, 3, worlds.ranked(0.15, 1.5), fixed=True),
               (*AUC, *AP), asked=fixed)  # fmt: skip
    for confidence in (0.8, 0.99):
        asked = {"confidence": confidence}
        words = f"{100 * confidence:.0f} % confidence"
        yield Cell(World(f"{words}, 30 positives of 200", 200, 2, worlds.decided(0.15, (0.8, 0.1))),
                   ("recall", "f1", "mcc"), asked=asked)  # fmt: skip
        yield Cell(World(f"{words}, 30 positives of 200", 200, 2, worlds.calibrated(0.15, 1.5)),
                   (*AUC, *AP, *LOSSES), asked=asked)  # fmt: skip
        yield Cell(World(f"{words}, normal errors", 200, 2, worlds.predicted(ndtri)),
                   ("r2", "mean_absolute_error"), asked=asked)  # fmt: skip


def other_kinds() -> Iterator[Cell]:
    averages = ("macro_f1", "micro_f1", "samples_f1", "macro_auc", "micro_auc")
    ranked = ("hamming_loss", "subset_accuracy", "label_ranking_loss", "coverage_error",
              "label_ranking_average_precision", "samples_jaccard", "weighted_f1", "macro_average_precision",
              "micro_average_precision")  # fmt: skip
    agreement = ("linear_kappa", "quadratic_kappa", "mean_class_distance", "within_one_accuracy")
    deviances = ("poisson_deviance", "d2_poisson", "tweedie_deviance", "d2_tweedie", "lorenz_gini")
    for rows in (50, 400):
        yield Cell(World("three labels, one rare", rows, 6, worlds.labelled), (*averages, *ranked))
        yield Cell(World("five grades", rows, 2, worlds.graded), agreement)
        yield Cell(World("probabilities of four grades", rows, 2, worlds.graded_by_chance),
                   ("ranked_probability_score",))  # fmt: skip
        yield Cell(World("rare counts", rows, 3, worlds.counted), deviances)
        yield Cell(World("amounts with a constant coefficient of variation", rows, 3, worlds.amounts_of_claims),
                   ("gamma_deviance", "d2_gamma"))  # fmt: skip
        scores = ("coverage_of_intervals", "mean_interval_width", "winkler_score", "weighted_interval_score", "crps",
                  "crps_skill", "quantile_score", "pinball_at(level=0.05)", "share_below(level=0.05)")  # fmt: skip
        yield Cell(World("quantiles too narrow", rows, 3, worlds.quantiles), scores)
        yield Cell(World("quantiles too narrow", rows, 3, worlds.quantiles), ("share_between(low=0.25,high=0.75)",))
        yield Cell(World("forecasts three steps ahead", rows, 2, worlds.forecast_three_ahead, series=True),
                   ("mase", "rmsse", "mean_absolute_error"), asked={"horizon": 3})  # fmt: skip
        yield Cell(World("two outputs", rows, 3, worlds.several_numbers),
                   ("uniform_r2", "variance_weighted_r2", "uniform_mean_absolute_error",
                    "uniform_root_mean_squared_error"))  # fmt: skip


def ordinary() -> Iterator[Cell]:
    for rows in (50, 2000):
        yield Cell(World("half positive", rows, 2, worlds.decided(0.5, (0.8, 0.2))), TABLE)
        yield Cell(World("half positive, honest probabilities", rows, 2, worlds.calibrated(0.5, 1.5)),
                   (*AUC, *AP, *LOSSES))  # fmt: skip
        yield Cell(World("normal errors", rows, 2, worlds.predicted(ndtri)),
                   (*ERRORS, *SQUARES, "relative_absolute_error"))  # fmt: skip


SECTIONS = tuple(
    Section(title, words, tuple(cells()))
    for title, words, cells in (
        ("Near 1, near 0, mixtures", "Nearly every row is right, or part of the positives cannot be found.", near_one),
        ("Rare events", "What counts is the number of positives, not of rows.", rare),
        (
            "Rows that belong together",
            "Truth and score of rows of a cluster resemble each other (correlation 0.3); sizes are lognormal.",
            clusters,
        ),
        ("Many classes", "Few rows of each.", many_classes),
        ("Weights", "A few rows count for many.", weights),
        ("Skewed numbers", "Figures that heavy tails do not break.", heavy_tails),
        (
            "Costs and thresholds",
            "The truth is what the threshold in question costs in this world. The *recommended* threshold is the one "
            "that follows from the costs, if these rows cannot tell it from the one that they have *chosen*.",
            costs,
        ),
        (
            "Equal models compared",
            "Two models are equally good, though not alike. A test at 5 % should *reject* that in at most 5 % of the "
            "samples, and p must agree with the interval: *against* counts the samples in which one of the two sees a "
            "difference and the other does not.",
            equal_models,
        ),
        (
            "Other figures",
            "Rates at a place of the ranking, calibration lines, few rows of few classes.",
            other_figures,
        ),
        ("Other class frequencies", "Positives are rarer where the model is used than in the rows.", other_frequencies),
        (
            "Groups",
            "Groups that are alike in truth: *rejected* is how often any of them is told to differ from the rest, or "
            "two of them from each other.",
            groups,
        ),
        ("Amounts and systems", "Costs that differ by row, and what a model is worth to its system.", amounts),
        ("Models that save nothing", "*Rejected* is how often it is claimed that they save something.", claims),
        (
            "Labels, grades, counts, quantiles, outputs",
            "Several answers per row, or answers of another kind.",
            other_kinds,
        ),
        ("Designs and other confidences", "80 or 99 % should be covered where that is asked.", designs),
        ("Ordinary samples", "For comparison.", ordinary),
        (
            "What is not rescued",
            "Squared errors with heavy tails: the rarest errors decide, and most samples do not hold one. No interval "
            "that is made from the rows can know. Watch how often there is a note: **no note is no clearance**. Prefer "
            "the median error, or the mean absolute error unless a few errors make up most of it.",
            not_rescued,
        ),
    )
)


# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────
HEAD = """# How often intervals cover the truth

Written by `make coverage`, which draws many samples ({runs:,} a line) from worlds whose true figures are known. A 95 %
interval should *cover* the true figure in 95 % of the samples; ± is the simulation error. *Width* is the mean width
divided by that of an interval which knows how much the figure varies (± 1.96 standard deviations over all samples): 1
is the best that can be had. *Noted* is the share of samples in which the figure comes with a note that warns the
reader, *none* the share that has no interval, but a reason.

{short}
"""
LINE = "| figure | world | rows | covered | width | noted | none |\n|---|---|---|---|---|---|---|"
TESTED = LINE.replace("rows |", "rows | rejected | against |", 1) + "---|---|"

Found = Mapping[Cell, Mapping[str, Summary]]


def page(found: Found, runs: int) -> str:
    lines = [(cell, figure, one) for cell, figures in found.items() for figure, one in figures.items()]
    failed = sum(not one.kept for _, _, one in lines)
    short = fill(
        f"The worlds are chosen to be **hard**: easy ones stand near the end, and those for which nothing helps last. "
        f"Of {len(lines)} lines {failed} keep less than they say, by more than two points (of a test: one) and two "
        "simulation errors, or contradict themselves; what is wrong is in **bold**.",
        120,
    )
    parts = [HEAD.format(runs=runs, short=short)]
    for section in SECTIONS:
        cells = [cell for cell in section.cells if cell in found]
        if cells:
            parts.append(f"## {section.title}\n\n{fill(section.words, 120)}\n")
        for head, tested in ((LINE, False), (TESTED, True)):
            rows = [row for cell in cells for row in table(cell, found[cell]) if tested == (row.count("|") > 8)]
            if rows:
                parts.append("\n".join([head, *rows]) + "\n")
    return "\n".join(parts)


def table(cell: Cell, figures: Mapping[str, Summary]) -> Iterator[str]:
    """The lines of a cell; a figure that is tested has two columns more."""
    for figure, one in figures.items():
        shown = [""] * 4
        if not math.isnan(one.covered):
            covered = _percent(one.covered, one.error, one.short)
            shown = [covered, f"{one.width:.2f}", f"{one.noted:.0%}", f"{one.without:.0%}"]
        if not math.isnan(one.rejected):
            against = _marked(str(one.contradictions), one.contradictions > 0)
            shown = [_percent(one.rejected, one.rejected_error, one.rash), against, *shown]
        yield f"| {' | '.join([figure, cell.world.words, f'{cell.world.rows:,}', *shown])} |"


def _percent(share: float, error: float, bad: bool) -> str:
    return _marked(f"{100 * share:.1f} ± {100 * error:.1f}", bad)


def _marked(text: str, bad: bool) -> str:
    return f"**{text}**" if bad else text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="samples of each world")
    parser.add_argument("--only", default="", help="worlds, figures or sections that hold these words, to the terminal")
    parser.add_argument("--quick", action="store_true", help="few samples, to the terminal")
    asked = parser.parse_args()
    runs = 30 if asked.quick else asked.runs
    cells = [
        cell
        for section in SECTIONS
        for cell in section.cells
        if asked.only in f"{section.title} {cell.world.words} {cell.figures}"
    ]
    started, found = time.perf_counter(), {}
    with ProcessPoolExecutor() as pool:
        for cell, figures in zip(cells, pool.map(partial(_run, runs), map(ALL.index, cells)), strict=True):
            found[cell] = figures
            print(f"{time.perf_counter() - started:6.0f} s", *table(cell, figures), sep="\n", flush=True)
    text = page(found, runs) + (
        "" if asked.only else f"\n{few_labels.section(max(runs // 20, 5))}\n{long_runs.sections(max(runs // 8, 10))}"
    )
    print(text)
    if not asked.quick and not asked.only:
        TARGET.write_text(text, encoding="utf-8")


ALL = [cell for section in SECTIONS for cell in section.cells]


def _run(runs: int, number: int) -> dict[str, Summary]:
    """A cell by its number, since worlds do not travel between processes."""
    return ALL[number].run(runs)


if __name__ == "__main__":
    main()
