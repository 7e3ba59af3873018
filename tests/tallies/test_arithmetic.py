import time

import numpy as np
import pytest

from stakes.tallies.arithmetic import distinct


@pytest.mark.parametrize(
    "values",
    [[], [3], [2, 2, 2], [5, 1, 5, 0, -7], [[1, 2], [2, 0]], ["b", "a", "b"], [0.5, -0.0, 0.0, -1e300], [True, False]],
)
def test_distinct_values_are_those_that_numpy_finds(values):
    found, wanted = distinct(np.array(values)), np.unique(np.array(values))
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()


def test_very_many_whole_numbers_are_told_apart_about_as_quickly_as_they_are_sorted():
    numbers = np.random.default_rng(0).integers(0, 1 << 40, 300_000)

    def seconds(work):
        found = []
        for _ in range(5):
            start = time.process_time()
            work(numbers)
            found.append(time.process_time() - start)
        return min(found)

    assert seconds(distinct) < 5 * seconds(np.sort)
