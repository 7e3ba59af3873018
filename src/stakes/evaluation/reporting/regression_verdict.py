"""The verdict on predicted numbers."""

from typing import Any

from stakes.evaluation.cautions import FEW_ROWS
from stakes.evaluation.reporting.answers import Answer, answer, believed, better_in_words, side_of_chance, worst_segment
from stakes.evaluation.reporting.cautions import sentences as cautions
from stakes.views.report.payload import said, section


def verdict_section(evaluation: Any) -> dict[str, Any]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    answers = [_better(evaluation), _believe(evaluation), _shifted(evaluation), _where(evaluation)]
    return section("verdict", answers=answers, cautions=cautions(evaluation))


def _better(evaluation: Any) -> Answer:
    r2, size = evaluation.figures["r2"], evaluation.figures["mean_absolute_error"]
    question = "verdict.better"
    if not r2.defined:
        return answer(question, "open", said("verdict.better_no_figure"), figures=[size])
    tone, words = better_in_words("above" if _perfect(evaluation) else side_of_chance(r2))
    sentences = [words]
    if evaluation.errors.baseline is not None:
        values = {"error": size.value, "always": size.baseline, "baseline": evaluation.errors.baseline}
        sentences.append(said("verdict.better_mean", **values))
    return answer(question, tone, *sentences, figures=[r2, size])


def _perfect(evaluation: Any) -> bool:
    """Whether no prediction of many is wrong: then nothing varies, and there is no interval to ask."""
    return bool(evaluation.figures["r2"].value == 1 and evaluation.rows >= FEW_ROWS)


def _believe(evaluation: Any) -> Answer:
    found = evaluation.figures["r2"]
    if not found.defined:
        return answer("verdict.believe", "open", said("verdict.believe_unknown"))
    if _perfect(evaluation):
        return answer("verdict.believe", "doubt", said("verdict.believe_perfect"), figures=[found])
    names = ("r2", "mean_absolute_error", "root_mean_squared_error")
    figures = [evaluation.figures[name] for name in names]
    return believed(evaluation, found, "verdict.believe_few_rows", figures=figures)


def _shifted(evaluation: Any) -> Answer:
    """Whether predictions are too high or too low on the whole."""
    question, found = "verdict.shifted", evaluation.figures["mean_error"]
    values = {"size": abs(found.value)}
    if _perfect(evaluation):
        return answer(question, "good", said("verdict.shifted_no"), figures=[found])
    if found.low is None or found.high is None:
        return answer(question, "open", said("verdict.shifted_unknown", **values), figures=[found])
    if found.low <= 0 <= found.high:
        return answer(question, "good", said("verdict.shifted_no"), figures=[found])
    words = "verdict.shifted_low" if found.low > 0 else "verdict.shifted_high"
    return answer(question, "doubt", said(words, **values), figures=[found])


def _where(evaluation: Any) -> Answer:
    sentences = []
    if evaluation.largest_errors:
        worst = evaluation.largest_errors[0]
        values = {"size": abs(worst.error), "truth": worst.truth, "prediction": worst.prediction}
        sentences.append(said("verdict.where_largest", row=worst.row, **values))
    size = evaluation.figures["mean_absolute_error"]
    apart, more = worst_segment(evaluation, size)
    sentences += more
    if not sentences:
        return answer("verdict.where", "open", said("verdict.where_unknown"))
    figures = [evaluation.figures[name] for name in ("max_error", "median_absolute_error")]
    return answer("verdict.where", "doubt" if apart else "note", *sentences, figures=figures)
