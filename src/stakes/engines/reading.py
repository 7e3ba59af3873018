"""Reads and checks rows in memory, and counts them by task."""

import functools
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines import memory
from stakes.engines.alike import Spelling
from stakes.engines.classes.scores import ClassColumns, as_table, spread_scores, width_of
from stakes.engines.columns import Column, Data, Values, as_numbers, read_number, to_column
from stakes.engines.files.text_format import TextFormat, in_format
from stakes.engines.kinds import in_series, kind_of, read_kind, read_numbers, refuse_negative
from stakes.engines.labels import Labels, encode, group_codes, same_kind, settle, zeros_and_ones
from stakes.engines.logits import probabilities_of
from stakes.engines.plan import Counted, DecidedBy, Plan
from stakes.engines.pricing import add_decisions_by_cost, classes_of_costs, cost_column, decide_by_costs
from stakes.engines.rows import Dropped, RowsThatCount, keep_numbers, rows_that_count
from stakes.engines.segments import refuse_names_of_rows, segment_labels, spread_by
from stakes.engines.tables import names_files, take
from stakes.engines.tasks import settle_task
from stakes.errors import About, Given, InputError, Pass, some
from stakes.frozen import dataclass, field, replace
from stakes.tallies import ClassScores, CountSums, ForecastSums, ScoreTable
from stakes.tallies.arithmetic import Array, distinct
from stakes.tallies.checks import check_baseline
from stakes.tallies.class_blocks import Span
from stakes.tallies.parallel import run_all
from stakes.tallies.pricing import Pricing

FEW_OUTSIDE = 0.05
"""Largest share of scores outside [0, 1] that causes a warning; with more they are not probabilities."""

_MOST_LABELS = 20
"""More different numbers are quantities rather than classes."""


@dataclass(frozen=True, eq=False)
class Read:
    """Rows that were read and checked, ready to be counted: codes and numbers, and for classes the plan.

    ``length`` is the number of rows before some were ``dropped``; ``places`` are the original numbers of the others, if
    some were. ``decided_by`` says where decisions come from (see :class:`Counted`), and at which ``threshold``;
    ``counts`` says whether numbers are counts.
    """

    rows: memory.Rows
    length: int
    plan: Plan | None = None
    by: Labels | None = None
    decided_by: DecidedBy = "rows"
    threshold: float | None = None
    dropped: Dropped = field(default_factory=Dropped)
    places: Array | None = None
    counts: bool = False

    @property
    def kept_places(self) -> Array:
        """The original numbers of the rows."""
        return np.arange(len(self.rows.truth)) if self.places is None else self.places

    def take(self, here: Array) -> "Read":
        """Return some of the rows; the others count as dropped."""
        others = np.ones(len(self.rows.truth), bool)
        others[here] = False
        left = np.flatnonzero(others)
        weight = self.dropped.weight + (0.0 if self.rows.weight is None else float(self.rows.weight[left].sum()))
        by, lost = None, dict(self.dropped.segments)
        if self.by is not None:
            used, codes = np.unique(self.by.codes[here], return_inverse=True)
            by = Labels(codes, tuple(self.by.names[code] for code in used))
            for code, rows in zip(*np.unique(self.by.codes[left], return_counts=True), strict=True):
                lost[self.by.names[code]] = lost.get(self.by.names[code], 0) + int(rows)
        dropped = Dropped(self.dropped.rows + len(left), lost, weight)
        return replace(self, rows=self.rows.take(here), by=by, dropped=dropped, places=self.kept_places[here])


@dataclass(frozen=True, eq=False, kw_only=True)
class RowQuestion:
    """The question of a call about rows: the columns, by name or as arrays, and the options of counting.

    ``where`` is a condition that selects rows of the table; ``missing="drop"`` drops rows that lack a value. ``alike``
    says which differences in the spelling of labels do not count (``alike.py``). ``parts`` are the parts of a tally to
    compute, since some take time; None means all. ``needed`` are those that will be asked for: where no rows are kept,
    predicted numbers are counted for these alone. ``several`` treats two classes like several, without a positive one.

    ``from_logits`` says that scores are logits, which become probabilities.

    One column may hold several labels with a ``label_separator`` between them; classes can be ``ordered``. Counts can
    have an ``exposure``. ``low``, ``high`` and ``level``, ``quantiles`` or ``ensemble`` are predicted distributions.
    ``order`` is the time of a forecast, ``series`` its series, and ``season`` the number of steps after which the naive
    forecast repeats a value.

    ``auc_error`` is the largest error of the auc of binned scores. ``label_probability`` is the probability that a row
    was labelled, if some are not.

    ``pricing`` decides if there are only scores, or ``threshold`` does if costs differ by row.

    To compare class probabilities, random groups of rows are counted like clusters: ``groups_by`` are the columns of
    all models that are compared, so that each model has the same groups. Where ``decisions_only`` are compared, engines
    count what is decided by the scores, and nothing else of them. Where intervals will be asked for they count
    ``row_groups``, too.
    """

    truth: Values
    score: Values = None
    prediction: Values = None
    task: str = "auto"
    positive: Values = None
    classes: Values = None
    weight: Values = None
    frequency: Values = None
    by: Values = None
    cluster: Values = None
    baseline: float | None = None
    parts: Collection[str] | None = None
    needed: Collection[str] | None = None
    pricing: Pricing | None = None
    threshold: float | None = None
    auc_error: float | None = None
    where: Values = None
    missing: str = "error"
    alike: Values = None
    several: bool = False
    from_logits: bool = False
    text_format: TextFormat | None = None
    label_separator: str | None = None
    ordered: bool = False
    exposure: Values = None
    low: Values = None
    high: Values = None
    level: float | None = None
    quantiles: Values = None
    ensemble: Values = None
    order: Values = None
    series: Values = None
    season: int = 1
    label_probability: Values = None
    groups_by: Sequence[str] = ()
    decisions_only: bool = False
    row_groups: bool = False

    def given(self, data: Data, *names: str) -> dict[str, Any]:
        """What was given for these arguments and for segments, by argument: columns or their names."""
        named = {name: getattr(self, name) for name in names} | spread_by(self.by, data)
        return {name: one for name, one in named.items() if one is not None}

    @property
    def of_classes(self) -> bool:
        """Whether an option is given that only makes sense for classes."""
        return self.ordered or any(given is not None for given in (self.score, self.positive, self.classes))

    @property
    def of_numbers(self) -> bool:
        """Whether predicted numbers are asked about, whatever the columns hold."""
        return self.task == "regression" or self.baseline is not None

    @property
    def of_counts(self) -> bool:
        """Whether numbers are counts, or amounts from 0 on."""
        return self.task == "counts" or self.exposure is not None

    @property
    def kind_beside(self) -> str | None:
        """The tally beside the errors of predicted numbers: deviances of counts, naive errors of forecasts."""
        if self.of_counts:
            return CountSums.kind
        return None if self.order is None else ForecastSums.kind

    @property
    def needs_rows(self) -> bool:
        """Whether all rows are read at once, however many: those of a single series, which need earlier rows."""
        return (self.order is None) != (self.series is None) or (self.order is not None and self.of_counts)


def read_rows(data: Data, asked: RowQuestion) -> Read:
    """Read and check the rows of one table, without counting them; errors name the line of a file."""
    data = in_format(data, asked.text_format)
    with locating(data, asked):
        return _read(data, asked)


def read_and_count(data: Data, asked: RowQuestion) -> tuple[Read, Counted]:
    """Read the rows of one table and count them; errors name the line of a file."""
    data = in_format(data, asked.text_format)
    with locating(data, asked):
        read = _read(data, asked)
        if read.by is not None:
            refuse_names_of_rows(len(read.by.names), read.length)
        return read, count_read(read, asked.baseline, asked.parts)


def locating(data: Data, asked: RowQuestion) -> AbstractContextManager[None]:
    """Let errors and warnings name the line of a file."""

    def place(row: int) -> str:
        from stakes.engines.files.reading import Files  # loads Polars

        return Files.open(data, {}, asked.where).place_of(row)

    def located(problem: errors.Problem) -> errors.Problem:
        from stakes.engines.files.sources import read_once

        return problem if read_once(data) else problem.located(place)

    return errors.pointing(located) if data is not None and names_files(data) else nullcontext()


def _read(data: Data, asked: RowQuestion) -> Read:
    if (kind := kind_of(asked)) is not None:
        rows, beside = read_kind(data, asked, kind)
        cluster = group_codes(rows.columns["cluster"]) if "cluster" in rows.columns else None
        numbers = np.arange(next(iter(beside.columns.values())).shape[0])
        coded = memory.Rows(numbers, weight=rows.weight, cluster=cluster, places=rows.places, beside=beside)
        by = segment_labels(rows.columns)
        return Read(coded, rows.length, by=by, dropped=rows.dropped, places=rows.places)
    score, pricing = asked.score, asked.pricing
    if (score is None or (isinstance(score, dict) and not score)) and asked.prediction is None:
        raise errors.nothing_to_judge()
    if asked.from_logits and score is None:
        raise errors.logits_without_score()
    if asked.baseline is not None:
        check_baseline(asked.baseline)
    if asked.classes is None and (width := width_of(score)) > 1:
        asked = replace(asked, classes=_columns_in_order(data, asked.truth, width))
    scores, table = spread_scores(score, asked.classes)
    prices = {} if pricing is None else {cost_column(name): name for name in pricing.costs.columns}
    if prices and data is None:
        raise InputError(
            "cost-columns-without-data",
            f"the costs name the column {some(list(prices.values()))}, but no data was given; pass a table or a file "
            "that has it, and the other columns by name",
        )
    named = {name: getattr(asked, name) for name in ("truth", "prediction", "weight", "frequency", "cluster")}
    named |= {name: getattr(asked, name) for name in ("exposure", "order", "series")}
    named |= {**spread_by(asked.by, data), **scores}
    chosen = {} if asked.where is None or table is None else {"score": np.arange(len(table.values))}
    found = take(data, asked.where, **named, **prices, **chosen)
    if chosen and table is not None:  # a condition selects the same rows of an array beside the table
        table = table.keep(np.asarray(found["score"]))
        found = {name: column for name, column in found.items() if name != "score"}
    rows = rows_that_count(found, table, asked.missing, {} if data is None else named)
    with keep_numbers(rows.places):
        if scores and "score" not in scores:
            table = as_table({name.removeprefix("score of "): rows.columns[name] for name in scores})
            rows = replace(rows, table=table)
        return replace(_interpret(asked, rows), places=rows.places)


def _interpret(asked: RowQuestion, rows: RowsThatCount) -> Read:
    """Find the task of the columns, and encode their classes or take their numbers."""
    columns, baseline = rows.columns, asked.baseline
    segments, cluster = segment_labels(columns), group_codes(columns["cluster"]) if "cluster" in columns else None
    quick = {name: zeros_and_ones(columns[name]) for name in columns if name in ("truth", "prediction")}
    if baseline is not None and columns["truth"].kind == "text" and not any(map(read_number, columns["truth"].names)):
        raise InputError(
            "baseline-of-text",
            Given("baseline"),
            " is the constant that predicted numbers are compared with, and truth holds text; leave it out",
        )
    of_classes = asked.of_classes or (asked.task == "auto" and None not in quick.values())
    of_numbers = any(given is not None for given in (baseline, asked.exposure, asked.order, asked.series))
    task = settle_task(asked.task, columns, of_classes, of_numbers)
    if task == "regression":
        quantities = _quantities(asked, rows, cluster)
        return Read(quantities, rows.length, by=segments, dropped=rows.dropped, counts=asked.of_counts)
    if baseline is not None:
        raise InputError(
            "baseline-of-classes",
            Given("baseline"),
            " is the constant that a regression is compared with; leave it out for classes",
        )
    plan, coded, decided_by = _classes(asked, rows, quick)
    threshold = asked.threshold if decided_by == "threshold" else None
    return Read(replace(coded, cluster=cluster), rows.length, plan, segments, decided_by, threshold, rows.dropped)


def _quantities(asked: RowQuestion, rows: RowsThatCount, cluster: Array | None) -> memory.Rows:
    """The rows of a regression."""
    columns = rows.columns
    if asked.score is not None or "prediction" not in columns:
        raise InputError(
            "regression-without-prediction",
            "a regression is judged by ",
            Pass("prediction"),
            ", the predicted numbers; ",
            Pass("score"),
            " is for classes",
        )
    if asked.pricing is not None:
        raise errors.costs_of_numbers()
    truth, prediction, weight = read_numbers(columns, rows.weight)
    if asked.of_counts:
        refuse_negative(truth)
    beside = None
    if asked.order is not None:
        if asked.frequency is not None:
            words = " counts rows that are alike, and each time of a series comes once; leave it out"
            raise InputError("frequency-of-series", Given("frequency"), words)
        beside, series = in_series(columns, truth, prediction, asked.season)
        cluster = series if cluster is None else cluster
    elif asked.series is not None:
        raise InputError("series-without-order", Given("series"), " needs the time of each row; pass ", Pass("order"))
    return memory.Rows(truth, prediction, weight=weight, cluster=cluster, places=rows.places, beside=beside)


def _columns_in_order(data: Data, truth: Values, width: int) -> list[object] | None:
    """The classes of the columns of scores, if the truth numbers them: 0, 1, … or False, True."""
    truth = to_column(take(data, truth=truth)["truth"], "truth")
    if truth.kind == "boolean":
        return [False, True] if width == 2 else None
    if truth.kind == "text" and len(names := encode(truth).names) > width:
        raise errors.which_score_column((len(truth), width), names)
    numbers = truth.values if truth.kind == "number" and truth.values.dtype.kind in "iu" else np.array([-1])
    seen = distinct(numbers).tolist()
    if seen == list(range(len(seen))) and len(seen) > width:
        raise errors.class_without_score([str(name) for name in seen[width:]], [])
    return seen if seen == list(range(width)) else None


def count_read(read: Read, baseline: float | None = None, parts: Collection[str] | None = None) -> Counted:
    """Count rows that were read."""
    with keep_numbers(read.places):
        if read.rows.beside is not None and read.rows.prediction is None:
            return _with_rows(memory.count_beside(read.rows, read.by, parts), read)
        if read.plan is None:
            task = "counts" if read.counts else "regression"
            return _with_rows(memory.count_errors(read.rows, read.by, baseline, parts, task), read)
        counted = memory.count_classes(read.plan, read.rows, read.by, parts)
        tallies = [tally for tally in counted.tallies.values() if isinstance(tally, ScoreTable | ClassScores)]
        if parts is None and not all(tally.probabilities for tally in tallies):
            warn_of_few_outside(np.asarray(read.rows.scores))
    return _with_rows(counted, read, {"ordered": True} if read.plan.ordered else {})


def _with_rows(counted: Counted, read: Read, asked: Mapping[str, str | float] | None = None) -> Counted:
    """Add the number of rows, the dropped rows by segment, what decided, and the question (``asked``)."""
    lost, by = read.dropped.segments, {}
    if lost and read.by is not None:
        sizes = np.bincount(read.by.codes, minlength=len(read.by.names)).tolist()
        kept = dict(zip(read.by.names, sizes, strict=True))
        by = {name: (lost.get(name, 0), lost.get(name, 0) + kept.get(name, 0)) for name in {**kept, **lost}}
    dropped = read.dropped.rows
    rows = dropped + len(read.rows.truth)
    return replace(
        counted,
        decided_by=read.decided_by,
        threshold=read.threshold,
        question=asked or {},
        dropped=dropped,
        read=rows,
        dropped_in=by,
        dropped_weight=read.dropped.weight,
    )


def _classes(
    asked: RowQuestion, counting: RowsThatCount, quick: Mapping[str, Labels | None]
) -> tuple[Plan, memory.Rows, DecidedBy]:
    """Encode the classes, and return what decides; ``quick`` are columns of labels that are already encoded."""
    columns, table, pricing, classes = counting.columns, counting.table, asked.pricing, asked.classes
    named_classes, named_costs = () if table is None else table.classes, () if pricing is None else pricing.names
    spelling = Spelling.of(asked.alike, classes, asked.positive, [*named_classes, *named_costs])
    if "prediction" in columns:
        both = columns["truth"], columns["prediction"]
        columns["truth"], columns["prediction"] = same_kind(*both, alike=bool(spelling.words))
    tasks = [functools.partial(lambda name: quick[name] or encode(columns[name]), name) for name in quick]
    truth, *others = (
        labels.renamed(spelling) if spelling.words else labels for labels in run_all(tasks, len(columns["truth"]))
    )
    prediction = others[0] if others else None
    if pricing is not None and classes is None:
        classes = classes_of_costs(pricing.costs, truth.names)
    alone = "score" in columns  # the score of the positive class
    ask = None if asked.several and not alone else table is not None or alone
    scored = named_classes if classes is None else ()
    plan = settle(truth, prediction, classes, asked.positive, scored, ask=None if asked.ordered else ask)
    if asked.ordered:
        plan = replace(plan, ordered=True)
        if classes is None and any(read_number(name) is None for name in plan.classes):
            raise InputError(
                "grades-have-no-order",
                Given("ordered"),
                f" needs an order, and {some(plan.classes)} have none of their own; pass ",
                Pass("classes"),
                " with all of them in their order, from the lowest to the highest",
            )
    if pricing is not None and prediction is not None:
        plan = add_decisions_by_cost(plan, pricing, prediction.names)
    decided = None if prediction is None else prediction.into(plan.decisions)
    if asked.from_logits and table is not None:
        table = replace(table, values=probabilities_of(table.values))
    scores, span = _scores(columns.get("score"), table, plan, truth, even=pricing is not None)
    if asked.from_logits and table is None and scores is not None:
        scores = probabilities_of(scores)
    if asked.several and alone and scores is not None:
        plan, scores = _of_both(plan, scores)
    rows = memory.Rows(truth.into(plan.classes), decided, scores, span, weight=counting.weight)
    if pricing is not None:
        return decide_by_costs(pricing, plan, rows, columns, asked.threshold)
    if decided is None and scores is not None and scores.ndim == 2 and asked.parts is None:
        return plan, replace(rows, prediction=np.asarray(scores).argmax(axis=1)), "score"
    return plan, rows, "rows"


def _of_both(plan: Plan, scores: Array) -> tuple[Plan, Array]:
    """The scores of two classes, one column for each, from those of the positive class."""
    other = 1 - scores if scores.min() >= 0 and scores.max() <= 1 else -scores
    columns = (scores if name == plan.positive else other for name in plan.classes)
    return replace(plan, positive=None), np.column_stack(list(columns))


def warn_of_few_outside(scores: Array, sizes: Array | None = None) -> None:
    """Warn about a few scores outside [0, 1], which are more likely a mistake than another kind of score.

    ``sizes`` are the numbers of rows if scores are those of groups.
    """
    if scores.dtype.kind != "f":
        return
    outside = (scores < 0) | (scores > 1)
    rows = np.flatnonzero(outside if scores.ndim == 1 else outside.any(axis=1))
    count, total = (len(rows), len(scores)) if sizes is None else (int(sizes[rows].sum()), int(sizes.sum()))
    if 0 < count <= FEW_OUTSIDE * total:
        first = np.ravel(scores[rows[0]])
        value = float(first[(first < 0) | (first > 1)][0])
        errors.warn("few-outside", errors.few_outside(count, total, int(rows[0]) if sizes is None else None, value))


def _scores(
    single: Column | None, table: ClassColumns | None, plan: Plan, truth: Labels, even: bool
) -> tuple[Array | None, Span | None]:
    """The score of the positive class, or one column for each class and their range."""
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
            raise errors.one_score_for_many(plan.classes, truth.into(plan.classes).tolist())
        return as_numbers(single), None
    if table is None:
        return None, None
    missing = [name for name in plan.classes if name not in table.classes]
    if missing:
        raise errors.class_without_score(missing, [name for name in table.classes if name not in truth.names])
    span = table.check(even)
    if plan.positive is not None:
        return np.ascontiguousarray(table.values[:, table.classes.index(plan.positive)]), None
    if table.classes == plan.classes:
        return table.values, span
    return table.values[:, [table.classes.index(name) for name in plan.classes]], None
