"""Ranks to look at: one line for each model, every two of them on demand."""

import math
from collections.abc import Sequence

from stakes.evaluation.comparison import Pair
from stakes.evaluation.ranks import Ranks, Standing
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import words
from stakes.views.page import Page, TextTable, between, ranks_between

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
    sure = words("figures.interval", confidence=ranks.confidence)
    head = [words(f"ranks.{name}") for name in ("model", "rank", "rank_interval", "mean")]
    incomplete = [] if ranks.complete else [words("ranks.items")]
    rows = [
        (
            one.model,
            write(one.rank, "count"),
            ranks_between(one.rank_low, one.rank_high),
            write(one.estimate.value),
            between(one.estimate),
            *([] if ranks.complete else [write(one.items, "count")]),
            f"{one.group}{' *' if one.among_best else ''}",
        )
        for one in shown
    ]
    title = words("ranks.star")
    return TextTable([*head, sure, *incomplete, words("ranks.group")], rows, title=title)


def _pairs(ranks: Ranks) -> TextTable:
    sure = words("figures.interval", confidence=ranks.confidence)
    head = [
        words("compared.first_minus_second"),
        words("ranks.mean"),
        sure,
        "p",
        words("differences.holm"),
    ]
    return TextTable(head, [_pair(pair) for pair in ranks.pairs()])


def _pair(pair: Pair) -> tuple[str, ...]:
    numbers = write(pair.p_value), write(pair.adjusted_p_value)
    return f"{pair.first} − {pair.second}", write(pair.difference), between(pair), *numbers
