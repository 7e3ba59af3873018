"""What the threshold explorer moves through: stops with exact counts, bands of the curves, histograms, costs."""

from typing import Any

from stakes.decisions.curves.kinds import Scored, curve
from stakes.decisions.curves.report_thresholds import ReportThresholds
from stakes.evaluation.reporting.prices import prices_of
from stakes.views.report.payload import listed, named, section

BINS = 40


def explorer_section(evaluation: Any, stops: ReportThresholds) -> dict[str, Any]:
    """Return the stops of the threshold, and all that moves with it."""
    table = evaluation.scores
    shown, prices = evaluation.histograms(BINS), prices_of(evaluation)
    return section(
        "explorer",
        positive=named(evaluation.positive),
        negative=named(evaluation.negative),
        P=_number(table.P),
        N=_number(table.N),
        stops={name: listed(getattr(stops, name)) for name in ("thresholds", "tp", "fp")},
        complete=stops.complete,
        threshold=None if evaluation.threshold is None else float(evaluation.threshold),
        probabilities=evaluation.probabilities,
        bands=_bands(evaluation, stops),
        histogram={"edges": listed(shown.edges), **_counts(evaluation, shown)},
        costs={"given": prices.given, "decisions": [named(one) for one in prices.decisions], "matrix": prices.matrix},
        deployed=prices.deployed,
        trained=prices.trained,
    )


def _bands(evaluation: Any, stops: ReportThresholds) -> dict[str, Any]:
    """The bands of both curves, from a table of the stops alone: drawing it anew puts neighbours together anyhow."""
    scored = Scored(stops.thinned(evaluation.scores), evaluation._sampling(evaluation.scores), evaluation.probabilities)
    bands = {kind: curve(kind, scored).band for kind in ("roc", "pr")}
    return {kind: {name: listed(getattr(one, name)) for name in ("x", "low", "high")} for kind, one in bands.items()}


def _counts(evaluation: Any, shown: Any) -> dict[str, Any]:
    names = {"positives": evaluation.positive, "negatives": evaluation.negative}
    return {key: listed(shown.counts[name]) for key, name in names.items()}


def _number(count: Any) -> int | float:
    return count if isinstance(count, int) else float(count)
