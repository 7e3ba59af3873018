"""Figures of a search: how good is the order in which a query's documents come?

Each is one number for each query, so that queries are graded items. Documents with the same score come in random order,
and the figure is the mean over all of these orders (average precision: all of them come at once).

Järvelin & Kekäläinen (2002), ACM TOIS 20; McSherry & Najork (2008), ECIR.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from stakes.errors import Given, InputError
from stakes.tallies.arithmetic import Array

_MEASURE = re.compile(r"(?P<name>[a-z_]+)(?:@(?P<depth>[1-9]\d{0,8}))?")
_ALIASES = {"map": "average_precision", "ap": "average_precision", "reciprocal_rank": "mrr", "hit": "hit_rate"}
_NEEDS_DEPTH = ("recall", "precision", "hit_rate")


@dataclass(frozen=True, eq=False)
class OrderedDocuments:
    """The documents of all queries in the order of their scores, those of one query and score as one group.

    ``query`` numbers the query of each group, ``before`` is how many documents come before it, ``size`` and ``gain``
    how many it holds and what their relevance adds up to, ``relevant`` how many of them are relevant at all.
    """

    query: Array
    before: Array
    size: Array
    gain: Array
    relevant: Array
    queries: int

    @classmethod
    def of(cls, query: Array, relevance: Array, score: Array) -> "OrderedDocuments":
        """Put documents in order; ``query`` are numbers from 0 on."""
        order = np.lexsort((-score, query))
        query, relevance, score = query[order], relevance[order], score[order]
        new = np.ones(len(query), bool)
        new[1:] = (np.diff(query) != 0) | (np.diff(score) != 0)
        starts = np.flatnonzero(new)
        first = np.searchsorted(query, query[starts])
        sizes = np.diff(np.append(starts, len(query)))
        gain, relevant = (np.add.reduceat(part, starts) for part in (relevance, (relevance > 0).astype(np.float64)))
        return cls(query[starts], starts - first, sizes, gain, relevant, int(query.max()) + 1)

    def add(self, values: Array) -> Array:
        """Add up over the groups of each query."""
        return np.asarray(np.bincount(self.query, values, self.queries))

    @cached_property
    def all_relevant(self) -> Array:
        """How many documents of each query are relevant."""
        return self.add(self.relevant)

    def inside(self, depth: float) -> Array:
        """How many documents of each group come within the first so many."""
        return np.asarray(np.clip(depth - self.before, 0, self.size))


def _dcg(search: OrderedDocuments, depth: float) -> Array:
    """Σ relevance / log₂(place + 1)."""
    most = int((search.before + search.size).max())
    discounts = np.append(0.0, np.cumsum(1 / np.log2(np.arange(2, most + 2))))
    seen = search.inside(depth).astype(np.int64)
    return search.add(search.gain / search.size * (discounts[search.before + seen] - discounts[search.before]))


def _ndcg(search: OrderedDocuments, depth: float, ideal: OrderedDocuments) -> Array:
    best = _dcg(ideal, depth)
    return np.asarray(_dcg(search, depth) / np.where(best > 0, best, np.nan))


def _recall(search: OrderedDocuments, depth: float) -> Array:
    found = search.add(search.relevant * search.inside(depth) / search.size)
    return found / np.where(search.all_relevant > 0, search.all_relevant, np.nan)


def _precision(search: OrderedDocuments, depth: float) -> Array:
    return search.add(search.relevant * search.inside(depth) / search.size) / depth


def _average_precision(search: OrderedDocuments, depth: float) -> Array:
    running = np.cumsum(search.relevant)
    first = np.searchsorted(search.query, search.query)
    hits = running - np.append(0.0, running)[first]
    found = search.add(search.relevant * hits / (search.before + search.size) * (search.before < depth))
    return found / np.where(search.all_relevant > 0, search.all_relevant, np.nan)


def _hit_rate(search: OrderedDocuments, depth: float) -> Array:
    """1 less the chance that none of the documents within the depth is relevant."""
    from scipy.special import gammaln

    others, seen = search.size - search.relevant, search.inside(depth)
    possible = others >= seen
    left = np.where(possible, others - seen, 0)
    ways = gammaln(others + 1) - gammaln(left + 1) - gammaln(search.size + 1) + gammaln(search.size - seen + 1)
    log = search.add(np.where(possible, ways, -np.inf))
    return np.where(search.all_relevant > 0, -np.expm1(log), np.nan)


def _mrr(search: OrderedDocuments, depth: float) -> Array:
    """1 / the place of the first relevant document; 0 where it is beyond the depth."""
    found = np.where(search.all_relevant > 0, 0.0, np.nan)
    some = np.flatnonzero(search.relevant > 0)
    first = some[np.unique(search.query[some], return_index=True)[1]]
    for query, before, size, relevant in zip(
        *(part[first].tolist() for part in (search.query, search.before, search.size, search.relevant)), strict=True
    ):
        chance, value = relevant / size, 0.0  # that the next of the documents that tie is the first relevant one
        left = 1.0
        for place in range(1, int(size - relevant) + 2):
            value += left * chance / (before + place) * (before + place <= depth)
            left *= 1 - chance
            chance = relevant / (size - place) if size > place else 0.0
        found[query] = value
    return found


_FIGURES: dict[str, Callable[[OrderedDocuments, float], Array]] = {
    "dcg": _dcg,
    "mrr": _mrr,
    "average_precision": _average_precision,
    "recall": _recall,
    "precision": _precision,
    "hit_rate": _hit_rate,
}


def grade_queries(measure: str, query: Array, relevance: Array, score: Array) -> Array:
    """The figure of each query, NaN where it has no relevant document.

    >>> grade_queries("mrr", np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0]), np.array([0.9, 0.8, 0.9, 0.8]))
    array([0.5, 1. ])
    """
    name, depth = parse_measure(measure)
    search = OrderedDocuments.of(query, relevance, score)
    if name == "ndcg":
        return _ndcg(search, depth, OrderedDocuments.of(query, relevance, relevance))
    return np.asarray(_FIGURES[name](search, depth))


def parse_measure(text: object) -> tuple[str, float]:
    """Read ``ndcg@10``: a figure, and how many documents it looks at (all without a number)."""
    found = _MEASURE.fullmatch(text) if isinstance(text, str) else None
    name = _ALIASES.get(found["name"], found["name"]) if found else ""
    if found is None or name not in (*_FIGURES, "ndcg") or (name in _NEEDS_DEPTH and not found["depth"]):
        raise InputError(
            "bad-measure",
            Given("measure", text),
            " is no figure of a search; give ndcg, dcg, mrr or average_precision, with a depth if wanted (ndcg@10), or "
            "recall@10, precision@10 or hit_rate@10",
        )
    return name, math.inf if found["depth"] is None else float(found["depth"])
