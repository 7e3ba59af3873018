"""Models fitted on some rows, their predictions of others, and the evaluation of these; each split is fitted once."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from stakes import errors, evaluation
from stakes.engines.counting import count_rows
from stakes.errors import Given, InputError, Pass, rows_text, short
from stakes.evaluation import Evaluation, TwoClassEvaluation
from stakes.metrics import Metric
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.question.options import Column, Data
from stakes.question.question import Question
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import canonical
from stakes.validation.features import Estimator, count_of, take
from stakes.validation.splits import Split
from stakes.validation.target import Target

_MANY = 20
"""The fewest tasks for which there is a progress bar."""

T = TypeVar("T")


# ── what a model says ────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Predictions:
    """A model's predictions of some rows: scores (probabilities, or anything that orders rows), decisions, or both."""

    score: Array | None = None
    prediction: Array | None = None
    probabilities: bool = True

    @classmethod
    def joined(cls, parts: Sequence["Predictions"]) -> "Predictions":
        """Concatenate the predictions of several sets of rows."""
        columns = {name: [getattr(part, name) for part in parts] for name in ("score", "prediction")}
        known = {name: np.concatenate(column) for name, column in columns.items() if column[0] is not None}
        return cls(**known, probabilities=parts[0].probabilities)

    def take(self, rows: Array) -> "Predictions":
        """Return the predictions of some of the rows."""
        score, prediction = (None if column is None else column[rows] for column in (self.score, self.prediction))
        return Predictions(score, prediction, self.probabilities)


def predict(model: Estimator, X: Data, target: Target) -> Predictions:
    """Ask a fitted model for all predictions that it can make.

    Two classes: the probability of the positive one, else the decision function beside the decisions, else these
    alone. More classes: the probabilities of all beside the decisions. Numbers: the predicted ones.
    """
    if target.plan is not None and hasattr(model, "predict_proba"):
        scores = score_rows(model, "predict_proba", X, target)
        return Predictions(scores, None if target.two_classes else predict_rows(model, X, target))
    decisions = predict_rows(model, X, target)
    if target.two_classes and hasattr(model, "decision_function"):
        return Predictions(score_rows(model, "decision_function", X, target), decisions, probabilities=False)
    return Predictions(prediction=decisions)


def score_rows(model: Estimator, method: str, X: Data, target: Target) -> Array:
    """One number for each row of two classes, growing towards the positive one; or one for each row and class."""
    found, names = ask_model(model, method, X), trained_classes(model, target.boolean)
    if names is None and target.declared is not None:
        names = list(target.declared)
    if method == "decision_function":  # grows towards the model's second class, which need not be the positive one
        return found if names is None or names[-1] == target.positive else -found
    table = _class_probabilities(found, names, type(model).__name__, target)
    return table[:, 1] if target.two_classes else table


def predict_rows(model: Estimator, X: Data, target: Target) -> Array | None:
    """What predict() returns, if there is one; many models return 0 and 1 where they were given booleans."""
    if not hasattr(model, "predict"):
        return None
    found = ask_model(model, "predict", X)
    return found.astype(bool) if target.boolean and np.isin(found, (0, 1)).all() else found


def ask_model(model: Estimator, method: str, X: Data) -> Array:
    """Return the result of one of a model's methods, one entry per row."""
    with _users_code(f"{type(model).__name__}.{method} does not take these rows"):
        found = np.asarray(getattr(model, method)(X))
        if method != "predict" and found.ndim and found.dtype.kind not in "biuf":
            found = found.astype(float)
    if found.ndim == 0 or len(found) != count_of(X):
        seen = f"a {type(found[()]).__name__}" if found.ndim == 0 else rows_text(len(found))
        raise InputError(
            "model-says-otherwise",
            f"{type(model).__name__}.{method} gives {seen} for {rows_text(count_of(X))}; make it return one value or "
            "row for each",
        )
    return found


@contextmanager
def _users_code(trouble: str) -> Iterator[None]:
    """Report any exception in a user's code, also SystemExit, as wrong input."""
    try:
        yield
    except (MemoryError, errors.StakesError):
        raise
    except (Exception, SystemExit) as problem:  # most often gaps or text, which it cannot handle
        seen = short(f"{type(problem).__name__}: {errors.first_line(problem)}", 200)
        raise InputError(
            "cannot-be-fitted", f"{trouble} ({seen}); give it what it takes, perhaps by a pipeline"
        ) from problem


def _class_probabilities(table: Array, names: list[str] | None, model: str, target: Target) -> Array:
    """One column for each class of the plan; a declared class that never occurs has probability 0."""
    if table.ndim == 1 and target.two_classes:
        return np.column_stack([1 - table, table])
    if names is None:
        raise InputError(
            "unknown-class-order",
            f"{model} has predict_proba but no classes_, so its columns have no names; pass ",
            Pass("classes"),
            " in their order",
        )
    if table.ndim != 2 or table.shape[1] != len(names):
        raise errors.which_score_column(table.shape, names)
    missing = [c for c in target.classes if c not in names]
    if target.labels is not None and set(missing) & set(target.labels.names):
        raise errors.class_without_score(missing, [name for name in names if name not in target.classes])
    nothing = np.zeros(len(table))
    return np.column_stack([nothing if c in missing else table[:, names.index(c)] for c in target.classes])


def trained_classes(model: Estimator, boolean: bool) -> list[str] | None:
    """Return the classes in the model's own order; many models have 0 and 1 where they were given booleans."""
    with _users_code(f"{type(model).__name__} cannot name the classes_ of these rows"):
        found = getattr(model, "classes_", None)
    if found is None:
        return None
    names = [canonical(name) for name in np.ravel(np.asarray(found)).tolist()]
    return ["false", "true"] if boolean and names == ["0", "1"] else names


# ── fitting ──────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True, eq=False)
class Fitted:
    """The predictions of one split's model for the held-out rows, and for its own training rows."""

    test: Predictions
    train: Predictions | None


def fit_all(
    estimator: Estimator,
    X: Data,
    target: Target,
    splits: Sequence[Split],
    *,
    training: bool,
    jobs: int = 1,
    doing: str = "fitting",
) -> list[Fitted]:
    """Fit a copy of the estimator on every split; the models themselves are not kept."""
    tasks = [partial(_fit, estimator, X, target, train, test, training) for train, test in splits]
    return list(run(tasks, jobs, doing))


def _fit(estimator: Estimator, X: Data, target: Target, train: Array, test: Array, training: bool) -> Fitted:
    seen = take(X, train)
    model = fit_copy(estimator, seen, target.values[train])
    return Fitted(predict(model, take(X, test), target), predict(model, seen, target) if training else None)


def fit_copy(estimator: Estimator, X: Data, y: Array) -> Estimator:
    """Return a copy of the estimator that is fitted on these rows."""
    from sklearn.base import clone

    with _users_code(f"{type(estimator).__name__} cannot be fitted to these rows"):
        model = clone(estimator, safe=False)  # also of what is none of scikit-learn's
        model.fit(X, y)
    return model


def run(tasks: Sequence[Callable[[], T]], jobs: int, doing: str) -> Iterable[T]:
    """Run the tasks in so many processes, and give their results in order as they come in.

    ``doing`` is the text of the progress bar, which is shown for many tasks on a terminal; nested work has none.
    """
    from joblib import Parallel, delayed

    if isinstance(jobs, bool) or not isinstance(jobs, int) or not (1 <= jobs <= 2**15 or jobs == -1):
        raise InputError(
            "bad-jobs", Given("jobs", jobs), " does not work; give the number of processes, or -1 for all cores"
        )
    results: Iterable[T] = Parallel(n_jobs=jobs, return_as="generator")(delayed(task)() for task in tasks)
    if not doing or len(tasks) < _MANY or not sys.stderr.isatty():
        return results
    from rich.console import Console
    from rich.progress import track

    return track(results, doing, len(tasks), console=Console(stderr=True), transient=True)


# ── judging ──────────────────────────────────────────────────────────────────────────────────────────────────────
def evaluate(target: Target, predicted: Predictions, rows: Array, question: Question, **options: Column) -> Evaluation:
    """Evaluate the predictions of some rows; with a threshold, the scores decide."""
    threshold, sampling, pricing = question["threshold"], question.sampling, question.pricing
    options["baseline"] = question["baseline"]
    if predicted.score is not None and (threshold is not None or pricing is not None):
        predicted = replace(predicted, prediction=None)
    columns: dict[str, Column] = {"score": predicted.score, "prediction": predicted.prediction, "task": target.task}
    if target.plan is not None:
        columns |= {"classes": target.classes, "positive": target.positive}
    here = target.reordered(rows)
    counted = count_rows(truth=here.values, **here.beside, **columns, pricing=pricing, threshold=threshold, **options)
    found = evaluation.judge(counted, threshold, sampling, pricing)
    if found.probabilities and not predicted.probabilities:  # decision functions may happen to lie in [0, 1]
        return TwoClassEvaluation(counted, threshold, probabilities=False, sampling=sampling, pricing=pricing)
    return found


def value_of(metric: Metric, evaluated: Evaluation) -> float:
    """Return a single figure, without working out all the others as ``evaluated[name]`` does."""
    tally = evaluated._tally(metric)
    if tally is None or (NO_PROBABILITIES in metric.undefined and not evaluated.probabilities):
        return float("nan")
    return float(metric.of(tally))


def metric_of(evaluated: Evaluation, name: str) -> Metric:
    """Return the metric that a name stands for in this kind of evaluation."""
    return evaluated._find(evaluated[name].name)
