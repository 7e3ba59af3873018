"""The page of ranks: models by mean with the ranks that they may have, and every two of them in a matrix."""

from stakes.evaluation.ranks import Ranks
from stakes.findings.pages.payload import Part, figure, section
from stakes.language.sentences import short_name

_MOST_MODELS = 400
_MOST_IN_MATRIX = 25


def sections_of(ranks: Ranks) -> list[Part]:
    """Return the sections below the verdict on ranks."""
    places = [
        {
            "rank": one.rank,
            "low": one.rank_low,
            "high": one.rank_high,
            "model": short_name(one.model),
            "figure": figure(one.estimate),
            "items": one.items,
            "group": one.group,
            "best": one.among_best,
        }
        for one in ranks.standings[:_MOST_MODELS]
    ]
    return [
        section("standings", places=places, count=len(ranks.models), confidence=ranks.confidence),
        _pairs_section(ranks),
    ]


def _pairs_section(ranks: Ranks) -> Part:
    """Which models (rows) are shown to be better or worse than which others, the best first."""
    order = ranks.tests.order[:_MOST_IN_MATRIX]
    better = ranks.tests.surely_better(ranks.confidence).astype(int)
    shown = (better - better.T)[order][:, order]
    gaps = (ranks.tests.gaps * (1 if ranks.higher_is_better else -1))[order][:, order]
    return section(
        "rank_pairs",
        models=[short_name(ranks.models[place]) for place in order],
        better=shown.tolist(),
        gaps=[[round(gap, 6) for gap in row] for row in gaps.tolist()],
        count=len(ranks.models),
    )
