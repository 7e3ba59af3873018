"""Classifiers that decide by costs, that may abstain, and that recalibrate; they need scikit-learn.

Each wraps a classifier with ``predict_proba``. What has to be learned from probabilities (a recalibration, a threshold)
is learned from those that the classifier gives rows it was not fitted on.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, check_is_fitted

from stakes.decisions.policies import Policies
from stakes.decisions.recalibration.calibrator import Calibrator
from stakes.decisions.recalibration.calibrators import CALIBRATORS, fits
from stakes.decisions.recalibration.folds import cross_fitted
from stakes.decisions.thresholds.decision import Decision
from stakes.errors import Given, InputError
from stakes.evaluation import decide
from stakes.tallies.arithmetic import Array, Values
from stakes.tallies.bayes import cheapest
from stakes.tallies.costs import Costs
from stakes.validation.features import Estimator

Method = Literal["isotonic", "sigmoid", "beta", "temperature", "affine", "vector"]
CostMatrix = Array | Sequence[Sequence[float]] | Mapping[object, Mapping[object, float]]


class ProbabilityClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """What all of these have in common: probabilities, recalibrated on rows that the classifier was not fitted on."""

    estimator: Estimator
    cv: object
    classes_: Array
    estimator_: Estimator
    calibrator_: Calibrator | None
    out_of_fold_: tuple[Array, Array] | None
    """The place of each row's class, and the probabilities that it has from a fit on other rows."""

    def predict_proba(self, X: Values) -> Array:
        """Return a probability for each class, recalibrated if so asked."""
        check_is_fitted(self, "estimator_")
        given = np.asarray(self.estimator_.predict_proba(X), np.float64)
        if self.calibrator_ is None:
            return given
        return _two_columns(self.calibrator_.transform(given[:, 1] if given.shape[1] == 2 else given))

    @property
    def n_features_in_(self) -> int:
        """How many features the classifier was fitted on."""
        check_is_fitted(self, "estimator_")
        found: int = self.estimator_.n_features_in_
        return found

    @property
    def feature_names_in_(self) -> Array:
        """Their names, where they have some."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.feature_names_in_)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return which parameters are for whom: those of ``fit`` that are not ours go to the classifier."""
        router = MetadataRouter(owner=self).add_self_request(self)
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return router.add(estimator=self._model(), method_mapping=mapping)

    def __sklearn_tags__(self) -> object:
        """Tell that this takes what its classifier takes."""
        tags, inner = super().__sklearn_tags__(), get_tags(self._model())
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.input_tags.sparse, inner.input_tags.allow_nan
        many = self._calibration is None or (self._calibration in CALIBRATORS and fits(self._calibration, 3))
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class and many
        return tags

    @property
    def _calibration(self) -> str | None:
        """How probabilities are recalibrated, if they are."""
        raise NotImplementedError

    def _model(self) -> Estimator:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _fit_probabilities(self, X: Values, y: Values, params: Mapping[str, Values]) -> None:
        """Fit the classifier on all rows, and a recalibrator on cross-fitted probabilities."""
        method = self._calibration
        check_classification_targets(y)
        self.classes_, codes = np.unique(np.asarray(y).reshape(-1), return_inverse=True)
        if method is not None:
            method = _method_of(method, len(self.classes_))
        routed = process_routing(self, "fit", **params).estimator.fit if params else {}
        self.estimator_ = clone(self._model()).fit(X, y, **_check_method_params(X, routed))
        if len(self.classes_) < 2:
            raise InputError(
                "one-class-for-a-classifier", f"y has 1 class ({self.classes_[0]!r}); a classifier needs two or more"
            )
        given = self._out_of_fold(X, np.asarray(y).reshape(-1), codes, routed)
        self.calibrator_ = None
        self.out_of_fold_ = None if given is None else (codes, given)
        if method is None or given is None:
            return
        made = CALIBRATORS[method]()
        scores = given[:, 1] if given.shape[1] == 2 else given
        self.out_of_fold_ = codes, _two_columns(cross_fitted(made, scores, codes))
        self.calibrator_ = made.fit(scores, codes)
        self.calibrator_.range_ = (0.0, 1.0)

    def _out_of_fold(self, X: Values, y: Array, codes: Array, routed: Mapping[str, Values]) -> Array | None:
        """Return each row's probabilities from a fit on other rows; None where a class has too few rows for that."""
        rarest = int(np.bincount(codes).min())
        if rarest < 2:
            return None
        splitter = check_cv(self.cv, y, classifier=True)
        if isinstance(splitter, StratifiedKFold) and splitter.get_n_splits() > rarest:
            splitter = StratifiedKFold(rarest)
        found = np.full((len(y), len(self.classes_)), np.nan)
        (rows,) = indexable(X)
        for train, test in splitter.split(rows, y):
            own = _check_method_params(rows, routed, indices=train)
            part = clone(self._model()).fit(_safe_indexing(rows, train), y[train], **own)
            places = np.searchsorted(self.classes_, part.classes_)
            found[test] = 0.0
            found[np.ix_(test, places)] = part.predict_proba(_safe_indexing(rows, test))
        if np.isnan(found).any():
            raise InputError(
                "rows-without-fold", "some rows are in no test fold of ", Given("cv", self.cv), "; give others"
            )
        return found


_ONLY_TWO = "Only binary classification is supported. The type of the target is multiclass. "


def _method_of(method: str, classes: int) -> str:
    """Refuse a method that does not exist for so many classes; of two classes "vector" is the beta map."""
    if method not in CALIBRATORS:
        known = ", ".join(CALIBRATORS)
        raise InputError("no-recalibration", Given("method", method), f" is no way to recalibrate; give one of {known}")
    if method == "vector" and classes <= 2:
        return "beta"
    if classes > 2 and not fits(method, classes):
        words = f": there are {classes} classes; temperature, affine and vector are for any number"
        raise InputError("recalibration-of-two-classes", _ONLY_TWO, Given("method", method), words)
    return method


def _two_columns(probability: Array) -> Array:
    return probability if probability.ndim == 2 else np.stack([1 - probability, probability], 1)


class RecalibratedClassifier(ProbabilityClassifier):
    """A classifier whose probabilities are recalibrated on rows that it was not fitted on.

    ``method`` is "isotonic", "sigmoid" or "beta" for two classes, "temperature", "affine" or "vector" for any number;
    of two classes "vector" is "beta".
    ``cv`` are the folds that give each row a probability from a fit on the others; the classifier itself is fitted on
    all rows. ``calibrator_`` is what was learned; None where a class has a single row, and nothing could be.
    """

    def __init__(self, estimator: Estimator = None, *, method: Method = "affine", cv: object = 5) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    def fit(self, X: Values, y: Values, **params: Values) -> Self:
        """Fit the classifier, and what turns its scores into honest probabilities."""
        self._fit_probabilities(X, y, params)
        return self

    def predict(self, X: Values) -> Array:
        """Return the most probable class of each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    @property
    def _calibration(self) -> str | None:
        return self.method


class CostClassifier(ProbabilityClassifier):
    """A classifier that takes the cheapest decision for each row.

    ``costs[i][j]`` is what decision j costs when class i is the truth: a matrix in the sorted order of the classes, or
    a dictionary class → {decision: cost}. ``decisions`` names the columns, where they are not the classes (more tests,
    ask somebody). Without costs every mistake costs 1. ``method`` is how to decide: by "bayes", taking probabilities
    at their word, or by the "threshold" that costs least on rows out of fold (two classes and two decisions).
    ``calibrate`` recalibrates the probabilities first, see :class:`RecalibratedClassifier`.

    ``decision_`` says what deciding costs on rows that did not choose how, with intervals, and what it saves.

    Costs that differ from row to row are given to ``fit`` and ``predict`` as ``costs``, rows × classes × decisions; ask
    for them with ``set_fit_request(costs=True)`` where metadata are routed.
    """

    method: str
    decisions: Sequence[object] | None
    cost_matrix_: Array
    decisions_: Array
    threshold_: float | None
    _row_costs: Array | None

    def __init__(
        self,
        estimator: Estimator = None,
        costs: CostMatrix | None = None,
        *,
        decisions: Sequence[object] | None = None,
        method: str = "bayes",
        calibrate: Method | None = None,
        cv: object = 5,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.decisions = decisions
        self.method = method
        self.calibrate = calibrate
        self.cv = cv

    def fit(self, X: Values, y: Values, *, costs: Values = None, **params: Values) -> Self:
        """Fit the classifier, and choose how to decide; ``costs`` are those of each row, where they differ."""
        if self.method not in ("bayes", "threshold"):
            raise InputError(
                "how-to-decide", Given("method", self.method), " is not known; give 'bayes' or 'threshold'"
            )
        self._fit_probabilities(X, y, params)
        self.cost_matrix_, self.decisions_ = self._read_costs()
        self._row_costs = None if costs is None else self._check_rows(costs, len(np.asarray(y)))
        self.__dict__.pop("decision_", None)
        self.threshold_ = None
        if self.method == "threshold":
            if self.cost_matrix_.shape != (2, 2):
                shape = " × ".join(map(str, self.cost_matrix_.shape))
                raise InputError(
                    "threshold-of-many-decisions",
                    f"{_ONLY_TWO}A threshold is for 2 × 2 costs, and these are {shape}; take 'bayes'",
                )
            found = self.decision_
            self.threshold_ = found.recommended[0] if isinstance(found, Decision) else None
        return self

    @property
    def _calibration(self) -> str | None:
        return self.calibrate

    def __sklearn_tags__(self) -> object:
        """Tell that a threshold is for two classes."""
        tags: Values = super().__sklearn_tags__()
        tags.classifier_tags.multi_class &= self.method != "threshold"
        return tags

    def predict(self, X: Values, *, costs: Values = None) -> Array:
        """Return the cheapest decision for each row; ``costs`` are those of each row, where they differ."""
        given = self.predict_proba(X)
        if costs is None and self.threshold_ is not None:
            return np.asarray(self.decisions_[(given[:, 1] >= self.threshold_).astype(int)])
        if costs is None:
            risks = given @ self.cost_matrix_
        else:
            risks = np.einsum("nk,nkm->nm", given, self._check_rows(costs, len(given)))
        return np.asarray(self.decisions_[cheapest(risks)])

    @cached_property
    def decision_(self) -> Decision | Policies | None:
        """What deciding costs on rows that did not choose how; None where a class has too few rows."""
        check_is_fitted(self, "estimator_")
        if self.out_of_fold_ is None:
            return None
        codes, given = self.out_of_fold_
        names = [str(code) for code in range(len(self.classes_))]
        several = len(names) > 2
        rows: dict[str, Values] = {"truth": codes.astype(str)}
        rows |= {f"score {name}": given[:, place] for place, name in enumerate(names)}
        score = {name: f"score {name}" for name in names} if several else "score 1"
        positive = None if several else "1"
        costs = self._costs_of_rows(rows, names)
        found = decide(rows, truth="truth", score=score, positive=positive, costs=costs)
        return found  # type: ignore[return-value] # not of several labels

    def _costs_of_rows(self, rows: dict[str, Values], names: Sequence[str]) -> Costs:
        """The costs as stakes has them; those that differ by row become columns."""
        known = dict(zip(self.classes_.tolist(), names, strict=True))
        decisions = [known.get(decision, f"{decision}") for decision in self.decisions_.tolist()]
        if self._row_costs is None:
            return Costs(self.cost_matrix_.tolist(), names, decisions)
        cells: list[list[str]] = []
        for i, name in enumerate(names):
            cells.append([f"cost of {decision} for {name}" for decision in decisions])
            rows |= {cell: self._row_costs[:, i, j] for j, cell in enumerate(cells[-1])}
        return Costs(cells, names, decisions)

    def _read_costs(self) -> tuple[Array, Array]:
        """The costs as an array, and what is decided."""
        classes, given = self.classes_.tolist(), self.costs
        decisions = self.classes_ if self.decisions is None else np.asarray(self.decisions)
        if given is None:
            return 1.0 - np.eye(len(classes)), self.classes_
        if isinstance(given, Mapping):
            if set(given) != set(classes):
                raise InputError("costs-and-classes", f"costs are of {list(given)} and y has {classes}; give the same")
            if self.decisions is None:
                first = list(next(iter(given.values())))
                decisions = self.classes_ if set(first) == set(classes) else np.asarray(first)
            given = [[given[label][decision] for decision in decisions.tolist()] for label in classes]
        matrix = np.asarray(given, np.float64)
        if matrix.shape != (len(classes), len(decisions)) or not np.isfinite(matrix).all():
            text = f"costs have the shape {matrix.shape}, and there are {len(classes)} classes and {len(decisions)}"
            raise InputError("shape-of-costs", f"{text} decisions; give a finite number for each")
        return matrix, decisions

    def _check_rows(self, costs: Values, rows: int) -> Array:
        array = np.asarray(costs, np.float64)
        wanted = (rows, len(self.classes_), len(self.decisions_))
        if array.shape != wanted or not np.isfinite(array).all():
            text = f"costs by row have the shape {array.shape}; give rows × classes × decisions, {wanted}, all finite"
            raise InputError("shape-of-row-costs", text)
        return array


class RejectClassifier(CostClassifier):
    """A classifier that abstains where that is cheaper than what its best guess is expected to cost.

    ``reject_cost`` is what abstaining costs, beside ``costs`` of mistakes (1 each, if nothing else is given); it is
    never guessed. ``reject_label`` is what ``predict`` says then: "reject" where labels are text,
    otherwise -1, or one less than the lowest label where that is negative.
    """

    def __init__(
        self,
        estimator: Estimator = None,
        reject_cost: float | None = None,
        *,
        costs: CostMatrix | None = None,
        reject_label: object = None,
        calibrate: Method | None = None,
        cv: object = 5,
    ) -> None:
        self.estimator = estimator
        self.reject_cost = reject_cost
        self.costs = costs
        self.reject_label = reject_label
        self.calibrate = calibrate
        self.cv = cv

    method = "bayes"  # and the decisions are the classes, and to abstain
    decisions = None

    def _read_costs(self) -> tuple[Array, Array]:
        if not isinstance(self.reject_cost, int | float) or not np.isfinite(self.reject_cost):
            text = " is no number; say what abstaining costs, in the unit of the costs of mistakes"
            raise InputError("what-abstaining-costs", Given("reject_cost", self.reject_cost), text)
        matrix, decisions = super()._read_costs()
        label = self.reject_label
        if label is None:
            label = "reject" if self.classes_.dtype.kind in "OUS" else min(0, int(self.classes_[0])) - 1
        if label in decisions.tolist():
            raise InputError("label-in-use", Given("reject_label", label), " is a class, too; give another")
        grown = np.column_stack([matrix, np.full(len(matrix), float(self.reject_cost))])
        kind = object if decisions.dtype.kind == "O" else np.result_type(decisions, np.asarray(label))
        return grown, np.append(decisions.astype(kind), np.array([label], kind))
