"""Whatever a user hands over, as plain columns: numbers, booleans, or text as codes and names.

Lists, NumPy, pandas, Polars, pyarrow and anything else that Narwhals takes come in; the caller's memory is only read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from stakes import errors
from stakes.engines.tensors.arrays import at_home
from stakes.errors import About, InputError, Pass, in_rows, short, some
from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_sequence, refuse_masked
from stakes.tallies.columns import refuse_infinite, refuse_rows
from stakes.tallies.parallel import polars_is_lost

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

Kind = Literal["number", "boolean", "text"]

Data: TypeAlias = Any
"""A table as a user hands it over: a data frame of any library, names of files, a dictionary of columns, batches."""

Values: TypeAlias = Any
"""A column, or another argument, as a user hands it over: a list, an array, a series of any library, a name."""

Arguments: TypeAlias = Mapping[str, Values]
"""Columns and other arguments of a call by name, as they were handed over."""

Series: TypeAlias = "nw.Series[Any]"
Table: TypeAlias = "nw.DataFrame[Any]"
LazyTable: TypeAlias = "nw.LazyFrame[Any]"
"""What Narwhals makes of columns and tables of any library."""


_GROUPING = ("by", "cluster", "order", "series")
"""Arguments that only group or order rows; they may hold dates."""

_FEW = 1 << 4
"""Up to this many codes are searched for one after the other."""

MOST_ROWS = 100_000_000
"""Most rows that frequencies may add up to: they are counted one by one."""


@dataclass(frozen=True, eq=False)
class Column:
    """One value per row.

    Numbers and booleans stand in ``values``; for text ``values`` are codes into ``names``. ``argument`` is how
    error messages call the column.
    """

    argument: str
    kind: Kind
    values: Array
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def keep(self, rows: Array) -> "Column":
        """Return the column of some rows (a mask)."""
        if self.kind == "text":
            return _present(self.argument, self.values[rows], self.names)
        return replace(self, values=self.values[rows])


# ── a table ──────────────────────────────────────────────────────────────────────────────────────────────────────
def as_frame(data: Data) -> "Table | LazyTable":
    """Return the Narwhals frame of a table, eager or lazy."""
    import narwhals as nw

    if isinstance(data, np.ndarray | list | tuple):
        raise errors.positional_arrays()
    if type(data).__name__ == "RecordBatch" and type(data).__module__.startswith("pyarrow"):
        import pyarrow as pa

        data = pa.Table.from_batches([data])
    wrapped = _wrap(data)
    if isinstance(wrapped, nw.Series):
        raise errors.positional_arrays()
    if not isinstance(wrapped, nw.DataFrame | nw.LazyFrame):
        raise InputError(
            "not-a-table",
            f"data is a {type(data).__name__}; give a file name, a data frame, or a dictionary of columns",
        )
    return wrapped


def columns_of(data: Data) -> dict[str, Values]:
    """Return the columns of a data frame by name."""
    frame = as_frame(data)
    here = frame.collect() if hasattr(frame, "collect") else frame
    return {name: here.get_column(name) for name in here.columns}


def columns_by_name(given: Values) -> dict[str, Values] | None:
    """Name → column, of a dictionary, a data frame, or names of columns; None for anything else."""
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        columns = given if isinstance(given, Mapping) else columns_of(given)
        return {str(name): column for name, column in columns.items()}
    names = [given] if isinstance(given, str) else given
    listed = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    return {name: name for name in names} if listed else None


def _wrap(values: Values) -> "Series | Table | LazyTable | Values":
    """Wrap a column or a table in Narwhals; return anything else as it is."""
    import narwhals as nw

    refuse_lost_polars(values)
    try:
        return nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        refuse_repeated_names([str(name) for name in getattr(values, "column_names", values.columns)])
        raise


def refuse_repeated_names(names: Sequence[str], file: str = "") -> None:
    """Refuse a table with two columns of the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        problem = InputError(
            "duplicate-columns",
            f"the table has several columns called {some(twice)}; rename them, so that a name means one column",
        )
        raise problem.within(file) if file else problem from None


# ── one column ───────────────────────────────────────────────────────────────────────────────────────────────────
def to_column(values: Values, argument: str) -> Column:
    """Convert a column of any library to a :class:`Column`."""
    refuse_sparse(argument, values)
    values = at_home(values, argument)
    if isinstance(values, np.ndarray):
        return _from_numpy(values, argument)
    if isinstance(values, list | tuple):
        return _from_objects(values, argument)
    if isinstance(values, range):
        return Column(argument, "number", np.arange(values.start, values.stop, values.step))
    series = as_series(values)
    if series is not None:
        return _from_series(series, argument)
    if hasattr(values, "__array__"):
        return _from_numpy(np.asanyarray(values), argument)
    name = type(values).__name__
    raise errors.not_a_column(argument, f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}")


def refuse_sparse(argument: str, values: Values) -> None:
    """Refuse a sparse matrix: that its zeros are rows would be a guess."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        raise InputError(
            "sparse-matrix",
            About(argument),
            f" is a sparse matrix of shape {values.shape}; give the values themselves, .toarray() of it",
        )


def as_array(values: Values, argument: str) -> Array:
    """Return a table of scores as an array, masked numbers as NaN; refuse rows of different lengths."""
    refuse_sparse(argument, values)
    values = at_home(values, argument)
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
        values = np.ma.filled(values.astype(np.float64), np.nan)
    refuse_masked(argument, values)
    try:
        return np.asarray(values)
    except ValueError:
        raise errors.not_a_column(argument, "a list of rows of different lengths") from None


def in_order(classes: Values) -> Sequence[Values]:
    """Return classes in their order; refuse a set, which has none."""
    if not is_sequence(classes):
        raise errors.classes_without_order(classes)
    found: Sequence[Values] = classes
    return found


def as_series(values: Values) -> "Series | None":
    """Return a Narwhals series, or None if this is not a series; Narwhals is loaded only when needed."""
    if type(values).__module__.partition(".")[0] in ("builtins", "numpy"):
        return None
    import narwhals as nw

    if type(values).__module__.startswith("pyarrow") and not hasattr(values, "chunks"):
        import pyarrow as pa

        if isinstance(values, pa.Array):
            values = pa.chunked_array([values])  # Narwhals takes arrays in chunks only
    wrapped = _wrap(values)
    return wrapped if isinstance(wrapped, nw.Series) else None


def length_of(values: Values) -> int | None:
    """The number of rows of a column, or None if it is not known before reading."""
    try:
        return None if isinstance(values, str | Mapping) else len(values)
    except TypeError:  # no column at all, or one of no length, such as a sparse matrix
        return None


def refuse_lost_polars(values: Data = None) -> None:
    """Refuse work that needs Polars (its own objects, or files) in a process that has lost its threads."""
    if polars_is_lost() and (values is None or type(values).__module__.partition(".")[0] == "polars"):
        raise InputError(
            "lost-polars",
            "this process was forked from one in which Polars was at work, and Polars does not survive that; pass "
            "arrays, or start processes by multiprocessing.get_context('spawn')",
        )


def _from_numpy(array: Array, argument: str) -> Column:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2 and argument in ("truth", "prediction"):
        raise InputError(
            "multilabel",
            About(argument),
            f" is an array of shape {array.shape}: several labels per row (multilabel) can be evaluated and "
            "compared; here give one column",
        )
    if array.ndim != 1:
        raise errors.not_a_column(argument, f"an array of shape {array.shape}")
    refuse_masked(argument, array)
    array = np.ma.getdata(array)
    if array.dtype.kind == "M" and argument == "order":
        array = array.astype("datetime64[us]").astype(np.int64)
    if array.dtype.kind == "b":
        return Column(argument, "boolean", array)
    if array.dtype.kind in "iuf":
        native = np.float64 if array.dtype.kind == "f" and array.itemsize > 8 else array.dtype.newbyteorder("=")
        return Column(argument, "number", array.astype(native, copy=False))
    if array.dtype.kind in "OUT":
        return _from_objects(array.tolist(), argument)
    raise errors.unsupported_type(argument, str(array.dtype))


def _from_series(series: Series, argument: str) -> Column:
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.Object:
        return _from_objects(series.to_list(), argument)
    if series.null_count():
        refuse_missing(series.is_null().to_numpy().astype(bool), argument)
    if dtype == nw.Categorical or isinstance(dtype, nw.Enum):
        return _from_categories(series, argument)
    if dtype == nw.String:
        chunks = _arrow_chunks(series.to_native())
        if chunks is not None:
            return _from_arrow(chunks, argument)
        in_polars = series.implementation.is_polars()
        return _from_text(series.to_native(), argument) if in_polars else _from_texts(series.to_list(), argument)
    if dtype in (nw.Int128, nw.UInt128):
        if len(series) and max(abs(int(series.min())), abs(int(series.max()))) >= 1 << 63:
            raise errors.beyond_64_bits(argument)
        return _from_numpy(series.cast(nw.Int64).to_numpy(), argument)
    if dtype == nw.Boolean or dtype.is_integer() or dtype.is_float():
        return _from_numpy(series.to_numpy(), argument)
    if dtype == nw.Decimal:
        return _from_numpy(series.cast(nw.Float64).to_numpy(), argument)
    if dtype in (nw.Date, nw.Datetime) and argument.partition(" ")[0] in _GROUPING:
        return _from_days(series, argument)
    raise errors.unsupported_type(argument, str(dtype))


def _from_days(series: Series, argument: str) -> Column:
    """Days, or times to the second, as text; they name segments and clusters."""
    import narwhals as nw

    days = series.dtype == nw.Date or bool((series.dt.truncate("1d") == series).all())
    if not days and not (series.dt.truncate("1s") == series).all():
        raise errors.unsupported_type(argument, str(series.dtype))
    texts = series.dt.to_string("%Y-%m-%d" if days else "%Y-%m-%d %H:%M:%S")
    return _from_texts(texts.str.slice(0, 19).to_list(), argument)  # seconds of Arrow have a fraction


def _from_categories(series: Series, argument: str) -> Column:
    """Take a categorical column by its codes; categories may be numbers or booleans too."""
    native = series.to_native()
    if hasattr(native, "cat") and hasattr(native.cat, "codes"):  # pandas
        categories = to_column(native.cat.categories.to_numpy(), argument)
        values = native.cat.codes.to_numpy()
        if categories.kind != "text":
            return Column(argument, categories.kind, categories.values[values])
        return _present(argument, categories.values[values], categories.names)
    return _from_codes(series.to_polars(), argument)


def _present(argument: str, codes: Array, names: tuple[str, ...]) -> Column:
    """Keep only the names that occur."""
    seen = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    if len(seen) == len(names):
        return Column(argument, "text", codes, names)
    return Column(argument, "text", ranks(seen, len(names))[codes], tuple(names[i] for i in seen))


def ranks(codes: Array, size: int, kind: "np.typing.DTypeLike" = np.int64) -> Array:
    """An array of this size that maps each of the codes to its place in ``codes``."""
    places = np.zeros(size, kind)
    places[codes] = np.arange(len(codes))
    return places


def _arrow_chunks(native: Values) -> Values:
    """Return the Arrow memory of a column that has it: pyarrow's own, or pandas text stored in Arrow."""
    if type(native).__module__.startswith("pyarrow"):
        return native
    return native.array.__arrow_array__() if getattr(native.dtype, "storage", "") == "pyarrow" else None


def _from_arrow(chunks: Values, argument: str) -> Column:
    """Encode texts in Arrow's memory: handing them to Polars would copy them first."""
    encoded = chunks.dictionary_encode().unify_dictionaries().chunks
    names = encoded[0].dictionary.to_pylist() if encoded else []
    parts = [part.indices.to_numpy(zero_copy_only=False) for part in encoded]
    return _put_in_order(argument, parts, np.arange(len(names)), names)


def _from_codes(series: "pl.Series", argument: str) -> Column:
    """Take a categorical column of Polars by its codes, of which few may occur."""
    codes, seen, names = codes_of(series)
    return _put_in_order(argument, [codes], seen, names)


def codes_of(series: "pl.Series") -> tuple[Array, Array, list[str]]:
    """The codes of a categorical Polars column without nulls, the distinct ones, and their names."""
    import polars as pl

    codes = series.to_physical().to_numpy()
    low, high = (int(codes.min()), int(codes.max())) if len(codes) else (0, -1)
    if high - low < _FEW:
        firsts = np.array([np.argmax(codes == code) for code in range(low, high + 1)], np.int64)
        rows = firsts[codes[firsts] == np.arange(low, high + 1)]
    else:
        rows = pl.Series(codes).arg_unique().to_numpy()
        rows = rows[np.argsort(codes[rows])]
    return codes, codes[rows].astype(np.int64), series.gather(rows).cast(pl.String).to_list()


def _put_in_order(argument: str, parts: Sequence[Array], seen: Array, names: Sequence[str]) -> Column:
    """Encode texts in sorted order; ``seen`` are the codes of the names in the parts of the column."""
    order = sorted(range(len(names)), key=names.__getitem__)
    places = ranks(seen[order], int(seen.max(initial=0)) + 1, np.uint8 if len(names) <= 256 else np.int32)
    codes = np.concatenate([places[:0], *(places.take(part) for part in parts)])
    return _number(argument, codes, tuple(names[i] for i in order))


def _from_texts(texts: list[str], argument: str) -> Column:
    import polars as pl

    if not polars_is_lost():
        try:
            return _from_text(pl.Series(texts, dtype=pl.String), argument)
        except UnicodeEncodeError as problem:  # Python's texts can hold halves of characters, no file can
            raise InputError(
                "half-a-character",
                About(argument),
                f" holds {short(repr(problem.object))}, in which half a character stands alone (a "
                "surrogate); mend the text",
            ) from None
    names = sorted(set(texts))
    places = {name: place for place, name in enumerate(names)}
    return _number(argument, np.fromiter(map(places.__getitem__, texts), np.int64, len(texts)), tuple(names))


def _from_text(series: "pl.Series", argument: str) -> Column:
    """Number the distinct texts in sorted order; Polars hashes faster than anything at hand."""
    import polars as pl

    names = series.unique().sort()
    codes = series.cast(pl.Enum(names)).to_physical().to_numpy()
    return _number(argument, codes, tuple(names.to_list()))


def _number(argument: str, codes: Array, names: tuple[str, ...]) -> Column:
    """A column of text; a text of nothing but blanks is a missing value, not a class."""
    blank = [i for i, name in enumerate(names) if not name.strip()]
    if blank:
        refuse_missing(np.isin(codes, blank), argument)
    return Column(argument, "text", codes, names)


# ── Python objects ───────────────────────────────────────────────────────────────────────────────────────────────
def _from_objects(values: Sequence[object], argument: str) -> Column:
    kinds = {_kind_of(type_): type_ for type_ in set(map(type, values))}
    if "missing" in kinds or len(kinds) > 1:
        refuse_missing(np.fromiter(map(is_missing, values), bool, len(values)), argument)
    if "other" in kinds and issubclass(kinds["other"], list | tuple | set | frozenset | np.ndarray):
        single = [value[0] for value in values if isinstance(value, list | tuple) and len(value) == 1]
        if len(single) == len(values) and not any(isinstance(one, list | tuple) for one in single):
            return _from_objects(single, argument)
        raise InputError(
            "multilabel-rows",
            About(argument),
            " holds a list or set in a row: several labels per row (multilabel) can be evaluated and "
            "compared; here give one column",
        )
    if "other" in kinds:
        raise errors.unsupported_type(argument, kinds["other"].__name__)
    if not kinds:
        return Column(argument, "number", np.empty(0))
    if len(kinds) > 1:
        firsts = {kind: next(v for v in values if _kind_of(type(v)) == kind) for kind in sorted(kinds)}
        raise InputError(
            "mixed-types",
            About(argument),
            f" mixes {' and '.join(map(kind_in_words, firsts))} ({some(list(firsts.values()))}); "
            "make the labels all text or all numbers",
        )
    if "text" in kinds:
        return _from_texts([str(v) for v in values], argument)
    return Column(argument, "boolean" if "boolean" in kinds else "number", _numbers(values, argument))


def _numbers(values: Sequence[Any], argument: str) -> Array:
    """Whole numbers stay whole; a mixture with fractions must fit into float64."""
    if any(issubclass(type_, Decimal) for type_ in set(map(type, values))):
        refuse_missing(np.fromiter(map(is_missing, values), bool, len(values)), argument)
        values = [float(v) for v in values]
    array = np.asarray(values)
    whole = all(issubclass(type_, int | np.integer) for type_ in set(map(type, values)))
    if array.dtype.kind not in ("biu" if whole else "biuf"):
        raise errors.beyond_64_bits(argument)
    if array.dtype.kind == "f":
        refuse_missing(np.isnan(array), argument)
        if any(isinstance(v, int) and abs(v) > 1 << 53 for v in values):
            raise errors.beyond_64_bits(argument)
    return array


def _kind_of(type_: type) -> str:
    if type_ is type(None) or type_.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return "missing"
    if issubclass(type_, bool | np.bool_):
        return "boolean"
    if issubclass(type_, int | float | np.integer | np.floating | Decimal):
        return "number"
    return "text" if issubclass(type_, str) else "other"


def kind_in_words(kind: str) -> str:
    """What a column of a kind holds: numbers, booleans or text."""
    return kind if kind == "text" else f"{kind}s"


def kind_changes(argument: str, before: str, here: str) -> InputError:
    """The error of a column whose kind changes between batches."""
    return InputError(
        "kind-changes",
        About(argument),
        f" holds {kind_in_words(before)} in the first rows and {kind_in_words(here)} in later ones; "
        "make it of one kind",
    )


def is_missing(value: object) -> bool:
    """Whether a Python object stands for a missing value."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return _kind_of(type(value)) == "missing" or (isinstance(value, float | np.floating) and value != value)


def refuse_missing(missing: Array, argument: str) -> None:
    """Raise an error if values are missing, naming the first row."""
    refuse_rows(missing, lambda rows, first: errors.missing_values(argument, rows, first))


# ── columns of numbers ───────────────────────────────────────────────────────────────────────────────────────────────
def as_numbers(column: Column) -> Array:
    """Return the values of a column that must hold numbers."""
    if column.kind == "text":
        words = [name for name in column.names if read_number(name) is None]
        beside = ", beside numbers written as text" if 0 < len(words) < len(column.names) else ""
        raise errors.not_numbers(column.argument, f"text ({errors.some(words or column.names)}{beside})")
    return column.values


def as_finite(column: Column) -> Array:
    """Return the finite numbers of a column; text that spells numbers is read."""
    if column.kind == "text":
        argument, codes, names = column.argument, column.values, column.names
        numbers = [read_number(name) for name in names]
        wrong = np.isin(codes, [i for i, number in enumerate(numbers) if number is None])
        refuse_rows(wrong, lambda rows, first: errors.not_a_number(argument, rows, first, names[codes[first]]))
        column = Column(argument, "number", np.array(numbers, np.float64)[codes])
    values = as_numbers(column)
    if values.dtype.kind == "f":
        refuse_infinite(column.argument, values)
    return values if values.dtype.kind != "b" else values.astype(np.int64)


def read_number(text: str) -> float | None:
    """The number that a text spells, or None (also for Python's 1_000)."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def as_frequencies(column: Column) -> Array:
    """Return checked frequencies: whole numbers from 1 on."""
    numbers = as_numbers(column).astype(np.float64)
    refuse_missing(np.isnan(numbers), column.argument)

    def problem(count: int, first: int) -> InputError:
        seen = About("frequency"), f" is {numbers[first]:g} ", in_rows(count, first)
        words = "; each row stands for 1 or more, so give whole numbers from 1 on, or "
        return InputError("bad-frequency", *seen, words, Pass("weight"))

    refuse_rows((numbers < 1) | (numbers != np.floor(numbers)) | (numbers > MOST_ROWS), problem)
    if numbers.sum() > MOST_ROWS:
        raise InputError(
            "many-frequencies",
            About("frequency"),
            f" adds up to {numbers.sum():g} rows, more than {MOST_ROWS:,}; evaluate their table of counts instead",
        )
    return numbers.astype(np.int64)


def as_weights(column: Column) -> Array:
    """Return checked weights."""
    weights = as_numbers(column).astype(np.float64)
    refuse_missing(np.isnan(weights), column.argument)
    refuse_rows(weights < 0, errors.negative_weights)
    refuse_rows(np.isinf(weights), partial(errors.infinite_values, "weight"))
    extreme = (weights > 1e100) | ((weights > 0) & (weights < 1e-100))  # their squares must be numbers too
    refuse_rows(extreme, errors.extreme_weights)
    if not weights.any():
        raise errors.zero_weights(len(weights))
    return weights
