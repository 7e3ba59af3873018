"""from_logits=True: converts logits to probabilities; whether scores are logits is never guessed."""

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.columns import refuse_infinite


def probabilities_of(logits: Array) -> Array:
    """Return the probability of each finite logit, or of each class where a row has several: sigmoid or softmax.

    >>> probabilities_of(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    >>> probabilities_of(np.array([[0.0, 0.0], [1000.0, 0.0]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    numbers = logits.astype(np.float64)
    refuse_infinite("score", numbers)
    if numbers.ndim == 2:
        shares = np.exp(numbers - numbers.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
    small = np.exp(-np.abs(numbers))  # never more than 1, so nothing overflows
    return np.where(numbers >= 0, 1.0, small) / (1.0 + small)
