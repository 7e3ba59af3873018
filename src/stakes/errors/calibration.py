"""Calibration and recalibration."""

from stakes.errors import About, InputError, Pass
from stakes.errors.words import short


def no_calibration(why: str, needed: str = "probabilities", *advice: str | Pass) -> InputError:
    return InputError("no-calibration", f"calibration needs {needed}: {why}", *advice)


def one_class_to_recalibrate(words: str) -> InputError:
    return InputError(
        "one-class-to-recalibrate",
        About("truth"),
        f" is {words} in every row, so there is nothing to learn; give rows of other classes too",
    )


def equal_scores(value: float) -> InputError:
    return InputError(
        "equal-scores",
        About("score"),
        f" is the same in every row ({value:.6g}), so there is nothing to learn from them; give scores that differ",
    )


def not_fitted(calibrator: str) -> InputError:
    return InputError("not-fitted", f"this {calibrator} has not been fitted yet; call fit(score, truth) first")


def no_saved_calibrator(where: str) -> InputError:
    return InputError(
        "no-saved-calibrator",
        f"{where}: this is no saved calibrator; `stakes calibrate … -o calibrator.json` writes one",
    )


def damaged_calibrator(where: str, why: str) -> InputError:
    return InputError(
        "damaged-calibrator", f"{where}: the calibrator is damaged ({short(why, 80)}); fit and save it again"
    )


def other_scores(fitted: str, seen: str) -> InputError:
    return InputError("other-scores", f"the calibrator was fitted on {fitted}, and {seen} was given as ", Pass("score"))
