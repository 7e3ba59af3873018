"""Estimators: validation, scorers for scikit-learn, MLflow."""

from stakes.errors import Given, InputError, MissingPartError, Pass
from stakes.errors.words import nearest, rows_text, short


def missing_scikit_learn() -> MissingPartError:
    return MissingPartError(
        "missing-scikit-learn",
        "estimators are fitted with the help of scikit-learn, which is missing; pip install scikit-learn",
    )


def no_estimator(seen: object) -> InputError:
    what = f"the class {seen.__name__}" if isinstance(seen, type) else f"a {type(seen).__name__}"
    hint = f": write {seen.__name__}()" if isinstance(seen, type) else ""
    return InputError(
        "no-estimator",
        f"estimator is {what}; give an object with fit, and with predict, predict_proba or decision_function{hint}",
    )


def unknown_how(how: object) -> InputError:
    ways = ("hold-out", "hold-out 20%", "2-fold", "5-fold", "10-fold", "leave-one-out")
    return InputError(
        "unknown-how",
        Given("how", how),
        f" is no way to split{nearest(str(how), ways)} (also a share, a number of folds, a splitter of scikit-learn, "
        "or pairs of rows)",
    )


def class_too_small(name: str, count: int, needed: int, kind: str) -> InputError:
    if kind == "hold-out":
        return InputError(
            "class-too-small",
            f"class {name!r} has {rows_text(count)}, too few to have some on both sides; pass ",
            Pass("stratified", False),
            ", or group the classes",
        )
    return InputError(
        "class-too-small",
        f"class {name!r} has {rows_text(count)}, fewer than the {needed:,} folds; give fewer folds, ",
        Pass("stratified", False),
        ", or group the classes",
    )


def cannot_split(words: str, why: str) -> InputError:
    return InputError("cannot-split", f"the rows cannot be split ({short(words, 80)}): {' '.join(why.split())}")


def bad_split(number: int, why: str) -> InputError:
    return InputError("bad-split", f"split {number:,} of ", Pass("how"), f" does not work: {why}")
