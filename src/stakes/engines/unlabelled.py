"""Rows of which only some have a truth: reads and counts them with a mark of the labelled ones."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors
from stakes.engines.columns import Data, Values, as_finite, as_series, columns_of, to_column
from stakes.engines.files.text_format import in_format
from stakes.engines.kinds import kind_of
from stakes.engines.labels import Labels
from stakes.engines.missing import keep, lacking
from stakes.engines.plan import FEW_LABELS, WEIGHED, Counted, Plan
from stakes.engines.reading import Read, RowQuestion, count_read, locating, read_rows
from stakes.engines.segments import values_of
from stakes.engines.tables import is_lazy, names_files, take
from stakes.errors import About, GapError, Given, InputError, Pass, Text, first_row, in_rows, rows_text, short
from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array, distinct

if TYPE_CHECKING:
    import polars as pl


_COLUMNS = ("truth", "score", "prediction", "label_probability")


@dataclass(frozen=True, eq=False)
class PartlyLabelled:
    """Rows of which some are ``labelled``; the others are read as if they had the first truth.

    ``numbers`` are the numbers of the rows in the table, from 0; None if a condition selected them in a file or another
    engine. ``chance`` is the probability of each row to be labelled, if it is known.
    """

    read: Read
    labelled: Array
    numbers: Array | None
    chance: Array | None = None

    @property
    def weight(self) -> Array | None:
        """The number of rows that each row stands for if it is labelled."""
        return None if self.chance is None else 1 / self.chance

    @property
    def promised(self) -> tuple[float, float, int]:
        """The expected number of labels by the probabilities, its variance, and the actual number."""
        chance = np.zeros(0) if self.chance is None else self.chance
        return float(chance.sum()), float((chance * (1 - chance)).sum()), int(self.labelled.sum())

    @property
    def plan(self) -> Plan:
        """The classes; scores of several classes are refused."""
        plan = self.read.plan
        if plan is None or (len(plan.classes) != 2 and self.read.rows.prediction is None):
            raise _of_two_classes()
        return plan


def _of_two_classes() -> InputError:
    return InputError(
        "few-labels-two-classes",
        "few labels are estimated for scores of two classes, for decisions and for numbers; give decisions as ",
        Pass("prediction"),
    )


def _filled(values: Values, gaps: Array) -> Values:
    """Fill the gaps of the truth with the first truth."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.where(gaps, values[~gaps][0], values)
    series = as_series(values)
    if series is not None and np.array_equal(series.is_null().to_numpy(), gaps):
        return series.fill_null(series.drop_nulls()[0]).to_native()
    known = list(keep(values, ~gaps)) if series is None else series.filter((~gaps).tolist()).to_list()
    truth = np.full(len(gaps), known[0], object)
    truth[~gaps] = known
    return truth.tolist()


def read_partly(data: Data, asked: RowQuestion) -> PartlyLabelled:
    """Read rows of which some lack a truth (at least one must); nothing else may be missing."""
    _refuse_others(asked)
    data = in_format(data, asked.text_format)
    with locating(data, asked):
        given = {"truth": asked.truth, **asked.given(data, *_COLUMNS)}
        columns = take(data, asked.where, **given, **_row_numbers(data, asked.where))
        gaps = lacking(columns["truth"])
        if not gaps.any():
            raise InputError(
                "all-labelled", "every row has a truth, so there is nothing to estimate or to label; evaluate them"
            )
        for name in (one for one in _COLUMNS if one in columns and one != "truth"):
            if len(rows := np.flatnonzero(lacking(columns[name]))):
                raise _gaps(name, len(rows), int(rows[0]))
        chance = _chances(columns["label_probability"], len(gaps)) if "label_probability" in columns else None
        truth = _truth_or_any(columns["truth"], gaps, asked)
        plain = {name: values for name, values in columns.items() if name in ("score", "prediction")}
        segments = {name.partition(" ")[2] or name: values for name, values in columns.items() if name.startswith("by")}
        by = segments if len(segments) > 1 else next(iter(segments.values()), None)
        read = read_rows(
            None, replace(asked, truth=truth, by=by, where=None, text_format=None, label_probability=None, **plain)
        )
    if len(gaps) != len(read.rows.truth):
        raise errors.wrong_length("truth", len(gaps), len(read.rows.truth))
    numbers = columns.get(_NUMBERS, np.arange(len(gaps)) if asked.where is None else None)
    partly = PartlyLabelled(read, ~gaps, numbers, chance)
    if chance is not None:
        _refuse_broken_promise(partly.promised)
    return partly


def _gaps(argument: str, count: int, first: int | None) -> GapError:
    """The error of rows that lack more than a truth; ``missing="drop"`` would drop all unlabelled rows."""
    return GapError(
        "missing-beside-labels",
        About(argument),
        " is missing ",
        in_rows(count, first),
        "; fill them, or leave those rows out with ",
        Pass("where"),
    )


def _refuse_others(asked: RowQuestion) -> None:
    """Refuse questions that few labels do not answer."""
    if kind_of(asked) is not None:
        words = " is for rows with one truth and one answer, and here are several; estimate each by itself"
        raise InputError("unlabelled-columns", Given("unlabelled"), words)
    for name in ("weight", "cluster", "frequency", "exposure", "order", "series"):
        if getattr(asked, name) is not None:
            article = "an" if name[0] in "eo" else "a"
            raise InputError(
                "few-labels-plain",
                f"few labels are estimated for plain rows, and {article} {name} is given; label all rows, or leave it "
                "out",
            )
    if asked.missing != "error":
        raise InputError(
            "few-labels-drop",
            Given("missing", asked.missing),
            " does not go with few labels, where only the truth may be missing; leave rows out with ",
            Pass("where"),
        )
    if isinstance(asked.score, dict) or getattr(asked.score, "ndim", 1) == 2:
        raise _of_two_classes()


def _truth_or_any(values: Values, gaps: Array, asked: RowQuestion) -> Values:
    """Fill the gaps of the truth with the first truth, or the first class if there is none."""
    if not gaps.all():
        return _filled(values, gaps)
    if asked.classes is None:
        raise InputError(
            "no-labels",
            "no row has a truth, so nothing is known; label 30 rows at random first (to count them for later, name "
            "the ",
            Pass("classes"),
            ")",
        )
    return [next(iter(asked.classes))] * len(gaps)


# ── known probabilities of labelling ─────────────────────────────────────────────────────────────────────────────
def _chances(values: Values, rows: int) -> Array:
    """The probabilities of rows to be labelled, each above 0."""
    chance = as_finite(to_column(values, "label_probability")).astype(np.float64)
    if len(chance) != rows:
        raise errors.wrong_length("label_probability", len(chance), rows)
    wrong = np.flatnonzero((chance <= 0) | (chance > 1))
    _refuse_chances(len(wrong), chance.min(initial=1.0), chance.max(initial=1.0), *wrong[:1].tolist())
    return chance


def _refuse_chances(wrong: int, least: float, most: float, first: int | None = None) -> None:
    """Refuse invalid probabilities, given their number and range; ``first`` is the first such row, if known."""
    place = "" if first is None else Text(" (", first_row(first), ")")
    if wrong and least == 0 and most <= 1:
        raise InputError(
            "never-labelled",
            Given("label_probability"),
            f" is 0 in {rows_text(wrong)}",
            place,
            ", which can never be labelled; leave them out with ",
            Pass("where"),
        )
    if wrong:
        raise InputError(
            "bad-label-probability",
            Given("label_probability"),
            f" is {least if least <= 0 else most:g} in {rows_text(wrong)}",
            place,
            "; a probability is above 0 and at most 1",
        )


def _refuse_broken_promise(promised: tuple[float, float, int]) -> None:
    """Refuse probabilities that contradict the number of labels, given Σp, Σp(1 − p) and that number."""
    expected, variance, seen = promised
    if (expected - seen) ** 2 > 36 * variance + 1 and not seen / 2 < expected < 2 * seen:
        raise InputError(
            "other-label-probability",
            Given("label_probability"),
            f" promises about {expected:,.0f} labels, and {seen:,} rows have one; give the probability with which each "
            "row was labelled",
        )


def count_partly(data: Data, asked: RowQuestion) -> Counted:
    """Count rows of which only some have a truth, those with and without one separately in each segment."""
    return _count_by_label(read_partly(data, asked))


def count_partly_elsewhere(data: Data, asked: RowQuestion) -> Counted | None:
    """Count rows of lazy tables in their engine, and of very large files by Polars; None for all others.

    A first pass over the truth finds the classes.
    """
    wanted = asked.given(data, *_COLUMNS)
    if not all(isinstance(one, str) for one in wanted.values()) or asked.task == "regression" or kind_of(asked):
        return None
    if asked.missing != "error":
        return None
    if is_lazy(data):
        return _count_inside(data, asked, wanted)
    return _count_files(data, asked, wanted) if names_files(data) else None


def _count_inside(
    data: Data, asked: RowQuestion, wanted: Mapping[str, str], exact: bool | None = None
) -> Counted | None:
    """Count rows in another engine; those without a truth get one of the classes, and a segment of their own."""
    import narwhals as nw

    from stakes.engines.lazy.queries import QuerySource, collect, lacks

    source = QuerySource.of(data, wanted, asked.where)
    kind, place = source.dtype("truth"), source.places["truth"]
    if kind.is_nested():
        return None
    truth, gap = nw.col(place), lacks(source.frame, place)
    labels = collect(source.frame.filter(~gap).select(place).unique().head(3))[place].to_list()
    if len(labels) != 2 and (asked.classes is None or not labels):
        return None  # refused when the rows are read
    which = nw.when(gap).then(nw.lit(UNLABELLED)).otherwise(nw.lit(LABELLED))
    filled = nw.when(gap).then(nw.lit(labels[0], kind)).otherwise(truth)
    frame = source.frame.with_columns(filled.alias(_FILLED), which.alias(_PART))
    named: dict[str, Values] = {name: source.places[name] for name in ("score", "prediction") if name in wanted}
    by = {name.removeprefix("by "): source.places[name] for name in wanted if name.startswith("by")}
    classes = asked.classes if asked.classes is not None else sorted(labels)
    named |= {"truth": _FILLED, "by": {_PART: _PART, **by}, "classes": classes, "label_probability": None}
    alone = replace(asked, where=None, threshold=None, **named)  # the threshold is applied to the counts
    counted = _count_parts(frame.to_native(), alone, len(by), exact)
    if counted is None or "label_probability" not in wanted:
        return None if counted is None else _as_few_labels(counted)
    chance = nw.col(source.places["label_probability"]).cast(nw.Float64)
    wrong = ~((chance > 0) & (chance <= 1)).fill_null(True)
    amounts = {"expected": chance, "variance": chance * (1 - chance), "seen": ~gap, "wrong": wrong}
    sums = {name: one.cast(nw.Float64).sum() for name, one in {**amounts, "gaps": chance.is_null()}.items()}
    seen = collect(frame.select(**sums, least=chance.min(), most=chance.max())).rows(named=True)[0]
    if seen["gaps"]:
        raise _gaps("label_probability", int(seen["gaps"]), None)
    _refuse_chances(int(seen["wrong"]), seen["least"], seen["most"])
    _refuse_broken_promise((seen["expected"], seen["variance"], int(seen["seen"])))
    again = frame.with_columns((1 / chance).alias(_WEIGHT)).to_native()
    weighed = _count_parts(again, replace(alone, weight=_WEIGHT), len(by), exact)
    return None if weighed is None else _as_few_labels(counted, weighed)


def _count_parts(table: Data, asked: RowQuestion, several: int, exact: bool | None) -> Counted | None:
    """Count rows with and without a truth in each segment.

    Segments are named by their values; if several columns make them, also by their columns.
    """
    from stakes.engines.lazy.counting import count_inside  # loads Narwhals

    def called(name: str) -> str:
        kind, _, segment = name.removeprefix(f"{_PART}=").partition(", ")
        return f"{kind} {segment if several > 1 else ''.join(values_of(segment) or ())}".strip()

    found = count_inside(table, asked, exact)
    parts = {} if found is None else {called(name): part for name, part in found.segments.items()}
    return None if found is None else replace(found, segments=parts)


def _count_files(data: Data, asked: RowQuestion, wanted: dict[str, str]) -> Counted | None:
    """Count very large files as a Polars table; None for others, and if something is wrong."""
    from stakes.engines.files.reading import Files  # loads Polars
    from stakes.engines.files.sources import read_once
    from stakes.engines.on_disk import table_of
    from stakes.engines.streaming import BATCH

    if read_once(data):
        return None
    files = Files.open(in_format(data, asked.text_format), wanted, asked.where)
    if not files.have_more_rows_than(MOST_WHOLE):
        return None
    with suppress(InputError), table_of(files, BATCH) as table:  # reading all rows gives better errors
        alone = replace(asked, where=None, text_format=None)
        return None if table is None else _count_inside(table, alone, wanted, exact=False)
    return None


def _count_by_label(partly: PartlyLabelled) -> Counted:
    plan = partly.plan  # also refuses scores of several classes
    by = partly.read.by or Labels(np.zeros(len(partly.labelled), np.int64), ("",))
    kinds = [f"{kind} {name}".strip() for name in by.names for kind in (UNLABELLED, LABELLED)]
    present, codes = np.unique(2 * by.codes.astype(np.int64) + partly.labelled, return_inverse=True)
    read = replace(partly.read, by=Labels(codes, tuple(kinds[code] for code in present)))
    if partly.weight is None:
        return _as_few_labels(count_read(read))
    if len(plan.classes) > 2:
        raise tried_for_two("label_probability")
    weighed = count_read(replace(read, rows=replace(read.rows, weight=partly.weight)))
    return _as_few_labels(count_read(read), weighed)


def tried_for_two(name: str) -> InputError:
    """The error of an option that has not been tested with several classes."""
    return InputError("few-labels-of-two", Given(name), " was tried for two classes only; leave it out")


def _as_few_labels(counted: Counted, weighed: Counted | None = None) -> Counted:
    """The counts of rows with and without a truth, and of the same rows weighted by the rows they stand for."""
    again = {} if weighed is None else {f"{WEIGHED}_{name}": part for name, part in weighed.segments.items()}
    segments = {name: replace(part, task=FEW_LABELS) for name, part in {**counted.segments, **again}.items()}
    return replace(counted, task=FEW_LABELS, segments=segments)


def parts_of(counted: Counted) -> dict[str, dict[str, Counted]]:
    """The counts of :func:`count_partly`: segment → kind (labelled or not, weighed) → rows; the whole is ""."""
    segments = counted.kinds_by_segment()
    kinds = dict.fromkeys(kind for parts in segments.values() for kind in parts)
    whole = {kind: Counted.sum([parts[kind] for parts in segments.values() if kind in parts]) for kind in kinds}
    return {**segments, "": whole}


MOST_WHOLE = 1 << 22
"""Files of more rows are counted in batches."""

LABELLED, UNLABELLED = "labelled", "unlabelled"
_FILLED, _PART, _WEIGHT = "truth_or_any_class", "labelled_or_not", "rows_that_a_label_stands_for"
_NUMBERS = "numbers of the rows"


def _row_numbers(data: Data, where: Values) -> dict[str, Array]:
    """The numbers of all rows of a table in memory, if a condition selects some of them."""
    if where is None or data is None or names_files(data) or is_lazy(data):
        return {}
    table = data if isinstance(data, Mapping) else columns_of(data)
    return {_NUMBERS: np.arange(len(next(iter(table.values()))))}


def merge_labels(
    frame: "pl.DataFrame", known: "pl.Series", done: "pl.DataFrame", number: str
) -> tuple["pl.DataFrame", int]:
    """Put the truth of rows that were written out (``done``) back into their rows, by the column ``number``.

    Return all rows, and the number of labels; ``known`` is the truth of all rows, null if there is none.
    """
    import polars as pl

    truth = known.name
    for name in (number, truth):
        if name not in done.columns:
            raise errors.no_such_column("done", name, done.columns)
    done = done.filter(pl.col(truth).is_not_null())
    places = _places(done[number], len(frame))
    before = frame[places].with_columns(known[places])
    for name in (name for name in frame.columns if name in done.columns and name != number):
        other = _differ(before[name], done[name])
        if name == truth:
            other &= before[name].is_not_null().to_numpy()
        if other.any():
            row = int(np.argmax(other))
            seen, given = (short(repr(column[name][row])) for column in (before, done))
            raise InputError(
                "labels-of-other-rows",
                f"{name} of row {places[row] + 1:,} is {seen} in the file, and {given} among the labels; put them "
                "where they belong",
            )
    order = np.argsort(places)  # Polars before 1.30 only takes sorted places
    labels = done[truth].cast(frame[truth].dtype)[order]
    return frame.with_columns(frame[truth].scatter(places[order], labels)), len(done)


def _places(numbers: "pl.Series", rows: int) -> Array:
    """The indices of rows by their numbers from 1, each of which must occur once."""
    import polars as pl

    places = numbers.cast(pl.Float64, strict=False).to_numpy() - 1
    right = (places % 1 == 0) & (places >= 0) & (places < rows)
    if not len(places) or not right.all() or len(distinct(places)) < len(places):
        seen = f"{numbers.name} has to name rows from 1 to {rows:,}, each once" if len(places) else "no row has a truth"
        raise InputError("labels-without-place", f"the labels cannot be put back: {seen}; give the rows as written out")
    return np.asarray(places, np.int64)


def _differ(one: "pl.Series", other: "pl.Series") -> Array:
    """A mask of the rows in which two columns differ; numbers may have been rounded."""
    import polars as pl

    if one.dtype.is_nested() or other.dtype.is_nested():
        return np.zeros(len(one), bool)
    before, after = (values.cast(pl.Float64, strict=False).to_numpy() for values in (one, other))
    texts = [values.cast(pl.String).fill_null("").str.strip_chars().to_numpy() for values in (one, other)]
    return np.asarray(~np.isclose(before, after, rtol=1e-3) & (texts[0] != texts[1]))
