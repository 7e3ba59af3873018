"""The command line and its settings."""

from collections.abc import Sequence

from stakes.errors import InputError
from stakes.errors.words import nearest, short, some


def no_table_in_config(path: str, command: str) -> InputError:
    return InputError(f"{path}: there is no table [{command}] or [tool.stakes.{command}]; put the options there")


def unknown_in_config(path: str, key: str, known: Sequence[str]) -> InputError:
    return InputError(f"{path}: {short(repr(key))} is no option{nearest(key, known)}")


def bad_in_config(path: str, key: str, seen: object) -> InputError:
    return InputError(f"{path}: {key} takes one value, and has {short(repr(seen))}; write it as on the command line")


def flag_in_config(path: str, key: str, seen: object) -> InputError:
    return InputError(
        f"{path}: {key} is true or false, and has {short(repr(seen))}; write true, and the name of a file as output"
    )


def lang_without_report() -> InputError:
    return InputError("--lang is the language of the page that --report FILE writes; give both, or none")


def markdown_is_a_flag(file: str) -> InputError:
    return InputError(f"{file} holds no rows, and --markdown takes no file; write Markdown to a file with -o {file}")


def bad_estimator_name(text: str) -> InputError:
    return InputError(f"estimator {short(repr(text))} is no MODULE:OBJECT; write it like sklearn.svm:SVC or model:make")


def estimator_not_there(text: str, why: str) -> InputError:
    return InputError(
        f"estimator {short(repr(text))} cannot be had ({short(why, 120)}); run Python's import to see why"
    )


def no_features(columns: Sequence[str]) -> InputError:
    return InputError(f"there are no features: all columns ({some(columns)}) are named otherwise; add columns")


def target_among_features(target: str) -> InputError:
    return InputError(f"features: {target!r} is what is to be predicted; leave it out")
