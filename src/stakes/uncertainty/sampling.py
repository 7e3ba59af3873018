"""The sampling model of an interval: its confidence, and what would vary in another sample."""

import math

import numpy as np

from stakes.errors import Given, InputError, some
from stakes.frozen import dataclass, replace
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.checks import check_whole, is_one_of
from stakes.tallies.clusters import Clusters
from stakes.tallies.cost_sums import CostGroups
from stakes.tallies.population import Population
from stakes.tallies.pricing import Frequencies

DESIGNS = ("classes random", "classes fixed")
"""Whether another sample would have other class counts, or the same ones by design."""

REPLICATES = 2000
"""How many times a small table is resampled."""


FEW_ROWS = 50
"""With at least this many rows in every class, measured coverage of intervals is as stated."""

FEW_CLUSTERS = 30
"""With fewer clusters intervals are too short, and a warning says so."""


@dataclass(frozen=True)
class Sampling:
    """How intervals are made: their confidence, the design of the sample, and the random seed.

    With ``clusters`` another sample would have other clusters, not other rows. ``population`` is where the model is
    used, if class frequencies there differ from those of the rows. Rows of a time series are forecasts ``horizon``
    steps ahead: rows nearer to each other than that are correlated. A ``baseline`` is what ignoring the input predicts,
    if that was given.
    """

    confidence: float = 0.95
    design: str = "classes random"
    seed: int = 0
    replicates: int = REPLICATES
    clusters: Clusters | None = None
    population: Frequencies | Population | None = None
    horizon: int = 1

    def __post_init__(self) -> None:
        if not is_real(self.confidence) or not 1e-9 <= self.confidence <= 1 - 1e-9:
            raise InputError(
                "bad-confidence",
                Given("confidence", self.confidence),
                " is not between 0 and 1; 0.95 is usual, and those from 1e-9 to 0.999999999 work",
            )
        object.__setattr__(self, "confidence", float(self.confidence))
        if not is_one_of(self.design, DESIGNS):
            raise InputError(
                "bad-design", Given("design", self.design), f" is not known; it is {some(DESIGNS, last='or')}"
            )
        check_whole("seed", self.seed, 0, math.inf)
        check_whole("horizon", self.horizon, 1)

    @property
    def fixed(self) -> bool:
        """Whether the class counts are the same in every sample."""
        return self.design == "classes fixed"

    @property
    def in_time(self) -> bool:
        """Whether rows that follow each other resemble each other."""
        return self.horizon > 1 and self.clusters is None

    @property
    def units(self) -> str:
        """The sampling units, in words."""
        return "rows" if self.clusters is None else f"{self.clusters.count:,} clusters"

    @property
    def tail(self) -> float:
        """The share that lies beyond each end of an interval."""
        return (1 - self.confidence) / 2

    @property
    def width(self) -> float:
        """How many standard errors an interval reaches to either side; few clusters make it longer."""
        probability = (1 + self.confidence) / 2
        return normal(probability) if self.clusters is None else student(probability, self.clusters.count - 1)

    def percentiles(self, draws: Array) -> tuple[Array, Array]:
        """Return the ends between which draws (first axis) lie, but for the tail beyond each."""
        low, high = np.quantile(draws, (self.tail, 1 - self.tail), axis=0)
        return low, high

    def of_clusters(self, clusters: Clusters | None) -> "Sampling":
        """Return the same for rows that come in these clusters, or in none."""
        return self if clusters is self.clusters else replace(self, clusters=clusters)

    def require_clusters(self) -> Clusters:
        """Return the clusters, where rows come in some."""
        assert self.clusters is not None
        return self.clusters

    def generator(self) -> "np.random.Generator":  # NumPy loads it when it is first used
        """Return the source of randomness: the same one for the same seed."""
        return np.random.default_rng(self.seed)


USUAL = Sampling()
"""95 % intervals, class counts random."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that models are compared on; for classes ``truth`` are codes into ``classes``, otherwise numbers.

    Rows with the same number in ``cluster`` belong together. ``costs`` is what each decision costs in each row, where
    that differs from row to row. An entry can stand for many equal rows: ``alike`` is their number, ``weight`` their
    total weight, ``squares`` the sum of their squared weights, and ``fourths`` that of fourth powers. Rows of a time
    series are forecasts ``horizon`` steps ahead: rows nearer to each other than that are correlated. A ``baseline`` is
    what ignoring the input predicts, if that was given.
    """

    truth: Array
    classes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    positive: str | None = None
    weight: Array | None = None
    cluster: Array | None = None
    costs: Array | CostGroups | None = None
    alike: Array | None = None
    squares: Array | None = None
    fourths: Array | None = None
    horizon: int | None = None
    baseline: float | None = None

    def take(self, rows: Array) -> "Sample":
        """Return some of the rows (a mask)."""
        names = "truth", "weight", "cluster", "costs", "alike", "squares", "fourths"
        columns = {name: getattr(self, name) for name in names}
        taken = {name: column[rows] for name, column in columns.items() if column is not None}
        if "cluster" in taken:
            taken["cluster"] = np.unique(taken["cluster"], return_inverse=True)[1]
        return replace(self, **taken)

    @property
    def hits(self) -> Array:
        """Whether a row is positive."""
        return np.asarray(self.truth == self.classes.index(str(self.positive)))

    @property
    def rows(self) -> Array:
        """How many rows each entry stands for."""
        return np.ones(len(self.truth)) if self.alike is None else self.alike.astype(np.float64)

    @property
    def weights(self) -> Array:
        """The weight of each entry."""
        return self.rows if self.weight is None else self.weight.astype(np.float64)

    @property
    def squared_weights(self) -> Array:
        """The sum of squared weights of each entry."""
        if self.weight is None:
            return self.rows
        return self.weights**2 if self.squares is None else self.squares.astype(np.float64)

    @property
    def unit(self) -> Array:
        """The weight of one row of each entry."""
        return self.squared_weights / self.weights

    @property
    def tails(self) -> Array | None:
        """How much larger the fourth powers of weights are than those of equal rows, where entries stand for others."""
        return None if self.fourths is None else self.fourths / (self.weights * self.unit**3)

    @property
    def single_cluster(self) -> bool:
        """Whether all rows belong together."""
        return self.cluster is not None and int(self.cluster.max()) < 1


# ── quantiles ────────────────────────────────────────────────────────────────────────────────────────────────────
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
