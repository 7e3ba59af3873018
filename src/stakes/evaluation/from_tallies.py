"""Tallies that were counted before, or came as files: they are added up, and evaluated like rows."""

import os
from collections.abc import Mapping

from stakes import errors
from stakes.engines.anonymise import SUFFIX
from stakes.engines.plan import Counted
from stakes.errors import InputError, several
from stakes.question.options import Data
from stakes.question.question import Question
from stakes.records import Record
from stakes.tallies import Confusion, Tally
from stakes.tallies.names import canonical


def are_tallies(data: Data) -> bool:
    """Whether these are tallies, or names of some; rows among them are refused."""
    if _in_memory(data):
        return True
    names = [data] if isinstance(data, str | os.PathLike) else data
    if not isinstance(names, list | tuple) or not all(isinstance(name, str | os.PathLike) for name in names):
        return False
    tallies = [name for name in names if _is_tally(name)]
    if tallies and len(tallies) < len(names):
        other = os.fspath(next(name for name in names if not _is_tally(name)))
        raise InputError(
            "tallies-and-rows",
            f"{os.fspath(tallies[0])} is a tally but {other} holds rows; count those first: stakes count {other} … -o "
            f"{other}.tally",
        )
    return bool(tallies)


def refuse_tallies(data: Data) -> None:
    """Refuse results, tallies and names of some where rows are needed; published tables may be named."""
    named = isinstance(data, Mapping)
    for one in data.values() if named else data if isinstance(data, list | tuple) else [data]:
        if isinstance(one, Record | Counted) and not (named and isinstance(one, Confusion)):
            raise errors.tally_for_rows(f"this {type(one).__name__}")
        if isinstance(one, str | os.PathLike) and _is_tally(one):
            raise errors.tally_for_rows(os.fspath(one))


def _in_memory(data: Data) -> list[Data]:
    """The tallies that these are, if they are no names: one, or several."""
    parts = data if isinstance(data, list | tuple) else [data]
    return list(parts) if all(isinstance(part, Counted | Tally) for part in parts) else []


def _is_tally(name: str | os.PathLike[str]) -> bool:
    return bool(os.fspath(name).lower().endswith(SUFFIX))


def load_parts(data: Data) -> list[Counted]:
    """Load tallies, each by itself; names may be patterns, and no file is taken twice."""
    from stakes.engines.files.sources import sources
    from stakes.engines.plan import load

    parts = _in_memory(data) or [load(source.path) for source in sources(data)]
    return [part if isinstance(part, Counted) else Counted.of(part) for part in parts]


def load_sum(data: Data, question: Question) -> Counted:
    """Load tallies and add them up; options that would change the question are refused."""
    given = question.answered_by_counting
    counted = Counted.sum(load_parts(data))
    if counted.task == "items":
        raise InputError(
            "tally-of-items", f"{name_of(data)} holds graded items of models, which are ranked: stakes rank"
        )
    if "positive" in given and (_lacks_positive(counted) or _is_of_two(data)):
        counted = counted.called(canonical(given.pop("positive")))
    words = question.words(of_table=True)
    other = [name for name in given if name not in words or words[name] != counted.question.get(name)]
    held = counted.scores or counted.class_scores
    if question["exact"] is not None and question["exact"] == any(getattr(held, "grids", ())):
        other.append("exact")
    if question.given.get("auc_error") is not None:
        from stakes.engines.finer_bins import refuse_unless_kept  # few calls need it

        refuse_unless_kept(counted, question["auc_error"])
    if other:
        raise InputError(
            "fixed-when-counted",
            several(other),
            ": the question of a tally was fixed when its rows were counted; leave this out",
        )
    return counted


def _is_of_two(table: object) -> bool:
    """Whether this is a table of decisions between two classes."""
    return isinstance(table, Confusion) and len(table.truths) == 2


def _lacks_positive(counted: Counted) -> bool:
    """Whether these are decisions between two classes, neither of which was named positive when counting."""
    return _is_of_two(counted.confusion) and counted.confusion.positive is None


def name_of(tallies: Data) -> str:
    """What to call tallies in a message: the names of files, or what kind of tally it is."""
    if parts := _in_memory(tallies):
        return f"this {type(parts[0]).__name__}"
    names = [tallies] if isinstance(tallies, str | os.PathLike) else tallies
    return ", ".join(os.fspath(name) for name in names)
