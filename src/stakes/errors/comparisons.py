"""Models that are compared."""

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


def models_of_different_lengths(name: str, length: int, truth_length: int) -> InputError:
    return InputError(
        "models-of-different-lengths",
        f"model {name!r} has {rows_text(length)} but truth has {truth_length:,}; models are compared on the same "
        "rows: give every model all of them, or with ",
        Pass("paired", False),
        " each its own truth",
    )


def no_such_pair(one: str, other: str, models: Sequence[str]) -> InputError:
    pair = f"{short(repr(one))} and {short(repr(other))}"
    return InputError("no-such-pair", f"there is no pair of {pair} by that metric; the models are {some(models)}")


def not_unpaired(argument: str) -> InputError:
    return InputError(
        "not-unpaired", Given(argument), " is for models on the same rows; leave it out with ", Pass("paired", False)
    )


def id_of_one_table() -> InputError:
    return InputError("id-of-one-table", Given("id"), " joins several tables; give a list of them, or leave it out")
