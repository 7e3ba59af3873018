"""A system's models read from rows: the combinations that occur, counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.engines.alike import Spelling, refuse_alike
from stakes.engines.columns import Column, in_order, read_number
from stakes.engines.labels import PAIRS, Labels, encode, group_codes, same_kind, settle
from stakes.engines.rows import rows_that_count
from stakes.engines.tables import take
from stakes.errors import About, Given, InputError, Pass
from stakes.question.options import Column as UserColumn
from stakes.question.options import Data, Value
from stakes.systems.network import JointRows, Units, distinct, refuse_too_many
from stakes.tallies import JointCounts
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.tallies.names import canonical


@dataclass(frozen=True, eq=False)
class SystemColumns:
    """The rows of a system as codes: the truth, the answers of each model, the weight and the cluster of a row."""

    truth: Labels
    answers: Mapping[str, Labels]
    weight: Array | None = None
    cluster: Array | None = None

    def count(self, classes: Sequence[str]) -> "Counts":
        """Count the combinations that occur, and where rows come in units also those of each unit."""
        outputs: dict[str, tuple[str, ...]] = {}
        for name, labels in self.answers.items():  # the classes in their order first
            first = classes if set(labels.names) & set(classes) else ()
            outputs[name] = tuple(dict.fromkeys([*first, *labels.names]))
        codes = [self.truth.into(classes), *(labels.into(outputs[name]) for name, labels in self.answers.items())]
        columns, names = ("truth", *outputs), (tuple(classes), *outputs.values())
        joint = JointCounts.from_rows(columns, names, codes, self.weight)
        if self.weight is None and self.cluster is None:
            return Counts(joint)
        units, clusters = self.units()
        named = (*names, tuple(map(str, range(int(units.max()) + 1))))
        weight = np.ones(len(units)) if self.weight is None else self.weight
        held = [JointCounts.from_rows((*columns, ""), named, [*codes, units], each) for each in (weight, weight**2)]
        return Counts(joint, held[0], held[1].counts, clusters)

    def units(self) -> tuple[Array, int]:
        """The cluster of each row; rows that only have weights are their own. Very many are merged."""
        known = Clusters.of(np.arange(len(self.truth.codes)) if self.cluster is None else self.cluster)
        if self.cluster is None:
            return known.groups, 0
        if known.count == 1:
            raise InputError(
                "system-of-one-cluster",
                "all rows belong to one cluster, so nothing tells how much clusters differ; leave out ",
                Pass("cluster"),
            )
        return known.groups, known.count


@dataclass(frozen=True, eq=False)
class Counts:
    """The combinations that occur in rows; ``held`` counts them by unit (its last column)."""

    joint: JointCounts
    held: JointCounts | None = None
    squares: Array | None = None
    clusters: int = 0

    def units(self, at: Sequence[int], combinations: int) -> Units | None:
        """The units of a network's rows, whose models are these columns."""
        if self.held is None or self.squares is None:
            return None
        codes = self.held.codes
        places, _ = distinct([codes[:, place] for place in at], len(codes))
        return Units(codes[:, -1], codes[:, 0] * combinations + places, self.held.counts, self.squares, self.clusters)


def read_columns(
    data: Data,
    truth: UserColumn,
    models: Mapping[str, UserColumn],
    spelling: Spelling,
    others: Mapping[str, UserColumn],
) -> tuple[SystemColumns, dict[str, Column]]:
    """Read the truth, the models' decisions, the weight and cluster of each row, and other columns."""
    named = {f"model {name}": column for name, column in models.items()}
    given = {"truth": truth, **named, **others}
    counting = rows_that_count(take(data, **given), None, "error", {} if data is None else given)
    columns = counting.columns
    heard = {"truth": columns["truth"], **{name: columns[f"model {name}"] for name in models}}
    for column in heard.values():  # text beside numbers is refused, unless labels are made alike
        same_kind(heard["truth"], column, bool(spelling.words))
    refuse_scores(heard)
    kinds = {column.kind for column in heard.values()}
    if len(kinds) > 1 and "text" not in kinds:  # booleans beside numbers are 0 and 1
        heard = {name: replace(column, kind="number") for name, column in heard.items()}
    found = {name: encode(column) for name, column in heard.items()}
    if spelling.words:
        found = {name: labels.renamed(spelling) for name, labels in found.items()}
    truths = found.pop("truth")
    for labels in found.values():
        refuse_alike(truths.names, labels.names, ())
    cluster = group_codes(columns["cluster"]) if "cluster" in columns else None
    return SystemColumns(truths, found, counting.weight, cluster), columns


def refuse_scores(heard: Mapping[str, Column]) -> None:
    """Refuse scores in the place of decisions: numbers with a fraction, where the truth has none."""
    fractions = {name: _fraction(column) for name, column in heard.items()}
    for name, found in fractions.items():
        if name != "truth" and found is not None and fractions["truth"] is None:
            raise InputError(
                "scores-as-decisions",
                f"the model {name!r} says {found:.6g}, a score and no decision; give decisions, such as score >= 0.5, "
                "and the scores to best_thresholds()",
            )


def _fraction(column: Column) -> float | None:
    """A number of a column that is not whole, if there is one; text may hold numbers, too."""
    if column.kind == "text":
        numbers = np.array([found for name in column.names if (found := read_number(name)) is not None], np.float64)
    elif column.kind == "number" and column.values.dtype.kind == "f":
        numbers = column.values
    else:
        return None
    broken = numbers[np.isfinite(numbers) & (numbers != np.floor(numbers))]
    return float(broken[0]) if len(broken) else None


def settle_classes(rows: SystemColumns, classes: Value, positive: Value) -> tuple[tuple[str, ...], str | None]:
    """Return the classes (the positive one first) and the positive one of two; the one label rule decides, or asks.

    Where all rows are of one class, the other one is what models say beside it.
    """
    truth = rows.truth
    if classes is None and len(truth.names) == 1:
        labels = dict.fromkeys([*truth.names, *(name for answer in rows.answers.values() for name in answer.names)])
        if len(labels) != 2:
            raise InputError(
                "system-of-one-class",
                About("truth"),
                f" is {truth.names[0]!r} in every row, and nothing tells which other class there is; pass ",
                Pass("classes"),
                ", with ",
                Pass("prior", 1),
                " if there are to be no rows of it",
            )
        classes = list(labels)
    if classes is not None:
        known = check_outputs(classes)
        strange = [name for name in truth.names if name not in known]
        if strange:
            raise errors.unknown_labels("truth", strange, known)
        return known, choose_positive(known, positive)
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
    """The positive one of two classes: as given, as the label rule knows it ({0, 1}, …), or the first one listed."""
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


def rows_of(counted: Counts, columns: Mapping[str, str]) -> tuple[JointRows, dict[str, tuple[str, ...]]]:
    """Turn counted combinations (the truth first) into the rows of a network, and tell what each model can say.

    ``columns`` tell for each model which column of the combinations is its own. A class without any rows, which nobody
    can ask about, gets one of each combination.
    """
    joint = counted.joint
    at = {name: joint.columns.index(column) for name, column in columns.items()}
    answers = {name: joint.codes[:, place] for name, place in at.items()}
    places, first = distinct(list(answers.values()), len(joint.codes))
    refuse_too_many(len(first), len(joint.truths), len(columns), by_rows=True)
    counts = np.zeros((len(joint.truths), len(first)))
    np.add.at(counts, (joint.codes[:, 0], places), joint.counts)
    counts[~counts.any(axis=1)] = 1
    codes = {name: column[first] for name, column in answers.items()}
    codes = {name: each.astype(np.uint8) if each.max(initial=0) < 256 else each for name, each in codes.items()}
    units = counted.units(list(at.values()), len(first))
    return JointRows(codes, counts, units), {name: joint.labels[place] for name, place in at.items()}
