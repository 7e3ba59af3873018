"""Rows of whatever an estimator is fitted on: arrays, lists, data frames, sparse matrices."""

from typing import Any, TypeAlias

import numpy as np

from stakes import errors
from stakes.errors import InputError, Pass
from stakes.question.options import Data
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import refuse_masked

Estimator: TypeAlias = Any
"""What can be fitted, and predicts then: an estimator of scikit-learn, or any object with the same methods."""

_WAYS_TO_SAY = ("predict", "predict_proba", "decision_function")


def require_scikit_learn() -> None:
    """Say what to install; scikit-learn is only needed where estimators are fitted."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise errors.missing_scikit_learn() from None


def check_estimator(estimator: Estimator) -> None:
    """Refuse objects without fit() or predictions; a class instead of an object is a common slip."""
    lacking = not hasattr(estimator, "fit") or not any(hasattr(estimator, way) for way in _WAYS_TO_SAY)
    if isinstance(estimator, type) or lacking:
        name = getattr(estimator, "__name__", "") if isinstance(estimator, type) else ""
        what = f"the class {name}" if name else f"a {type(estimator).__name__}"
        raise InputError(
            "no-estimator",
            f"estimator is {what}; give an object with fit, and with predict, predict_proba or "
            f"decision_function{name and f': write {name}()'}",
        )


def indexable(X: Data) -> Data:
    """Refuse what has no rows; sparse matrices come in the layout whose rows can be taken."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    try:
        take(X, np.arange(count_of(X))[:1])
    except (TypeError, ValueError, LookupError):
        raise InputError(
            "features-without-rows",
            f"X is a {type(X).__name__}, whose rows cannot be chosen; give an array, a list, a data frame or a sparse "
            "matrix",
        ) from None
    refuse_masked("X", X, needed=True)
    return X


def count_of(X: Data) -> int:
    """Return the number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Data, rows: Array) -> Data:
    """Return some of the rows, in the same kind of container."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    return X[rows]


def as_table(X: Data) -> Data:
    """Return a table whose columns can be shuffled; sparse matrices and lists become arrays."""
    X = X.toarray() if hasattr(X, "tocsr") else np.asarray(X) if isinstance(X, list | tuple) else X
    if len(X.shape) != 2:
        raise InputError(
            "features-not-a-table",
            f"X has the shape {tuple(X.shape)}; ",
            Pass("test", 2),
            " shuffles columns: give one row per case, one column per feature",
        )
    return X


def shuffle_within(X: Data, codes: Array, rng: np.random.Generator) -> Data:
    """Shuffle every feature of a table by itself among the rows of the same class; those of frames keep their types."""
    order = np.tile(np.arange(len(codes))[:, None], X.shape[1])
    for code in np.unique(codes):
        rows = codes == code
        order[rows] = rng.permuted(order[rows], axis=0)
    if hasattr(X, "iloc"):
        columns = {name: X.iloc[:, j].array.take(order[:, j]) for j, name in enumerate(X.columns)}
        return type(X)(columns, index=X.index)
    if hasattr(X, "get_columns"):
        return X.select([column[order[:, j]] for j, column in enumerate(X.get_columns())])
    return np.take_along_axis(np.asarray(X), order, axis=0)
