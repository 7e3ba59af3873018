"""A system's models read from rows: the combinations that occur, counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.engines.alike import Spelling, refuse_alike
from stakes.engines.columns import Column, in_order
from stakes.engines.labels import PAIRS, Labels, encode, same_kind, settle
from stakes.engines.tables import gather
from stakes.errors import About, Given, InputError
from stakes.question.options import Column as UserColumn
from stakes.question.options import Data, Value
from stakes.systems.network import JointRows, distinct, refuse_too_many
from stakes.tallies import JointCounts
from stakes.tallies.arithmetic import Array
from stakes.tallies.names import canonical


@dataclass(frozen=True, eq=False)
class SystemColumns:
    """The rows of a system as codes: the truth and what each model said."""

    truth: Labels
    said: Mapping[str, Labels]

    def count(self, classes: Sequence[str]) -> JointCounts:
        """Count the combinations that occur."""
        outputs: dict[str, tuple[str, ...]] = {}
        for name, said in self.said.items():  # all classes, in their order, if it says classes at all; then what else
            first = classes if set(said.names) & set(classes) else ()
            outputs[name] = tuple(dict.fromkeys([*first, *said.names]))
        codes = [self.truth.into(classes), *(said.into(outputs[name]) for name, said in self.said.items())]
        return JointCounts.from_rows(("truth", *outputs), (tuple(classes), *outputs.values()), codes)


def read_columns(
    data: Data, truth: UserColumn, models: Mapping[str, UserColumn], spelling: Spelling, **others: UserColumn
) -> tuple[SystemColumns, dict[str, Column]]:
    """Read the truth, the models' decisions and other columns."""
    named = {f"model {name}": column for name, column in models.items()}
    columns = gather(data, truth=truth, **named, **others)
    heard = {"truth": columns["truth"], **{name: columns[f"model {name}"] for name in models}}
    for column in heard.values():  # text beside numbers is refused, unless labels are made alike
        same_kind(heard["truth"], column, bool(spelling.words))
    kinds = {column.kind for column in heard.values()}
    if len(kinds) > 1 and "text" not in kinds:  # booleans beside numbers are 0 and 1
        heard = {name: replace(column, kind="number") for name, column in heard.items()}
    found = {name: encode(column) for name, column in heard.items()}
    if spelling.words:
        found = {name: labels.renamed(spelling) for name, labels in found.items()}
    truths = found.pop("truth")
    for labels in found.values():
        refuse_alike(truths.names, labels.names, ())
    return SystemColumns(truths, found), {name: columns[name] for name in others}


def settle_classes(truth: Labels, classes: Value, positive: Value) -> tuple[tuple[str, ...], str | None]:
    """Return the classes (the positive one first) and the positive one of two; the one label rule decides, or asks."""
    if classes is not None:
        known = check_outputs(classes)
        strange = [name for name in truth.names if name not in known]
        if strange:
            raise errors.unknown_labels("truth", strange, known)
        missing = [name for name in known if name not in truth.names]
        if missing:
            raise errors.no_cases_of_class("the file", missing[0])
        return known, choose_positive(known, positive)
    if len(truth.names) == 1:
        raise InputError(
            "system-of-one-class",
            About("truth"),
            f" is {truth.names[0]!r} in every row, so nothing is known about other classes; give rows of them too",
        )
    plan = settle(truth, None, None, positive)
    listed = plan.classes[::-1] if len(plan.classes) == 2 else plan.classes
    return listed, plan.positive


def check_outputs(classes: Value) -> tuple[str, ...]:
    """Check a list of classes."""
    if isinstance(classes, str):
        raise errors.classes_without_order(classes)
    if not all(isinstance(label, str) or np.ndim(label) == 0 for label in in_order(classes)):
        raise InputError(
            "classes-no-labels", Given("classes", classes), " holds something other than labels; give a list of names"
        )
    known = tuple(map(canonical, classes))
    if len(set(known)) != len(known) or len(known) < 2:
        raise errors.classes_not_different(known)
    return known


def choose_positive(classes: Sequence[str], positive: Value) -> str | None:
    """The positive one of two classes: as told, as the label rule knows it ({0, 1}, …), or the first one listed."""
    if len(classes) != 2:
        if positive is not None:
            raise errors.positive_of_many(canonical(positive), classes)
        return None
    if positive is None:
        return next((pair[1] for pair in PAIRS if set(pair) == set(classes)), classes[0])
    wanted = canonical(positive)
    if wanted not in classes:
        raise errors.unknown_positive(wanted, classes)
    return wanted


def rows_of(joint: JointCounts, columns: Mapping[str, str]) -> tuple[JointRows, dict[str, tuple[str, ...]]]:
    """Turn counted combinations (the truth first) into the rows of a network, and tell what each model can say.

    ``columns`` tell for each model which column of the combinations is its own.
    """
    at = {name: joint.columns.index(column) for name, column in columns.items()}
    said = {name: joint.codes[:, place] for name, place in at.items()}
    places, first = distinct(list(said.values()), len(joint.codes))
    refuse_too_many(len(first), len(joint.truths), len(columns), by_rows=True)
    counts = np.zeros((len(joint.truths), len(first)))
    np.add.at(counts, (joint.codes[:, 0], places), joint.counts)
    codes = {name: _small(column[first]) for name, column in said.items()}
    return JointRows(codes, counts), {name: joint.labels[place] for name, place in at.items()}


def _small(codes: Array) -> Array:
    return codes.astype(np.uint8) if codes.size and codes.max() < 256 else codes
