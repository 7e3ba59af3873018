"""Days to watch: named tallies in order of time, and the file with the state of earlier ones."""

import itertools
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from stakes import errors
from stakes.engines.files.writing import check_target, write_text
from stakes.engines.plan import Counted
from stakes.errors import InputError, Pass, short
from stakes.evaluation.from_tallies import are_tallies, load_parts
from stakes.question.options import Data
from stakes.tallies.checks import as_path

_DATE = re.compile(r"(\d{4})-?(\d{2})-?(\d{2})")
_FORM = 2


def read_days(days: Data) -> dict[str, Counted]:
    """The tallies of days by name: a dictionary, a list of tallies, or names of files, in the order of time."""
    if isinstance(days, Mapping):
        named = {str(name): _one(day) for name, day in days.items()}
    elif are_tallies(days):
        names = _names(days)
        parts = load_parts(days)
        named = dict(zip(names or [f"day {place}" for place in range(1, len(parts) + 1)], parts, strict=True))
        if len(named) < len(parts):
            raise InputError("days-of-one-name", "two days have the same name, and each is told by its own; rename one")
    else:
        raise InputError(
            "not-days",
            "days are tallies, one for each; count them first (stakes count monday.csv … -o monday.tally), and give "
            "their names in the order of time",
        )
    if not named:
        raise InputError("no-days", "there are no days; give a tally for each")
    refuse_disorder(list(named))
    return named


def _one(day: Data) -> Counted:
    if not are_tallies(day):
        raise InputError(
            "not-a-day", f"a {type(day).__name__} is no tally; give what stakes.count(…) returned, or its file"
        )
    return Counted.sum(load_parts(day))


def _names(days: Data) -> list[str]:
    """The names of days that are files: as much of the file name as distinguishes them."""
    from stakes.engines.files.sources import sources  # names may be patterns
    from stakes.engines.joining import table_names

    given = days if isinstance(days, list | tuple) else [days]
    if not all(isinstance(name, str | os.PathLike) for name in given):
        return []
    return table_names([str(source.path) for source in sources(days)])


def refuse_disorder(names: Sequence[str]) -> None:
    """Refuse days whose names hold dates that do not rise."""
    dates = [_DATE.search(name) for name in names]
    known = [(name, found.groups()) for name, found in zip(names, dates, strict=True) if found]
    for (one, before), (other, after) in itertools.pairwise(known):
        if after <= before and len(known) == len(names):
            raise InputError(
                "days-out-of-order",
                f"{short(repr(other))} was given after {short(repr(one))}; give days in the order of time, each once",
            )
    if not known:
        _refuse_unnatural(names)


def _refuse_unnatural(names: Sequence[str]) -> None:
    """Refuse numbered days as a shell sorts them: day10 before day2."""
    parts = [re.fullmatch(r"(.*?)(\d+)(\D*)", name) for name in names]
    if not all(parts) or len({(one[1], one[3]) for one in parts if one}) != 1:
        return
    numbers = [int(one[2]) for one in parts if one]
    for place, (before, after) in enumerate(itertools.pairwise(numbers)):
        if after <= before:
            raise InputError(
                "days-unsorted",
                f"{short(repr(names[place + 1]))} was given after {short(repr(names[place]))}; give days in order, "
                "or number them with zeros in front (day02)",
            )


@dataclass(frozen=True)
class Memory:
    """The state of days that were watched before: the question, and the numbers of each day."""

    asked: dict[str, Any]
    days: list[str] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)
    numbers: list[list[list[float]]] = field(default_factory=list)
    edges: list[list[float] | None] = field(default_factory=list)
    start: int = 0

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Memory | None":
        """Read the file; None where there is none yet."""
        file = as_path("state", path)
        if not file.exists():
            return None
        try:
            saved = json.loads(file.read_text(encoding="utf-8"))
            if saved.pop("stakes") != "watched" or saved.pop("format") != _FORM:
                raise ValueError("it is of another form")
            found = cls(**saved)
            lengths = {len(found.days), len(found.rows), *map(len, found.numbers)}
            if len(lengths) > 1 or not 0 <= found.start <= len(found.days):
                raise ValueError("it holds different numbers of days")
            return found
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
            raise InputError(
                "damaged-state",
                f"{os.fspath(path)} is damaged or no state of watching ({short(str(problem), 80)}); name another "
                "file, or delete it and give all days again",
            ) from None

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        text = json.dumps({"stakes": "watched", "format": _FORM, **asdict(self)}, allow_nan=False)
        check_target(path, "json")
        write_text(path, text + "\n", "json")

    def refuse_another_question(self, asked: Mapping[str, Any]) -> None:
        """Refuse to go on with another question than the one that days were kept for."""
        for name, value in asked.items():
            if self.asked.get(name) != value:
                raise InputError(
                    "state-of-another-question",
                    f"the state was made with {name} {short(repr(self.asked.get(name)))}, and now it is "
                    f"{short(repr(value))}; ask the same, or name another file as ",
                    Pass("state"),
                )


def refuse_again(names: Sequence[str], before: Sequence[str]) -> None:
    """Refuse days that are in the state already."""
    again = [name for name in names if name in set(before)]
    if again:
        raise InputError(
            "day-again",
            f"{errors.some(again)} {'is' if len(again) == 1 else 'are'} in the state already; give new days only",
        )
