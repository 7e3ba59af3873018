"""What is to be predicted: classes or numbers, as the estimator gets them and as stakes names them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from stakes import errors
from stakes.engines.alike import Spelling
from stakes.engines.columns import Column as ReadColumn
from stakes.engines.columns import as_finite, as_weights, length_of, to_column
from stakes.engines.conditions.syntax import parse
from stakes.engines.files.text_format import in_format
from stakes.engines.kinds import has_columns
from stakes.engines.labels import Labels, encode, settle
from stakes.engines.missing import keep, present_rows
from stakes.engines.plan import Plan
from stakes.engines.pricing import cost_column
from stakes.engines.tables import refuse_different_indexes
from stakes.engines.tasks import settle_task
from stakes.errors import About, Given, InputError, rows_text, some
from stakes.question.options import Column, Data, Value
from stakes.question.question import Question
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_one_of
from stakes.tallies.names import canonical
from stakes.tallies.term_sums import is_sparse
from stakes.validation.features import Estimator, check_estimator, count_of, indexable, require_scikit_learn, take


@dataclass(frozen=True, eq=False)
class Target:
    """One value per row; for classes also their plan, their labels, and the order in which a user declared them.

    ``weight`` and ``prices`` (columns that costs name) say how much a row counts and what it costs.
    """

    values: Array
    plan: Plan | None = None
    labels: Labels | None = None
    declared: tuple[str, ...] | None = None
    weight: Array | None = None
    prices: Mapping[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that there may be; none of numbers."""
        return () if self.plan is None else self.plan.classes

    @property
    def task(self) -> str:
        """Whether these are classes or numbers."""
        return "regression" if self.plan is None else "classification"

    @property
    def positive(self) -> str | None:
        """The positive class of two."""
        return None if self.plan is None else self.plan.positive

    @property
    def two_classes(self) -> bool:
        """Whether there is a positive class, which a score can be about."""
        return self.positive is not None

    @property
    def boolean(self) -> bool:
        """Whether the classes are true and false."""
        return bool(self.values.dtype.kind == "b")

    def reordered(self, order: Array) -> "Target":
        """Return the values of other rows, with their weights and prices."""
        labels = None if self.labels is None else replace(self.labels, codes=self.labels.codes[order])
        weight = None if self.weight is None else self.weight[order]
        prices = {name: column[order] for name, column in self.prices.items()}
        return replace(self, values=self.values[order], labels=labels, weight=weight, prices=prices)

    @property
    def beside(self) -> dict[str, Column]:
        """What counting needs of the rows beside their truth."""
        return {"data": self.prices or None, "weight": self.weight}


def read_rows(
    estimator: Estimator, X: Data, y: Column, question: Question, prices: Mapping[str, Column] | None = None
) -> tuple[Data, Target, dict[str, Column], int]:
    """Return the features and targets of the rows that count, the segments and groups, and how many were dropped.

    ``prices`` are the columns that costs name, where they do not stand among the features.
    """
    require_scikit_learn()
    check_estimator(estimator)
    X = indexable(in_format(X, question.text_format))
    if isinstance(y, str) and y in getattr(X, "columns", ()):
        raise InputError(
            "y-among-features", f"y names a column of X; give the column itself, X[{y!r}], and X without it"
        )
    X, y, beside, dropped = _keep_rows(X, y, question, _prices(X, question) if prices is None else prices)
    target = read_target(y, X, estimator, *(question[name] for name in ("task", "positive", "classes", "alike")))
    if question.pricing is not None and target.plan is None:
        raise errors.costs_of_numbers()
    if question["threshold"] is not None and not target.two_classes:
        raise errors.threshold_of_many()
    weight = beside.pop("weight")
    columns = {name: as_finite(column_of("costs", beside.pop(cost_column(name)), X)) for name in question.cost_columns}
    weights = None if weight is None else as_weights(column_of("weight", weight, X))
    return X, replace(target, weight=weights, prices=columns), beside, dropped


def _prices(X: Data, question: Question) -> Mapping[str, Column]:
    """The columns of a table of features that costs name."""
    names = question.cost_columns
    if names and not hasattr(X, "columns"):
        raise InputError(
            "cost-columns-without-names",
            f"the costs name the column {some(names)}, and the columns of X have no names ({type(X).__name__}); give X "
            "as a data frame in which it stands",
        )
    for name in names:
        if name not in X.columns:
            raise errors.no_such_column("costs", name, [str(column) for column in X.columns])
    return {name: X[name] for name in names}


def _keep_rows(
    X: Data, y: Column, question: Question, prices: Mapping[str, Column]
) -> tuple[Data, Column, dict[str, Column], int]:
    """Return the rows to fit and test on: those that meet a condition, and that lack nothing if others are dropped.

    Gaps in features are left to the estimator, which may handle them. The last is how many were dropped.
    """
    beside = {name: question[name] for name in ("weight", "by", "groups")}
    beside |= {cost_column(name): column for name, column in prices.items()}
    rows = np.ones(count_of(X), bool)
    given = {"y": y, **{name: values for name, values in beside.items() if values is not None}}
    if any(length_of(values) != len(rows) for values in given.values()):
        return X, y, beside, 0  # which is refused when they are read
    refuse_different_indexes({"X": X, **given})
    if question["where"] is not None:
        rows = satisfying(question["where"], X)
    if not is_one_of(question["missing"], ("error", "drop")):
        raise errors.unknown_missing(question["missing"])
    asked_for = int(rows.sum())
    if question["missing"] == "drop":
        present = present_rows(given, None)
        rows = rows if present is None else rows & present
    if rows.all():
        return X, y, beside, 0
    kept = {name: None if values is None else keep(values, rows) for name, values in beside.items()}
    return take(X, np.flatnonzero(rows)), keep(y, rows), kept, asked_for - int(rows.sum())


def satisfying(where: Value, X: Data) -> Array:
    """Which rows of a table satisfy a condition."""
    if not hasattr(X, "columns"):
        raise InputError(
            "where-of-features",
            Given("where"),
            f" chooses rows by the columns of a table, and X is a {type(X).__name__}; give a data frame",
        )
    from stakes.engines.conditions.frames import choose_rows  # loads Polars

    condition = parse(where)
    condition.check(list(X.columns))
    rows = choose_rows({name: X[name] for name in condition.columns}, condition, count_of(X))
    if not rows.any():
        raise errors.nothing_satisfies(condition.text)
    return rows


def read_target(
    y: Column, X: Data, estimator: Estimator, task: str, positive: Value, classes: Value, alike: Value = None
) -> Target:
    """Settle the task and the classes before anything is fitted; labels that are made ``alike`` are fitted so.

    The estimator says whether it is for classes or for numbers; where it does not, the values do.
    """
    if count_of(X) < 2:
        be, rows = "is" if count_of(X) else "are", rows_text(count_of(X))
        raise InputError("too-few-rows", f"there {be} {rows}; at least two are needed to fit and judge")
    column = column_of("y", y, X)
    of_classes = positive is not None or classes is not None
    says = _kind_of(estimator) if is_one_of(task, ("auto",)) and not of_classes else None
    both = {"truth": column, "prediction": column}
    if (says or settle_task(task, both, of_classes, of_numbers=False)) == "regression":
        return Target(as_finite(column))
    labels, spelling = encode(column), Spelling.of(alike, classes, positive)
    if spelling.words:
        labels = labels.renamed(spelling)
        column = ReadColumn("y", "text", labels.codes, labels.names)
    scores = hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")  # of the positive class
    plan = settle(labels, None, classes, positive, ask=scores)
    declared = None if classes is None else tuple(canonical(name) for name in classes)
    return Target(as_array(column), plan, labels, declared)


def as_array(column: ReadColumn) -> Array:
    """Return the values as an array that can be indexed by row: numbers, booleans or text."""
    return np.asarray(column.names)[column.values] if column.kind == "text" else column.values


def _kind_of(estimator: Estimator) -> str | None:
    """The task that an estimator declares; objects that are not scikit-learn's need not declare one."""
    from sklearn.base import is_classifier, is_regressor

    if hasattr(estimator, "predict_proba"):
        return "classification"
    if not hasattr(estimator, "__sklearn_tags__"):
        return None
    return "classification" if is_classifier(estimator) else "regression" if is_regressor(estimator) else None


def column_of(argument: str, values: Column, X: Data) -> ReadColumn:
    """Take a column that stands beside the features: the target, groups or weights."""
    if argument == "y" and not is_sparse(values) and has_columns(values):
        raise InputError(
            "several-targets",
            "y has several columns; predict them out of fold (cross_val_predict of scikit-learn) and evaluate that",
        )
    column = to_column(values, argument)
    if len(column) != count_of(X):
        raise InputError(
            "length-unlike-x",
            About(argument),
            f" has {rows_text(len(column))} but X has {count_of(X):,}; give one value per row of X",
        )
    refuse_different_indexes({"X": X, argument: values})
    return column
