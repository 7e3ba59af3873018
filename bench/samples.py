"""Simulated predictions that all measurements share."""

import numpy as np


def two_classes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Truth, scores between 0 and 1 (all different), and decisions at ½; the auc is about 0.7."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    truth = rng.random(n) < 0.2 + 0.6 * score
    return truth, score, score >= 0.5


def ten_classes(n: int, seed: int = 1, right: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Truth and guesses, of which at least a share is right."""
    rng = np.random.default_rng(seed)
    truth, guesses = rng.integers(0, 10, (2, n))
    return truth, np.where(rng.random(n) < right, truth, guesses) if right else guesses
