"""The models of a comparison: each evaluated as usual, with its outputs row by row beside it."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from stakes import errors
from stakes.engines.classes.scores import spread_scores
from stakes.engines.columns import MOST_ROWS, as_frame, columns_by_name, columns_of, length_of
from stakes.engines.joining import join, table_names
from stakes.engines.kinds import kind_of
from stakes.engines.labels import Labels
from stakes.engines.missing import keep, present_rows
from stakes.engines.pricing import cost_column
from stakes.engines.reading import Read, RowQuestion, count_read, read_rows
from stakes.engines.segments import spread_by, with_segments_together
from stakes.engines.tables import is_lazy, refuse_different_indexes, take
from stakes.errors import About, InputError, Pass, rows_text, some, the_class
from stakes.evaluation import judge
from stakes.evaluation.base import Evaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.metrics import Estimate, Metric
from stakes.question.options import Column, Data, Value
from stakes.question.question import Question
from stakes.tallies import Confusion, CostSums, ErrorSums, OutputSums, TermSums
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import canonical
from stakes.uncertainty import paired
from stakes.uncertainty.sampling import REPLICATES, Sample, Sampling

_SHARED = ("truth", "weight", "frequency", "cluster", "exposure", "order", "series")


@dataclass(frozen=True)
class Entry:
    """Where a model's rows are: names of columns of the data, or arrays."""

    name: str
    data: Data
    truth: Column
    score: Column = None
    prediction: Column = None


@dataclass(frozen=True, eq=False)
class Contestant:
    """A model: its evaluation, the rows it was evaluated on, and its outputs.

    Where rows were not loaded these are empty, and ``elsewhere`` compares two models on them. Where only some rows have
    a truth, those are here, and ``estimated`` holds the estimates for all rows.
    """

    name: str
    evaluation: Evaluation
    sample: Sample
    decided: Array | None
    scores: Array | None
    numbers: Array | None
    by: Labels | None = None
    elsewhere: "Elsewhere | None" = None
    segment: str | None = None
    estimated: Value = None

    def __getitem__(self, name: str) -> Estimate:
        found: Estimate = (self.evaluation if self.estimated is None else self.estimated)[name]
        return found

    def within(self, segment: str) -> "Contestant":
        """Return the same model on the rows of a segment."""
        assert self.by is not None
        part = replace(self, evaluation=self.evaluation.segments[segment], segment=segment, by=None)
        if self.elsewhere is not None and self.estimated is None:
            return part
        rows = self.by.codes == self.by.names.index(segment)
        outputs = {name: getattr(self, name) for name in ("decided", "scores", "numbers")}
        taken: dict[str, Value] = {name: None if one is None else one[rows] for name, one in outputs.items()}
        estimated = None if self.estimated is None else self.estimated.segments[segment]
        return replace(part, sample=self.sample.take(rows), estimated=estimated, **taken)

    @property
    def complete_decisions(self) -> Array | None:
        """The decisions, if there are any and every class can be decided."""
        return self.decided if set(self.sample.classes) <= set(self.sample.decisions) else None

    def output(self, metric: Metric) -> Column:
        """The output that a metric needs: decisions, scores or predicted numbers; the tally for other kinds of rows."""
        if issubclass(metric.tally, TermSums | OutputSums):
            found: Column = self.evaluation.counted.tallies.get(metric.tally.kind)
            return found
        if metric.tally in (Confusion, CostSums):
            return self.decided
        return self.numbers if metric.tally is ErrorSums else self.scores

    @property
    def rows(self) -> float:
        """The number of rows; with weights of as many rows of equal weight as tell as much."""
        loaded = self.elsewhere is None and self.sample.weight is None
        return len(self.sample.truth) if loaded else self.evaluation._size.equal_rows

    def flipped(self, other: "Contestant") -> paired.Flipped | None:
        """On how many rows this model and another one are right, if both decide between all classes."""
        one, two = self.complete_decisions, other.complete_decisions
        if one is None or two is None:
            return None
        return paired.flipped(self.sample, one, two) if self.elsewhere is None else self.elsewhere.flipped(self, other)

    def minus(self, other: "Contestant", metric: Metric, sampling: Sampling) -> paired.Difference:
        """Test the difference of a figure between this model and another one on the same rows."""
        if self.elsewhere is not None:
            return self.elsewhere.difference(metric, self, other, sampling)
        one, two = self.output(metric), other.output(metric)
        assert one is not None
        assert two is not None
        return paired.difference(metric, self.sample, one, two, sampling)

    def has_same_output(self, other: "Contestant") -> bool:
        """Whether another model has the same output in every row, as far as rows were loaded."""
        names = ("decided", "scores", "numbers")
        return self.elsewhere is None and all(np.array_equal(getattr(self, one), getattr(other, one)) for one in names)


class Elsewhere(Protocol):
    """Rows that were not loaded, and the outputs of two models on them."""

    def flipped(self, first: Contestant, second: Contestant) -> paired.Flipped:
        """Count the rows on which both, one or none is right."""

    def difference(
        self, metric: Metric, first: Contestant, second: Contestant, sampling: Sampling
    ) -> paired.Difference:
        """Test the difference of a figure."""


# ── where the rows are ───────────────────────────────────────────────────────────────────────────────────────────
def _entries(data: Data, question: Question) -> tuple[list[Entry], dict[str, Column]]:
    """Return the models that a call names, and what they share if that is no longer as it was given."""
    paired = question["paired"]
    prices = () if question.pricing is None else question.pricing.costs.columns
    columns = {name: question[name] for name in _SHARED}
    columns |= {"score": question["scores"], "prediction": question["predictions"]}
    shared: dict[str, Column] = {}
    if not isinstance(data, list | tuple):
        found = entries_by_name(data, question)
    elif paired:
        found, shared = _entries_joined(data, question, columns, prices)
    else:
        _check_names({**columns, **spread_by(question["by"], data)})
        outputs = {kind: columns[kind] for kind in ("truth", "score", "prediction")}
        found = [Entry(name, one, **outputs) for name, one in zip(table_names(data), data, strict=True)]
    if not paired or question["missing"] != "drop":
        return found, shared
    asked = [RowQuestion(**columns_of_entry(entry), label_separator=question["label_separator"]) for entry in found]
    if any(kind_of(one) is not None for one in asked):
        return found, shared  # a row may lack labels and be complete: those that all models have are found later
    return _complete(found, {**columns, **shared}, shared.get("by", question["by"]), question, prices)


def _complete(
    found: list[Entry], columns: Mapping[str, Column], by: Column, question: Question, prices: Sequence[str]
) -> tuple[list[Entry], dict[str, Column]]:
    """Leave out every row in which any model lacks a value, so that all are evaluated on the same rows."""
    segments = spread_by(by, found[0].data)
    shared = {"truth": found[0].truth, **{name: columns[name] for name in _SHARED[1:]}, **segments}
    shared |= {cost_column(name): name for name in prices}
    taken, present = [], None
    for entry in found:
        scores, array = spread_scores(entry.score, question["classes"])
        taken.append(
            take(entry.data, columns.get("where", question["where"]), **shared, prediction=entry.prediction, **scores)
        )
        complete = present_rows(taken[-1], array)
        if complete is None or (present is not None and len(complete) != len(present)):
            return found, {}  # columns of different lengths are refused when they are read
        present = complete if present is None else present & complete
    assert present is not None
    if not present.any():
        raise errors.nothing_left(len(present)) if len(present) else errors.empty("truth")
    kept = [{name: keep(values, present) for name, values in one.items()} for one in taken]
    table = {name: kept[0][cost_column(name)] for name in prices} or None
    entries = [
        Entry(entry.name, table, kept[0]["truth"], _keep_score(entry.score, one, present), one.get("prediction"))
        for entry, one in zip(found, kept, strict=True)
    ]
    dropped = int(len(present) - present.sum())
    beside = {name: kept[0].get(name) for name in (*_SHARED[1:], *segments)}
    return entries, {**with_segments_together(beside), "where": None, "dropped": dropped}


def _keep_score(given: Column, kept: Mapping[str, Column], present: Array) -> Column:
    """The score of a model on the rows that stay: one column, one for each class, or an array of them."""
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        given = given if isinstance(given, Mapping) else columns_of(given)
        return {name: kept[f"score of {canonical(name)}"] for name in given}
    return kept.get("score") if given is None or "score" in kept else np.asarray(given)[present]


def entries_by_name(data: Data, question: Question) -> list[Entry]:
    """The models that a call names, in its order."""
    columns = {name: _by_name(f"{name}s", question[f"{name}s"]) for name in ("score", "prediction")}
    columns["prediction"] = {name: _rows_of(one) for name, one in columns["prediction"].items()}
    names = list(dict.fromkeys(name for found in columns.values() for name in found))
    if len(names) < 2:
        raise errors.one_model(names)
    given = [(name, {kind: found[name] for kind, found in columns.items() if name in found}) for name in names]
    if question["paired"]:
        outputs_of_all = {f"{kind} of {name}": one for name, outputs in given for kind, one in outputs.items()}
        refuse_different_indexes(outputs_of_all)
        return [_of_same_rows(name, data, question["truth"], outputs) for name, outputs in given]
    return [_of_own_rows(name, outputs) for name, outputs in given]


def _by_name(argument: str, models: Value) -> dict[str, Column]:
    """Model → output; models of a list of column names are called like their columns."""
    if models is None:
        return {}
    if (found := columns_by_name(models)) is not None:
        return found
    if isinstance(models, list | tuple) and models and all(hasattr(m, "__len__") and len(m) > 1 for m in models):
        return {f"model {i}": output for i, output in enumerate(models, 1)}
    raise InputError(
        "models-without-names",
        About(argument),
        f" is a {type(models).__name__}; give a dictionary model → column, or a list of column names",
    )


def _of_same_rows(name: str, data: Data, truth: Column, outputs: dict[str, Column]) -> Entry:
    rows = length_of(truth)
    for own in map(length_of, outputs.values()):
        if own is not None and rows is not None and own != rows:
            raise InputError(
                "models-of-different-lengths",
                f"model {name!r} has {rows_text(own)} but truth has {rows:,}; models are compared on the same "
                "rows: give every model all of them, or with ",
                Pass("paired", False),
                " each its own truth",
            )
    return Entry(name, data, truth, **outputs)


def _rows_of(given: Column) -> Column:
    """A column of predictions; a table of counts becomes the rows that it counts, as a pair of truth and decision."""
    if not isinstance(given, Confusion):
        return given
    counts = given.counts
    if counts.dtype.kind != "i" or counts.ndim != 2 or counts.sum() > MOST_ROWS:
        raise errors.no_numbers_of_rows()
    truth, decision = (np.repeat(codes, counts.ravel()) for codes in np.indices(counts.shape).reshape(2, -1))
    return np.array(given.truths)[truth], np.array(given.decisions)[decision]


def _of_own_rows(name: str, outputs: dict[str, Column]) -> Entry:
    if not all(isinstance(output, tuple) and len(output) == 2 for output in outputs.values()):
        raise InputError(
            "own-truths",
            f"model {name!r} has no truth of its own; with ",
            Pass("paired", False),
            " give each its own file, or pairs (truth, score)",
        )
    truth = next(iter(outputs.values()))[0]
    return Entry(name, None, truth, **{kind: output for kind, (_, output) in outputs.items()})


def _entries_joined(
    tables: Sequence[Data], question: Question, columns: Mapping[str, Column], prices: Sequence[str]
) -> tuple[list[Entry], dict[str, Column]]:
    """One model for each table, all on the same rows, and the columns of weights and clusters, if wanted.

    ``prices`` are the columns of costs that differ by row.
    """
    if question["id"] is None:
        raise InputError(
            "how-to-join",
            "several tables were given; name the column of case numbers that joins them as ",
            Pass("id"),
            ", or pass ",
            Pass("paired", False),
            " if they hold different cases",
        )
    segments = spread_by(question["by"], tables)
    _check_names({**columns, **segments, "id": question["id"]})
    wanted = {name: column for name, column in columns.items() if column is not None}
    shared = {name: wanted.pop(name) for name in _SHARED if name in wanted}
    shared |= {cost_column(name): name for name in prices} | segments
    joined = join(tables, question["id"], shared, wanted, question["alike"], question["where"])
    table = {name: joined[cost_column(name)] for name in prices} or None
    found = [
        Entry(name, table, joined["truth"], **{kind: joined[kind][name] for kind in wanted})
        for name in table_names(tables)
    ]
    beside = {name: joined.get(name) for name in (*_SHARED[1:], *segments)}
    return found, {**with_segments_together(beside), "where": None}


def _check_names(columns: Mapping[str, Column]) -> None:
    for argument, column in columns.items():
        if column is not None and not isinstance(column, str):
            raise InputError(
                "column-of-each",
                f"{ {'score': 'scores', 'prediction': 'predictions'}.get(argument, argument) }: with several tables, "
                "one model each, give the one column name that all of them have",
            )


# ── reading and evaluating ───────────────────────────────────────────────────────────────────────────────────────
def contestants(data: Data, question: Question) -> list[Contestant]:
    """Find, read and evaluate the models that a call names."""
    if question["paired"] and is_lazy(data):
        data, question = _bring_together(data, question)
    found, shared = _entries(data, question)
    if len(found) < 2:
        raise errors.one_model([entry.name for entry in found])
    sampling = replace(question.sampling, replicates=REPLICATES)
    dropped = shared.pop("dropped", 0)
    options = {name: value for name, value in {**question.rows, **shared}.items() if name != "truth"}
    reads = {entry.name: _read(entry, options, dropped) for entry in found}
    _same_kind(reads)
    if question["paired"] and question["missing"] == "drop":
        reads = _on_common_rows(reads)
    for name, read in reads.items():
        if len(read.rows.truth) < 2:
            raise InputError(
                "single-row-to-compare",
                f"model {name!r}: there is a single row, which tells nothing about a difference; give at least two",
            )
    lengths = {name: len(read.rows.truth) for name, read in reads.items()}
    if question["paired"] and len(set(lengths.values())) > 1:
        raise InputError(
            "models-of-different-rows",
            f"models have different rows ({some([f'{one}: {n:,}' for one, n in lengths.items()])}); give all the same",
        )
    evaluated = {name: _evaluate(name, read, question, sampling) for name, read in reads.items()}
    taken = {name: _decide_rows(read, evaluated[name]) for name, read in reads.items()}
    decisions = tuple(dict.fromkeys(name for names, _ in taken.values() for name in names))
    steps = question["horizon"]
    return [contestant_of(name, read, evaluated[name], *taken[name], decisions, steps) for name, read in reads.items()]


def _bring_together(data: Data, question: Question) -> tuple[Data, Question]:
    """All columns of a lazy table that a call names, asked for at once: each query may have its rows in another order.

    Where one of them is missing the table stays as it is, and reading it tells so.
    """
    from stakes.engines.lazy.queries import QuerySource  # loads Narwhals

    prices = () if question.pricing is None else question.pricing.costs.columns
    outputs = [_by_name(f"{kind}s", question[f"{kind}s"]) for kind in ("score", "prediction")]
    names = dict.fromkeys(_names_in([*(question[name] for name in (*_SHARED, "by")), *outputs, *prices]))
    if not names or not {*names} <= {*as_frame(data).collect_schema().names()}:
        return data, question
    found = QuerySource.of(data, {name: name for name in names}, question["where"]).rows()
    return dict(found), question.without("where")


def _names_in(given: object) -> Iterator[str]:
    """The texts in lists and in values of dictionaries."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping | list | tuple):
        for one in given.values() if isinstance(given, Mapping) else given:
            yield from _names_in(one)


@contextmanager
def naming(model: str) -> Iterator[None]:
    """Say in errors which model's columns are wrong."""
    try:
        yield
    except errors.InputError as problem:
        raise problem.within(f"model {model!r}") from None


def _read(entry: Entry, options: Mapping[str, Column], dropped: int) -> Read:
    """Read the rows of a model, of which some were ``dropped`` already."""
    with naming(entry.name):
        read = read_rows(entry.data, RowQuestion(**columns_of_entry(entry), **options))
    lost = replace(read.dropped, rows=read.dropped.rows + dropped)
    return replace(read, dropped=lost, length=read.length + dropped)


def columns_of_entry(entry: Entry) -> dict[str, Column]:
    """The columns of a model by argument."""
    return {"truth": entry.truth, "score": entry.score, "prediction": entry.prediction}


def _on_common_rows(reads: Mapping[str, Read]) -> dict[str, Read]:
    """Leave out every row that some model lacks."""
    places = {name: read.kept_places for name, read in reads.items()}
    common = functools.reduce(np.intersect1d, places.values())
    if not len(common):
        length = max(read.length for read in reads.values())
        raise errors.nothing_left(length) if length else errors.empty("truth")
    there = {name: np.isin(own, common) for name, own in places.items()}
    return {name: read if there[name].all() else read.take(np.flatnonzero(there[name])) for name, read in reads.items()}


def _same_kind(reads: Mapping[str, Read]) -> None:
    """All models must be of the same task, with the same classes."""
    (name, first), *others = reads.items()
    for other, read in others:
        task, own = map(_task_of, (first, read))
        if own != task:
            raise InputError(
                "different-tasks",
                f"model {other!r} is evaluated as {own}, but {name!r} as {task}; pass ",
                Pass("task"),
                " to say what is meant",
            )
        if first.plan is None or read.plan is None:
            continue
        for one, a, b in ((name, first.plan, read.plan), (other, read.plan, first.plan)):
            known = set(b.classes)
            if strange := [label for label in a.classes if label not in known]:
                raise InputError(
                    "different-labels",
                    f"model {one!r} has {the_class(strange)} {some(strange)}, which another model does not have; pass ",
                    Pass("classes"),
                    " to say what the classes are",
                )


def _task_of(read: Read) -> str:
    if read.rows.beside is not None and read.rows.prediction is None:
        return read.rows.beside.kind
    return "regression" if read.plan is None else "classification"


def _evaluate(name: str, read: Read, question: Question, sampling: Sampling) -> Evaluation:
    with naming(name):
        counted = count_read(read, question["baseline"])
        if read.plan is None:
            return judge(counted, None, sampling)
        return judge(counted, question["threshold"], sampling, question.pricing)


def _decide_rows(read: Read, evaluation: Evaluation) -> tuple[tuple[str, ...], Array | None]:
    """The names of the decisions, and the decision of each row: given, or from its score by a threshold or costs."""
    if read.plan is None:
        return (), None
    rows = read.rows
    if rows.prediction is not None or rows.scores is None or not isinstance(evaluation, TwoClassEvaluation):
        return read.plan.decisions, rows.prediction
    table = evaluation.confusion
    return (read.plan.decisions, None) if table is None else (table.decisions, evaluation.decide_rows(rows.scores))


def contestant_of(
    name: str,
    read: Read,
    evaluation: Evaluation,
    own: tuple[str, ...],
    taken: Array | None,
    decisions: tuple[str, ...],
    horizon: int | None = None,
) -> Contestant:
    """A model, with codes of decisions that all models share."""
    rows, plan = read.rows, read.plan
    cluster = None if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1]
    if plan is None:
        in_time = rows.beside is not None and rows.prediction is not None and cluster is None
        sums = evaluation.counted.tallies.get(ErrorSums.kind)
        given = sums.baseline if isinstance(sums, ErrorSums) and sums.baseline_given else None
        within = horizon if in_time else None
        sample = Sample(rows.truth, weight=rows.weight, cluster=cluster, horizon=within, baseline=given)
        return Contestant(name, evaluation, sample, None, None, rows.prediction, read.by)
    costs = None if rows.costs is None else rows.costs[:, [plan.decisions.index(decision) for decision in decisions]]
    truth = rows.truth.astype(np.int64)
    sample = Sample(truth, plan.classes, decisions, plan.positive, rows.weight, cluster, costs)
    decided = None if taken is None else np.array([decisions.index(decision) for decision in own])[taken]
    scores = None if rows.scores is None else rows.scores.astype(np.float64)
    return Contestant(name, evaluation, sample, decided, scores, None, read.by)
