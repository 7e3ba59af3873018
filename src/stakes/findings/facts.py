"""What a result is about, in a line: its title, and the facts that stand below it."""

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch

from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.calibration.numbers import NumberCalibration
from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.decision import Decision
from stakes.decisions.thresholds.digits import round_threshold
from stakes.engines.plan import Counted
from stakes.errors import Pass
from stakes.evaluation.base import Evaluation
from stakes.evaluation.by_segment import BySegment
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.few_grades import FewGrades
from stakes.evaluation.few_labels import FewLabels
from stakes.evaluation.gap import Gap
from stakes.evaluation.gate import Gate
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.ranks import Ranks
from stakes.evaluation.recalibrating import Recalibration
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.evaluation.watch import Watch
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import Sentence, metric, money, reason, sentence
from stakes.planning.result import Plan
from stakes.systems.choices import SystemChoice
from stakes.systems.system import System
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs
from stakes.uncertainty.permutation import PermutationTest
from stakes.validation.result import Validation


@dataclass(frozen=True)
class About:
    """The title of a result, and facts about it."""

    title: Sentence
    facts: tuple[Sentence, ...]


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from: files, columns and models in words, and the call that asked for it."""

    facts: tuple[Sentence, ...] = ()
    call: str = ""


_COLUMNS = ("truth", "score", "prediction", "weight", "by")


def source_of(thing: object) -> Provenance:
    """Return where a result comes from, as far as it knows."""
    if isinstance(thing, Comparison):
        return Provenance((sentence("page.model_names", models=list(thing.models)[:MOST]),))
    counted = getattr(thing, "counted", None)
    return Provenance() if counted is None else Provenance((*_files(counted), *_columns(counted)), counted.call)


def _files(counted: Counted) -> Iterator[Sentence]:
    if len(counted.files) == 1:
        yield sentence("page.file", file=counted.files[0])
    elif counted.files:
        yield sentence("page.files", n=len(counted.files), file=counted.files[0])


def _columns(counted: Counted) -> Iterator[Sentence]:
    asked = counted.question
    for name in _COLUMNS:
        if name in asked:
            yield sentence(f"page.column_{name}", column=str(asked[name]))
    if "where" in asked:
        yield sentence("page.where", condition=str(asked["where"]))


@singledispatch
def about(thing: object) -> About:
    """Return what a result is about."""
    raise NotImplementedError(type(thing).__name__)


def _rows(n: float) -> Sentence:
    return sentence("page.rows" if isinstance(n, int) else "page.weight", n=n)


def _clusters(evaluation: Evaluation) -> Iterator[Sentence]:
    return _clusters_of(evaluation.counted.clusters)


def _clusters_of(clusters: Clusters | None) -> Iterator[Sentence]:
    if clusters is not None:
        yield sentence("page.clusters", n=clusters.count)


def _pair(evaluation: Evaluation) -> tuple[str, ...]:
    """The negative and the positive class, where there are two."""
    return (evaluation.negative, evaluation.positive) if isinstance(evaluation, TwoClassEvaluation) else ()


def _costs_in_words(costs: Costs, pair: tuple[str, ...] = ()) -> Sentence:
    named = costs.classes is not None
    plain = not costs.columns and (not named or set(costs.classes or ()) == set(costs.decisions or ()) == set(pair))
    matrix = costs.for_table(pair, pair, None) if plain and named else costs.matrix
    if plain and (not named or float(matrix[0][0]) == float(matrix[1][1]) == 0):
        miss, alarm = (money(float(cell), costs.unit) for cell in (matrix[1][0], matrix[0][1]))
        return sentence("page.costs_pair", miss=miss, alarm=alarm)
    return sentence("page.costs", costs=reason(costs.words))


def _costs(evaluation: Evaluation) -> Iterator[Sentence]:
    """At which costs, and for which class frequencies."""
    if evaluation.pricing is not None:
        yield _costs_in_words(evaluation.pricing.costs, _pair(evaluation))
    yield from _frequencies(evaluation._shares_there)


def _frequencies(there: Mapping[str, float]) -> Iterator[Sentence]:
    """How frequent the classes are where the model is used, the positive one first."""
    if len(there) == 2:
        yield sentence("page.at_prevalence", share=next(iter(there.values())))
    for name, share in there.items() if len(there) > 2 else ():
        yield sentence("page.deployed", name=name, share=share)


# ── evaluations ──────────────────────────────────────────────────────────────────────────────────────────────────
@about.register
def _two_classes(evaluation: TwoClassEvaluation) -> About:
    names = {"positive": evaluation.positive, "negative": evaluation.negative}
    prevalence = sentence("page.prevalence", share=evaluation.prevalence, positive=evaluation.positive)
    facts = [
        _rows(evaluation.rows),
        prevalence,
        *_rule(evaluation),
        *_costs(evaluation),
        *_clusters(evaluation),
    ]
    return About(sentence("page.two_classes", **names), tuple(facts))


def _rule(evaluation: TwoClassEvaluation) -> Iterator[Sentence]:
    """How rows are decided."""
    threshold, counted = evaluation.threshold, evaluation.counted
    if evaluation.confusion is None:
        yield sentence("page.undecided", option=Pass("threshold"))
    elif counted.decided_by == "costs":
        yield sentence("page.cheapest_by_row")
    elif counted.confusion is not None and counted.decided_by == "rows":
        yield sentence("page.given")
    elif evaluation._decides_by_costs:
        for name, start in evaluation._steps:
            yield sentence("page.step", decision=name, threshold=round_threshold(evaluation.scores, max(start, 0.0)))
    elif threshold == math.inf:
        yield sentence("page.everyone", decision=evaluation.negative)
    else:
        key = "page.threshold_by_costs" if evaluation._bayesian else "page.threshold"
        shown_at = None if threshold is None else round_threshold(evaluation.scores, threshold)
        yield sentence(key, positive=evaluation.positive, threshold=shown_at)


@about.register
def _many_classes(evaluation: ManyClassEvaluation) -> About:
    largest = max(evaluation.support, key=lambda name: float(evaluation.support[name]))
    share = float(evaluation.support[largest]) / float(evaluation.rows)
    decided = {"score": "page.highest_score", "costs": "page.cheapest"}.get(evaluation.counted.decided_by)
    facts = [_rows(evaluation.rows), sentence("page.largest_class", name=largest, share=share)]
    facts += [sentence(decided)] if decided else []
    title = sentence("page.many_classes", n=len(evaluation.classes))
    return About(title, (*facts, *_costs(evaluation), *_clusters(evaluation)))


@about.register
def _regression(evaluation: RegressionEvaluation) -> About:
    sums = evaluation.errors
    facts = [_rows(evaluation.rows), sentence("page.mean_truth", mean=float(sums.mean(t=1)))]
    if sums.baseline is not None:
        facts.append(sentence("page.always_saying", value=sums.baseline))
    return About(sentence("page.regression"), (*facts, *_clusters(evaluation)))


@about.register
def _by_segment(found: BySegment) -> About:
    facts = (sentence("page.segments", n=len(found.segments)), sentence("page.tested", n=found.tested))
    return About(sentence("page.by_segment", figure=metric(found.metric)), facts)


@about.register
def _gap(found: Gap) -> About:
    facts = (sentence("page.segments", n=len(found.groups) + len(found.not_estimable)),)
    return About(sentence("page.gap", figure=metric(found.figure)), facts)


@about.register
def _plan(found: Plan) -> About:
    return About(sentence("page.plan"), (sentence("figures.interval", confidence=found.confidence),))


@about.register
def _few_labels(found: FewLabels | FewGrades) -> About:
    return About(sentence("page.few_labels"), (_rows(found.rows), sentence("page.labelled", n=found.labelled)))


@about.register
def _validation(found: Validation) -> About:
    facts = (sentence("page.how", how=reason(found.how)), sentence("page.fits", n=found.fits), _rows(len(found.rows)))
    return About(sentence("page.validation"), facts)


# ── comparisons, decisions, tests ────────────────────────────────────────────────────────────────────────────────
@about.register
def _comparison(comparison: Comparison) -> About:
    facts, rows = [sentence("page.models", n=len(comparison.models))], comparison.rows
    if isinstance(rows, list):
        facts.append(sentence("page.different_rows", n=sum(rows)))
    else:
        facts.append(sentence("page.same_rows", n=rows))
    if comparison.clusters is not None:
        facts.append(sentence("page.clusters", n=comparison.clusters))
    return About(sentence("page.comparison"), tuple(facts))


@about.register
def _ranks(ranks: Ranks) -> About:
    facts = [sentence("page.items", n=ranks.items)]
    if ranks.clusters is not None:
        facts.append(sentence("page.item_clusters", n=ranks.clusters))
    return About(sentence("page.ranks", n=len(ranks.models)), tuple(facts))


@about.register
def _watch(watch: Watch) -> About:
    facts = (sentence("page.days", n=watch.days), sentence("page.since_day", day=watch.since), _rows(watch.rows))
    return About(sentence("page.watching"), facts)


@about.register
def _decision(decision: Decision) -> About:
    facts = [_rows(decision.rows)]
    if decision.costs is not None:
        facts.append(_costs_in_words(decision.costs))
    if decision.harm:
        facts.append(sentence("page.harm", cost=decision.harm))
    if decision.deployed is not None:
        facts.append(sentence("page.deployed", name=decision.positive, share=decision.deployed))
    return About(sentence("page.decision", positive=decision.positive), tuple(facts))


@about.register
def _policies(policies: Policies) -> About:
    asked = (sentence("page.harm", cost=policies.harm),) if policies.harm else ()
    facts = (_rows(policies.rows), _costs_in_words(policies.costs), *asked)
    return About(sentence("page.many_classes", n=len(policies.classes)), facts)


@about.register
def _permutation_test(test: PermutationTest) -> About:
    drawn = () if test.null is None else (sentence("page.shuffles", n=test.permutations),)
    return About(sentence("page.chance", figure=metric(test.metric)), (*_frequencies(test.prior or {}), *drawn))


@about.register
def _calibration(found: Calibration) -> About:
    title = sentence("page.calibration", positive=found.table.positive)
    return About(title, (_rows(found.rows), *_clusters_of(found.sampling.clusters)))


@about.register
def _number_calibration(found: NumberCalibration) -> About:
    return About(sentence("page.number_calibration"), (_rows(found.rows), *_clusters_of(found.sampling.clusters)))


@about.register
def _class_calibrations(found: ClassCalibrations) -> About:
    title = sentence("page.class_calibrations", n=len(found.classes))
    return About(title, (_rows(found.rows), *_clusters_of(found.sampling.clusters)))


@about.register
def _recalibration(found: Recalibration) -> About:
    return About(sentence("page.recalibration"), (_rows(len(found.truth)), sentence("page.folds", n=found.folds)))


@about.register
def _gate(gate: Gate) -> About:
    against = (sentence("page.against", baseline=reason(gate.baseline)),) if gate.baseline else ()
    return About(sentence("page.gate"), (_rows(gate.rows), *against))


# ── systems ──────────────────────────────────────────────────────────────────────────────────────────────────────
@about.register
def _choice(choice: SystemChoice) -> About:
    return About(sentence(f"choice.title_{choice.chosen}"), (sentence("system.cases", n=choice.cases),))


@about.register
def _system(system: System) -> About:
    network = system.network
    shares = zip(network.classes, network.cases / network.cases.sum(), strict=True)
    facts = [
        sentence("system.class_share", name=name, share=float(share)) for name, share in itertools.islice(shares, MOST)
    ]
    if not system.per_case:
        facts.append(sentence("system.cases", n=float(network.cases.sum())))
    if system.unit:
        facts.append(sentence("system.costs_in", unit=system.unit))
    return About(sentence("system.page", n=len(system.models)), tuple(facts))
