"""Quantiles of the normal and of Student's distribution."""

_MANY = 1000
"""With so many degrees of freedom Student's t is nearly normal, and SciPy need not be loaded."""


def normal(probability: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist  # loads random numbers and decimals, which importing stakes need not

    return NormalDist().inv_cdf(probability)


def student(probability: float, degrees: float) -> float:
    """The quantile of Student's t; below 1 degree of freedom, that of 1."""
    if degrees >= _MANY:
        z = normal(probability)
        first, second = (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + (first + (second + third / degrees) / degrees) / degrees  # the next term is below 1e-9
    from scipy.special import stdtrit  # takes longer to load than most evaluations, so it waits for its first use

    return float(stdtrit(max(degrees, 1), probability))
