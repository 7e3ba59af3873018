"""watch(): conditions that a model must go on meeting, checked every day without more false alarms."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Unpack

import numpy as np

from stakes import metrics
from stakes.engines.plan import FEW_LABELS, Counted
from stakes.errors import Given, InputError, Pass, short, some
from stakes.evaluation import judge
from stakes.evaluation.base import Evaluation
from stakes.evaluation.from_tallies import are_tallies, load_parts
from stakes.evaluation.gate.conditions import Figure, GapFigure, Requirement
from stakes.evaluation.watch.days import Memory, read_days, refuse_again, refuse_disorder
from stakes.evaluation.watch.expected import EXPECTED, expected
from stakes.evaluation.watch.monitors import Area, Monitor, monitor_of
from stakes.evaluation.watch.shifts import SHIFTS, Shift, Unlabelled
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate
from stakes.question.options import Data, Value, Watched, asks
from stakes.question.question import Question
from stakes.records import Count, Finite, Record, RowCount, Says, Share
from stakes.results import Reportable
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.checks import as_list, check_share, is_one_of
from stakes.text import visible
from stakes.uncertainty.interval import Interval, figure
from stakes.uncertainty.sequences import Alarm, log_stakes, log_total

_AT_ONCE = 1 << 17
"""About this many numbers of windows are handled at once."""


@dataclass(frozen=True)
class CoursePoint(Record):
    """One day: its own figure, that of all days so far with limits that hold on all days at once, and the evidence.

    ``evidence`` is how many times what was staked against "all is well" has become; it alarms at ``needed``.
    """

    day: str
    rows: RowCount
    own: float
    value: float
    low: float | None
    high: float | None
    evidence: float


@dataclass(frozen=True)
class WatchedFigure(
    Record,
    shown="condition figure limit exact alarm change change_days since_change evidence needed days_alike "
    "bounds estimate course",
):
    """A condition that is watched, and whether there was an alarm.

    ``alarm`` is the day on which the evidence sufficed, ``change`` the likely day of the change, ``change_days`` those
    that are as likely (95 %), ``since_change`` the figure from then on. ``exact`` says whether the chance of a false
    alarm is exact rather than approximate. The auc is that of scores in bins: ``bounds`` are the ends between which
    that of the scores themselves lies, over all days; other figures have none. For days in wide bins the end that
    favours the condition is shown and used.
    """

    condition: str
    figure: str
    limit: Finite
    exact: bool
    alarm: str | None
    change: str | None
    change_days: Sequence[str]
    since_change: float
    evidence: float
    needed: Finite
    days_alike: bool
    bounds: Sequence[float]
    estimate: Estimate
    course: Sequence[CoursePoint]


@dataclass(frozen=True, eq=False)
class Watch(
    Record, Narrated, Reportable, stakes="watch", shown="alarmed days rows alpha life since waiting findings watched"
):
    """Conditions that were watched day by day; there is an alarm once a condition surely no longer holds.

    The chance that there is ever a false one, over the whole life and for all conditions together, is at most
    ``alpha``, however often one looks. ``since`` is the first day that is watched, ``waiting`` are days whose labels
    are not complete.
    """

    watched: Annotated[Sequence[WatchedFigure], Says(least_items=1)]
    days: Annotated[Count, Says(minimum=1)]
    rows: RowCount
    alpha: Share
    since: str
    life: Count | None = None
    waiting: Sequence[str] = ()

    plotted_as = "watch"

    @property
    def alarmed(self) -> bool:
        """Whether any condition surely no longer holds."""
        return any(one.alarm is not None for one in self.watched)

    def __bool__(self) -> bool:
        return not self.alarmed

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per condition and day, for a data frame."""
        return [{"condition": one.condition, **point.data()} for one in self.watched for point in one.course]

    def __repr__(self) -> str:
        alarms = [f"{one.condition} since {one.change}" for one in self.watched if one.alarm is not None]
        return visible(f"<Watch of {self.days:,} days: {'alarm, ' + '; '.join(alarms) if alarms else 'no alarm'}>")


@asks("watch")
def watch(days: Data, *, against: Data = None, **asked: Unpack[Watched]) -> Watch:
    """Watch whether a model goes on meeting conditions, day by day, without more false alarms.

    ``days`` are tallies (what ``count()`` gave, or files) in the order of time, or a dictionary name → tally.
    ``require`` are conditions such as ``"recall >= 0.9"`` or ``"auc >= 0.8"``; ``against`` is a reference (a tally),
    than which each figure named may be worse by ``margin``, also one without a limit (``require=["auc"]``). ``drop`` is
    the smallest change worth an alarm; ``life`` how many days will be watched, if that is known. ``"scores"`` and
    ``"segments"`` watch where rows lie beside those of the reference, which needs no truth: count days with
    ``unlabelled="estimate"``. ``"expected recall >= 0.8"`` watches the recall that calibrated scores imply.

    The chance that there is **ever** a false alarm is at most ``alpha``, however often one looks: exactly so for rates
    of days that differ by chance alone (``days_alike=True``), approximately otherwise. Days whose rows lack labels
    (more than ``allow_dropped`` of them) wait, and so do all after them. ``state`` names a small file that remembers
    days, so that each call brings the new ones; after an alarm, ``restart`` names the day with which to begin again.

    >>> from stakes import count
    >>> days = [count(truth=[1] * 50, prediction=[1] * hits + [0] * (50 - hits)) for hits in [46, 47, 45, 30, 31, 33]]
    >>> found = watch(days, require="recall >= 0.9", days_alike=True)
    >>> found.watched[0].alarm, found.watched[0].change
    ('day 4', 'day 4')
    """
    question = Question.of("watch", asked)
    request = _Request.of(question, against)
    named = read_days(days)
    complete, waiting = _split_complete(named, check_share("allow_dropped", question["allow_dropped"]))
    return _watch(request, complete, waiting, question["state"], question["restart"])


@dataclass(frozen=True, eq=False)
class _Request:
    """The checked request: conditions, figures compared with a reference, and the chance of a false alarm."""

    conditions: tuple[Requirement, ...]
    compared: tuple[str, ...]
    shifts: tuple[str, ...]
    reference: Value
    question: Question
    alpha: float
    margin: float
    drop: float | None

    @classmethod
    def of(cls, question: Question, against: Data) -> "_Request":
        require = question["require"]
        texts = [require] if isinstance(require, str) else [] if require is None else as_list(require)
        if not texts:
            raise InputError(
                "nothing-to-watch", "there is nothing to watch; give conditions as ", Pass("require", "recall >= 0.9")
            )
        for wrong in (text for text in texts if not isinstance(text, str)):
            Requirement.parse(wrong)  # says what a condition is
        shifts = tuple(text for text in texts if text in SHIFTS)
        texts = [text for text in texts if text not in SHIFTS]
        bare = [text for text in texts if not any(sign in text for sign in "<>≥≤")]
        conditions = tuple(_parsed(text) for text in texts if text not in bare)
        names = [_promised(text) + str(Figure.parse(text.removeprefix(EXPECTED))) for text in bare]
        names = names or [_promised(one.text) + str(one.figure) for one in conditions]
        if shifts and against is None:
            raise InputError(
                "no-reference", f"{shifts[0]} are held against those of a reference; give ", Pass("against")
            )
        if bare and against is None:
            raise InputError(
                "no-reference",
                f"{short(repr(bare[0]))} has no limit; write one ({bare[0]} >= 0.8), or give ",
                Pass("against"),
            )
        if against is None and question["margin"] is not None:
            raise InputError("margin-of-nothing", Given("margin"), " is about a reference; give ", Pass("against"))
        return cls(
            conditions,
            tuple(names) if against is not None else (),
            shifts,
            None if against is None else _reference(against, question),
            question,
            _share("alpha", question["alpha"]),
            0.0 if question["margin"] is None else _positive("margin", question["margin"], 0.0),
            None if question["drop"] is None else _positive("drop", question["drop"]),
        )

    @property
    def words(self) -> list[str]:
        """The conditions in words, those against a reference last."""
        worse = f"at most {self.margin:g} worse than the reference" if self.margin else "no worse than the reference"
        alike = [f"{name} as in the reference" for name in self.shifts]
        return [*(one.text for one in self.conditions), *(f"{name} {worse}" for name in self.compared), *alike]

    def asked(self) -> dict[str, object]:
        """What must stay the same while days are added."""
        shifts = {f"reference of {name}": self._shift(name).reference_in_words for name in self.shifts}
        same = {name: self.question[name] for name in ("life", "days_alike")}
        return {"conditions": self.words, "alpha": self.alpha, "drop": self.drop, **same, **shifts}

    def _shift(self, name: str) -> Shift:
        assert self.reference is not None
        return Shift.of(name, self.reference)

    def judge(self, counted: Counted) -> Value:
        """The evaluation of a day, or the day as it is where rows lack a truth."""
        if counted.task == FEW_LABELS:
            if not all(map(_promised, (*(one.text for one in self.conditions), *self.compared))):
                words = f"{self.words[0]!r} needs the truth of every row, and days hold rows without one; watch "
                others = " or ".join(map(repr, (*SHIFTS, f"{EXPECTED}accuracy >= 0.8")))
                raise InputError("day-without-truth", f"{words}{others}")
            return Unlabelled(counted)
        return judge(counted, None, self.question.sampling, self.question.pricing)

    def monitors(self, days: Sequence[Value], edges: Sequence[list[float] | None]) -> list[Monitor]:
        """How each condition is watched."""
        known = iter([*edges, *([None] * (len(self.words) - len(edges)))])
        here = [*([] if self.reference is None else [self.reference]), *days]
        found = [
            self._monitor(here, _promised(one.text) + str(one.figure), one.sign in (">=", ">"), one.limit, next(known))
            for one in self.conditions
        ]
        for monitor in found:
            low, high = monitor.metric.range
            if not low < monitor.limit < high:
                raise InputError(
                    "limit-at-end",
                    f"{monitor.metric.text} lies between {low:g} and {high:g}; give a limit between them",
                )
        for name in self.compared:
            higher = metrics.find(name.removeprefix(EXPECTED)).better != "lower"
            monitor = self._monitor(here, name, higher, 0.5, next(known))
            assert self.reference is not None
            found.append(monitor.against(monitor.numbers(self.reference), self.margin))
        found += [self._shift(name) for name in self.shifts]
        return [self._with_drop(monitor) for monitor in found]

    def _monitor(self, here: list[Value], name: str, floor: bool, limit: float, edges: list[float] | None) -> Monitor:
        if not _promised(name):
            return monitor_of(here[0], name, floor, limit, edges, here[1:])
        return expected(here[0], name.removeprefix(EXPECTED), floor, limit, self.question["costs"])

    def _with_drop(self, monitor: Monitor) -> Monitor:
        monitor = replace(monitor, drop=monitor.usual_drop() if self.drop is None else self.drop)
        if monitor.drop <= 0 or (monitor.exact and monitor.drop**2 >= monitor.limit * (1 - monitor.limit)):
            raise InputError(
                "bad-drop",
                f"the smallest change of {monitor.metric.text} that is worth an alarm cannot be {monitor.drop:g}; ",
                "give ",
                Pass("drop"),
            )
        monitor.refuse_useless_reference(self.alpha / len(self.words))
        return monitor


def _promised(text: str) -> str:
    """The first word of a condition on an expected figure; empty for others."""
    return EXPECTED if text.startswith(EXPECTED) else ""


def _parsed(text: str) -> Requirement:
    """Read a condition, which may be about an expected figure.

    Conditions for a single look (ends of intervals, segments, gaps) are refused.
    """
    promised = _promised(text)
    one = Requirement.parse(text.removeprefix(EXPECTED) if promised else text)
    if one.end != "value" or one.every_segment or isinstance(one.figure, GapFigure) or one.figure.of is not None:
        raise InputError(
            "condition-of-one-look",
            f"{short(repr(one.text))} is for a gate; what is watched is a figure of all rows itself ('recall >= 0.9'), "
            "and evidence takes the place of an interval; leave out .low, .high, classes, gaps and segments",
        )
    one.warn_if_weak()
    return replace(one, text=promised + one.text)


def _reference(against: Data, question: Question) -> Value:
    if isinstance(against, Evaluation):
        return against
    if not are_tallies(against):
        raise InputError(
            "not-a-reference", "the reference is a tally, or an evaluation; count its rows first: stakes count"
        )
    counted = Counted.sum(load_parts(against))
    if counted.task == FEW_LABELS:
        return Unlabelled(counted)
    return judge(counted, None, question.sampling, question.pricing)


def _share(name: str, value: Value) -> float:
    if not is_real(value) or not 0 < value < 1:
        raise InputError("bad-alpha", Given(name, value), " is no chance of a false alarm; give a number such as 0.05")
    return float(value)


def _positive(name: str, value: Value, least: float = 5e-324) -> float:
    if not is_real(value) or not least <= value < math.inf:
        raise InputError(
            "bad-watch-number",
            Given(name, value),
            f" does not work; give a number {'above' if least else 'from'} 0{'' if least else ' on'}",
        )
    return float(value)


def _split_complete(named: Mapping[str, Counted], allowed: float) -> tuple[dict[str, Counted], list[str]]:
    """The days whose labels are complete, up to the first that is not; that one waits, and all after it."""
    names = list(named)
    wait = next((place for place, name in enumerate(names) if named[name].dropped_share > allowed), len(names))
    return {name: named[name] for name in names[:wait]}, names[wait:]


def _watch(
    request: _Request, days: Mapping[str, Counted], waiting: list[str], state: str | None, restart: str | None
) -> Watch:
    """Add new days to earlier ones, and look at all."""
    before = None if state is None else Memory.read(state)
    if not days:
        raise InputError(
            "all-days-wait",
            f"the labels of {some(waiting)} are not complete yet; give a day that is, or loosen ",
            Pass("allow_dropped"),
        )
    Counted.sum(list(days.values()))  # refuses tallies of different questions
    memory = before or Memory(request.asked(), numbers=[[] for _ in request.words])
    memory.refuse_another_question(request.asked())
    refuse_again(list(days), memory.days)
    refuse_disorder([*memory.days[-1:], *days])
    first = next(iter(days.values()))
    if request.reference is not None and first._weighted != request.reference.counted._weighted:
        words = "either the days or the reference have weights, and not both; count them alike"
        raise InputError("weights-of-reference", words)
    evaluations = [request.judge(day) for day in days.values()]
    monitors = request.monitors(evaluations, memory.edges)
    added = Memory(
        memory.asked,
        [*memory.days, *days],
        [*memory.rows, *(float(one.rows) for one in evaluations)],
        [
            [*old, *(monitor.numbers(one).tolist() for one in evaluations)]
            for old, monitor in zip(memory.numbers, monitors, strict=True)
        ],
        [
            monitor.edges.tolist() if isinstance(monitor, Area) and monitor.edges is not None else None
            for monitor in monitors
        ],
        _begin(restart, [*memory.days, *days], memory.start),
    )
    found = _look(request, monitors, added, waiting)
    if state is not None:
        added.write(state)
    return found


def _begin(restart: str | None, days: Sequence[str], before: int) -> int:
    """The day with which to begin."""
    if restart is None:
        return before
    if not is_one_of(restart, days):
        raise InputError(
            "no-such-day", Given("restart", restart), f" is none of the days; there are {some(list(days)[-5:])}"
        )
    return list(days).index(restart)


def _look(request: _Request, monitors: Sequence[Monitor], memory: Memory, waiting: list[str]) -> Watch:
    """Look at all days since the beginning."""
    alpha = request.alpha / len(monitors)
    names, rows = memory.days[memory.start :], memory.rows[memory.start :]
    watched = [
        _look_at(monitor, words, names, rows, np.array(numbers[memory.start :]), alpha, request)
        for monitor, words, numbers in zip(monitors, request.words, memory.numbers, strict=True)
    ]
    total = sum(int(one) if float(one).is_integer() else one for one in rows)
    return Watch(watched, len(names), total, request.alpha, names[0], request.question["life"], waiting)


def bets_by_day(monitor: Monitor, days: Array, spread: Array, life: int | None = None) -> Iterator[Array]:
    """The (logarithmic) value at the end of every day of each bet that began up to then."""
    running = np.hstack([np.zeros((days.shape[1], 1)), np.cumsum(days, axis=0).T])
    stakes, step = log_stakes(len(days), life), max(_AT_ONCE // running.size, 1)
    for first in range(0, len(days), step):
        last = min(first + step, len(days))
        begun = np.arange(last) <= np.arange(first, last)[:, None]
        sums = np.where(begun, running[:, first + 1 : last + 1, None] - running[:, None, :last], 0.0)
        evidence = monitor.evidence(np.moveaxis(sums, 0, -1), spread[first:last, None])
        yield from (stakes[: day + 1] + evidence[day - first, : day + 1] for day in range(first, last))


def _look_at(
    monitor: Monitor,
    words: str,
    names: Sequence[str],
    rows: Sequence[float],
    days: Array,
    alpha: float,
    request: _Request,
) -> WatchedFigure:
    """The evidence of one condition after each day, the alarm, and the course."""
    spread = np.ones(len(days)) if request.question["days_alike"] else monitor.spread(days)
    running = np.vstack([np.zeros(days.shape[1]), np.cumsum(days, axis=0)])
    totals, alarm = [], None
    for day, terms in enumerate(bets_by_day(monitor, days, spread, request.question["life"])):
        totals.append(log_total(terms))
        if alarm is None and totals[-1] >= -math.log(alpha):
            alarm = Alarm.of(day, terms)
    whole, own = monitor.figures(running[1:]), monitor.figures(days)
    low, high = (_known(end) for end in monitor.course(running[1:], spread, alpha))
    evidence = [math.exp(min(total, 700.0)) for total in totals]
    course = [
        CoursePoint(names[t], rows[t], float(own.value[t]), float(whole.value[t]), low[t], high[t], evidence[t])
        for t in range(len(days))
    ]
    last = course[-1]
    limits = Interval(last.low, last.high, "limits that hold on all days at once")
    estimate = figure(monitor.metric.text, last.value, math.nan, limits, 1 - alpha)
    return WatchedFigure(
        words,
        monitor.metric.text,
        float(monitor.limit),
        monitor.exact and request.question["days_alike"],
        None if alarm is None else names[alarm.day],
        None if alarm is None else names[alarm.change],
        [] if alarm is None else [names[day] for day in alarm.days],
        math.nan if alarm is None else float(monitor.figures(running[-1:] - running[alarm.change]).value[0]),
        max(evidence),
        1 / alpha,
        request.question["days_alike"],
        monitor.bounds(running[-1]) or (),
        estimate,
        course,
    )


def _known(end: Array) -> list[float | None]:
    return [float(one) if math.isfinite(one) else None for one in end.tolist()]
