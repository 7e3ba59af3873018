"""What is known about the order of scores beyond the bins in which they were counted."""

from stakes.frozen import dataclass
from stakes.tallies.arithmetic import Number


@dataclass(frozen=True)
class Order:
    """Sums over the order of all scores, computed where the rows were before the scores were put in bins.

    ``twice_wins`` are twice the pairs in which the positive outranks the negative, a tie counting once, a pair as much
    as the product of its weights; ``precision`` is the sum of the precision at each positive, and ``widest_gap`` the
    largest TPR − FPR, times P·N (None: those of the bins stand). In ``open_pairs``, which count as ties, either row may
    outrank the other; ``memory`` is how many bytes it took to count the others in finer bins. They are those of these
    rows alone: pairs between parts were never seen, so a sum of tables has none.
    """

    twice_wins: Number
    precision: float | None
    widest_gap: int | None
    open_pairs: Number = 0
    memory: int = 0
