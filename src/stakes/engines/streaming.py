"""Files of many rows are read in batches and counted as they go by, so that memory stays bounded.

Up to ``MOST_EXACT`` rows the named columns are read whole and every figure is exact. Of more rows, or where bins are
asked for, only groups of rows alike are kept, their scores in bins (``binning.py``), as when another engine counts them
(``lazy/``), and the auc has bounds. With ``exact=True`` every score is kept at 8 bytes a row instead.

Scores of several classes are counted by ``classes/batches.py``, from as many numbers on. Questions that need the rows
themselves (exact scores with weights, clusters, segments, several classes or costs that differ by row) read the columns
whole, whatever the number of rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stakes import errors
from stakes.engines.alike import Spelling
from stakes.engines.binning import BinnedCounts, Ends
from stakes.engines.cells import Apart, CellLosses, Cells, CellSums, Found
from stakes.engines.classes.batches import ClassStream
from stakes.engines.classes.sums import any_scores, class_names, decided_by, decisions_of, is_of
from stakes.engines.clusters.batches import ClassClusterCounts, ClusterCounts
from stakes.engines.clusters.queries import ROW
from stakes.engines.columns import Arguments, Column, Values, as_finite
from stakes.engines.files.reading import Files, count_typed
from stakes.engines.files.sources import FileNames, read_once
from stakes.engines.finer_bins import count_finer
from stakes.engines.kind_stream import count_kind
from stakes.engines.kinds import columns_named
from stakes.engines.labels import Labels, encode, whole_numbers, zeros_and_ones
from stakes.engines.lazy.counting import count_inside, name_columns, number_columns
from stakes.engines.lazy.groups import count_as_rows, warn_of_few_in
from stakes.engines.memory import CountsByBin, Rows, count_classes
from stakes.engines.missing import leave_gaps_out
from stakes.engines.numbers.batches import FileNumbers
from stakes.engines.numbers.outputs import count_outputs
from stakes.engines.numbers.passes import Wanted, count_numbers
from stakes.engines.numbers.queries import count_numbers_inside
from stakes.engines.on_disk import table_of
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import of_costs
from stakes.engines.reading import RowQuestion
from stakes.engines.rows import Dropped, rows_that_count
from stakes.engines.segments import MOST_SEGMENTS, refuse_names_of_rows
from stakes.engines.tables import warn_of_same_column
from stakes.engines.tasks import settle_task
from stakes.tallies import ForecastSums, QuantileSums, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.tallies.clusters import deal_out
from stakes.tallies.keys import KeyBuffer
from stakes.tallies.parallel import ahead, run_all

MOST_EXACT = 20_000_000
"""Of more rows than this the scores are binned, unless exact=True."""

BATCH = 1 << 20
"""Rows that are read at a time."""

_FIRST = 1 << 14
"""Number of first rows that show whether predictions are numbers or classes."""

_MANY = 1 << 22
"""Where bins are asked for, files of more rows are counted as they go by; fewer take less memory at once."""


def count_files(data: FileNames, asked: RowQuestion, exact: bool | None) -> Counted | None:
    """Count files of many rows; None when they are to be read whole."""
    if not is_one_of(asked.missing, ("error", "drop")) or read_once(data):
        return None  # the first of which is refused there
    if (numbers := number_columns(data, asked)) is not None and not exact:
        counted = _count_numbers(data, numbers, asked, exact)
        if counted is not None or asked.kind_beside is not None:
            return counted
    named = name_columns(data, asked)
    if named is None:
        return None
    several, by_row = class_names(named), of_costs(named)
    beside = several or any(name.startswith(("weight", "cluster", "by")) for name in named)
    if exact and ("score" in named if by_row else beside):
        return None
    grouping = {f"{ROW}{place}": name for place, name in enumerate(asked.groups_by if by_row else ())}
    files = Files.open(data, {**named, **grouping}, asked.where)
    if not files.have_more_rows_than((_MANY if exact is False else MOST_EXACT) // max(len(several), 1)):
        return None
    with files.relation() as table:
        if table is not None:
            return count_inside(table, asked, exact)
    if by_row:
        with suppress(errors.InputError), table_of(files, BATCH) as table:  # all rows together tell better what it is
            return None if table is None else count_inside(table, replace(asked, where=None), exact=False)
        return None
    if _asks_for_numbers(files, asked):
        return None
    warn_of_same_column(named)
    keep_scores = bool(exact and "score" in named)
    quick = files.with_types(gaps=asked.missing == "drop")
    return count_typed(files, quick, lambda some: _count(some, asked, keep_scores))


def count_kind_files(data: FileNames, asked: RowQuestion, kind: str, exact: bool | None) -> Counted | None:
    """Count files of many rows of several labels or quantiles; None when they are to be read whole."""
    if exact or not is_one_of(asked.missing, ("error", "drop")) or read_once(data):
        return None
    named = columns_named(data, asked, kind)
    if named is None:
        return None
    files = Files.open(data, named, asked.where)
    if not files.have_more_rows_than((_MANY if exact is False else MOST_EXACT) // len(named)):
        return None
    quick = files.with_types(("score", "quantile", "member", "weight") + ("truth",) * (kind == QuantileSums.kind))
    at_a_time = max(2 * BATCH // len(named), 1)

    def count(some: Files) -> Counted | None:
        return count_kind(lambda read: some.read_batches(at_a_time, read), asked, kind)

    counted = count_typed(files, quick, count)
    if counted is not None or asked.frequency is not None:
        return counted
    dropped = 0
    if asked.missing == "drop":
        columns = list(dict.fromkeys(named.values()))
        where, dropped = leave_gaps_out(partial(rows_in_files, data, columns[0]), asked.where, columns)
        asked = replace(asked, where=where)
    counted = count_outputs(data, asked, BATCH)
    return replace(counted, dropped=dropped, read=counted.read + dropped)


def rows_in_files(data: FileNames, column: str, where: Values) -> int:
    """How many rows satisfy a condition."""
    return sum(len(batch["truth"]) for batch in Files.open(data, {"truth": column}, where).batches(BATCH))


def _count_numbers(data: FileNames, named: dict[str, str], asked: RowQuestion, exact: bool | None) -> Counted | None:
    """Count predicted numbers; None where there are few rows, or classes."""
    files = Files.open(data, named, asked.where)
    if not files.have_more_rows_than(_MANY if exact is False else MOST_EXACT) or not _asks_for_numbers(files, asked):
        return None
    with files.relation() as table:
        if table is not None:
            return count_numbers_inside(table, named, asked) if asked.kind_beside is None else None
    warn_of_same_column(named)
    quick = files.with_types(("truth", "prediction", "weight", "exposure"), asked.missing == "drop")
    wanted = Wanted.of(asked.needed)
    counted = count_typed(
        files, quick, lambda some: count_numbers(FileNumbers(some, asked.missing, BATCH, wanted=wanted), asked.baseline)
    )
    if (kind := asked.kind_beside) is None:
        return counted
    beside = count_typed(
        files, quick, lambda some: count_kind(lambda read: some.read_batches(BATCH, read), asked, kind)
    )
    assert beside is not None
    if kind == ForecastSums.kind:
        return _with_sums(counted, beside) if beside.clusters is not None and beside.clusters.count > 1 else None
    counted = _with_sums(counted, beside) if asked.baseline is None else counted  # held against the mean, nothing else
    return replace(counted, task="counts", segments={n: replace(s, task="counts") for n, s in counted.segments.items()})


def _with_sums(counted: Counted, beside: Counted) -> Counted:
    """Errors, and the sums beside them."""
    segments = {name: _with_sums(part, beside.segments[name]) for name, part in counted.segments.items()}
    return replace(counted, tallies={**counted.tallies, **beside.tallies}, segments=segments)


def _asks_for_numbers(files: Files, asked: RowQuestion) -> bool:
    """Whether the first rows are predicted numbers rather than classes."""
    if asked.of_classes or asked.task == "classification":
        return False
    if asked.of_numbers or asked.kind_beside is not None:
        return True
    first = next((found for found in files.batches(_FIRST) if len(found["truth"])), None)
    if first is None:
        return False
    labels = {name: first[name] for name in ("truth", "prediction")}
    try:
        columns = rows_that_count(labels, None, "drop").columns  # gaps are refused where all rows are counted
    except errors.InputError:
        return False  # said again, and better, when all rows are counted
    whole = all(zeros_and_ones(column) is not None for column in columns.values())
    try:
        return settle_task("auto", columns, whole, False) == "regression"
    except errors.InputError as problem:
        if problem.wrong is None:
            raise
        return True  # numbers, of which some are none: told of all rows when they are counted


def _count(files: Files, asked: RowQuestion, keep_scores: bool) -> Counted | None:
    counting: Counting = BinnedScores(asked.threshold)
    if classes := class_names(files.wanted):
        counting = ClassProbabilities(asked, classes, files.place_of)
    elif keep_scores:
        counting = KeptScores(files.likely_rows, asked.threshold)
    dropped, read, lost = 0, 0, 0.0
    for batch in ahead(map(counting.prepare, batches(files, asked.missing))):
        dropped, read, lost = dropped + batch.dropped.rows, read + batch.length, lost + batch.dropped.weight
        if batch.labels and not counting.add(batch):
            return None
        counting.refuse_names_of_rows(files.likely_rows)
    if read == dropped:
        raise files.nothing_there()
    counted = counting.count(asked)
    if counted is not None and asked.auc_error is not None and isinstance(counting, BinnedScores):
        counted = count_finer(counted, asked.auc_error, lambda heavy: counting.labelled(files, asked.missing))
    return None if counted is None else replace(counted, dropped=dropped, read=read, dropped_weight=lost)


def batches(files: Files, missing: str) -> Iterator["Batch"]:
    """Read and check the rows batch by batch; one without rows that count has no labels."""

    def read(found: Arguments, first: int) -> Batch:
        return replace(Batch.read(found, missing), start=first)

    share = 2 * BATCH // max(len(class_names(files.wanted)), 2)  # fewer where there are scores of many classes
    at_a_time = 1 << (share - 1).bit_length()  # as parts of files most often are: nothing has to be put together
    for batch in files.read_batches(at_a_time, read):
        yield Batch({}, {}, None, None, Dropped(batch), batch) if isinstance(batch, int) else batch


# ── a batch ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows as codes and numbers; scores of ``several`` classes are a column of each.

    The rows begin at row ``start`` of all, and stand at ``places`` from there on, if some were left out. Once they are
    prepared to be counted their cells were ``found``, and those of each may lie ``apart``; all scores have ``ends``.
    """

    labels: Mapping[str, Labels]
    kinds: Mapping[str, str]
    scores: Array | None
    weight: Array | None
    dropped: Dropped
    length: int
    places: Array | None = None
    start: int = 0
    cluster: Column | None = None
    several: Sequence[Array] = ()
    found: Found | None = None
    apart: Sequence[Apart] = ()
    ends: Ends = None

    @classmethod
    def read(cls, found: Arguments, missing: str) -> "Batch":
        """Read and check the columns of some rows; those without weight are left out."""
        rows = rows_that_count(found, None, missing)
        cluster = rows.columns.pop("cluster", None)
        if cluster is not None and cluster.kind == "number":
            whole_numbers(cluster)  # here, where what is wrong in other batches is counted, too
        labels = {name: column for name, column in rows.columns.items() if not name.startswith("score")}
        return cls(
            {name: encode(column) for name, column in labels.items()},
            {name: column.kind for name, column in labels.items()},
            as_finite(rows.columns["score"]) if "score" in rows.columns else None,
            rows.weight,
            rows.dropped,
            rows.dropped.rows + len(rows.columns["truth"]),
            rows.places,
            cluster=cluster,
            several=[as_finite(column) for name, column in rows.columns.items() if name.startswith("score ")],
        )

    @property
    def by(self) -> list[Labels]:
        """The labels that make up the segments."""
        return [label for name, label in self.labels.items() if name.startswith("by")]

    @property
    def numbers(self) -> range | Array:
        """The numbers of the rows among all."""
        if self.places is not None:
            return self.start + self.places
        return range(self.start, self.start + self.length - self.dropped.rows)


# ── what is kept of the batches ──────────────────────────────────────────────────────────────────────────────────
class Counting:
    """Groups of rows alike, and beside them whatever is kept of their scores.

    With a ``threshold`` its decisions are counted too: within a bin they could not be found later.
    """

    def __init__(self, threshold: float | None) -> None:
        self._threshold = threshold
        self._cells = Cells()
        self._sums = CellSums()
        self._kinds: Mapping[str, str] = {}
        self._clusters, self._clustered, self._deals_rows = ClusterCounts(), False, False
        self._by = Cells()

    def prepare(self, batch: Batch) -> Batch:
        """Do what can be done of a batch, in the order of batches, while the one before it is being counted."""
        return batch

    def refuse_names_of_rows(self, rows: int) -> None:
        """Refuse segments of which about so many rows in all make very many."""
        places = [place for place, name in enumerate(self._kinds) if name.startswith("by")]
        if places and len(self._cells.names) > MOST_SEGMENTS:
            segments = {tuple(names[place] for place in places) for names in self._cells.names}
            refuse_names_of_rows(len(segments), rows)

    def add(self, batch: Batch) -> bool:
        """Count a batch; False when its scores cannot be kept."""
        found = batch.found or self._find(batch)
        self._sums.add(found, batch.weight)
        return False not in run_all(self._tasks(batch, found), batch.length)

    def _find(self, batch: Batch) -> Found:
        """Find the cells of the rows of a batch."""
        self._kinds = batch.kinds
        self._clustered = self._deals_rows or batch.cluster is not None
        return self._cells.of([*batch.labels.values(), *self._decided(batch)])

    def _tasks(self, batch: Batch, found: Found) -> list[Callable[[], bool | None]]:
        """What is to be done with a batch, each thing beside the others."""
        tasks: list[Callable[[], bool | None]] = []
        if self._clustered:
            tasks.append(partial(self._add_to_clusters, batch, found))
        if batch.scores is not None:
            tasks.append(partial(self._keep, batch, batch.scores, found))
        return tasks

    def _add_to_clusters(self, batch: Batch, found: Found) -> None:
        """Count a batch whose rows come in clusters."""
        self._clusters.add(self._groups(batch), found.of_rows, batch.scores, batch.weight)

    def _groups(self, batch: Batch) -> Array:
        """The group of clusters that each row lies in."""
        if batch.cluster is None:
            return deal_out(np.asarray(batch.numbers))
        return self._clusters.groups.of(batch.cluster, self._segment(batch) if batch.by else None)

    def _segment(self, batch: Batch) -> Array:
        """The number of each row's segment."""
        return self._by.of(batch.by).of_rows

    def _decided(self, batch: Batch) -> list[Labels]:
        """What is decided by the scores of a batch, if anything is."""
        if self._threshold is None or batch.scores is None:
            return []
        return [Labels((batch.scores.astype(np.float64) >= self._threshold).view(np.uint8), _DECIDED)]

    def count(self, asked: RowQuestion) -> Counted | None:
        """Count the groups; None when they turn out to be numbers instead of classes."""
        columns, above = self._cells.columns(self._kinds), None
        if asked.score is not None:
            columns["score"] = np.full(len(self._cells.names), 0.5)  # any score: so that the question is understood
            if self._threshold is not None:
                above = np.array([names[-1] == _DECIDED[1] for names in self._cells.names])
        return count_as_rows(asked, columns, above, self._count_with_clusters)

    def _count_with_clusters(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted | None:
        counted = self._count_cells(plan, rows, by)
        if counted is None or not self._clustered:
            return counted
        return self._clusters.result(rows, by, self._segments(by, self._by)).added_to(counted)

    def _segments(self, by: Labels | None, numbered: Cells) -> list[str]:
        """The names of segments by their numbers; ``by`` are those of the cells."""
        if by is None or not numbered.names:
            return [""]
        places = [place for place, name in enumerate(self._kinds) if name.startswith("by")]
        combinations = [tuple(names[place] for place in places) for names in self._cells.names]
        called = dict(zip(map(numbered.of_names, combinations), by.codes.tolist(), strict=True))
        return [by.names[called[number]] for number in range(len(called))]

    def _keep(self, batch: Batch, scores: Array, found: Found) -> bool:
        """Keep the scores of a batch."""
        raise NotImplementedError

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted | None:
        """Count the cells, which were read as if they were rows."""
        return self._count_decisions(plan, rows, by)

    def _count_decisions(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        return count_classes(plan, replace(rows, scores=None).standing_for(*self._sums.weights), by)


_DECIDED = ("below", "above")


class BinnedScores(Counting):
    """Groups of rows alike, with their scores in bins."""

    def __init__(self, threshold: float | None) -> None:
        super().__init__(threshold)
        self._bins = BinnedCounts()
        self._losses = CellLosses()
        self._positive: Array = np.zeros(0, bool)

    def labelled(self, files: Files, missing: str) -> Iterator[tuple[Array, Array, Array]]:
        """Go through all rows again, once they were counted: their scores, which are positive, and their weights."""
        for batch in ahead(batches(files, missing)):
            if batch.labels:
                cells = self._cells.of([*batch.labels.values(), *self._decided(batch)]).of_rows
                ones = np.ones(len(cells), np.int64)
                weight = ones if batch.weight is None else batch.weight.astype(np.longdouble)
                yield np.asarray(batch.scores), self._positive[cells], weight

    def prepare(self, batch: Batch) -> Batch:
        """Find the cells of a batch, and take the rows of each apart; count those of clusters."""
        if batch.scores is None or batch.weight is not None:  # which are sorted, by clusters beside it
            return batch
        found = self._find(batch)
        groups = self._groups(batch) if self._clustered else None
        if groups is not None:
            self._clusters.look(batch.scores)
        apart = list(found.apart(batch.scores, None, groups))
        for cells, scores, _, own in apart:
            if own is not None:
                self._clusters.add(own, cells, scores, None)
        return replace(batch, found=found, apart=apart, ends=(float(batch.scores.min()), float(batch.scores.max())))

    def _tasks(self, batch: Batch, found: Found) -> list[Callable[[], bool | None]]:
        return [partial(self._bin, batch.apart, batch.ends)] if batch.apart else super()._tasks(batch, found)

    def _keep(self, batch: Batch, scores: Array, found: Found) -> bool:
        return self._bin(found.apart(scores, batch.weight, None))

    def _bin(self, apart: Iterable[Apart], ends: Ends = None) -> bool:
        """Put scores into their bins."""
        for cells, scores, weight, _ in apart:
            self._bins.add(scores, cells, weight, ends)
            if self._bins.grid == "probability":
                self._losses.add(scores, cells, weight)
        return True

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        if rows.scores is None:
            return self._count_decisions(plan, rows, by)
        self._positive = rows.truth == plan.classes.index(str(plan.positive))
        found, self._bins = self._bins.by_bin() if by is None else self._bins.result(), BinnedCounts()
        if isinstance(found, CountsByBin):
            table = found.table((str(plan.positive), plan.negative), self._positive)
            table = replace(table, losses=self._losses.of_classes(self._positive))
            return self._count_decisions(plan, rows, by).with_tally(table)
        # each bin of a cell is a group of its own
        by = None if by is None else replace(by, codes=by.codes[found.cells])
        lost = self._losses.in_bins(found) if found.grid == "probability" else None
        rows = replace(rows.take(found.cells), scores=found.edges, lost=lost, places=None)
        rows = rows.standing_for(found.weights, found.squares, found.grid)
        del found  # whose cells would take memory beside what is sorted now
        counted = count_classes(plan, rows, by)
        warn_of_few_in(counted.scores)
        return counted


class ClassProbabilities(Counting):
    """Groups of rows alike, and the scores of several classes in bins (``classes/batches.py``)."""

    def __init__(self, asked: RowQuestion, classes: tuple[str, ...], place: Callable[[int], str]) -> None:
        super().__init__(None)
        self._asked, self._place = asked, place
        self._stream = ClassStream(classes, asked.pricing if asked.prediction is None else None)
        self._class_clusters = self._clusters = ClassClusterCounts(len(classes))
        self._deals_rows = bool(asked.groups_by)
        names = () if asked.pricing is None else asked.pricing.names
        self._spelling = Spelling.of(asked.alike, asked.classes, asked.positive, [*classes, *names])

    def _decided(self, batch: Batch) -> list[Labels]:
        truth = batch.labels["truth"]
        spelled = truth.renamed(self._spelling) if self._spelling.words else truth
        self._outcome = self._stream.add(batch.several, spelled, batch.by, batch.weight, batch.numbers)
        if self._asked.prediction is not None:
            return []
        return [Labels(self._outcome.decided, decisions_of(self._asked, self._stream.classes))]

    def _add_to_clusters(self, batch: Batch, found: Found) -> None:
        if self._outcome.batch is not None:  # otherwise a class has no scores, which is refused at the end
            self._class_clusters.add_classes(self._groups(batch), found, self._outcome.batch, self._outcome)

    def _segment(self, batch: Batch) -> Array:
        assert self._outcome.batch is not None
        return np.asarray(self._outcome.batch.segment)

    def count(self, asked: RowQuestion) -> Counted | None:
        """Count the groups; None when the classes turn out to be others than those of the scores."""
        columns = self._cells.columns(self._kinds)
        columns["score"] = any_scores(self._stream.classes, len(self._cells.names))
        return count_as_rows(asked, columns, None, self._count_cells)

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted | None:
        if not is_of(plan, self._stream.classes):
            return None
        how = decided_by(self._asked)
        with errors.pointing(lambda problem: problem.located(self._place)):
            self._stream.oddities.tell(self._asked, how)
        if how != "rows":
            decided = np.array([plan.decisions.index(names[-1]) for names in self._cells.names])
            rows = replace(rows, prediction=decided)
        segments = self._segments(by, self._stream.segments)
        counted = self._stream.result(segments).added_to(self._count_decisions(plan, rows, by), how)
        return self._class_clusters.of_classes(rows, by, segments).added_to(counted) if self._clustered else counted


class KeptScores(Counting):
    """Groups of rows alike, and every score with its truth."""

    def __init__(self, rows: int, threshold: float | None) -> None:
        super().__init__(threshold)
        self._keys = KeyBuffer(rows)
        self._truths = Cells()

    def _keep(self, batch: Batch, scores: Array, found: Found) -> bool:
        truths = self._truths.of([batch.labels["truth"]]).of_rows
        if len(self._truths.names) > 2:
            return True  # one score for more than two classes: said at the end
        return self._keys.add(scores, truths)

    def _count_cells(self, plan: Plan, rows: Rows, by: Labels | None) -> Counted:
        keys = self._keys.sorted(swapped=self._truths.names[0] == (plan.positive,))
        scores = ScoreTable(str(plan.positive), plan.negative, keys)
        warn_of_few_in(scores)
        return self._count_decisions(plan, rows, by).with_tally(scores)
