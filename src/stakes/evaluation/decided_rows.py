"""All rows of class probabilities by the truth, the class with the highest score and the cheapest decision.

One more pass counts them: in memory, or in the engine where the rows lie; nothing but a small table comes of it.
"""

import warnings
from dataclasses import replace

import numpy as np

from stakes.decisions.policies import CHEAPEST, DecidedRows, decide_highest
from stakes.engines.classes.sums import SCORE_OF, any_scores, class_columns
from stakes.engines.columns import Data
from stakes.engines.counting import columns_given, in_batches
from stakes.engines.files.sources import read_once
from stakes.engines.lazy.groups import read_as_rows
from stakes.engines.missing import complete
from stakes.engines.on_disk import are_of_one_kind
from stakes.engines.reading import Read, RowQuestion, read_rows
from stakes.engines.segments import spread_by
from stakes.engines.shared_rows import SIDES, Output, group_shared, have_more_rows_than
from stakes.engines.streaming import MOST_EXACT
from stakes.engines.tables import is_lazy, names_files
from stakes.engines.tensors.arrays import lie_elsewhere
from stakes.question.options import Value
from stakes.question.question import Question
from stakes.tallies.arithmetic import Array
from stakes.tallies.class_scores import ClassScores
from stakes.tallies.clusters import MOST_CLASSES, Clusters
from stakes.tallies.pricing import AS_IN_THE_ROWS, Pricing, shares_of
from stakes.uncertainty.sampling import Sample


def count_decided(data: Data, question: Question, scores: ClassScores, pricing: Pricing) -> DecidedRows | None:
    """Count what is decided in all rows; None where they can be gone through only once, or have too many classes."""
    asked, k = RowQuestion(**{**question.rows, "prediction": None, "pricing": pricing}), len(scores.classes)
    if in_batches(data) or lie_elsewhere(columns_given(data, asked)):
        return None
    files, lazy = data is not None and names_files(data), is_lazy(data)
    if files and read_once(data):
        return None
    if (files or lazy) and not question["exact"] and not asked.from_logits and asked.frequency is None:
        many = have_more_rows_than(MOST_EXACT // k, data, asked.truth, asked.where)
        if k <= MOST_CLASSES and (many if files else scores.sample is None):
            return _count_inside(data, asked, scores)
        if many:
            return None
    with warnings.catch_warnings(action="ignore"):  # all has been said when the rows were counted first
        return _count_read(read_rows(data, asked), scores)


def _count_read(read: Read, scores: ClassScores) -> DecidedRows:
    """Count rows in memory, whose cheapest decisions were found when they were read."""
    rows, plan = read.rows, read.plan
    assert plan is not None
    best, cheapest = np.asarray(rows.scores).argmax(axis=1), np.asarray(rows.prediction)
    sizes = len(plan.classes), len(plan.classes), len(plan.decisions)
    found, cells = np.unique(np.ravel_multi_index((rows.truth, best, cheapest), sizes), return_inverse=True)
    truth, best, cheapest = np.unravel_index(found, sizes)
    sample = Sample(truth, scores.classes, plan.decisions, alike=np.bincount(cells))
    if rows.weight is not None:
        sums, squares = np.bincount(cells, rows.weight), np.bincount(cells, rows.weight**2)
        sample = replace(sample, weight=sums, squares=squares)
    return _by_both(sample, best, cheapest)


def _count_inside(data: Data, asked: RowQuestion, scores: ClassScores) -> DecidedRows | None:
    """Count rows where they lie; None where a column of files has several kinds."""
    pricing = asked.pricing
    assert pricing is not None
    columns = class_columns(replace(asked, pricing=replace(pricing, prior=None, training_prior=None)))
    if columns is None or (names_files(data) and not are_of_one_kind(data)):
        return None
    named = {name: getattr(asked, name) for name in ("truth", "weight", "cluster")}
    shared = {name: column for name, column in named.items() if column is not None}
    where = asked.where
    if asked.missing == "drop":
        where = complete(where, [*shared.values(), *spread_by(asked.by, data).values(), *columns.values()])
    own = {name.removeprefix(SCORE_OF): column for name, column in columns.items()}
    outputs = Output(classes=own), Output(classes=own, pricing=_with_shares(pricing, scores))
    groups = group_shared(data, shared, where, outputs)
    score = any_scores(scores.classes, len(groups.sizes))
    keys = {name: groups.columns[name] for name in shared if name != "weight"}
    rows = read_as_rows(replace(asked, classes=list(scores.classes), score=score, pricing=None, by=None), keys).rows
    best, cheapest = (np.asarray(groups.columns[side]).astype(np.int64) for side in SIDES)
    sample = Sample(rows.truth, scores.classes, outputs[1].decisions, None, groups.weight, rows.cluster)
    return _by_both(replace(sample, alike=groups.sizes, squares=groups.squares), best, cheapest)


def _by_both(sample: Sample, best: Array, cheapest: Array) -> DecidedRows:
    """The two ways to decide by the scores, with the clusters of the rows if there are any."""
    clusters = None
    if sample.cluster is not None:
        clusters = Clusters.of(sample.cluster, sample.truth, weight=sample.weights)
        sample = replace(sample, cluster=clusters.groups)
    highest = decide_highest(best, sample.classes, sample.decisions)
    return DecidedRows.of(sample, {**highest, CHEAPEST: cheapest}, clusters)


def _with_shares(pricing: Pricing, scores: ClassScores) -> Pricing:
    """The same with the class frequencies of the rows as numbers, which no single row knows."""
    if not pricing.needs_all_rows:
        return pricing
    shares: Value = dict(zip(scores.classes, shares_of(scores.sizes.tolist()), strict=True))
    trained = shares if pricing.training_prior == AS_IN_THE_ROWS else pricing.training_prior
    return replace(pricing, prior=pricing.prior or shares, training_prior=trained)
