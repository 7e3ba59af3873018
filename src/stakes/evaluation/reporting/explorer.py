"""What the threshold explorer moves through: stops with exact counts, bands of the curves, histograms, costs."""

from stakes.decisions.curves.kinds import Scored, curve
from stakes.decisions.curves.report_thresholds import ReportThresholds
from stakes.evaluation.reporting import Part
from stakes.evaluation.reporting.prices import prices_of
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.tallies import ScoreTable
from stakes.views.report.payload import listed, named, section

BINS = 40


def explorer_section(evaluation: TwoClassEvaluation, table: ScoreTable, stops: ReportThresholds) -> Part:
    """Return the stops of the threshold, and all that moves with it."""
    names = {"positives": evaluation.positive, "negatives": evaluation.negative}
    sizes = {"P": table.P, "N": table.N}
    shown, prices = evaluation.histograms(BINS), prices_of(evaluation)
    return section(
        "explorer",
        positive=named(evaluation.positive),
        negative=named(evaluation.negative),
        **{name: count if isinstance(count, int) else float(count) for name, count in sizes.items()},
        stops={name: listed(getattr(stops, name)) for name in ("thresholds", "tp", "fp")},
        complete=stops.complete,
        threshold=None if evaluation.threshold is None else float(evaluation.threshold),
        probabilities=evaluation.probabilities,
        bands=_bands(evaluation, table, stops),
        histogram={"edges": listed(shown.edges), **{key: listed(shown.counts[name]) for key, name in names.items()}},
        costs={"given": prices.given, "decisions": [named(one) for one in prices.decisions], "matrix": prices.matrix},
        deployed=prices.deployed,
        trained=prices.trained,
    )


def _bands(evaluation: TwoClassEvaluation, table: ScoreTable, stops: ReportThresholds) -> Part:
    """The bands of both curves, from a table of the stops alone: drawing it anew puts neighbours together anyhow."""
    scored = Scored(stops.thinned(table), evaluation._sampling(table), evaluation.probabilities)
    bands = {kind: curve(kind, scored).band for kind in ("roc", "pr")}
    return {kind: {name: listed(getattr(one, name)) for name in ("x", "low", "high")} for kind, one in bands.items()}
