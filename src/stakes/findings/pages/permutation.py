"""The page of a permutation test: the figure of shuffled labels beside the observed one."""

import numpy as np

from stakes import metrics
from stakes.findings.pages.payload import Part, listed, section
from stakes.findings.pictures import null_histogram
from stakes.records import plain
from stakes.uncertainty.permutation import PermutationTest

_BINS = 40


def sections_of(test: PermutationTest) -> list[Part]:
    """Return the sections below the verdict on a permutation test."""
    if test.null is None:
        return []
    known = test.null[np.isfinite(test.null)]
    counts, edges = null_histogram(test, _BINS)
    spread = section(
        "null",
        metric=test.metric,
        better=metrics.find(test.metric).better,
        value=plain(test.value),
        p_value=test.p_value,
        edges=listed(edges),
        counts=listed(counts),
        mean=plain(float(known.mean())) if len(known) else None,
        permutations=test.permutations,
    )
    return [spread]
