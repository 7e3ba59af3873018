"""Bins counted and keys packed in one pass by kernels that CuPy compiles; without CuPy plain operations do it."""

import functools

from stakes.engines.tensors.arrays import Tensor, Values

_SCORES = {"float32": "float", "float64": "double"}
_TRUTHS = {"bool": "unsigned char", "uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int",
           "int64": "long long"}  # fmt: skip

_EACH_ROW = """
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
"""
_ADD_UP = """
        for (int other = 16; other > 0; other >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, other);
        if ((threadIdx.x & 31) == 0 && sum != 0) atomicAdd(into, sum);
"""

# 1 − p is rounded; what that loses (rest) is given back to the logarithm, so that one serves both classes.
_COUNT_BINS = f"""
extern "C" __global__ void count_bins(
    const SCORE* scores, const TRUTH* truth, const long long rows, const long long positive, const long long least,
    const long long half, const long long places, unsigned long long* counts, double* sums)
{{
    const int cut = 37;
    const long long upwards = (1LL << cut) - 1;
    double squares = 0.0, surprise = 0.0, squares_of_hits = 0.0, surprise_of_hits = 0.0;
    {_EACH_ROW}
        const double p = fabs((double)scores[row]), q = 1.0 - p, rest = (1.0 - q) - p;
        const bool hit = (long long)truth[row] == positive;
        const long long number = p <= 0.5
            ? __double_as_longlong(p) >> cut
            : 2 * half - ((__double_as_longlong(fabs(q)) + upwards) >> cut);
        long long place = min(max(number, least - 1), 2 * half - least + 1) - (least - 2);
        if (number == 0) place = 0;
        if (number == 2 * half) place = places - 1;
        atomicAdd(counts + place + (hit ? places : 0), 1ULL);
        const double away = hit ? q : p, right = hit ? p : q;
        const double lost = -(log(right) + (hit || q == 0.0 ? 0.0 : rest / q));
        squares += hit ? 0.0 : away * away;
        surprise += hit ? 0.0 : lost;
        squares_of_hits += hit ? away * away : 0.0;
        surprise_of_hits += hit ? lost : 0.0;
    }}
    for (int kind = 0; kind < 4; ++kind) {{
        double* into = sums + kind;
        double sum = kind == 0 ? squares_of_hits : kind == 1 ? squares : kind == 2 ? surprise_of_hits : surprise;
        {_ADD_UP}
    }}
}}
"""

_PACK_KEYS = f"""
extern "C" __global__ void pack_keys(
    const SCORE* scores, const TRUTH* truth, const long long rows, const long long positive, KEY* keys,
    unsigned long long* into)
{{
    unsigned long long sum = 0;
    {_EACH_ROW}
        const SCORE score = scores[row] + (SCORE)0;
        const bool hit = (long long)truth[row] == positive;
        keys[row] = ((*(const KEY*)&score << 1) | (KEY)hit) ^ (KEY)HIGHEST;
        sum += hit;
    }}
    {_ADD_UP}
}}
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
    _run(cupy, _COUNT_BINS, "count_bins", scores, truth, positive, [*map(cupy.int64, grid), *into])


def pack_keys(cupy: Values, scores: Tensor, truth: Tensor, positive: int | None, into: list[Tensor]) -> None:
    """Pack scores from 0 on and labels into keys, and count the positives (``into``)."""
    _run(cupy, _PACK_KEYS, "pack_keys", scores, truth, positive, into)


def _run(
    cupy: Values, source: str, name: str, scores: Tensor, truth: Tensor, positive: int | None, more: list[Tensor]
) -> None:
    kernel = _compiled(cupy, source, name, str(scores.dtype), str(truth.dtype))
    numbers = [cupy.int64(one) for one in (len(scores), _NOBODY if positive is None else positive)]
    blocks = min(_BLOCKS, -(-len(scores) // _THREADS))
    kernel((blocks,), (_THREADS,), (scores, truth, *numbers, *more))


@functools.cache
def _compiled(cupy: Values, source: str, name: str, score: str, truth: str) -> Values:
    words = {"SCORE": _SCORES[score], "TRUTH": _TRUTHS[truth]}
    words |= {"KEY": "int", "HIGHEST": "0x7fffffff"} if score == "float32" else {
        "KEY": "long long", "HIGHEST": "0x7fffffffffffffffLL"}  # fmt: skip
    for word, meaning in words.items():
        source = source.replace(word, meaning)
    return cupy.RawKernel(source, name)
