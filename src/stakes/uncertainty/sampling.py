"""What an interval is about: how sure it shall be, and what would vary if the rows were drawn again."""

import math
from dataclasses import dataclass

import numpy as np

from stakes.errors import Given, InputError, some
from stakes.tallies.arithmetic import Array, is_real
from stakes.tallies.checks import check_whole, is_one_of
from stakes.tallies.clusters import Clusters
from stakes.uncertainty.quantiles import normal, student

DESIGNS = ("classes random", "classes fixed")
"""Whether another sample would have other class counts, or the same ones by design."""

REPLICATES = 2000
"""How many times a small table is drawn anew."""


FEW_CLUSTERS = 30
"""With fewer clusters intervals are too short, and a warning says so."""


@dataclass(frozen=True)
class Sampling:
    """How intervals are made: their confidence, the design of the sample, and the seed of what is drawn.

    With ``clusters`` other clusters would have been drawn, not other rows.
    """

    confidence: float = 0.95
    design: str = "classes random"
    seed: int = 0
    replicates: int = REPLICATES
    clusters: Clusters | None = None

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

    @property
    def fixed(self) -> bool:
        """Whether the class counts are the same in every sample."""
        return self.design == "classes fixed"

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

    def require_clusters(self) -> Clusters:
        """Return the clusters that are drawn, where rows come in some."""
        assert self.clusters is not None
        return self.clusters

    def generator(self) -> "np.random.Generator":  # NumPy loads it when it is first used
        """Return the source of randomness: the same one for the same seed."""
        return np.random.default_rng(self.seed)


USUAL = Sampling()
"""95 % intervals, class counts random."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that models are judged on; for classes ``truth`` are codes into ``classes``, otherwise numbers.

    Rows with the same number in ``cluster`` belong together. ``costs`` is what each decision costs in each row, where
    that differs from row to row.
    """

    truth: Array
    classes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    positive: str | None = None
    weight: Array | None = None
    cluster: Array | None = None
    costs: Array | None = None

    @property
    def hits(self) -> Array:
        """Whether a row is positive."""
        return np.asarray(self.truth == self.classes.index(str(self.positive)))

    @property
    def weights(self) -> Array:
        """What each row weighs."""
        return np.ones(len(self.truth)) if self.weight is None else self.weight.astype(np.float64)

    @property
    def single_cluster(self) -> bool:
        """Whether all rows belong together."""
        return self.cluster is not None and int(self.cluster.max()) < 1
