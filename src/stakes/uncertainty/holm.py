"""Several tests at once: Holm's correction."""

from collections.abc import Sequence


def adjusted(p_values: Sequence[float]) -> list[float]:
    """Return p-values that may each be compared with the level of the whole family; their order is kept.

    The smallest is multiplied by the number of tests, the next by one less, and so on, never falling.
    Holm (1979), Scandinavian Journal of Statistics 6.

    >>> adjusted([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    found, least = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[place]))
        found[place] = least
    return found
