"""gate(): conditions that an evaluation must meet, for continuous integration."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Unpack

import numpy as np

from stakes import errors
from stakes.engines.files.writing import are_same
from stakes.engines.plan import Counted
from stakes.errors import Given, InputError, Pass, short, some
from stakes.evaluation import evaluation_of
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import wrongs
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.few_rows import FewEstimates
from stakes.evaluation.gate.checks import Check, check_dropped
from stakes.evaluation.gate.conditions import Figure, Requirement
from stakes.evaluation.gate.differences import Baseline, check_no_worse, margins, warn_of_wide
from stakes.language.narrated import Narrated
from stakes.metrics import cost
from stakes.question.options import Data, Gated, Value, asks
from stakes.question.question import Question
from stakes.records import Count, Finite, Record, RowCount, Says
from stakes.results import speak
from stakes.tallies import Confusion
from stakes.tallies.checks import as_list, check_share

__all__ = ["Check", "Gate", "Request", "gate", "judge"]

_DROPPED = "How many rows lacked a value or have weight 0 and were left out, those of the baseline among them."


@dataclass(frozen=True, eq=False)
class Gate(Record, Narrated, stakes="gate", shown="passed rows dropped confidence baseline findings checks"):
    """The conditions of a gate and what was seen; it has passed when all of them are met.

    ``baseline`` describes the baseline of differences, ``dropped`` is how many rows lacked a value and were left out.
    """

    checks: Annotated[Sequence[Check], Says(least_items=1)]
    rows: RowCount
    confidence: Finite = 0.95
    baseline: str = ""
    dropped: Annotated[Count, Says(_DROPPED)] = 0

    plotted_as = "gate"

    @property
    def passed(self) -> bool:
        """Whether every condition is met."""
        return not self.failed

    @property
    def failed(self) -> Sequence[Check]:
        """The conditions that are not met."""
        return [check for check in self.checks if not check.passed]

    @property
    def conclusion(self) -> str:
        """The outcome in a few words."""
        count = len(self.checks)
        left_out = f"; {errors.rows_left_out(self.dropped)}" if self.dropped else ""
        if self.passed:
            return f"passed, {count} condition{'' if count == 1 else 's'} met{left_out}"
        return f"failed, {len(self.failed)} of {count} not met{left_out}"

    def __bool__(self) -> bool:
        return self.passed

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per condition, for a data frame."""
        return [check.to_row() for check in self.checks]

    def __repr__(self) -> str:
        return f"<Gate: {self.conclusion}>"


@dataclass(frozen=True)
class Request:
    """Conditions, margins from a baseline, and the share of rows that may be left out."""

    conditions: tuple[Requirement, ...]
    margins: dict[Figure, float]
    allow_dropped: float

    @classmethod
    def parse(cls, require: Value, no_worse: Value, allow_dropped: Value, against: bool) -> "Request":
        """Read what was asked; ``against`` says whether there is a baseline."""
        texts = [require] if isinstance(require, str) else [] if require is None else as_list(require)
        if texts is None:
            raise errors.bad_requirement(require)
        asked = cls(
            tuple(map(Requirement.parse, texts)), margins(no_worse), check_share("allow_dropped", allow_dropped)
        )
        if not asked.conditions and not asked.margins:
            raise InputError(
                "nothing-required",
                "there is nothing to check; give conditions (",
                Pass("require"),
                ") or margins from a baseline (",
                Pass("no_worse"),
                ")",
            )
        if asked.margins and not against:
            raise InputError(
                "no-baseline",
                Given("no_worse"),
                " needs a baseline; give ",
                Pass("baseline"),
                ", an evaluation, a comparison or a tally",
            )
        if against and not asked.margins:
            raise InputError(
                "baseline-without-margin",
                "a baseline alone checks nothing; say with ",
                Pass("no_worse"),
                " which figure may be how much worse",
            )
        for condition in asked.conditions:
            condition.warn_if_weak()
        for figure, margin in asked.margins.items():
            warn_of_wide(figure, margin)
        return asked

    @property
    def figures(self) -> list[Figure]:
        """All figures that are asked for."""
        return [*(condition.figure for condition in self.conditions), *self.margins]

    @property
    def needed(self) -> set[str]:
        """The parts of tallies without which a figure that is asked for is undefined; others need not be counted."""
        return {part for figure in self.figures for part in figure.metric.parts}

    def refuse_without_costs(self) -> None:
        """Refuse conditions on costs, where none are given."""
        for figure in self.figures:
            if figure.metric.lacking:
                raise figure.metric.ask_for_parameters()


@asks("gate")
def gate(evaluation: Evaluation | Data = None, *, baseline: Data = None, **asked: Unpack[Gated]) -> Gate:
    """Check an evaluation against conditions.

    ``require`` are conditions on figures, by the text that ``ev[…]`` knows, or on the ends of their intervals:
    ``"auc.low >= 0.8"``, ``"f_beta(beta=2) > 0.7"``, ``"f1[setosa].low >= 0.9"`` of a class, ``"recall.low >= 0.7 in
    every segment"``. A figure that is undefined, or has no interval where one is asked for, fails with its reason.

    ``no_worse`` says how much worse than the ``baseline`` a figure may be: ``{"auc": 0.02}``, or ``["auc:0.02"]``. The
    bad end of the interval of the difference must not pass this margin. The baseline is another evaluation, what
    ``count()`` gave, or the name of a tally; the difference is then tested as if of different rows. A comparison of
    this model (first) with the baseline (second) tests it on the rows that they share, which is sharper.

    A gate is closed, too, when more than ``allow_dropped`` of the rows, or of their weight, were left out because a
    value was missing or the weight is 0, of this model, of the baseline or of a segment. It refuses to judge a score
    or decisions that are the truth itself, are the same in every row, or surely run the wrong way, and a baseline that
    is this model itself. It warns of conditions that reward a worse figure, that every model meets, or that are about
    the better end of an interval.

    Rows can be given in the place of an evaluation, with the arguments of :func:`stakes.evaluate`:
    ``gate("preds.csv", truth="y", score="p", require="auc.low >= 0.8")``.

    >>> from stakes import evaluate
    >>> ev = evaluate(truth=[1, 1, 0, 1, 1, 0], score=[0.9, 0.4, 0.6, 0.8, 0.1, 0.2])
    >>> gate(ev, require=["auc >= 0.6", "auc.low >= 0.5"]).passed
    False
    """
    question = Question.of("gate", asked)
    request = Request.parse(
        question["require"], question["no_worse"], question["allow_dropped"], against=baseline is not None
    )
    names = [given for given in (evaluation, baseline) if isinstance(given, str | os.PathLike)]
    if len(names) == 2 and are_same(*names):
        raise errors.own_baseline()
    return judge(evaluation_of(evaluation, question, request.needed), request, baseline)


def judge(evaluation: Evaluation | FewEstimates, asked: Request, baseline: Data = None) -> Gate:
    """Check an evaluation against the conditions."""
    if isinstance(evaluation, FewEstimates):
        return _of_few_labels(evaluation, asked, baseline)
    if not isinstance(evaluation, Evaluation):
        raise InputError(
            "not-to-gate",
            f"gate() holds an evaluation against conditions, and got a {type(evaluation).__name__}; pass what "
            "evaluate() returns",
        )
    against = None if baseline is None else _read_baseline(baseline, evaluation)
    sides = {"": evaluation} if against is None else {"": evaluation, "baseline": against.evaluation}
    for whose, side in sides.items():
        for wrong in wrongs(side):  # figures that answer another question than the one that was asked
            advice = " A gate does not judge that; mend it first, or look at it with evaluate"
            raise InputError("not-to-judge", whose and f"{whose}: ", *wrong.words, advice)
        _refuse_one_decision(side, asked.figures, whose)
    checks = [condition.check(evaluation) for condition in asked.conditions]
    if against is not None:
        checks += [check_no_worse(figure, margin, evaluation, against) for figure, margin in asked.margins.items()]
    for whose, side in sides.items():
        checks += check_dropped(side.counted, asked.allow_dropped, whose and f" by the {whose}")
    dropped = sum(side.counted.dropped for side in sides.values())
    words = "" if against is None else against.words
    return speak(Gate(checks, evaluation.rows, evaluation.sampling.confidence, words, dropped), evaluation.lang)


def _baseline_of_few_labels() -> InputError:
    words = "differences from few labels were not tried in a gate; leave the baseline out, and compare the models"
    return InputError("few-labels-baseline", words)


def _of_few_labels(found: FewEstimates, asked: Request, baseline: Data) -> Gate:
    """Check estimates from few labels against conditions; a baseline needs a truth for every row."""
    if baseline is not None or asked.margins:
        raise _baseline_of_few_labels()
    checks = [condition.check(found) for condition in asked.conditions]
    return speak(Gate(checks, found.rows, found.confidence), found.lang)


def _refuse_one_decision(evaluation: Evaluation, figures: Sequence[Figure], whose: str) -> None:
    """Refuse figures of decisions that are the same in every row of several classes, unless costs made them so."""
    table: Confusion | None = getattr(evaluation, "confusion", None)
    if table is None or np.count_nonzero(table.decision_totals) > 1 or np.count_nonzero(table.truth_totals) < 2:
        return
    by_costs = evaluation.pricing is not None and evaluation.counted.decided_by != "rows"
    for figure in figures:
        of_decisions = figure.metric.tally is Confusion and not (by_costs and figure.metric.name in cost.NAMES)
        if of_decisions and figure.in_(evaluation).defined:  # what is undefined fails, and says why
            taken = table.decisions[int(np.argmax(table.decision_totals))]
            raise InputError(
                "one-decision",
                whose and f"{whose}: ",
                f"the decision is {short(repr(taken))} in every row, so {figure!s} judges no model; name the model's "
                "own decisions, or another ",
                Pass("threshold"),
            )


def _read_baseline(baseline: Data, evaluation: Evaluation) -> Baseline:
    """The baseline of differences, and a description of it."""
    if baseline is evaluation or baseline is evaluation.counted:
        raise errors.own_baseline()
    if isinstance(baseline, Comparison):
        if baseline.unlabelled:
            raise _baseline_of_few_labels()
        if len(baseline.models) != 2:
            raise InputError(
                "comparison-of-two",
                "a baseline that is a comparison holds this model and the baseline, and this one holds "
                f"{some(list(baseline.models))}",
            )
        _, (name, other) = baseline.models.items()
        one, two = baseline.contestants
        if one.has_same_output(two):
            errors.warn("like-the-baseline", f"{name} says what this model says in every row; check the baseline")
        return Baseline(other, f"{name}, on {'the same' if baseline.on_same_rows else 'other'} rows", baseline)
    words = ""
    if isinstance(baseline, str | os.PathLike):
        from stakes.engines.plan import load

        words, baseline = f"{os.fspath(baseline)}, ", load(baseline)
    if isinstance(baseline, Counted):
        baseline = Evaluation(baseline, sampling=evaluation.sampling, pricing=evaluation.pricing)
    if not isinstance(baseline, Evaluation) or baseline.task != evaluation.task:
        raise InputError(
            "not-a-baseline",
            f"baseline: {getattr(baseline, 'task', type(baseline).__name__)} is nothing to compare a "
            f"{evaluation.task} evaluation with; give one of the same kind",
        )
    _warn_of_another_question(evaluation.counted.question, baseline.counted.question)
    return Baseline(baseline, f"{words}{baseline.rows:,} rows, judged as if of other cases")


_MAY_DIFFER = ("prior", "training_prior", "costs", "truth", "score", "prediction")
"""Options that may differ between a model and its baseline."""


def _warn_of_another_question(here: Mapping[str, object], there: Mapping[str, object]) -> None:
    """Warn that the baseline was counted with other options."""
    for name in {**here, **there}:
        if here.get(name) != there.get(name) and name not in _MAY_DIFFER:
            seen = (f"{short(repr(question.get(name, 'nothing')))}" for question in (here, there))
            errors.warn("baseline-asked-otherwise", Given(name), " is {} here and {} for the baseline".format(*seen))
