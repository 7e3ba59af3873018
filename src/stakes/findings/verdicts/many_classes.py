"""The verdict on several classes."""

from stakes.decisions.thresholds.decision import PER
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.findings.verdicts.answers import (
    MOST,
    believe,
    better,
    cannot_be_better,
    fails,
    known_figures,
    limits,
    of_evaluation,
    side_of,
    supporting_accuracy,
)
from stakes.findings.verdicts.honesty import honesty_of_classes, no_probabilities
from stakes.language.sentences import Finding, Sentence, Tone, answer, money, sentence
from stakes.metrics import Estimate
from stakes.metrics.usual import VERDICT
from stakes.tallies import Confusion

_BELIEVED = ("macro_recall", "macro_precision", "macro_f1", "macro_auc")


def verdict_of(evaluation: ManyClassEvaluation) -> tuple[Finding, ...]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    main = next(iter(known_figures(evaluation, *VERDICT[evaluation.task])), None)  # of decisions, or else of scores
    return of_evaluation(
        evaluation,
        _better(evaluation, main),
        believe(evaluation, main, figures=known_figures(evaluation, VERDICT[evaluation.task][0], *_BELIEVED)),
        _honest(evaluation),
        _cost(evaluation),
        _where(evaluation, main),
    )


def largest_classes(evaluation: ManyClassEvaluation) -> list[str]:
    """Return as many classes as a page can show."""
    return evaluation._largest(MOST)


def _honest(evaluation: ManyClassEvaluation) -> Finding:
    found = evaluation._studied_calibration
    if found is None:
        return no_probabilities(evaluation)
    return honesty_of_classes(found, known_figures(evaluation, "normalised_multiclass_log_loss", "macro_ece"))


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────────────
def _better(evaluation: ManyClassEvaluation, found: Estimate | None) -> Finding:
    if found is None:
        occurring = [size for size in evaluation.support.values() if size]
        return cannot_be_better(evaluation, len(occurring), "verdict.better_no_figure")
    side = side_of(found, found.baseline)
    more = [sentence("verdict.better_mcc", value=found.value)]
    if found.name != VERDICT[evaluation.task][0]:
        more = [sentence("verdict.better_macro_auc", share=found.value)]
    majority = max(evaluation.support, key=lambda name: float(evaluation.support[name]))
    accuracy, sentences = supporting_accuracy(evaluation, side, majority)
    others = known_figures(evaluation, "balanced_accuracy", "kappa", "macro_auc")
    figures = [found, *accuracy, *(one for one in others if one.name != found.name)]
    return better(side, *more, *sentences, figures=figures)


def _cost(evaluation: ManyClassEvaluation) -> Finding:
    question, found = "verdict.cost", evaluation.figures.get("expected_cost")
    if found is None or not found.defined:
        return answer(question, "open", sentence("verdict.cost_unknown"))
    unit = "" if evaluation.pricing is None else evaluation.pricing.costs.unit
    spent = sentence("verdict.cost_spent", cost=money(PER * found.value, unit))
    always = sentence("verdict.cost_always", cost=money(PER * found.baseline, unit))
    ends = limits("verdict.cost_limits", found, PER, unit)
    if not ends:
        return answer(question, "note", spent, always)
    tones: dict[int, Tone] = {-1: "good", 0: "doubt", 1: "bad"}
    tone = tones[side_of(found, found.baseline)]
    figures = known_figures(evaluation, "expected_cost", "normalised_cost")
    return answer(question, tone, spent, *ends, always, figures=figures)


def _where(evaluation: ManyClassEvaluation, main: Estimate | None) -> Finding:
    found = {
        name: evaluation.interval(("recall", name))
        for name in largest_classes(evaluation)
        if Confusion in evaluation._against_rest[name]
    }
    known = {name: one for name, one in found.items() if one.defined}
    sentences: list[Sentence] = []
    figures: list[Estimate] = []
    if known:
        worst = min(known, key=lambda name: known[name].value)
        sentences.append(sentence("verdict.where_class", name=worst, share=known[worst].value))
        figures = [known[worst]]
    for truth, decision, count, share in [] if evaluation._decided is None else evaluation.most_confused(1):
        sentences.append(sentence("verdict.where_confused", truth=truth, decision=decision, n=count, share=share))
    return fails(evaluation, main, sentences, figures)
