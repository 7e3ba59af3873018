"""stakes.plan(): how many rows, positives, clusters or labels does a study need?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass, several, some
from stakes.evaluation import evaluate
from stakes.evaluation.base import Evaluation
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.few_rows import FewEstimates
from stakes.evaluation.gate.conditions import Requirement
from stakes.metrics import cost, find, rates
from stakes.metrics.agreement import accuracy
from stakes.planning.basis import Basis, of_comparison, of_evaluation, of_rates
from stakes.planning.goals import Goal, condition_goal, difference_goal, margin_goal, number_above_0, width_goal
from stakes.planning.labelling import labels_needed
from stakes.planning.rates import OBSERVED_EXPECTED, RATES
from stakes.planning.result import Aim, Part, Plan, Point
from stakes.planning.sizes import MOST_ROWS, mcnemar_power, mcnemar_rows, smallest
from stakes.question.options import Value
from stakes.results import speak
from stakes.tallies.arithmetic import is_real
from stakes.tallies.checks import check_share, check_text, check_whole
from stakes.uncertainty.interval import figure as figure_of
from stakes.uncertainty.intervals import interval
from stakes.uncertainty.sampling import Sampling, normal

_DRAWS = 2_000
_STUDIES = 100
_CURVE = (0.25, 0.5, 1.0, 2.0, 4.0)


def plan(
    figure: str | None = None,
    pilot: Evaluation | Comparison | Value = None,
    *,
    width: float | Mapping[str, float] | None = None,
    difference: float | None = None,
    margin: float | None = None,
    require: str | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    assurance: float | None = None,
    by: float | None = None,
    labels: int | None = None,
    disagreement: float | None = None,
    costs: Value = None,
    seed: int = 0,
    lang: str = "en",
    **expected: float,
) -> Plan:
    """Return how many rows a study needs until an interval is narrow enough, or a difference is found often enough.

    One of these says what it shall reach: ``width`` of the interval (of several figures: a dictionary),
    ``difference`` that shall be found (of the two models of a pilot comparison, or from the expected value),
    ``margin`` within which no difference matters, or ``require``, a condition such as ``"auc.low >= 0.8"``; the last
    three with a ``power``. It rests on a ``pilot`` (an evaluation, a comparison of two models, a tally), or on rates
    that are expected: prevalence, recall, specificity, precision, auc, accuracy, the ``sd`` of an error, and for the
    calibration slope ``logit_mean`` and ``logit_sd`` of the probabilities; for two accuracies the ``disagreement``,
    the share of rows on which one of the models alone is right. ``costs`` are those of an expected cost.

    ``by`` is the share of the smallest segment for which it shall hold, ``labels`` how many rows there are whose
    outputs are known and of which some get a label, ``assurance`` in which share of studies the interval is that
    narrow.

    >>> plan("recall", width=0.1, prevalence=0.05, recall=0.9).rows
    2766
    """
    aims: dict[Aim, object] = {"width": width, "difference": difference, "margin": margin, "require": require}
    given = [name for name, value in aims.items() if value is not None]
    aim = "margin" if set(given) == {"margin", "difference"} else given[0] if len(given) == 1 else None
    if aim is None:
        raise _one_aim(given)
    if figure is not None:
        check_text("figure", figure)
    asked = _Asked(
        aim, difference, power, confidence, assurance, disagreement, labels, seed, _rates(expected), _read(pilot), costs
    )
    asked.refuse_contradictions()
    wishes: list[tuple[str | None, object]] = [(figure, aims[aim])]
    if isinstance(width, Mapping):
        if figure is not None or not width:
            raise InputError("plan-two-figures", "widths name their figures; leave ", Pass("figure"), " out")
        wishes = [*width.items()]
    bases = [asked.basis(name, wish) for name, wish in wishes if disagreement is None]
    asked.refuse_unused(bases)
    share = _smallest_share(by, bases)
    parts = [
        _sized(asked, basis, asked.goal(basis, wish), share) for basis, (_, wish) in zip(bases, wishes, strict=False)
    ]
    return speak(_together(asked, parts or [_of_accuracies(asked, *wishes[0])], bases, share), lang)


def _read(pilot: Value) -> Evaluation | Comparison | None:
    """A pilot as it is, or the evaluation of a tally."""
    few = isinstance(pilot, FewEstimates)
    known: Value = pilot if few or pilot is None or isinstance(pilot, Evaluation | Comparison) else evaluate(pilot)
    if isinstance(known, FewEstimates) or (isinstance(known, Comparison) and known.unlabelled):
        words = "a pilot has a truth for every row, and this one for few; evaluate its labelled rows alone"
        raise InputError("pilot-of-few-labels", words)
    found: Evaluation | Comparison | None = known
    return found


@dataclass(frozen=True)
class _Asked:
    """What holds for all figures of a plan."""

    aim: Aim
    difference: float | None
    power: float
    confidence: float
    assurance: float | None
    disagreement: float | None
    labels: int | None
    seed: int
    expected: Mapping[str, float]
    pilot: Evaluation | Comparison | None
    costs: Value

    def __post_init__(self) -> None:
        Sampling(confidence=self.confidence, seed=self.seed)  # refuses what is neither
        for name in ("power", "assurance", "disagreement"):
            if getattr(self, name) is not None:
                _check_between(name, getattr(self, name))

    def refuse_contradictions(self) -> None:
        """Refuse what cannot be asked together."""
        if self.pilot is not None and (self.expected or self.costs is not None):
            seen = several([*self.expected, *(["costs"] if self.costs is not None else [])])
            words = ": a plan rests on a pilot (and its costs) or on what is expected; give one"
            raise InputError("pilot-and-rates", seen, words)
        other = {"disagreement": self.disagreement, "labels": self.labels, "assurance": self.assurance}
        given = [name for name, value in other.items() if value is not None]
        given += ["pilot"] if self.disagreement is not None and self.pilot is not None else []
        if len(given) > 1:
            raise InputError("plan-apart", several(given), " do not go together; leave out all but one")

    def refuse_unused(self, bases: Sequence[Basis]) -> None:
        """Refuse rates and costs that change nothing: whoever gives them expects that they do."""
        used = {rates.prevalence.name, *(rate for basis in bases for rate in basis.rests_on)}
        unused = [name for name in self.expected if name not in used]
        uses_costs = any(basis.metric is not None and basis.metric.name in cost.NAMES for basis in bases)
        unused += ["costs"] if self.costs is not None and not uses_costs else []
        if unused:
            words = f" would change nothing in a plan for {some([one.figure for one in bases] or [accuracy.name])}"
            raise InputError("unused-rates", several(unused), f"{words}; leave it out")

    def basis(self, name: str | None, wish: object) -> Basis:
        """What a figure's plan rests on."""
        if self.aim == "require":
            name = str(Requirement.parse(str(wish)).figure)
        if name is None:
            raise InputError("plan-no-figure", "name the figure that is planned for, such as 'auc'")
        name = name if name == OBSERVED_EXPECTED else find(name).text
        if isinstance(self.pilot, Comparison):
            if self.aim == "require":
                raise InputError("plan-of-two", "a condition is about one model, and the pilot compares two")
            return of_comparison(self.pilot, name)
        if self.pilot is not None:
            return of_evaluation(self.pilot, name)
        return of_rates(name, self.expected, self.costs)

    def goal(self, basis: Basis, wish: object) -> Goal:
        """What a study of this figure shall reach."""
        reach = normal((1 + self.confidence) / 2)
        if self.aim == "width":
            return width_goal(wish, basis, reach)
        if self.aim == "difference":
            return difference_goal(wish, reach, self.power)
        if self.aim == "margin":
            return margin_goal(wish, self.difference, reach, self.power)
        return condition_goal(Requirement.parse(str(wish)), basis, reach, self.power)


# ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────
def _one_aim(given: Sequence[str]) -> InputError:
    seen = f"{some(given)} are given" if given else "none is given"
    return InputError(
        "plan-one-aim", "a study is planned for one of ", Pass("width"), ", ", Pass("difference"), ", ",
        Pass("margin"), " or ", Pass("require"), f", and {seen}",
    )  # fmt: skip


def _rates(expected: Mapping[str, float]) -> dict[str, float]:
    for name, value in expected.items():
        if name not in RATES:
            raise errors.no_such_option("plan", name, {**dict.fromkeys(RATES)}, expected)
        if name == "logit_mean":
            if not is_real(value) or not math.isfinite(value):
                raise InputError("bad-rate", Given(name, value), " is no finite number; give what you expect")
        elif name in ("sd", "logit_sd"):
            number_above_0(name, value)
        else:
            _check_between(name, value)
    return {name: float(value) for name, value in expected.items()}


def _check_between(name: str, value: float) -> None:
    if not 0 < check_share(name, value) < 1:
        raise InputError("plan-ends", Given(name, value), " cannot be planned with; give one between 0 and 1")


# ── how many ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _sized(asked: _Asked, basis: Basis, goal: Goal, share: float | None) -> Part:
    """How many rows one figure needs (or labels, in the smallest segment), and what other numbers of rows reach."""
    words = "" if goal.condition is None else goal.condition.text
    part = Part(basis.figure, goal.aim, goal.target, basis.value, 0, condition=words, of_difference=basis.of_two)
    if asked.labels is not None:
        check_whole("labels", asked.labels, 2, 1e15)
        return replace(part, rows=math.ceil(labels_needed(basis, asked.labels * (share or 1.0), goal.error)))
    units = _units(asked, basis, goal)
    rows = math.ceil(units * basis.rows_per_unit)
    low, high = _range(asked, basis, goal)
    curve = [_point(basis, goal, max(2.0, round(units * step))) for step in _CURVE]
    checked = _checked(asked, basis, goal, rows)
    return replace(part, rows=rows, low_rows=low, high_rows=high, curve=curve, checked=checked)


def _point(basis: Basis, goal: Goal, units: float) -> Point:
    return Point(math.ceil(units * basis.rows_per_unit), goal.reached(math.sqrt(basis.variance(units))))


def _units(asked: _Asked, basis: Basis, goal: Goal) -> float:
    """The number of units with which the interval is narrow enough in the wanted share of studies, or in half."""
    wanted = asked.assurance
    if wanted is None:
        return smallest(lambda many: basis.variance(many) <= goal.error**2)
    if basis.moves is None:
        raise InputError("no-assurance", Given("assurance"), " needs a pilot whose rows can be resampled")

    def enough(units: float) -> bool:
        variances = basis.resample(_DRAWS, asked.seed, units)[1]
        return float(np.quantile(variances, wanted)) / units <= goal.error**2

    return smallest(enough)


def _range(asked: _Asked, basis: Basis, goal: Goal) -> tuple[int | None, int | None]:
    """The range of rows that the pilot leaves open: 95 % of resampled pilots need as many."""
    if basis.moves is None or asked.pilot is None:
        return None, None
    values, variances = basis.resample(_DRAWS, asked.seed)
    wanted = goal.errors_at(values, basis.value)
    with np.errstate(divide="ignore"):
        needed = np.where(wanted > 0, variances / wanted**2, math.inf)
    ends = np.quantile(needed, (0.025, 0.975), method="nearest")
    low, high = (None if one > MOST_ROWS else math.ceil(one * basis.rows_per_unit) for one in ends)
    return low, high


def _checked(asked: _Asked, basis: Basis, goal: Goal, rows: int) -> float | None:
    """What simulated studies of that size reach: the median width, or the share that meets the condition."""
    metric, table = basis.metric, basis.table
    if metric is None or table is None or goal.aim in ("difference", "margin") or rows > MOST_ROWS:
        return None
    generator, sampling = np.random.default_rng(asked.seed), replace(basis.sampling, confidence=asked.confidence)
    counts = np.asarray(table.counts, np.float64)
    reached = []
    for cells in generator.multinomial(rows, counts.ravel() / counts.sum(), _STUDIES):
        study = table.with_counts(cells.reshape(counts.shape))
        value = float(metric.of(study))
        limits = interval(metric, value, study, sampling)
        reached.append(goal.reached_by(figure_of(metric.text, value, math.nan, limits, asked.confidence)))
    known = [one for one in reached if one is not None]
    if not known:
        return None
    return float(np.median(known) if goal.condition is None else np.sum(known) / _STUDIES)


def _of_accuracies(asked: _Asked, name: str | None, target: object) -> Part:
    """Two accuracies on the same rows: the power of McNemar's exact test."""
    share = asked.disagreement
    if asked.aim != "difference" or name != accuracy.name or share is None:
        raise InputError("disagreement-alone", Given("disagreement"), " is for the difference of two accuracies")
    goal = number_above_0("difference", target)
    if goal > share:
        raise InputError(
            "rates-apart",
            f"accuracies that are {goal:g} apart disagree on at least as many rows, not on {share:g} of them",
        )
    rows = int(mcnemar_rows(share, goal, asked.power, asked.confidence))
    sizes = [max(2, round(rows * step)) for step in _CURVE]
    curve = [Point(size, mcnemar_power(size, share, goal, asked.confidence)) for size in sizes]
    return Part(name, "difference", goal, goal, rows, curve=curve)


# ── the whole study ──────────────────────────────────────────────────────────────────────────────────────────────
def _together(asked: _Asked, parts: list[Part], known: list[Basis], share: float | None) -> Plan:
    parts = parts if share is None else [_in_whole(part, share) for part in parts]
    rows = max(part.rows for part in parts)
    labels = rows if asked.labels is not None else None
    rows = rows if asked.labels is None else int(asked.labels)
    shares = [one.prevalence for one in known if one.prevalence is not None]
    prevalence = shares[0] if shares else asked.expected.get(rates.prevalence.name)
    per_cluster = max((one.rows_per_unit for one in known), default=1.0)
    return Plan(
        rows=rows,
        positives=None if prevalence is None or labels is not None else math.ceil(rows * prevalence),
        clusters=None if per_cluster == 1 else math.ceil(rows / per_cluster),
        labels=labels,
        parts=parts,
        confidence=asked.confidence,
        power=asked.power,
        assured=asked.assurance,
        smallest_share=share,
        pilot_rows=next((one.pilot_rows for one in known if one.pilot_rows is not None), None),
        assumed={**asked.expected, **({} if asked.disagreement is None else {"disagreement": asked.disagreement})},
    )


def _in_whole(part: Part, share: float) -> Part:
    """The part scaled to all rows, of which a segment has this share."""
    low, high = (None if one is None else math.ceil(one / share) for one in (part.low_rows, part.high_rows))
    curve = [Point(math.ceil(point.rows / share), point.reached) for point in part.curve]
    return replace(part, rows=math.ceil(part.rows / share), low_rows=low, high_rows=high, curve=curve)


def _smallest_share(by: float | None, known: list[Basis]) -> float | None:
    """The share of the smallest segment: as given, or as the pilot has it."""
    if by is not None:
        _check_between("by", by)
        return by
    return next((min(one.shares.values()) for one in known if one.shares), None)
