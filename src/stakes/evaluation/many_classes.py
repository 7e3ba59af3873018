"""More than two classes: one figure for all of them, and every class against the rest.

Two classes are evaluated in the same way as long as neither is named positive.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors, metrics
from stakes.engines.plan import Counted
from stakes.errors import Given, InputError, Pass, Text
from stakes.evaluation.base import Evaluation
from stakes.metrics import Estimate, Metric
from stakes.metrics.cost import expected_cost
from stakes.metrics.many import AVERAGES, of_class
from stakes.metrics.prior import FEW_OF_FIRST, NO_SAMPLE, first_rows
from stakes.metrics.reasons import EXTRA_DECISIONS, NO_CLASS_SCORES, NO_SCORES
from stakes.metrics.usual import COMPARED
from stakes.question.options import Value
from stakes.records import Finite
from stakes.tallies import ClassScores, Confusion, CostSums, JointCounts, ScoreTable, Tally
from stakes.tallies.checks import check_harm, check_whole
from stakes.tallies.costs import Costs
from stakes.tallies.names import canonical, figure_of_class
from stakes.tallies.parallel import run_all
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.interval import Interval
from stakes.uncertainty.sampling import Sampling

if TYPE_CHECKING:
    from stakes.decisions.calibration.calibration import ClassCalibrations
    from stakes.decisions.curves.curve import Curve
    from stakes.decisions.curves.histograms import Histograms
    from stakes.decisions.policies import DecidedRows, Policies

_MOST_STUDIED = 50
"""The verdict looks at the calibration of this many classes at most, those with the most rows."""

_NO_TALLY: dict[type[Tally], str] = {
    ClassScores: NO_CLASS_SCORES,
    CostSums: Text("these costs differ by row; count again with ", Pass("costs")),
    Confusion: Text("no decisions were given; pass ", Pass("prediction")),
}
"""Why there is no figure of a tally."""


class ManyClassEvaluation(Evaluation, facts="classes support confusion class_figures"):
    """The evaluation of a model of more than two classes, or of two classes of which neither is positive.

    ``ev["macro_f1"]`` is one figure for all classes, ``ev["f1", "setosa"]`` the figure of a class against the rest.
    """

    task = "multiclass"

    @classmethod
    def _fits(cls, counted: Counted) -> bool:
        confusion = counted.confusion
        large = {"class_scores", "joint"} & set(counted.tallies)
        return bool(large) or (confusion is not None and confusion.positive is None)

    # ── the tallies ──────────────────────────────────────────────────────────────────────────────────────────
    @property
    def scores(self) -> ClassScores | None:
        """The class scores, if there are any."""
        return self._held(ClassScores)

    @property
    def confusion(self) -> Confusion | None:
        """The decisions against the truth; scores alone are not decided yet."""
        return self._held(Confusion)

    @property
    def joint(self) -> JointCounts | None:
        """The decisions when there are too many classes for a table: only the combinations that occur."""
        return self._held(JointCounts)

    @property
    def _decided(self) -> Confusion | JointCounts | None:
        """The decisions, as a table or as the combinations that occur, if there are any."""
        return self.confusion or self.joint

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        return tuple(self.support)

    @property
    def positive(self) -> str | None:
        """None: neither of two classes was named positive."""
        return None if self._unnamed else super().positive

    @property
    def _kind(self) -> str:
        return Text("two classes; ", errors.which_positive(self.classes).text) if self._unnamed else super()._kind

    @property
    def _unnamed(self) -> bool:
        """Whether these are decisions between two classes, neither of which was named positive."""
        return self.confusion is not None and len(self.classes) == 2

    @cached_property
    def support(self) -> dict[str, Finite]:
        """The (weighted) number of rows of each class."""
        if self.confusion is None:
            return (self.joint or self.scores or self._size).class_sizes()
        return dict(zip(self.confusion.truths, self.confusion.counts.sum(-1).tolist(), strict=True))

    @property
    def _no_class_scores(self) -> str:
        """Why there are no scores of a class against the rest."""
        return NO_CLASS_SCORES if self.scores is None or self.population is None else NO_SAMPLE

    def _scores_of(self, name: str) -> ScoreTable | None:
        """The scores of a class against the rest, if there are any."""
        found = self._against_rest[name].get(ScoreTable)
        return found if isinstance(found, ScoreTable) else None

    @cached_property
    def _against_rest(self) -> dict[str, dict[type[Tally], Tally]]:
        """The two-class tallies of each class against the rest."""
        found: dict[str, dict[type[Tally], Tally]] = {name: {} for name in self.classes}
        if self.confusion is not None and set(self.confusion.decisions) == set(self.classes):
            tables = self.confusion.against_rest()
            for i, name in enumerate(self.classes):
                found[name][Confusion] = tables[i]
        if self.scores is not None:
            if self.population is not None and self.scores.sample is None:
                return found  # the rest of the classes has another mixture there, of which nothing is known
            there = self.scores if self.population is None else self.population.of(self.scores)
            for name, table in zip(self.classes, there.tables, strict=True):
                found[name][ScoreTable] = table
        return found

    # ── figures ──────────────────────────────────────────────────────────────────────────────────────────────
    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        declared = self._catalogue
        yield from self._of_decisions(declared)
        if self.joint is not None:
            yield self.joint, [metric for metric in declared if metric.sparse]
        for tally, per_class in ((self.confusion, Confusion), (self.scores, ScoreTable)):
            if tally is not None:
                alike = [m for m in declared if m.many or (m.symmetric and self._unnamed)]
                own = [metric for metric in alike if metric.tally is type(tally)]
                averages = AVERAGES if per_class is Confusion else ("macro", "weighted")
                bases = [m for m in declared if m.tally is per_class and not m.many and m.family != "cost"]
                yield tally, own + [metrics.find(f"{how}_{base.name}") for how in averages for base in bases]

    def __getitem__(self, name: Value) -> Estimate:
        name = (isinstance(name, str) and figure_of_class(name)) or name
        if isinstance(name, tuple) and len(name) == 2:
            return super().__getitem__(name) if _is_cost(name[0]) else self._of_class(*name)
        return super().__getitem__(self._meant(name).text)

    def _meant(self, name: Value) -> Metric:
        """The metric by that name for several classes, or the question which one is meant."""
        metric = self._find(name)
        if metric.family == "graded" and not self.ordered:
            raise InputError(
                "grades-without-order", f"{metric.name} is a figure of grades, and these classes have no order; pass ",
                Pass("ordered", True), " (and ", Pass("classes"), " from the lowest to the highest)",
            )  # fmt: skip
        if self._unnamed and metric.tally in (Confusion, ScoreTable):
            return self._meant_of_two(metric)
        if metric.of_many:
            return metrics.find(metric.of_many)
        if metric.tally in (Confusion, ScoreTable) and not metric.many:
            raise errors.which_average(metric.name, self.classes, pooled=metric.tally is Confusion)
        return metric

    def _meant_of_two(self, metric: Metric) -> Metric:
        """The metric itself, if it is the same for both classes or there is none anyway."""
        pair = self.confusion is not None and self.confusion.of_pair
        if pair and metric.tally is not ScoreTable and not (metric.many or metric.symmetric):
            raise errors.which_positive(self.classes)
        return metric

    def _of_class(self, name: str, of: Value) -> Estimate:
        metric, tally, sampling = self._place_of((name, of))
        if tally is not None:
            ((_, estimate),) = self._estimates(tally, [metric], sampling)
            return estimate
        if metric.tally is ScoreTable:
            return Estimate(metric.text, math.nan, reason=self._no_class_scores)
        reason = self._why_no(metric) if self.confusion is None else EXTRA_DECISIONS.words
        return Estimate(metric.text, math.nan, reason=reason)

    def _place_of(self, name: Value) -> tuple[Metric, Tally | None, Sampling]:
        name = (isinstance(name, str) and figure_of_class(name)) or name
        if not isinstance(name, tuple) or len(name) != 2:
            return super()._place_of(self._meant(name).text)
        if _is_cost(name[0]):
            return super()._place_of(name)
        place = self._class_named(name[1])
        metric = metrics.find(name[0])
        if not _of_one_class(metric):
            raise InputError(
                "no-figure-of-a-class",
                f"{metric.name} is not a figure of one class against the rest here; `stakes metrics {metric.name}` "
                "says what it is",
            )
        if self.population is not None and metric.tally is Confusion and Confusion in self._against_rest[place]:
            there = self._in_population(of_class(metric, self.classes.index(place)))
            return there, self.confusion, self._sampling(self.confusion)
        return metric, self._against_rest[place].get(metric.tally), self._sampling_of_class(place, metric.tally)

    def _class_named(self, of: Value) -> str:
        """The class that is meant by a value of the user's."""
        if canonical(of) not in self.support:
            raise errors.no_such_class(of, self.classes)
        return canonical(of)

    def _sampling_of_class(self, name: str, kind: type[Tally] = ScoreTable) -> Sampling:
        clusters, place = self.counted.clusters, self.classes.index(name)
        sampling = self.sampling.of_clusters(clusters and clusters.against_rest(place, scored=kind is ScoreTable))
        return sampling if self.population is None else replace(sampling, design="classes fixed")

    def _tally(self, metric: Metric) -> Tally | None:
        return self.joint if metric.sparse and self.joint is not None else super()._tally(metric)

    def _why_no(self, metric: Metric) -> str:
        if self.joint is not None and metric.tally is Confusion:
            k, m = len(self.joint.truths), len(self.joint.decisions)
            return f"{k:,} classes × {m:,} decisions are too many for a table; there are accuracy and most_confused()"
        if metric.tally is ScoreTable and self._unnamed:
            return NO_SCORES
        return _NO_TALLY[metric.tally] if metric.tally in _NO_TALLY else super()._why_no(metric)

    def _sizes(self) -> Mapping[str, float]:
        return self.support if self.confusion is None else self.confusion.effective_truths

    @property
    def _usual_figure(self) -> str:
        return COMPARED[ClassScores if self._decided is None else Confusion]

    def most_confused(self, most: int = 10) -> list[tuple[str, str, float, float]]:
        """Return the most frequent wrong decisions: truth, decision, how often, and the share of that truth."""
        check_whole("most", most, 1)
        if self._decided is None:
            raise InputError("no-decisions", "no decisions were given; pass ", Pass("prediction"))
        return self._decided.most_confused(most)

    def _classes_to_price(self, argument: str = "costs") -> tuple[Sequence[str], str | None]:
        return self.classes, None

    def _check_pricing(self) -> None:
        super()._check_pricing()
        if self.population is not None and self.joint is not None:
            raise InputError(
                "prior-of-very-many",
                Given("prior"),
                f" is about {len(self.classes):,} classes, too many for a table that could be weighed; group them",
            )
        if self.pricing is not None and self._unnamed:
            self.pricing.prices(self.classes, (), None)  # misses are those of a positive class

    def _without_decisions(self) -> Counted:
        if self.counted.decided_by in ("score", "costs"):
            raise errors.count_again_to_decide()
        return self.counted

    def decide(
        self,
        costs: Costs | None = None,
        *,
        best: str | None = None,
        prior: Value = None,
        training_prior: Value = None,
        harm: float = 0.0,
    ) -> "Policies":
        """Return what it costs to decide for the highest score, by the costs, and after recalibration."""
        if best is not None:
            raise InputError(
                "best-of-two",
                Given("best"),
                " is for the scores of two classes; for several classes give ",
                Pass("costs"),
            )
        return self._decide_among(self._pricing_to_decide(costs, prior, training_prior), harm)

    def _decide_among(
        self, pricing: Pricing | None, harm: float, count: "Callable[[Pricing], DecidedRows | None] | None" = None
    ) -> "Policies":
        """Compare ways to decide; where rows were not kept with their scores, ``count`` counts all of them."""
        from stakes.decisions.policies import (  # rarely asked for
            check_policies,
            decide_among_policies,
            rows_with_scores,
        )

        if self.scores is None:
            raise errors.no_scores_to_decide()
        if pricing is None:
            raise errors.which_costs("decide()", of_two=False)
        sampling = self._sampling(self.scores)
        check_policies(self.scores, pricing, sampling)
        kept, counted = rows_with_scores(self.scores, sampling.clusters), None
        if kept is None or len(np.asarray(kept.truth)) < self.counted.rows_read - self.counted.dropped:
            counted = (None if count is None else count(pricing)) or self._decided_rows(pricing, sampling, kept is None)
        found = decide_among_policies(self.scores, pricing, sampling, check_harm(harm), counted)
        return self._add_cautions(found)

    def _decided_rows(self, pricing: Pricing, sampling: Sampling, alone: bool) -> "DecidedRows | None":
        """The rows of the table of decisions, which must be those by the costs where it stands ``alone``."""
        from stakes.decisions.policies import CHEAPEST, HIGHEST, DecidedRows

        table, way, decisions = self.confusion, None, pricing.decisions(self.classes)
        if table is not None and self.counted.decided_by == "score" and set(table.decisions) <= set(decisions):
            way = HIGHEST
        if table is not None and self.counted.decided_by == "costs" and pricing == self.pricing:
            way = None if pricing.corrects else CHEAPEST
        if way != CHEAPEST and alone:
            raise InputError(
                "rows-are-gone",
                "ways to decide between several classes are compared row by row, and this count keeps no rows; count "
                "them again with these ",
                Pass("costs"),
                ", or decide with the rows themselves: stakes.decide()",
            )
        return None if table is None else DecidedRows.of_table(table, decisions, way, sampling.clusters)

    def curve(self, kind: str, of: Value = None, **options: Value) -> "Curve":
        """Return a curve of a class against the rest, or the "reject" curve of all classes together.

        Decisions without scores have the ROC line through their one point.
        """
        from stakes.decisions.curves.kinds import ClassScored, Scored, curve, decided_scores  # only now and then

        if of is None and kind == "reject" and self.scores is not None:
            sampling = self._sampling(self.scores)
            scored = ClassScored(self.scores, sampling, self.probabilities, self.population)
            return curve(kind, scored, **options)
        if of is None:
            raise InputError(
                "curve-of-which-class",
                f"with several classes a curve is that of one against the rest: curve({kind!r}, {self.classes[0]!r})",
            )
        name = self._class_named(of)
        table, decided = self._scores_of(name), self._against_rest[name].get(Confusion)
        if table is None and kind == "roc" and isinstance(decided, Confusion):
            return curve(
                kind, Scored(*decided_scores(decided, self._sampling_of_class(name, Confusion)), False), **options
            )
        if table is None:
            raise errors.no_curve(kind, self._no_class_scores)
        return curve(kind, Scored(table, self._sampling_of_class(name), self.probabilities), **options)

    def histograms(self, bins: int = 50) -> dict[str, "Histograms"]:
        """Return for each class how its own score is spread over its cases and over the rest."""
        from stakes.decisions.curves.histograms import histograms  # only asked for now and then

        if self.scores is None or not self.scores.tables:
            raise errors.no_histograms(NO_CLASS_SCORES)
        span = (0.0, 1.0) if self.probabilities else self.scores.range
        return {table.positive: histograms(table, span, bins) for table in self.scores.tables}

    # ── for the verdict and the page ─────────────────────────────────────────────────────────────────────────
    @cached_property
    def _studied_calibration(self) -> "ClassCalibrations | None":
        """How honest the probabilities of the largest classes are, in brief; None where there is nothing to ask."""
        from stakes.decisions.calibration.calibration import (
            ClassCalibrations,
            calibration_in_brief,  # only asked for now and then
        )

        if self.scores is None or not self.probabilities:
            return None
        each = {
            name: calibration_in_brief(self._scores_of(name), self._sampling_of_class(name))
            for name in self._largest(_MOST_STUDIED)
        }
        known = {name: one for name, one in each.items() if one is not None}
        return ClassCalibrations(known, self.scores.at_middles(), self._sampling(self.scores)) if known else None

    def _largest(self, most: int) -> list[str]:
        """So many classes at most: all in their order, or else those with the most rows first."""
        if len(self.classes) <= most:
            return list(self.classes)
        return sorted(self.classes, key=lambda name: -float(self.support[name]))[:most]

    # ── as data, and to look at ──────────────────────────────────────────────────────────────────────────────
    @property
    def class_figures(self) -> dict[str, dict[str, Estimate]]:
        """Every class against the rest."""
        each = run_all([partial(self._class_figures, name) for name in self.classes], int(self.rows))
        return dict(zip(self.classes, each, strict=True))

    def _class_figures(self, name: str) -> dict[str, Estimate]:
        kinds = self._against_rest[name]
        declared = [metric for metric in metrics.catalogue() if _of_one_class(metric) and not metric.lacking]
        found: dict[str, Estimate] = {}
        for kind, tally in kinds.items():
            wanted = [metric for metric in declared if metric.tally is kind]
            sampling = self._sampling_of_class(name, kind)
            if kind is Confusion and self.population is not None and self.confusion is not None:
                place, tally, sampling = self.classes.index(name), self.confusion, self._sampling(self.confusion)
                wanted = [self._in_population(of_class(metric, place)) for metric in wanted]
            found |= {m.name: one for m, one in self._estimates(tally, wanted, sampling)}
        return found

    def _put_together(
        self, metric: Metric, tally: Tally, value: float, baseline: float, limits: Interval, confidence: float
    ) -> Estimate:
        first = None if self.population is None or self.scores is None else first_rows(metric)
        if first is not None and self.scores is not None and self.scores.hardly_samples(first):
            return Estimate(metric.text, math.nan, reason=FEW_OF_FIRST)
        return super()._put_together(metric, tally, value, baseline, limits, confidence)

    def _all_figures(self) -> Iterable[tuple[dict[str, str | None], Estimate]]:
        of_classes = self.class_figures  # before their averages, which share what is worked out
        for name, estimate in self.figures.items():
            yield {"class": None, "metric": name}, estimate
        for of, figures in of_classes.items():
            for name, estimate in figures.items():
                yield {"class": of, "metric": name}, estimate

    def _own_plots(self) -> Iterable[str]:
        if self.confusion is not None:
            yield "confusion"
        if self.scores is None and any(self._against_rest.values()):
            yield "roc"
        if self.scores is not None and self.scores.tables:
            yield from ("roc", "pr", "histograms", "cost", "reject")
            yield from ("reliability", "decision") if self.probabilities else ()

    def __repr__(self) -> str:
        return f"<Evaluation of {len(self.classes)} classes, rows: {self.rows:,}>"


def _of_one_class(metric: Metric) -> bool:
    """Whether a metric is a figure of one class against the rest, too: not averages, nor costs of all decisions."""
    alike = metric.many and metric.family in ("many", "cost")
    return metric.tally in (Confusion, ScoreTable) and not alike


def _is_cost(name: Value) -> bool:
    """Whether a figure is the expected cost, of which each class has its own."""
    return metrics.find(name).name == expected_cost.name
