"""The verdict on two classes: five plain questions, each with a plain answer and the figures behind it."""

import math
from collections.abc import Iterator

from stakes.decisions.thresholds.decision import PER, Decision
from stakes.decisions.thresholds.digits import round_threshold
from stakes.errors import InputError
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.findings.verdicts.answers import (
    believe,
    better,
    cannot_be_better,
    fails,
    known_figures,
    limits,
    of_evaluation,
    share_right,
    side_of,
    supporting_accuracy,
)
from stakes.findings.verdicts.honesty import honesty, no_probabilities
from stakes.language.sentences import Finding, Sentence, Tone, answer, money, sentence
from stakes.metrics import Estimate
from stakes.metrics.usual import VERDICT
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.permutation import rank_sum_p_value


def verdict_of(evaluation: TwoClassEvaluation) -> tuple[Finding, ...]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    main = next(iter(known_figures(evaluation, *VERDICT[evaluation.task])), None)  # of scores, or else of decisions
    return of_evaluation(
        evaluation,
        _better(evaluation, main),
        _believe(evaluation, main),
        _honest(evaluation),
        _threshold(evaluation),
        _where(evaluation, main),
    )


def _one_class(evaluation: TwoClassEvaluation) -> bool:
    """Whether only one of the two classes occurs, so that most questions have no answer."""
    return not 0 < evaluation.prevalence < 1


def _both_needed(question: str) -> Finding:
    return answer(question, "open", sentence("verdict.both_needed"))


def _classes(evaluation: TwoClassEvaluation) -> dict[str, str]:
    return {"positive": evaluation.positive, "negative": evaluation.negative}


# ── is it better than ignoring the input? ────────────────────────────────────────────────────────────────────────
def _better(evaluation: TwoClassEvaluation, found: Estimate | None) -> Finding:
    if found is None:
        return cannot_be_better(evaluation, 1 if _one_class(evaluation) else 2, "verdict.better_unknown")
    if found.name == "auc":
        more = [sentence("verdict.better_auc", share=found.value, **_classes(evaluation))]
    else:
        more = [sentence("verdict.better_mcc", value=found.value)]
    side = side_of(found, found.baseline)
    majority = evaluation.positive if evaluation.prevalence > 0.5 else evaluation.negative
    accuracy, sentences = supporting_accuracy(evaluation, side, majority)
    return better(side, *more, *sentences, figures=[found, *accuracy], worse="verdict.better_no")


# ── should we believe it? ────────────────────────────────────────────────────────────────────────────────────────
def _believe(evaluation: TwoClassEvaluation, found: Estimate | None) -> Finding:
    if found is None and _one_class(evaluation):
        return _both_needed("verdict.believe")
    if found is None:
        return believe(evaluation, next(iter(share_right(evaluation)), None))
    p, more = _p_value(evaluation, found), []
    if p is not None:
        more = [_chance_of(p, two_sided=found.name == "auc")]
    return believe(evaluation, found, *more)


def _chance_of(p: float, two_sided: bool) -> Sentence:
    """For ranks the test is two-sided, for decisions one-sided."""
    if two_sided:
        return sentence("verdict.believe_p", p=p) if p >= 1e-4 else sentence("verdict.believe_tiny_p")
    return sentence("verdict.believe_p_as_good", p=p) if p >= 1e-4 else sentence("verdict.believe_tiny_p_as_good")


def _p_value(evaluation: TwoClassEvaluation, found: Estimate) -> float | None:
    """How often shuffled labels would do as well; rows in clusters are not shuffled one by one."""
    if evaluation.counted.clusters is not None:
        return None
    if evaluation.scores is not None and found.name == "auc":
        return rank_sum_p_value(evaluation.scores, found.value)
    from stakes.uncertainty.permutation import permute  # only decisions without scores need it

    table = evaluation.confusion
    if table is None or table.weighted or not table.of_pair:
        return None
    return permute(table, evaluation._find("mcc")).p_value


def _honest(evaluation: TwoClassEvaluation) -> Finding:
    found = evaluation._studied_calibration
    if found is None:
        return no_probabilities(evaluation)
    # calibration is about the rows, wherever the model is used
    return honesty(found, known_figures(evaluation, "ece") if evaluation.population is None else [found.ece])


# ── where should the threshold stand? ────────────────────────────────────────────────────────────────────────────
def _threshold(evaluation: TwoClassEvaluation) -> Finding:
    question, pricing = "verdict.threshold", evaluation.pricing
    if evaluation.scores is None:
        return answer(question, "open", sentence("verdict.threshold_unknown"))
    if _one_class(evaluation):
        return _both_needed(question)
    if pricing is None:
        return answer(question, "open", sentence("verdict.threshold_no_costs"), *_in_use(evaluation))
    if pricing.costs.columns:
        return answer(question, "note", *_by_row(evaluation, pricing.costs.unit))
    pair = (evaluation.negative, evaluation.positive)
    if set(pricing.decisions(pair)) != {*pair}:
        return answer(question, "open", sentence("verdict.threshold_decisions"))
    try:
        decision = evaluation._decision
    except InputError as problem:
        if problem.code != "one-decision-is-best":
            raise
        return answer(question, "bad", sentence("verdict.threshold_one_decision"))
    if decision is None:
        return answer(question, "open", sentence("verdict.threshold_unknown"))
    return _at_costs(evaluation, decision, pricing)


def _by_row(evaluation: TwoClassEvaluation, unit: str) -> list[Sentence]:
    """What deciding costs where costs differ by row: by the threshold that was given, or each row by its own costs."""
    cost, fixed = evaluation["expected_cost"], {}
    key = "verdict.threshold_by_row"
    if evaluation.threshold is not None:
        key, fixed = "verdict.threshold_fixed_by_row", {"threshold": evaluation.threshold}
    sentences = limits(key, cost, PER, unit, cost=money(PER * cost.value, unit), **fixed)
    return sentences or [sentence("verdict.threshold_costs_by_row")]


def _in_use(evaluation: TwoClassEvaluation) -> Iterator[Sentence]:
    """What the threshold in use finds, and whom it alarms."""
    found = known_figures(evaluation, "recall", "false_positive_rate")
    if evaluation.threshold is not None and len(found) == 2:
        shares = {"found": found[0].value, "alarmed": found[1].value}
        threshold = round_threshold(evaluation.scores, evaluation.threshold)
        yield sentence("verdict.threshold_in_use", threshold=threshold, **shares, **_classes(evaluation))


def _at_costs(evaluation: TwoClassEvaluation, decision: Decision, pricing: Pricing) -> Finding:
    """What to do at the costs that were given, and how sure that is."""
    pair, unit = (evaluation.negative, evaluation.positive), pricing.costs.unit
    costs = pricing.prices(pair, decision.decisions, evaluation.positive)
    (rest, alarm), (miss, hit) = ((float(one) for one in row) for row in costs)
    given = sentence("verdict.threshold_given", miss=money(miss - hit, unit), alarm=money(alarm - rest, unit))
    constants = {
        name: money(PER * one.value, unit) for name, one in decision.alternatives.items() if name.startswith("always ")
    }
    everyone, nobody = (constants.get(f"always {name}", math.nan) for name in _classes(evaluation).values())
    compared = sentence("verdict.threshold_always", everyone=everyone, nobody=nobody, **_classes(evaluation))
    start = decision.recommended[0]
    if decision.for_everyone:
        key = "verdict.threshold_worse" if decision.worse else "verdict.threshold_no_better"
        name = decision.constant.removeprefix("always ")
        lead = sentence(key, decision=name, cost=constants[decision.constant])
        hopeless = decision.worse or math.isinf(decision.by_score[0])
        return answer("verdict.threshold", "bad" if hopeless else "doubt", lead, compared, given)
    key = "verdict.threshold_bayes" if decision.bayes_is_alike else "verdict.threshold_best"
    if decision.kept == start:
        key = "verdict.threshold_keep"
    values = {"threshold": decision.shown(start), "cost": money(PER * decision.cost.value, unit)}
    lead = sentence(key, positive=evaluation.positive, **values)
    more = [*limits("verdict.threshold_limits", decision.cost, PER, unit), *_reservations(decision), compared, given]
    tone: Tone = "good" if decision.enough_evidence else "doubt"
    return answer("verdict.threshold", tone, lead, *more)


def _reservations(decision: Decision) -> Iterator[Sentence]:
    """Which thresholds are as good as the best, and whether any of them is worth it."""
    ranges = [one for ranges in decision.alike for one in ranges]
    if len(decision.alike) == 1 and ranges and min(ranges)[0] < max(high for _, high in ranges):
        low, high = (decision.shown(end) for end in (min(ranges)[0], max(high for _, high in ranges)))
        yield sentence("verdict.threshold_alike", low=low, high=high)
    if not decision.enough_evidence:
        yield sentence("verdict.threshold_unsure")


# ── where does it fail? ──────────────────────────────────────────────────────────────────────────────────────────
def _where(evaluation: TwoClassEvaluation, main: Estimate | None) -> Finding:
    shares = known_figures(evaluation, "recall", "specificity")
    if len(shares) < 2 and evaluation.confusion is not None and _one_class(evaluation):
        return _both_needed("verdict.where")
    if len(shares) < 2:
        return fails(evaluation, main, [], [])
    missed, alarmed = (1 - found.value for found in shares)
    lead = sentence("verdict.where_classes", missed=missed, alarmed=alarmed, **_classes(evaluation))
    return fails(evaluation, main, [lead], shares)
