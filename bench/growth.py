"""How time and memory grow with the number of rows, each measurement in a new process."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import alone
import stakes
from samples import two_classes

FIRST = 10**4
TOO_LONG = 20.0
"""scikit-learn is not run where it would take more seconds than this, going by the size before."""


@dataclass(frozen=True)
class Task:
    """What is asked of both sides."""

    name: str
    stakes: str
    scikit_learn: str
    work: str

    def ran(self, side: str) -> str:
        return self.stakes if side == "stakes" else f"scikit-learn {self.scikit_learn}"


TASKS = (
    Task(
        "every figure",
        "`evaluate(truth=y, score=s).to_rows()`, with intervals",
        "`confusion_matrix` and ten figures, one call each, no intervals",
        "figures",
    ),
    Task("auc", "`metrics.auc(y, s)`", "`roc_auc_score(y, s)`", "auc"),
    Task("table of decisions", "`count(truth=y, prediction=d).confusion`", "`confusion_matrix(y, d)`", "confusion"),
)
SIDES = {"stakes": "#0072B2", "scikit-learn": "#D55E00"}  # told apart by colour-blind readers too


@dataclass(frozen=True)
class Point:
    """What one side took for one task at one size, or why it was not run."""

    task: str
    side: str
    rows: int
    seconds: float | None
    extra: float | None  # bytes on top of the rows
    why_not: str = ""

    @property
    def missing(self) -> str:
        """That a size would take too long is expected, and said in the table."""
        unexpected = self.why_not and "about" not in self.why_not
        return f"{self.task}, {self.side}, {self.rows:,} rows: {self.why_not}" if unexpected else ""


@dataclass
class Step:
    """One task by one side at one size; ``before`` are the points of smaller sizes."""

    task: Task
    side: str
    rows: int
    before: list[Point]

    def run(self) -> list[Point]:
        reason = self._too_much()
        if reason:
            return [self.left_out(reason)]
        found = alone.measured("growth.work", self.side, self.task.work, self.rows, runs=5)
        point = Point(self.task.name, self.side, self.rows, found.seconds, found.extra)
        self.before.append(point)
        return [point]

    def left_out(self, why: str) -> Point:
        return Point(self.task.name, self.side, self.rows, None, None, why)

    def _too_much(self) -> str:
        """Why this would take too long or too much memory, going by the size before."""
        same = [point for point in self.before if (point.task, point.side) == (self.task.name, self.side)]
        if not same:
            return ""
        times = self.rows / same[-1].rows
        seconds, extra = times * same[-1].seconds, times * same[-1].extra + 20 * self.rows
        if self.side != "stakes" and seconds > TOO_LONG:
            return f"left out: about {seconds:.0f} s"
        return alone.too_large(extra)


def pieces(n: int) -> Iterator[Step]:
    """From 10⁴ rows to ten times as many as the contests have."""
    points: list[Point] = []
    sizes = [FIRST * 10**i for i in range(max(round(math.log10(10 * n / FIRST)), 0) + 1)]
    for rows in sizes:
        for task in TASKS:
            for side in SIDES:
                yield Step(task, side, rows, points)


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def work(side: str, task: str, n: int) -> Callable[[], None]:
    columns = two_classes(n)
    action = _of_stakes(task) if side == "stakes" else _of_scikit_learn(task)
    action(*two_classes(1000))  # what loads on first use is loaded now

    def answered() -> None:
        action(*columns)

    return answered


def _of_stakes(task: str) -> Callable[..., object]:
    return {
        "figures": lambda y, s, d: stakes.evaluate(truth=y, score=s).to_rows(),
        "auc": lambda y, s, d: stakes.metrics.auc(y, s),
        "confusion": lambda y, s, d: stakes.count(truth=y, prediction=d).confusion,
    }[task]


def _of_scikit_learn(task: str) -> Callable[..., object]:
    import scikit  # here, so that it is no part of the memory of stakes

    return {
        "figures": lambda y, s, d: scikit.figures(y, d, s),
        "auc": lambda y, s, d: scikit.sk.roc_auc_score(y, s),
        "confusion": lambda y, s, d: scikit.sk.confusion_matrix(y, d),
    }[task]


# ── what a reader sees ───────────────────────────────────────────────────────────────────────────────────────────
def shown(points: Iterable[Point]) -> str:
    """Tables of time and of memory, a line for each task and side."""
    found = {(point.task, point.side, point.rows): point for point in points}
    sizes = sorted({rows for _, _, rows in found})
    head = "| what was run | " + " | ".join(f"{rows:,} rows" for rows in sizes) + " |\n|---|" + "---|" * len(sizes)

    def table(cell: Callable[[Point], str]) -> str:
        lines = [
            "| "
            + " | ".join([task.ran(side), *(_cell(found.get((task.name, side, rows)), cell) for rows in sizes)])
            + " |"
            for task in TASKS
            for side in SIDES
        ]
        return "\n".join([head, *lines])

    return "\n".join(
        [
            "Rows in memory: a bool truth, float64 scores, bool decisions. scikit-learn is not run where it would take "
            f"more than {TOO_LONG:.0f} s.",
            "",
            "![Time and memory from ten thousand rows on, stakes and scikit-learn](growth.svg)",
            "",
            "Time:",
            "",
            table(lambda point: f"{point.seconds:.4f} s" if point.seconds < 0.1 else f"{point.seconds:.2f} s"),
            "",
            "Peak of memory on top of the rows themselves, and how many bytes that is for each row:",
            "",
            table(lambda point: f"{point.extra / 1e6:,.1f} MB" + _a_row(point)),
        ]
    )


def _a_row(point: Point) -> str:
    """Of few rows it would say little: most is the same for any number of rows."""
    return f", {point.extra / point.rows:,.1f} a row" if point.rows > FIRST else ""


def _cell(point: Point | None, text: Callable[[Point], str]) -> str:
    if point is None:
        return ""
    return point.why_not if point.seconds is None else text(point)


def draw(points: Iterable[Point], file: Path) -> None:
    """Time above, memory below, one column for each task; every curve is labelled where it ends."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    known = [point for point in points if point.seconds is not None]
    last = max((point.rows for point in known), default=FIRST)
    style = {"svg.fonttype": "none", "svg.hashsalt": "stakes", "font.family": "sans-serif", "font.size": 10}
    with plt.rc_context(style):
        figure, axes = plt.subplots(2, len(TASKS), figsize=(10.5, 6), sharex=True, sharey="row", facecolor="white")
        for column, task in enumerate(TASKS):
            axes[0, column].set_title(task.name, fontweight="bold")
            axes[1, column].set_xlabel("rows")
            for side in SIDES:
                mine = [point for point in known if (point.task, point.side) == (task.name, side)]
                rows = [point.rows for point in mine]
                for axis, values in (
                    (axes[0, column], [point.seconds for point in mine]),
                    (axes[1, column], [max(point.extra, 4096) / 1e6 for point in mine]),
                ):
                    _curve(axis, rows, values, side, last)
        axes[0, 0].set_xlim(right=50 * last)  # room for the labels
        for axis in axes[:, 0]:
            axis.set_ylim(top=5 * axis.get_ylim()[1])
        axes[0, 0].set_xticks(sorted({point.rows for point in known}))
        axes[0, 0].set_ylabel("seconds")
        axes[1, 0].set_ylabel("MB on top of the rows")
        figure.tight_layout()
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)


def _curve(axis: object, rows: list[int], values: list[float], side: str, last: int) -> None:
    colour = SIDES[side]
    axis.loglog(rows, values, "o-" if side == "stakes" else "s--", color=colour, markersize=4)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    axis.minorticks_off()
    if rows:
        beside, above = {"xytext": (7, 0), "va": "center"}, {"xytext": (0, 5), "va": "bottom", "ha": "right"}
        place = beside if rows[-1] == last else above  # beside an earlier end the other curve goes on
        axis.annotate(
            side, (rows[-1], values[-1]), textcoords="offset points", color=colour, fontweight="bold", **place
        )
