"""Figures of searches against scikit-learn, and against all orders of documents that tie."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

import stakes
from stakes.errors import InputError
from stakes.metrics.searches import grade_queries

RNG = np.random.default_rng(0)
SIZES = RNG.integers(3, 7, 40)
QUERY = np.repeat(np.arange(40), SIZES)
RELEVANCE = RNG.integers(0, 4, len(QUERY)).astype(float)
RELEVANCE[np.unique(QUERY, return_index=True)[1]] = 1  # each has a relevant document
SCORES = {"plain": RNG.random(len(QUERY)), "tied": RNG.integers(0, 3, len(QUERY)).astype(float)}


def by_query(*columns):
    return [[column[number == QUERY] for column in columns] for number in range(40)]


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("depth", [1, 3, None])
def test_gains_are_those_of_scikit_learn(name, depth):
    end = "" if depth is None else f"@{depth}"
    for measure, function in (("ndcg", ndcg_score), ("dcg", dcg_score)):
        found = grade_queries(f"{measure}{end}", QUERY, RELEVANCE, SCORES[name])
        wanted = [function([rel], [score], k=depth) for rel, score in by_query(RELEVANCE, SCORES[name])]
        assert found == pytest.approx(wanted)


@pytest.mark.parametrize("name", SCORES)
def test_average_precision_is_that_of_scikit_learn(name):
    found = grade_queries("map", QUERY, RELEVANCE, SCORES[name])
    wanted = [average_precision_score(rel > 0, score) for rel, score in by_query(RELEVANCE, SCORES[name])]
    assert found == pytest.approx(wanted)


def over_all_orders(function, relevant, score):
    """The mean over all orders that put higher scores first."""
    orders = [o for o in itertools.permutations(range(len(score))) if all(np.diff(score[list(o)]) <= 0)]
    return np.mean([function(relevant[list(order)]) for order in orders])


def reciprocal(relevant, depth):
    places = np.flatnonzero(relevant[:depth])
    return 1 / (places[0] + 1) if len(places) else 0.0


@pytest.mark.each_choice
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_places_are_means_over_all_orders_of_ties(name, depth):
    figures = {
        "mrr": lambda rel: reciprocal(rel, depth),
        "recall": lambda rel: rel[:depth].sum() / rel.sum(),
        "precision": lambda rel: rel[:depth].sum() / depth,
        "hit_rate": lambda rel: float(rel[:depth].any()),
    }
    for measure, function in figures.items():
        found = grade_queries(f"{measure}@{depth}", QUERY, RELEVANCE, SCORES[name])
        wanted = [over_all_orders(function, rel > 0, score) for rel, score in by_query(RELEVANCE, SCORES[name])]
        assert found == pytest.approx(wanted), measure


def test_queries_are_ranked_as_items():
    table = {"q": QUERY, "rel": RELEVANCE, "topic": QUERY // 4, "good": RELEVANCE + RNG.random(len(QUERY)), **SCORES}
    ranks = stakes.rank(table, query="q", relevance="rel", scores=["plain", "good"], measure="ndcg@3")
    items = {n: grade_queries("ndcg@3", QUERY, RELEVANCE, table[n]) for n in ("plain", "good")}
    assert ranks.to_rows() == stakes.rank(scores=items).to_rows()
    assert (ranks.best, ranks.items) == (["good"], 40)
    with pytest.warns(stakes.InputWarning, match="there are only 10 clusters"):
        assert stakes.rank(table, query="q", relevance="rel", scores=["plain", "good"], cluster="topic").clusters == 10


def test_queries_without_a_relevant_document_are_left_out_and_said():
    relevance = np.where(QUERY < 30, RELEVANCE, 0)
    with pytest.warns(stakes.InputWarning, match="10 of 40 queries have no relevant document"):
        assert stakes.rank(query=QUERY, relevance=relevance, scores=SCORES, measure="mrr").items == 30


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("bad-measure", {"measure": "ndcg@0"}),
        ("bad-measure", {"measure": "recall"}),
        ("bad-measure", {"measure": "auc"}),
        ("which-documents", {"relevance": None}),
        ("which-documents", {"item": QUERY}),
        ("negative-relevance", {"relevance": RELEVANCE - 9}),
    ],
)
def test_wrong_questions_are_one_line(code, call):
    with pytest.raises(InputError) as caught:
        stakes.rank(**{"query": QUERY, "relevance": RELEVANCE, "scores": SCORES, **call})
    assert caught.value.code == code
