"""The page of a decision: which threshold, what it costs, what else could be done, and how sure that is."""

import numpy as np

from stakes.decisions.thresholds.decision import PER, Decision
from stakes.findings.pages.explorer import explorer_section
from stakes.findings.pages.payload import Part, listed, section
from stakes.findings.pages.ways import Row, way, ways_section
from stakes.language.sentences import sentence
from stakes.records import plain


def sections_of(decision: Decision) -> list[Part]:
    """Return the sections below the verdict on a decision."""
    return [*_explorer(decision), *_thresholds_section(decision), *_ways(decision)]


def _explorer(decision: Decision) -> list[Part]:
    """The controls of threshold, costs and prevalence; none where asking the model has a price."""
    evaluation = decision.evaluation
    points = None if evaluation is None else evaluation._report_thresholds
    return [] if points is None or decision.harm else [explorer_section(evaluation, evaluation.scores, points)]


def _per(decision: Decision) -> int:
    """Costs are shown for so many cases, other figures as they are."""
    return 1 if decision.costs is None else PER


# ── sections ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _thresholds_section(decision: Decision) -> list[Part]:
    """The cost, or the figure, at every threshold."""
    curve = decision.over_thresholds
    if curve is None:
        return []
    per, known = _per(decision), np.isfinite(curve.y)
    band = curve.band
    constant = decision.alternatives.get(decision.constant)
    return [
        section(
            "thresholds",
            figure=decision.apparent.name,
            costs=decision.costs is not None,
            x=listed(curve.x[known]),
            y=listed(per * curve.y[known]),
            band={"x": listed(band.x), "low": listed(per * band.low), "high": listed(per * band.high)},
            recommended=plain(decision.recommended[0]),
            best=plain(decision.threshold),
            bayes=None if decision.bayes is None else plain(decision.bayes[0]),
            alike=[[plain(low), plain(high)] for low, high in decision.alike[0]] if decision.alike else [],
            constant=None if constant is None else {"name": way(decision.constant), "value": per * constant.value},
        )
    ]


def _ways(decision: Decision) -> list[Part]:
    own = decision.corrected if decision.costs is None else decision.cost
    others = {name: one for name, one in decision.alternatives.items() if one is not own}
    if not others:
        return []
    rows: list[Row] = [(sentence("way.recommended"), own, None)]
    rows += [(way(name), one, decision.savings.get(name)) for name, one in others.items()]
    return [ways_section(decision.apparent.name, _per(decision), rows, decision.costs is not None)]
