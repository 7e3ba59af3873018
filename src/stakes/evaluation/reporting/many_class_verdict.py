"""The verdict on several classes."""

from typing import Any

from stakes.decisions.calibration.calibration import Calibration
from stakes.decisions.calibration.reliability import group_scores
from stakes.evaluation.reporting.answers import Answer, answer, believed, better_in_words, side_of_chance, worst_segment
from stakes.evaluation.reporting.cautions import sentences as cautions
from stakes.evaluation.reporting.segments import largest_classes
from stakes.metrics import Estimate
from stakes.tallies import Confusion, ScoreTable
from stakes.views.report.payload import named, said, section

_MANY, _GROUPS = 200_000, 20_000
"""Beyond so many rows neighbours are put together, which does not move a slope that can be seen."""

Lines = dict[str, tuple[Estimate, Estimate]]
"""Slope and shift of the log odds of each class."""


def verdict_section(evaluation: Any, lines: Lines) -> dict[str, Any]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    answers = [
        _better(evaluation),
        _believe(evaluation),
        _honest(evaluation, lines),
        _cost(evaluation),
        _where(evaluation),
    ]
    return section("verdict", answers=answers, cautions=cautions(evaluation))


def class_lines(evaluation: Any) -> Lines:
    """Return slope and shift of each class whose probabilities can be asked."""
    if not evaluation.probabilities:
        return {}
    tables = {name: evaluation._against_rest[name].get(ScoreTable) for name in largest_classes(evaluation)}
    return {
        name: _line(table, evaluation._sampling_of_class(name))
        for name, table in tables.items()
        if table is not None and table.grid is None and table.P and table.N
    }


def _line(table: ScoreTable, sampling: Any) -> tuple[Estimate, Estimate]:
    found = Calibration(table if table.total <= _MANY else group_scores(table, _GROUPS), sampling)
    return found.slope, found.intercept_at_slope_1


def _main_figure(evaluation: Any) -> Estimate | None:
    """The figure that the verdict rests on: the accuracy of decisions, otherwise the mean auc."""
    found = (evaluation.figures.get(name) for name in ("accuracy", "macro_auc"))
    return next((one for one in found if one is not None and one.defined), None)


def _known(evaluation: Any, *names: str) -> list[Estimate]:
    found = (evaluation.figures.get(name) for name in names)
    return [one for one in found if one is not None and one.defined]


# ── the questions ────────────────────────────────────────────────────────────────────────────────────────────────
def _better(evaluation: Any) -> Answer:
    question, found = "verdict.better", _main_figure(evaluation)
    if found is None:
        return answer(question, "open", said("verdict.better_no_figure"))
    tone, words = better_in_words(side_of_chance(found))
    if found.name == "accuracy":
        majority = max(evaluation.support, key=lambda name: float(evaluation.support[name]))
        more = said("verdict.better_accuracy", share=found.value, always=found.baseline, majority=majority)
    else:
        more = said("verdict.better_macro_auc", share=found.value)
    figures = _known(evaluation, "accuracy", "balanced_accuracy", "kappa", "macro_auc")
    return answer(question, tone, words, more, figures=figures)


def _believe(evaluation: Any) -> Answer:
    found = _main_figure(evaluation)
    if found is None:
        return answer("verdict.believe", "open", said("verdict.believe_unknown"))
    figures = _known(evaluation, "macro_recall", "macro_precision", "macro_f1", "macro_auc") or [found]
    return believed(evaluation, found, "verdict.believe_few", figures=figures)


def _honest(evaluation: Any, lines: Lines) -> Answer:
    question = "verdict.honest"
    if not lines:
        why = "verdict.honest_no_scores" if evaluation.scores is None else "verdict.honest_no_probabilities"
        return answer(question, "open", said(why))
    counts = {
        "verdict.honest_classes_extreme": sum(_beyond(slope, 1) < 0 for slope, _ in lines.values()),
        "verdict.honest_classes_timid": sum(_beyond(slope, 1) > 0 for slope, _ in lines.values()),
        "verdict.honest_classes_high": sum(_beyond(shift, 0) < 0 for _, shift in lines.values()),
        "verdict.honest_classes_low": sum(_beyond(shift, 0) > 0 for _, shift in lines.values()),
    }
    off = [said(words, n=count, of=len(lines)) for words, count in counts.items() if count]
    figures = _known(evaluation, "normalised_multiclass_log_loss", "macro_ece")
    if not off:
        return answer(question, "good", said("verdict.honest_yes"), figures=figures)
    return answer(question, "doubt", said("verdict.honest_classes"), *off, figures=figures)


def _beyond(found: Estimate, honest: float) -> int:
    """On which side of the honest value an interval lies; 0 where it covers it, or is not known."""
    if found.low is None or found.high is None:
        return 0
    return int(found.low > honest) - int(found.high < honest)


def _cost(evaluation: Any) -> Answer:
    question, found = "verdict.cost", evaluation.figures.get("expected_cost")
    if found is None or not found.defined:
        return answer(question, "open", said("verdict.cost_unknown"))
    spent = said("verdict.cost_spent", cost=1000 * found.value)
    always = said("verdict.cost_always", cost=1000 * found.baseline)
    if found.low is None or found.high is None:
        return answer(question, "note", spent, always)
    limits = said("verdict.cost_limits", low=1000 * found.low, high=1000 * found.high, confidence=found.confidence)
    tone = "good" if found.high < found.baseline else "bad" if found.low > found.baseline else "doubt"
    return answer(question, tone, spent, limits, always, figures=_known(evaluation, "expected_cost", "normalised_cost"))


def _where(evaluation: Any) -> Answer:
    found = {
        name: evaluation.interval(("recall", name))
        for name in largest_classes(evaluation)
        if Confusion in evaluation._against_rest[name]
    }
    known = {name: one for name, one in found.items() if one.defined}
    sentences, figures = [], []
    if known:
        worst = min(known, key=lambda name: known[name].value)
        sentences.append(said("verdict.where_class", name=named(worst), share=known[worst].value))
        figures = [known[worst]]
    decided = evaluation.confusion is not None or evaluation.joint is not None
    for truth, decision, count, share in evaluation.most_confused(1) if decided else ():
        values = {"truth": truth, "decision": decision, "n": count, "share": share}
        sentences.append(said("verdict.where_confused", **values))
    apart, more = worst_segment(evaluation, _main_figure(evaluation))
    sentences += more
    if not sentences:
        return answer("verdict.where", "open", said("verdict.where_unknown"))
    return answer("verdict.where", "doubt" if apart else "note", *sentences, figures=figures)
