"""What models said about rows, turned into evaluations."""

from dataclasses import replace

from stakes import evaluation
from stakes.engines.counting import count_rows
from stakes.evaluation import Evaluation, TwoClassEvaluation
from stakes.metrics import Metric
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.question.options import Column
from stakes.tallies.arithmetic import Array
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.sampling import USUAL, Sampling
from stakes.validation.fitting import Predictions
from stakes.validation.target import Target


def columns(target: Target, said: Predictions, rows: Array) -> dict[str, Column]:
    """Return what :func:`stakes.evaluate` and :func:`stakes.count` take, for the rows of which something was said."""
    known = {} if target.plan is None else {"classes": target.classes, "positive": target.positive}
    truth = target.values[rows]
    return {"truth": truth, "score": said.score, "prediction": said.prediction, "task": target.task, **known}


def judge(
    target: Target,
    said: Predictions,
    rows: Array,
    *,
    threshold: float | None = None,
    sampling: Sampling = USUAL,
    pricing: Pricing | None = None,
    **options: Column,
) -> Evaluation:
    """Evaluate what was said about some rows; with a threshold, the scores decide."""
    if threshold is not None or (pricing is not None and said.score is not None):
        said = replace(said, prediction=None if said.score is not None else said.prediction)
    counted = count_rows(**columns(target, said, rows), pricing=pricing, threshold=threshold, **options)
    judged = evaluation.judge(counted, threshold, sampling, pricing)
    if judged.probabilities and not said.probabilities:  # decision functions may happen to lie in [0, 1]
        return TwoClassEvaluation(counted, threshold, probabilities=False, sampling=sampling, pricing=pricing)
    return judged


def value_of(metric: Metric, judged: Evaluation) -> float:
    """Return a single figure, without working out all the others as ``judged[name]`` does."""
    tally = judged._tally(metric)
    if tally is None or (NO_PROBABILITIES in metric.undefined and not judged.probabilities):
        return float("nan")
    return float(metric.of(tally))


def metric_of(judged: Evaluation, name: str) -> Metric:
    """Return the metric that a name stands for in this kind of evaluation."""
    return judged._find(judged[name].name)
