import numpy as np
import pytest

from stakes.uncertainty.two_samples import holm
from tests.parts import corrected


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 10, 45])
def test_holm_is_statsmodels(count):
    p_values = (np.random.default_rng(count).random(count) ** 3).tolist()
    assert holm(p_values) == pytest.approx(corrected(p_values))


def test_equal_p_values_stay_equal_and_nothing_passes_one():
    assert holm([0.02, 0.02, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.6, 0.7]) == [1, 1]
    assert holm([]) == []
