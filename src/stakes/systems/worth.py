"""What a model is worth to its system: made perfect, removed, its share of what could be avoided, its replacement."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError
from stakes.metrics.estimate import percent
from stakes.records import Record
from stakes.systems.component_costs import ComponentCosts
from stakes.systems.network import Amount, Network, all_combinations, sum_out
from stakes.systems.row_costs import RowCosts, always_right, no_limits, seen_in_rows
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.checks import check_share
from stakes.text import aligned, lines, visible
from stakes.uncertainty.sampling import USUAL, Sampling

MOST_MODELS = 12
"""The most models for which shares are worked out: every subset of them is tried."""

_MOST_WORK = 2**31
"""The most combinations that are tried for the shares."""

_MOST_AT_ONCE = 1 << 22
"""The most combinations of all sets of models that are held in one array."""


@dataclass(frozen=True)
class ModelWorth(Record, shown="* saving"):
    """What one model is worth, in cost: ``perfect`` is what the system would cost if it were always right.

    ``removed`` is the cost if it always gave its most frequent answer, ``answer``; ``constant`` is the cost if it
    always gave the answer that suits the system best, ``constant_answer``. ``cheapest`` is the cost if it gave the
    answer that costs least for each class (and thing it sees); where the rule makes an error of it cheaper than being
    right, that is less than ``perfect``. ``share`` is its Shapley share of what all models together could save (it can
    be negative). NaN where ``reason`` says why; where that is because only the range of the model's costs is known,
    ``perfect_range`` and ``removed_range`` are their ranges. ``saving_limits`` and ``share_limits``
    are the ends of their intervals; None where ``no_interval`` of the :class:`Worth` says why.
    """

    model: str
    now: float
    perfect: float
    removed: float
    answer: str
    share: float
    reason: str = ""
    constant: float = math.nan
    constant_answer: str = ""
    cheapest: float = math.nan
    perfect_range: tuple[float, float] | None = None
    removed_range: tuple[float, float] | None = None
    saving_limits: tuple[float, float] | None = None
    share_limits: tuple[float, float] | None = None

    @property
    def saving(self) -> float:
        """What making the model perfect would save, the others being as they are."""
        return self.now - self.perfect

    @property
    def right_is_cheapest(self) -> bool:
        """Whether no error of the model costs the system less than being right."""
        return not self.cheapest < self.perfect - 1e-9 * abs(self.perfect)


@dataclass(frozen=True)
class Worth(
    Record, shown="now all_perfect cases reason first=first_name rivals models confidence interval_method no_interval"
):
    """What each model of a system is worth; ``worth["images"]`` is one of them.

    ``rivals`` are the models that may save more than the first one: the interval of the difference holds 0.
    """

    models: Mapping[str, ModelWorth]
    now: float
    all_perfect: float
    cases: float
    reason: str = ""
    rivals: tuple[str, ...] = ()
    confidence: float = USUAL.confidence
    no_interval: str = ""

    def __getitem__(self, name: str) -> ModelWorth:
        if not isinstance(name, str) or name not in self.models:
            raise errors.no_such_model(name, list(self.models))
        return self.models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    @property
    def first(self) -> ModelWorth | None:
        """The model to improve first: the one that saves most when made perfect; None when none would save."""
        known = [one for one in self.models.values() if not math.isnan(one.saving)]
        best = max(known, key=lambda one: one.saving, default=None)
        return best if best is not None and best.saving > 1e-12 * abs(best.now) else None

    @property
    def first_name(self) -> str | None:
        """The name of the model to improve first."""
        return None if self.first is None else self.first.model

    @property
    def interval_method(self) -> str:
        """How the intervals were found; empty when there are none."""
        return "one more row" if any(one.saving_limits for one in self.models.values()) else ""

    @property
    def as_good(self) -> list[str]:
        """The models that would save as much as the first one."""
        if self.first is None:
            return []
        least = self.first.saving * (1 - 1e-9)
        return [name for name, one in self.models.items() if one.saving >= least]

    def __str__(self) -> str:
        sure = percent(self.confidence)
        rows = [["model", "now", "if perfect", "saves", sure, "if removed", "always says", "share", f"{sure} (share)"]]
        for one in self.models.values():
            ranges = ((one.perfect, one.perfect_range), (one.removed, one.removed_range))
            perfect, removed = (f"{value:.4g}" if span is None else _ends(span) for value, span in ranges)
            saving = [f"{one.saving:.4g}", _ends(one.saving_limits)]
            share = [f"{one.share:.4g}", _ends(one.share_limits)]
            rows.append([one.model, f"{one.now:.4g}", perfect, *saving, removed, one.answer, *share])
        no_interval = self.no_interval and f"no intervals: {self.no_interval}"
        return lines(filter(None, [*aligned(rows), self.reason, no_interval]))


def _ends(limits: tuple[float, float] | None) -> str:
    return "–" if limits is None else f"{limits[0]:.4g} – {limits[1]:.4g}"


def worth(network: Network, costs: Mapping[str, ComponentCosts], cost: float, sampling: Sampling) -> Worth:
    """Work out what each model is worth, and how sure that is."""
    shares, all_perfect, reason = _shares(network)
    found = {name: _one(network, one, shares.get(name, math.nan), reason, cost) for name, one in costs.items()}
    cases = float(network.cases.sum())
    return _with_limits(Worth(found, cost, all_perfect, cases, reason, (), sampling.confidence), network, sampling)


def _one(network: Network, costs: ComponentCosts, share: float, why_no_share: str, cost: float) -> ModelWorth:
    cases = np.einsum("c,ca,caj->j", costs.cases, costs.seen_shares, np.nan_to_num(costs.rates))  # by answer
    answer = int(np.argmax(cases >= cases.max() * (1 - 1e-9)))  # of ties within rounding the first
    always = [_range(costs, [j] * len(network.classes)) for j in range(len(costs.outputs))]
    right = _range(costs, costs.right) if min(costs.right) >= 0 else None
    usual = costs.outputs[answer]
    if not costs.known:
        figures = (cost, math.nan, math.nan, usual, share, "only the range of its costs is known", math.nan, usual)
        return ModelWorth(costs.model, *figures, perfect_range=right, removed_range=always[answer])
    best = int(np.argmin([low for low, _ in always]))
    perfect, reason = (right[0], why_no_share) if right else (math.nan, "which of its outputs is right was not said")
    figures = (cost, perfect, always[answer][0], usual, share, reason, always[best][0], costs.outputs[best])
    return ModelWorth(costs.model, *figures, cheapest=_paid(costs, costs.at_least.min(-1)))


def _range(costs: ComponentCosts, answers: Sequence[int]) -> tuple[float, float]:
    """The range of what the system costs when the model is made to give one answer for each class.

    Both ends are the same where the costs of answers are known.
    """
    ends = (np.stack([prices[c, :, j] for c, j in enumerate(answers)]) for prices in (costs.at_least, costs.at_most))
    low, high = (_paid(costs, prices) for prices in ends)
    return low, high


def _paid(costs: ComponentCosts, prices: Array) -> float:
    """What the system costs at one price for each class and thing that the model sees; what is never seen is free."""
    return float((costs.cases[:, None] * np.where(costs.seen_shares > 0, costs.seen_shares * prices, 0.0)).sum())


# ── how sure ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _with_limits(found: Worth, network: Network, sampling: Sampling) -> Worth:
    """Add the limits of savings and shares, and the models that may save as much as the first."""
    known = [one for one in found.models.values() if not math.isnan(one.saving)]
    reason = no_limits(network, 1 + len(known))
    if reason or not known:
        return replace(found, no_interval=reason)
    rows, models, first = RowCosts(network), dict(found.models), found.first
    now = rows.made(always_right(network, ()))
    saved = {one.model: now - rows.made(always_right(network, [one.model])) for one in known}
    rivals = []
    for one in known:
        models[one.model] = replace(one, saving_limits=rows.limits(one.saving, saved[one.model], sampling))
        if first is not None:
            low, high = rows.limits(first.saving - one.saving, saved[first.model] - saved[one.model], sampling)
            rivals += [one.model] if low <= 0 < high else []
    reason = "" if found.reason else no_limits(network, 2 ** len(models))
    if not found.reason and not reason:
        for name, costs in zip(models, _shapley(rows.if_right(_sets(len(models)))), strict=True):
            models[name] = replace(models[name], share_limits=rows.limits(models[name].share, costs, sampling))
    return replace(found, models=models, rivals=tuple(rivals), no_interval=reason and f"shares: {reason}")


# ── Shapley shares ───────────────────────────────────────────────────────────────────────────────────────────────
def _shares(network: Network) -> tuple[dict[str, float], float, str]:
    """Each model's share of what making all of them perfect saves."""
    reason = _why_no_shares(network)
    if reason:
        return {}, math.nan, reason
    value = sum(n * _costs_of_sets(network, c) for c, n in enumerate(network.cases) if n)
    return dict(zip(network.models, map(float, _shapley(value)), strict=True)), float(value[-1]), ""


def _sets(count: int) -> Array:
    """All sets of so many models, the empty one first: (set, model), 1 where the model is in the set."""
    return np.indices((2,) * count).reshape(count, -1).T


def _shapley(value: Array) -> Iterator[Amount]:
    """The Shapley value of each model, from the value of every set (first axis)."""
    sets = _sets(n := len(value).bit_length() - 1)
    weights = 1 / (n * np.array([math.comb(n - 1, size) for size in range(n)]))
    for k in range(n):
        without = np.flatnonzero(sets[:, k] == 0)
        yield np.tensordot(weights[sets[without].sum(1)], value[without] - value[without + (1 << (n - 1 - k))], 1)


def _costs_of_sets(network: Network, c: int) -> Array:
    """What a case of a class costs when the models of each set are always right.

    Where nobody sees another, making a model right sums its answers out: one more answer, along an axis of its own.
    """
    models = network.models.values()
    sizes = [len(model.outputs) for model in models]
    if any(model.sees for model in models) or math.prod(size + 1 for size in sizes) > _MOST_AT_ONCE:
        right = (always_right(network, itertools.compress(network.models, made))[c] for made in _sets(len(sizes)))
        return np.array([network.cost_of_class(c, do) for do in right])
    joint = network.joint(c)
    places = np.ravel_multi_index([joint.codes[name].astype(np.int64) for name in network.models], sizes)
    chance = sum_out(joint.chance, places, math.prod(sizes)).reshape(sizes)
    paid = network.costs(c, all_combinations(network.models, sizes)).reshape(sizes)
    for k, model in enumerate(models):
        chance = np.concatenate([chance, chance.sum(k, keepdims=True)], k)
        paid = np.concatenate([paid, paid.take([model.right[c]], k)], k)
    paid = chance * paid
    for k, size in enumerate(sizes):
        paid = np.add.reduceat(paid, [0, size], axis=k)
    return paid.ravel()


def _why_no_shares(network: Network) -> str:
    models = network.models.values()
    if len(models) > MOST_MODELS:
        return f"shares are worked out for up to {MOST_MODELS} models, and there are {len(models)}"
    without = [model.name for model in models if min(model.right) < 0]
    if without:
        return f"which output of {without[0]} is right was not said"
    if network.shared is not False and seen_in_rows(network):
        unknown = "so what would follow from its being perfect is unknown"
        return f"models that see another may share its difficulties, {unknown}"
    if network.joint(0).size * len(network.classes) * 2 ** len(models) > _MOST_WORK:
        return "there are too many combinations to try every subset of the models"
    return ""


# ── a replacement ────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class BreakEven(Record):
    """Which replacements of a model pay for themselves: those on or above a line in (TPR, TNR).

    A replacement with errors independent of the others saves more than its ``price`` when
    ``per_tpr`` · TPR + ``per_tnr`` · TNR > ``needed``.
    """

    model: str
    price: float
    per_tpr: float
    per_tnr: float
    needed: float

    def tnr(self, tpr: float) -> float:
        """The true negative rate that is needed beside a true positive rate; NaN when it does not matter."""
        tpr = check_share("tpr", tpr)
        return (self.needed - self.per_tpr * tpr) / self.per_tnr if self.per_tnr else math.nan

    def saving(self, tpr: float, tnr: float) -> float:
        """What such a replacement saves after its price."""
        return self.per_tpr * check_share("tpr", tpr) + self.per_tnr * check_share("tnr", tnr) - self.needed

    def __str__(self) -> str:
        line = f"{self.per_tpr:.4g}·TPR + {self.per_tnr:.4g}·TNR > {self.needed:.4g}"
        return f"a replacement of {visible(self.model)} at a price of {self.price:g} pays when {line}"


def break_even(costs: ComponentCosts, positive: str | None, price: float) -> BreakEven:
    """Return the line on which a replacement of a two-valued model just pays, its errors taken as independent."""
    if len(costs.outputs) != 2 or len(costs.classes) != 2 or positive is None or min(costs.right) < 0:
        raise InputError(
            "break-even-of-two",
            f"a break-even line in (TPR, TNR) is for two classes and a model that tells them apart; {costs.model!r} "
            "does not",
        )
    if not is_real(price) or not math.isfinite(price):
        raise InputError(
            "bad-replacement-price",
            Given("price", price),
            " is not a number; give what the replacement costs for these cases",
        )
    if costs.sees:
        raise InputError(
            "break-even-without-seeing",
            f"{costs.model!r} sees other models, so one line in (TPR, TNR) does not tell what a replacement is worth",
        )
    if not costs.known:
        raise errors.range_only(costs.model)
    if costs.absent:
        raise errors.class_needed(f"a break-even line of {costs.model!r}", costs.classes[costs.absent[0]])
    pos = costs.classes.index(positive)
    both = (pos, 1 - pos)
    perfect = sum(costs.cases[c] * costs.expected[c, costs.right[c]] for c in both)
    per_tpr, per_tnr = (float(costs.cases[c] * costs.excess[c, 1 - costs.right[c]]) for c in both)
    needed = float(perfect) + per_tpr + per_tnr + price - costs.system_cost
    return BreakEven(costs.model, float(price), per_tpr, per_tnr, needed)
