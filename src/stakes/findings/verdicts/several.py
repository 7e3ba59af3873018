"""The verdict on several labels, several outputs, or predicted quantiles."""

import math

from stakes.evaluation.several import LabelsEvaluation, OutputsEvaluation, QuantilesEvaluation, SeveralEvaluation
from stakes.findings.verdicts.answers import believe, better, fails, known_figures, of_evaluation, side_of
from stakes.language.sentences import Finding, Sentence, answer, metric, sentence
from stakes.metrics import Estimate
from stakes.metrics.quantiles import coverage_of_intervals
from stakes.metrics.usual import GAINS, WORST


def verdict_of(evaluation: SeveralEvaluation) -> tuple[Finding, ...]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    known = known_figures(evaluation, *GAINS[evaluation.task])
    found = known[0] if known else None
    usual = evaluation.figures[evaluation._usual_figure]
    answers = [_better(found, usual), believe(evaluation, found), _where(evaluation, usual)]
    if isinstance(evaluation, QuantilesEvaluation):
        answers.insert(1, _covers(evaluation))
    return of_evaluation(evaluation, *answers)


def _better(found: Estimate | None, usual: Estimate) -> Finding:
    if found is None or math.isnan(found.baseline):
        return answer("verdict.better", "open", sentence("verdict.better_no_figure"), figures=[usual])
    side = side_of(found, found.baseline)
    return better(side, figures=[found] if found is usual else [found, usual])


def _covers(evaluation: QuantilesEvaluation) -> Finding:
    """Whether intervals hold as many truths as they promise."""
    question, found = "verdict.covers", evaluation.figures[coverage_of_intervals.name]
    if not found.defined or found.low is None:
        return answer(question, "open", sentence("verdict.covers_unknown"), figures=[found])
    values = {"share": found.value, "level": evaluation.level}
    side = side_of(found, evaluation.level)
    if not side:
        return answer(question, "good", sentence("verdict.covers_yes", **values), figures=[found])
    words = "verdict.covers_more" if side > 0 else "verdict.covers_less"
    return answer(question, "doubt" if side > 0 else "bad", sentence(words, **values), figures=[found])


def _where(evaluation: SeveralEvaluation, usual: Estimate) -> Finding:
    sentences: list[Sentence] = []
    shown, useless = usual, False
    if isinstance(evaluation, LabelsEvaluation | OutputsEvaluation):
        by = WORST[evaluation.task]
        each = {name: one[by] for name, one in evaluation.each_figures.items() if by in one and one[by].defined}
        if each:
            worst = min(each, key=lambda name: each[name].value)
            shown = each[worst]
            useless = side_of(shown, shown.baseline) < 0
            key = "verdict.where_each_useless" if useless else "verdict.where_each"
            sentences.append(sentence(key, name=worst, figure=metric(by), value=shown.value))
    if isinstance(evaluation, LabelsEvaluation):
        sentences += [
            sentence("verdict.where_forgotten", one=one.missed, other=one.beside, n=one.rows)
            for one in evaluation.forgotten[:1]
        ]
    return fails(evaluation, usual, sentences, [shown], useless)
