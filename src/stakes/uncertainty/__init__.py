"""How sure are we: intervals, paired comparisons and permutation tests, from tallies."""
