"""Bins counted on a GPU in one pass, by a small kernel that CuPy compiles; without CuPy the plain operations do it."""

import functools

from stakes.engines.tensors.arrays import Tensor, Values

_SCORES = {"float32": "float", "float64": "double"}
_TRUTHS = {"bool": "unsigned char", "uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int",
           "int64": "long long"}  # fmt: skip

_SOURCE = r"""
extern "C" __global__ void count_bins(
    const SCORE* scores, const TRUTH* truth, const long long rows, const long long positive, const long long least,
    const long long half, const long long places, unsigned long long* counts, double* sums)
{
    const int cut = 37;
    const long long upwards = (1LL << cut) - 1;
    double lost[4] = {0.0, 0.0, 0.0, 0.0};
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
        const double p = fabs((double)scores[row]);
        const bool hit = (long long)truth[row] == positive;
        const long long number = p <= 0.5
            ? __double_as_longlong(p) >> cut
            : 2 * half - ((__double_as_longlong(fabs(1.0 - p)) + upwards) >> cut);
        long long place = min(max(number, least - 1), 2 * half - least + 1) - (least - 2);
        if (number == 0) place = 0;
        if (number == 2 * half) place = places - 1;
        atomicAdd(counts + place + (hit ? places : 0), 1ULL);
        const double away = hit ? 1.0 - p : p;
        lost[hit ? 0 : 1] += away * away;
        lost[hit ? 2 : 3] -= hit ? log(p) : log1p(-p);
    }
    for (int kind = 0; kind < 4; ++kind) {
        double sum = lost[kind];
        for (int other = 16; other > 0; other >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, other);
        if ((threadIdx.x & 31) == 0 && sum != 0.0) atomicAdd(sums + kind, sum);
    }
}
"""
_THREADS, _BLOCKS = 256, 2048
_NOBODY = -(1 << 62)
"""A truth that no row has."""


def has_kernel(score: str, truth: str) -> bool:
    """Whether there is a kernel for such scores and labels."""
    return score in _SCORES and truth in _TRUTHS


def count_bins(
    cupy: Values, scores: Tensor, truth: Tensor, positive: int | None, grid: tuple[int, int, int], into: list[Tensor]
) -> None:
    """Add arrays of CuPy to counts and sums (``into``); ``grid`` is where bins begin, where ½ lies, and how many."""
    kernel = _compiled(cupy, str(scores.dtype), str(truth.dtype))
    numbers = [cupy.int64(one) for one in (len(scores), _NOBODY if positive is None else positive, *grid)]
    blocks = min(_BLOCKS, -(-len(scores) // _THREADS))
    kernel((blocks,), (_THREADS,), (scores, truth, *numbers, *into))


@functools.cache
def _compiled(cupy: Values, score: str, truth: str) -> Values:
    source = _SOURCE.replace("SCORE", _SCORES[score]).replace("TRUTH", _TRUTHS[truth])
    return cupy.RawKernel(source, "count_bins")
