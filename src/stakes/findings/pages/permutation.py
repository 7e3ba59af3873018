"""The page of a permutation test: what shuffled labels give, beside what was seen."""

import numpy as np

from stakes import metrics
from stakes.findings.pages.payload import Part, listed, section
from stakes.findings.pictures import null_histogram
from stakes.records import plain
from stakes.tallies.arithmetic import Array
from stakes.uncertainty.permutation import PermutationTest

_BINS = 40


def sections_of(test: PermutationTest) -> list[Part]:
    """Return the sections below the verdict on a permutation test."""
    return [] if test.null is None else [_null_section(test, test.null)]


def _null_section(test: PermutationTest, null: Array) -> Part:
    """How the figures of shuffled labels are spread."""
    known = null[np.isfinite(null)]
    counts, edges = null_histogram(test, _BINS)
    return section(
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
