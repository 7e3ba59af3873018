"""What a result is about: its title, and a line of facts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stakes.decisions.thresholds.digits import round_threshold
from stakes.engines.plan import Counted
from stakes.errors import Pass
from stakes.evaluation.gap import TOGETHER
from stakes.findings import kind_of
from stakes.findings.verdicts.answers import MOST, rows_and_weight
from stakes.frozen import dataclass
from stakes.language.sentences import Sentence, metric, money, reason, sentence
from stakes.question.options import Origin, Value

if TYPE_CHECKING:  # each kind of result is loaded on first use
    from stakes.decisions.policies import Policies
    from stakes.decisions.thresholds.by_label import LabelDecisions
    from stakes.decisions.thresholds.decision import Decision
    from stakes.evaluation.base import Evaluation
    from stakes.evaluation.comparison import Comparison
    from stakes.evaluation.gap import Gap
    from stakes.evaluation.gate import Gate
    from stakes.evaluation.many_classes import ManyClassEvaluation
    from stakes.evaluation.ranks import Ranks
    from stakes.evaluation.regression import RegressionEvaluation
    from stakes.evaluation.two_classes import TwoClassEvaluation
    from stakes.systems.system import System
    from stakes.tallies.clusters import Clusters
    from stakes.tallies.costs import Costs
    from stakes.uncertainty.permutation import PermutationTest


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


def source_of(thing: Any) -> Provenance:
    """Return where a result comes from, as far as it knows."""
    models = [sentence("page.model_names", models=list(thing.models)[:MOST])] if kind_of(thing) == "comparison" else []
    counted = getattr(thing, "counted", None)
    origin: Origin | None = getattr(thing, "origin", None)
    if isinstance(counted, Counted) and counted.call:
        origin = Origin(counted.files, counted.question, counted.call)
    if origin is None:
        return Provenance(tuple(models))
    return Provenance((*_files(origin.files), *models, *_columns(origin.columns, thing)), origin.call)


def _files(files: Sequence[str]) -> Iterator[Sentence]:
    if len(files) == 1:
        yield sentence("page.file", file=files[0])
    elif files:
        yield sentence("page.files", n=len(files), file=files[0])


def _columns(asked: Mapping[str, Value], thing: object) -> Iterator[Sentence]:
    numbers = {"prediction": "page.column_number"} if kind_of(thing) == "regression" else {}
    for name in _COLUMNS:
        if name in asked:
            yield sentence(numbers.get(name, f"page.column_{name}"), column=str(asked[name]))
    if "where" in asked:
        yield sentence("page.where", condition=str(asked["where"]))


def about(thing: Any) -> About:
    """Return what a result is about."""
    title, *facts = _ABOUT[kind_of(thing)](thing)
    return About(title, tuple(facts))


def _rows(n: float) -> Sentence:
    return sentence("page.rows" if isinstance(n, int) else "page.weight", n=n)


def _rows_of(evaluation: Evaluation) -> Sentence:
    return _rows(evaluation.rows) if evaluation.unweighted_rows is None else rows_and_weight(evaluation)


def _clusters(clusters: Clusters | None) -> Iterator[Sentence]:
    if clusters is not None:
        yield sentence("page.clusters", n=clusters.count)


def _costs_in_words(costs: Costs, pair: tuple[str, ...] = ()) -> Sentence:
    named = costs.classes is not None
    plain = not costs.columns and (not named or set(costs.classes or ()) == set(costs.decisions or ()) == set(pair))
    matrix = costs.for_table(pair, pair, None) if plain and named else costs.matrix
    if plain and (not named or float(matrix[0][0]) == float(matrix[1][1]) == 0):
        miss, alarm = (money(float(cell), costs.unit) for cell in (matrix[1][0], matrix[0][1]))
        return sentence("page.costs_pair", miss=miss, alarm=alarm)
    return sentence("page.costs", costs=reason(costs.words))


def _setting(evaluation: Evaluation, pair: tuple[str, ...] = ()) -> Iterator[Sentence]:
    """At which costs, for which class frequencies, and in how many clusters."""
    if evaluation.pricing is not None:
        yield _costs_in_words(evaluation.pricing.costs, pair)
    yield from _frequencies(evaluation._shares_there)
    yield from _clusters(evaluation.counted.clusters)


def _frequencies(there: Mapping[str, float]) -> Iterator[Sentence]:
    """How frequent the classes are where the model is used, the positive one first."""
    if len(there) == 2:
        yield sentence("page.at_prevalence", share=next(iter(there.values())))
    for name, share in there.items() if len(there) > 2 else ():
        yield sentence("page.deployed", name=name, share=share)


# ── evaluations: the title, then facts ───────────────────────────────────────────────────────────────────────────
def _two_classes(evaluation: TwoClassEvaluation) -> Iterator[Sentence]:
    yield sentence("page.two_classes", positive=evaluation.positive, negative=evaluation.negative)
    yield _rows_of(evaluation)
    yield sentence("page.prevalence", share=evaluation.prevalence, positive=evaluation.positive)
    yield from _rule(evaluation)
    yield from _setting(evaluation, (evaluation.negative, evaluation.positive))


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


def _many_classes(evaluation: ManyClassEvaluation) -> Iterator[Sentence]:
    largest = max(evaluation.support, key=lambda name: float(evaluation.support[name]))
    decided = {"score": "page.highest_score", "costs": "page.cheapest"}.get(evaluation.counted.decided_by)
    yield sentence("page.many_classes", n=len(evaluation.classes))
    yield _rows_of(evaluation)
    share = float(evaluation.support[largest]) / float(evaluation.rows)
    yield sentence("page.largest_class", name=largest, share=share)
    yield from [sentence(decided)] if decided else []
    yield from _setting(evaluation)


def _regression(evaluation: RegressionEvaluation) -> Iterator[Sentence]:
    sums = evaluation.errors
    yield sentence("page.regression")
    yield _rows_of(evaluation)
    yield sentence("page.mean_truth", mean=float(sums.mean(t=1)))
    if sums.baseline is not None:
        yield sentence("page.always_saying", value=sums.baseline)
    yield from _clusters(evaluation.counted.clusters)


def _several(evaluation: Any) -> Iterator[Sentence]:
    """Of several labels, outputs or quantiles."""
    yield sentence(f"page.{evaluation.task}", n=len(evaluation.names))
    yield _rows_of(evaluation)
    if evaluation.task == "labels":
        yield sentence("page.mean_labels", mean=sum(evaluation.support.values()) / float(evaluation.rows))
    if evaluation.task == "quantiles" and not math.isnan(evaluation.level):
        yield sentence("page.level", share=evaluation.level)
    yield from _clusters(evaluation.counted.clusters)


# ── comparisons, decisions, tests ────────────────────────────────────────────────────────────────────────────────
def _comparison(comparison: Comparison) -> Iterator[Sentence]:
    rows = comparison.rows
    yield sentence("page.comparison")
    yield sentence("page.models", n=len(comparison.models))
    if isinstance(rows, list):
        yield sentence("page.different_rows", n=sum(rows))
    else:
        yield sentence("page.same_rows" if isinstance(rows, int) else "page.same_weight", n=rows)
    pricing = next((getattr(model, "pricing", None) for model in comparison.models.values()), None)
    if pricing is not None:
        yield _costs_in_words(pricing.costs)
    if comparison.clusters is not None:
        yield sentence("page.clusters", n=comparison.clusters)


def _ranks(ranks: Ranks) -> Iterator[Sentence]:
    yield sentence("page.ranks", n=len(ranks.models))
    yield sentence("page.items", n=ranks.items)
    if ranks.clusters is not None:
        yield sentence("page.item_clusters", n=ranks.clusters)


def _decision(decision: Decision) -> Iterator[Sentence]:
    yield sentence("page.decision", positive=decision.positive)
    counted = isinstance(decision.rows, int) or decision.evaluation is None
    yield _rows(decision.rows) if counted else _rows_of(decision.evaluation)
    if decision.costs is not None:
        yield _costs_in_words(decision.costs)
    if decision.harm:
        yield sentence("page.harm", cost=decision.harm)
    if decision.deployed is not None:
        yield sentence("page.deployed", name=decision.positive, share=decision.deployed)


def _policies(policies: Policies) -> Iterator[Sentence]:
    yield sentence("page.many_classes", n=len(policies.classes))
    yield _rows(policies.rows)
    yield _costs_in_words(policies.costs)
    if policies.harm:
        yield sentence("page.harm", cost=policies.harm)


def _label_decisions(found: LabelDecisions) -> Iterator[Sentence]:
    yield sentence("page.label_decisions", n=found.labels)
    yield _rows(found.rows)
    for one in itertools.islice(found.decisions.values(), 1):
        if one.costs is not None:
            yield _costs_in_words(one.costs)


def _permutation_test(test: PermutationTest) -> Iterator[Sentence]:
    yield sentence("page.chance", figure=metric(test.metric))
    yield from _frequencies(test.prior or {})
    if test.null is not None:
        yield sentence("page.shuffles", n=test.permutations)


def _calibration(found: Any) -> Iterator[Sentence]:
    """Of two classes, of several, or of predicted numbers."""
    kind = kind_of(found)
    if kind == "calibration":
        yield sentence("page.calibration", positive=found.table.positive)
    elif kind == "class calibrations":
        yield sentence("page.class_calibrations", n=len(found.classes))
    else:
        yield sentence("page.number_calibration")
    yield _rows(found.rows)
    yield from _clusters(found.sampling.clusters)


def _gate(gate: Gate) -> Iterator[Sentence]:
    yield sentence("page.gate")
    yield _rows(gate.rows)
    if gate.baseline:
        yield sentence("page.against", baseline=reason(gate.baseline))


def _system(system: System) -> Iterator[Sentence]:
    network = system.network
    shares = zip(network.classes, network.cases / network.cases.sum(), strict=True)
    yield sentence("system.page", n=len(system.models))
    for name, share in itertools.islice(shares, MOST):
        yield sentence("system.class_share", name=name, share=float(share))
    if not system.per_case:
        yield sentence("system.cases", n=float(network.cases.sum()))
    if system.unit:
        yield sentence("system.costs_in", unit=system.unit)


def _gap(found: Gap) -> Iterator[Sentence]:
    first, *second = map(metric, TOGETHER.get(found.metric, (found.figure,)))
    yield sentence("page.gap_of_two", figure=first, other=second[0]) if second else sentence("page.gap", figure=first)
    yield sentence("page.segments", n=len(found.groups) + len(found.not_estimable))


_ABOUT: Mapping[str, Callable[[Any], Iterable[Sentence]]] = {
    "binary": _two_classes,
    "multiclass": _many_classes,
    "regression": _regression,
    **dict.fromkeys(("labels", "outputs", "quantiles"), _several),
    "comparison": _comparison,
    "ranks": _ranks,
    "decision": _decision,
    "policies": _policies,
    "label decisions": _label_decisions,
    "permutation test": _permutation_test,
    **dict.fromkeys(("calibration", "class calibrations", "number calibration"), _calibration),
    "gate": _gate,
    "system": _system,
    "segments": lambda found: (
        sentence("page.by_segment", figure=metric(found.metric)),
        sentence("page.segments", n=len(found.segments)),
        sentence("page.tested", n=found.tested),
    ),
    "gap": _gap,
    "plan": lambda found: (sentence("page.plan"), sentence("figures.interval", confidence=found.confidence)),
    "few labels": lambda found: (
        sentence("page.few_labels"),
        _rows(found.rows),
        sentence("page.labelled", n=found.labelled),
    ),
    "Validation": lambda found: (
        sentence("page.validation"),
        sentence("page.how", how=reason(found.how)),
        sentence("page.fits", n=found.fits),
        _rows(len(found.rows)),
    ),
    "watch": lambda watch: (
        sentence("page.watching"),
        sentence("page.days", n=watch.days),
        sentence("page.since_day", day=watch.since),
        _rows(watch.rows),
    ),
    "recalibration": lambda found: (
        sentence("page.recalibration"),
        _rows(found.rows),
        sentence("page.folds", n=found.folds),
    ),
    "system choice": lambda choice: (
        sentence(f"choice.title_{choice.chosen}"),
        sentence("system.cases", n=choice.cases),
    ),
}
"""The title of each kind of result, and the facts that follow it."""
