"""Keys that are collected batch by batch, 8 bytes a row, and sorted once at the end."""

import numpy as np

from stakes.tallies.arithmetic import Array
from stakes.tallies.keys import FLOAT64, SIGNED, Keys, Layout, join, sort
from stakes.tallies.steps import BLOCK

_GROWTH = 1.25


class KeyBuffer:
    """Scores and labels packed into keys (see ``keys.py``) as they come, in one array that grows."""

    def __init__(self, rows: int) -> None:
        """Make room for about so many rows; memory is taken only as it is filled."""
        self._values = np.empty(max(rows, 1), np.uint64)
        self._layout: Layout = FLOAT64
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, scores: Array, labels: Array) -> bool:
        """Add finite scores with labels 0 or 1; False when no layout holds them, and the buffer is of no use then."""
        if self._layout is FLOAT64 and scores.min() < 0 and not self._lay_out_signed():
            return False
        end = self._length + len(scores)
        if end > len(self._values):
            self._values = np.concatenate([self._values, np.empty(int(_GROWTH * end) - len(self._values), np.uint64)])
        for start in range(0, len(scores), BLOCK):
            block = scores[start : start + BLOCK].astype(np.float64) + 0.0  # −0.0 becomes 0.0
            bits = self._layout.to_bits(block)
            if bits is None:
                return False
            place = slice(self._length + start, self._length + start + len(block))
            join(bits, labels[start : start + BLOCK], out=self._values[place])
        self._length = end
        return True

    def sorted(self, swapped: bool) -> Keys:
        """Sort the keys, with labels 0 and 1 swapped if wanted; the buffer gives its memory away."""
        values, self._values = self._values[: self._length], self._values[:0]
        if swapped:
            np.bitwise_xor(values, np.uint64(1), out=values)
        return Keys(self._layout, sort(values))

    def _lay_out_signed(self) -> bool:
        """Change to the layout for scores of both signs, a block at a time."""
        for start in range(0, self._length, BLOCK):
            keys = self._values[start : min(start + BLOCK, self._length)]
            packed = np.invert(keys)
            bits = SIGNED.to_bits(FLOAT64.to_scores(packed >> np.uint64(1)))
            if bits is None:
                return False
            join(bits, packed & np.uint64(1), out=keys)
        self._layout = SIGNED
        return True
