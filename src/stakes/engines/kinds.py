"""Rows of other kinds than one class or one number: several labels or outputs, quantiles, series in time.

Each kind is read into named columns of numbers (:class:`Beside`), and its tally sums the terms of their rows.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors
from stakes.engines.columns import (
    Arguments,
    Column,
    Data,
    Values,
    as_array,
    as_finite,
    as_series,
    columns_of,
    is_missing,
    kind_changes,
    read_number,
    refuse_missing,
)
from stakes.engines.labels import PAIRS, encode
from stakes.engines.logits import probabilities_of
from stakes.engines.rows import RowsThatCount, rows_that_count
from stakes.engines.segments import with_segments_together
from stakes.engines.tables import take
from stakes.errors import About, Given, InputError, Pass, first_row, rows_text, short, some
from stakes.frozen import dataclass, replace
from stakes.tallies import CountSums, ForecastSums, LabelSums, OutputSums, QuantileSums, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import refuse_rows
from stakes.tallies.count_sums import POWERS
from stakes.tallies.names import canonical
from stakes.tallies.quantile_sums import ENSEMBLE
from stakes.tallies.term_sums import Matrix, is_sparse

if TYPE_CHECKING:
    from stakes.engines.reading import RowQuestion

_SETS = (set, frozenset)

_SHARED = ("weight", "frequency", "cluster")


@dataclass(frozen=True, eq=False)
class Beside:
    """Columns of a kind of rows, and the names of the labels, outputs or levels; ``kind`` is that of the tally."""

    kind: str
    names: tuple[str, ...]
    columns: Mapping[str, Matrix]

    def take(self, rows: Array | slice) -> "Beside":
        """Return some of the rows."""
        return replace(self, columns={name: column[rows] for name, column in self.columns.items()})

    def count(self, weight: Array | None, places: Array | None = None, parts: Collection[str] | None = None) -> Tally:
        """Return the tally of these rows, with these parts (default: all)."""
        if self.kind == OutputSums.kind:
            return OutputSums.from_rows(self.names, self.columns["truth"], self.columns["prediction"], weight, places)
        terms = {kind.kind: kind for kind in (LabelSums, QuantileSums, ForecastSums)}
        return terms[self.kind].from_rows(self.names, self.columns, weight, parts)


def has_columns(values: Values) -> bool:
    """Whether one argument holds several columns: a dictionary, a data frame, an array of two axes, sets of labels."""
    if isinstance(values, Mapping) or is_sparse(values):
        return True
    if isinstance(values, list | tuple):
        if not values or not isinstance(values[0], list | tuple | np.ndarray | set | frozenset):
            return False
        return any(not isinstance(row, list | tuple | np.ndarray) or len(row) != 1 for row in values)  # else a column
    shape: tuple[int, ...] = getattr(values, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def kind_of(asked: "RowQuestion") -> str | None:
    """The kind of rows that a question is about; None for one class or one number per row."""
    if any(one is not None for one in (asked.low, asked.high, asked.quantiles, asked.ensemble)):
        return QuantileSums.kind
    if asked.label_separator is not None or has_columns(asked.truth):
        return "several"
    if isinstance(asked.prediction, Mapping):
        return QuantileSums.kind
    return None


def columns_named(data: Data, asked: "RowQuestion", kind: str) -> dict[str, str] | None:
    """The columns of a table that a question names, by argument; None if some are not names."""
    if kind == QuantileSums.kind:
        given = [_Given("truth", column=asked.truth), _levels_given(asked)[1]]
    else:
        values = {name: getattr(asked, name) for name in ("truth", "prediction", "score")}
        given = [_Given.of(name, one, None) for name, one in values.items() if one is not None]
    if any(one.matrix is not None for one in given):
        return None
    named = {**_flat(given), **asked.given(data, *_SHARED)}
    named = {name: column for name, column in named.items() if column is not None}
    return named if all(isinstance(column, str) for column in named.values()) else None


def bind(asked: "RowQuestion", found: Arguments) -> "RowQuestion":
    """The same question with the columns themselves, by the arguments of :func:`columns_named`."""

    def columns(argument: str, value: Values) -> Values:
        if not isinstance(value, Mapping):
            return found.get(argument)
        return {name: found[f"{argument} of {canonical(name)}"] for name in value}

    if kind_of(asked) == QuantileSums.kind:
        quantiles = asked.quantiles if asked.quantiles is not None else asked.prediction
        members = None if asked.ensemble is None else {name: name for name in asked.ensemble}
        given = {name: found.get(f"quantile of {name}") for name in ("low", "high")}
        given |= {"truth": found["truth"], "prediction": None, "ensemble": members and columns("member", members)}
        given["quantiles"] = None if quantiles is None else columns("quantile", quantiles)
    else:
        given = {name: columns(name, getattr(asked, name)) for name in ("truth", "prediction", "score")}
    shared = {name: found.get(name) for name in ("weight", "frequency", "cluster")}
    by = with_segments_together({name: one for name, one in found.items() if name.partition(" ")[0] == "by"})
    bound: dict[str, Values] = {**given, **shared, "by": None, **by, "where": None}
    return replace(asked, **bound)


def read_kind(data: Data, asked: "RowQuestion", kind: str) -> tuple[RowsThatCount, Beside]:
    """Read the rows of a kind."""
    if asked.pricing is not None:
        raise InputError(
            "costs-of-kind",
            Given("costs"),
            " decide between the classes of one column, or about each of several labels where decide is asked; leave "
            "them out here",
        )
    for name in ("positive", "baseline"):
        if getattr(asked, name) is not None:
            words = " means nothing where rows have several labels, outputs or quantiles; leave it out"
            raise InputError("option-of-one-column", Given(name), words)
    return _read_quantiles(data, asked) if kind == QuantileSums.kind else _read_several(data, asked)


# ── columns under one argument ───────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class _Given:
    """The value of one argument: columns by name, a matrix, or one column of texts or sets."""

    argument: str
    names: tuple[str, ...] | None = None
    columns: Mapping[str, Values] | None = None
    matrix: Matrix | None = None
    column: Values = None

    @classmethod
    def of(cls, argument: str, values: Values, classes: Sequence[str] | None) -> "_Given":
        if hasattr(values, "columns") and not isinstance(values, Mapping):
            values = columns_of(values)
        if isinstance(values, Mapping):
            columns = {canonical(name): _contiguous(one) for name, one in values.items()}
            return cls(argument, tuple(columns), columns)
        if not has_columns(values):
            return cls(argument, column=values)
        if _are_sets(values):
            names = classes or sorted({canonical(label) for row in values for label in row})
            rows = [map(canonical, row) for row in values]
            return cls(argument, tuple(names), matrix=_flags_of(rows, names, argument))
        matrix = values.tocsr() if is_sparse(values) else as_array(values, argument)
        if not is_sparse(matrix) and (matrix.ndim != 2 or matrix.dtype.kind not in "biuf"):
            raise InputError("no-matrix", About(argument), " is no table of numbers, a row for each case; give one")
        if classes is not None and len(classes) != matrix.shape[1]:
            words = f" has {matrix.shape[1]:,} columns for {len(classes):,} names; give as many"
            raise InputError("columns-without-names", About(argument), words)
        return cls(argument, tuple(classes or map(str, range(matrix.shape[1]))), matrix=matrix)

    @property
    def flat(self) -> dict[str, Values]:
        """The columns to look up in a table, by their names in messages."""
        if self.columns is not None:
            return {f"{self.argument} of {name}": one for name, one in self.columns.items()}
        return {} if self.matrix is not None else {self.argument: self.column}


def _contiguous(column: Values) -> Values:
    """Make a column contiguous: it is read several times, which is then faster."""
    return np.ascontiguousarray(column) if isinstance(column, np.ndarray) and column.ndim == 1 else column


def _are_sets(rows: Values) -> bool:
    """Whether rows are collections of labels, rather than of numbers with one for each label."""
    if not isinstance(rows, list | tuple):
        return False
    if any(isinstance(row, _SETS) for row in rows):
        return True
    return len({len(row) for row in rows}) > 1 or any(isinstance(value, str) for row in rows for value in row)


def _flags_of(rows: Sequence[Values], names: Sequence[str], argument: str) -> Array:
    """A mask, rows × names, of the labels that each row has."""
    places = {name: place for place, name in enumerate(names)}
    flags = np.zeros((len(rows), len(names)), bool)
    for i, row in enumerate(rows):
        for label in row:
            if label not in places:
                raise errors.unknown_labels(argument, [label], names)
            flags[i, places[label]] = True
    return flags


def _flat(given: Sequence[_Given], numbers: Array | None = None) -> dict[str, Values]:
    """The columns of all arguments, and row numbers for matrices; any column can stand in for the truth."""
    flat = {name: column for one in given for name, column in one.flat.items()}
    flat |= {} if numbers is None else {"row": numbers}
    if "truth" not in flat:
        flat["truth"] = next((column for name, column in flat.items() if name.startswith("truth of")), flat.get("row"))
    return flat


def _find(data: Data, asked: "RowQuestion", given: Sequence[_Given]) -> tuple[RowsThatCount, Array | None]:
    """Read the rows that count, and return their numbers in matrices (None: all rows)."""
    matrices = [one.matrix for one in given if one.matrix is not None]
    flat = _flat(given, _row_numbers(matrices) if matrices else None)
    found = take(data, asked.where, **flat, **asked.given(data, *_SHARED))
    if asked.label_separator is not None:
        for name in ("truth", "prediction"):
            if name in found:
                found = {**found, name: _without_gaps(found[name], asked.label_separator)}
    rows = rows_that_count(found, None, asked.missing, {} if data is None else flat)
    if not matrices:
        return rows, None
    numbers = rows.columns["row"].values
    refuse_missing(np.isnan(numbers), "truth")
    whole = rows.places is None and len(numbers) == matrices[0].shape[0]
    return rows, None if whole else numbers.astype(np.int64)


def _row_numbers(matrices: Sequence[Matrix]) -> Array:
    """The numbers of the rows, NaN if a matrix lacks a value there, so that the row is dropped or refused."""
    lengths = [matrix.shape[0] for matrix in matrices]
    if len(set(lengths)) > 1:
        raise errors.wrong_length("prediction", lengths[1], lengths[0])
    gaps = [np.isnan(one).any(axis=1) for one in matrices if not is_sparse(one) and one.dtype.kind == "f"]
    lacking = np.logical_or.reduce(gaps) if gaps else np.zeros(lengths[0], bool)
    numbers = np.arange(lengths[0])
    return np.where(lacking, np.nan, numbers) if lacking.any() else numbers


def _without_gaps(values: Values, separator: str) -> list[str]:
    """A column of texts in which rows without labels hold just a separator."""
    series = as_series(values)
    texts = list(values) if series is None else series.to_list()
    return [separator if is_missing(text) or not str(text).strip() else str(text) for text in texts]


def _stack(given: _Given, rows: RowsThatCount, kept: Array | None, read: Callable[[Column], Array]) -> Matrix:
    """The columns of an argument as a matrix."""
    if given.matrix is not None:
        return given.matrix if kept is None else given.matrix[kept]
    assert given.columns is not None
    return np.stack([read(rows.columns[f"{given.argument} of {name}"]) for name in given.columns]).T


# ── several labels, several outputs ──────────────────────────────────────────────────────────────────────────────
def _read_several(data: Data, asked: "RowQuestion") -> tuple[RowsThatCount, Beside]:
    classes = None if asked.classes is None else [canonical(name) for name in asked.classes]
    values = {name: getattr(asked, name) for name in ("truth", "prediction", "score")}
    if values["prediction"] is None and values["score"] is None:
        raise errors.nothing_to_judge()
    given = [_Given.of(name, one, classes) for name, one in values.items() if one is not None]
    sets = [one for one in given if one.matrix is not None and _are_sets(values[one.argument])]
    if classes is None and sets:
        union = sorted({name for one in sets for name in one.names or ()})
        given = [_Given.of(one.argument, values[one.argument], union) for one in given]
    rows, kept = _find(data, asked, given)
    if asked.label_separator is not None:
        given = _of_texts(asked, rows, given)
    names: tuple[str, ...] = given[0].names or ()
    for one in given[1:]:
        if one.names is None:
            words = " is one column, and truth has several; give a column for each"
            raise InputError("one-column-for-several", About(one.argument), words)
        if set(one.names or ()) != set(names):
            lacking = [name for name in (*names, *(one.names or ())) if (name in names) != (name in (one.names or ()))]
            raise InputError(
                "other-names-than-truth",
                About(one.argument),
                f" has no column for the same names as truth: {some(lacking)}; give the same ones",
            )
    given = [one if one.columns is None else replace(one, columns={n: one.columns[n] for n in names}) for one in given]
    known = set(classes or names)
    if unknown := [name for name in names if name not in known]:
        raise errors.unknown_labels("truth", unknown, tuple(classes or ()))
    if _of_numbers(asked, given[0], rows, kept):
        return rows, _outputs(given, rows, kept, names)
    columns = {"truth": _labels(given[0], rows, kept)}
    for one in given[1:]:
        if one.argument == "prediction":
            columns["decided"] = _labels(one, rows, kept)
        else:
            columns["scores"] = _scores(one, rows, kept, asked)
    return rows, _decide(Beside(LabelSums.kind, names, columns), asked)


def _of_numbers(asked: "RowQuestion", truth: _Given, rows: RowsThatCount, kept: Array | None) -> bool:
    """Whether the columns of the truth are quantities rather than labels."""
    if asked.task in ("regression", "counts") or asked.score is not None:
        return asked.task in ("regression", "counts")
    if truth.matrix is not None:
        matrix = truth.matrix if kept is None else truth.matrix[kept]
        one = matrix.data if is_sparse(matrix) else matrix
        quantities = not _all_flags(one)
    else:
        quantities = any(_flags(rows.columns[f"truth of {name}"]) is None for name in truth.columns or ())
    if quantities and asked.task == "classification":
        raise _no_flags("truth")
    return bool(quantities)


def _outputs(given: Sequence[_Given], rows: RowsThatCount, kept: Array | None, names: tuple[str, ...]) -> Beside:
    if [one.argument for one in given] != ["truth", "prediction"] or any(one.column is not None for one in given):
        raise InputError(
            "outputs-without-prediction", "several outputs are judged by ", Pass("prediction"), ", a column for each"
        )
    numbers = {one.argument: _finite(one.argument, _stack(one, rows, kept, as_finite)) for one in given}
    return Beside(OutputSums.kind, names, numbers)


def _finite(argument: str, matrix: Matrix) -> Array:
    if is_sparse(matrix):
        raise InputError("sparse-numbers", About(argument), " is sparse, and only labels may be; give it as an array")
    if not np.isfinite(matrix).all():
        raise errors.not_numbers(argument, "values that are missing or infinite")
    return np.asarray(matrix, np.float64)


def _all_flags(values: Array) -> bool:
    """Whether all values are 0 or 1."""
    if values.dtype.kind in "biu":
        return values.dtype.kind == "b" or not values.size or bool(values.min() >= 0 and values.max() <= 1)
    return bool(((values == 0) | (values == 1)).all())


def _no_flags(argument: str) -> InputError:
    return InputError("no-flags", About(argument), " has a column for each label, which holds 0 and 1; it holds more")


def _flags(column: Column) -> Array | None:
    """Whether each row has a label; None if the column is not one of 0 and 1, or false and true."""
    if column.kind == "boolean":
        return np.asarray(column.values, bool)
    if column.kind == "number":
        values = as_finite(column)
        return values == 1 if ((values == 0) | (values == 1)).all() else None
    labels = encode(column)
    pair = next((pair for pair in PAIRS if set(labels.names) <= set(pair)), None)
    return None if pair is None else np.array([name == pair[1] for name in labels.names])[labels.codes]


def _labels(given: _Given, rows: RowsThatCount, kept: Array | None) -> Matrix:
    """A mask of the labels that each row has, or was predicted to have."""

    def read(column: Column) -> Array:
        found = _flags(column)
        if found is None:
            raise _no_flags(given.argument)
        return found

    matrix = _stack(given, rows, kept, read)
    if is_sparse(matrix):
        if not np.isin(matrix.data, (0, 1)).all():
            raise _no_flags(given.argument)
        return matrix.astype(np.float64)
    if not _all_flags(matrix):
        raise _no_flags(given.argument)
    return np.ascontiguousarray(matrix.astype(bool, copy=False))


def _of_texts(asked: "RowQuestion", rows: RowsThatCount, given: Sequence[_Given]) -> list[_Given]:
    """Replace a column of labels with a separator between them by a matrix of flags, in each argument."""
    texts = {name: encode(rows.columns[name]) for name in ("truth", "prediction") if name in rows.columns}

    def split(text: str) -> list[str]:
        return [label for part in text.split(str(asked.label_separator)) if (label := part.strip())]

    named = asked.classes or next((one.names for one in given if one.names is not None), None)
    labels = named or sorted({label for one in texts.values() for text in one.names for label in split(text)})
    names = tuple(map(canonical, labels))
    if any(one.argument == "score" and one.columns is None for one in given):
        words = " is one column, and with several labels in a row each label has a score of its own: "
        raise InputError("score-of-each-label", About("score"), words, Pass("score", each="column"))
    flags = {str(name): _flags_of([*map(split, one.names)], names, name)[one.codes] for name, one in texts.items()}
    return [one if one.names else replace(one, names=names, matrix=flags[one.argument]) for one in given]


def _scores(given: _Given, rows: RowsThatCount, kept: Array | None, asked: "RowQuestion") -> Matrix:
    """The scores of the labels; logits become probabilities by label. Missing entries of a sparse matrix are 0."""
    scores = _stack(given, rows, kept, as_finite)
    if not is_sparse(scores):
        scores = _finite("score", scores)
        return probabilities_of(scores.ravel()).reshape(scores.shape) if asked.from_logits else scores
    if not np.isfinite(scores.data).all():
        raise errors.not_numbers("score", "values that are missing or infinite")
    if asked.from_logits or (scores.data < 0).any():
        words = " is sparse, and what is not there counts as 0, the lowest score; give an array where that is wrong"
        raise InputError("sparse-scores", About("score"), words)
    scores = scores.tocsr().astype(np.float64)
    scores.eliminate_zeros()
    return scores


def _decide(labels: Beside, asked: "RowQuestion") -> Beside:
    """Decide by scores if there are no predictions: at the threshold, or at 0.5 for probabilities."""
    columns = dict(labels.columns)
    scores, threshold = columns.get("scores"), asked.threshold
    if scores is not None and "decided" not in columns:
        if threshold is None and scores.min() >= 0 and scores.max() <= 1:
            threshold = 0.5
        if threshold is not None and threshold <= 0 and is_sparse(scores):
            scores = columns["scores"] = scores.toarray()
        if threshold is not None:
            columns["decided"] = scores >= threshold
    return replace(labels, columns=_alike(columns))


def _alike(columns: Mapping[str, Matrix]) -> dict[str, Matrix]:
    """Make all columns sparse or all dense, like the scores, or else the truth."""
    if is_sparse(columns.get("scores", columns["truth"])):
        from scipy import sparse

        return {name: sparse.csr_array(one, dtype=np.float64) for name, one in columns.items()}
    dense = {name: one.toarray() if is_sparse(one) else one for name, one in columns.items()}
    return {name: one if name == "scores" else one.astype(bool, copy=False) for name, one in dense.items()}


# ── quantiles ────────────────────────────────────────────────────────────────────────────────────────────────────
def _read_quantiles(data: Data, asked: "RowQuestion") -> tuple[RowsThatCount, Beside]:
    levels, given = _levels_given(asked)
    truth = _Given("truth", column=asked.truth)
    rows, kept = _find(data, asked, [truth, given])
    quantiles = _finite("quantiles", _stack(given, rows, kept, as_finite))
    if levels is None:
        names = tuple(f"{ENSEMBLE} {i}" for i in range(1, quantiles.shape[1] + 1))
        quantiles = np.sort(quantiles, axis=1)
    else:
        order = np.argsort(levels)
        quantiles = quantiles if (np.diff(order) > 0).all() else quantiles[:, order]
        names = tuple(f"{levels[place]:.12g}" for place in order)
        _refuse_crossing(quantiles, names, asked)
    numbers = {"truth": as_finite(rows.columns["truth"]).astype(np.float64), "quantiles": quantiles}
    return rows, Beside(QuantileSums.kind, names, numbers)


def _levels_given(asked: "RowQuestion") -> tuple[list[float] | None, _Given]:
    """The levels of the quantiles (None for an ensemble), and their columns."""
    quantiles = asked.quantiles if asked.quantiles is not None else asked.prediction
    forms = [asked.low is not None or asked.high is not None, quantiles is not None, asked.ensemble is not None]
    if sum(forms) != 1:
        raise InputError(
            "which-quantiles", "give ", Pass("quantiles"), ", or ", Pass("low"), " and ", Pass("high"), ", or ",
            Pass("ensemble"), "; one of them",
        )  # fmt: skip
    if asked.ensemble is not None:
        members = asked.ensemble
        if isinstance(members, list | tuple) and all(isinstance(name, str) for name in members):
            members = {name: name for name in members}
        elif isinstance(members, list | tuple) and _are_columns(members, asked.truth):
            members = {f"{ENSEMBLE} {i}": member for i, member in enumerate(members, 1)}
        return None, _Given.of("member", members, None)
    if quantiles is not None:
        if not isinstance(quantiles, Mapping) or not quantiles:
            raise InputError("levels-of-quantiles", Given("quantiles"), " is a dictionary level → column: {0.1: 'q10'}")
        levels = [read_number(str(level)) for level in quantiles]
        for name, one in zip(quantiles, levels, strict=True):
            if one is None or not 0 < one < 1:
                raise InputError("no-level", f"{str(name)!r} is no level of a quantile; give one between 0 and 1")
        return [float(level or 0) for level in levels], _Given.of("quantile", quantiles, None)
    if asked.low is None or asked.high is None or asked.level is None:
        raise InputError(
            "level-of-interval", "an interval has ", Pass("low"), ", ", Pass("high"), " and ", Pass("level", 0.9),
            ", the share of rows that it should cover",
        )  # fmt: skip
    if not 0 < asked.level < 1:
        raise InputError("no-level", f"{asked.level!r} is no level of an interval; give one between 0 and 1")
    tail = (1 - asked.level) / 2
    return [tail, 1 - tail], _Given.of("quantile", {"low": asked.low, "high": asked.high}, None)


def _are_columns(members: Sequence[Values], truth: Values) -> bool:
    """Whether these are columns as long as the truth, one for each member, rather than rows."""
    lengths = {len(one) for one in (truth, *members) if hasattr(one, "__len__") and not isinstance(one, str)}
    return len(lengths) == 1 and len(members) not in lengths


def _refuse_crossing(quantiles: Array, names: Sequence[str], asked: "RowQuestion") -> None:
    """Refuse rows in which a higher quantile lies below a lower one."""

    def problem(count: int, row: int) -> InputError:
        place = int(np.argmax(np.diff(quantiles[row]) < 0))
        low, high = quantiles[row, place : place + 2].tolist()
        if asked.low is not None:
            words = f"low lies above high in {rows_text(count)} ({low:.6g} and {high:.6g}; "
            return InputError("low-above-high", words, first_row(row), "); swap the columns, or mend those rows")
        words = f"quantiles cross in {rows_text(count)}: {names[place + 1]} is {high:.6g}, below {low:.6g} of "
        return InputError("crossing-quantiles", words, f"{names[place]} (", first_row(row), "); sort those of each row")

    refuse_rows(np.any(np.diff(quantiles, axis=1) < 0, axis=1), problem)


# ── series in time ───────────────────────────────────────────────────────────────────────────────────────────────
def in_series(
    columns: Mapping[str, Column], truth: Array, prediction: Array, season: int, known: int = 0
) -> tuple[Beside, Array | None]:
    """Forecasts with the value one season earlier in their series, and the series of each row if there are several.

    The first ``known`` rows have been read before.
    """
    times = _times(columns["order"])
    labels = encode(columns["series"]) if "series" in columns else None
    codes = np.zeros(len(times), np.int64) if labels is None else labels.codes.astype(np.int64)
    order = np.lexsort((np.arange(len(times)), codes))
    same = codes[order][1:] == codes[order][:-1]
    step = np.where(same, np.diff(times[order]), 1)
    if (wrong := np.flatnonzero(step <= 0)).size:
        place = int(wrong[np.argmin(order[wrong + 1])])  # the first row of all series
        which = "" if labels is None else f" of series {labels.names[codes[order][place]]!r}"
        twice = step[place] == 0
        words = f"the times{which} " + ("come twice (" if twice else "go back (")
        advice = "give each time of a series once" if twice else "sort the rows by time"
        code = "doubled-times" if twice else "unsorted-times"
        raise InputError(code, words, first_row(int(order[place + 1]) - known), f"); {advice}")
    before = np.full(len(truth), np.nan)
    if len(order) > season:
        near = codes[order][season:] == codes[order][:-season]
        before[order[season:][near]] = truth[order[:-season][near]]
    beside = Beside(ForecastSums.kind, (), {"truth": truth, "prediction": prediction, "before": before})
    return beside, codes if labels is not None and len(labels.names) > 1 else None


class SeriesReader:
    """Reads forecasts batch by batch; the last rows of each series are kept for the next batch."""

    def __init__(self, season: int) -> None:
        self._season = season
        self._last: dict[str, Column] = {}

    def read(self, found: Arguments, missing: str) -> tuple[RowsThatCount, Beside]:
        """Read the next rows."""
        rows = rows_that_count(found, None, missing)
        known = len(self._last.get("truth", ()))
        columns = {name: self._after(name, rows.columns[name]) for name in ("truth", "prediction", "order", "series")}
        truth, prediction = (as_finite(columns[name]).astype(np.float64) for name in ("truth", "prediction"))
        beside, _ = in_series(columns, truth, prediction, self._season, known)
        codes = encode(columns["series"]).codes
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], codes[order], side="right")
        last = np.zeros(len(codes), bool)
        last[order] = ends - np.arange(len(codes)) <= self._season
        self._last = {name: column.keep(last) for name, column in columns.items()}
        return rows, replace(beside, columns={name: column[known:] for name, column in beside.columns.items()})

    def _after(self, name: str, column: Column) -> Column:
        """A column, with the rows kept from earlier batches before it."""
        before = self._last.get(name)
        if before is None:
            return column
        if before.kind != column.kind:
            raise kind_changes(name, before.kind, column.kind)
        if column.kind != "text":
            return replace(column, values=np.concatenate([before.values, column.values]))
        names = {text: place for place, text in enumerate(dict.fromkeys((*before.names, *column.names)))}
        codes = [np.array([names[text] for text in one.names], np.int64)[one.values] for one in (before, column)]
        return replace(column, values=np.concatenate(codes), names=tuple(names))


_DAY_FIRST = r"\s*\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
"""A date that begins with the day or the month."""


def _times(column: Column) -> Array:
    """Times as numbers in the same order; texts, such as dates of ISO 8601, in alphabetical order."""
    if column.kind == "text" and any(read_number(name) is None for name in column.names):
        if other := next((name for name in column.names if re.match(_DAY_FIRST, name)), None):
            words = f" holds {short(other)!r}, which does not sort as time does; write dates as 2026-12-31"
            raise InputError("times-unlike-iso", About("order"), words)
        ranks = np.argsort(np.argsort(np.array(column.names)))
        return np.asarray(ranks[column.values], np.float64)
    return as_finite(column).astype(np.float64)


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────
def read_counts(found: Arguments, missing: str) -> tuple[RowsThatCount, Beside]:
    """Read counts and predictions, divided by their exposure if there is one."""
    rows = rows_that_count(found, None, missing)
    truth, prediction, weight = read_numbers(rows.columns, rows.weight)
    refuse_negative(truth)
    numbers = {"truth": truth.astype(np.float64), "prediction": prediction.astype(np.float64)}
    return replace(rows, weight=weight), Beside(CountSums.kind, POWERS, numbers)


def refuse_negative(truth: Array) -> None:
    """Refuse counts below 0."""

    def problem(count: int, row: int) -> InputError:
        words = f" holds counts, and in {rows_text(count)} they are below 0 ({float(truth[row]):.6g}; "
        parts = About("truth"), words, first_row(row), "); pass ", Pass("task", "regression")
        return InputError("negative-counts", *parts)

    refuse_rows(truth < 0, problem)


def read_numbers(columns: Mapping[str, Column], weight: Array | None) -> tuple[Array, Array, Array | None]:
    """Truths and predictions, of counts per unit of exposure, which becomes their weight, and the weights."""
    truth, prediction = as_finite(columns["truth"]), as_finite(columns["prediction"])
    if "exposure" not in columns:
        return truth, prediction, weight
    refuse_negative(truth)
    over = as_finite(columns["exposure"]).astype(np.float64)

    def problem(count: int, row: int) -> InputError:
        words = f" is 0 or less in {rows_text(count)} ({float(over[row]):.6g}; "
        return InputError("no-exposure", Given("exposure"), words, first_row(row), "); leave these rows out")

    refuse_rows(over <= 0, problem)
    return truth / over, prediction / over, over * (1 if weight is None else weight)
