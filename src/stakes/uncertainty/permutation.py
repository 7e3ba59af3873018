"""Could the figure be chance? Labels are shuffled, and the figure is compared with what comes out then."""

from dataclasses import dataclass
from typing import Any

from stakes.tallies.arithmetic import Array


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """A figure, what it is when labels are shuffled, and how often that is as good or better.

    ``p_value`` is (1 + as good or better) / (1 + permutations), so it is never 0, or exact where ``null`` is None.
    """

    metric: str
    value: float
    p_value: float
    null: Array | None
    permutations: int
    method: str
    question: str

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "stakes": "permutation test",
            "metric": self.metric,
            "value": self.value,
            "p_value": self.p_value,
            "permutations": self.permutations,
            "method": self.method,
            "question": self.question,
            "null": None if self.null is None else self.null.tolist(),
        }
