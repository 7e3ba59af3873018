"""Counting rows once, wherever they are: in memory, in batches, in files or in another engine."""

from collections.abc import Iterator, Mapping

from stakes import errors
from stakes.engines.classes.sums import class_columns
from stakes.engines.columns import Data, Values
from stakes.engines.files.text_format import hearing, in_format
from stakes.engines.kinds import columns_named, kind_of
from stakes.engines.plan import Counted
from stakes.engines.reading import RowQuestion, count_read, read_and_count, read_rows
from stakes.engines.tables import is_lazy, names_files, same_column
from stakes.engines.tasks import check_task
from stakes.engines.tensors.arrays import lie_elsewhere
from stakes.errors import InputError, Pass, Text
from stakes.frozen import replace
from stakes.tallies.checks import check_auc_error, check_flag
from stakes.tallies.clusters import MOST_CLASSES
from stakes.tallies.error_sums import POWERS_LOST


def count_rows(data: Data = None, *, exact: bool | None = None, **columns: Values) -> Counted:
    """Count the rows once: decisions, scores or both of two or more classes, or errors of predicted numbers.

    ``data`` may also be a list or an iterator of tables (batches): each is counted by itself, then all are added up.
    A lazy table (Spark, DuckDB, lazy Polars) is counted in its own engine where the question allows it.
    ``columns`` are the fields of a :class:`RowQuestion`. ``exact`` says whether scores are kept (True) or binned
    (False); by default those of very many rows are binned.
    """
    asked = RowQuestion(**columns)
    check_task(asked.task)
    check_auc_error(asked.auc_error)
    data = in_format(data, asked.text_format)
    if exact is not None:
        check_flag("exact", exact)
    with hearing() as read_as:
        counted = _count_batches(iter(data), asked) if in_batches(data) else count_elsewhere(data, asked, exact)
        if counted is None:
            _, counted = read_and_count(data, asked)
        elif counted.dropped and asked.by is not None and (names_files(data) or is_lazy(data)):
            from stakes.engines.left_out import with_losses_of_segments  # loads Narwhals, Polars

            counted = with_losses_of_segments(data, asked, counted)
    ordered = {"ordered": True} if asked.ordered and counted.task == "classification" else {}
    question = {**counted.question, **ordered}
    counted = replace(counted, same_column=same_column(columns), read_as=tuple(read_as), question=question)
    if asked.auc_error is not None:
        from stakes.engines.finer_bins import refuse_unless_kept  # few calls need it

        refuse_unless_kept(counted, asked.auc_error)
        return counted  # rows in memory need no bins
    if exact is not False:
        return counted
    if asked.threshold is not None and counted.scores is not None:
        counted = counted.decided_at(asked.threshold)  # inside a bin the rows cannot be decided later
    return counted.binned()


def count_elsewhere(data: Data, asked: RowQuestion, exact: bool | None = None) -> Counted | None:
    """Count rows that are not in memory without bringing all of them there, if the question allows it.

    Numbers whose powers no float holds are not added up: such rows are read, unless they are very many.
    """
    try:
        return _count_where_they_lie(data, asked, exact)
    except InputError as problem:
        if problem.code not in POWERS_LOST or not (names_files(data) or is_lazy(data)):
            raise
        from stakes.engines import shared_rows, streaming  # load Narwhals, Polars

        truth = next(iter(asked.truth.values())) if isinstance(asked.truth, Mapping) else asked.truth
        if shared_rows.have_more_rows_than(streaming.MOST_EXACT, data, truth, asked.where):
            raise
        return None


def _count_where_they_lie(data: Data, asked: RowQuestion, exact: bool | None) -> Counted | None:
    if (kind := kind_of(asked)) is not None:
        return _count_kind(data, asked, kind, exact)
    if asked.needs_rows:
        return None
    columns = columns_given(data, asked)
    if asked.order is None and lie_elsewhere(columns):
        from stakes.engines.tensors.counting import count_tensors  # only needed where there is a GPU

        counted = count_tensors(replace(asked, **columns), exact)
        return counted if counted is None or _keeps_promise(counted, asked.auc_error) else None
    if data is None or asked.from_logits:  # logits are converted before they are binned
        return None
    if names_files(data):
        from stakes.engines import streaming  # loads Polars

        return streaming.count_files(data, asked, exact)
    if not is_lazy(data):
        return None
    from stakes.engines import streaming  # loads Polars
    from stakes.engines.lazy.counting import count_inside, name_columns, number_columns  # load Narwhals

    many = len(class_columns(asked) or ()) > MOST_CLASSES  # expressions over all of them are too long for engines
    if asked.kind_beside is None and not many:
        return count_inside(data, asked, exact)
    named = None if exact else (name_columns if many else number_columns)(data, asked)
    brought = bring_here(data, named, asked.where)
    return None if brought is None else streaming.count_files(brought, replace(asked, where=None), exact)


def _keeps_promise(counted: Counted, auc_error: float | None) -> bool:
    """Whether bins leave no more of the auc open than may be."""
    if auc_error is None or counted.scores is None:
        return True
    from stakes.engines.finer_bins import is_exact_enough  # few calls need it

    return is_exact_enough(counted.scores, auc_error)


def _count_kind(data: Data, asked: RowQuestion, kind: str, exact: bool | None) -> Counted | None:
    """Count rows of several labels or quantiles in batches; None if they are to be read whole."""
    if data is None or exact or not (names_files(data) or is_lazy(data)):
        return None
    from stakes.engines import streaming  # loads Polars

    if is_lazy(data):
        data = bring_here(data, columns_named(data, asked, kind), asked.where)
        asked = replace(asked, where=None)
    return None if data is None else streaming.count_kind_files(data, asked, kind, exact)


def bring_here(data: Data, named: Mapping[str, str] | None, where: Values) -> Data:
    """Write columns of a lazy table to disk if they hold very many numbers; None if they fit into memory."""
    from stakes.engines import on_disk, streaming  # load Polars, Narwhals

    return None if named is None else on_disk.bring_to_disk(data, named, where, streaming.MOST_EXACT)


def columns_given(data: Data, asked: RowQuestion) -> dict[str, Values]:
    """The columns of a call, looked up by name if ``data`` is a dictionary."""
    table = data if isinstance(data, Mapping) else {}

    def column(value: Values) -> Values:
        return table.get(value, value) if isinstance(value, str) else value

    columns = {name: column(getattr(asked, name)) for name in ("truth", "score", "prediction", "weight", "frequency")}
    if isinstance(asked.by, list | tuple) and all(isinstance(name, str) for name in asked.by):
        return {**columns, "by": {name: column(name) for name in asked.by}}
    return {**columns, "by": column(asked.by), "cluster": column(asked.cluster)}


def in_batches(data: Data) -> bool:
    """Whether the rows come as several tables: an iterator, or a list of them."""
    tables = isinstance(data, list | tuple) and all(isinstance(p, Mapping) or hasattr(p, "columns") for p in data)
    return isinstance(data, Iterator) or bool(tables and data)


def _count_batches(batches: Iterator[Data], asked: RowQuestion) -> Counted:
    """Count each batch by itself and add up; a batch without rows is left out."""
    parts, rows, dropped = [], 0, 0
    if asked.pricing is not None and asked.pricing.needs_all_rows:
        raise InputError(
            "prior-of-batches",
            "a correction by the class frequencies of the rows needs all rows at once, and these come in batches; "
            "give both ",
            Pass("prior"),
            " and ",
            Pass("training_prior"),
            " as shares",
        )
    for number, batch in enumerate(batches, 1):
        try:
            read = read_rows(batch, asked)
            part = count_read(read, asked.baseline, asked.parts)
        except errors.EmptyError as nothing:
            rows, dropped = rows + nothing.dropped, dropped + nothing.dropped
            continue
        except errors.InputError as problem:
            hint = Text(" (each batch is counted by itself; ", Pass("classes"), " names the classes of all of them)")
            raise problem.within(
                f"batch {number:,}, which begins at row {rows + 1:,}", hint if asked.classes is None else ""
            ) from None
        asked = replace(asked, task=part.task)  # the first batch decides what whole numbers in later ones mean
        parts.append(part.moved_down(rows))
        rows += read.length
    if not parts:
        raise (
            InputError("no-batches", "data is an iterator that gave no batch; there is nothing to evaluate")
            if asked.where is None
            else errors.nothing_satisfies(asked.where)
        )
    counted = Counted.sum(parts)
    return replace(counted, dropped=counted.dropped + dropped, read=counted.read and counted.read + dropped)
