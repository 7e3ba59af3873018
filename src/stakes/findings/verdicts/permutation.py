"""The verdict on a permutation test: could it be chance?"""

from collections.abc import Iterator

import numpy as np

from stakes.findings.verdicts.answers import in_order
from stakes.language.sentences import Chip, Finding, Sentence, Tone, answer, caution, metric, reason, sentence
from stakes.uncertainty.permutation import PermutationTest

_HARDLY, _UNLIKELY = 0.001, 0.05


def verdict_of(test: PermutationTest) -> tuple[Finding, ...]:
    """Return whether it could be chance, in words and as a probability."""
    key = "chance.unlikely" if test.p_value <= _UNLIKELY else "chance.possible"
    if test.p_value < _HARDLY:
        key = "chance.hardly"
    seen = sentence("chance.exact") if test.null is None else _shuffles(test)
    p_value = Chip(test.metric, test.p_value, label=sentence("chance.p_value"), format="p")
    tone: Tone = "good" if test.p_value <= _UNLIKELY else "doubt"
    question = reason(test.question)
    return in_order(
        [
            answer(
                "chance.question",
                tone,
                sentence(key),
                seen,
                figures=[Chip(test.metric, test.value), p_value],
                question=question,
            )
        ],
        _cautions(test),
    )


def _shuffles(test: PermutationTest) -> Sentence:
    as_good = round(test.p_value * (1 + test.permutations)) - 1
    values = {"n": test.permutations, "name": metric(test.metric), "value": test.value}
    return sentence("chance.some", times=as_good, **values) if as_good else sentence("chance.none_did", **values)


def _cautions(test: PermutationTest) -> Iterator[Finding]:
    if test.dropped:
        yield caution("caution.dropped", n=test.dropped)
    if test.null is None:
        return
    undefined = int(np.isnan(test.null).sum())
    if undefined:
        yield caution("chance.undefined", n=undefined)
    if test.p_value <= 1 / (1 + test.permutations):
        yield caution("chance.smallest", p=test.p_value)
