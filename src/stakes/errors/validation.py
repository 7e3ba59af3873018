"""Estimators: validation, scorers for scikit-learn, MLflow."""

from stakes.errors import Given, InputError, MissingPartError, Pass
from stakes.errors.words import nearest, short


def missing_scikit_learn() -> MissingPartError:
    return MissingPartError(
        "missing-scikit-learn",
        "estimators are fitted with the help of scikit-learn, which is missing; pip install scikit-learn",
    )


def unknown_how(how: object) -> InputError:
    ways = ("hold-out", "hold-out 20%", "2-fold", "5-fold", "10-fold", "leave-one-out")
    return InputError(
        "unknown-how",
        Given("how", how),
        f" is no way to split{nearest(str(how), ways)} (also a share, a number of folds, a splitter of scikit-learn, "
        "or pairs of rows)",
    )


def cannot_split(words: str, why: str) -> InputError:
    return InputError("cannot-split", f"the rows cannot be split ({short(words, 80)}): {' '.join(why.split())}")


def bad_split(number: int, why: str) -> InputError:
    return InputError("bad-split", f"split {number:,} of ", Pass("how"), f" does not work: {why}")
