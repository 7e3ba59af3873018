"""What the threshold explorer moves through: stops with exact counts, bands of the curves, histograms, costs."""

from typing import Any


from stakes.decisions.curves.kinds import Scored, curve
from stakes.decisions.curves.stops import Stops
from stakes.tallies.pricing import AS_IN_THE_ROWS
from stakes.views.report.payload import listed, named, section

BINS = 40


def explorer_section(evaluation: Any, stops: Stops) -> dict[str, Any]:
    """Return the stops of the threshold, and all that moves with it."""
    table = evaluation.scores
    shown = evaluation.histograms(BINS)
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
        costs=_costs(evaluation),
        **_shares(evaluation),
    )


def _bands(evaluation: Any, stops: Stops) -> dict[str, Any]:
    """The bands of both curves, from a table of the stops alone: drawing it anew puts neighbours together anyhow."""
    scored = Scored(stops.thinned(evaluation.scores), evaluation._sampling(evaluation.scores), evaluation.probabilities)
    bands = {kind: curve(kind, scored).band for kind in ("roc", "pr")}
    return {kind: {name: listed(getattr(one, name)) for name in ("x", "low", "high")} for kind, one in bands.items()}


def _counts(evaluation: Any, shown: Any) -> dict[str, Any]:
    names = {"positives": evaluation.positive, "negatives": evaluation.negative}
    return {key: listed(shown.counts[name]) for key, name in names.items()}


def _costs(evaluation: Any) -> dict[str, Any]:
    """What each decision costs for the negative and for the positive class; 1 for each mistake if nobody said."""
    pricing, pair = evaluation.pricing, (evaluation.negative, evaluation.positive)
    if pricing is None or pricing.costs.columns:
        return {"given": False, "decisions": [named(one) for one in pair], "matrix": [[0, 1], [1, 0]]}
    decisions = pricing.decisions(pair)
    matrix = pricing.prices(pair, decisions, evaluation.positive)
    return {
        "given": True,
        "decisions": [named(one) for one in decisions],
        "matrix": [[float(cell) for cell in row] for row in matrix],
    }


def _shares(evaluation: Any) -> dict[str, Any]:
    """The prevalence of the deployment and the one inside the scores, where they are known to differ from the rows'."""
    pricing = evaluation.pricing
    if pricing is None:
        return {"deployed": None, "trained": None}
    pair = (evaluation.negative, evaluation.positive)
    deployed = pricing.deployed(pair, evaluation.positive)
    trained = pricing.training_prior
    if trained is not None and not (isinstance(trained, str) and trained == AS_IN_THE_ROWS):
        from stakes.tallies.pricing import settled

        trained = settled("training_prior", trained, pair, evaluation.positive)
    else:
        trained = None
    return {
        "deployed": None if deployed is None else float(deployed[1]),
        "trained": None if trained is None else float(trained[1]),
    }


def _number(count: Any) -> int | float:
    return count if isinstance(count, int) else float(count)
