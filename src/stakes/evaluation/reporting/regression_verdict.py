"""The verdict on predicted numbers."""

from stakes.evaluation.cautions import FEW_ROWS
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.answers import answer, believed, better_in_words, fails, side_of, verdict
from stakes.views.report.payload import said


def verdict_section(evaluation: RegressionEvaluation) -> Part:
    """Return the questions with their answers, and what a careful colleague would point out."""
    return verdict(evaluation, _better(evaluation), _believe(evaluation), _shifted(evaluation), _where(evaluation))


def _better(evaluation: RegressionEvaluation) -> Part:
    r2, size = evaluation.figures["r2"], evaluation.figures["mean_absolute_error"]
    question = "verdict.better"
    if not r2.defined:
        return answer(question, "open", said("verdict.better_no_figure"), figures=[size])
    tone, words = better_in_words(1 if _perfect(evaluation) else side_of(r2, r2.baseline))
    sentences = [words]
    if evaluation.errors.baseline is not None:
        values = {"error": size.value, "always": size.baseline, "baseline": evaluation.errors.baseline}
        sentences.append(said("verdict.better_mean", **values))
    return answer(question, tone, *sentences, figures=[r2, size])


def _perfect(evaluation: RegressionEvaluation) -> bool:
    """Whether no prediction of many is wrong: then nothing varies, and there is no interval to ask."""
    return evaluation.figures["r2"].value == 1 and evaluation.rows >= FEW_ROWS


def _believe(evaluation: RegressionEvaluation) -> Part:
    found = evaluation.figures["r2"]
    if not found.defined:
        return answer("verdict.believe", "open", said("verdict.believe_unknown"))
    if _perfect(evaluation):
        return answer("verdict.believe", "doubt", said("verdict.believe_perfect"), figures=[found])
    names = ("r2", "mean_absolute_error", "root_mean_squared_error")
    figures = [evaluation.figures[name] for name in names]
    return believed(evaluation, found, "verdict.believe_few_rows", figures=figures)


def _shifted(evaluation: RegressionEvaluation) -> Part:
    """Whether predictions are too high or too low on the whole."""
    question, found = "verdict.shifted", evaluation.figures["mean_error"]
    size = abs(found.value)
    if not _perfect(evaluation) and (found.low is None or found.high is None):
        return answer(question, "open", said("verdict.shifted_unknown", size=size), figures=[found])
    side = 0 if _perfect(evaluation) else side_of(found, 0)
    if not side:
        return answer(question, "good", said("verdict.shifted_no"), figures=[found])
    words = "verdict.shifted_low" if side > 0 else "verdict.shifted_high"
    return answer(question, "doubt", said(words, size=size), figures=[found])


def _where(evaluation: RegressionEvaluation) -> Part:
    told = []
    for worst in evaluation.largest_errors[:1]:
        values = {"size": abs(worst.error), "truth": worst.truth, "prediction": worst.prediction}
        told.append(said("verdict.where_largest", row=worst.row, **values))
    figures = [evaluation.figures[name] for name in ("max_error", "median_absolute_error")]
    return fails(evaluation, evaluation.figures["mean_absolute_error"], told, figures)
