"""The verdict: five plain questions, each with a plain answer and the figures behind it."""

from collections.abc import Iterator

import numpy as np

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.curves.report_thresholds import ReportThresholds
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.decisions.thresholds.decision import PER, Decision
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer, believe, better, fails, known_figures, limits, side_of, verdict
from stakes.evaluation.reporting.calibration import Studied
from stakes.evaluation.reporting.explorer import Prices, prices_of
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.metrics import Estimate
from stakes.metrics.usual import VERDICT
from stakes.tallies import ScoreTable
from stakes.tallies.arithmetic import Array
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.areas import rank_sum_p_value
from stakes.views.report.payload import figure, said


def verdict_section(
    evaluation: TwoClassEvaluation, stops: ReportThresholds | None, calibration: Studied | None
) -> Part:
    """Return the questions with their answers, and what a careful colleague would point out."""
    main = next(iter(known_figures(evaluation, *VERDICT[evaluation.task])), None)  # of scores, or else of decisions
    return verdict(
        evaluation,
        _better(evaluation, main),
        _believe(evaluation, main),
        _honest(evaluation, calibration),
        _threshold(evaluation, stops),
        _where(evaluation, main),
    )


def _classes(evaluation: TwoClassEvaluation) -> dict[str, str]:
    return {"positive": evaluation.positive, "negative": evaluation.negative}


# ── is it better than ignoring the input? ────────────────────────────────────────────────────────────────────────
def _better(evaluation: TwoClassEvaluation, found: Estimate | None) -> Part:
    if found is None:
        return answer("verdict.better", "open", said("verdict.better_unknown"))
    if found.name == "auc":
        more = [said("verdict.better_auc", share=found.value, **_classes(evaluation))]
    else:
        more = [said("verdict.better_mcc", value=found.value)]
    figures = [found, *(evaluation.figures[name] for name in ("accuracy",) if name in evaluation.figures)]
    more += _against_constant(evaluation)
    return better(side_of(found, found.baseline), *more, figures=figures, worse="verdict.better_no")


def _against_constant(evaluation: TwoClassEvaluation) -> Iterator[Part]:
    """Accuracy beside that of always saying the more frequent class."""
    for found in known_figures(evaluation, "accuracy"):
        majority = evaluation.positive if evaluation.prevalence > 0.5 else evaluation.negative
        yield said("verdict.better_accuracy", share=found.value, always=found.baseline, majority=majority)


# ── should we believe it? ────────────────────────────────────────────────────────────────────────────────────────
def _believe(evaluation: TwoClassEvaluation, found: Estimate | None) -> Part:
    p, more = None if found is None else _p_value(evaluation, found), []
    if p is not None:
        more = [said("verdict.believe_p", p=p) if p >= 1e-4 else said("verdict.believe_tiny_p")]
    return believe(evaluation, found, "verdict.believe_few", *more)


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


# ── are the probabilities honest? ────────────────────────────────────────────────────────────────────────────────
def _honest(evaluation: TwoClassEvaluation, calibration: Studied | None) -> Part:
    if calibration is None:
        why = "verdict.honest_no_scores" if evaluation.scores is None else "verdict.honest_no_probabilities"
        return answer("verdict.honest", "open", said(why))
    found, redrawn = calibration
    words = _dishonest(found)
    off = bool(words) or (redrawn is not None and redrawn.p_value <= 1 - evaluation.sampling.confidence)
    if not words:
        words = [said("verdict.honest_off" if off else "verdict.honest_yes")]
    if redrawn is not None:
        words.append(said("verdict.honest_redrawn", times=redrawn.as_far, n=redrawn.redrawn))
    slope = {**figure(found.slope), "label": said("calibration.slope")}
    return answer("verdict.honest", "doubt" if off else "good", *words, figures=[slope, evaluation.figures["ece"]])


def _dishonest(found: Calibration) -> list[Part]:
    """In which ways the log odds are off beyond doubt."""
    slope, shift = side_of(found.slope, 1), side_of(found.intercept_at_slope_1, 0)
    ways = [said("verdict.honest_extreme" if slope < 0 else "verdict.honest_timid")] if slope else []
    return ways + ([said("verdict.honest_high" if shift < 0 else "verdict.honest_low")] if shift else [])


# ── where should the threshold stand? ────────────────────────────────────────────────────────────────────────────
def _threshold(evaluation: TwoClassEvaluation, stops: ReportThresholds | None) -> Part:
    question, prices = "verdict.threshold", prices_of(evaluation)
    if stops is None or evaluation.scores is None:
        return answer(question, "open", said("verdict.threshold_unknown"))
    if set(prices.decisions) != {evaluation.negative, evaluation.positive}:
        return answer(question, "open", said("verdict.threshold_decisions"))
    if evaluation.pricing is not None and evaluation.pricing.costs.columns:
        cost = evaluation["expected_cost"]
        by_row = limits("verdict.threshold_by_row", cost, PER, cost=PER * cost.value)
        return answer(question, "note", *by_row, said("verdict.threshold_not_by_row"))
    (rest, alarm), (miss, hit) = prices.matrix
    given = said("verdict.threshold_equal")
    if prices.given:
        given = said("verdict.threshold_given", miss=miss - hit, alarm=alarm - rest)
    costs = _per_thousand(stops, prices, evaluation.prevalence)
    best = int(np.argmin(costs))
    called = stops.tp[best] + stops.fp[best]
    if called == 0:
        words = said("verdict.threshold_nobody", decision=evaluation.negative, cost=costs[best])
        return answer(question, "bad", words, given)
    if called == stops.tp[-1] + stops.fp[-1]:
        words = said("verdict.threshold_everyone", decision=evaluation.positive, cost=costs[best])
        return answer(question, "bad", words, given)
    at = {"threshold": stops.thresholds[best], "positive": evaluation.positive, "cost": costs[best]}
    compared = said("verdict.threshold_always", everyone=costs[-1], nobody=costs[0], **_classes(evaluation))
    decision = _decide(evaluation, evaluation.scores, stops)
    tone = "good" if decision.enough_evidence else "doubt"
    now = _now(evaluation.threshold, stops, costs)
    return answer(question, tone, said("verdict.threshold_best", **at), *_on_new_rows(decision), compared, *now, given)


def _decide(evaluation: TwoClassEvaluation, scores: ScoreTable, stops: ReportThresholds) -> Decision:
    """The same question asked with doubts; a table of the stops alone knows the answer, clusters need all rows."""
    sampling = evaluation._sampling(scores)
    table = stops.thinned(scores) if sampling.clusters is None else scores
    pricing = evaluation.pricing or Pricing(Costs(miss=1, false_alarm=1))
    return decide_by_cost(table, pricing, sampling, evaluation.probabilities)


def _on_new_rows(decision: Decision) -> Iterator[Part]:
    """What rows that did not choose the threshold pay, and which thresholds could be meant as well."""
    cost = decision.corrected
    yield from limits("verdict.threshold_new_rows", cost, PER, cost=PER * cost.value)
    ranges = [one for ranges in decision.alike for one in ranges]
    if len(decision.alike) == 1 and ranges:
        yield said("verdict.threshold_alike", low=min(ranges)[0], high=max(high for _, high in ranges))
    if not decision.enough_evidence:
        yield said("verdict.threshold_unsure")


def _per_thousand(stops: ReportThresholds, prices: Prices, prevalence: float) -> Array:
    """What 1,000 cases cost at each stop."""
    (rest, alarm), (miss, found) = prices.matrix
    share = prevalence if prices.deployed is None else prices.deployed
    recall, alarms = stops.tp / stops.tp[-1], stops.fp / stops.fp[-1]
    positives = recall * found + (1 - recall) * miss
    return np.asarray(PER * (share * positives + (1 - share) * (alarms * alarm + (1 - alarms) * rest)))


def _now(threshold: float | None, stops: ReportThresholds, costs: Array) -> list[Part]:
    """What the threshold in use costs."""
    at = np.flatnonzero(stops.thresholds == threshold)
    return [said("verdict.threshold_now", threshold=threshold, cost=costs[at[0]])] if len(at) else []


# ── where does it fail? ──────────────────────────────────────────────────────────────────────────────────────────
def _where(evaluation: TwoClassEvaluation, main: Estimate | None) -> Part:
    shares = known_figures(evaluation, "recall", "specificity")
    if len(shares) < 2:
        return fails(evaluation, main, [], [])
    missed, alarmed = (1 - found.value for found in shares)
    told = said("verdict.where_classes", missed=missed, alarmed=alarmed, **_classes(evaluation))
    return fails(evaluation, main, [told], shares)
