"""An estimator and a table that are named in words: ``model:make`` and a file."""

import importlib
import os
import sys
from collections.abc import Sequence

from stakes import errors
from stakes.engines.files.text_format import FORMAT_OPTIONS, TextFormat, in_format
from stakes.errors import InputError, short, some
from stakes.question.options import Column, Value
from stakes.question.question import Question
from stakes.results import speak
from stakes.validation.features import Estimator, require_scikit_learn
from stakes.validation.result import Validation
from stakes.validation.target import satisfying
from stakes.validation.validate import validate_rows

_BESIDE = ("groups", "weight", "by")
"""Columns that are no features unless they are named as such."""


def validate_file(
    file: str | os.PathLike[str],
    estimator: str,
    *,
    target: str,
    features: Sequence[str] | None = None,
    **options: Value,
) -> Validation:
    """Validate an estimator (``module:object``, or what makes one) on the rows of a file.

    ``target``, ``features`` and the options ``groups``, ``weight`` and ``by`` are names of columns; features are all
    columns that are not named otherwise. Other options are those of :func:`stakes.validate`.
    """
    from stakes.engines.files.kinds import as_numbers
    from stakes.engines.files.reading import read_whole

    require_scikit_learn()
    frame = read_whole(in_format(file, TextFormat.of(options)))
    options = {name: value for name, value in options.items() if name not in FORMAT_OPTIONS}
    if (where := options.pop("where", None)) is not None:
        frame = frame.filter(satisfying(where, frame.with_columns(map(as_numbers, frame.get_columns()))))
    beside = {name: options.pop(name, None) for name in _BESIDE}
    question = Question.of("validate", options)
    named = [("target", target), *beside.items(), *(("costs", name) for name in question.cost_columns)]
    for argument, name in (*named, *(("features", name) for name in features or ())):
        if name is not None and name not in frame.columns:
            raise errors.no_such_column(argument, name, frame.columns)
    taken = {name for _, name in named}
    wanted = list(features) if features else [name for name in frame.columns if name not in taken]
    if not wanted:
        raise InputError(
            "no-features",
            f"there are no features: all columns ({some(frame.columns)}) are named otherwise; add columns",
        )
    if target in wanted:
        raise InputError("target-among-features", f"features: {target!r} is what is to be predicted; leave it out")
    X = frame.select(wanted)
    given: dict[str, Column] = {name: None if column is None else frame[column] for name, column in beside.items()}
    given["weight"] = None if given["weight"] is None else as_numbers(given["weight"])  # the others are labels: 007
    X = X.with_columns(map(as_numbers, X.get_columns()))
    question = Question.of("validate", {**question.given, **given})
    prices = {name: as_numbers(frame[name]) for name in question.cost_columns}
    found = validate_rows(find_estimator(estimator), X, frame[target], question, prices)
    return speak(found, question["lang"])


def find_estimator(text: str) -> Estimator:
    """Return the estimator that a module of the current folder (or any other) holds or makes."""
    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise InputError(
            "bad-estimator-name",
            f"estimator {short(repr(text))} is no MODULE:OBJECT; write it like sklearn.svm:SVC or model:make",
        )
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Estimator = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        is_made = isinstance(found, type) or not hasattr(found, "fit")
        return found() if is_made and callable(found) else found
    except (Exception, SystemExit) as problem:  # whatever the module of a user does
        raise InputError(
            "estimator-not-there",
            f"estimator {short(repr(text))} cannot be had "
            f"({short(f'{type(problem).__name__}: {errors.first_line(problem)}', 120)}); run Python's import to see "
            "why",
        ) from None
