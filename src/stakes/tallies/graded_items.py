"""Graded items: what each model scored on each question, kept as sums over every two models."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from stakes.errors import InputError, Pass
from stakes.frozen import dataclass, field
from stakes.tallies.arithmetic import Array, distinct, finite
from stakes.tallies.base import Tally
from stakes.tallies.fields import SUMMED_FLOATS, Value, how, same

_CLUSTERING = how(load=bool, same="whether items come in clusters", tell=lambda clustered: "yes" if clustered else "no")
_SEALS = how(
    add=np.concatenate, save=lambda seals: seals.astype(np.uint64), load=lambda saved: np.asarray(saved, np.uint64)
)
_PAIRS = ("answered", "squared", "groups", "gaps", "gap_squares", "gap_counts")
_MODELS = ("sums", "cluster_squares", "cluster_counts")
_REPEATS = ("runs", "inverse_runs", "within", "item_squares")
_BLOCK, _FEW = 512, 64
_SAME = 1e-12
"""Squares below this share of their terms are rounding: two models with the same scores do not differ."""


@dataclass(frozen=True)
class Repeats:
    """How often each model was asked (``counts``), and sums of squares of its answers to an item about their mean."""

    counts: Array
    within: Array


@dataclass(frozen=True, eq=False)
class GradedItems(Tally):
    """Scores of several models on the same items, added up by clusters of items (or by items, without clusters).

    With n the items of a cluster that both models of a pair answered and D the sum of their differences there,
    ``answered`` is Σn, ``squared`` Σn², ``groups`` the number of clusters, ``gaps`` ΣD, ``gap_squares`` ΣD² and
    ``gap_counts`` ΣDn, for every two models. Of each model ``sums`` are ΣS, ``cluster_squares`` ΣS² and
    ``cluster_counts`` ΣSn with S what it scored in a cluster. All of them add up as long as no cluster is split, which
    ``seals`` (a hash of each cluster's name) would show. Where items were asked several times, an item's score is the
    mean, and ``runs``, ``inverse_runs`` (Σ1/repeats), ``within`` and ``item_squares`` give the spread of repeats.
    """

    models: tuple[str, ...] = field(metadata=same("the list of models", load=tuple))
    answered: Array = field(metadata=SUMMED_FLOATS)
    squared: Array = field(metadata=SUMMED_FLOATS)
    groups: Array = field(metadata=SUMMED_FLOATS)
    gaps: Array = field(metadata=SUMMED_FLOATS)
    gap_squares: Array = field(metadata=SUMMED_FLOATS)
    gap_counts: Array = field(metadata=SUMMED_FLOATS)
    sums: Array = field(metadata=SUMMED_FLOATS)
    cluster_squares: Array = field(metadata=SUMMED_FLOATS)
    cluster_counts: Array = field(metadata=SUMMED_FLOATS)
    items: int = field(metadata=how(add=sum))
    lowest: float = field(metadata=how(add=min))
    highest: float = field(metadata=how(add=max))
    binary: bool = field(metadata=how(add=all, load=bool))
    clustered: bool = field(default=False, metadata=_CLUSTERING)
    seals: Array | None = field(default=None, metadata=_SEALS)
    runs: Array | None = field(default=None, metadata=SUMMED_FLOATS)
    inverse_runs: Array | None = field(default=None, metadata=SUMMED_FLOATS)
    within: Array | None = field(default=None, metadata=SUMMED_FLOATS)
    item_squares: Array | None = field(default=None, metadata=SUMMED_FLOATS)

    kind = "items"
    weighted = False

    @classmethod
    def from_items(
        cls,
        models: Sequence[str],
        scores: Array,
        cluster: Array | None = None,
        names: Sequence[str] = (),
        repeats: Repeats | None = None,
    ) -> Self:
        """Add up items × models, NaN where a model gave no answer; ``cluster`` are codes into ``names``.

        >>> tally = GradedItems.from_items(("a", "b"), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]))
        >>> tally.sums / tally.answered.diagonal()
        array([0.66666667, 0.33333333])
        """
        if cluster is None and repeats is None and not np.isnan(scores.sum()):
            return cls._of_complete(tuple(models), np.ascontiguousarray(scores.T))
        there = ~np.isnan(scores)
        known = np.where(there, scores, 0.0)
        centre = known.sum(axis=1, keepdims=True) / np.maximum(there.sum(axis=1, keepdims=True), 1)
        parts = (known, np.where(there, scores - centre, 0.0), there.astype(np.float64))
        added = _by_item(*parts) if cluster is None else _by_cluster(*parts, cluster)
        for name in ("gaps", "gap_counts"):  # what differs nowhere differs by nothing, however sums are rounded
            added[name] = np.where(added["gap_squares"] == 0, 0.0, added[name])
        return cls(
            tuple(models),
            **added,
            items=len(scores),
            lowest=float(np.nanmin(scores, initial=np.inf)),
            highest=float(np.nanmax(scores, initial=-np.inf)),
            binary=_is_binary(known),
            clustered=cluster is not None,
            seals=None if cluster is None else np.array([_seal(names[i]) for i in distinct(cluster)], np.uint64),
            **({} if repeats is None else _repeat_sums(known, repeats)),
        )

    @classmethod
    def of_clusters(
        cls,
        models: tuple[str, ...],
        added: tuple[Array, Array, Array],
        names: Sequence[str],
        ends: tuple[float, float, bool],
    ) -> Self:
        """The same from sums over clusters of complete items: own scores, numbers of items, distances from the mean."""
        own, sizes, apart = added
        low, high, binary = ends
        sums: Value = {**_of_clusters(own, sizes[:, None], apart), "items": int(sizes.sum())}
        seals = np.array([_seal(name) for name in names], np.uint64)
        return cls(models, **sums, lowest=low, highest=high, binary=binary, clustered=True, seals=seals)

    @classmethod
    def of_pairs(
        cls,
        models: tuple[str, ...],
        items: int,
        own: tuple[Array, Array],
        gap_squares: Array,
        gaps: Array,
        ends: tuple[float, float, bool],
    ) -> Self:
        """The same from sums over complete items that stand for themselves: own scores and squares, and differences."""
        count = np.full((len(models),) * 2, float(items))
        gaps = np.where(gap_squares == 0, 0.0, gaps)
        return cls(models, count, count, count, gaps, gap_squares, gaps, own[0], own[1], own[0], items, *ends)

    @classmethod
    def _of_complete(cls, models: tuple[str, ...], scores: Array) -> Self:
        """The same of models × items, each of which stands for itself and was answered by all: in fewer passes."""
        size, binary = scores.shape[1], _is_binary(scores)
        small = binary and size < 1 << 24  # whole numbers that float32 holds
        apart = scores.astype(np.float32) if small else scores - scores.mean(axis=0)
        own, shared = scores.sum(axis=1), _products(apart)
        squares, sums = shared.diagonal(), own if small else apart.sum(axis=1)
        found = _without_rounding(squares[:, None] + squares, 2 * shared)
        ends = float(scores.min()), float(scores.max()), binary
        both = own, np.einsum("ij,ij->i", scores, scores)
        return cls.of_pairs(models, size, both, found, sums[:, None] - sums, ends)

    @property
    def total(self) -> int:
        """The number of items."""
        return self.items

    @property
    def complete(self) -> bool:
        """Whether every model answered every item."""
        return bool((self.answered == self.items).all())

    @property
    def equal_groups(self) -> Array:
        """The effective number of clusters of every two models."""
        known = np.where(self.squared > 0, self.squared, 1.0)
        return np.asarray(self.answered**2 / known)

    @classmethod
    def _sum(cls, parts: list[Self]) -> Self:
        whole = super()._sum(parts)
        if whole.seals is not None and len(parts) > 1:
            twice = len(whole.seals) - len(distinct(whole.seals))
            if twice:
                raise InputError(
                    "split-clusters",
                    f"{twice:,} cluster{' is' if twice == 1 else 's are'} in several parts, and what belongs together "
                    "must be added up together; put all items of a cluster into one part",
                )
        return whole

    def check(self) -> None:
        """Refuse sums of other lengths, and what are no sums of items."""
        size = len(self.models)
        shapes = {**dict.fromkeys(_PAIRS, (size, size)), **dict.fromkeys((*_MODELS, *_REPEATS), (size,))}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array is not None and (array.shape != shape or not finite(array)):
                raise ValueError(f"{name} of another length, or no numbers")
        if size < 2 or len(set(self.models)) < size or type(self.items) is not int:
            raise ValueError("fewer than two models, or no number of items")
        if (self.answered > self.items).any() or (self.groups > self.answered).any() or (self.squared < 0).any():
            raise ValueError("more answers than items")

    def __str__(self) -> str:
        return f"<GradedItems of {len(self.models):,} models on {self.items:,} items>"


def _products(scores: Array) -> Array:
    """The products of every two models; of few models in small blocks, which start no threads."""
    block = _BLOCK if len(scores) <= _FEW else scores.shape[1]
    parts = (scores[:, start : start + block] for start in range(0, scores.shape[1], block))
    whole = np.zeros((len(scores),) * 2)
    for part in parts:
        whole += part @ part.T
    return whole


def _is_binary(scores: Array) -> bool:
    return bool(((scores == 0) | (scores == 1)).all())


def _by_item(known: Array, centred: Array, there: Array) -> dict[str, Array]:
    """The sums where every item stands for itself."""
    answered, gaps, squares = there.T @ there, centred.T @ there, (centred**2).T @ there
    gaps = gaps - gaps.T
    own = known.sum(axis=0)
    return {
        "answered": answered,
        "squared": answered,
        "groups": answered,
        "gaps": gaps,
        "gap_squares": _without_rounding(squares + squares.T, 2 * (centred.T @ centred)),
        "gap_counts": gaps,
        "sums": own,
        "cluster_squares": (known**2).sum(axis=0),
        "cluster_counts": own,
    }


def _by_cluster(known: Array, centred: Array, there: Array, cluster: Array) -> dict[str, Array]:
    """The sums over clusters; of complete items from what each model scored in a cluster."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    own, sizes, apart = (np.add.reduceat(part[order], starts, axis=0) for part in (known, there, centred))
    if there.all():
        return _of_clusters(own, sizes[:, :1], apart)
    models = _of_models(own, sizes)
    added = {name: np.zeros((known.shape[1],) * 2) for name in _PAIRS}
    for rows in np.split(order, starts[1:]):
        both, gap, size = (part.T @ there[rows] for part in (there[rows], centred[rows], np.abs(centred[rows])))
        gap = np.where(np.abs(gap - gap.T) <= _SAME * (size + size.T), 0.0, gap - gap.T)
        for name, part in zip(_PAIRS, (both, both**2, both > 0, gap, gap**2, gap * both), strict=True):
            added[name] += part
    return {**added, **models}


def _of_models(own: Array, sizes: Array) -> dict[str, Array]:
    return {
        "sums": own.sum(axis=0),
        "cluster_squares": (own**2).sum(axis=0),
        "cluster_counts": (own * sizes).sum(axis=0),
    }


def _of_clusters(own: Array, sizes: Array, apart: Array) -> dict[str, Array]:
    return {**_of_sums(apart, sizes), **_of_models(own, sizes)}


def _of_sums(sums: Array, sizes: Array) -> dict[str, Array]:
    """The sums over every two models, from what each scored in each cluster of so many items."""
    pairs = (sums.shape[1],) * 2
    ones = np.ones(sums.shape)
    gaps, counts, squares = (part.T @ ones for part in (sums, sums * sizes, sums**2))
    return {
        "answered": np.full(pairs, sizes.sum()),
        "squared": np.full(pairs, (sizes**2).sum()),
        "groups": np.full(pairs, float(len(sums))),
        "gaps": gaps - gaps.T,
        "gap_squares": _without_rounding(squares + squares.T, 2 * (sums.T @ sums)),
        "gap_counts": counts - counts.T,
    }


def _without_rounding(whole: Array, less: Array) -> Array:
    found = whole - less
    return np.where(found <= _SAME * whole, 0.0, found)


def _repeat_sums(known: Array, repeats: Repeats) -> dict[str, Array]:
    asked = repeats.counts > 0
    return {
        "runs": repeats.counts.sum(axis=0).astype(np.float64),
        "inverse_runs": np.divide(1.0, repeats.counts, out=np.zeros(known.shape), where=asked).sum(axis=0),
        "within": repeats.within.sum(axis=0),
        "item_squares": (known**2).sum(axis=0),
    }


def _seal(name: str) -> int:
    """A number that a cluster's name always gives, and hardly any other name does."""
    import hashlib  # few tallies have clusters

    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def refuse_one_model(models: Sequence[str]) -> None:
    """Refuse to rank fewer than two models."""
    if len(models) < 2:
        seen = f"there is only {models[0]!r}" if models else "there is none"
        raise InputError(
            "one-model-to-rank",
            f"ranks need two models or more, and {seen}; name a column for each in ",
            Pass("scores"),
            ", or the column that tells them apart as ",
            Pass("model"),
        )
