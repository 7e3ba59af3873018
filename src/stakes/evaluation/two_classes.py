"""Two classes: decisions, scores under a threshold, and curves over all thresholds."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from stakes import errors
from stakes.engines.plan import Counted
from stakes.errors import InputError, Pass, Text
from stakes.evaluation.base import Evaluation
from stakes.metrics import Metric
from stakes.metrics.cost import expected_cost, soft_cost
from stakes.metrics.many import of_two_classes
from stakes.metrics.reasons import NO_SCORES
from stakes.metrics.usual import COMPARED
from stakes.question.options import Value
from stakes.question.question import at_frequencies
from stakes.records import Share
from stakes.tallies import Confusion, CostSums, ScoreTable, Tally
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_harm, check_threshold
from stakes.tallies.costs import Costs
from stakes.tallies.pricing import Frequencies, Pricing, shares_of
from stakes.text import visible
from stakes.uncertainty.sampling import USUAL, Sampling

if TYPE_CHECKING:
    from stakes.decisions.calibration.calibration import Calibration
    from stakes.decisions.curves.curve import Curve
    from stakes.decisions.curves.histograms import Histograms
    from stakes.decisions.curves.report_thresholds import ReportThresholds
    from stakes.decisions.thresholds.decision import Decision

_DEFAULT_THRESHOLD = 0.5


class TwoClassEvaluation(Evaluation, facts="positive negative prevalence threshold confusion"):
    """The evaluation of a model of two classes."""

    task = "binary"
    scores: ScoreTable | None = None
    threshold: float | None = None

    @classmethod
    def _fits(cls, counted: Counted) -> bool:
        confusion = counted.confusion
        return "scores" in counted.tallies or (confusion is not None and confusion.positive is not None)

    def __init__(
        self,
        counted: Counted,
        threshold: float | None = None,
        probabilities: bool | None = None,
        sampling: Sampling = USUAL,
        pricing: Pricing | None = None,
        steps: Sequence[tuple[str, float]] | None = None,
    ) -> None:
        """Evaluate what was counted; the decisions of a segment begin at the scores (``steps``) where all rows' do."""
        super().__init__(counted, probabilities, sampling, pricing)
        self.scores = counted.scores
        self.threshold = self._in_use = counted.threshold if threshold is None else threshold
        self._given_steps = steps
        if self.threshold is None and counted.confusion is None and self.probabilities:
            self.threshold = self._even_chance() if pricing is None else self._bayes_threshold()

    def _even_chance(self) -> float:
        """The score that stands for a probability of one half where the model is used."""
        given = self.sampling.population
        if not isinstance(given, Frequencies) or self.scores is None:
            return _DEFAULT_THRESHOLD
        return given.more_likely_from(self._pair, self.positive, shares_of([self.scores.N, self.scores.P]))

    def _bayes_threshold(self) -> float | None:
        """The threshold of two decisions that costs the probabilities least; None where there are more decisions."""
        names, starts = zip(*self._steps, strict=True)
        return starts[1] if names == self._pair else None

    @cached_property
    def _steps(self) -> list[tuple[str, float]]:
        """The decisions that the costs take, with the lowest score of each."""
        if self._given_steps is not None:
            return list(self._given_steps)
        if self.scores is None or self.pricing is None:
            return []
        return self.pricing.thresholds(*self._pair, shares_of([self.scores.N, self.scores.P]))

    def at(self, threshold: float) -> Evaluation:
        """Return the evaluation of the same scores under another threshold; nothing is counted again."""
        if self.scores is None:
            raise errors.threshold_without_score()
        check_threshold(threshold)
        if self.counted.threshold == threshold:  # bins might leave open what was counted at it
            return TwoClassEvaluation(self.counted, sampling=self.sampling, pricing=self.pricing)
        counted = _scores_alone(self.counted)
        return TwoClassEvaluation(counted, threshold, sampling=self.sampling, pricing=self.pricing)

    def _segment(self, counted: Counted) -> Evaluation:
        steps = self._steps if self._decides_by_costs else None
        there = replace(self.sampling, population=self.population)
        return TwoClassEvaluation(counted, self.threshold, self.probabilities, there, self.pricing, steps)

    def _classes_to_price(self, argument: str = "costs") -> tuple[Sequence[str], str | None]:
        return self._pair, self.positive

    def _without_decisions(self) -> Counted:
        if self.scores is None or (self.counted.decided_by == "rows" and self.counted.confusion is not None):
            return self.counted
        return _scores_alone(self.counted)

    # ── the tallies ──────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def confusion(self) -> Confusion | None:
        """The decisions against the truth; None for scores that still need a threshold."""
        counted = self._held(Confusion)
        if counted is not None or self.scores is None:
            return counted
        if self.threshold is not None:
            return self.scores.at(self.threshold)
        return self.scores.decided(self._decisions, self._steps) if self._decides_by_costs else None

    @property
    def _decides_by_costs(self) -> bool:
        """Whether costs decide between more than the two classes."""
        if self.pricing is None or self.scores is None or self.counted.confusion is not None:
            return False
        return (self.probabilities or self._given_steps is not None) and self.threshold is None

    @property
    def _decisions(self) -> tuple[str, ...]:
        return self._pair if self.pricing is None else self.pricing.decisions(self._pair)

    @property
    def _pair(self) -> tuple[str, str]:
        """The negative and the positive class."""
        return self.negative, self.positive

    @property
    def _given(self) -> Confusion:
        """The decisions that were given in the place of scores."""
        return self.counted.tallies["confusion"]  # type: ignore[return-value]

    @property
    def positive(self) -> str:
        """The positive class."""
        return str((self.scores or self._given).positive)

    @property
    def negative(self) -> str:
        """The negative class."""
        if self.scores is not None:
            return self.scores.negative
        return next(name for name in self._given.truths if name != self.positive)

    @property
    def prevalence(self) -> Share:
        """The share of positive rows."""
        if self.scores is not None:
            return float(self.scores.P / self.scores.total)
        return float(self._given.truth_totals[self._given.truths.index(self.positive)] / self._given.total)

    # ── figures ──────────────────────────────────────────────────────────────────────────────────────────────
    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        declared = self._catalogue
        yield from self._of_decisions(declared)
        for tally in (self.confusion, self.scores):
            if tally is not None:
                yield tally, [metric for metric in declared if metric.tally is type(tally) and not metric.lacking]
        pair = self.pricing is not None and not self.pricing.costs.columns and self._decisions == self._pair
        if self.scores is not None and pair:
            yield self.scores, [self._apply_costs(soft_cost)]

    def _tally(self, metric: Metric) -> Tally | None:
        return self.confusion if metric.tally is Confusion else super()._tally(metric)

    def _sampling(self, tally: Tally | None) -> Sampling:
        clusters = self.counted.clusters
        if clusters is not None and isinstance(tally, Confusion) and self.counted.confusion is None:
            counted_at_it = self.threshold is not None and self.counted.threshold == self.threshold
            if clusters.grid is None or clusters.decided is None or not counted_at_it:
                clusters = clusters.decided_by(*self.cuts, tally)
        return self.sampling.of_clusters(clusters)

    @property
    def cuts(self) -> tuple[list[float], list[int]]:
        """The lowest score of each decision that is taken, and its place among all decisions."""
        if self.threshold is not None:
            return [-math.inf, self.threshold], [0, 1]
        return [start for _, start in self._steps], [self._decisions.index(name) for name, _ in self._steps]

    def decide_rows(self, scores: Array) -> Array:
        """Return the decision for each score, as its place among the decisions of the confusion table."""
        (_, *starts), places = self.cuts
        taken = np.zeros(len(scores), np.int64)
        for start in starts:
            taken += scores >= _comparable(start, scores)
        return np.array(places)[taken]

    def _declared(self, name: Value) -> Metric:
        """The metric of that name; one of the scores of several classes is made one of those of the positive class."""
        return of_two_classes(super()._declared(name))

    def _why_no(self, metric: Metric) -> str:
        if metric.tally is ScoreTable:
            return NO_SCORES
        if metric.tally is CostSums and (self.probabilities or self.threshold is not None):
            return Text(
                "these costs differ by row; evaluate the rows again with ", Pass("costs"), " and ", Pass("threshold")
            )
        if metric.tally in (Confusion, CostSums):
            return Text("the scores are no probabilities, so there are no decisions yet; pass ", Pass("threshold"))
        return super()._why_no(metric)

    @property
    def _usual_figure(self) -> str:
        return COMPARED[Confusion if self.scores is None else ScoreTable]

    def decide(
        self,
        costs: Costs | None = None,
        *,
        best: str | None = None,
        prior: Value = None,
        training_prior: Value = None,
        harm: float = 0.0,
    ) -> "Decision":
        """Return the best threshold: the cheapest at these costs, or the one with the ``best`` figure.

        ``best`` is a metric ("f1", "youden", "f_beta(beta=2)") or a condition ("recall >= 0.9", "alarm_rate <= 0.1").
        The figure of the threshold is that of rows which did not choose it. ``harm`` is what asking the model costs
        for each case.
        """
        from stakes.decisions.thresholds import by_cost, by_figure, objectives  # only asked for now and then
        from stakes.decisions.thresholds.decision import BY_ROW

        if self.scores is None:
            raise errors.no_scores_to_decide()
        sampling = self._sampling(self.scores)
        if best is not None:
            if costs is not None or harm:
                raise errors.costs_or_best()
            given = at_frequencies(prior, training_prior)
            there = self if given is None else self._at_frequencies(given)
            wanted = objectives.BestFigure.parse(best).of_each(there._in_population)
            found = by_figure.ByFigure(self.scores, sampling, self.probabilities, self._in_use).decision(wanted)
            return self._add_cautions(there._add_evaluation(found, None))
        pricing = self._pricing_to_decide(costs, prior, training_prior)
        if pricing is None:
            raise InputError(
                "neither-costs-nor-best",
                "say what mistakes cost (",
                Pass("costs"),
                "), or which figure shall be best (",
                Pass("best", "f1"),
                ", 'recall >= 0.9')",
            )
        found = by_cost.decide_by_cost(self.scores, pricing, sampling, self.probabilities, self._in_use)
        if pricing.costs.columns and pricing == self.pricing and self.counted.decided_by == "costs":
            found = replace(found, alternatives={**found.alternatives, BY_ROW: self[expected_cost.name]})
        return self._add_cautions(self._add_evaluation(found.asked_at(check_harm(harm)), pricing))

    def _with_bins_cut(
        self, count_at: Callable[[float], Counted], prior: Value, training_prior: Value
    ) -> "TwoClassEvaluation":
        """The same with bins cut at thresholds inside them that the costs give, at which rows are counted again."""
        from stakes.decisions.thresholds.by_cost import bayes_thresholds  # only asked for now and then

        table, known = self.scores, self.counted.threshold
        if table is None or self.pricing is None:
            return self
        pricing = self._pricing_to_decide(None, prior, training_prior) or self.pricing
        starts = {*(bayes_thresholds(table, pricing, self.probabilities)[0] or ()), *([] if known is None else [known])}
        inside = sorted(start for start in starts if not table.answers(start))
        if known is None and not inside:
            return self
        tables = {start: (self.counted if start == known else count_at(start)).confusion for start in inside}
        counted = replace(_scores_alone(self.counted), tallies={"scores": table.cut_at(tables) if tables else table})
        return TwoClassEvaluation(counted, None, self.probabilities, self.sampling, self.pricing)

    def _at_frequencies(self, given: Frequencies) -> "TwoClassEvaluation":
        """The same rows, for another place."""
        there = replace(self.sampling, population=given)
        made = TwoClassEvaluation(self.counted, self._in_use, self.probabilities, there)
        made._check_pricing()
        return made

    def _add_evaluation(self, decision: "Decision", pricing: Pricing | None) -> "Decision":
        """The same decision, with the way to the evaluation at its thresholds."""
        steps = list(zip(decision.decisions, (-math.inf, *decision.recommended), strict=True))
        return replace(decision, find_evaluation=partial(self._decided_at, steps, pricing))

    def _decided_at(self, steps: Sequence[tuple[str, float]], pricing: Pricing | None) -> Evaluation:
        """The same scores decided from these scores on, at these costs."""
        two = tuple(name for name, _ in steps) == self._pair
        threshold = steps[1][1] if two else None
        counted = self.counted if two and self.counted.threshold == threshold else _scores_alone(self.counted)
        there = self._sampled_at(pricing)
        return TwoClassEvaluation(counted, threshold, self.probabilities, there, pricing, None if two else steps)

    def curve(self, kind: str, **options: Value) -> "Curve":
        """Return a curve with a band around it: "roc", "pr", "cost", "decision" or "reject".

        A cost curve may be that of one ``threshold``, a decision curve be asked at other ``thresholds``, a reject curve
        be one of ``costs``, or of another ``threshold``; ``null=True`` adds to a ROC curve where it would run if labels
        were shuffled. Decisions without scores have the ROC line through their one point.
        """
        from stakes.decisions.curves.kinds import Scored, curve, decided_scores  # only asked for now and then

        if self.scores is None and kind == "roc" and self._given.of_pair:
            return curve(kind, Scored(*decided_scores(self._given, self._sampling(self._given)), False), **options)
        if self.scores is None:
            raise errors.no_curve(kind, NO_SCORES)
        sampling = self._sampling(self.scores)
        plain = self.pricing is not None and not self.pricing.costs.columns and self._decisions == self._pair
        costs = self.pricing.costs if self.pricing is not None and plain else None
        scored = Scored(self.scores, sampling, self.probabilities, self.threshold, self.population, costs)
        return curve(kind, scored, **options)

    def histograms(self, bins: int = 50) -> "Histograms":
        """Return how the scores of the two classes are spread, over [0, 1] or from the lowest to the highest."""
        from stakes.decisions.curves.histograms import histograms  # only asked for now and then

        if self.scores is None:
            raise errors.no_histograms(NO_SCORES)
        span = (0.0, 1.0) if self.probabilities else self.scores.range
        return histograms(self.scores, span, bins, self.threshold)

    def _sizes(self) -> Mapping[str, float]:
        if self.scores is not None:
            return dict(zip((self.positive, self.negative), self.scores.effective_rows, strict=True))
        return self._given.effective_truths

    # ── for the verdict and the page ─────────────────────────────────────────────────────────────────────────
    @cached_property
    def _studied_calibration(self) -> "Calibration | None":
        """How honest the probabilities are, in brief; None where scores are no probabilities."""
        from stakes.decisions.calibration.calibration import calibration_in_brief  # only asked for now and then

        return calibration_in_brief(self.scores, self._sampling(self.scores)) if self.probabilities else None

    @cached_property
    def _report_thresholds(self) -> "ReportThresholds | None":
        """Some thousand thresholds with exact counts, every corner of the ROC hull among them."""
        from stakes.decisions.curves.report_thresholds import report_thresholds  # as above

        table = self._cut_scores
        return None if table is None or not table.P or not table.N else report_thresholds(table, self.threshold)

    @property
    def _cut_scores(self) -> ScoreTable | None:
        """The scores, with the bin cut that the threshold lies inside: its decisions were counted beside the bins."""
        table, threshold, confusion = self.scores, self.threshold, self.confusion
        if table is None or threshold is None or confusion is None or table.answers(threshold):
            return table
        return table.cut_at({threshold: confusion})

    @cached_property
    def _decision(self) -> "Decision | None":
        """Where the costs put the threshold, as ``decide`` finds it."""
        from stakes.decisions.thresholds.by_cost import decide_by_cost  # as above

        scores = self._cut_scores
        if scores is None or not scores.P or not scores.N or self.pricing is None:
            return None
        in_use = None if self._bayesian else self._in_use  # which was counted at only because it lies inside a bin
        return decide_by_cost(scores, self.pricing, self._sampling(scores), self.probabilities, in_use)

    @property
    def _bayesian(self) -> bool:
        """Whether the threshold is the one at which the costs switch."""
        fixed = self.pricing is not None and not self.pricing.costs.columns and self.probabilities
        return fixed and self.scores is not None and self.threshold == self._bayes_threshold()

    def _own_plots(self) -> Iterable[str]:
        if self.scores is not None:
            yield from ("roc", "pr", "histograms", "cost")
            if self.probabilities:
                yield "reject"
                yield from ("reliability",) if self.scores.grid is None else ()
                yield "decision"
        if self.confusion is not None:
            yield "confusion"
        if self.scores is None and self._given.of_pair:
            yield "roc"

    def __repr__(self) -> str:
        return visible(f"<Evaluation of {self.positive!r} against {self.negative!r}, rows: {self.rows:,}>")


def _scores_alone(counted: Counted) -> Counted:
    """The scores of all rows and of each segment, without decisions."""
    parts = {name: _scores_alone(part) for name, part in counted.segments.items()}
    tallies = {"scores": counted.tallies["scores"]}
    return replace(counted, tallies=tallies, segments=parts, decided_by="rows", threshold=None)


def _comparable(threshold: float, scores: Array) -> float | int:
    """The threshold as a number that whole scores are compared with exactly, also beyond 2⁵³."""
    whole = scores.dtype.kind in "iu" and math.isfinite(threshold)
    return math.ceil(threshold) if whole else threshold
