"""The page of watched conditions: the course of each figure, alarms and the days on which it may have changed."""

from stakes.evaluation.watch import Watch, WatchedFigure
from stakes.findings.pages.payload import Part, section
from stakes.language.sentences import sentence, short_name
from stakes.records import plain

_MOST_DAYS = 2000


def sections_of(watch: Watch) -> list[Part]:
    """Return a section for each condition."""
    return [_section(one, place) for place, one in enumerate(watch.watched, 1)]


def _section(one: WatchedFigure, place: int) -> Part:
    course = one.course[-_MOST_DAYS:]
    names = [point.day for point in course]
    columns = {
        name: [plain(getattr(point, name)) for point in course] for name in ("own", "value", "low", "high", "evidence")
    }
    marks = {"alarm": one.alarm, "change": one.change}
    found = {name: names.index(day) if day in names else None for name, day in marks.items()}
    ends = [names.index(day) for day in (*one.change_days[:1], *one.change_days[-1:]) if day in names]
    return section(
        "course",
        id=f"course-{place}",
        title=sentence("watch.course_title", condition=one.condition),
        metric=one.figure,
        limit=one.limit,
        needed=one.needed,
        days=[short_name(name) for name in names],
        rows=[plain(point.rows) for point in course],
        **columns,
        **found,
        change_days=ends if len(ends) == 2 else None,
        confidence=one.estimate.confidence,
    )
