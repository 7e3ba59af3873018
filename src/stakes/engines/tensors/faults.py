"""What is wrong with the values of a tensor, found where it lies."""

import math

from stakes import errors
from stakes.engines.tensors.arrays import Tensor
from stakes.engines.tensors.operations import ArrayOperations


def refuse_infinite_tensor(operations: ArrayOperations, values: Tensor, argument: str) -> None:
    """Raise when a number is missing or infinite, naming the first, as ``refuse_infinite`` does of arrays."""
    for wrong, words in ((values != values, errors.missing_values), (abs(values) == math.inf, errors.infinite_values)):
        bad = operations.places(wrong)
        if len(bad):
            raise words(argument, len(bad), int(bad[0]))
