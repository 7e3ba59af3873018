"""The verdict on ranks: which model is best, which ranks are more than chance, and what would tell more."""

from collections.abc import Iterator

import numpy as np

from stakes.evaluation.ranks import Ranks
from stakes.findings.verdicts.answers import in_order, some_names
from stakes.language.sentences import Chip, Finding, Tone, answer, caution, sentence
from stakes.uncertainty.sampling import FEW_CLUSTERS


def verdict_of(ranks: Ranks) -> tuple[Finding, ...]:
    """Return what is sure about the best model and the ranks, and what a careful colleague would point out."""
    return in_order([_neighbours(ranks), *_repeats(ranks)], _cautions(ranks), first=[_best(ranks)])


def _best(ranks: Ranks) -> Finding:
    """The model that is surely better than all others, or those that may be the best."""
    first, best = ranks.standings[0], ranks.best
    figures = [Chip.of(first.estimate, "ranks.mean_of", name=first.model)]
    more_open = any(one.rank_low == 1 and not one.among_best for one in ranks.standings)
    sharper = [sentence("ranks.sharper")] if more_open else []
    if len(best) == 1:
        others = len(ranks.models) - 1
        key = "ranks.better_of_two" if others == 1 else "ranks.one_best"
        lead = sentence(key, model=best[0], n=others)
        return answer("ranks.which", "good", lead, *sharper, figures=figures)
    named = some_names(best)
    lead = sentence("ranks.several_best", n=len(best), of=len(ranks.models), models=named)
    more = sentence("ranks.leads", model=first.model)
    return answer("ranks.which", "doubt", lead, more, *sharper, figures=figures)


def _neighbours(ranks: Ranks) -> Finding:
    """How many models surely differ from the next one, and the widest interval of a rank."""
    better, order = ranks.tests.surely_better(ranks.confidence), ranks.tests.order
    apart = int(np.count_nonzero(better[order[:-1], order[1:]]))
    widest = max(ranks.standings, key=lambda one: one.rank_high - one.rank_low)
    groups = max(one.group for one in ranks.standings)
    sentences = [sentence("ranks.neighbours", n=apart, of=len(ranks.models) - 1)]
    if widest.rank_high > widest.rank_low:
        sentences.append(sentence("ranks.widest", model=widest.model, low=widest.rank_low, high=widest.rank_high))
    sentences.append(sentence("ranks.groups", n=groups))
    tone: Tone = "good" if apart == len(ranks.models) - 1 else "doubt"
    return answer("ranks.trust", tone, *sentences)


def _repeats(ranks: Ranks) -> Iterator[Finding]:
    """More questions, or more repeats of the same ones?"""
    found = ranks.repeats
    if found is None:
        return
    sentences = [sentence("ranks.removable", share=found.removable, n=round(found.per_item, 1))]
    if found.best:
        sentences.append(sentence("ranks.best_repeats", n=found.best))
    yield answer("ranks.more", "note", *sentences)


def _cautions(ranks: Ranks) -> Iterator[Finding]:
    tally = ranks.tally
    if ranks.tasks:
        yield caution("ranks.tasks", n=len(ranks.tasks))
    if not ranks.complete:
        yield caution("ranks.incomplete")
        few = ~ranks.tests.comparable & ~np.eye(len(ranks.models), dtype=bool)
        if few.any():
            yield caution("ranks.not_comparable", n=int(np.count_nonzero(few)) // 2)
    equal = float(tally.equal_groups.max())
    if tally.clustered and equal < FEW_CLUSTERS:
        yield caution("ranks.few_clusters", n=ranks.clusters, equal=round(equal, 1))
