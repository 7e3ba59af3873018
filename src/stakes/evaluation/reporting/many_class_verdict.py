"""The verdict on several classes."""

from stakes.decisions.thresholds.decision import PER
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer, believe, better, fails, known_figures, limits, side_of, verdict
from stakes.evaluation.reporting.calibration import find_calibration
from stakes.metrics import Estimate
from stakes.metrics.usual import VERDICT
from stakes.tallies import Confusion
from stakes.views.report.payload import MOST, named, said

_BELIEVED = ("macro_recall", "macro_precision", "macro_f1", "macro_auc")

Lines = dict[str, tuple[Estimate, Estimate]]
"""Slope and shift of the log odds of each class."""


def verdict_section(evaluation: ManyClassEvaluation, lines: Lines) -> Part:
    """Return the questions with their answers, and what a careful colleague would point out."""
    main = next(iter(known_figures(evaluation, *VERDICT[evaluation.task])), None)  # of decisions, or else of scores
    return verdict(
        evaluation,
        _better(evaluation, main),
        believe(evaluation, main, "verdict.believe_few", figures=known_figures(evaluation, *_BELIEVED)),
        _honest(evaluation, lines),
        _cost(evaluation),
        _where(evaluation, main),
    )


def largest_classes(evaluation: ManyClassEvaluation) -> list[str]:
    """Return as many classes as a page can show; all in their order, or else those with the most rows first."""
    if len(evaluation.classes) <= MOST:
        return list(evaluation.classes)
    return sorted(evaluation.classes, key=lambda name: -float(evaluation.support[name]))[:MOST]


def class_lines(evaluation: ManyClassEvaluation) -> Lines:
    """Return slope and shift of each class whose probabilities can be asked."""
    found = {
        name: find_calibration(evaluation._scores_of(name), evaluation._sampling_of_class(name))
        for name in (largest_classes(evaluation) if evaluation.probabilities else ())
    }
    return {name: (one.slope, one.intercept_at_slope_1) for name, one in found.items() if one is not None}


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────────────
def _better(evaluation: ManyClassEvaluation, found: Estimate | None) -> Part:
    if found is None:
        return answer("verdict.better", "open", said("verdict.better_no_figure"))
    if found.name == "accuracy":
        majority = max(evaluation.support, key=lambda name: float(evaluation.support[name]))
        more = said("verdict.better_accuracy", share=found.value, always=found.baseline, majority=majority)
    else:
        more = said("verdict.better_macro_auc", share=found.value)
    figures = known_figures(evaluation, "accuracy", "balanced_accuracy", "kappa", "macro_auc")
    return better(side_of(found, found.baseline), more, figures=figures)


def _honest(evaluation: ManyClassEvaluation, lines: Lines) -> Part:
    question = "verdict.honest"
    if not lines:
        why = "verdict.honest_no_scores" if evaluation.scores is None else "verdict.honest_no_probabilities"
        return answer(question, "open", said(why))
    slopes = [side_of(slope, 1) for slope, _ in lines.values()]
    shifts = [side_of(shift, 0) for _, shift in lines.values()]
    counts = {
        "verdict.honest_classes_extreme": slopes.count(-1),
        "verdict.honest_classes_timid": slopes.count(1),
        "verdict.honest_classes_high": shifts.count(-1),
        "verdict.honest_classes_low": shifts.count(1),
    }
    off = [said(words, n=count, of=len(lines)) for words, count in counts.items() if count]
    figures = known_figures(evaluation, "normalised_multiclass_log_loss", "macro_ece")
    if not off:
        return answer(question, "good", said("verdict.honest_yes"), figures=figures)
    return answer(question, "doubt", said("verdict.honest_classes"), *off, figures=figures)


def _cost(evaluation: ManyClassEvaluation) -> Part:
    question, found = "verdict.cost", evaluation.figures.get("expected_cost")
    if found is None or not found.defined:
        return answer(question, "open", said("verdict.cost_unknown"))
    spent = said("verdict.cost_spent", cost=PER * found.value)
    always = said("verdict.cost_always", cost=PER * found.baseline)
    ends = limits("verdict.cost_limits", found, PER)
    if not ends:
        return answer(question, "note", spent, always)
    tone = {-1: "good", 0: "doubt", 1: "bad"}[side_of(found, found.baseline)]
    figures = known_figures(evaluation, "expected_cost", "normalised_cost")
    return answer(question, tone, spent, *ends, always, figures=figures)


def _where(evaluation: ManyClassEvaluation, main: Estimate | None) -> Part:
    found = {
        name: evaluation.interval(("recall", name))
        for name in largest_classes(evaluation)
        if Confusion in evaluation._against_rest[name]
    }
    known = {name: one for name, one in found.items() if one.defined}
    told, figures = [], []
    if known:
        worst = min(known, key=lambda name: known[name].value)
        told.append(said("verdict.where_class", name=named(worst), share=known[worst].value))
        figures = [known[worst]]
    for truth, decision, count, share in [] if evaluation._decided is None else evaluation.most_confused(1):
        told.append(said("verdict.where_confused", truth=truth, decision=decision, n=count, share=share))
    return fails(evaluation, main, told, figures)
