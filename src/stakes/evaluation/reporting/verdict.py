"""The verdict: five plain questions, each with a plain answer and the figures behind it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from stakes.decisions.curves.report_thresholds import ReportThresholds
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.decisions.thresholds.decision import Decision
from stakes.evaluation.reporting.answers import Answer, answer, believed, better_in_words, side_of_chance, worst_segment
from stakes.evaluation.reporting.cautions import sentences as cautions
from stakes.evaluation.reporting.prices import Prices, prices_of
from stakes.metrics import Estimate
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.areas import rank_sum_p_value
from stakes.views.report.payload import said, section


def verdict_section(
    evaluation: Any, stops: ReportThresholds | None, calibration: dict[str, Any] | None
) -> dict[str, Any]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    answers = [
        _better(evaluation),
        _believe(evaluation),
        _honest(evaluation, calibration),
        _threshold(evaluation, stops),
        _where(evaluation),
    ]
    return section("verdict", answers=answers, cautions=cautions(evaluation))


def main_figure(evaluation: Any) -> Estimate | None:
    """The figure that the verdict rests on: the auc of scores, the mcc of decisions."""
    found = (evaluation.figures.get(name) for name in ("auc", "mcc"))
    return next((one for one in found if one is not None and one.defined), None)


# ── is it better than ignoring the input? ────────────────────────────────────────────────────────────────────────
def _better(evaluation: Any) -> Answer:
    question, found = "verdict.better", main_figure(evaluation)
    if found is None:
        return answer(question, "open", said("verdict.better_unknown"))
    tone, words = better_in_words(side_of_chance(found), "verdict.better_no")
    names = {"positive": evaluation.positive, "negative": evaluation.negative}
    if found.name == "auc":
        more = said("verdict.better_auc", share=found.value, **names)
    else:
        more = said("verdict.better_mcc", value=found.value)
    figures = [found, *(evaluation.figures[name] for name in ("accuracy",) if name in evaluation.figures)]
    return answer(question, tone, words, more, *_against_constant(evaluation), figures=figures)


def _against_constant(evaluation: Any) -> list[dict[str, Any]]:
    """Accuracy beside that of always saying the more frequent class."""
    found = evaluation.figures.get("accuracy")
    if found is None or not found.defined:
        return []
    majority = evaluation.positive if evaluation.prevalence > 0.5 else evaluation.negative
    return [said("verdict.better_accuracy", share=found.value, always=found.baseline, majority=majority)]


# ── should we believe it? ────────────────────────────────────────────────────────────────────────────────────────
def _believe(evaluation: Any) -> Answer:
    question, found = "verdict.believe", main_figure(evaluation)
    if found is None:
        return answer(question, "open", said("verdict.believe_unknown"))
    p, more = _p_value(evaluation, found), []
    if p is not None:
        more = [said("verdict.believe_p", p=p) if p >= 1e-4 else said("verdict.believe_tiny_p")]
    return believed(evaluation, found, "verdict.believe_few", *more)


def _p_value(evaluation: Any, found: Estimate) -> float | None:
    """How often shuffled labels would do as well; rows in clusters are not shuffled one by one."""
    if evaluation.counted.clusters is not None:
        return None
    if found.name == "auc":
        return rank_sum_p_value(evaluation.scores, found.value)
    from stakes.uncertainty.permutation import permute  # only decisions without scores need it

    table = evaluation.confusion
    return None if table.weighted or not table.of_pair else permute(table, evaluation._find("mcc")).p_value


# ── are the probabilities honest? ────────────────────────────────────────────────────────────────────────────────
def _honest(evaluation: Any, calibration: dict[str, Any] | None) -> Answer:
    question = "verdict.honest"
    if calibration is None:
        why = said("verdict.honest_no_scores" if evaluation.scores is None else "verdict.honest_no_probabilities")
        return answer(question, "open", why)
    slope, shift = calibration["line"]
    p = calibration["p_value"]
    tail = 1 - evaluation.sampling.confidence
    words = _dishonest(slope, shift)
    off = bool(words) or (p is not None and p <= tail)
    if not words:
        words = [said("verdict.honest_off" if off else "verdict.honest_yes")]
    if p is not None:
        seen = calibration["redrawn"]
        words.append(said("verdict.honest_redrawn", times=seen["as_far"], n=seen["of"]))
    made = answer(question, "doubt" if off else "good", *words)
    return {**made, "figures": [{**slope, "label": said("calibration.slope")}, calibration["ece"]]}


def _dishonest(slope: dict[str, Any], shift: dict[str, Any]) -> list[dict[str, Any]]:
    """In which ways the log odds are off beyond doubt."""
    ways = []
    if slope["low"] is not None and not slope["low"] <= 1 <= slope["high"]:
        ways.append(said("verdict.honest_extreme" if slope["high"] < 1 else "verdict.honest_timid"))
    if shift["low"] is not None and not shift["low"] <= 0 <= shift["high"]:
        ways.append(said("verdict.honest_high" if shift["high"] < 0 else "verdict.honest_low"))
    return ways


# ── where should the threshold stand? ────────────────────────────────────────────────────────────────────────────
def _threshold(evaluation: Any, stops: ReportThresholds | None) -> Answer:
    question, prices = "verdict.threshold", prices_of(evaluation)
    if stops is None:
        return answer(question, "open", said("verdict.threshold_unknown"))
    if set(prices.decisions) != {evaluation.negative, evaluation.positive}:
        return answer(question, "open", said("verdict.threshold_decisions"))
    if evaluation.pricing is not None and evaluation.pricing.costs.columns:
        return answer(question, "note", *_by_row(evaluation["expected_cost"]), said("verdict.threshold_not_by_row"))
    miss, alarm = _mistakes(prices)
    given = said("verdict.threshold_given", miss=miss, alarm=alarm) if prices.given else said("verdict.threshold_equal")
    costs = _per_thousand(stops, prices, evaluation.prevalence)
    best = int(np.argmin(costs))
    names = {"positive": evaluation.positive, "negative": evaluation.negative}
    called = stops.tp[best] + stops.fp[best]
    if called == 0:
        words = said("verdict.threshold_nobody", decision=evaluation.negative, cost=costs[best])
        return answer(question, "bad", words, given)
    if called == stops.tp[-1] + stops.fp[-1]:
        words = said("verdict.threshold_everyone", decision=evaluation.positive, cost=costs[best])
        return answer(question, "bad", words, given)
    at = said("verdict.threshold_best", threshold=stops.thresholds[best], positive=names["positive"], cost=costs[best])
    compared = said("verdict.threshold_always", everyone=costs[-1], nobody=costs[0], **names)
    decision = _decided(evaluation, stops)
    tone = "good" if decision.enough_evidence else "doubt"
    return answer(question, tone, at, *_on_new_rows(decision), compared, *_now(evaluation, stops, costs), given)


def _by_row(cost: Any) -> Iterator[dict[str, Any]]:
    """What it costs to decide each row at its own prices."""
    if cost.low is not None and cost.high is not None:
        limits = {"low": 1000 * cost.low, "high": 1000 * cost.high, "confidence": cost.confidence}
        yield said("verdict.threshold_by_row", cost=1000 * cost.value, **limits)


def _decided(evaluation: Any, stops: ReportThresholds) -> Decision:
    """The same question asked with doubts; a table of the stops alone knows the answer, clusters need all rows."""
    sampling, pricing = evaluation._sampling(evaluation.scores), evaluation.pricing
    table = stops.thinned(evaluation.scores) if sampling.clusters is None else evaluation.scores
    if pricing is None:
        pricing = Pricing(Costs(miss=1, false_alarm=1))
    return decide_by_cost(table, pricing, sampling, evaluation.probabilities)


def _on_new_rows(decision: Decision) -> Iterator[dict[str, Any]]:
    """What rows that did not choose the threshold pay, and which thresholds could be meant as well."""
    cost = decision.corrected
    if cost.low is not None and cost.high is not None:
        limits = {"low": 1000 * cost.low, "high": 1000 * cost.high, "confidence": cost.confidence}
        yield said("verdict.threshold_new_rows", cost=1000 * cost.value, **limits)
    ranges = [one for ranges in decision.alike for one in ranges]
    if len(decision.alike) == 1 and ranges:
        yield said("verdict.threshold_alike", low=min(ranges)[0], high=max(high for _, high in ranges))
    if not decision.enough_evidence:
        yield said("verdict.threshold_unsure")


def _mistakes(prices: Prices) -> tuple[float, float]:
    """What a miss and a false alarm cost more than a right answer."""
    (rest, alarm), (miss, found) = prices.matrix
    return miss - found, alarm - rest


def _per_thousand(stops: ReportThresholds, prices: Prices, prevalence: float) -> Any:
    """What 1,000 cases cost at each stop."""
    (rest, alarm), (miss, found) = prices.matrix
    share = prevalence if prices.deployed is None else prices.deployed
    recall, alarms = stops.tp / stops.tp[-1], stops.fp / stops.fp[-1]
    positives = recall * found + (1 - recall) * miss
    return 1000 * (share * positives + (1 - share) * (alarms * alarm + (1 - alarms) * rest))


def _now(evaluation: Any, stops: ReportThresholds, costs: Any) -> list[dict[str, Any]]:
    """What the threshold in use costs."""
    at = np.flatnonzero(stops.thresholds == evaluation.threshold)
    if not len(at):
        return []
    return [said("verdict.threshold_now", threshold=evaluation.threshold, cost=costs[at[0]])]


# ── where does it fail? ──────────────────────────────────────────────────────────────────────────────────────────
def _where(evaluation: Any) -> Answer:
    question = "verdict.where"
    recall, specificity = (evaluation.figures.get(name) for name in ("recall", "specificity"))
    sentences, figures = [], []
    if recall is not None and recall.defined and specificity is not None and specificity.defined:
        shares = {"missed": 1 - recall.value, "alarmed": 1 - specificity.value}
        names = {"positive": evaluation.positive, "negative": evaluation.negative}
        sentences.append(said("verdict.where_classes", **shares, **names))
        figures = [recall, specificity]
    apart, sentence = worst_segment(evaluation, main_figure(evaluation))
    sentences += sentence
    if not sentences:
        return answer(question, "open", said("verdict.where_unknown"))
    return answer(question, "doubt" if apart else "note", *sentences, figures=figures)
