"""The verdict on predicted numbers."""

from stakes.evaluation.regression import RegressionEvaluation
from stakes.findings.verdicts.answers import MATTERS, believe, better, fails, of_evaluation, side_of, within
from stakes.language.sentences import Finding, Sentence, answer, sentence
from stakes.metrics import Estimate
from stakes.metrics.counts import d2_poisson
from stakes.metrics.forecasts import mase
from stakes.metrics.regression import (
    max_error,
    mean_absolute_error,
    mean_error,
    median_absolute_error,
    r2,
    root_mean_squared_error,
)
from stakes.uncertainty.sampling import FEW_ROWS


def verdict_of(evaluation: RegressionEvaluation) -> tuple[Finding, ...]:
    """Return the questions with their answers, and what a careful colleague would point out."""
    answers = (_better(evaluation), _believe(evaluation), _shifted(evaluation), _where(evaluation))
    return of_evaluation(evaluation, *answers)


def _better(evaluation: RegressionEvaluation) -> Finding:
    found, size = _explained(evaluation), evaluation.figures[mean_absolute_error.name]
    naive = evaluation.figures.get(mase.name)
    if naive is not None and naive.defined:  # the mean of a series is a weak baseline
        lead = sentence("verdict.better_naive", share=naive.value)
        return better(-side_of(naive, naive.baseline), lead, figures=[naive, size])
    if not found.defined:
        return answer("verdict.better", "open", sentence("verdict.better_no_figure"), figures=[size])
    more: list[Sentence] = []
    if evaluation.errors.baseline is not None:
        values = {"error": size.value, "always": size.baseline, "baseline": evaluation.errors.baseline}
        more = [sentence("verdict.better_mean", **values)]
    return better(1 if _perfect(evaluation) else side_of(found, found.baseline), *more, figures=[found, size])


def _explained(evaluation: RegressionEvaluation) -> Estimate:
    """How much better it is than the mean: by squared errors, or for counts by their deviance."""
    deviance = evaluation.figures.get(d2_poisson.name) if evaluation.counted.task == "counts" else None
    return deviance if deviance is not None and deviance.defined else evaluation.figures[r2.name]


def _perfect(evaluation: RegressionEvaluation) -> bool:
    """Whether no prediction of many is wrong: then nothing varies, and there is no interval to ask."""
    return evaluation.figures[r2.name].value == 1 and evaluation._size.equal_rows >= FEW_ROWS


def _believe(evaluation: RegressionEvaluation) -> Finding:
    found = _explained(evaluation)
    if _perfect(evaluation):
        return answer("verdict.believe", "doubt", sentence("verdict.believe_perfect"), figures=[found])
    sizes = [evaluation.figures[one.name] for one in (mean_absolute_error, root_mean_squared_error)]
    return believe(evaluation, found if found.defined else None, figures=[found, *sizes])


def _shifted(evaluation: RegressionEvaluation) -> Finding:
    """Whether predictions are too high or too low on the whole."""
    question, found = "verdict.shifted", evaluation.figures[mean_error.name]
    size = abs(found.value)
    if not _perfect(evaluation) and (found.low is None or found.high is None):
        return answer(question, "open", sentence("verdict.shifted_unknown", size=size), figures=[found])
    side = 0 if _perfect(evaluation) else side_of(found, 0)
    usual = float(evaluation.figures[mean_absolute_error.name].value)
    if not side and not _perfect(evaluation) and not within(found, MATTERS[0] * usual):
        most = max(-(found.low or 0.0), found.high or 0.0)
        return answer(question, "doubt", sentence("verdict.shifted_unsure", size=most), figures=[found])
    if not side:
        return answer(question, "good", sentence("verdict.shifted_no"), figures=[found])
    words = "verdict.shifted_low" if side > 0 else "verdict.shifted_high"
    return answer(question, "doubt", sentence(words, size=size), figures=[found])


def _where(evaluation: RegressionEvaluation) -> Finding:
    sentences: list[Sentence] = []
    for worst in evaluation.numbered_errors[:1]:
        values = {"size": abs(worst.error), "truth": worst.truth, "prediction": worst.prediction}
        of_row = {} if worst.row is None else {"row": worst.row}
        sentences.append(sentence(f"verdict.where_largest{'' if of_row else '_anywhere'}", **values, **of_row))
    figures = [evaluation.figures[one.name] for one in (max_error, median_absolute_error)]
    return fails(evaluation, evaluation.figures[mean_absolute_error.name], sentences, figures)
