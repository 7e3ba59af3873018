"""The command line and its settings."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import nearest, short


def unknown_in_config(path: str, key: str, known: Sequence[str]) -> InputError:
    return InputError("unknown-in-config", f"{path}: {short(repr(key))} is no option{nearest(key, known)}")
