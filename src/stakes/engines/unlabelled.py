"""Rows of which only some have a truth: all are read, and it is said which ones are labelled."""

from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.engines.columns import Data, Values
from stakes.engines.files.text_format import in_format
from stakes.engines.missing import keep, lacking
from stakes.engines.reading import Read, RowQuestion, locating, read_rows
from stakes.engines.segments import spread_by
from stakes.engines.tables import take
from stakes.errors import Given, InputError, Pass
from stakes.tallies.arithmetic import Array


@dataclass(frozen=True, eq=False)
class PartlyLabelled:
    """Rows as they were read, those without a truth as if they had the first one; and which have one of their own."""

    read: Read
    labelled: Array


def _filled(values: Values, gaps: Array) -> Values:
    """The truth of rows that have one, and the first of them for all others."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.where(gaps, values[~gaps][0], values)
    known = list(keep(values, ~gaps))
    truth = np.full(len(gaps), known[0], object)
    truth[~gaps] = known
    return truth.tolist()


def read_partly(data: Data, asked: RowQuestion) -> PartlyLabelled:
    """Read rows of two classes of which some lack a truth; nothing else may be missing."""
    named = {name: getattr(asked, name) for name in ("truth", "score", "prediction", "weight", "cluster")}
    for name in ("weight", "cluster", "frequency"):
        if getattr(asked, name) is not None:
            raise InputError(
                "few-labels-plain",
                f"few labels are estimated for plain rows, and a {name} is given; label all rows, or leave it out",
            )
    if asked.missing != "error":
        raise InputError(
            "few-labels-drop",
            Given("missing", asked.missing),
            " does not go with few labels, of which the truth alone may be missing; leave rows out with ",
            Pass("where"),
        )
    if isinstance(asked.score, dict) or getattr(asked.score, "ndim", 1) == 2:
        raise InputError("few-labels-two-classes", "few labels are estimated for two classes; these are several")
    data = in_format(data, asked.text_format)
    with locating(data, asked):
        found = take(data, asked.where, **named, **spread_by(asked.by, data))
        gaps = lacking(found["truth"])
        if not gaps.any():
            raise InputError(
                "all-labelled", "every row has a truth, so there is nothing to estimate; leave this option out"
            )
        if gaps.all():
            raise InputError(
                "no-labels",
                "no row has a truth, so nothing is known; label 30 rows at random first",
            )
        truth = _filled(found["truth"], gaps)
        plain = {name: values for name, values in found.items() if name in ("score", "prediction")}
        segments = {name.partition(" ")[2] or name: values for name, values in found.items() if name.startswith("by")}
        by = segments if len(segments) > 1 else next(iter(segments.values()), None)
        read = read_rows(None, replace(asked, truth=truth, by=by, where=None, text_format=None, **plain))
    if read.plan is None or len(read.plan.classes) != 2:
        raise InputError("few-labels-two-classes", "few labels are estimated for two classes; these are others")
    if len(gaps) != len(read.rows.truth):
        raise errors.wrong_length("truth", len(gaps), len(read.rows.truth))
    return PartlyLabelled(read, ~gaps)
