"""Curves, plots and reports."""

from collections.abc import Sequence

from stakes.errors import InputError, MissingPartError
from stakes.errors.words import nearest, rows_text, short, some


def no_such_curve_option(kind: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(f"the {kind} curve has no option {name!r}{nearest(name, known) or '; leave it out'}")


def no_threshold_probability(value: object) -> InputError:
    return InputError(
        f"thresholds: {short(repr(value))} is no threshold probability; give numbers from 0 on that are below 1"
    )


def costs_or_threshold() -> InputError:
    return InputError("costs= decide by themselves where the threshold lies; give either costs= or threshold=")


def no_histograms(why: str) -> InputError:
    return InputError(f"there are no histograms of scores for these rows: {why}")


def not_two_models(one: str, other: str, models: Sequence[str]) -> InputError:
    seen = f"{short(repr(one))} and {short(repr(other))}"
    return InputError(f"{seen} are not two of the models; there are {some(models)}")


def missing_matplotlib() -> MissingPartError:
    return MissingPartError("plots are drawn with matplotlib, which is missing; pip install 'stakes[plots]'")


def no_such_plot(kind: object, known: Sequence[str]) -> InputError:
    there = f"there is {some(known, most=10)}" if known else "there is none of these rows"
    return InputError(f"there is no plot {short(repr(kind))} of this; {there}")


def nothing_to_plot(seen: str) -> InputError:
    return InputError(f"a {seen} cannot be drawn; plot an evaluation, curve, decision, comparison, test or system")


def no_such_plot_option(kind: str, name: str, known: Sequence[str]) -> InputError:
    return InputError(f"the plot {kind!r} has no option {name!r}{nearest(name, known) or '; leave it out'}")


def no_axes(seen: str) -> InputError:
    return InputError(f"ax= must be axes of matplotlib (of subplots, one of them: axes[0]), not a {seen}")


def no_null(method: str) -> InputError:
    return InputError(f"nothing was shuffled, so there is nothing to draw: the p-value is exact ({method})")


def nothing_defined(what: str) -> InputError:
    return InputError(f"there is no {what} to draw: it is undefined everywhere; name another metric=")


def regions_of_two_features(features: int) -> InputError:
    return InputError(f"regions are drawn in a plane, so X must have 2 features, not {features:,}; choose two columns")


def regions_need_probabilities(seen: str) -> InputError:
    return InputError(f"costs decide by probabilities, and {seen} has no predict_proba; leave costs= out")


def regions_not_fitted(seen: str) -> InputError:
    return InputError(f"the {seen} is not fitted; call fit(X, y) first")


def rows_of_regions(rows: int, labels: int) -> InputError:
    return InputError(f"y has {rows_text(labels)} and X has {rows:,}; give the class of every row of X")


def not_compared_by(metric: str, known: Sequence[str]) -> InputError:
    return InputError(f"the models were compared by {some(known)}, not by {metric!r}; compare again with metric=")


def no_such_language(lang: object, known: Sequence[str]) -> InputError:
    return InputError(f"lang={short(repr(lang))} is not known; give one of {', '.join(map(repr, known))}")


def no_report_of(task: str) -> InputError:
    return InputError(f"there is no report page for a {task} yet; ev.show() prints all figures")
