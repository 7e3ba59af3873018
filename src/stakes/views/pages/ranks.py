"""Ranks to look at: one line for each model, every two of them on demand."""

import math
from collections.abc import Sequence

from stakes.evaluation.ranks import Ranks, Standing
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import words
from stakes.views.page import (
    Column,
    Page,
    TextTable,
    between,
    pair_of,
    ranks_between,
    sure_of,
    write_count,
    write_figure,
)

_MOST_SHOWN = 40
_MOST_PAIRS = 6


def page(ranks: Ranks, everything: bool = False, more: str = "") -> Page:
    """Lay out the models, best first; pairs of few models, or if everything is asked for."""
    shown = ranks.standings if everything else ranks.standings[:_MOST_SHOWN]
    grids, pairs = [_standings(ranks, shown)], math.comb(len(ranks.models), 2)
    if everything or pairs <= _MOST_PAIRS:
        grids.append(_pairs(ranks))
    hidden = len(ranks.standings) - len(shown)
    rest = words("ranks.hidden", n=hidden, how=more or "to_rows()") if hidden else ""
    return Page.of(about(ranks), ranks.findings, grids, more=rest)


def _standings(ranks: Ranks, shown: Sequence[Standing]) -> TextTable:
    columns: list[Column] = [
        (words("ranks.model"), lambda one: one.model),
        (words("ranks.rank"), write_count("rank")),
        (words("ranks.rank_interval"), lambda one: ranks_between(one.rank_low, one.rank_high)),
        (words("ranks.mean"), lambda one: write(one.estimate.value)),
        (sure_of(ranks.confidence), lambda one: between(one.estimate)),
        *([] if ranks.complete else [(words("ranks.items"), write_count("items"))]),
        (words("ranks.group"), lambda one: f"{one.group}{' *' if one.among_best else ''}"),
    ]
    return TextTable.of(shown, *columns, title=words("ranks.star"))


def _pairs(ranks: Ranks) -> TextTable:
    return TextTable.of(
        ranks.pairs(),
        (words("compared.first_minus_second"), pair_of),
        (words("ranks.mean"), write_figure("difference")),
        (sure_of(ranks.confidence), between),
        ("p", write_figure("p_value")),
        (words("differences.holm"), write_figure("adjusted_p_value")),
    )
