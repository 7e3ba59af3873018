"""Calibration and recalibration."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import first_row, rows_text, short, some


def no_calibration(why: str) -> InputError:
    return InputError(f"calibration needs probabilities: {why}")


def no_such_binning(by: object, known: Sequence[str]) -> InputError:
    return InputError(f"by={short(repr(by))} is no way to cut bins; it is {some(known, last='or')}")


def one_score_column(calibrator: str, shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"score is an array of shape {shape}, and {calibrator} is for two classes: give the column of the positive "
        "one; for more classes there is TemperatureCalibrator"
    )


def truth_of_recalibration(calibrator: str, names: Sequence[str]) -> InputError:
    if len(names) > 2:
        return InputError(
            f"truth has {len(names):,} classes ({some(names)}), and {calibrator} is for two; for more there is "
            "TemperatureCalibrator, with one column of probabilities for each"
        )
    return InputError(f"truth holds {some(names)}; write 1 for the positive class and 0 for the other")


def one_class_to_recalibrate(name: str) -> InputError:
    return InputError(f"truth is {name!r} in every row, so there is nothing to learn; give rows of other classes too")


def equal_scores(calibrator: str, value: float) -> InputError:
    return InputError(
        f"score is the same in every row ({value:.6g}), so {calibrator} has nothing to learn from; give scores that "
        "differ"
    )


def temperature_of_probabilities(value: float) -> InputError:
    return InputError(
        f"score holds {value!r}, which is no probability, and TemperatureCalibrator takes probabilities; use "
        "SigmoidCalibrator or IsotonicCalibrator for other scores"
    )


def not_on_its_scale(count: int, first: int, value: float) -> InputError:
    return InputError(
        f"score lies outside [0, 1] in {rows_text(count)} ({value!r}; {first_row(first)}), and the calibrator was "
        "fitted on probabilities; give scores of that kind, or fit it on these"
    )


def perhaps_probabilities(low: float, high: float) -> str:
    return (
        f"the calibrator was fitted on scores from {low:.6g} to {high:.6g}, and these all lie in [0, 1]; are they "
        "probabilities instead?"
    )


def other_columns(fitted: int, seen: int) -> InputError:
    shapes = ["one probability per row" if k == 0 else f"{k} columns" for k in (fitted, seen)]
    return InputError(f"the calibrator was fitted on {shapes[0]}, and score has {shapes[1]}; give the same classes")


def two_weights() -> InputError:
    return InputError("weight and sample_weight are the same thing; give one of them")


def not_fitted(calibrator: str) -> InputError:
    return InputError(f"this {calibrator} has not been fitted yet; call fit(score, truth) first")


def no_calibrator(seen: str) -> InputError:
    return InputError(f"calibrator is a {seen}; give a recalibrator such as IsotonicCalibrator()")


def too_few_to_cross_fit() -> InputError:
    return InputError("a class has a single row, which cannot be on both sides of a fold; give more rows of it")


def no_saved_calibrator(where: str) -> InputError:
    return InputError(f"{where}: this is no saved calibrator; `stakes calibrate … -o calibrator.json` writes one")


def other_calibrator_version(where: str, version: object, known: int) -> InputError:
    return InputError(
        f"{where}: the calibrator was saved in version {short(repr(version))}, this stakes reads version {known}; "
        "update stakes, or fit it again"
    )


def damaged_calibrator(where: str, why: str) -> InputError:
    return InputError(f"{where}: the calibrator is damaged ({short(why, 80)}); fit and save it again")


def no_such_recalibration(method: object, known: Sequence[str]) -> InputError:
    return InputError(f"method={short(repr(method))} is not known; it is {some(known, last='or')}")


def recalibration_of_two(method: str) -> InputError:
    return InputError(f"method={method!r} is for two classes, and there are more; use method='temperature'")


def no_recalibration_of_scores() -> InputError:
    return InputError("the scores of several classes are no probabilities, and only those can be recalibrated here")


def column_exists(name: str) -> InputError:
    return InputError(f"the file has a column {name!r} already; name the new one with column=")


def one_new_column(name: str) -> InputError:
    return InputError(f"column={name!r} names one new column, and there are several scores; leave it out")


def other_scores(fitted: str, seen: str) -> InputError:
    return InputError(f"the calibrator was fitted on {fitted}, and {seen} was given as score=")


def calibrator_of_another(what: str, fitted: str, seen: str) -> str:
    return f"the calibrator was fitted for the {what} {fitted!r}, and is applied to {seen!r}"
