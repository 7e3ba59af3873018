"""The verdict on watched conditions: is there an alarm, since when, and how sure is that promise?"""

from collections.abc import Iterator

from stakes.errors import Pass
from stakes.evaluation.watch import Watch, WatchedFigure
from stakes.evaluation.watch.expected import EXPECTED
from stakes.evaluation.watch.shifts import SHIFTED
from stakes.findings.verdicts.answers import MOST, in_order, side_of
from stakes.language.sentences import Chip, Finding, Sentence, answer, caution, metric, sentence
from stakes.metrics import Estimate, find

_MUCH = 0.01
"""Where bins leave more of a figure open than this, the verdict says how to avoid that."""


def verdict_of(watch: Watch) -> tuple[Finding, ...]:
    """Return whether each condition still holds, and what to keep in mind."""
    answers = [_of_condition(watch, one) for one in watch.watched[:MOST]]
    return in_order(answers, _cautions(watch))


def _of_condition(watch: Watch, one: WatchedFigure) -> Finding:
    figures = [Chip.of(one.estimate, "watch.over_all", name=_named(one.figure))]
    if one.alarm is None:
        surely = one.figure in SHIFTED or side_of(one.estimate, one.limit) == _side_that_holds(one)
        no_alarm = sentence("watch.no_alarm" if surely else "watch.no_alarm_yet", n=watch.days)
        lines = [no_alarm, sentence("watch.evidence", most=one.evidence, needed=one.needed)]
        return answer("watch.question", "good" if surely else "note", *lines, figures=figures, condition=one.condition)
    since = Estimate(one.figure, one.since_change)
    figures = [Chip.of(since, "watch.since_then", name=_named(one.figure)), *figures]
    lines = [
        sentence("watch.alarm", day=one.alarm),
        sentence("watch.change", day=one.change, first=one.change_days[0], last=one.change_days[-1]),
        sentence("watch.restart", option=Pass("restart")),
    ]
    return answer("watch.question", "bad", *lines, figures=figures, condition=one.condition)


def _side_that_holds(one: WatchedFigure) -> int:
    """On which side of its limit a figure has to be: that of the sign, or of a reference the better one."""
    lower = find(one.figure).better == "lower"
    return -1 if "<" in one.condition or (lower and ">" not in one.condition) else 1


def _named(figure: str) -> Sentence | dict[str, str]:
    """The name of a figure; a shift of rows is no metric and has a name of its own."""
    return sentence(f"watch.{figure}") if figure in SHIFTED else metric(figure)


def _cautions(watch: Watch) -> Iterator[Finding]:
    exact = all(one.exact for one in watch.watched)
    yield caution("watch.exact" if exact else "watch.approximate", alpha=watch.alpha)
    if any(one.figure in SHIFTED for one in watch.watched):
        yield caution("watch.only_shift")
    if any(one.condition.startswith(EXPECTED) for one in watch.watched):
        yield caution("watch.only_promised")
    yield from _bins(watch)
    if watch.watched[0].days_alike:
        yield caution("watch.days_alike")
    if watch.waiting:
        yield caution("watch.waiting", n=len(watch.waiting), day=watch.waiting[0])


def _bins(watch: Watch) -> Iterator[Finding]:
    """The range in which bins leave a figure, and what to do where that is wide."""
    for one in {one.figure: one for one in watch.watched if one.bounds}.values():
        low, high = one.bounds
        yield caution("watch.binned", name=metric(one.figure), low=low, high=high)
        if high - low > _MUCH:
            yield caution("watch.open_bins", option=Pass("exact", True))
