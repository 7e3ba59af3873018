"""From what a user writes down to a network: classes, how many cases, costs, models and rules."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np

from stakes import errors
from stakes.engines.alike import Spelling
from stakes.engines.labels import PAIRS
from stakes.errors import About, Given, InputError, Pass, Text, nearest, some
from stakes.question.options import Column, Data, Value
from stakes.records import Says
from stakes.systems import models as of_models
from stakes.systems.fusion import fuse, walk
from stakes.systems.network import Model, Network
from stakes.systems.rows import Counts, check_outputs, choose_positive, read_columns, rows_of, settle_classes
from stakes.systems.rules import Is, Lookup, RuleTerms
from stakes.tallies import JointCounts
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import is_sequence
from stakes.tallies.costs import Costs
from stakes.tallies.names import canonical
from stakes.tallies.pricing import Pricing, check_shares
from stakes.uncertainty.sampling import Sampling

_SAME = 1e-9


class Built:
    """A network, and what had to be settled to make it.

    ``per_case`` says whether costs are those of one case, since ``prior=`` was given. ``joint`` are the combinations
    counted in the rows, if there are rows. ``strange_answers`` are answers that are neither a class nor named in a
    rule; they count as no.
    """

    positive: Annotated[str | None, Says("The positive class of two.")]
    cost: float

    def __init__(
        self,
        data: Data = None,
        *,
        truth: Column = None,
        models: Value,
        decide: Value,
        costs: Costs,
        classes: Value = None,
        positive: Value = None,
        prior: Value = None,
        weight: Column = None,
        cluster: Column = None,
        fusers: Mapping[str, Value] | None = None,
        shared_difficulty: bool | None = None,
        confidence: float = 0.95,
        seed: int = 0,
        alike: Value = None,
    ) -> None:
        """Check everything, read the rows if there are any, and put the network together."""
        self.sampling = Sampling(confidence, seed=seed)
        self._source, self._units = (data, truth), {"weight": weight, "cluster": cluster}
        self._spelling = Spelling.of(alike, classes, positive, () if alike is None else Pricing(costs, prior).names)
        if not (shared_difficulty is None or isinstance(shared_difficulty, bool)):
            raise InputError(
                "bad-switch",
                Given("shared_difficulty", shared_difficulty),
                " does not work; give True, False or None (nobody knows)",
            )
        fusers = {} if fusers is None else fusers
        if not isinstance(fusers, Mapping):
            raise InputError("no-fusers", f"fusers is a {type(fusers).__name__}; give a dictionary name → rule")
        described = of_models.describe(models, data is not None or truth is not None, data)
        self._columns = {name: one.column for name, one in described.items() if one.column is not None}
        counts, names, chosen = _classes(data, truth, self._columns, classes, positive, self._spelling, self._units)
        joint = self.joint = None if counts is None else counts.joint
        self.positive, self._positive_from = chosen, _positive_from(chosen, positive, names)
        columns = self._columns if isinstance(data, JointCounts) else {name: name for name in self._columns}
        rows, outputs = (None, {}) if counts is None or not self._columns else rows_of(counts, columns)
        found = of_models.make(described, names, outputs)
        cases, self._cases_from = _cases(prior, joint, found, names, chosen)
        absent = _absent(joint, found, names, cases, prior is not None)
        self.per_case = prior is not None
        prices, decisions = _prices(costs, names, chosen)
        fusion = fuse(_terms({name: found[name] for name in described}, names, chosen), decisions, fusers, decide)
        if not fusion.heard:
            raise InputError(
                "rule-hears-nobody",
                "the rule listens to no model, so no model can cost anything; name one of them in it",
            )
        self.network = Network(names, cases, found, fusion, prices, rows, shared_difficulty, absent)
        of_models.refuse_contradictions(described, self.network)
        self.strange_answers = _strange_answers(self.network)
        self.cost, self.unit = float(self.network.cost()), costs.unit


# ── classes, cases and costs ─────────────────────────────────────────────────────────────────────────────────────
def _classes(
    data: Data,
    truth: Column,
    columns: Mapping[str, Column],
    classes: Value,
    positive: Value,
    spelling: Spelling,
    units: Mapping[str, Column],
) -> tuple[Counts | None, tuple[str, ...], str | None]:
    """Count the rows if there are any, and settle the classes; ``units`` are the weight and cluster of each row."""
    if isinstance(data, JointCounts) or truth is None:
        for name, column in units.items():
            if column is not None:
                raise InputError(
                    "units-without-rows", Given(name), " is a column of rows, and there are none; leave it out"
                )
    if isinstance(data, JointCounts):
        known = data.truths if classes is None else check_outputs(classes)
        if set(known) != set(data.truths):
            raise errors.unknown_labels("truth", sorted(set(data.truths) ^ set(known)), known)
        return Counts(_reorder(data, known)), known, choose_positive(known, positive)
    if data is None and truth is None:
        if classes is None:
            raise InputError(
                "system-without-classes",
                "models given by tables need ",
                Pass("classes"),
                ": the true classes, in the order of the tables' rows",
            )
        known = check_outputs(classes)
        return None, known, choose_positive(known, positive)
    if truth is None:
        raise InputError(
            "system-without-truth", "models given by columns need ", Pass("truth"), ": what really happened"
        )
    read, _ = read_columns(data, truth, columns, spelling, units)
    known, chosen = settle_classes(read, classes, positive)
    return read.count(known), known, chosen


def _reorder(joint: JointCounts, classes: Sequence[str]) -> JointCounts:
    place = np.array([classes.index(name) for name in joint.truths])
    codes = joint.codes.copy()
    codes[:, 0] = place[codes[:, 0]]
    return JointCounts(joint.columns, (tuple(classes), *joint.labels[1:]), codes, joint.counts)


def _absent(
    joint: JointCounts | None, models: Mapping[str, Model], classes: Sequence[str], cases: Array, by_prior: bool
) -> tuple[int, ...]:
    """The classes of which rows or tables have no cases: nobody may ask about them, and ``prior=`` must say so."""
    found = {name: model.absent for name, model in models.items()}
    if joint is not None:
        found["the sample"] = tuple(np.flatnonzero(joint.sizes(0) == 0).tolist())
    for where, absent in found.items():
        for c in absent:
            if cases[c] or not by_prior:
                raise errors.no_cases_of_class(where, classes[c])
    return tuple(sorted({c for absent in found.values() for c in absent}))


def _cases(
    prior: Value, joint: JointCounts | None, models: Mapping[str, Model], classes: Sequence[str], positive: str | None
) -> tuple[Array, str]:
    """How many cases of each class costs are for, and where that comes from."""
    if prior is not None:
        return _prior(prior, classes, positive), "prior="
    if joint is not None:
        return joint.sizes(0).astype(np.float64), "the rows"
    totals = {name: m.counts.sum((1, 2)) for name, m in models.items() if m.counts is not None and not m.sees}
    if not totals:
        raise InputError(
            "prior-wanted",
            f"nothing says how frequent the classes {some(classes)} are, since no model is given by counts; pass ",
            Pass("prior"),
        )
    largest = max(totals, key=lambda name: float(totals[name].sum()))
    shares = [total / total.sum() for total in totals.values()]
    alike = all(np.allclose(share, shares[0], rtol=0, atol=_SAME) for share in shares)
    words = f"the table of {largest}"
    return totals[largest], words if alike else Text(f"{words}, the largest; pass ", Pass("prior"), " to say otherwise")


def _prior(prior: Value, classes: Sequence[str], positive: str | None) -> Array:
    listed = is_sequence(prior) and not isinstance(prior, str) and len(prior) == len(classes)
    given = dict(zip(classes, prior, strict=True)) if listed else prior
    if isinstance(given, Mapping):
        named = list(map(canonical, given))
        if set(named) < set(classes):
            raise InputError(
                "prior-lacks",
                Given("prior"),
                f" gives no share of {some([name for name in classes if name not in named])}; give one for every class",
            )
    return np.array([float(share) for share in check_shares("prior", given, classes, positive)])


def _prices(costs: object, classes: Sequence[str], positive: str | None) -> tuple[Array, tuple[str, ...]]:
    if not isinstance(costs, Costs):
        raise errors.costs_wanted(type(costs).__name__)
    decisions = tuple(costs.decisions or classes)
    if strange := [name for name in costs.classes or () if name not in classes]:
        raise InputError(
            "costs-of-strange-class",
            f"the costs have the class {strange[0]!r}, which the system lacks{nearest(strange[0], classes)}",
        )
    if costs.columns:
        raise InputError(
            "system-costs-by-row",
            About("costs"),
            f" of a system cannot name a column ({some(costs.columns)}); give numbers",
        )
    return np.array(costs.for_table(classes, decisions, positive), np.float64), decisions


def _strange_answers(network: Network) -> dict[str, str]:
    """What models in rows say beside the classes and no rule speaks of; what is much like a class is a slip."""
    parts = [part for rule in network.fusion.rules.values() for part in walk(rule)]
    if any(isinstance(part, Lookup) for part in parts):  # answers for every combination
        return {}
    spoken = {label for part in parts if isinstance(part, Is) for label in part.wanted}
    found: dict[str, str] = {}
    for name, model in network.models.items():
        strange = [label for label in model.outputs if label not in (*network.classes, *spoken)]
        if not model.by_rows or len(strange) == len(model.outputs) or min(model.right) < 0:
            continue
        for label in strange:
            close = nearest(label, network.classes)
            if "did you mean" in close:
                raise InputError("answer-no-class", f"{name} says {label!r}, which is no class and in no rule{close}")
            found[name] = label
    return found


def _terms(models: Mapping[str, Model], classes: Sequence[str], positive: str | None) -> RuleTerms:
    outputs = {name: model.outputs for name, model in models.items()}
    letters = tuple(dict.fromkeys([*classes, *itertools.chain.from_iterable(outputs.values())]))
    if positive is None:
        return RuleTerms(letters, outputs)
    place = classes.index(positive)
    yes = {name: m.outputs[m.right[place]] for name, m in models.items() if m.right[place] >= 0}
    return RuleTerms(letters, outputs, positive, classes[1 - place], yes)


def _positive_from(chosen: str | None, given: Value, classes: Sequence[str]) -> str:
    if chosen is None:
        return ""
    if given is not None:
        return "as told"
    if any(set(pair) == set(classes) for pair in PAIRS):
        return "by the label rule"
    return Text("the first of the classes; pass ", Pass("positive"), " to say otherwise")
