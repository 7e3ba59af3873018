"""From what a user writes down to a network: models, classes, how many cases, costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.labels import PAIRS, canonical
from stakes.systems.fusion import fuse, in_order
from stakes.systems.network import Model, Network
from stakes.systems.rows import chosen_positive, declared, read_columns, rows_of, settle_classes
from stakes.systems.rules import Terms
from stakes.systems.tables import Table, of_accuracies, read_table
from stakes.tallies import Confusion, JointCounts
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.costs import Costs

_WORDS = ("column", "table", "accuracy", "sees", "outputs", "right")
"""What can be said about a model."""

_SAME = 1e-9


@dataclass(frozen=True)
class Description:
    """What a user says about one model."""

    name: str
    column: Any = None
    table: Any = None
    accuracy: Any = None
    sees: tuple[str, ...] = ()
    outputs: tuple[str, ...] | None = None
    right: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Built:
    """A network, and what had to be settled to make it."""

    network: Network
    positive: str | None
    positive_from: str
    cases_from: str
    joint: JointCounts | None
    columns: Mapping[str, Any]
    per_case: bool


def build(
    data: Any,
    *,
    truth: Any,
    models: Any,
    decide: Any,
    costs: Any,
    classes: Any,
    positive: Any,
    prior: Any,
    fusers: Mapping[str, Any],
    shared_difficulty: bool | None,
) -> Built:
    """Check everything, read the rows if there are any, and put the network together."""
    with_rows = data is not None or truth is not None
    described = {one.name: one for one in _descriptions(models, with_rows, data)}
    columns = {name: one.column for name, one in described.items() if one.column is not None}
    joint, names, chosen = _classes(data, truth, columns, classes, positive)
    rows, outputs = (None, {}) if joint is None or not columns else rows_of(joint, list(columns))
    for one in described.values():
        for name in one.sees:
            if name not in described:
                raise errors.sees_unknown(name, list(described))
    tables: dict[str, Table] = {}
    found: dict[str, Model] = {}
    for name in in_order({name: one.sees for name, one in described.items()}):
        found[name], table = _model(described[name], names, found, outputs.get(name))
        tables |= {} if table is None else {name: table}
    cases, cases_from = _cases(prior, joint, tables, names, chosen)
    prices, decisions = _prices(costs, names, chosen)
    network = Network(
        names,
        cases,
        found,
        fuse(_terms({name: found[name] for name in described}, names, chosen), decisions, fusers, decide),
        prices,
        rows,
        shared_difficulty,
    )
    if not network.fusion.heard:
        raise errors.rule_hears_nobody()
    _refuse_contradictions(described, found, network)
    return Built(
        network, chosen, _positive_from(chosen, positive, names), cases_from, joint, columns, prior is not None
    )


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────
def _descriptions(models: Any, with_rows: bool, data: Any) -> list[Description]:
    if isinstance(models, str):
        models = [models]
    if isinstance(models, Sequence):
        if not with_rows or not all(isinstance(name, str) for name in models):
            raise errors.models_wanted(type(models).__name__)
        models = {name: name for name in models}
    if not isinstance(models, Mapping) or not models:
        raise errors.models_wanted(type(models).__name__)
    described = []
    for name, given in models.items():
        if not isinstance(name, str) or not name.strip() or "`" in name:
            raise errors.bad_model_name(name)
        if name in ("truth", "decision"):
            raise errors.name_taken(name)
        described.append(_description(name, given, with_rows, data))
    return described


def _description(name: str, given: Any, with_rows: bool, data: Any) -> Description:
    if isinstance(given, Mapping) and given and set(given) <= set(_WORDS):
        words: dict[str, Any] = dict(given)
    elif isinstance(given, Mapping) and all(is_real(value) for value in given.values()):
        words = {"accuracy": given}
    elif isinstance(given, Mapping | Confusion) or _depth(given) >= 2:
        words = {"table": given}
    elif with_rows and not is_real(given):
        words = {"column": given}
    elif is_real(given) or (_depth(given) == 1 and not isinstance(given, str)):
        words = {"accuracy": given}
    else:
        raise errors.bad_model(name, given)
    if isinstance(data, JointCounts):
        if name in data.columns[1:]:
            words.setdefault("column", name)
        elif "column" in words:
            raise errors.no_such_column(f"model {name}", str(words["column"]), data.columns)
    for key in ("sees", "outputs"):
        value = words.get(key)
        if value is not None:
            words[key] = (value,) if isinstance(value, str) else tuple(map(canonical, value))
    words["right"] = {canonical(c): canonical(o) for c, o in words.get("right", {}).items()}
    if not with_rows and "column" in words:
        raise errors.name_without_data(f"model {name}", str(words["column"]))
    if not {"column", "table", "accuracy"} & set(words):
        raise errors.bad_model(name, given)
    return Description(name, **words)


def _depth(given: Any) -> int:
    """How deeply lists are nested; arrays know it."""
    if hasattr(given, "ndim"):
        return int(given.ndim)
    return 1 + _depth(given[0]) if isinstance(given, list | tuple) and given else int(isinstance(given, list | tuple))


def _model(
    one: Description, classes: Sequence[str], known: Mapping[str, Model], in_rows: Sequence[str] | None
) -> tuple[Model, Table | None]:
    sizes = [len(known[name].outputs) for name in one.sees]
    if in_rows is not None:
        for name in one.sees:
            if not known[name].by_rows:
                raise errors.sees_a_table(one.name, name)
        outputs = tuple(in_rows)
        return Model(one.name, outputs, _right(one, classes, outputs), one.sees), None
    if one.accuracy is not None:
        if one.sees:
            raise errors.cascade_needs_table(one.name)
        table = of_accuracies(one.name, one.accuracy, classes)
    else:
        table = read_table(one.name, one.table, classes, one.outputs, sizes)
    right = _right(one, classes, table.outputs)
    return Model(one.name, table.outputs, right, one.sees, table.rates, table.counts), table


def _right(one: Description, classes: Sequence[str], outputs: Sequence[str]) -> tuple[int, ...]:
    for label, output in one.right.items():
        if label not in classes:
            raise errors.class_unknown_to_model(one.name, label, list(one.right), classes)
        if output not in outputs:
            raise errors.unknown_output(one.name, output, outputs)
    wanted = [one.right.get(label, label) for label in classes]
    return tuple(outputs.index(output) if output in outputs else -1 for output in wanted)


def _refuse_contradictions(described: Mapping[str, Description], found: Mapping[str, Model], network: Network) -> None:
    """A model given by rows and by a table must say the same in both."""
    from stakes.systems.situations import own_rates

    for name, one in described.items():
        if one.column is None or (one.table is None and one.accuracy is None):
            continue
        sizes = [len(found[other].outputs) for other in one.sees]
        table = (
            of_accuracies(name, one.accuracy, network.classes)
            if one.table is None
            else read_table(name, one.table, network.classes, found[name].outputs, sizes)
        )
        order = [table.outputs.index(output) for output in found[name].outputs if output in table.outputs]
        rates = own_rates(network, name)
        if len(order) != rates.shape[-1]:
            raise errors.unknown_output(name, found[name].outputs[0], table.outputs)
        wrong = np.argwhere(np.abs(table.rates[..., order] - rates) > _SAME)
        if len(wrong):
            c, a, j = wrong[0]
            seen = (float(table.rates[c, a, order[j]]), float(rates[c, a, j]))
            raise errors.contradiction(name, network.classes[c], found[name].outputs[j], *seen)


# ── classes, cases and costs ─────────────────────────────────────────────────────────────────────────────────────
def _classes(
    data: Any, truth: Any, columns: Mapping[str, Any], classes: Any, positive: Any
) -> tuple[JointCounts | None, tuple[str, ...], str | None]:
    if isinstance(data, JointCounts):
        known = data.truths if classes is None else declared(classes)
        if set(known) != set(data.truths):
            raise errors.unknown_labels("truth", sorted(set(data.truths) ^ set(known)), known)
        chosen = chosen_positive(known, positive)
        return _reordered(data, known), known, chosen
    if not columns:
        if classes is None:
            raise errors.system_without_classes()
        known = declared(classes)
        return None, known, chosen_positive(known, positive)
    if truth is None:
        raise errors.system_without_truth()
    read, _ = read_columns(data, truth, columns)
    known, chosen = settle_classes(read.truth, classes, positive)
    return read.count(known), known, chosen


def _reordered(joint: JointCounts, classes: Sequence[str]) -> JointCounts:
    place = np.array([list(classes).index(name) for name in joint.truths])
    codes = joint.codes.copy()
    codes[:, 0] = place[codes[:, 0]]
    if len(np.unique(codes[joint.counts > 0, 0])) < len(classes):
        missing = sorted(set(range(len(classes))) - set(codes[:, 0].tolist()))
        raise errors.no_cases_of_class("the rows", classes[missing[0]])
    return JointCounts(joint.columns, (tuple(classes), *joint.labels[1:]), codes, joint.counts)


def _cases(
    prior: Any, joint: JointCounts | None, tables: Mapping[str, Table], classes: Sequence[str], positive: str | None
) -> tuple[Array, str]:
    """How many cases of each class costs are for, and where that comes from."""
    if prior is not None:
        return _prior(prior, classes, positive), "prior="
    if joint is not None:
        return joint.sizes(0).astype(np.float64), "the rows"
    totals = {
        name: table.totals for name, table in tables.items() if table.totals is not None and table.rates.shape[1] == 1
    }
    if not totals:
        raise errors.prior_wanted(classes)
    largest = max(totals, key=lambda name: float(totals[name].sum()))
    shares = [total / total.sum() for total in totals.values()]
    alike = all(np.allclose(share, shares[0], rtol=0, atol=_SAME) for share in shares)
    words = f"the table of {largest}"
    return np.asarray(totals[largest]), words if alike else f"{words}, the largest; pass prior= to say otherwise"


def _prior(prior: Any, classes: Sequence[str], positive: str | None) -> Array:
    if is_real(prior) and positive is not None:
        prior = {name: prior if name == positive else 1 - prior for name in classes}
    if isinstance(prior, Mapping):
        given = {canonical(name): share for name, share in prior.items()}
        if set(given) != set(classes):
            raise errors.bad_prior(prior, classes)
        prior = [given[name] for name in classes]
    if is_real(prior) or len(prior) != len(classes) or not all(is_real(p) and 0 <= p <= 1 for p in prior):
        raise errors.bad_prior(prior, classes)
    shares = np.array([float(p) for p in prior])
    if abs(shares.sum() - 1) > 1e-6:
        raise errors.rates_sum("prior", float(shares.sum()))
    return shares / shares.sum()


def _prices(costs: Any, classes: Sequence[str], positive: str | None) -> tuple[Array, tuple[str, ...]]:
    if not isinstance(costs, Costs):
        raise errors.costs_wanted(type(costs).__name__)
    decisions = tuple(costs.decisions or classes)
    if costs.classes is not None and set(costs.classes) != set(classes):
        strange = [name for name in costs.classes if name not in classes]
        if strange:
            raise errors.costs_of_strange_class(strange[0], classes)
    matrix = costs.for_table(classes, decisions, positive)
    return np.array([[float(cost) for cost in row] for row in matrix]), decisions


def _terms(models: Mapping[str, Model], classes: Sequence[str], positive: str | None) -> Terms:
    outputs = {name: model.outputs for name, model in models.items()}
    letters = tuple(dict.fromkeys([*classes, *(label for said in outputs.values() for label in said)]))
    negative = None if positive is None else next(name for name in classes if name != positive)
    yes = {}
    if positive is not None:
        place = list(classes).index(positive)
        yes = {name: m.outputs[m.right[place]] for name, m in models.items() if m.right[place] >= 0}
    return Terms(letters, outputs, positive, negative, yes)


def _positive_from(chosen: str | None, given: Any, classes: Sequence[str]) -> str:
    if chosen is None:
        return ""
    if given is not None:
        return "as told"
    known = any(set(pair) == set(classes) for pair in PAIRS)
    return "by the label rule" if known else "the first of the classes; pass positive= to say otherwise"
