"""Models that are compared, gates and permutation tests."""

import re
from collections.abc import Sequence

from stakes.errors import Given, InputError, Pass
from stakes.errors.words import rows_text, short, some


def one_model(names: Sequence[str]) -> InputError:
    seen = f"there is only {some(names)}" if names else "there is none"
    return InputError(
        "one-model",
        f"a comparison needs two models or more, and {seen}; name them in ",
        Pass("scores"),
        " or ",
        Pass("predictions"),
    )


def not_unpaired(argument: str) -> InputError:
    return InputError(
        "not-unpaired", Given(argument), " is for models on the same rows; leave it out with ", Pass("paired", False)
    )


def own_baseline() -> InputError:
    return InputError(
        "own-baseline", "the baseline is this model itself, than which nothing is worse; name another column or file"
    )


def bad_requirement(text: object) -> InputError:
    return InputError(
        "bad-requirement",
        f"{short(repr(text))} is no condition; write a figure, one of >= <= > <, and a number: 'auc.low >= 0.8', "
        "'f1[setosa] > 0.9', 'recall.low >= 0.7 in every segment', 'gap(recall).high <= 0.1'",
    )


def bad_no_worse(name: object, margin: object) -> InputError:
    if margin is None:
        likely = re.sub(r"\s*[=<\s]+\s*(?=[\d.]+$)", ":", str(name))
        shown = likely if re.search(r":[\d.]+$", likely) else "auc:0.02"
        words = f"{short(repr(name))} names no margin; write the figure and how much worse it may be: {shown}"
        return InputError("no-margin", words)
    return InputError(
        "bad-no-worse",
        f"no worse by {short(repr(margin))} in {short(repr(name))}: the margin is a number from 0 on; write auc:0.02",
    )


def no_direction(name: str) -> InputError:
    return InputError(
        "no-direction",
        f"{name} is better neither higher nor lower, so nothing can be ranked by it; name another metric",
    )


def nothing_to_compare(name: str, why: str) -> InputError:
    return InputError(
        "nothing-to-compare",
        f"{name} is undefined here ({why}), so shuffles cannot be compared with it; name another metric",
    )


def single_row() -> InputError:
    return InputError("single-row", "there is a single row, which shuffling cannot change; give at least two")


def too_many_rows_to_shuffle(rows: int) -> InputError:
    return InputError(
        "too-many-rows-to-shuffle", f"{rows_text(rows)} are too many to shuffle; a random part of them tells as much"
    )
