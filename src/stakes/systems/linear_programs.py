"""Small linear programs: the least that can be paid when only margins are known.

Minimise prices·q over q ≥ 0 with given margins. The dual of such a program does not know the margins: a set of prices
of the margins that is allowed once is allowed for all. So when margins are resampled, the duals found for some of
the draws bound every draw from below: exactly for those that were solved, and closely for most of the others.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from stakes.errors import InputError
from stakes.tallies.arithmetic import Array

Sparse = Any
"""A sparse matrix of SciPy's, which has no types."""

_SOLVED_DRAWS = (4, 150)
"""For how many draws the program is solved itself, at least and at most: as many as stay below ``_MOST_AT_ONCE``."""

_MOST_AT_ONCE = 10_000
"""So many unknowns take a tenth of a second."""


def least(prices: Array, constraints: Sparse, margins: Array) -> tuple[float, Array, Array]:
    """Return the least that can be paid, the price of each margin, and what then happens how often."""
    values, duals, shares = least_of_each(prices[None], constraints, margins[None])
    return float(values[0]), duals[0], shares[0]


def least_of_each(prices: Array, constraints: Sparse, margins: Array) -> tuple[Array, Array, Array]:
    """Solve several programs (first axis) at once: side by side they are one, and starting one takes longest."""
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron

    several = kron(eye_array(len(prices)), constraints).tocsr()
    solve = partial(linprog, prices.ravel(), A_eq=several, b_eq=margins.ravel(), bounds=(0, None), method="highs")
    for presolve in (True, False):  # presolving takes what is tiny for impossible now and then
        solved = solve(options={"presolve": presolve})
        if solved.status == 0:
            break
    else:
        raise InputError(
            "no-joint",
            f"no joint distribution has these tables as its margins ({' '.join(solved.message.split())}); check them",
        )
    shares = solved.x.reshape(prices.shape)
    return (prices * shares).sum(1), np.asarray(solved.eqlin.marginals).reshape(margins.shape), shares


def least_of_draws(prices: Array, constraints: Sparse, draws: Array, duals: Sequence[Array]) -> Array:
    """Return the least that can be paid for each draw of the margins (first axis).

    Draws that are not solved themselves can be a little too low, never too high: intervals get wider, not narrower.
    """
    fewest, most = _SOLVED_DRAWS
    solved = min(most, max(fewest, _MOST_AT_ONCE // len(prices)), len(draws))
    chosen = np.linspace(0, len(draws) - 1, solved).astype(int)
    _, found, _ = least_of_each(np.broadcast_to(prices, (len(chosen), len(prices))), constraints, draws[chosen])
    return np.asarray((draws @ np.unique(np.stack([*duals, *found]), axis=0).T).max(axis=1))


def transport(rows: int, columns: int) -> Sparse:
    """Constraints of a table with given row sums and, but for the last one, column sums (the last one follows)."""
    from scipy.sparse import csr_array, eye_array, kron, vstack

    by_row = kron(eye_array(rows), np.ones((1, columns)))
    by_column = kron(np.ones((1, rows)), csr_array(np.eye(columns)[:-1]))
    return vstack([by_row, by_column]).tocsr()
