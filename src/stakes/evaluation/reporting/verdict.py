"""The verdict: five plain questions, each with a plain answer and the figures behind it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from stakes.decisions.curves.stops import Stops
from stakes.decisions.thresholds.by_cost import decide_by_cost
from stakes.decisions.thresholds.decision import Decision
from stakes.evaluation.base import FEW_ROWS
from stakes.evaluation.reporting.cautions import cautions
from stakes.evaluation.reporting.prices import Prices, prices_of
from stakes.evaluation.reporting.segments import largest_segments
from stakes.metrics import Estimate
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.rank_sum import rank_sum_p_value
from stakes.views.report.payload import figure, metric, named, said, section

_Answer = dict[str, Any]


def verdict_section(evaluation: Any, stops: Stops | None, calibration: dict[str, Any] | None) -> dict[str, Any]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    answers = [
        _better(evaluation),
        _believe(evaluation),
        _honest(evaluation, calibration),
        _threshold(evaluation, stops),
        _where(evaluation),
    ]
    return section("verdict", answers=answers, cautions=cautions(evaluation))


def _answer(question: str, tone: str, *sentences: dict[str, Any], figures: Any = ()) -> _Answer:
    """An answer: "good", "doubt", "bad", "note" or "open", in sentences, with the figures behind it."""
    shown = [figure(one) for one in figures]
    return {"question": said(question), "tone": tone, "sentences": list(sentences), "figures": shown}


def main_figure(evaluation: Any) -> Estimate | None:
    """The figure that the verdict rests on: the auc of scores, the mcc of decisions."""
    found = (evaluation.figures.get(name) for name in ("auc", "mcc"))
    return next((one for one in found if one is not None and one.defined), None)


def side_of_chance(found: Estimate) -> str:
    """Whether an interval lies "above" chance, "below" it, or "around" it."""
    if found.low is None or found.high is None:
        return "around"
    return "above" if found.low > found.baseline else "below" if found.high < found.baseline else "around"


# ── is it better than ignoring the input? ────────────────────────────────────────────────────────────────────────
def _better(evaluation: Any) -> _Answer:
    question, found = "verdict.better", main_figure(evaluation)
    if found is None:
        return _answer(question, "open", said("verdict.better_unknown"))
    tone, words = {
        "above": ("good", said("verdict.better_yes")),
        "around": ("doubt", said("verdict.better_unsure")),
        "below": ("bad", said("verdict.better_no")),
    }[side_of_chance(found)]
    names = {"positive": evaluation.positive, "negative": evaluation.negative}
    if found.name == "auc":
        more = said("verdict.better_auc", share=found.value, **names)
    else:
        more = said("verdict.better_mcc", value=found.value)
    figures = [found, *(evaluation.figures[name] for name in ("accuracy",) if name in evaluation.figures)]
    return _answer(question, tone, words, more, *_against_constant(evaluation), figures=figures)


def _against_constant(evaluation: Any) -> list[dict[str, Any]]:
    """Accuracy beside that of always saying the more frequent class."""
    found = evaluation.figures.get("accuracy")
    if found is None or not found.defined:
        return []
    majority = evaluation.positive if evaluation.prevalence > 0.5 else evaluation.negative
    return [said("verdict.better_accuracy", share=found.value, always=found.baseline, majority=majority)]


# ── should we believe it? ────────────────────────────────────────────────────────────────────────────────────────
def _believe(evaluation: Any) -> _Answer:
    question, found = "verdict.believe", main_figure(evaluation)
    if found is None:
        return _answer(question, "open", said("verdict.believe_unknown"))
    few = {name: size for name, size in evaluation._sizes().items() if size < FEW_ROWS}
    around = side_of_chance(found) == "around"
    tone = "doubt" if few or around else "good"
    words = said("verdict.believe_chance") if around else said("verdict.believe_few" if few else "verdict.believe_yes")
    sentences = [words, said("verdict.believe_rows", n=evaluation.rows)]
    if found.low is not None:
        limits = {"low": found.low, "high": found.high, "confidence": found.confidence}
        sentences.append(said("verdict.believe_interval", name=metric(found.name), **limits))
    p = _p_value(evaluation, found)
    if p is not None:
        sentences.append(said("verdict.believe_p", p=p) if p >= 1e-4 else said("verdict.believe_tiny_p"))
    return _answer(question, tone, *sentences, figures=[found])


def _p_value(evaluation: Any, found: Estimate) -> float | None:
    """How often shuffled labels would do as well; rows in clusters are not shuffled one by one."""
    if evaluation.counted.clusters is not None:
        return None
    if found.name == "auc":
        return rank_sum_p_value(evaluation.scores, found.value)
    from stakes.uncertainty.permutation import permute  # only decisions without scores need it

    table = evaluation.confusion
    return None if table.weighted or table.positive is None else permute(table, evaluation._find("mcc")).p_value


# ── are the probabilities honest? ────────────────────────────────────────────────────────────────────────────────
def _honest(evaluation: Any, calibration: dict[str, Any] | None) -> _Answer:
    question = "verdict.honest"
    if calibration is None:
        why = said("verdict.honest_no_scores" if evaluation.scores is None else "verdict.honest_no_probabilities")
        return _answer(question, "open", why)
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
    made = _answer(question, "doubt" if off else "good", *words)
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
def _threshold(evaluation: Any, stops: Stops | None) -> _Answer:
    question, prices = "verdict.threshold", prices_of(evaluation)
    if stops is None:
        return _answer(question, "open", said("verdict.threshold_unknown"))
    if set(prices.decisions) != {evaluation.negative, evaluation.positive}:
        return _answer(question, "open", said("verdict.threshold_decisions"))
    miss, alarm = _mistakes(prices)
    given = said("verdict.threshold_given", miss=miss, alarm=alarm) if prices.given else said("verdict.threshold_equal")
    costs = _per_thousand(stops, prices, evaluation.prevalence)
    best = int(np.argmin(costs))
    names = {"positive": evaluation.positive, "negative": evaluation.negative}
    called = stops.tp[best] + stops.fp[best]
    if called == 0:
        words = said("verdict.threshold_nobody", decision=evaluation.negative, cost=costs[best])
        return _answer(question, "bad", words, given)
    if called == stops.tp[-1] + stops.fp[-1]:
        words = said("verdict.threshold_everyone", decision=evaluation.positive, cost=costs[best])
        return _answer(question, "bad", words, given)
    at = said("verdict.threshold_best", threshold=stops.thresholds[best], positive=names["positive"], cost=costs[best])
    compared = said("verdict.threshold_always", everyone=costs[-1], nobody=costs[0], **names)
    decision = _decided(evaluation, stops)
    tone = "good" if decision.enough_evidence else "doubt"
    return _answer(question, tone, at, *_on_new_rows(decision), compared, *_now(evaluation, stops, costs), given)


def _decided(evaluation: Any, stops: Stops) -> Decision:
    """The same question asked with doubts; a table of the stops alone knows the answer, clusters need all rows."""
    sampling, pricing = evaluation._sampling(evaluation.scores), evaluation.pricing
    table = stops.thinned(evaluation.scores) if sampling.clusters is None else evaluation.scores
    if pricing is None or pricing.costs.columns:
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


def _per_thousand(stops: Stops, prices: Prices, prevalence: float) -> Any:
    """What 1,000 cases cost at each stop."""
    (rest, alarm), (miss, found) = prices.matrix
    share = prevalence if prices.deployed is None else prices.deployed
    recall, alarms = stops.tp / stops.tp[-1], stops.fp / stops.fp[-1]
    positives = recall * found + (1 - recall) * miss
    return 1000 * (share * positives + (1 - share) * (alarms * alarm + (1 - alarms) * rest))


def _now(evaluation: Any, stops: Stops, costs: Any) -> list[dict[str, Any]]:
    """What the threshold in use costs."""
    at = np.flatnonzero(stops.thresholds == evaluation.threshold)
    if not len(at):
        return []
    return [said("verdict.threshold_now", threshold=evaluation.threshold, cost=costs[at[0]])]


# ── where does it fail? ──────────────────────────────────────────────────────────────────────────────────────────
def _where(evaluation: Any) -> _Answer:
    question = "verdict.where"
    recall, specificity = (evaluation.figures.get(name) for name in ("recall", "specificity"))
    sentences, figures = [], []
    if recall is not None and recall.defined and specificity is not None and specificity.defined:
        shares = {"missed": 1 - recall.value, "alarmed": 1 - specificity.value}
        names = {"positive": evaluation.positive, "negative": evaluation.negative}
        sentences.append(said("verdict.where_classes", **shares, **names))
        figures = [recall, specificity]
    apart, sentence = _worst_segment(evaluation)
    sentences += sentence
    if not sentences:
        return _answer(question, "open", said("verdict.where_unknown"))
    return _answer(question, "doubt" if apart else "note", *sentences, figures=figures)


def _worst_segment(evaluation: Any) -> tuple[bool, list[dict[str, Any]]]:
    """The segment in which the main figure is worst, and whether its interval lies below that of all rows."""
    found = main_figure(evaluation)
    if found is None or not evaluation.segments:
        return False, []
    parts = {name: part.interval(found.name) for name, part in largest_segments(evaluation)}
    defined = {name: one for name, one in parts.items() if one.defined}
    if not defined:
        return False, []
    worst = min(defined, key=lambda name: defined[name].value)
    high = defined[worst].high
    apart = high is not None and high < found.value
    values = {"segment": named(worst), "name": metric(found.name), "value": defined[worst].value, "whole": found.value}
    if defined[worst].value >= found.value:  # the classes are easier to tell apart within segments than across them
        return False, [said("verdict.where_better", **values)]
    return apart, [said("verdict.where_apart" if apart else "verdict.where_alike", **values)]
