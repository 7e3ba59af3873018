"""What a careful colleague would point out about figures."""

from stakes.errors import Pass, Text
from stakes.errors.words import short


def upside_down(auc: float, high: float, positive: str, negative: str) -> Text:
    return Text(
        f"the auc is surely below chance ({auc:.4f}, at most {high:.4f}): high scores go with {short(repr(negative))}; "
        "pass ",
        Pass("positive", negative),
        f", or the scores of {short(repr(positive))}",
    )


def too_good(figure: str, value: float) -> str:
    return (
        f"{figure} {value:.4f} is suspiciously perfect: were these rows used for training, or does a column give the "
        "answer away?"
    )


def no_better_than_majority(share: float, always: float) -> str:
    return f"accuracy {share:.4f} is no better than always deciding for the most frequent class ({always:.4f})"


def no_positive(one: str, other: str) -> Text:
    return Text(
        f"neither {short(repr(one))} nor {short(repr(other))} is obviously the positive class, so recall, precision "
        "and f1 are those of each against the other; to have them of one pass ",
        Pass("positive", other),
        " or ",
        Pass("positive", one),
    )


def f1_flips(here: float, there: float, positive: str, negative: str) -> str:
    return (
        f"f1 is {here:.4f} with {positive!r} as the positive class, but {there:.4f} with {negative!r}: say which one "
        "you mean"
    )
