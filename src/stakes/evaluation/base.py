"""What every evaluation can do, whatever its task."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from stakes import errors, metrics
from stakes.engines.plan import FEW_LABELS, Counted
from stakes.errors import InputError, Pass
from stakes.evaluation.members import Members
from stakes.evaluation.segments import Segments
from stakes.frozen import dataclass, replace
from stakes.language.narrated import Narrated
from stakes.metrics import Estimate, Metric, cost, graded
from stakes.metrics.declare import PRICES, measure_baselines
from stakes.metrics.prior import at_prior
from stakes.metrics.ranking import auc
from stakes.metrics.reasons import NO_PROBABILITIES
from stakes.question.options import Value
from stakes.question.question import at_frequencies, pricing_of
from stakes.records import Record, RowCount, Says
from stakes.results import Door, Plottable, Reportable, speak
from stakes.tallies import (
    ClassScores,
    Confusion,
    CostSums,
    ErrorSums,
    ForecastSums,
    JointCounts,
    LabelSums,
    OutputSums,
    QuantileSums,
    ScoreTable,
    Tally,
)
from stakes.tallies.checks import check_flag
from stakes.tallies.costs import Costs
from stakes.tallies.names import figure_of_class, written_of_class
from stakes.tallies.population import Population
from stakes.tallies.pricing import Pricing, shares_of
from stakes.uncertainty.interval import Interval
from stakes.uncertainty.sampling import FEW_CLUSTERS, FEW_ROWS, USUAL, Sampling

if TYPE_CHECKING:
    from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
    from stakes.decisions.calibration.numbers import NumberCalibration
    from stakes.decisions.curves.histograms import Histograms
    from stakes.decisions.curves.kinds import Curve
    from stakes.decisions.policies import Policies
    from stakes.decisions.thresholds.by_label import LabelDecisions
    from stakes.decisions.thresholds.decision import Decision
    from stakes.evaluation.by_segment import BySegment
    from stakes.evaluation.gap import Gap

Chosen = TypeVar("Chosen", "Decision", "Policies", "LabelDecisions")
Held = TypeVar("Held", bound=Tally)

_MOST_IN_FULL = 200
"""Of more segments than this only one figure of each is shown."""

_COLUMNS = ("value", "low", "high", "baseline", "reason", "no_interval", "note")
"""The columns of to_rows() for each figure."""


_FIGURES_OF: dict[type[Tally], str] = {
    Confusion: "decisions between classes",
    JointCounts: "decisions between classes",
    ScoreTable: "the scores of two classes",
    ClassScores: "the scores of several classes",
    ErrorSums: "predicted numbers",
    LabelSums: "several labels per row",
    OutputSums: "several outputs",
    QuantileSums: "predicted quantiles",
    ForecastSums: "forecasts in time",
    CostSums: "decisions whose costs differ by row",
}

_ALONE_AT_FIRST = 3
"""This many figures are computed one by one as they are asked for; after that all are computed at once."""


@dataclass(frozen=True)
class BriefSegment(Record, shown="rows figures confusion? verdict?"):
    """A segment in the data of the whole; ``ev.segments[name]`` is its full evaluation.

    ``verdict`` compares it with the rest by the figure that segments are compared by.
    """

    rows: RowCount
    figures: Mapping[str, Estimate]
    confusion: Confusion | None = None
    verdict: str = ""


class Evaluation(Members, Record, Narrated, Plottable, Reportable, stakes="evaluation"):
    """What is known about a model on some rows; every figure comes with what ignoring the input would score.

    ``ev["auc"]`` is an :class:`~stakes.Estimate`; so is ``ev["f_beta(beta=0.5)"]``. ``ev.segments`` are the evaluations
    of the segments. ``Evaluation(stakes.count(…))`` makes the kind of evaluation that the counted rows call for.
    """

    counted: Counted
    pricing: Pricing | None
    _kinds: ClassVar[list[type["Evaluation"]]] = []
    plotted_as = "evaluation"

    def __init_subclass__(cls, *, facts: str) -> None:
        """A kind of evaluation names the ``facts`` that its data hold beyond those of all kinds."""
        more = f"{facts} *pricing figures segments=_segments_as_data by_segment=_overview findings notes"
        super().__init_subclass__(shown=f"task rows unweighted_rows? dropped=counted.dropped {more}")
        cls._kinds.append(cls)

    def __new__(cls, counted: Counted, *_: object, **__: object) -> "Evaluation":
        """Choose the kind of evaluation for these counts."""
        if not isinstance(counted, Counted):
            raise errors.not_counted(type(counted).__name__)
        if counted.task == FEW_LABELS:
            raise InputError(
                "tally-of-few-labels", "these counts hold rows without a truth, which evaluate and gate estimate"
            )
        found = cls if cls is not Evaluation else cls._kind_for(counted)
        if found is None:
            raise errors.not_counted("count without tallies")
        return object.__new__(found)

    def __init__(
        self,
        counted: Counted,
        probabilities: bool | None = None,
        sampling: Sampling = USUAL,
        pricing: Pricing | None = None,
    ) -> None:
        """Evaluate what was counted.

        Whether scores are probabilities follows from the scores of all rows; a segment takes it from the whole.
        """
        if pricing is not None and not isinstance(pricing, Pricing):
            raise errors.not_costs(pricing)
        if probabilities is not None:
            check_flag("probabilities", probabilities)
        self.counted = counted
        self.sampling = sampling
        self.pricing = pricing
        self._asked: dict[str, Estimate] = {}
        scores = self._any_scores
        self.probabilities = probabilities if probabilities is not None else scores is not None and scores.probabilities

    @classmethod
    def _kind_for(cls, counted: Counted) -> "type[Evaluation] | None":
        """The kind of evaluation for these counts; modules other than that of two classes are imported when needed."""
        for later in ("", "many_classes", "regression", "several"):
            if later:
                import_module(f"stakes.evaluation.{later}")
            for kind in cls._kinds:
                if kind._fits(counted):
                    return kind
        return None

    def __getnewargs__(self) -> tuple[Counted]:
        return (self.counted,)

    def __getstate__(self) -> dict[str, object]:
        """The state of a copy, without cached properties: they can be computed again."""
        made = {
            name for kind in type(self).__mro__ for name, one in vars(kind).items() if isinstance(one, cached_property)
        }
        return {name: value for name, value in vars(self).items() if name not in made}

    @classmethod
    def _fits(cls, counted: Counted) -> bool:
        """Whether this kind of evaluation is for these counts."""
        raise NotImplementedError

    def _held(self, kind: type[Held]) -> Held | None:
        """The tally of a kind, if it was counted."""
        found = self.counted.tallies.get(kind.kind)
        return found if isinstance(found, kind) else None

    @property
    def _any_scores(self) -> ScoreTable | ClassScores | None:
        """The scores of two or of several classes, if there are any."""
        return self._held(ScoreTable) or self._held(ClassScores)

    # ── figures ──────────────────────────────────────────────────────────────────────────────────────────────
    @cached_property
    def figures(self) -> Mapping[str, Estimate]:
        """Every figure that these tallies can give, by name, with default parameters."""
        found: dict[str, Estimate] = {}
        for tally, wanted in self._wanted():
            there = [self._in_population(metric) for metric in wanted]
            found |= {metric.name: estimate for metric, estimate in self._estimates(tally, there)}
        return found

    def __getitem__(self, name: Value) -> Estimate:
        metric = self._find(as_text(name))
        if len(self._asked) >= _ALONE_AT_FIRST and metric.text in self._names:
            return self.figures[metric.text]
        if metric.text not in self._asked:
            self._asked[metric.text] = self._alone(metric)
        return self._asked[metric.text]

    def __contains__(self, name: object) -> bool:
        try:
            return self[name] is not None
        except InputError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.figures)

    @property
    def _auc(self) -> Estimate:
        """The auc of two classes, without asking for decisions, which bins may leave open."""
        if auc.name not in self._asked:
            known = "figures" in vars(self)
            self._asked[auc.name] = self.figures[auc.name] if known else self._alone(auc)
        return self._asked[auc.name]

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of all figures that there are with default parameters."""
        return frozenset(metric.name for _, wanted in self._wanted() for metric in wanted)

    @cached_property
    def population(self) -> Population | None:
        """Where the model is used, if classes are not as frequent there as in the rows."""
        given = self.sampling.population
        if given is None or isinstance(given, Population):
            return given
        classes, positive = self._classes_to_price("prior")
        sizes = self._size.class_sizes()
        return Population.of_frequencies(given, classes, positive, shares_of([sizes[name] for name in classes]))

    def _in_population(self, metric: Metric) -> Metric:
        """The same figure where the model is used."""
        if self.population is None or metric.population is not None:
            return metric
        if metric.name in cost.NAMES and metric.parameters and self.population.shares is not None:
            given: Sequence[Any] = self.population.cases or self.population.shares
            there = Pricing(Costs(**metric.parameters), dict(zip(self.population.classes, given, strict=True)))
            return replace(cost.with_prices(metric, there), name=metric.text)
        return at_prior(metric, self.population)

    @property
    def _shares_there(self) -> Mapping[str, float]:
        """The class frequencies where the model is used, the positive class first; empty if as in the rows."""
        return {} if self.population is None else self.population.by_class

    def _prior_of(self, metric: Metric) -> Mapping[str, float] | None:
        """The class frequencies that a figure is about, if they are not those of the rows."""
        moves = metric.population is not None or "costs" in metric.interval
        return (self._shares_there or None) if moves else None

    def _alone(self, metric: Metric) -> Estimate:
        """One figure, without the others."""
        tally = self._tally(metric)
        if tally is None:
            return Estimate(metric.text, math.nan, reason=self._why_no(metric))
        ((_, estimate),) = self._estimates(tally, [metric])
        return estimate

    def interval(self, name: Value, *, confidence: float | None = None, method: str | None = None) -> Estimate:
        """Return a figure with an interval of another confidence, or by another method where there is a choice.

        Shares can have "wilson", "clopper-pearson", "jeffreys" or "agresti-coull" limits, the auc "delong", "plain
        delong", "logit delong" or "newcombe", kappa "asymptotic" ones, and every figure of rows of equal weight those
        of a "bootstrap" of the rows (percentiles) or its "bca" form. They serve to check other results; the default is
        the same everywhere.
        """
        from stakes.uncertainty import intervals as methods

        metric, tally, sampling = self._place_of(name)
        if tally is None:
            return self[name]
        sampling = sampling if confidence is None else replace(sampling, confidence=confidence)
        value = float(metric.of(tally))
        limits = methods.interval(metric, value, tally, sampling, method)
        baseline = float(metric.baseline_of(tally))
        return self._put_together(metric, tally, value, baseline, limits, sampling.confidence)

    def _place_of(self, name: Value) -> tuple[Metric, Tally | None, Sampling]:
        """The metric of that name, the tally that it is a function of, and how its interval is made."""
        metric = self._find(as_text(name))
        tally = self._tally(metric)
        return metric, tally, self._sampling(tally)

    def _find(self, name: Value) -> Metric:
        """The metric of that name, where the model is used."""
        return self._in_population(self._declared(name))

    def _declared(self, name: Value) -> Metric:
        """The metric of that name; figures of cost use the prices in the name, or the costs of this evaluation."""
        if (of_class := figure_of_class(str(name))) is not None:
            return self._cost_of_class(metrics.find(of_class[0]), of_class[1])
        metric = metrics.find(name)
        return self._apply_costs(metric) if metric.lacking else metric

    def _cost_of_class(self, metric: Metric, of: str) -> Metric:
        """What a case of this class costs: ``expected_cost[sick]``."""
        if metric.name != cost.expected_cost.name:
            raise InputError(
                "class-of-few",
                f"{metric.name}[{of}]: [CLASS] is for more than two classes; choose the class of two with ",
                Pass("positive"),
            )
        classes, _ = self._classes_to_price()
        if of not in classes:
            raise errors.no_such_class(of, classes)
        pricing = self.pricing if metric.lacking else Pricing(Costs(**metric.parameters))
        if pricing is None:
            raise metric.ask_for_parameters()
        return cost.with_prices(metric, pricing, CostSums if pricing.costs.columns else Confusion, of)

    def _apply_costs(self, metric: Metric) -> Metric:
        if self.pricing is None or not set(metric.lacking) >= PRICES:
            raise metric.ask_for_parameters()
        if metric.tally is ScoreTable:
            several = self._held(ClassScores) is not None
            return cost.soft_with_prices(metric, self.pricing, *self._classes_to_price(), several)
        by_row = bool(self.pricing.costs.columns)
        return cost.with_prices(metric, self.pricing, CostSums if by_row else Confusion)

    def _of_decisions(self, declared: Iterable[Metric]) -> list[tuple[Tally, list[Metric]]]:
        """The figures of cost (at the costs of this evaluation) by the tally that they need."""
        if self.pricing is None:
            return []
        wanted = [self._apply_costs(metric) for metric in declared if metric.name in cost.NAMES]
        tally = self._tally(wanted[0])
        return [] if tally is None else [(tally, wanted)]

    def priced(self, costs: Costs, *, prior: Value = None, training_prior: Value = None) -> "Evaluation":
        """Return the evaluation of the same rows at these costs; nothing is counted again.

        Scores of two classes are decided again so as to cost least. Decisions that were given stay as they are.
        """
        pricing = Pricing(costs, prior, training_prior)
        if costs.columns:
            raise errors.count_again_with_costs(costs.columns)
        made = type(self)(
            self._without_decisions(),
            probabilities=self.probabilities,
            sampling=self._sampled_at(pricing),
            pricing=pricing,
        )
        made._check_pricing()
        return made

    def _sampled_at(self, pricing: Pricing | None) -> Sampling:
        """How figures vary where these costs are paid."""
        given = None if pricing is None else at_frequencies(pricing.prior, pricing.training_prior)
        return replace(self.sampling, population=self.population if given is None else given)

    def _check_pricing(self) -> None:
        """Refuse invalid class frequencies before a figure is asked for."""
        if self.pricing is not None:
            self.pricing.deployed(*self._classes_to_price())
        if self.sampling.fixed:
            self._classes_to_price("design")
        _ = self.population

    def _classes_to_price(self, argument: str = "costs") -> tuple[Sequence[str], str | None]:
        """The classes that costs and priors are about, and the positive one of two."""
        raise errors.costs_of_numbers(argument)

    def _without_decisions(self) -> Counted:
        """What was counted, without decisions that another rule could take."""
        return self.counted

    @property
    def _catalogue(self) -> list[Metric]:
        """The declared metrics; those of grades only where classes are ordered."""
        return [one for one in metrics.catalogue() if one.family != graded.__name__.rpartition(".")[2] or self.ordered]

    @property
    def ordered(self) -> bool:
        """Whether the classes are grades, in order."""
        return bool(self.counted.question.get("ordered"))

    def _wanted(self) -> Iterable[tuple[Tally, list[Metric]]]:
        """The tallies, and which metrics of each to show."""
        raise NotImplementedError

    def _tally(self, metric: Metric) -> Tally | None:
        """The tally that a metric is a function of, if it is there."""
        return self.counted.tallies.get(metric.tally.kind)

    def _why_no(self, metric: Metric) -> str:
        """Why there is no such figure; a figure of another task is an error."""
        raise InputError(
            "does-not-fit",
            f"{metric.name} is a figure of {_FIGURES_OF[metric.tally]}, and this is an evaluation of {self._kind}; "
            "`stakes metrics` lists them all",
        )

    def at(self, threshold: float) -> "Evaluation":
        """Return the evaluation of the same scores under another threshold."""
        raise errors.only_for("a threshold", "the scores of two classes")

    def decide(
        self,
        costs: Costs | None = None,
        *,
        best: str | None = None,
        prior: Value = None,
        training_prior: Value = None,
        harm: float = 0.0,
    ) -> "Decision | Policies | LabelDecisions":
        """Return how to decide by the scores."""
        raise errors.only_for("a way to decide", "scores of classes")

    def _add_cautions(self, decision: Chosen) -> Chosen:
        """The same way to decide, with what makes every figure of these rows meaningless."""
        from stakes.evaluation.cautions import wrongs  # sentences, which figures do without

        return speak(replace(decision, cautions=tuple(wrongs(self))), self.lang)

    def _pricing_to_decide(self, costs: Costs | None, prior: Value, training_prior: Value) -> Pricing | None:
        """The costs that were asked about, or those of this evaluation."""
        if self.pricing is None:
            return pricing_of(costs, prior, training_prior)
        changes = {"costs": costs, "prior": prior, "training_prior": training_prior}
        return replace(self.pricing, **{name: value for name, value in changes.items() if value is not None})

    def curve(self, kind: str, *of: Value, **options: Value) -> "Curve":
        """Return a curve over all thresholds."""
        raise errors.only_for("a curve", "scores of classes")

    def histograms(self, bins: int = 50) -> "Histograms | Mapping[str, Histograms]":
        """Return how the scores of each class are spread."""
        raise errors.only_for("a histogram of scores", "scores of classes")

    @cached_property
    def calibration(self) -> "Calibration | ClassCalibrations | NumberCalibration":
        """How honest the probabilities are: a :class:`stakes.Calibration`, or one for each of several classes.

        For predicted numbers, how far they lie from what came true.
        """
        from stakes.decisions.calibration.calibration import calibration_of  # only asked for now and then

        found = calibration_of(self._any_scores, self.probabilities, self._sampling(self._any_scores))
        return speak(found, self.lang)

    def _estimates(
        self, tally: Tally, wanted: Sequence[Metric], sampling: Sampling | None = None
    ) -> Iterable[tuple[Metric, Estimate]]:
        """The figures of several metrics of one tally, with their intervals."""
        from stakes.uncertainty import intervals as methods  # loads many small modules, which counting does not need

        values = [float(value) for value in metrics.measure(list(wanted), tally)]
        found = methods.intervals(wanted, values, tally, sampling or self._sampling(tally))
        ignoring = [float(one) for one in measure_baselines(wanted, tally)]
        for metric, value, baseline, limits in zip(wanted, values, ignoring, found, strict=True):
            yield metric, self._put_together(metric, tally, value, baseline, limits, self.sampling.confidence)

    def _sampling(self, tally: Tally | None) -> Sampling:
        """How intervals of a tally are made, with the clusters of these rows if there are any."""
        return self.sampling.of_clusters(self.counted.clusters)

    def _put_together(
        self, metric: Metric, tally: Tally, value: float, baseline: float, limits: Interval, confidence: float
    ) -> Estimate:
        """Put a figure together with all that is needed to read it."""
        if NO_PROBABILITIES in metric.undefined and not self.probabilities:
            return Estimate(metric.text, math.nan, reason=NO_PROBABILITIES.words)
        return Estimate(
            metric.text,
            value,
            baseline,
            limits.low,
            limits.high,
            reason=metric.why_undefined(tally) if math.isnan(value) else "",
            confidence=confidence,
            method=limits.method,
            no_interval=limits.reason,
            note="; ".join(filter(None, (limits.note, "" if limits.low is None else self._caution))),
            prior=self._prior_of(metric),
            bounds=limits.bounds,
        )

    @cached_property
    def segments(self) -> Mapping[str, "Evaluation"]:
        """The evaluation of each segment, when ``by=`` was given."""
        parts = self.counted.segments
        found = Segments(list(parts), lambda name: self._segment(parts[name]))
        found.whole = self
        return found

    def by_segment(self, name: Value = None) -> "BySegment":
        """Return all segments by one figure (:class:`~stakes.evaluation.by_segment.BySegment`), the worst first.

        Each is compared with the rest, all rows that are not in it; p-values are corrected for the number of segments.
        The figure is the expected cost where there are costs, otherwise a usual one of the task.
        """
        from stakes.evaluation.by_segment import by_segment  # loads statistics that few calls need

        return speak(by_segment(self, name), self.lang)

    def gap(self, name: Value = None, by: str | None = None) -> "Gap":
        """Return how far a figure of the segments lies apart at most (:class:`~stakes.evaluation.gap.Gap`).

        ``name`` may be "equalised_odds": the larger gap of recall and of the false positive rate. ``by`` is one of
        several columns that make the segments. The interval holds for all pairs of segments at once.
        """
        from stakes.evaluation.gap import gap  # loads statistics that few calls need

        return speak(gap(self, name, by), self.lang)

    @cached_property
    def _overview(self) -> "BySegment | None":
        """The segments by the key figure; None where there are no segments, or no such figure."""
        if not self.segments or not self.interval(self._key_figure).defined:
            return None
        return self.by_segment()

    @property
    def _key_figure(self) -> str:
        """The one figure that segments are compared by, if none is named."""
        return cost.expected_cost.name if self._of_decisions(metrics.catalogue()) else self._usual_figure

    @property
    def _usual_figure(self) -> str:
        """The key figure where there are no costs."""
        raise NotImplementedError

    def _segment(self, counted: Counted) -> "Evaluation":
        if self.ordered:
            counted = replace(counted, question={"ordered": True})
        there = replace(self.sampling, population=self.population)
        return type(self)(counted, probabilities=self.probabilities, sampling=there, pricing=self.pricing)

    @property
    def _size(self) -> Tally:
        """A tally that knows the number of rows."""
        return next(iter(self.counted.tallies.values()))

    @property
    def rows(self) -> RowCount:
        """The (weighted) number of rows."""
        total = self._size.total
        return total if isinstance(total, int) else float(total)

    @property
    def unweighted_rows(self) -> Annotated[int | None, Says("How many rows there are behind a weight, where known.")]:
        """How many rows were counted, where ``rows`` is their weight or exposure; None where it is their number."""
        counted = self.counted
        return counted.read - counted.dropped if counted.read and counted._weighted else None

    # ── as data ──────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def _many_segments(self) -> "BySegment | None":
        """The segments, if there are so many that only the key figure of each is shown: all would take minutes."""
        return self._overview if len(self.segments) > _MOST_IN_FULL else None

    @property
    def _segments_as_data(self) -> Mapping[str, BriefSegment]:
        """The figures and the verdict of each segment; with more than 200 segments only one figure."""
        overview, many = self._overview, self._many_segments
        if many is None:
            verdicts = {one.name: one.verdict for one in overview or ()}
            return {
                name: BriefSegment(one.rows, one.figures, getattr(one, "confusion", None), verdicts.get(name, ""))
                for name, one in self.segments.items()
            }
        figures = many.estimates()
        return {one.name: BriefSegment(one.rows, {many.metric: figures[one.name]}, verdict=one.verdict) for one in many}

    def to_rows(self) -> list[dict[str, object]]:
        """Return one flat dictionary per segment and figure, for a data frame; the segment of all rows is None.

        Of more than 200 segments each has only the figure that :meth:`by_segment` compares them by.
        """
        many = self._many_segments
        parts: list[tuple[str | None, Evaluation]] = [(None, self), *(self.segments.items() if many is None else ())]
        figures = [(segment, where, e) for segment, part in parts for where, e in part._all_figures()]
        if many is not None:
            figures += [(name, {"metric": e.name}, e) for name, e in many.estimates().items()]
        return [{"segment": s, **where, **{k: getattr(e, k) for k in _COLUMNS}} for s, where, e in figures]

    def _all_figures(self) -> Iterable[tuple[dict[str, str | None], Estimate]]:
        return [({"metric": name}, estimate) for name, estimate in self.figures.items()]

    # ── in words ─────────────────────────────────────────────────────────────────────────────────────────────
    @property
    def notes(self) -> list[str]:
        """What a careful colleague would point out."""
        from stakes.evaluation.cautions import cautions

        return [words for one in cautions(self) for words in one.words]

    @cached_property
    def _caution(self) -> str:
        """A note on all intervals: with few rows they can be too short."""
        clusters = self.counted.clusters
        if clusters is not None and clusters.count < FEW_CLUSTERS:
            return errors.few_clusters(clusters.count, FEW_CLUSTERS)
        few = {name: size for name, size in self._sizes().items() if size < FEW_ROWS}
        if not few:
            return ""
        words = [f"{size:,.6g} {'row' if size == 1 else 'rows'} of {name}" for name, size in few.items()]
        return f"with fewer than {FEW_ROWS} rows ({', '.join(words[:3])}) intervals can cover less often than stated"

    def _sizes(self) -> Mapping[str, float]:
        """The rows of each group that an interval rests on; with weights, Kish's effective number."""
        return {"data": self._size.equal_rows}

    @property
    def plots(self) -> tuple[str, ...]:
        """The kinds of plots that :meth:`plot` can make of these rows, the usual one first."""
        return (*self._own_plots(), *(("segments",) if self.segments else ()))

    def _own_plots(self) -> Iterable[str]:
        raise NotImplementedError

    def log_to_mlflow(self, prefix: str = "", report: bool = True) -> str:
        """Log the figures, their intervals and the report to MLflow: to the active run, or to a new one.

        A figure is logged as NAME, NAME_low and NAME_high; those without a finite value are listed in the tag
        ``stakes.undefined`` with the reason. All names begin with ``prefix``. Returns the id of the run.
        """
        return str(Door.view("mlflow_run").log(self, prefix, report))

    def __repr__(self) -> str:
        return f"<Evaluation of a {self.task}, rows: {self.rows:,}>"


def as_text(name: Value) -> Value:
    """A figure and a class as one text: ``expected_cost[sick]``."""
    return written_of_class(*name) if isinstance(name, tuple) and len(name) == 2 else name
