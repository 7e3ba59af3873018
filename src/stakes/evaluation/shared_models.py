"""Models on rows that are not loaded, in files or in another engine: each is counted there, and every two of them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from stakes import metrics
from stakes.engines.classes.queries import FEW_ROWS
from stakes.engines.classes.sums import SCORE_OF, any_scores, class_columns
from stakes.engines.columns import Values
from stakes.engines.cost_sums import costs_of
from stakes.engines.counting import bring_here, count_elsewhere, count_rows
from stakes.engines.files.sources import read_once
from stakes.engines.kinds import columns_named, kind_of
from stakes.engines.labels import Labels
from stakes.engines.lazy.counting import number_columns
from stakes.engines.lazy.queries import Groups, group_table
from stakes.engines.missing import leave_gaps_out
from stakes.engines.numbers.medians import median_sides
from stakes.engines.on_disk import are_of_one_kind
from stakes.engines.plan import Counted, Plan
from stakes.engines.pricing import cost_column, of_costs
from stakes.engines.reading import Read, RowQuestion, read_rows
from stakes.engines.segments import spread_by, with_segments_together
from stakes.engines.shared_rows import (
    FOURTHS,
    MOST_CELLS,
    SIDES,
    Output,
    count_where,
    cross_products,
    group_shared,
    have_more_rows_than,
)
from stakes.engines.streaming import MOST_EXACT
from stakes.engines.tables import is_lazy
from stakes.evaluation import judge, judge_counts
from stakes.evaluation.base import Evaluation
from stakes.evaluation.contestants import Contestant, Entry, columns_of_entry, contestant_of, entries_by_name, naming
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.metrics import Metric
from stakes.metrics.usual import VERDICT
from stakes.question.options import Data, Value
from stakes.question.question import Question
from stakes.tallies import ClassScores, Confusion, ErrorSums, OutputSums, ScoreTable, TermSums, bins
from stakes.tallies.arithmetic import Array, distinct
from stakes.tallies.clusters import MOST_CLASSES, Clusters
from stakes.tallies.error_variation import MedianSides
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.paired import (
    CellSide,
    Difference,
    Flipped,
    ScoreCells,
    difference,
    difference_in_cells,
    difference_of_clusters,
    difference_of_medians,
    difference_of_sums,
    flipped,
)
from stakes.uncertainty.sampling import Sample, Sampling


def shared_contestants(data: Data, question: Question) -> list[Contestant] | None:
    """The models of a comparison whose rows need not be loaded; None where they are to be read."""
    if not (_are_files(data) or is_lazy(data)) or not question["paired"]:
        return None
    entries = {entry.name: entry for entry in entries_by_name(data, question)}
    asked = {name: RowQuestion(**{**question.rows, **columns_of_entry(entry)}) for name, entry in entries.items()}
    several = any(kind_of(one) is not None for one in asked.values())
    if any(one.needs_rows for one in asked.values()):
        return None
    if several or any(one.kind_beside is not None for one in asked.values()):
        columns = _columns_of_all(data, asked)
        if columns is None or question["exact"]:
            return None
        if is_lazy(data):  # no engine adds these up
            data, question = bring_here(data, columns, question["where"]), question.without("where")
        if several or data is None:
            return None if data is None else _contestants_in_batches(data, question, asked, columns)
    shared = _columns(data, question)
    if shared is None:
        return None
    names = [column for entry in entries.values() for column in _columns_of(entry)]
    of_classes = {isinstance(entry.score, Mapping) for entry in entries.values()}
    mixed = len({(entry.score is None, entry.prediction is None) for entry in entries.values()}) > 1
    one_each = all((entry.score is None) != (entry.prediction is None) for entry in entries.values())
    if mixed or len(of_classes) > 1 or not one_each or not all(isinstance(name, str) for name in names):
        return None
    where, dropped = question["where"], 0
    decided = all(one.score is None and one.task != "regression" and one.baseline is None for one in asked.values())
    if question["missing"] == "drop":
        where, dropped = _without_gaps(data, [*shared.values(), *names], where)
    elif is_lazy(data) and decided and all(name == "truth" or name.startswith("by") for name in shared):
        grouped = group_table(data, list(dict.fromkeys([*shared.values(), *names])), where)
        data, where = (data, where) if grouped is None else (grouped, None)  # which answers all that is asked
    few = MOST_EXACT // max(len(_columns_of(entry)) for entry in entries.values()) if _are_files(data) else FEW_ROWS
    if question["exact"] is not False and not have_more_rows_than(few, data, shared["truth"], where):
        return None
    groups_by = _group_columns(data, question, shared, names) if of_classes == {True} else ()
    found = SharedModels(data, question, shared, where, entries, groups_by)
    classes = [found.classes_of(entry) for entry in entries.values()] if of_classes == {True} else []
    if not all(0 < len(one) <= MOST_CLASSES for one in classes):
        return None
    models = found.contestants(dropped)
    decisions = found.decisions_only and not any(model.scores is not None for model in models)
    if classes and not (decisions or found.has_groups):
        return None  # the rows were read, few as they are
    return models if all(map(_is_known, models)) else None


def _is_known(model: Contestant) -> bool:
    """Whether differences follow from the counts: not for too many classes, nor for numbers that were read whole."""
    errors = model.evaluation.counted.tallies.get(ErrorSums.kind)
    if isinstance(errors, ErrorSums):
        return errors.variation is not None
    return model.decided is not None or model.scores is not None


def _group_columns(data: Data, question: Question, shared: Mapping[str, str], names: Sequence[str]) -> tuple[str, ...]:
    """The columns that put rows of class probabilities into random groups; none of clusters, or of decisions alone."""
    decided = is_lazy(data) and not of_costs(shared) and _of_decisions(question["metric"])
    return () if decided or "cluster" in shared else tuple(dict.fromkeys([*shared.values(), *names]))


def _of_decisions(texts: Value) -> bool:
    """Whether all figures that models are compared by are about decisions."""
    named = texts if isinstance(texts, list | tuple) else [] if texts is None else [texts]
    return bool(named) and all(metrics.find(text).tally is Confusion for text in named)


def _columns_of(entry: Entry) -> list[Value]:
    """The columns of a model's output: one, or one for each class."""
    scores = entry.score.values() if isinstance(entry.score, Mapping) else [entry.score]
    return [column for column in (*scores, entry.prediction) if column is not None]


def _are_files(data: Data) -> bool:
    return isinstance(data, str | os.PathLike) and not read_once(data)


def _columns(data: Data, question: Question) -> dict[str, str] | None:
    """The columns that all models share, by argument, where rows of such a question are counted where they lie."""
    by_row = () if question.pricing is None else question.pricing.costs.columns
    if question["exact"] or (_are_files(data) and not are_of_one_kind(data)):
        return None
    if question["ordered"] or question["frequency"] is not None:
        return None
    named = {name: question[name] for name in ("truth", "weight", "exposure")}
    named["cluster"] = question["series"] if question["cluster"] is None else question["cluster"]
    named |= spread_by(question["by"], data)
    named |= {cost_column(name): name for name in by_row}
    given = {name: column for name, column in named.items() if column is not None}
    return given if all(isinstance(name, str) for name in given.values()) else None


def _columns_of_all(data: Data, asked: Mapping[str, RowQuestion]) -> dict[str, str] | None:
    """The columns of all models by model and argument; None where some are no columns of the table."""
    found: dict[str, str] = {}
    for model, one in asked.items():
        kind = kind_of(one)
        named = number_columns(data, one) if kind is None else columns_named(data, one, kind)
        if named is None or one.pricing is not None:
            return None
        found |= {f"model {model!r}: {name}": column for name, column in named.items()}
    return found


def _contestants_in_batches(
    data: Data, question: Question, asked: Mapping[str, RowQuestion], columns: Mapping[str, str]
) -> list[Contestant] | None:
    """Models whose rows have several labels, outputs or quantiles, counted in batches; None for few rows."""
    where, dropped = question["where"], 0
    if question["missing"] == "drop":
        tags = () if question["label_separator"] is None else (": truth", ": prediction")  # a row may have none
        present = [column for name, column in columns.items() if not name.endswith(tags)]
        where, dropped = _without_gaps(data, present, question["where"]) if present else (where, 0)
    models = SharedModels(data, question, {}, where, {})
    for name, one in asked.items():
        with naming(name):
            counted = count_elsewhere(data, replace(one, where=where, missing="error"), question["exact"])
        if counted is None:
            return None
        counted = replace(counted, dropped=dropped, read=counted.read + dropped)
        models.evaluations[name] = judge(counted, None, question.sampling)
    return models.known()


def _without_gaps(data: Data, columns: Sequence[str], where: str | None) -> tuple[str, int]:
    """The condition for rows that lack none of these columns, and how many others there are."""
    return leave_gaps_out(partial(count_where, data, columns[0]), where, columns)


@dataclass(frozen=True, eq=False)
class SharedModels:
    """Models on the same rows: the shared columns, the condition that selects rows, and the columns of each model.

    Groups are kept, because several figures are computed for the same two models. Class probabilities are counted in
    random groups of rows, made from all columns (``groups_by``) so that every model has the same groups.
    """

    data: Data
    question: Question
    shared: Mapping[str, str]
    where: str | None
    entries: Mapping[str, Entry]
    groups_by: Sequence[str] = ()
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    _pairs: dict[tuple[str, str], tuple[Contestant, Contestant]] = field(default_factory=dict)
    _products: dict[tuple[str, str], dict[str, Array]] = field(default_factory=dict)
    _sides: dict[tuple[str, str], dict[str, MedianSides]] = field(default_factory=dict)
    _cells: dict[tuple[str, str], "_Cells"] = field(default_factory=dict)
    _groups: dict[tuple[str, str | None], Clusters] = field(default_factory=dict)

    def contestants(self, dropped: int) -> list[Contestant]:
        """Count each model; ``dropped`` rows were left out because a value is missing in one of them."""
        for name, entry in self.entries.items():
            self.evaluations[name] = self._evaluate(entry, dropped)
        return self.known()

    def known(self) -> list[Contestant]:
        """The models that were evaluated."""
        return [self._contestant(name, evaluation) for name, evaluation in self.evaluations.items()]

    def _evaluate(self, entry: Entry, dropped: int) -> Evaluation:
        asked = self.question
        columns = {**columns_of_entry(entry), "where": self.where}

        def count(**other: Value) -> Counted:
            groups = {"groups_by": self.groups_by, "decisions_only": self.decisions_only}
            given = {**asked.rows, "missing": "error", **groups, **columns, **other}
            counted = self._without_groups(entry.name, count_rows(self.data, exact=asked["exact"], **given))
            return replace(counted, dropped=counted.dropped + dropped, read=counted.read + dropped)

        with naming(entry.name):
            return judge_counts(count, asked["threshold"], asked.sampling, asked.pricing)

    def _without_groups(self, name: str, counted: Counted, segment: str | None = None) -> Counted:
        """Return what was counted without the groups of rows, which are kept for differences alone."""
        if not self.groups_by or counted.clusters is None:
            return counted
        self._groups[name, segment] = counted.clusters
        parts = {own: self._without_groups(name, part, own) for own, part in counted.segments.items()}
        return replace(counted, clusters=None, segments=parts)

    @property
    def decisions_only(self) -> bool:
        """Whether nothing but the decisions by class probabilities is compared."""
        several = all(isinstance(entry.score, Mapping) for entry in self.entries.values())
        return several and bool(self.entries) and not self.groups_by and "cluster" not in self.shared

    @property
    def has_groups(self) -> bool:
        """Whether clusters, or groups of rows, were counted of every model without its rows."""
        held = [self._groups.get((name, None), one.counted.clusters) for name, one in self.evaluations.items()]
        return all(one is not None and one.cells for one in held)

    def _contestant(self, name: str, evaluation: Evaluation) -> Contestant:
        """A model without its rows: empty columns show which outputs it has."""
        nothing = np.zeros(0)
        by = Labels(np.zeros(0, np.int64), tuple(evaluation.segments)) if evaluation.segments else None
        if evaluation.task not in VERDICT:  # no classes
            numbers = nothing if evaluation.task == "regression" else None
            return Contestant(name, evaluation, Sample(nothing), None, None, numbers, by, self)
        table, scores = evaluation.confusion, evaluation.scores
        names = ((), ()) if table is None else (table.truths, table.decisions)
        sample = Sample(nothing, *names, positive=getattr(evaluation, "positive", None))
        decided, scored = None if table is None else nothing, None if scores is None else nothing
        return Contestant(name, evaluation, sample, decided, scored, None, by, self)

    def flipped(self, first: Contestant, second: Contestant) -> Flipped:
        """On how many rows two models are right."""
        one, other = self._pair(first, second)
        return flipped(one.sample, np.asarray(one.decided), np.asarray(other.decided))

    def difference(self, metric: Metric, first: Contestant, second: Contestant, sampling: Sampling) -> Difference:
        """Test the difference of a figure between two models."""
        in_groups = issubclass(metric.tally, TermSums | OutputSums | ClassScores)
        if in_groups or (metric.tally is ScoreTable and "cluster" in self.shared):
            values, held = [], []
            for model in (first, second):
                counted = model.evaluation.counted
                clusters = self._groups.get((model.name, model.segment), counted.clusters)
                held.append((counted.tallies[metric.tally.kind], sampling.of_clusters(clusters)))
                values.append(model.evaluation[metric.text].value)
            grouped = "groups of rows" if first.evaluation.counted.clusters is None else "whole clusters"
            return difference_of_clusters(metric, values, held, grouped)
        if metric.tally is ScoreTable:
            return self._of_scores(metric, first, second, sampling)
        if metric.tally is ErrorSums:
            return self._of_numbers(metric, first, second, sampling)
        one, other = self._pair(first, second)
        return difference(metric, one.sample, np.asarray(one.decided), np.asarray(other.decided), sampling)

    # ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────
    def _pair(self, first: Contestant, second: Contestant) -> tuple[Contestant, Contestant]:
        """Two models on groups of rows with the same truth and decisions."""
        key = first.name, second.name
        if key not in self._pairs:
            self._pairs[key] = self._group(*key)
        one, other = self._pairs[key]
        return (one, other) if first.segment is None else (one.within(first.segment), other.within(first.segment))

    def _group(self, *names: str) -> tuple[Contestant, Contestant]:
        outputs = [self._decided(name) for name in names]
        groups = group_shared(self.data, self.shared, self.where, (outputs[0], outputs[1]), self._by_row)
        reads: list[Read] = []
        taken: list[tuple[tuple[str, ...], Array | None]] = []
        for one, side in zip(outputs, SIDES, strict=True):
            codes = np.asarray(groups.columns[side])
            if one.argument == "prediction":
                reads.append(self._read(groups, prediction=groups.columns[side]))
                assert reads[-1].plan is not None
                taken.append((reads[-1].plan.decisions, reads[-1].rows.prediction))
            else:
                classes = tuple(one.classes)
                reads.append(self._read(groups, score=any_scores(classes, len(codes)) if classes else codes * 0.0))
                taken.append((one.decisions, np.asarray(one.places)[codes.astype(np.int64)]))
        decisions, costs = tuple(dict.fromkeys(decision for own, _ in taken for decision in own)), None
        if self._by_row is not None and reads[0].plan is not None:
            decisions = self._by_row.decisions(reads[0].plan.classes)
            costs = costs_of(self._by_row, groups, replace(reads[0].plan, decisions=decisions))
        found = []
        for name, read, own in zip(names, reads, taken, strict=True):
            model = contestant_of(name, read, self.evaluations[name], *own, decisions)
            sample = replace(model.sample, alike=groups.sizes, weight=groups.weight, squares=groups.squares)
            sample = replace(sample, fourths=groups.added.get(FOURTHS), costs=costs)
            found.append(replace(model, sample=sample))
        return found[0], found[1]

    @property
    def _by_row(self) -> Pricing | None:
        """Costs that differ from row to row."""
        pricing = self.question.pricing
        return pricing if pricing is not None and pricing.costs.columns else None

    def _decided(self, name: str) -> Output:
        """The decisions of a model: its column of decisions, or its scores with the cuts between decisions."""
        entry, evaluation = self.entries[name], self.evaluations[name]
        if entry.score is None:
            return Output(entry.prediction)
        if isinstance(entry.score, Mapping):
            return Output(classes=self.classes_of(entry), pricing=self.question.pricing)
        assert isinstance(evaluation, TwoClassEvaluation)
        assert evaluation.confusion is not None
        table = evaluation.confusion
        plan = Plan(table.truths, table.decisions, table.positive)
        if self._by_row is not None:
            return Output(entry.score, plan=plan, threshold=evaluation.counted.threshold)
        (_, *cuts), taken = evaluation.cuts
        return Output(entry.score, cuts, plan=plan, taken=taken)

    def classes_of(self, entry: Entry) -> dict[str, str]:
        """The column of each class, in their order; empty where such a question needs the rows."""
        columns = class_columns(self._asked(score=entry.score)) or {}
        return {name.removeprefix(SCORE_OF): column for name, column in columns.items()}

    def _read(self, groups: Groups, **output: Values) -> Read:
        """Read groups as if they were rows."""
        shared = {name: values for name, values in groups.columns.items() if name not in SIDES}
        given = {"where": None, "weight": None, "missing": "error", "pricing": None, "threshold": None}
        return read_rows(None, self._asked(**{**given, **with_segments_together(shared), **output}))

    def _asked(self, **given: Values) -> RowQuestion:
        """The question about some rows."""
        return RowQuestion(**{**self.question.rows, **given})

    # ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────
    def _of_numbers(self, metric: Metric, first: Contestant, second: Contestant, sampling: Sampling) -> Difference:
        key, models = (first.name, second.name), (first.evaluation, second.evaluation)
        one, other = (model.counted.tallies["errors"] for model in models)
        assert isinstance(one, ErrorSums)
        assert isinstance(other, ErrorSums)
        values = [model[metric.text].value for model in models]
        if metric.interval == "median":
            return difference_of_medians(metric, values, (one, other), self._sides_of(first, second), sampling)
        own = None
        if one.variation is not None and one.variation.clusters is None:
            if key not in self._products:
                columns, centre = self._predictions(key), one.variation.centre
                self._products[key] = cross_products(self.data, self.shared, self.where, columns, centre)
            own = self._products[key][first.segment or ""]
        return difference_of_sums(metric, values, (one, other), own, sampling)

    def _predictions(self, names: tuple[str, str]) -> tuple[str, str]:
        return str(self.entries[names[0]].prediction), str(self.entries[names[1]].prediction)

    def _sides_of(self, first: Contestant, second: Contestant) -> MedianSides:
        """On which side of the medians of two models the rows of a segment lie, or all rows."""
        key = first.name, second.name
        if key not in self._sides:
            one, other = (_medians(self.evaluations[name].counted) for name in key)
            medians = {segment: (one[segment], other[segment]) for segment in one}
            self._sides[key] = median_sides(self.data, self.shared, self.where, self._predictions(key), medians)
        return self._sides[key][first.segment or ""]

    # ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────
    def _of_scores(self, metric: Metric, first: Contestant, second: Contestant, sampling: Sampling) -> Difference:
        key = first.name, second.name
        if key not in self._cells:
            self._cells[key] = self._group_scores(*key)
        found, models = self._cells[key], (first.evaluation, second.evaluation)
        sides = [
            CellSide(one.counted.scores, output.grid, output.bits)
            for one, output in zip(models, found.outputs, strict=True)
        ]
        values = [one[metric.text].value for one in models]
        return difference_in_cells(metric, sides, values, found.within(first.segment), sampling)

    def _group_scores(self, *names: str) -> "_Cells":
        tables = [self.evaluations[name].counted.scores for name in names]
        labels = 2 * max(len(self.evaluations[names[0]].segments), 1)
        outputs = _coarse([str(self.entries[name].score) for name in names], tables, labels)
        shared = {name: column for name, column in self.shared.items() if not of_costs([name])}
        groups = group_shared(self.data, shared, self.where, outputs)
        ends = [np.asarray(groups.columns[side], np.float64) for side in SIDES]
        read = self._read(groups, score=np.full(len(ends[0]), 0.5))
        assert read.plan is not None
        sums, weight = np.stack([*groups.added.values()]), groups.amounts[0].astype(np.float64)
        squares = weight if groups.squares is None else groups.squares
        positive = np.asarray(read.rows.truth == read.plan.classes.index(str(read.plan.positive)))
        return _Cells(ScoreCells(positive, (ends[0], ends[1]), weight, squares, sums), read.by, outputs)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Rows by class and the cells of two scores, and the segments that they lie in."""

    cells: ScoreCells
    by: Labels | None
    outputs: tuple[Output, Output]

    def within(self, segment: str | None) -> ScoreCells:
        """Those of a segment, or all."""
        if segment is None or self.by is None:
            return self.cells
        return self.cells.take(self.by.codes == self.by.names.index(segment))


def _medians(counted: Counted) -> dict[str, float]:
    """The median |error| of all rows (""), and of each segment."""
    each = {name: part.tallies[ErrorSums.kind] for name, part in {"": counted, **counted.segments}.items()}
    return {name: errors.median for name, errors in each.items() if isinstance(errors, ErrorSums)}


def _coarse(columns: Sequence[str], tables: Sequence[ScoreTable], labels: int) -> tuple[Output, Output]:
    """Choose the narrowest cells that do not make too many combinations."""
    levels = [table.as_columns().scores.astype(np.float64) for table in tables]
    grids = ["line" if table.range[0] < 0 or table.range[1] > 1 else "probability" for table in tables]
    for bits in range(bins.FINE, -1, -1):
        cells = [distinct(bins.numbers(some, grid, bits)) for some, grid in zip(levels, grids, strict=True)]
        if labels * len(cells[0]) * len(cells[1]) <= MOST_CELLS:
            break
        levels = [bins.edges(some, grid, bits) for some, grid in zip(cells, grids, strict=True)]
    one, other = (Output(column, None, grid, bits) for column, grid in zip(columns, grids, strict=True))
    return one, other
