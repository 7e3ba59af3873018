"""Rows with several labels, several outputs or several quantiles: one figure for all of them, and those of each."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from stakes import errors, metrics
from stakes.engines import memory
from stakes.engines.plan import Counted, Plan
from stakes.errors import Given, InputError
from stakes.evaluation.base import Evaluation
from stakes.metrics import Estimate, Metric
from stakes.metrics.declare import FORMS
from stakes.metrics.multilabel import needs_scores
from stakes.metrics.quantiles import crps, crps_skill, share_between
from stakes.metrics.ranking import auc, average_precision
from stakes.metrics.regression import explained_variance, r2
from stakes.metrics.usual import AVERAGED, COMPARED, EACH_FIGURES, GAINS
from stakes.question.options import Value
from stakes.records import Count, Finite, Record, Share
from stakes.tallies import Confusion, ErrorSums, LabelSums, OutputSums, QuantileSums, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.clusters import Clusters
from stakes.tallies.costs import Costs
from stakes.tallies.label_sums import dense_column
from stakes.tallies.names import canonical, figure_of_class
from stakes.tallies.on_demand import OnDemand
from stakes.tallies.quantile_sums import ENSEMBLE, pairs_of
from stakes.uncertainty.interval import Interval, wilson
from stakes.uncertainty.sampling import Sampling

if TYPE_CHECKING:
    from stakes.decisions.thresholds.by_label import LabelDecisions
    from stakes.decisions.thresholds.decision import Decision

_MOST = 200
"""Of more labels than this only the most frequent ones are shown one by one."""

_MOST_PAIRS = 10
"""So many pairs of labels that are missed together are told."""

_MOST_BARS = 50
"""With more quantiles or members than this there is no PIT histogram."""

_FEW_QUANTILES = 5
"""From fewer quantiles than this a distribution is known only roughly."""

ROUGH = "it rests on few quantiles, so it is rough and not to be compared with that of others"

_AVERAGES = ("macro", "micro", "weighted")


class SeveralEvaluation(Evaluation, facts=""):
    """What evaluations of several things per row share; ``ev["f1", "cat"]`` is the figure of one of them."""

    @classmethod
    def _fits(cls, counted: Counted) -> bool:
        return cls is not SeveralEvaluation and counted.task == cls.task

    @property
    def names(self) -> tuple[str, ...]:
        """The labels, the outputs, or the levels of the quantiles."""
        return self._size.names  # type: ignore[attr-defined,no-any-return]

    @property
    def support(self) -> dict[str, Finite]:
        """How many rows (by weight) each is about; of labels, those that have it."""
        return dict.fromkeys(self.names, float(self._size.total))

    @cached_property
    def shown_names(self) -> Sequence[str]:
        """The names that are shown one by one: all, or the most frequent ones."""
        return (
            sorted(self.names, key=lambda name: -self.support[name])[:_MOST] if len(self.names) > _MOST else self.names
        )

    @cached_property
    def each_figures(self) -> dict[str, dict[str, Estimate]]:
        """The figures of each, with their intervals."""
        return {name: {one: self[one, name] for one in self._each_known} for name in self.shown_names}

    @property
    def _each_known(self) -> Sequence[str]:
        return EACH_FIGURES[self.task]

    @cached_property
    def each(self) -> Mapping[str, Evaluation]:
        """The evaluation of each by itself, by name."""
        return OnDemand(self.names, self._one)

    def _one(self, name: str) -> Evaluation:
        raise NotImplementedError

    def _named(self, of: Value) -> str:
        if canonical(of) not in self.names:
            raise errors.no_such_class(of, self.names)
        return canonical(of)

    def _split(self, name: Value) -> tuple[Evaluation | None, Value]:
        """The evaluation of one of them and the name of a figure there, where one is asked about."""
        pair = (isinstance(name, str) and figure_of_class(name)) or name
        return (self.each[self._named(pair[1])], pair[0]) if isinstance(pair, tuple) else (None, name)

    def __getitem__(self, name: Value) -> Estimate:
        one, name = self._split(name)
        return super().__getitem__(name) if one is None else one[name]

    def _place_of(self, name: Value) -> tuple[Metric, Tally | None, Sampling]:
        one, name = self._split(name)
        return super()._place_of(name) if one is None else one._place_of(name)

    def _classes_to_price(self, argument: str = "costs") -> tuple[Sequence[str], str | None]:
        if self.task != "labels":
            raise errors.costs_of_numbers(argument)
        words = " is about the two classes of one label, and here are several; evaluate a label by itself"
        raise InputError("classes-of-one-column", Given(argument), words)

    @property
    def calibration(self) -> NoReturn:
        """Refuse, and say where calibration is."""
        words = f"ask it of one column: ev.each[{self.names[0]!r}].calibration"
        if self.task == QuantileSums.kind:
            words = "of quantiles ask ev['share_below(level=0.5)'], ev.pit or ev.coverage_by_width"
        raise InputError("calibration-of-several", f"calibration is about one column of answers; {words}")

    def _own_plots(self) -> Iterable[str]:
        return ("each",) if self.shown_names else ()


# ── several labels ───────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class MissedTogether(Record):
    """Two labels: ``rows`` miss the label ``missed``, and the label ``beside`` is missed, too, or given instead."""

    missed: str
    beside: str
    rows: Finite
    share: Share


class LabelsEvaluation(SeveralEvaluation, facts="labels=names support each_figures forgotten taken_for"):
    """The evaluation of several labels per row.

    ``ev["macro_f1"]`` is the mean over the labels, ``ev["f1", "cat"]`` the figure of one, and ``ev.each["cat"]`` its
    whole evaluation, of two classes.
    """

    task = "labels"

    @property
    def _usual_figure(self) -> str:
        return COMPARED[LabelSums] if "decided" in self.labels else GAINS[self.task][-1]

    @property
    def labels(self) -> LabelSums:
        """The sums behind the figures."""
        return self.counted.tallies["labels"]  # type: ignore[return-value]

    @cached_property
    def support(self) -> dict[str, Finite]:
        """The (weighted) number of rows that have each label."""
        return dict(zip(self.names, self.labels["truth"].tolist(), strict=True))

    @property
    def _each_known(self) -> Sequence[str]:
        decided, scored = "decided" in self.labels, "depth" in self.labels
        return [name for name in EACH_FIGURES[self.task] if (scored if name == auc.name else decided)]

    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        own = [metric for metric in metrics.catalogue() if metric.tally is LabelSums]
        bases = AVERAGED if "decided" in self.labels else ()
        found = [metrics.find(f"{how}_{base}") for base in bases for how in _AVERAGES]
        if "depth" in self.labels:
            ranked = (auc.name, average_precision.name)
            found += [metrics.find(f"{how}_{base}") for base in ranked for how in ("macro", "weighted")]
        there = [one for one in own if ("depth" if needs_scores(one) else "decided") in self.labels]
        yield self.labels, there + [FORMS[LabelSums](one) for one in found]

    def _declared(self, name: Value) -> Metric:
        metric = super()._declared(name)
        if metric.tally is LabelSums:
            return metric
        if metric.tally is ErrorSums:
            self._why_no(metric)
        return FORMS[LabelSums](metric)

    def _one(self, name: str) -> Evaluation:
        sums, place = self.labels, self.names.index(name)
        plan = Plan((f"not {name}", name), (f"not {name}", name), name)
        if sums.rows is None:
            return Evaluation(self._from_sums(place, plan), sampling=self.sampling)
        columns = {key: dense_column(one, place) for key, one in sums.rows.columns.items()}
        codes = {key: columns[key].astype(np.uint8) for key in ("truth", "decided") if key in columns}
        rows = memory.Rows(codes["truth"], codes.get("decided"), columns.get("scores"), weight=sums.rows.weight)
        clusters = self.counted.clusters
        rows = rows if clusters is None else replace(rows, cluster=clusters.groups)
        return Evaluation(memory.count_classes(plan, rows, None), sampling=self.sampling)

    def _from_sums(self, place: int, plan: Plan) -> Counted:
        """The decisions about a label, and its scores in bins, where rows were not kept."""
        sums, tallies, held = self.labels, dict[str, Tally](), None
        if "decided" in sums:
            squares = _cells(sums.moved(sums.squared), place) if sums.squared is not None else None
            cells = _cells(sums, place)
            tallies["confusion"] = Confusion(plan.classes, plan.decisions, cells, squares, plan.positive)
        if self.counted.clusters is not None:
            held = self._clusters_of(place)
        if sums.tables and (held is None or held.scores is not None):
            tallies["scores"] = replace(sums.tables[place], positive=str(plan.positive), negative=plan.negative)
        return Counted("classification", tallies, clusters=held)

    def _clusters_of(self, place: int) -> Clusters:
        """The tables of a label in each cluster, and its scores, as entries that stand for rows."""
        if self.labels.cells:
            return self.labels.cells[place].as_clusters(self.counted.clusters.count)  # type: ignore[union-attr]
        cells = _cells(self.labels.moved(np.asarray(self.labels.groups)), place).reshape(-1, 4)
        groups, codes = np.repeat(np.arange(len(cells)), 4), np.tile(np.arange(4), len(cells))
        count = self.counted.clusters.count  # type: ignore[union-attr]
        return Clusters(groups, count, codes // 2, codes % 2, weight=cells.ravel())

    def decide(self, costs: Costs | None = None, **asked: Value) -> "LabelDecisions":
        """Return the best threshold of each label, found as for two classes, and what it costs on other rows.

        The most frequent labels are decided about; those that no row has, or that all rows have, are left out.
        """
        from stakes.decisions.thresholds.by_label import LabelDecisions  # only asked for now and then

        if not self.labels.tables:
            if "depth" not in self.labels:
                raise errors.no_scores_to_decide()
            words = "scores of labels stay with the rows; decide about the rows themselves"
            raise InputError("label-scores-are-gone", words)
        mixed = [name for name in self.shown_names if 0 < self.support[name] < float(self.rows)]
        chosen: dict[str, Decision] = {
            name: self.each[name].decide(costs, **asked)  # type: ignore[misc]
            for name in mixed or self.names[:1]
        }
        left = tuple(name for name in self.shown_names if name not in chosen)
        return self._add_cautions(LabelDecisions(chosen, len(self.names), self.rows, left))

    @cached_property
    def _together(self) -> Array | None:
        few = len(self.names) <= 2000 and "decided" in self.labels
        kept = self.labels.rows is not None or self.labels.together is not None
        return self.labels.missed_together() if few and kept else None

    @cached_property
    def forgotten(self) -> list[MissedTogether]:
        """The pairs of labels that are most often missed in the same row."""
        found = self._together
        return [] if found is None else self._pairs(np.triu(found[0], 1), found[0])

    @property
    def taken_for(self) -> list[MissedTogether]:
        """The labels that are most often missed while another is wrongly given."""
        found = self._together
        return [] if found is None else self._pairs(found[1], found[0])

    def _pairs(self, counts: Array, missed: Array) -> list[MissedTogether]:
        order = np.argsort(-counts, axis=None, kind="stable")[:_MOST_PAIRS]
        places = [divmod(int(place), counts.shape[1]) for place in order]
        return [
            MissedTogether(self.names[i], self.names[j], float(counts[i, j]), float(counts[i, j] / missed[i, i]))
            for i, j in places
            if counts[i, j] > 0
        ]


def _cells(sums: LabelSums, place: int) -> Array:
    """The table of one label."""
    return np.asarray(sums.against_rest().counts[..., place, :, :])


# ── several outputs ──────────────────────────────────────────────────────────────────────────────────────────────
class OutputsEvaluation(SeveralEvaluation, facts="outputs=names each_figures"):
    """The evaluation of several predicted numbers per row.

    ``ev["uniform_r2"]`` is the mean over the outputs, ``ev["r2", "height"]`` the figure of one, and
    ``ev.each["height"]`` its whole evaluation.
    """

    task = "outputs"
    _usual_figure = COMPARED[OutputSums]

    @property
    def outputs(self) -> OutputSums:
        """The sums behind the figures."""
        return self.counted.tallies["outputs"]  # type: ignore[return-value]

    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        own = [metric.name for metric in metrics.catalogue() if metric.family == "regression"]
        shares = [f"variance_weighted_{one.name}" for one in (r2, explained_variance)]
        yield self.outputs, [metrics.find(name) for name in [*(f"uniform_{name}" for name in own), *shares]]

    def _declared(self, name: Value) -> Metric:
        metric = super()._declared(name)
        if metric.tally is ErrorSums:
            raise InputError(
                "which-output",
                f"{metric.name} is a figure of one output; write 'uniform_{metric.name}', or "
                f"{metric.name}[{self.names[0]}]",
            )
        return metric

    def _one(self, name: str) -> Evaluation:
        sums = self.outputs.each[self.names.index(name)]
        counted = Counted("regression", {"errors": sums}, clusters=self.counted.clusters)
        return Evaluation(counted, sampling=self.sampling)


# ── quantiles ────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class CoverageAtWidth(Record):
    """Rows with intervals of similar width: the range of widths, how many rows, and the share that is covered."""

    narrowest: Finite
    widest: Finite
    rows: Count
    coverage: Share
    low: Share
    high: Share


class QuantilesEvaluation(SeveralEvaluation, facts="levels=names level each_figures pit coverage_by_width"):
    """The evaluation of predicted quantiles, of an interval or of an ensemble.

    ``ev["share_below(level=0.1)"]`` is the share of truths at or below the quantile 0.1, and
    ``ev["pinball_at(level=0.1)"]`` its loss.
    """

    task = "quantiles"
    _usual_figure = COMPARED[QuantileSums]

    @property
    def quantiles(self) -> QuantileSums:
        """The sums behind the figures."""
        return self.counted.tallies["quantiles"]  # type: ignore[return-value]

    @property
    def level(self) -> float:
        """The share of rows that the widest interval should cover."""
        return self.quantiles.level

    @property
    def shown_names(self) -> Sequence[str]:
        """The levels of the quantiles; none of the members of an ensemble."""
        return () if self.names[0].startswith(ENSEMBLE) else self.names

    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        yield (
            self.quantiles,
            [
                metric
                for metric in metrics.catalogue()
                if metric.tally is QuantileSums and metric.name not in (*EACH_FIGURES[self.task], share_between.name)
            ],
        )

    def _put_together(
        self, metric: Metric, tally: Tally, value: float, baseline: float, limits: Interval, confidence: float
    ) -> Estimate:
        found = super()._put_together(metric, tally, value, baseline, limits, confidence)
        if metric.name not in (crps.name, crps_skill.name) or not 0 < len(self.shown_names) < _FEW_QUANTILES:
            return found
        return replace(found, note="; ".join(filter(None, (ROUGH, found.note))))

    def _split(self, name: Value) -> tuple[Evaluation | None, Value]:
        pair = (isinstance(name, str) and figure_of_class(name)) or name
        if isinstance(pair, tuple):
            name = metrics.find(pair[0]).with_parameters(level=float(self._named(pair[1]))).text
        return None, name

    @property
    def pit(self) -> list[Estimate]:
        """How many truths lie between each two neighbouring quantiles: the PIT histogram, or that of ranks."""
        ends = [0.0, *(float(f"{level:.12g}") for level in self.quantiles.levels), 1.0]
        asked = [share_between.with_parameters(low=a, high=b) for a, b in itertools.pairwise(ends)]
        return [self[one.text] for one in asked] if len(asked) <= _MOST_BARS else []

    def _own_plots(self) -> Iterable[str]:
        yield from super()._own_plots()
        yield from ("reliability",) if self.shown_names else ()
        yield from ("pit",) if self.pit else ()

    @property
    def coverage_by_width(self) -> list[CoverageAtWidth]:
        """How often the widest interval holds the truth, by fifths of its width; none where rows were not kept."""
        rows, pairs = self.quantiles.rows, pairs_of(self.quantiles.levels)
        if rows is None or not pairs or len(rows) < 25:
            return []
        (i, j), predicted, truth = pairs[0], rows.columns["quantiles"], rows.columns["truth"]
        width, covered = predicted[:, j] - predicted[:, i], (predicted[:, i] <= truth) & (truth <= predicted[:, j])
        found = []
        for part in np.array_split(np.argsort(width, kind="stable"), 5):
            share = float(covered[part].mean())
            low, high = wilson(np.array(share), np.array(float(len(part))), self.sampling.confidence)
            ends = float(width[part[0]]), float(width[part[-1]])
            found.append(CoverageAtWidth(*ends, len(part), share, float(low), float(high)))
        return found
