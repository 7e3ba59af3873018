"""Rows of which only some have a truth: all are read, and it is said which ones are labelled."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors
from stakes.engines.columns import Arguments, Data, Values, as_finite, as_series, columns_of, to_column
from stakes.engines.files.text_format import in_format
from stakes.engines.kinds import kind_of
from stakes.engines.labels import Labels
from stakes.engines.missing import keep, lacking
from stakes.engines.plan import FEW_LABELS, Counted, Plan
from stakes.engines.reading import Read, RowQuestion, count_read, locating, read_rows
from stakes.engines.segments import spread_by
from stakes.engines.tables import is_lazy, names_files, take
from stakes.errors import Given, InputError, Pass, first_row, rows_text, short
from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array

if TYPE_CHECKING:
    import polars as pl

    from stakes.engines.files.reading import Files


@dataclass(frozen=True, eq=False)
class PartlyLabelled:
    """Rows as they were read, those without a truth as if they had the first one; and which have one of their own.

    ``numbers`` are those of the rows in the table, from 0; None where a condition chose them out of sight. ``weight``
    is how many rows each stands for if it is labelled, where the probability of that is known.
    """

    read: Read
    labelled: Array
    numbers: Array | None
    weight: Array | None = None

    @property
    def plan(self) -> Plan:
        """The classes; scores of several are refused."""
        plan = self.read.plan
        if plan is None or (len(plan.classes) != 2 and self.read.rows.prediction is None):
            raise InputError(
                "few-labels-two-classes",
                "few labels are estimated for scores of two classes, for decisions and for numbers; give what was "
                "decided as ",
                Pass("prediction"),
            )
        return plan


def _filled(values: Values, gaps: Array) -> Values:
    """The truth of rows that have one, and the first of them for all others."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.where(gaps, values[~gaps][0], values)
    series = as_series(values)
    if series is not None and np.array_equal(series.is_null().to_numpy(), gaps):
        return series.fill_null(series.drop_nulls()[0]).to_native()
    known = list(keep(values, ~gaps)) if series is None else series.filter((~gaps).tolist()).to_list()
    truth = np.full(len(gaps), known[0], object)
    truth[~gaps] = known
    return truth.tolist()


def read_partly(data: Data, asked: RowQuestion, all_rows: bool = True) -> PartlyLabelled:
    """Read rows of which some lack a truth, among ``all_rows`` at least; nothing else may be missing."""
    if kind_of(asked) is not None:
        words = " is for rows with one truth and one answer, and here are several; estimate each by itself"
        raise InputError("unlabelled-columns", Given("unlabelled"), words)
    named = {name: getattr(asked, name) for name in ("truth", "score", "prediction", "label_probability")}
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
            " does not go with few labels, of which the truth alone may be missing; leave rows out with ",
            Pass("where"),
        )
    if isinstance(asked.score, dict) or getattr(asked.score, "ndim", 1) == 2:
        words = "few labels are estimated for scores of two classes, and these are several; give decisions as "
        raise InputError("few-labels-two-classes", words, Pass("prediction"))
    data = in_format(data, asked.text_format)
    with locating(data, asked):
        found = take(data, asked.where, **named, **spread_by(asked.by, data), **_row_numbers(data, asked.where))
        gaps = lacking(found["truth"])
        if all_rows and not gaps.any():
            raise InputError(
                "all-labelled", "every row has a truth, so there is nothing to estimate or to label; evaluate them"
            )
        if gaps.all() and asked.classes is None:
            raise InputError(
                "no-labels",
                "no row has a truth, so nothing is known; label 30 rows at random first (to count them for later, name "
                "the ",
                Pass("classes"),
                ")",
            )
        truth = [next(iter(asked.classes))] * len(gaps) if gaps.all() else _filled(found["truth"], gaps)
        plain = {name: values for name, values in found.items() if name in ("score", "prediction")}
        segments = {name.partition(" ")[2] or name: values for name, values in found.items() if name.startswith("by")}
        by = segments if len(segments) > 1 else next(iter(segments.values()), None)
        read = read_rows(
            None, replace(asked, truth=truth, by=by, where=None, text_format=None, label_probability=None, **plain)
        )
    if len(gaps) != len(read.rows.truth):
        raise errors.wrong_length("truth", len(gaps), len(read.rows.truth))
    numbers = found.get(_NUMBERS, np.arange(len(gaps)) if asked.where is None else None)
    weight = _weight_of_labels(found["label_probability"], ~gaps) if "label_probability" in found else None
    return PartlyLabelled(read, ~gaps, numbers, weight)


def _weight_of_labels(values: Values, labelled: Array) -> Array:
    """How many rows a labelled one stands for: one divided by the probability with which it was labelled."""
    chance = as_finite(to_column(values, "label_probability")).astype(np.float64)
    if len(chance) != len(labelled):
        raise errors.wrong_length("label_probability", len(chance), len(labelled))
    wrong = np.flatnonzero((chance <= 0) | (chance > 1))
    if len(wrong):
        if (chance[wrong] == 0).all():
            raise InputError(
                "never-labelled",
                Given("label_probability"),
                f" is 0 in {rows_text(len(wrong))} (",
                first_row(int(wrong[0])),
                "), of which no label can ever tell; leave them out with ",
                Pass("where"),
            )
        raise InputError(
            "bad-label-probability",
            Given("label_probability"),
            f" is {chance[wrong[0]]:g} in {rows_text(len(wrong))} (",
            first_row(int(wrong[0])),
            "); a probability is above 0 and at most 1",
        )
    expected, seen = float(chance.sum()), int(labelled.sum())
    unlikely = (expected - seen) ** 2 > 36 * float((chance * (1 - chance)).sum()) + 1
    if unlikely and not seen / 2 < expected < 2 * seen:
        raise InputError(
            "other-label-probability",
            Given("label_probability"),
            f" promises about {expected:,.0f} labels, and {seen:,} rows have one; give the probability with which each "
            "row was labelled",
        )
    return np.asarray(1 / chance)


def count_partly(data: Data, asked: RowQuestion) -> Counted:
    """Count rows of which only some have a truth: in each segment those with one and those without apart."""
    return _count_by_label(read_partly(data, asked))


def count_partly_elsewhere(data: Data, asked: RowQuestion) -> Counted | None:
    """Count rows of lazy tables where they lie, and of very large files batch by batch; None for all others.

    A pass over the truth finds the classes first.
    """
    named = {name: getattr(asked, name) for name in ("truth", "score", "prediction")} | spread_by(asked.by, data)
    wanted = {name: one for name, one in named.items() if one is not None}
    if not all(isinstance(one, str) for one in wanted.values()) or asked.task == "regression" or kind_of(asked):
        return None
    if asked.label_probability is not None or asked.missing != "error":
        return None
    if is_lazy(data):
        return _count_inside(data, asked, wanted)
    return _count_batches(data, asked, wanted) if names_files(data) else None


def _count_inside(data: Data, asked: RowQuestion, wanted: Mapping[str, str]) -> Counted | None:
    """Let another engine count its rows: those without a truth get one of the classes, and are a segment apart."""
    import narwhals as nw

    from stakes.engines.lazy import count_inside
    from stakes.engines.queries import QuerySource, collect

    source = QuerySource.of(data, wanted, asked.where)
    kind, place = source.dtype("truth"), source.places["truth"]
    if kind.is_nested() or any(name.startswith("by ") for name in wanted):
        return None
    truth = nw.col(place)
    gap = truth.is_null()
    gap = gap | truth.is_nan() if kind.is_float() else gap
    gap = gap | (truth.str.strip_chars() == "") if kind == nw.String else gap
    labels = collect(source.frame.filter(~gap).select(place).unique().head(3))[place].to_list()
    if len(labels) != 2:
        return None  # told when the rows are read
    which = nw.when(gap).then(nw.lit(UNLABELLED)).otherwise(nw.lit(LABELLED))
    by = [nw.col(source.places["by"]).cast(nw.String)] if "by" in wanted else []
    part = nw.concat_str(which, *by, separator=" ") if by else which
    filled = nw.when(gap).then(nw.lit(labels[0], kind)).otherwise(truth)
    table = source.frame.with_columns(filled.alias(_FILLED), part.alias(_PART)).to_native()
    named: Arguments = {name: source.places[name] for name in ("score", "prediction") if name in wanted}
    classes = asked.classes if asked.classes is not None else sorted(labels)
    counted = count_inside(table, replace(asked, truth=_FILLED, by=_PART, where=None, classes=classes, **named))
    return None if counted is None else _as_few_labels(counted)


def _count_batches(data: Data, asked: RowQuestion, wanted: dict[str, str]) -> Counted | None:
    from stakes.engines.files.reading import Files  # loads Polars
    from stakes.engines.files.sources import read_once

    if read_once(data):
        return None
    data = in_format(data, asked.text_format)
    files = Files.open(data, wanted, asked.where)
    if not files.have_more_rows_than(MOST_WHOLE):
        return None
    classes = asked.classes or _classes_in(Files.open(data, {"truth": wanted["truth"]}, asked.where))
    if classes is None:
        return None
    several = [name for name in wanted if name.startswith("by")]
    plain: Arguments = {name: name for name in wanted if name not in several}
    alone = replace(
        asked,
        **plain,
        by={name.removeprefix("by "): name for name in several} or None,
        classes=classes,
        where=None,
        text_format=None,
    )
    found: Counted | None = None
    for batch in files.batches(_BATCH):
        if len(batch["truth"]):
            part = _count_by_label(read_partly(batch, alone, all_rows=False)).binned()
            found = part if found is None else found + part
    return found


def _classes_in(files: "Files") -> list[str] | None:
    """The two classes of labelled rows; None where there are others, which is told when all rows are read."""
    seen: set[str] = set()
    for batch in files.batches(_BATCH):
        truth = batch["truth"]
        seen |= {*truth.filter(~lacking(truth)).unique().to_list()}
        if len(seen) > 2:
            return None
    return sorted(seen) if len(seen) == 2 else None


def _count_by_label(partly: PartlyLabelled) -> Counted:
    _ = partly.plan  # refuses scores of several classes
    by = partly.read.by or Labels(np.zeros(len(partly.labelled), np.int64), ("",))
    kinds = [f"{kind} {name}".strip() for name in by.names for kind in (UNLABELLED, LABELLED)]
    present, codes = np.unique(2 * by.codes.astype(np.int64) + partly.labelled, return_inverse=True)
    parts = Labels(codes, tuple(kinds[code] for code in present))
    counted = count_read(replace(partly.read, by=parts))
    return _as_few_labels(counted)


def _as_few_labels(counted: Counted) -> Counted:
    segments = {name: replace(part, task=FEW_LABELS) for name, part in counted.segments.items()}
    return replace(counted, task=FEW_LABELS, segments=segments)


def parts_of(counted: Counted) -> dict[str, dict[str, Counted]]:
    """What :func:`count_partly` counted: segment → kind (labelled or not) → rows; the whole is called ""."""
    found: dict[str, dict[str, Counted]] = {"": {}}
    for name, part in counted.segments.items():
        kind, _, segment = name.partition(" ")
        for one in {"", segment}:
            before = found.setdefault(one, {})
            before[kind] = part if kind not in before else before[kind] + part
    return found


MOST_WHOLE = 1 << 22
"""Files of more rows are counted in batches."""

_BATCH = 1 << 20
LABELLED, UNLABELLED = "labelled", "unlabelled"
_FILLED, _PART = "truth_or_any_class", "labelled_or_not"
_NUMBERS = "numbers of the rows"


def _row_numbers(data: Data, where: Values) -> dict[str, Array]:
    """The numbers of all rows beside a table in memory of which a condition chooses some."""
    if where is None or data is None or names_files(data) or is_lazy(data):
        return {}
    table = data if isinstance(data, Mapping) else columns_of(data)
    return {_NUMBERS: np.arange(len(next(iter(table.values()))))}


def merge_labels(
    frame: "pl.DataFrame", known: "pl.Series", done: "pl.DataFrame", number: str
) -> tuple["pl.DataFrame", int]:
    """Put the truth of rows that were written out (``done``) back to where the column ``number`` says they stood.

    Return all rows, and how many labels there were; ``known`` is the truth of all rows, null where there is none.
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
    order = np.argsort(places)  # Polars before 1.30 takes no others
    labels = done[truth].cast(frame[truth].dtype)[order]
    return frame.with_columns(frame[truth].scatter(places[order], labels)), len(done)


def _places(numbers: "pl.Series", rows: int) -> Array:
    """The places of rows by their numbers from 1, each of which is there once."""
    import polars as pl

    places = numbers.cast(pl.Float64, strict=False).to_numpy() - 1
    right = (places % 1 == 0) & (places >= 0) & (places < rows)
    if not len(places) or not right.all() or len(np.unique(places)) < len(places):
        seen = f"{numbers.name} has to name rows from 1 to {rows:,}, each once" if len(places) else "no row has a truth"
        raise InputError("labels-without-place", f"the labels cannot be put back: {seen}; give the rows as written out")
    return np.asarray(places, np.int64)


def _differ(one: "pl.Series", other: "pl.Series") -> Array:
    """Where two columns tell something else; numbers may have been rounded."""
    import polars as pl

    if one.dtype.is_nested() or other.dtype.is_nested():
        return np.zeros(len(one), bool)
    before, after = (values.cast(pl.Float64, strict=False).to_numpy() for values in (one, other))
    texts = [values.cast(pl.String).fill_null("").str.strip_chars().to_numpy() for values in (one, other)]
    return np.asarray(~np.isclose(before, after, rtol=1e-3) & (texts[0] != texts[1]))
