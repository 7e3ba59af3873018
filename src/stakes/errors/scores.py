"""Scores, weights and thresholds."""

from collections.abc import Sequence

from stakes.errors import About, EmptyError, Given, InputError, Pass
from stakes.errors.mentions import in_rows
from stakes.errors.words import first_row, rows_that_hold, short

_LONGEST_WORD, _FEW_WORDS = 12, 3
"""Letters of a word that may stand for a missing value, and how many such words there may be."""


def not_numbers(argument: str, seen: str) -> InputError:
    return InputError("not-numbers", About(argument), f" holds {seen}; give one number per row")


def not_a_number(argument: str, count: int, first: int, value: str, words: Sequence[str] = ()) -> InputError:
    """``words`` are all values beside numbers that are none; few and short ones may mean that a value is missing."""
    import re  # only wanted when something is wrong already

    grouped = re.fullmatch(r"\s*[-+]?\d+([.,' \u00a0\u202f]\d+)+\s*", value)
    hint = "write 0.5 for 0,5 and 1234.5 for 1,234.5" if grouped else "mend the file, or name the right column"
    missing = 0 < len(words) <= _FEW_WORDS and not grouped and all(len(word) < _LONGEST_WORD for word in words)
    both = " and ".join(short(repr(word)) for word in words) if missing else short(repr(value))
    flags = [part for word in words for part in (" and ", Pass("na", word))][1:]
    advice = (", or, if that means a missing value, pass ", *flags) if missing else ()
    return InputError(
        "not-a-number",
        About(argument),
        f" has {rows_that_hold(count)} no number ({both}; ",
        first_row(first),
        f"); {hint}",
        *advice,
    )


def infinite_values(argument: str, count: int, first: int | None) -> InputError:
    return InputError(
        "infinite-values", About(argument), " is infinite ", in_rows(count, first), "; give finite numbers"
    )


def negative_weights(count: int, first: int | None) -> InputError:
    return InputError(
        "negative-weights", About("weight"), " is negative ", in_rows(count, first), "; weights are 0 or more"
    )


def extreme_weights(count: int, first: int | None) -> InputError:
    return InputError(
        "extreme-weights",
        About("weight"),
        " is beyond 1e100 or nearer to 0 than 1e-100 ",
        in_rows(count, first),
        "; rescale the weights",
    )


def zero_weights(rows: int = 0) -> EmptyError:
    problem = EmptyError(
        "zero-weights",
        About("weight"),
        " is 0 in every row, so nothing would be counted; give some rows a weight above 0",
    )
    problem.dropped = rows
    return problem


def logits_without_score() -> InputError:
    return InputError(
        "logits-without-score",
        Given("from_logits", True),
        " says that scores are logits, and there is no score; give ",
        Pass("score"),
        ", or leave this out",
    )


def bad_threshold(threshold: object) -> InputError:
    return InputError(
        "bad-threshold", Given("threshold", threshold), " is not a number; the rule is: positive when score ≥ threshold"
    )


def threshold_without_score() -> InputError:
    return InputError(
        "threshold-without-score",
        About("threshold"),
        " was given without score; decisions in ",
        Pass("prediction"),
        " are taken as they are",
    )


def threshold_and_prediction() -> InputError:
    return InputError(
        "threshold-and-prediction",
        About("threshold"),
        " and prediction were both given; the decisions come from prediction, or from score ≥ threshold: leave one out",
    )


def nothing_to_judge() -> InputError:
    return InputError(
        "nothing-to-judge",
        "give ",
        Pass("score"),
        " (numbers that order the cases), ",
        Pass("prediction"),
        " (the decisions), or both",
    )


def positional_arrays(verb: str = "evaluate") -> InputError:
    other = "" if verb == "calibrate" else f" or {verb}(truth=y, prediction=d)"
    return InputError("positional-arrays", f"write which column is which: {verb}(truth=y, score=p){other}")


def clusters_do_not_add() -> InputError:
    return InputError(
        "clusters-do-not-add",
        "rows that were counted with ",
        Pass("cluster"),
        " are neither added nor saved; count them all at once",
    )


def few_clusters(count: int, wanted: int) -> str:
    seen = "there is only 1 cluster" if count == 1 else f"there are only {count:,} clusters"
    return f"{seen}; with fewer than {wanted} intervals are too short and p-values too small"
