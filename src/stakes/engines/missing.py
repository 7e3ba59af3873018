"""missing="drop": drops rows with a missing value, and counts them."""

from collections.abc import Callable, Sequence

import numpy as np

from stakes import errors
from stakes.engines.classes.scores import ClassColumns
from stakes.engines.columns import Arguments, Series, Values, as_series, is_missing
from stakes.engines.tensors.arrays import at_home
from stakes.tallies.arithmetic import Array


def present_rows(columns: Arguments, table: ClassColumns | None) -> Array | None:
    """Return a mask of the rows in which all columns have a value; None if columns differ in length.

    Missing are null and NaN, and text of nothing but blanks.
    """
    gaps = [lacking(values) for values in columns.values()]
    if table is not None and table.values.dtype.kind == "f":
        gaps.append(np.asarray(np.isnan(table.values).any(axis=1)))
    if len({len(rows) for rows in gaps}) != 1:
        return None
    present: Array = ~np.logical_or.reduce(gaps)
    if len(present) and not present.any():
        raise errors.nothing_left(len(present))
    return present


def complete(where: str | None, columns: Sequence[str]) -> str:
    """The condition of rows that have a value in each of these columns."""
    parts = ['"{}" IS NOT NULL'.format(name.replace('"', '""')) for name in dict.fromkeys(columns)]
    return " AND ".join(parts if where is None else [f"({where})", *parts])


def leave_gaps_out(count: Callable[[str | None], int], where: str | None, columns: Sequence[str]) -> tuple[str, int]:
    """The condition of rows with a value in each of these columns, and how many others there are.

    It is asked how many rows ``count`` finds, since a condition that users did not write may not be named to them.
    """
    present = complete(where, columns)
    rows, kept = count(where), count(present)
    if not rows:
        raise errors.nothing_there(where)
    if not kept:
        raise errors.nothing_left(rows)
    return present, rows - kept


def keep(values: Values, present: Array) -> Values:
    """Return some rows of a column of any library."""
    if isinstance(values, list | tuple | range):
        return [value for value, here in zip(values, present.tolist(), strict=True) if here]
    values = at_home(values, "")
    series = as_series(values)
    return np.asanyarray(values)[present] if series is None else series.filter(present.tolist()).to_native()


def lacking(values: Values) -> Array:
    """Return a mask of the rows in which a column lacks a value."""
    values = at_home(values, "")
    series = None if isinstance(values, list | tuple | range | np.ndarray) else as_series(values)
    if series is not None:
        return _lacking_in_series(series)
    array = values if isinstance(values, list | tuple | range) else np.asanyarray(values)
    if isinstance(array, np.ndarray) and array.ndim != 1:
        return np.zeros(0, bool)  # not a column, which is refused when it is read
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.getmaskarray(array)
    if isinstance(array, np.ndarray) and array.dtype.kind not in "OUT":
        return np.isnan(array) if array.dtype.kind == "f" else np.zeros(len(array), bool)
    return np.fromiter(map(_is_nothing, array), bool, len(array))


def _is_nothing(value: object) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value.strip())


def _lacking_in_series(series: Series) -> Array:
    import narwhals as nw

    if series.dtype == nw.Object:
        return np.fromiter(map(_is_nothing, series.to_list()), bool, len(series))
    lacking: Array = series.is_null().to_numpy().astype(bool)
    if series.dtype.is_float():
        return np.asarray(lacking | series.is_nan().fill_null(True).to_numpy().astype(bool))
    if series.dtype == nw.Categorical or isinstance(series.dtype, nw.Enum):
        series = series.cast(nw.String)
    if series.dtype == nw.String:
        return np.asarray(lacking | (series.str.strip_chars() == "").fill_null(True).to_numpy().astype(bool))
    return lacking
