"""The data of the threshold explorer: thresholds with exact counts, bands of the curves, histograms, costs."""

from stakes.decisions.curves.kinds import Scored, curve
from stakes.decisions.curves.report_thresholds import ReportThresholds
from stakes.decisions.thresholds.threshold_grid import cumulate
from stakes.errors import InputError
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.findings.pages.payload import Part, listed, section
from stakes.frozen import dataclass
from stakes.language.sentences import short_name
from stakes.tallies import ScoreTable
from stakes.tallies.population import Population
from stakes.tallies.pricing import AS_IN_THE_ROWS, check_shares

BINS = 40


def explorer_section(evaluation: TwoClassEvaluation, table: ScoreTable, points: ReportThresholds) -> Part:
    """Return the section of the explorer: ``points`` at which the threshold can stand, and what moves with it."""
    names = {"positives": evaluation.positive, "negatives": evaluation.negative}
    sizes = {"P": table.P, "N": table.N}
    shown, prices = evaluation.histograms(BINS), prices_of(evaluation)
    sampling = evaluation._sampling(table)
    return section(
        "explorer",
        positive=short_name(evaluation.positive),
        negative=short_name(evaluation.negative),
        **{name: count if isinstance(count, int) else float(count) for name, count in sizes.items()},
        stops={name: listed(getattr(points, name)) for name in ("thresholds", "tp", "fp")} | _squares(table, points),
        complete=points.complete,
        threshold=None if evaluation.threshold is None else float(max(evaluation.threshold, min(points.thresholds))),
        probabilities=evaluation.probabilities,
        bands=_bands(evaluation, table, points),
        histogram={"edges": listed(shown.edges), **{key: listed(shown.counts[name]) for key, name in names.items()}},
        costs={
            "given": prices.given,
            "by_row": prices.by_row,
            "decisions": [short_name(one) for one in prices.decisions],
            "matrix": prices.matrix,
            "unit": evaluation.pricing.costs.unit if evaluation.pricing is not None and prices.given else "",
            "savings": _savings(evaluation, prices),
        },
        deployed=prices.deployed,
        trained=prices.trained,
        confidence=sampling.confidence,
        fixed=sampling.fixed,
        clusters=sampling.clusters is not None,
    )


def _squares(table: ScoreTable, points: ReportThresholds) -> Part:
    """Sums of the squared weights of each class above the thresholds; nothing without weights."""
    columns = points.thinned(table).as_columns()
    if not columns.weighted:
        return {}
    places = columns.reaching(points.thresholds)
    sums = [cumulate(column) for column in columns.counts("_squared")]
    return {"squares": [listed(one[places]) for one in sums]}


def _bands(evaluation: TwoClassEvaluation, table: ScoreTable, points: ReportThresholds) -> Part:
    """The bands of both curves, from a table of these thresholds alone: resampling merges neighbours anyhow."""
    scored = Scored(points.thinned(table), evaluation._sampling(table), evaluation.probabilities)
    bands = {kind: curve(kind, scored).band for kind in ("roc", "pr")}
    return {kind: {name: listed(getattr(one, name)) for name in ("x", "low", "high")} for kind, one in bands.items()}


# ── costs ────────────────────────────────────────────────────────────────────────────────────────────────────────
@dataclass(frozen=True)
class Prices:
    """What each decision costs for the negative and the positive class, and how frequent the positive one is.

    Costs ``by_row`` give a threshold no price: the page knows how many rows lie above it, not which.
    ``deployed`` is its share where the model is going to be used, ``trained`` the one inside the scores; None where it
    is that of the rows.
    """

    given: bool
    decisions: tuple[str, ...]
    matrix: list[list[float]]
    deployed: float | None = None
    trained: float | None = None
    by_row: bool = False


def prices_of(evaluation: TwoClassEvaluation) -> Prices:
    """Return the prices of an evaluation; 1 for each mistake if nobody gave any, or if each row has its own."""
    pricing, pair = evaluation.pricing, (evaluation.negative, evaluation.positive)
    deployed, trained = evaluation._shares_there.get(evaluation.positive), _trained(evaluation, pair)
    if pricing is None or pricing.costs.columns:
        return Prices(False, pair, [[0.0, 1.0], [1.0, 0.0]], deployed, trained, pricing is not None)
    decisions = pricing.decisions(pair)
    matrix = [[float(cell) for cell in row] for row in pricing.prices(pair, decisions, evaluation.positive)]
    return Prices(True, decisions, matrix, deployed, trained)


def _savings(evaluation: TwoClassEvaluation, prices: Prices) -> Part | None:
    """What the threshold in use saves against deciding the same for everyone, where that is what `decide` tells.

    The page resamples for whatever else is set on it; for this it has the same interval as every other view.
    """
    if not prices.given or set(prices.decisions) != {evaluation.negative, evaluation.positive}:
        return None
    try:
        decision = evaluation._decision
    except InputError:  # one decision is best whatever the score says
        return None
    if decision is None or not (decision.bayes_is_alike or decision.in_use_alike is not None):
        return None  # a choice by these rows is evaluated on others
    if decision.by_score[0] != evaluation.threshold:
        return None
    names = {"nobody": evaluation.negative, "everyone": evaluation.positive}
    found = {key: decision.savings_by_score[f"always {name}"] for key, name in names.items()}
    return {key: {"value": one.value, "low": one.low, "high": one.high} for key, one in found.items()}


def _trained(evaluation: TwoClassEvaluation, pair: tuple[str, str]) -> float | None:
    given = evaluation.pricing or evaluation.sampling.population
    prior = None if given is None or isinstance(given, Population) else given.training_prior
    if prior is None or (isinstance(prior, str) and prior == AS_IN_THE_ROWS):
        return None
    return float(check_shares("training_prior", prior, pair, pair[1])[1])
