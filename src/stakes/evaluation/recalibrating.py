"""How honest are the probabilities of a file, and would recalibration make them better?"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Unpack, cast

import numpy as np

from stakes import errors, metrics
from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.recalibration.calibrator import Calibrator
from stakes.decisions.recalibration.calibrators import CALIBRATORS, fits, load_calibrator, suited_to
from stakes.decisions.recalibration.folds import ScoreCounts, cross_fitted, deal_clusters
from stakes.decisions.recalibration.scaling import ScalingCalibrator
from stakes.engines.classes.queries import FEW_ROWS
from stakes.engines.columns import as_finite, to_column
from stakes.engines.counting import count_elsewhere, in_batches
from stakes.engines.files.text_format import in_format
from stakes.engines.plan import Counted, Plan
from stakes.engines.reading import RowQuestion, read_and_count
from stakes.engines.tables import is_lazy, names_files
from stakes.errors import Given, InputError, Pass, some
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import warn_of_wrongs, wrongs
from stakes.language.narrated import Narrated
from stakes.language.sentences import Finding
from stakes.metrics.estimate import Estimate
from stakes.metrics.probability import brier_score, log_loss
from stakes.question.options import Calibrated, Column, Data, Value, asks
from stakes.question.question import Question
from stakes.records import Count, Record, Says
from stakes.tallies import ClassScores, ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_whole, is_one_of
from stakes.tallies.names import canonical
from stakes.uncertainty.interval import Interval, figure, mean_interval, none
from stakes.uncertainty.sampling import Sampling

_AS_IT_STANDS = "as it stands"
_LOSSES = (log_loss, brier_score)
"""The losses that are compared, or their namesakes for several classes."""


@dataclass(frozen=True, eq=False, repr=False)
class Recalibration(
    Record,
    Narrated,
    stakes="recalibration",
    shown="before=losses_before after=losses_after folds method calibration calibrator dropped findings",
):
    """What recalibration would do, by cross-fitting: every row is predicted by a fit on other rows.

    ``before`` and ``after`` hold the losses of each row; ``method`` is the one asked for, or the one with the lowest
    log loss, and ``calibrator`` is fitted on all rows. ``calibration`` is that of the scores as they stand. Where rows
    were not loaded, an entry stands for many equal rows (or holds the mean of a cluster): ``weight`` is their sum of
    weights, and ``squares`` that of their squared weights.
    """

    calibration: Calibration | ClassCalibrations | None
    before: Mapping[str, Array] | None
    after: Mapping[str, Mapping[str, Array]]
    weight: Array | None
    method: str
    calibrator: Calibrator
    folds: Annotated[int, Says(minimum=2)]
    sampling: Sampling
    truth: Array
    rows: int
    squares: Array | None = None
    cluster: Array | None = None
    dropped: Count = 0
    cautions: tuple[Finding, ...] = ()

    plotted_as = "recalibration"

    def loss(self, name: str, method: str | None = None) -> float:
        """Return the mean loss as it stands, or after recalibration by a method; NaN for what are no probabilities."""
        losses = self.before if method is None else self.after[method]
        return math.nan if losses is None else float(np.average(losses[name], weights=self.weight))

    @cached_property
    def changes(self) -> dict[str, Estimate]:
        """How the log loss changes by each method, given these fits; below 0 is better."""
        return {method: self._change(method) for method in self.after}

    def _change(self, method: str) -> Estimate:
        name = self._names[0]
        if self.before is None:
            return Estimate("change", math.nan, reason="the scores are no probabilities as they stand")
        with np.errstate(invalid="ignore"):
            differences = self.after[method][name] - self.before[name]
        classes = self.truth if self.sampling.fixed else None
        how = self.sampling.confidence, self.cluster, classes, self.squares
        limits = mean_interval(differences, self.weight, *how)
        found = none("a loss is infinite") if limits is None else Interval(*limits, "Student, paired by rows")
        value = self.loss(name, method) - self.loss(name)
        return figure("change", value, 0.0, found, self.sampling.confidence)

    @property
    def _names(self) -> Sequence[str]:
        return list(self.after[self.method])

    @property
    def losses_before(self) -> dict[str, float] | None:
        """The mean losses as the scores stand; None for what are no probabilities."""
        return None if self.before is None else self._losses(None)

    @property
    def losses_after(self) -> dict[str, dict[str, float | Estimate]]:
        """The losses of each method, and the change of the log loss."""
        return {method: {**self._losses(method), "change": self.changes[method]} for method in self.after}

    @property
    def _methods(self) -> list[str | None]:
        """The methods, after the scores as they stand (None) where these are probabilities."""
        return [*([] if self.before is None else [None]), *self.after]

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per method, for a data frame; the change is that of the log loss."""
        rows: list[dict[str, object]] = []
        for method in self._methods:
            change = None if method is None else self.changes[method]
            ends = {"change": change and change.value, "low": change and change.low, "high": change and change.high}
            rows.append({"method": method or _AS_IT_STANDS, **self._losses(method), **ends})
        return rows

    def _losses(self, method: str | None) -> dict[str, float]:
        return {name: self.loss(name, method) for name in self._names}

    def __repr__(self) -> str:
        return f"<Recalibration by {self.method}>"


@asks("calibrate")
def calibrate(data: Data = None, **asked: Unpack[Calibrated]) -> Recalibration:
    """Measure calibration, try recalibration by cross-fitting, and fit the best method on all rows.

    ``method`` is "temperature" or "affine", of two classes also "isotonic", "sigmoid" or "beta", of more also "vector";
    when it is None, the one with the lowest cross-fitted log loss. The other arguments are those of
    :func:`stakes.evaluate`.
    """
    question = Question.of("calibrate", asked)
    if question["truth"] is None or question["score"] is None:
        raise errors.positional_arrays("calibrate")
    counted = _count_where_they_lie(data, question)
    if counted is not None and counted.scores is not None:
        return _calibrate_counts(counted, question)
    if counted is not None and (found := _calibrate_classes(data, counted, question)) is not None:
        return found
    read, own = read_and_count(data, RowQuestion(**question.rows))
    evaluation = Evaluation(own, sampling=question.sampling)
    warn_of_wrongs(evaluation)
    kinds = _kinds(read.plan, evaluation.probabilities, question["method"])
    rows, folds, seed = read.rows, question["folds"], question["seed"]
    scores, codes = np.asarray(rows.scores, np.float64), rows.truth.astype(np.int64)
    predictions = {
        name: cross_fitted(kind, scores, codes, folds, seed, rows.weight, rows.cluster) for name, kind in kinds.items()
    }
    found = _compare_scores(evaluation, question, scores, codes, rows.weight, predictions)
    calibrator = _for_labels(kinds[found.method].fit(scores, codes, rows.weight), read.plan, question["score"])
    return replace(found, calibrator=calibrator, cluster=rows.cluster, dropped=read.dropped.rows)


def _compare_scores(
    evaluation: Evaluation,
    question: Question,
    scores: Array,
    codes: Array,
    weight: Array | None,
    predictions: Mapping[str, Array],
) -> Recalibration:
    """Compare the cross-fitted predictions of all methods; the best one is still to be fitted to all rows."""

    def losses(probabilities: Array) -> dict[str, Array]:
        names = [loss.name if scores.ndim == 1 else loss.of_many for loss in _LOSSES]
        return {name: metrics.find(name).row_losses(codes, probabilities) for name in names}

    before = losses(scores) if evaluation.probabilities else None
    after = {name: losses(one) for name, one in predictions.items()}
    return _compare_losses(evaluation, question, codes, weight, before, after)


def _compare_losses(
    evaluation: Evaluation,
    question: Question,
    codes: Array,
    weight: Array | None,
    before: Mapping[str, Array] | None,
    after: Mapping[str, Mapping[str, Array]],
) -> Recalibration:
    """The same where the losses of rows are known."""
    name = next(name for losses in after.values() for name in losses)
    best = min(after, key=lambda method: float(np.average(after[method][name], weights=weight)))
    return Recalibration(
        cast("Calibration | ClassCalibrations", evaluation.calibration) if evaluation.probabilities else None,
        before,
        after,
        weight,
        best,
        CALIBRATORS[best](),
        question["folds"],
        question.sampling,
        codes,
        len(codes),
        cautions=tuple(wrongs(evaluation)),
    )


def _count_where_they_lie(data: Data, question: Question) -> Counted | None:
    """The scores of very many rows that were not loaded, counted where they are; None for others."""
    check_whole("folds", question["folds"], 2)
    check_whole("seed", question["seed"], 0, math.inf)
    asked = RowQuestion(**question.rows)
    elsewhere = data is not None and (names_files(data) or is_lazy(data)) and not in_batches(data)
    if not elsewhere or not isinstance(asked.score, str | Mapping):
        return None
    bins = False if names_files(data) else None  # fitting and judging single scores takes ten times as long
    counted = count_elsewhere(in_format(data, asked.text_format), asked, bins)
    return counted if counted is not None and counted.rows_read > FEW_ROWS else None


def _calibrate_counts(counted: Counted, question: Question) -> Recalibration:
    """The same for scores that were counted: as they are, or in the middle of their bins.

    Rows of a cluster count as one, at the mean of the cells that their scores lie in.
    """
    table: ScoreTable = counted.scores.at_middles()
    evaluation = Evaluation(replace(counted, tallies={table.kind: table}), sampling=question.sampling)
    warn_of_wrongs(evaluation)
    plan = Plan((table.negative, table.positive), (table.negative, table.positive), table.positive)
    kinds, folds, seed = _kinds(plan, evaluation.probabilities, question["method"]), question["folds"], question["seed"]
    whole = entries = ScoreCounts.of(table)
    if counted.clusters is None:
        cluster, by_fold = None, whole.deal(folds, seed)
        entry, fold = np.nonzero(by_fold)
        weight = by_fold[entry, fold]
    else:
        cluster, weight = counted.clusters.groups, counted.clusters.weights
        fold = deal_clusters(cluster, counted.clusters.size, folds, seed)
        entries, entry = ScoreCounts.of_clusters(counted.clusters)
        by_fold = np.zeros((len(entries.scores), folds))
        np.add.at(by_fold, (entry, fold), weight)
    predictions = {name: entries.cross_fitted(kind, by_fold)[entry, fold] for name, kind in kinds.items()}
    found = _compare_scores(evaluation, question, entries.scores[entry], entries.truth[entry], weight, predictions)
    found = _with_losses_of(counted.scores, found)
    squares = entries.squares[entry] * (weight / entries.weight[entry])
    calibrator = _for_labels(whole.fit(kinds[found.method]), plan, question["score"])
    rows, dropped = counted.rows_read - counted.dropped, counted.dropped
    return replace(found, calibrator=calibrator, squares=squares, cluster=cluster, rows=rows, dropped=dropped)


def _with_losses_of(table: ScoreTable, found: Recalibration) -> Recalibration:
    """The same with the model's own losses, which are known: at the mean of a cell or bin rows lose a little less.

    So do recalibrated ones, which are taken to lose as much more.
    """
    if found.before is None:
        return found
    more = {name: float(metrics.find(name).of(table)) - one for name, one in found._losses(None).items()}
    more = {name: one if math.isfinite(one) else 0.0 for name, one in more.items()}

    def shifted(losses: Mapping[str, Array]) -> Mapping[str, Array]:
        return {name: one + more[name] for name, one in losses.items()}

    after = {method: shifted(losses) for method, losses in found.after.items()}
    return replace(found, before=shifted(found.before), after=after)


def _calibrate_classes(data: Data, counted: Counted, question: Question) -> Recalibration | None:
    """The same for class probabilities: maps are fitted where the rows lie. None for too many classes, or other scores.

    Rows of a cluster count as one, and so do those of random groups.
    """
    from stakes.engines.classes.maps import map_classes  # loads Narwhals, Polars

    tally = counted.tallies[ClassScores.kind]
    assert isinstance(tally, ClassScores)
    asked, folds, seed = RowQuestion(**question.rows), question["folds"], question["seed"]
    with map_classes(in_format(data, asked.text_format), asked, folds, seed) as rows:
        if rows is None or not tally.probabilities:
            return None
        if len(found := np.flatnonzero(tally.sizes)) == 1:
            raise errors.one_class_to_recalibrate(repr(tally.classes[int(found[0])]))
        if tally.range[0] == tally.range[1]:
            raise errors.equal_scores(tally.range[0])
        at_middles = counted.with_tally(tally.at_middles())
        evaluation, plan = Evaluation(at_middles, sampling=question.sampling), Plan(tally.classes, tally.classes)
        warn_of_wrongs(evaluation)
        kinds = cast("dict[str, ScalingCalibrator]", _kinds(plan, True, question["method"]))
        fitted = {name: kind.fit_elsewhere(rows, float(tally.total)) for name, kind in kinds.items()}
        codes, groups, weight, losses = rows.losses([maps for _, maps in fitted.values()])
    if counted.clusters is not None:
        deal_clusters(groups, int(groups.max()) + 1, folds, seed)  # which refuses a single one
    before, *after = ({loss.of_many: one for loss, one in zip(_LOSSES, both, strict=True)} for both in losses)
    result = _compare_losses(evaluation, question, codes, weight, before, dict(zip(fitted, after, strict=True)))
    calibrator = _for_labels(fitted[result.method][0], plan, None)
    calibrator.rows_, calibrator.range_ = tally.equal_rows, tally.range
    number = counted.rows_read - counted.dropped
    return replace(result, calibrator=calibrator, cluster=groups, dropped=counted.dropped, rows=number)


def _kinds(plan: Plan | None, probabilities: bool, method: str | None) -> dict[str, Calibrator]:
    """The recalibrators that suit the scores, or the one that was asked for."""
    if method is not None and not is_one_of(method, CALIBRATORS):
        raise InputError(
            "no-such-recalibration",
            Given("method", method),
            f" is not known; it is {some(list(CALIBRATORS), 9, last='or')}",
        )
    classes = 2 if plan is None or plan.positive is not None else len(plan.classes)
    if method is not None and not fits(method, classes):
        here = "two classes, and there are more" if classes > 2 else "more than two classes, and there are two"
        others = [name for name in CALIBRATORS if fits(name, classes)]
        raise InputError(
            "recalibration-of-two", Given("method", method), f" is for {here}; use {some(others, last='or')}"
        )
    if classes > 2 and not probabilities:
        raise InputError(
            "no-recalibration-of-scores",
            "the scores of several classes are no probabilities, and only those can be recalibrated here",
        )
    wanted = [CALIBRATORS[method]] if method else suited_to(classes, probabilities)
    return {kind.method: kind() for kind in wanted}


def _for_labels(calibrator: Calibrator, plan: Plan | None, score: Column) -> Calibrator:
    """Give a calibrator the names of the classes, or of the positive one and the score."""
    if plan is not None and plan.positive is None:
        return calibrator.set_params(classes=list(plan.classes))
    if plan is not None:
        named = {"score": score} if isinstance(score, str) else {}
        calibrator.fitted_for_ = {**named, "positive class": str(plan.positive)}
    return calibrator


# ── a saved calibrator applied to a file ─────────────────────────────────────────────────────────────────────────
def apply_calibrator(
    file: str | os.PathLike[str],
    calibrator: Calibrator | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    score: Column,
    column: str | None = None,
    positive: Value = None,
) -> list[str]:
    """Write the file once more, with a column of recalibrated probabilities for each score; return their names.

    ``score`` is the column of the score, or a dictionary class → column. A new column is called like the score's with
    ``_calibrated`` behind it, or ``column``. A calibrator that was fitted for another score or another ``positive``
    class is warned of.
    """
    from stakes.engines.files.reading import read, read_whole
    from stakes.engines.files.writing import check_target, write_whole

    saved = [(calibrator, "calibrator")] if isinstance(calibrator, str | os.PathLike) else []
    check_target(out, "table", [(file, "rows"), *saved])
    made = calibrator if isinstance(calibrator, Calibrator) else load_calibrator(calibrator)
    seen = {"score": score, "positive class": None if positive is None else canonical(positive)}
    for what, name in made.fitted_for_.items():
        if isinstance(seen.get(what), str) and seen[what] != name:
            errors.warn(
                "calibrator-of-another",
                f"the calibrator was fitted for the {what} {name!r}, and is applied to {seen[what]!r}",
            )
    columns = _columns(made, score)
    if column is not None and len(columns) > 1:
        raise InputError(
            "one-new-column",
            Given("column", column),
            " names one new column, and there are several scores; leave it out",
        )
    names = [column or f"{name}_calibrated" for name in columns.values()]
    frame = read_whole(file, missing=False)
    for name in names:
        if name in frame.columns:
            raise InputError(
                "column-exists", f"the file has a column {name!r} already; name the new one with ", Pass("column")
            )
    held = read(file, columns)
    scores = np.column_stack([as_finite(to_column(values, argument)) for argument, values in held.items()])
    found = made.transform(scores).T
    write_whole(frame.with_columns(**dict(zip(names, found, strict=True))), Path(out))
    return names


def _columns(calibrator: Calibrator, score: Column) -> dict[str, str]:
    """Argument → column of each score, in the order in which the calibrator knows the classes."""
    fitted = getattr(calibrator, "columns_", 0)
    if not isinstance(score, Mapping):
        if fitted:
            raise errors.other_scores(f"{fitted} classes", "a single column")
        return {"score": score}
    if not fitted:
        raise errors.other_scores("a single score", f"one column for each of {len(score)} classes")
    named = {canonical(name): column for name, column in score.items()}
    known = getattr(calibrator, "classes", None) or list(named)
    missing = [name for name in known if name not in named]
    if missing:
        raise errors.class_without_score(missing, [])
    return {f"score of {name}": named[name] for name in known}
