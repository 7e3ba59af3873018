"""Rows in memory: read and checked, then counted as what the task calls for."""

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines import memory
from stakes.engines.alike import Spelling
from stakes.engines.class_scores import ClassColumns, as_table, spread_scores
from stakes.engines.columns import Column, Data, Values, as_finite, as_numbers, check_baseline, read_number
from stakes.engines.files.text_format import TextFormat, in_format
from stakes.engines.labels import Labels, encode, same_kind, settle, zeros_and_ones
from stakes.engines.plan import Counted, DecidedBy, Plan
from stakes.engines.pricing import add_decisions_by_cost, classes_of_costs, cost_column, decide_by_costs
from stakes.engines.rows import rows_that_count
from stakes.engines.segments import segment_labels, spread_by
from stakes.engines.tables import names_files, take
from stakes.engines.tasks import settle_task
from stakes.errors import About, Given, InputError, Pass, some
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.tallies.parallel import run_all
from stakes.tallies.pricing import Pricing

FEW_OUTSIDE = 0.05
"""Up to this share of scores outside [0, 1] is worth a warning."""

_MOST_LABELS = 20
"""More different numbers than this are quantities rather than classes."""


@dataclass(frozen=True, eq=False)
class Read:
    """Rows that were read and checked, ready to be counted: codes and numbers, and for classes the plan.

    ``length`` is the number of rows before any were left out: those of weight 0, and the ``dropped`` ones, in which
    something was missing. ``decided_by`` says how the decisions came about (see :class:`Counted`).
    """

    rows: memory.Rows
    length: int
    plan: Plan | None = None
    by: Labels | None = None
    decided_by: DecidedBy = "rows"
    dropped: int = 0
    dropped_in: Mapping[str, int] = field(default_factory=dict)
    dropped_weight: float = 0


def _telling_places(read: Callable[..., Read]) -> Callable[..., Read]:
    """Let errors about rows of files tell the file and the line, which takes a second look."""

    @functools.wraps(read)
    def read_files(data: Data = None, **asked: Values) -> Read:
        try:
            return read(data, **asked)
        except InputError as problem:
            files = in_format(data, asked.get("text_format"))
            all_rows = asked.get("where") is None and is_one_of(asked.get("missing", "error"), ("error",))
            if not all_rows or not names_files(files):
                raise  # rows that were left out have no number
            from stakes.engines.files.reading import Files  # loads Polars
            from stakes.engines.files.sources import read_once

            if read_once(files):
                raise
            raise problem.located(lambda row: Files.open(files, {}).place_of(row)) from None

    return read_files


@_telling_places
def read_rows(
    data: Any = None,
    *,
    truth: Any,
    score: Any = None,
    prediction: Any = None,
    task: str = "auto",
    positive: Any = None,
    classes: Any = None,
    weight: Any = None,
    by: Any = None,
    cluster: Any = None,
    baseline: float | None = None,
    parts: Collection[str] | None = None,
    pricing: Pricing | None = None,
    threshold: float | None = None,
    where: Any = None,
    missing: str = "error",
    alike: Any = None,
    text_format: TextFormat | None = None,
) -> Read:
    """Read and check the rows of one table, without counting them yet.

    ``where`` is a condition that chooses rows of the table; ``missing="drop"`` leaves out rows that lack a value.
    ``alike`` says which differences in the spelling of labels do not count (``alike.py``).

    ``pricing`` decides where there are only scores, or ``threshold`` does where costs differ from row to row.
    """
    data = in_format(data, text_format)
    if (score is None or (isinstance(score, dict) and not score)) and prediction is None:
        raise errors.nothing_to_judge()
    if baseline is not None:
        check_baseline(baseline)
    scores, table = spread_scores(score, classes)
    if where is not None and table is not None:
        raise errors.where_beside_array("score")
    prices = {} if pricing is None else {cost_column(name): name for name in pricing.costs.columns}
    if prices and data is None:
        raise InputError(
            "cost-columns-without-data",
            f"the costs name the column {some(list(prices.values()))}, but no data was given; pass a table or a file "
            "that has it, and the other columns by name",
        )
    named = {"prediction": prediction, "weight": weight, "cluster": cluster, **spread_by(by, data)}
    found = take(data, where, truth=truth, **named, **scores, **prices)
    rows = rows_that_count(found, table, missing, {} if data is None else {"truth": truth, **named, **scores})
    columns, table = rows.columns, rows.table
    if scores and "score" not in scores:
        table = as_table({name.removeprefix("score of "): columns[name] for name in scores})
    segments = segment_labels(columns)
    groups: Any = {"weight": rows.weight, "cluster": None if cluster is None else encode(columns["cluster"]).codes}
    of_classes = score is not None or positive is not None or classes is not None
    quick: dict[str, Labels | None] = {
        name: zeros_and_ones(columns[name]) for name in ("truth", "prediction") if name in columns
    }
    of_classes = of_classes or (task == "auto" and None not in quick.values())
    if baseline is not None and columns["truth"].kind == "text" and not any(map(read_number, columns["truth"].names)):
        raise InputError(
            "baseline-of-text",
            Given("baseline"),
            " is the constant that predicted numbers are compared with, and truth holds text; leave it out",
        )
    lost: Any = {name: getattr(rows, name) for name in ("dropped", "dropped_in", "dropped_weight")}
    if settle_task(task, columns, of_classes, baseline is not None) == "regression":
        if score is not None:
            raise errors.regression_without_prediction()
        if pricing is not None:
            raise errors.costs_of_numbers()
        numbers = _numbers(columns, places=rows.places, **groups)
        return Read(numbers, rows.length, by=segments, **lost)
    if baseline is not None:
        raise InputError(
            "baseline-of-classes",
            Given("baseline"),
            " is the constant that a regression is compared with; leave it out for classes",
        )
    plan, coded, decided_by = _classes(
        columns,
        quick,
        table,
        classes,
        positive,
        parts,
        pricing=pricing,
        weight=rows.weight,
        threshold=threshold,
        spelling=Spelling.of(alike, classes, positive, _names_in(table, pricing)),
    )
    return Read(replace(coded, **groups), rows.length, plan, segments, decided_by, **lost)


def count_read(read: Read, baseline: float | None = None, parts: Collection[str] | None = None) -> Counted:
    """Count rows that were read."""
    if read.plan is None:
        counted = memory.count_errors(read.rows, read.by, baseline, parts)
        return _with_rows(counted, read)
    counted = memory.count_classes(read.plan, read.rows, read.by, parts)
    tally: Any = counted.tallies.get("scores") or counted.tallies.get("class_scores")
    if parts is None and tally is not None and not tally.probabilities:
        warn_of_few_outside(np.asarray(read.rows.scores))
    return _with_rows(replace(counted, decided_by=read.decided_by), read)


def _with_rows(counted: Counted, read: Read) -> Counted:
    """Say how many rows there were, and which segments lost how many of theirs."""
    lost, by = read.dropped_in, {}
    if lost and read.by is not None:
        sizes = np.bincount(read.by.codes, minlength=len(read.by.names)).tolist()
        kept = dict(zip(read.by.names, sizes, strict=True))
        by = {name: (lost.get(name, 0), lost.get(name, 0) + kept.get(name, 0)) for name in {**kept, **lost}}
    rows = read.dropped + len(read.rows.truth)  # one of weight 0 is a row that is not there
    return replace(counted, dropped=read.dropped, read=rows, dropped_in=by, dropped_weight=read.dropped_weight)


def _numbers(columns: dict[str, Column], **groups: Any) -> memory.Rows:
    if "prediction" not in columns:
        raise errors.regression_without_prediction()
    truth, prediction = (as_finite(columns[name]) for name in ("truth", "prediction"))
    return memory.Rows(truth, prediction, **groups)


def _classes(
    columns: dict[str, Column],
    quick: dict[str, Labels | None],
    table: ClassColumns | None,
    classes: Any,
    positive: Any,
    parts: Collection[str] | None,
    *,
    pricing: Pricing | None,
    weight: Array | None,
    threshold: float | None,
    spelling: Spelling,
) -> tuple[Plan, memory.Rows, DecidedBy]:
    """Number the classes, and say what decides."""
    if "prediction" in columns:
        columns["truth"], columns["prediction"] = same_kind(
            columns["truth"], columns["prediction"], bool(spelling.words)
        )
    names = [name for name in ("truth", "prediction") if name in columns]
    tasks = [functools.partial(lambda name: quick[name] or encode(columns[name]), name) for name in names]
    truth, prediction = [*run_all(tasks, len(columns["truth"])), None][:2]
    if spelling.words:
        truth, prediction = (None if labels is None else labels.renamed(spelling) for labels in (truth, prediction))
    if pricing is not None and classes is None:
        classes = classes_of_costs(pricing.costs, truth.names)
    named = table.classes if table is not None and classes is None else ()
    scored = table is not None or "score" in columns  # a score is that of the positive class
    plan = settle(truth, prediction, classes, positive, named, ask=scored)
    if pricing is not None and prediction is not None:
        plan = add_decisions_by_cost(plan, pricing, prediction.names)
    decided = None if prediction is None else prediction.into(plan.decisions)
    scores, span = _scores(columns.get("score"), table, plan, truth.names)
    rows = memory.Rows(truth.into(plan.classes), decided, scores, span, weight=weight)
    if pricing is not None:
        return decide_by_costs(pricing, plan, rows, columns, threshold)
    if decided is None and scores is not None and scores.ndim == 2 and parts is None:
        return plan, replace(rows, prediction=np.asarray(scores).argmax(axis=1)), "score"
    return plan, rows, "rows"


def _names_in(table: ClassColumns | None, pricing: Pricing | None) -> list[str]:
    """The classes and decisions that scores and costs name."""
    return [*(() if table is None else table.classes), *(() if pricing is None else pricing.names)]


def warn_of_few_outside(scores: Array, sizes: Array | None = None) -> None:
    """A few scores outside [0, 1] are more likely a slip than another kind of score.

    ``sizes`` say how many rows have each score, where these are not rows but groups of them.
    """
    if scores.dtype.kind != "f":
        return
    outside = (scores < 0) | (scores > 1)
    rows = np.flatnonzero(outside if scores.ndim == 1 else outside.any(axis=1))
    count, total = (len(rows), len(scores)) if sizes is None else (int(sizes[rows].sum()), int(sizes.sum()))
    if count <= FEW_OUTSIDE * total:
        first = np.ravel(scores[rows[0]])
        value = float(first[(first < 0) | (first > 1)][0])
        errors.warn("few-outside", errors.few_outside(count, total, int(rows[0]) if sizes is None else None, value))


def _scores(
    single: Column | None, table: ClassColumns | None, plan: Plan, occurring: Collection[str]
) -> tuple[Array | None, tuple[float, float] | None]:
    """The score of the positive class, or one column for each class of several and how far they reach."""
    if single is not None:
        if plan.positive is None:
            if all(read_number(name) is not None for name in plan.classes) and len(plan.classes) > _MOST_LABELS:
                raise InputError(
                    "quantities-with-score",
                    About("truth"),
                    f" has {len(plan.classes):,} different numbers ({some(plan.classes, 2)}) beside one score; "
                    "for quantities pass the predicted numbers as ",
                    Pass("prediction"),
                    ", for classes one score column each",
                )
            raise InputError(
                "one-score-for-many",
                f"there is one score column for {len(plan.classes):,} classes ({some(plan.classes)}); give one for "
                "each: ",
                Pass("score", each="column"),
            )
        return as_numbers(single), None
    if table is None:
        return None, None
    missing = [name for name in plan.classes if name not in table.classes]
    if missing:
        raise errors.class_without_score(missing, [name for name in table.classes if name not in occurring])
    span = table.check()
    if plan.positive is not None:
        return np.ascontiguousarray(table.values[:, table.classes.index(plan.positive)]), None
    if table.classes == plan.classes:
        return table.values, span
    return table.values[:, [table.classes.index(name) for name in plan.classes]], None
