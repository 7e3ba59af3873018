"""The plan of a pass over the rows, and its result."""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, Literal, Self, get_args

from stakes import errors
from stakes.engines.anonymise import SMALL, SMALL_SEGMENTS
from stakes.errors import EmptyError, InputError, Pass, short
from stakes.frozen import dataclass, field, replace
from stakes.tallies import (
    ClassScores,
    Confusion,
    CostSums,
    CountSums,
    ErrorSums,
    ForecastSums,
    JointCounts,
    LabelSums,
    OutputSums,
    QuantileSums,
    ScoreTable,
    Tally,
)
from stakes.tallies.arithmetic import alike, is_real
from stakes.tallies.base import Saved
from stakes.tallies.checks import as_list
from stakes.tallies.clusters import Clusters
from stakes.tallies.confusion import MOST_CLASSES

DecidedBy = Literal["rows", "score", "costs", "threshold"]

NAMES_OF_COLUMNS = (
    *("truth", "score", "prediction", "weight", "frequency", "by", "exposure", "order", "series", "label_probability"),
    *("low", "high", "quantiles", "ensemble"),
)
"""Arguments that name columns; arrays have no name, which does not make it another question."""

REMEMBERED: dict[str, type | UnionType] = {
    **dict.fromkeys((*NAMES_OF_COLUMNS, "where", "alike", "costs"), str),
    **dict.fromkeys(("baseline", "prior", "training_prior"), str | int | float),
    "label_separator": str,
    **dict.fromkeys(("level", "season", "ordered"), int | float),
}
"""What a tally remembers of its question, where it is words or a number: only rows of the same question add to it."""

VERSION = 3
"""The version of what Counted.to_dict() writes."""


_SAVED = {
    *("stakes", "version", "task", "decided_by", "dropped", "threshold", "question", "columns", "read"),
    *("dropped_weight", "same_column", "tallies", "segments"),
}
"""The keys of a saved count; versions before 3 called the question "columns"."""

_KINDS: dict[str, type[Tally]] = {
    tally.kind: tally
    for tally in (
        *(Confusion, JointCounts, ScoreTable, ClassScores, ErrorSums, CostSums),
        *(LabelSums, OutputSums, QuantileSums, ForecastSums, CountSums),
    )
}
FEW_LABELS = "few labels"
"""The task of rows of which only some have a truth; labelled and other rows are in separate segments."""

WEIGHED = "weighed"
"""Prefix of segments that hold the same rows again, labelled ones weighted by the rows they stand for."""

_OF_TASK = {"regression": {"errors", "forecast"}, "counts": {"errors", "counts"}, "items": {"items"}}
_OF_TASK |= {FEW_LABELS: {"confusion", "scores"}} | {kind: {kind} for kind in ("labels", "outputs", "quantiles")}
_OF_TASK |= {"classification": {"confusion", "joint", "scores", "class_scores", CostSums.kind}}
"""The kinds of tallies of each task."""


def _class_of(kind: str) -> type[Tally]:
    """The tally of that kind; graded items are rare, and imported when needed."""
    if kind != "items":
        return _KINDS[kind]
    from stakes.tallies.graded_items import GradedItems

    return GradedItems


@dataclass(frozen=True)
class Plan:
    """The classes, the possible decisions (the classes and perhaps more), and the positive class of two.

    ``positive`` is None for more than two classes, and for decisions between two if it is not obvious. ``ordered``
    classes are grades.
    """

    classes: tuple[str, ...]
    decisions: tuple[str, ...]
    positive: str | None = None
    ordered: bool = False

    @property
    def negative(self) -> str:
        """The other one of two classes."""
        return next(name for name in self.classes if name != self.positive)

    @property
    def dense(self) -> bool:
        """Whether a table of all classes and decisions can be kept; otherwise only the combinations that occur."""
        return max(len(self.classes), len(self.decisions)) <= MOST_CLASSES


@dataclass(frozen=True, repr=False)
class Counted(Saved):
    """The tallies of some rows, by kind: all that is kept of the rows. Counted rows add up.

    ``decided_by`` says where decisions come from: from the "rows", from the highest "score" (the first of ties), from
    "costs", or from a "threshold". ``clusters`` say which rows belong together, and are neither added nor saved.
    ``dropped`` of the ``read`` rows lacked a value and were left out; ``dropped_weight`` is their weight. ``threshold``
    is that of the decisions, if they were counted with one. ``question`` holds the options, as words and numbers, that
    select the rows and say how they count. ``same_column`` is the argument that was the truth itself.

    The others are not saved: ``dropped_in`` are the dropped and all rows by segment, if known; ``read_as`` says what
    was detected about the format of files, ``files`` are their names, and ``call`` is the call that read the rows.
    """

    task: str
    tallies: Mapping[str, Tally]
    segments: Mapping[str, "Counted"] = field(default_factory=dict)
    decided_by: DecidedBy = "rows"
    clusters: Clusters | None = None
    dropped: int = 0
    threshold: float | None = None
    question: Mapping[str, str | float] = field(default_factory=dict)
    read: int = field(default=0, compare=False)
    same_column: str = ""
    dropped_in: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)
    dropped_weight: float = field(default=0, compare=False)
    read_as: tuple[str, ...] = field(default=(), compare=False)
    files: tuple[str, ...] = field(default=(), compare=False)
    call: str = field(default="", compare=False)

    @property
    def confusion(self) -> Any:
        """The decisions, if there are any."""
        return self.tallies.get("confusion")

    @property
    def scores(self) -> Any:
        """The scores of two classes, if there are any."""
        return self.tallies.get("scores")

    @property
    def class_scores(self) -> Any:
        """The scores of several classes, or None."""
        return self.tallies.get("class_scores")

    @property
    def rows_without_segment(self) -> float:
        """The number of rows in no segment of their own, because those were too small to be shared."""
        if not self.segments:
            return 0
        parts = [kinds for name, kinds in self.kinds_by_segment().items() if name != SMALL_SEGMENTS]
        shown = sum(part._total for kinds in parts for kind, part in kinds.items() if not kind.startswith(WEIGHED))
        whole = self._total
        return 0 if math.isclose(shown, whole, rel_tol=1e-9) else whole - shown

    @property
    def _weighted(self) -> bool:
        return any(tally.weighted for tally in self.tallies.values())

    @property
    def _weighs_again(self) -> bool:
        """Whether the probabilities of being labelled are known."""
        return self.task == FEW_LABELS and any(name.startswith(WEIGHED) for name in self.segments)

    @property
    def _total(self) -> float:
        tally: Any = next(iter(self.tallies.values()))
        return float(tally.total)

    @property
    def rows_read(self) -> int:
        """The number of rows before some were dropped; for old weighted tallies an estimate."""
        return self._known_rows or self.dropped + max(round(self._total), 1)

    @property
    def _known_rows(self) -> int:
        """The same, 0 if weights hide it."""
        return self.read or (0 if self._weighted else self.dropped + round(self._total))

    @property
    def dropped_share(self) -> float:
        """The share of dropped rows, or of their weight if that is larger."""
        weighed = self.dropped_weight / (self.dropped_weight + self._total) if self.dropped_weight else 0
        return max(self.dropped / self.rows_read, weighed)

    def __add__(self, other: object) -> Self:
        return type(self).sum([self, other]) if isinstance(other, Counted) else NotImplemented

    @classmethod
    def of(cls, tally: Tally) -> Self:
        """Make a count of a single tally: a published confusion table, say."""
        if isinstance(tally, Tally) and tally.kind == "items":
            return cls("items", {tally.kind: tally})
        if not isinstance(tally, Confusion | ScoreTable | ClassScores | ErrorSums):
            raise InputError(
                "no-evaluation-of",
                f"a {type(tally).__name__} by itself is not enough to evaluate; give a Confusion, ScoreTable, "
                "ClassScores or ErrorSums, or the rows",
            )
        if tally.leading:
            raise InputError(
                "several-tallies",
                f"this {type(tally).__name__} holds {math.prod(tally.leading):,} tables (shape "
                f"{tuple(tally.leading)}); evaluate one of them at a time",
            )
        tally.check_counts()
        if not tally.total:
            raise EmptyError("empty-tally", f"this {type(tally).__name__} counts no rows; there is nothing to evaluate")
        if isinstance(tally, Confusion) and len(tally.truths) < 2:
            raise InputError(
                "table-of-one-class",
                f"this Confusion has the single class {short(repr(tally.truths[0]))}; an evaluation needs two",
            )
        return cls("regression" if isinstance(tally, ErrorSums) else "classification", {tally.kind: tally})

    @classmethod
    def sum(cls, parts: Sequence["Counted"]) -> Self:
        """Add many parts at once; cheaper than adding them pairwise."""
        parts = [parts] if (listed := as_list(parts)) is None else listed  # type: ignore[list-item]
        if not parts:
            raise errors.nothing_to_add()
        for part in parts:
            if not isinstance(part, Counted):
                raise InputError(
                    "not-to-add",
                    f"a {type(part).__name__} is no count; give what stakes.count(…) returned, or a list of those",
                )
        first = parts[0]
        if len(parts) == 1:
            return first  # type: ignore[return-value]
        for part in parts:
            _same("the task", first.task, part.task)
            _same("the threshold", *("none" if p.threshold is None else p.threshold for p in (first, part)))
            _same("the list of tallies", sorted(first.tallies), sorted(part.tallies))
            if part.clusters is not None:
                raise errors.clusters_do_not_add()
            _same("what decides", first.decided_by, part.decided_by)
            _same("by", *("given" if p.segments else "not given" for p in (first, part)))
            _same("label_probability", *("given" if p._weighs_again else "not given" for p in (first, part)))
        question = _question_of(parts)
        names = dict.fromkeys(name for part in parts for name in part.segments)
        return cls(
            first.task,
            {kind: type(tally).sum([part.tallies[kind] for part in parts]) for kind, tally in first.tallies.items()},
            {name: cls.sum([part.segments[name] for part in parts if name in part.segments]) for name in names},
            first.decided_by,
            dropped=sum(part.dropped for part in parts),
            threshold=first.threshold,
            question=question,
            read=sum(part._known_rows for part in parts) if all(part._known_rows for part in parts) else 0,
            same_column=next((part.same_column for part in parts if part.same_column), ""),
            dropped_in=_add(part.dropped_in for part in parts),
            dropped_weight=math.fsum(part.dropped_weight for part in parts),
            read_as=tuple(dict.fromkeys(words for part in parts for words in part.read_as)),
            files=tuple(dict.fromkeys(name for part in parts for name in part.files)),
        )

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented

    def kinds_by_segment(self) -> dict[str, dict[str, Self]]:
        """Segment → kind of its rows → their counts; few labels have several kinds, other tasks one, called ""."""
        found: dict[str, dict[str, Self]] = {}
        for name, part in self.segments.items():
            kind, _, segment = name.partition(" ") if self.task == FEW_LABELS else ("", "", name)
            found.setdefault(segment, {})[kind] = part  # type: ignore[assignment]
        return found

    def binned(self, *grids: str | None) -> Self:
        """Return the same counts with scores in bins, on the same grids in all segments."""
        kind = next((kind for kind in ("scores", "class_scores") if kind in self.tallies), None)
        if kind is None:
            return self
        tally: Any = self.tallies[kind]
        found = tally.binned(*grids)
        segments = {name: part.binned(*found.grids) for name, part in self.segments.items()}
        return replace(self.with_tally(found), segments=segments)

    def with_tally(self, tally: Tally) -> Self:
        """Return the same counts with a tally beside the others, or in place of the one of its kind."""
        return replace(self, tallies={**self.tallies, tally.kind: tally})

    def with_tallies(self, tally_of: Callable[[str | None], Tally]) -> Self:
        """Return the same counts with a tally of all rows (None) and of each segment beside the others."""
        segments = {name: part.with_tally(tally_of(name)) for name, part in self.segments.items()}
        return replace(self.with_tally(tally_of(None)), segments=segments)

    def decided_at(self, threshold: float) -> Self:
        """Return the same counts with the decisions at a threshold beside the scores."""
        if self.scores is None:
            raise errors.threshold_of_many()
        table, clusters = self.confusion or self.scores.at(threshold), self.clusters
        decided = {} if self.confusion is not None else {"confusion": table}
        known = clusters is None or (clusters.grid is not None and clusters.decided is not None)  # counted beside cells
        if clusters is not None and not known:
            clusters = clusters.decided_by([-math.inf, threshold], [0, 1], table)
        return replace(
            self,
            tallies={**decided, **self.tallies},
            segments={name: part.decided_at(threshold) for name, part in self.segments.items()},
            decided_by="threshold",
            clusters=clusters,
            threshold=threshold,
        )

    def called(self, positive: str) -> Self:
        """Return the same decisions between two classes, with this positive class."""
        parts = {name: part.called(positive) for name, part in self.segments.items()}
        return replace(self.with_tally(self.confusion.called(positive)), segments=parts)

    def moved_down(self, rows: int) -> Self:
        """Return the same counts with shifted row numbers: those of a batch within the whole."""
        moved = {
            kind: tally.moved_down(rows) if isinstance(tally, ErrorSums) else tally
            for kind, tally in self.tallies.items()
        }
        parts = {name: part.moved_down(rows) for name, part in self.segments.items()}
        return replace(self, tallies=moved, segments=parts)

    def __repr__(self) -> str:
        parts = "; ".join(str(part) for part in self.tallies.values())
        return f"<Counted for {self.task}: {parts}; {len(self.segments):,} segments>"

    def save(self, path: str | os.PathLike[str], *, exact: bool = False, min_cell: int = SMALL) -> None:
        """Write a file that can be sent to somebody who must not see the rows; ``stakes.load`` reads it.

        Scores are put into bins of at least ``min_cell`` rows, and so are segments; ``exact=True`` keeps every distinct
        score, which is as good as giving away the rows.
        """
        if self.task == FEW_LABELS and self.scores is not None and not exact:
            raise InputError(
                "few-labels-travel",
                "few labels need the scores of the labelled rows as they are, which single rows can be looked up by; "
                "save with ",
                Pass("exact", True),
                ", or count decisions alone",
            )
        from stakes.engines import tally_files  # loads modules for archives, which counting does not need

        tally_files.save(self, path, exact=exact, min_cell=min_cell)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read and check what :meth:`save` wrote."""
        from stakes.engines import tally_files  # as above

        return tally_files.read(path, cls.from_dict)

    def saved(self) -> dict[str, Any]:
        """Return all data to save: names, numbers and arrays."""
        if self.clusters is not None:
            raise errors.clusters_do_not_add()
        threshold = self.threshold  # JSON has no infinite numbers
        return {
            "stakes": "counted",
            "version": VERSION,
            "task": self.task,
            "decided_by": self.decided_by,
            "dropped": self.dropped,
            "threshold": threshold if threshold is None or math.isfinite(threshold) else str(threshold),
            "question": dict(self.question),
            **({"read": self._known_rows} if (self.dropped or self._weighted) and self._known_rows else {}),
            **({"dropped_weight": self.dropped_weight} if self.dropped_weight else {}),
            **({"same_column": self.same_column} if self.same_column else {}),
            "tallies": [tally.saved() for tally in self.tallies.values()],
            "segments": {name: part.saved() for name, part in self.segments.items()},
        }

    @classmethod
    def from_dict(cls, saved: Any) -> Self:
        """Check and restore the result of :meth:`to_dict` or :meth:`saved`."""
        if not isinstance(saved, Mapping) or saved.get("stakes") != "counted":
            raise errors.not_a_tally(f"a {type(saved).__name__} that Counted.to_dict() did not write")
        if saved.get("version") not in (2, VERSION):
            raise errors.unknown_version("count", saved.get("version"), VERSION)
        try:
            _require("what nobody knows", saved.keys() <= _SAVED)
            tallies = [_class_of(part["tally"]).from_dict(part) for part in saved["tallies"]]
            counted = cls(
                saved["task"],
                {tally.kind: tally for tally in tallies},
                {name: cls.from_dict(part) for name, part in saved["segments"].items()},
                saved["decided_by"],
                dropped=saved["dropped"],
                threshold=_read_threshold(saved["threshold"]),
                question=dict(saved["columns"] if "columns" in saved else saved["question"]),
                read=saved.get("read", 0),
                same_column=saved.get("same_column", ""),
                dropped_weight=saved.get("dropped_weight", 0),
            )
            counted._check(len(tallies))
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            if isinstance(problem, errors.InputError):
                raise
            raise errors.not_a_tally(f"a count whose content is damaged ({problem})") from None
        return counted

    def _check(self, tallies: int) -> None:
        """Refuse content that no count can have."""
        _require("the task", set(self.tallies) <= _OF_TASK.get(self.task, set()))
        _require("the list of tallies", 0 < tallies == len(self.tallies))
        decided = self.decided_by in get_args(DecidedBy) and (self.threshold is None or self.decided_by == "threshold")
        _require("what decides", decided)
        _require("the number of dropped rows", type(self.dropped) is int and self.dropped >= 0)
        weighed = 0 <= self.dropped_weight < math.inf and (not self.dropped_weight or self.dropped > 0)
        _require("the weight of dropped rows", weighed)
        _require("the number of rows", type(self.read) is int and (not self.read or self.read > self.dropped))
        _require("the column of the truth", self.same_column in ("", "score", "prediction"))
        known = all(name in REMEMBERED and isinstance(value, REMEMBERED[name]) for name, value in self.question.items())
        _require("the question", known)
        _require("tallies with leading axes", not any(tally.leading for tally in self.tallies.values()))
        whole, *others = (tally.class_sizes() for tally in self.tallies.values())
        same = (o.keys() == whole.keys() and all(alike(o[name], whole[name]) for name in whole) for o in others)
        _require("tallies of different numbers of rows", all(same))
        self._check_segments(whole)

    def _check_segments(self, whole: Mapping[str, float]) -> None:
        """Refuse segments that cannot be parts of the whole, given its rows of each class."""
        rows = dict.fromkeys(whole, 0.0)
        exact = self.scores is not None and self.scores.grid is None
        for name, part in self.segments.items():
            sizes = next(iter(part.tallies.values())).class_sizes()
            same = part.task == self.task and part.tallies.keys() == self.tallies.keys() and sizes.keys() == rows.keys()
            _require("segments of another kind", same and not part.segments)
            within = not exact or part.scores.range[1] <= self.scores.range[1]
            _require("scores of a segment that the whole lacks", within)
            if not (self.task == FEW_LABELS and name.startswith(WEIGHED)):  # these rows are counted already
                rows = {name: rows[name] + float(sizes[name]) for name in rows}
        fits = all(rows[name] <= float(whole[name]) or alike(rows[name], whole[name]) for name in rows)
        _require("segments of more rows than there are", fits)


def _require(what: str, holds: bool) -> None:
    """Raise an error that names the damaged part of a count."""
    if not holds:
        raise ValueError(what)


def _read_threshold(saved: str | float | None) -> float | None:
    if saved is None:
        return None
    _require("the threshold", saved in ("inf", "-inf") or (is_real(saved) and math.isfinite(float(saved))))
    return float(saved)


def _add(parts: Iterable[Mapping[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    whole: dict[str, tuple[int, int]] = {}
    for name, (lost, read) in (pair for part in parts for pair in part.items()):
        before = whole.get(name, (0, 0))
        whole[name] = before[0] + lost, before[1] + read
    return whole


def _question_of(parts: Sequence[Counted]) -> dict[str, str | float]:
    """The question of the sum: the same as of each part, except for ``where``, whose conditions are joined by OR."""
    questions = [dict(part.question) for part in parts]
    conditions = list(dict.fromkeys(question.pop("where", "") for question in questions))
    asked = questions[0]
    for other in questions[1:]:
        for name in {**asked, **other}:
            column = name in NAMES_OF_COLUMNS
            if not column or (name in asked and name in other):
                _same(f"{'the column of ' * column}{name}=", asked.get(name, "not given"), other.get(name, "not given"))
        asked = {**asked, **other}
    where = " OR ".join(f"({one})" for one in conditions) if len(conditions) > 1 else str(conditions[0])
    return {**asked, **({"where": where} if all(conditions) else {})}


def _same(what: str, left: object, right: object) -> None:
    if left != right:
        raise errors.different_questions(what, left, right)


load = Counted.load
"""Read a count that was saved in a file."""
