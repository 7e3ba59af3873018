"""rank(): models by their scores on graded items, with intervals of their ranks."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Unpack

import numpy as np

from stakes import errors
from stakes.engines.files.text_format import hearing, in_format
from stakes.engines.items import ItemQuestion, count_items, read_by_task, read_documents
from stakes.engines.plan import Counted
from stakes.engines.tables import names_files
from stakes.errors import Given, InputError, Pass, short, some
from stakes.evaluation.comparison import Pair
from stakes.evaluation.from_tallies import are_tallies, load_parts
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate
from stakes.metrics.searches import grade_queries, parse_measure
from stakes.question.options import Data, Ranked, Value, asks
from stakes.question.question import Question
from stakes.records import Count, Finite, Positive, Record, Says
from stakes.results import Reportable
from stakes.tallies.checks import is_one_of
from stakes.tallies.graded_items import GradedItems
from stakes.text import visible
from stakes.uncertainty.interval import figure
from stakes.uncertainty.ranks import (
    FEWEST_GROUPS,
    PairTests,
    RepeatSpread,
    group_models,
    mean_interval,
    mean_over_tasks,
    rank_limits,
    repeat_spread,
)
from stakes.uncertainty.sampling import FEW_CLUSTERS

TASK = "task"
"""The name of the column of a log's task."""

_OF_ITEMS = tuple(ItemQuestion.__dataclass_fields__)


@dataclass(frozen=True)
class Standing(
    Record,
    shown="rank rank_low rank_high model value=estimate.value low=estimate.low high=estimate.high "
    "method=estimate.method no_interval=estimate.no_interval items group among_best",
):
    """Where a model stands: its rank among all, the interval of its rank, and its mean score.

    ``group`` numbers the groups that surely differ; ``among_best`` says whether the model may be the best. ``items`` is
    how many it answered.
    """

    rank: Positive
    rank_low: Positive
    rank_high: Positive
    model: str
    estimate: Estimate
    items: Count
    group: Positive
    among_best: bool


@dataclass(frozen=True, eq=False)
class Ranks(
    Record,
    Narrated,
    Reportable,
    stakes="ranks",
    shown="items clusters confidence higher_is_better complete best findings standings repeats?",
):
    """Models by their mean score on the same items, each with the interval of its rank.

    ``standings`` has a line for each model, the best first: with the stated confidence the intervals of **all** ranks
    hold at once. ``best`` are the models that may be the best. ``pair("a", "b")`` compares two.
    """

    counted: Counted
    confidence: Finite = 0.95
    higher_is_better: bool = True

    plotted_as = "ranks"

    @property
    def tally(self) -> GradedItems:
        """What was counted: sums over every two models."""
        found = self.counted.tallies["items"]
        assert isinstance(found, GradedItems)
        return found

    @property
    def models(self) -> tuple[str, ...]:
        """The models as they came."""
        return self.tally.models

    @property
    def items(self) -> Count:
        """How many items there are."""
        return self.tally.items

    @property
    def clusters(self) -> Count | None:
        """How many clusters of items there are; None without clusters."""
        return int(self.tally.groups.max()) if self.tally.clustered else None

    @property
    def complete(self) -> Annotated[bool, Says("Whether every model answered every item.")]:
        """Whether every model answered every item."""
        return self.tally.complete

    @cached_property
    def tests(self) -> PairTests:
        """Every two models tested against each other."""
        if self.tasks:
            return PairTests.over_tasks(self.tasks, self.higher_is_better)
        return PairTests.of(self.tally, self.higher_is_better)

    @property
    def tasks(self) -> list[GradedItems]:
        """The tally of each task, where tasks are weighted equally; empty without tasks."""
        found = [part.tallies["items"] for part in self.counted.segments.values()]
        return [one for one in found if isinstance(one, GradedItems)]

    @cached_property
    def standings(self) -> Annotated[Sequence[Standing], Says(least_items=2)]:
        """A line for each model, the best first."""
        tests, tally = self.tests, self.tally
        better = tests.surely_better(self.confidence)
        low, high = rank_limits(better)
        groups, best = group_models(tests.order, better), tests.among_best(self.confidence)
        return [
            Standing(
                rank=1 + int((tests.strengths > tests.strengths[place]).sum()),
                rank_low=int(low[place]),
                rank_high=int(high[place]),
                model=tally.models[place],
                estimate=self._mean(place),
                items=int(tally.answered[place, place]),
                group=int(groups[place]),
                among_best=bool(best[place]),
            )
            for place in tests.order.tolist()
        ]

    def _mean(self, place: int) -> Estimate:
        if self.tasks:
            value, limits = mean_over_tasks(self.tasks, place, self.confidence)
            return figure("score", value, math.nan, limits, self.confidence)
        found = mean_interval(self.tally, place, self.confidence)
        answered = float(self.tally.answered[place, place])
        value = float(self.tally.sums[place]) / answered if answered else math.nan
        reason = "" if answered else "it answered no item"
        return figure("score", value, math.nan, found, self.confidence, reason)

    @property
    def best(self) -> list[str]:
        """The models that may be the best: no other is shown to be better than them."""
        return [one.model for one in self.standings if one.among_best]

    @cached_property
    def repeats(self) -> RepeatSpread | None:
        """Whether to ask more items or to repeat more often; None where nothing was asked twice."""
        return repeat_spread(self.tally)

    def pair(self, one: str, other: str) -> Pair:
        """Compare two models: the first minus the second, with Holm's p-value over all pairs."""
        known = [name for name in (one, other) if is_one_of(name, self.models)]
        if len(known) < 2 or one == other:
            raise InputError(
                "no-such-models",
                f"{short(repr(one))} and {short(repr(other))} are not two of the models; there are "
                f"{some(list(self.models))}",
            )
        return self._pair(self.models.index(one), self.models.index(other))

    def pairs(self) -> list[Pair]:
        """Compare every two models, the one that ranks higher first."""
        order = self.tests.order.tolist()
        return [self._pair(one, other) for place, one in enumerate(order) for other in order[place + 1 :]]

    def _pair(self, one: int, other: int) -> Pair:
        tests, sign = self.tests, 1 if self.higher_is_better else -1
        names, gap = (self.models[one], self.models[other]), sign * float(tests.gaps[one, other])
        if not tests.comparable[one, other]:
            few = f"they have fewer than {FEWEST_GROUPS} items or clusters in common"
            return Pair(*names, "score", gap if tests.groups[one, other] else math.nan, note=few)
        low, high = sorted(sign * end for end in tests.interval(one, other, self.confidence))
        p, adjusted = float(tests.p_values[one, other]), float(tests.adjusted[one, other])
        return Pair(*names, "score", gap, low, high, p, adjusted, "Student's t")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sums to a file, which adds up with others of the same models: ``rank(["a.tally", "b.tally"])``."""
        self.counted.save(path, exact=bool(self.tasks))  # small tasks are not merged like small segments

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per model, for a data frame."""
        return [one.data() for one in self.standings]

    def __repr__(self) -> str:
        return visible(f"<Ranks of {len(self.models):,} models on {self.items:,} items>")


@asks("rank")
def rank(data: Data = None, **asked: Unpack[Ranked]) -> Ranks:
    """Rank models by their scores on the same items, and say which of the ranks are more than chance.

    A table may have a column for each model (``scores=["a", "b"]``, one row for each ``item``), or a row for each
    model and item (``item=``, ``model=``, ``score=``). Scores are any numbers whose mean matters: 0 and 1, shares,
    losses (``higher_is_better=False``). ``cluster`` names items that belong together (questions about one text),
    ``repeat`` runs of the same item, which are averaged, ``task`` benchmarks with equal weights (``task="task"`` for
    logs). Where models did not answer every item, ``missing="pairwise"`` compares every two on the items that both
    answered; means of what each happened to answer would reward a model that skips hard items.

    Logs of Inspect (``.eval``, ``.json``), lm-evaluation-harness (``samples_*.jsonl``), promptfoo and DeepEval, too:
    ``rank(["a.eval", "b.eval"], scores="accuracy", cluster="passage")``, where ``scores`` names one of several scores.

    Where rows are documents, ``query`` and ``relevance`` name their columns, and each query is an item, graded by the
    order in which a model's scores put its documents (``measure="ndcg@10"``).

    Sums over every two models are all that is kept: ``ranks.save("a.tally")``, ``rank(["a.tally", "b.tally"])``.

    >>> found = rank(scores={"new": [1, 1, 1, 1, 1, 0, 1, 1], "old": [0, 1, 1, 0, 0, 0, 1, 0]})
    >>> [(one.model, one.rank_low, one.rank_high) for one in found.standings]
    [('new', 1, 1), ('old', 2, 2)]
    """
    question = Question.of("rank", asked)
    if not is_one_of(question["missing"], ("error", "pairwise")):
        raise InputError(
            "bad-missing", Given("missing", question["missing"]), " is not known; it is 'error' or 'pairwise'"
        )
    counted = _counted(data, question)
    found = Ranks(counted, question.sampling.confidence, question["higher_is_better"])
    _refuse_few(found)
    return found


def _counted(data: Data, question: Question) -> Counted:
    if data is not None and are_tallies(data):
        parts = load_parts(data)
        for part in parts:
            if part.task != "items":
                raise InputError(
                    "no-items",
                    "this tally holds no graded items; give one that rank(…).save() or stakes rank … --tally wrote",
                )
        return Counted.sum(parts)
    asked = {name: question[name] for name in _OF_ITEMS}
    with hearing():
        data, asked = _from_logs(data, asked, question["task"] == TASK)
        data = in_format(data, question.text_format)
        if question["query"] is not None or question["relevance"] is not None:
            data, asked = _from_queries(data, asked, question)
        if question["task"] is not None:
            tasks = _by_task(data, ItemQuestion(**asked), question["task"])
            counted = {name: Counted("items", {"items": part}) for name, part in tasks.items()}
            return Counted("items", {"items": GradedItems.sum(tasks.values())}, counted)
        tally = count_items(data, ItemQuestion(**asked))
    where = {} if question["where"] is None else {"where": question["where"]}
    return Counted("items", {"items": tally}, question=where)


def _by_task(data: Data, asked: ItemQuestion, task: Value) -> dict[str, GradedItems]:
    """Count the items of each task by themselves."""
    if asked.missing != "error":
        raise InputError("tasks-complete", Given("missing", asked.missing), " does not go with tasks; give all answers")
    if asked.where is not None:
        raise InputError("tasks-of-all-rows", Given("where"), " does not go with tasks; choose rows before")
    columns, labels = read_by_task(data, asked, task)
    found = {}
    for code, name in enumerate(labels.names):
        found[name] = part = count_items(None, columns(labels.codes == code))
        if float(part.equal_groups.min()) < 2:
            raise InputError(
                "task-of-one", f"the task {short(repr(name))} has one item or cluster; ranks need 2 or more"
            )
    if len(found) < 2:
        raise InputError("one-task", "all items are of one task; leave ", Pass("task"), " out")
    return found


def _from_logs(data: Data, asked: dict[str, Value], by_task: bool) -> tuple[Data, dict[str, Value]]:
    """Logs of evaluation harnesses as a table with a row for each answer, and the question about it; else unchanged."""
    if not names_files(data) or any(asked[name] is not None for name in ("item", "model", "score", "where")):
        return data, asked
    from stakes.engines.files.logs import columns_of_logs, read_logs
    from stakes.engines.files.sources import sources

    logs = read_logs([source.path for source in sources(data)])
    if logs is None:
        return data, asked
    scores = [asked["scores"]] if isinstance(asked["scores"], str) else asked["scores"] or [None]
    if len(scores) > 1:
        raise InputError("one-score-of-logs", Given("scores"), " names what logs are ranked by; give one")
    table = columns_of_logs(logs, scores[0], asked["cluster"], asked["missing"] == "pairwise", by_task)
    named = {name: name for name in ("item", "model", "score")}
    repeat = "repeat" if len(set(table["repeat"])) > 1 else None
    cluster = None if asked["cluster"] is None else "cluster"
    return table, {**asked, **named, "scores": None, "repeat": repeat, "cluster": cluster}


def _from_queries(data: Data, asked: dict[str, Value], question: Question) -> tuple[Data, dict[str, Value]]:
    """Rows of documents as a table of queries, graded by the order in which each model puts their documents."""
    needed = (question["query"], question["relevance"], asked["scores"])
    if any(one is None for one in needed) or asked["item"] is not None:
        raise InputError(
            "which-documents",
            "orders of documents are graded by query; give ",
            Pass("query"),
            ", ",
            Pass("relevance"),
            " and ",
            Pass("scores"),
            ", and leave out items",
        )
    parse_measure(question["measure"])
    beside = {"query": question["query"], "relevance": question["relevance"], "cluster": asked["cluster"]}
    found = read_documents(data, asked["scores"], beside, asked["where"])
    graded = {
        name: grade_queries(question["measure"], found.query.codes, found.relevance, score)
        for name, score in found.scores.items()
    }
    known = ~np.isnan(next(iter(graded.values())))
    if not known.all():
        lost = int((~known).sum())
        errors.warn(
            "queries-without-relevant",
            f"{lost:,} of {len(known):,} queries have no relevant document and are left out: no order is better",
        )
    named = np.array(found.query.names, object)[known]
    cluster = None if found.cluster is None else found.cluster[known]
    scores = {name: values[known] for name, values in graded.items()}
    return None, {**asked, "item": named, "scores": scores, "cluster": cluster, "where": None}


def _refuse_few(ranks: Ranks) -> None:
    """Refuse too few items to compare any two models, and warn of few clusters."""
    tally = ranks.tally
    pairs = ~np.eye(len(tally.models), dtype=bool)
    most = float(tally.equal_groups[pairs].max())
    if most < FEWEST_GROUPS:
        seen = (
            f"the clusters of items tell as much as {most:.3g} equal ones"
            if tally.clustered
            else f"no two models have {FEWEST_GROUPS} items in common"
        )
        raise InputError("few-items", f"{seen}; ranks need {FEWEST_GROUPS} or more, so give more of them")
    if tally.clustered and most < FEW_CLUSTERS:
        errors.warn("few-clusters", errors.few_clusters(round(most), FEW_CLUSTERS))
