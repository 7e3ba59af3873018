"""What a careful colleague would point out about figures."""

from collections.abc import Sequence

from stakes.errors import Pass, Text
from stakes.errors.words import short, some


def own_truth(argument: str) -> str:
    return f"{argument} is the truth itself, perhaps in other numbers, so every figure is perfect; name the model's own"


def constant_score(value: float) -> str:
    return f"score is {value:.6g} in every row, so it orders nothing; name the column with the model's scores"


def constant_prediction(value: float) -> str:
    return f"prediction is {value:.6g} in every row, so it follows nothing; name the model's own"


def upside_down(auc: float, high: float, positive: str, negative: str) -> Text:
    return Text(
        f"the auc is surely below chance ({auc:.4f}, at most {high:.4f}): high scores go with {short(repr(negative))}; "
        "pass ",
        Pass("positive", negative),
        f", or the scores of {short(repr(positive))}",
    )


def classes_upside_down(names: Sequence[str]) -> str:
    return (
        f"the auc against the rest is surely below chance for {some(names)}; give each class the column of "
        "its own scores"
    )


def threshold_at_edge(threshold: float, low: float, high: float) -> str:
    return (
        f"the threshold {threshold:.6g} lies at the edge of the scores ({low:.6g} to {high:.6g}), so everyone gets the "
        "same decision"
    )


def covers_chance(low: float, high: float) -> str:
    return f"the interval of the auc, {low:.4f} to {high:.4f}, covers chance"


def too_good(figure: str, value: float) -> str:
    return (
        f"{figure} {value:.4f} is suspiciously perfect: were these rows used for training, or does a column give the "
        "answer away?"
    )


def like_logits(low: float, high: float) -> str:
    return f"the scores run from {low:.6g} to {high:.6g}: they look like logits or margins, not probabilities"


def scores_in_bins(low: float, high: float) -> str:
    return (
        f"scores were counted in bins: the auc lies between {low:.6f} and {high:.6f}; other figures of the ranking are "
        "those of rows that tie within their bin"
    )


def no_better_than_majority(share: float, always: float) -> str:
    return f"accuracy {share:.4f} is no better than always deciding for the most frequent class ({always:.4f})"


def f1_flips(here: float, there: float, positive: str, negative: str) -> str:
    return (
        f"f1 is {here:.4f} with {positive!r} as the positive class, but {there:.4f} with {negative!r}: say which one "
        "you mean"
    )


def r_above_r2(r: float, r2: float) -> str:
    return f"r² = {r**2:.4f} is far above r2 = {r2:.4f}: the predictions follow the truth, but shifted or scaled"


def few_large_errors(times: float) -> str:
    return f"rmse is {times:.1f} times mae: a few large errors dominate; the largest are listed"


def never_cheapest(name: str) -> str:
    return f"the decision {name!r} is never worth taking at these costs"


def only_costs_deployed() -> str:
    return "only the costs are for the deployment; all other figures are at the frequencies of the rows"
