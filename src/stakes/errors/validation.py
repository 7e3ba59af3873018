"""Estimators: validation, scorers for scikit-learn, MLflow."""

from collections.abc import Sequence
from typing import Any

from stakes.errors import InputError, MissingPartError
from stakes.errors.words import nearest, rows_text, short, some, the_class


def missing_scikit_learn() -> MissingPartError:
    return MissingPartError(
        "estimators are fitted with the help of scikit-learn, which is missing; pip install scikit-learn"
    )


def no_estimator(seen: Any) -> InputError:
    what = f"the class {seen.__name__}" if isinstance(seen, type) else f"a {type(seen).__name__}"
    hint = f": write {seen.__name__}()" if isinstance(seen, type) else ""
    return InputError(
        f"estimator is {what}; give an object with fit, and with predict, predict_proba or decision_function{hint}"
    )


def features_without_rows(seen: str) -> InputError:
    return InputError(f"X is a {seen}, which has no rows; give an array, a list, a data frame or a sparse matrix")


def features_not_a_table(shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"X has the shape {shape}; test=2 shuffles columns: give one row per case, one column per feature"
    )


def length_unlike_x(argument: str, length: int, rows: int) -> InputError:
    return InputError(f"{argument} has {rows_text(length)} but X has {rows:,}; give one value per row of X")


def unknown_class_order(model: str) -> InputError:
    return InputError(
        f"{model} has predict_proba but no classes_, so its columns have no names; pass classes= in their order"
    )


def too_few_rows(rows: int) -> InputError:
    return InputError(
        f"there {'is' if rows == 1 else 'are'} {rows_text(rows)}; at least two are needed to fit and judge"
    )


def bad_jobs(jobs: object) -> InputError:
    return InputError(f"jobs={short(repr(jobs))} does not work; give the number of processes, or -1 for all cores")


def bad_stratified(value: object) -> InputError:
    return InputError(f"stratified={short(repr(value))} does not work; give True, False or 'auto' (for classes alone)")


def strata_of_numbers() -> InputError:
    return InputError("stratified=True is for classes, and y holds numbers; leave it out")


def cannot_stratify(words: str) -> InputError:
    return InputError(f"stratified=True does not go with {words}; leave it out, or give a number of folds")


def one_class_to_fit(only: str) -> InputError:
    return InputError(
        f"y is {only!r} in every row, so there is nothing to tell apart; give rows of two classes or more"
    )


def unknown_how(how: object) -> InputError:
    ways = ("hold-out", "hold-out 20%", "2-fold", "5-fold", "10-fold", "leave-one-out")
    return InputError(
        f"how={short(repr(how))} is no way to split{nearest(str(how), ways)} (also a share, a number of folds, a "
        "splitter of scikit-learn, or pairs of rows)"
    )


def too_few_folds(folds: int) -> InputError:
    return InputError(f"{folds}-fold does not split anything; give 2 folds or more, or a share such as 0.2 to hold out")


def bad_share(how: object, least: float, most: float) -> InputError:
    return InputError(f"how={short(repr(how))}: a share from {least:.0%} to {most:.0%} can be held out (0.2 or '20%')")


def more_folds_than_rows(folds: int, rows: int) -> InputError:
    return InputError(f"there are {folds:,} folds but {rows_text(rows)}; give fewer folds, or how='leave-one-out'")


def more_folds_than_groups(folds: int, groups: int) -> InputError:
    return InputError(
        f"groups stay whole, and there are {folds:,} folds but {groups:,} group{'' if groups == 1 else 's'}; "
        "give fewer folds"
    )


def class_too_small(name: str, count: int, needed: int, kind: str) -> InputError:
    if kind == "hold-out":
        return InputError(
            f"class {name!r} has {rows_text(count)}, too few to have some on both sides; pass stratified=False, "
            "or group the classes"
        )
    return InputError(
        f"class {name!r} has {rows_text(count)}, fewer than the {needed:,} folds; give fewer folds, stratified=False, "
        "or group the classes"
    )


def class_not_fitted(fold: int, folds: int, names: Sequence[str]) -> InputError:
    return InputError(
        f"fold {fold:,} of {folds:,}: {the_class(names)} {some(names)} {'is' if len(names) == 1 else 'are'} not in "
        "its training rows, so its model cannot know it; give fewer folds, or stratified=True"
    )


def cannot_split(words: str, why: str) -> InputError:
    return InputError(f"the rows cannot be split ({short(words, 80)}): {' '.join(why.split())}")


def decided_by_splits(argument: str) -> InputError:
    return InputError(f"{argument}= does not go with splits of your own, which decide it themselves; leave it out")


def nothing_to_repeat() -> InputError:
    return InputError("leave-one-out is the same every time; leave repeats= out")


def no_splits() -> InputError:
    return InputError("how has no splits; give at least one pair (rows to fit on, rows to judge)")


def bad_split(number: int, why: str) -> InputError:
    return InputError(f"split {number:,} of how= does not work: {why}")


def no_such_permutation_test(test: object) -> InputError:
    return InputError(
        f"test={short(repr(test))} is not known; 1 shuffles the labels, 2 shuffles each feature within its class"
    )


def neither_better(metric: str) -> InputError:
    return InputError(f"{metric} is neither better when higher nor when lower, so nothing can be as good or better")


def features_within_numbers() -> InputError:
    return InputError("test=2 shuffles each feature within its class, and y holds numbers; give classes, or test=1")


def features_across_groups() -> InputError:
    return InputError("test=2 would carry features from one group into another; leave groups= out, or give test=1")


def group_of_several_labels(row: int) -> InputError:
    return InputError(
        f"groups: row {row:,} (counting from 0) has another label than the first row of its group; labels can only "
        "change places between groups that have a single label each"
    )


def undefined_figure(name: str, reason: str) -> InputError:
    return InputError(f"{name} is undefined ({reason}), so there is nothing to test; choose another metric or cv")


def no_direction_to_score(metric: str) -> InputError:
    return InputError(
        f"{metric} is neither better when higher nor when lower, so it cannot score; choose another metric"
    )


def costs_without_use(metric: str, priced: Sequence[str]) -> InputError:
    return InputError(f"costs= mean nothing to {metric}; leave them out, or score by {' or '.join(priced)}")


def scorer_of_cost_columns(columns: Sequence[str]) -> InputError:
    return InputError(
        f"these costs differ from row to row (column {some(columns)}), and scikit-learn gives scorers no columns; "
        "give costs that are numbers"
    )


def scorer_of_decisions(metric: str) -> InputError:
    return InputError(
        f"{metric} is a figure of scores, so it cannot judge decisions; a threshold is tuned by one of decisions, such "
        "as f1 or expected_cost"
    )


def model_cannot_say(model: str, metric: str, ways: Sequence[str]) -> InputError:
    return InputError(f"{model} has no {' and no '.join(ways)}, which {metric} needs; use a model that has")


def missing_mlflow() -> MissingPartError:
    return MissingPartError("figures are logged with MLflow, which is missing; pip install 'stakes[mlflow]'")


def bad_prefix(prefix: object) -> InputError:
    return InputError(
        f"prefix={short(repr(prefix))} cannot begin names in MLflow; use at most 100 letters, digits and _ - . / "
        "such as 'test/'"
    )
