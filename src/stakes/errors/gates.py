"""Gates and their conditions."""

from stakes.errors import InputError
from stakes.errors.words import short


def bad_requirement(text: object) -> InputError:
    return InputError(
        "bad-requirement",
        f"{short(repr(text))} is no condition; write a figure, one of >= <= > <, and a number: 'auc.low >= 0.8', "
        "'f1[setosa] > 0.9', 'recall.low >= 0.7 in every segment'",
    )


def bad_no_worse(name: object, margin: object) -> InputError:
    return InputError(
        "bad-no-worse",
        f"no worse by {short(repr(margin))} in {short(repr(name))}: the margin is a number from 0 on; write auc:0.02",
    )


def wrong_way(condition: str, name: str, better: str) -> str:
    return (
        f"{short(repr(condition))} points the wrong way: a {better} {name} is better, so it passes a worse model; is "
        f"{'<=' if better == 'lower' else '>='} meant?"
    )
