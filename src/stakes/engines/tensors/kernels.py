"""Kernels, compiled by CuPy, that do a whole pass over all rows; without CuPy plain operations do the same."""

import functools
from collections.abc import Mapping

from stakes.engines.tensors.arrays import Values

_TYPES = {"bool": "unsigned char", "uint8": "unsigned char", "int8": "signed char", "int16": "short", "int32": "int",
          "int64": "long long", "float32": "float", "float64": "double"}  # fmt: skip
_HIGHEST = {"int32": "0x7fffffff", "int64": "0x7fffffffffffffffLL"}

_EACH_ROW = """
    const long long step = (long long)gridDim.x * blockDim.x;
    for (long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {"""
_ADD_UP = """
    for (int other = 16; other > 0; other >>= 1) SUM += __shfl_down_sync(0xffffffffu, SUM, other);
    if ((threadIdx.x & 31) == 0 && SUM != 0) atomicAdd(INTO, SUM);"""


def _add_up(**places: str) -> str:
    """Code that adds the sums of all threads to their targets."""
    return "".join(_ADD_UP.replace("SUM", name).replace("INTO", place) for name, place in places.items())


# The loss of a probability. 1 − p is rounded; the remainder is added to the logarithm, so that one serves both classes.
_LOST = """
        const double q = 1.0 - p, left = (1.0 - q) - p;
        const double away = hit ? q : p;
        const double surprise = -(log(hit ? p : q) + (hit || q == 0.0 ? 0.0 : left / q));"""
_KEEP_LOST = """
        lost0 += hit ? SIZE * away * away : 0.0;
        lost1 += hit ? 0.0 : SIZE * away * away;
        lost2 += hit ? SIZE * surprise : 0.0;
        lost3 += hit ? 0.0 : SIZE * surprise;"""

_NUMBER = """
__device__ long long number_of(const double p, const long long half) {  // of the bin, as in tallies/bins.py
    const long long upwards = (1LL << 37) - 1;
    return half == 0 || p <= 0.5
        ? __double_as_longlong(p) >> 37
        : 2 * half - ((__double_as_longlong(fabs(1.0 - p)) + upwards) >> 37);
}
"""

# Code compiled by CuPy flushes subnormal floats to 0, so these are converted by their bits.
_WIDE = """
__device__ double wide(const float x) {
    const int bits = __float_as_int(x);
    return bits & 0x7f800000 ? (double)x : ldexp((double)(bits & 0x7fffff), -149);
}
__device__ double wide(const double x) { return x; }
"""

_PARTS_OF_KEY = """
__device__ bool is_positive(const KEYS key) { return (key ^ HIGHEST) & 1; }
__device__ double score_of(const KEYS key) {
    const KEYS bits = ((key ^ HIGHEST) >> 1) & HIGHEST;
    return sizeof(KEYS) == 4 ? wide(__int_as_float((int)bits)) : __longlong_as_double((long long)bits);
}
"""

_SOURCES = {
    "count_bins": f"""{_NUMBER}{_WIDE}
extern "C" __global__ void count_bins(
    const long long rows, const SCORES* scores, const TRUTH* truth, const long long positive, const long long least,
    const long long half, const long long places, unsigned int* counts, double* sums)
{{
    double lost0 = 0.0, lost1 = 0.0, lost2 = 0.0, lost3 = 0.0;
    {_EACH_ROW}
        const double p = fabs(wide(scores[row]));
        const bool hit = (long long)truth[row] == positive;
        const long long number = number_of(p, half);
        long long place = min(max(number, least - 1), 2 * half - least + 1) - (least - 2);
        if (number == 0) place = 0;
        if (number == 2 * half) place = places - 1;
        atomicAdd(counts + place + (hit ? places : 0), 1u);
        {_LOST}
        {_KEEP_LOST.replace("SIZE * ", "")}
    }}
    {_add_up(lost0="sums", lost1="sums + 1", lost2="sums + 2", lost3="sums + 3")}
}}
""",
    "count_equal": f"""
extern "C" __global__ void count_equal(
    const long long rows, const TRUTH* truth, const long long value, unsigned long long* into)
{{
    unsigned long long sum = 0;
    {_EACH_ROW}
        sum += (long long)truth[row] == value;
    }}
    {_add_up(sum="into")}
}}
""",
    "count_pairs": f"""
extern "C" __global__ void count_pairs(
    const long long rows, const TRUTH* truth, const TAKEN* taken, const long long lowest_truth,
    const long long lowest_taken, const long long width, unsigned int* counts)
{{
    {_EACH_ROW}
        atomicAdd(counts + ((long long)truth[row] - lowest_truth) * width + ((long long)taken[row] - lowest_taken), 1u);
    }}
}}
""",
    "pack_keys": f"""
extern "C" __global__ void pack_keys(
    const long long rows, const KEYS* scores, const TRUTH* truth, const long long positive, KEYS* keys,
    unsigned long long* into)
{{
    unsigned long long sum = 0;
    {_EACH_ROW}
        const KEYS bits = scores[row] == ~(KEYS)HIGHEST ? 0 : scores[row];  // no -0.0
        const bool hit = (long long)truth[row] == positive;
        keys[row] = ((bits << 1) | (KEYS)hit) ^ (KEYS)HIGHEST;
        sum += hit;
    }}
    {_add_up(sum="into")}
}}
""",
    "sizes_of_runs": f"""{_WIDE}{_PARTS_OF_KEY}
extern "C" __global__ void sizes_of_runs(
    const long long rows, const KEYS* keys, const long long* ends, const long long* before, long long* positives)
{{
    {_EACH_ROW}
        const long long end = ends[row], start = row ? ends[row - 1] : before[0];
        positives[row] = is_positive(keys[end - 1]) ? end - start : 0;
    }}
}}
""",
    "fold_runs": f"""{_NUMBER}{_WIDE}{_PARTS_OF_KEY}
extern "C" __global__ void fold_runs(
    const long long rows, const KEYS* keys, const long long* ends, const long long* tp, const long long* before,
    const long long all, const long long P, const long long half, long long* whole, double* sums, unsigned char* last)
{{
    double lost0 = 0.0, lost1 = 0.0, lost2 = 0.0, lost3 = 0.0, precision = 0.0;
    unsigned long long wins = 0;
    long long gap = -9223372036854775807LL;
    {_EACH_ROW}
        const long long end = ends[row], size = end - (row ? ends[row - 1] : before[0]);
        const KEYS key = keys[end - 1], next = row + 1 < rows ? keys[ends[row + 1] - 1] : key;
        const double p = score_of(key), below = score_of(next);
        const bool hit = is_positive(key);
        const long long tied = hit && row + 1 < rows && p == below ? ends[row + 1] - end : 0;
        const long long above = end - tp[row], reached = above + tied;
        gap = max(gap, tp[row] * (all - P) - reached * P);
        if (hit) {{
            wins += (unsigned long long)(size * (2 * ((all - P) - above) - tied));
            precision += (double)(size * tp[row]) / (double)(tp[row] + reached);
        }}
        last[row] = row + 1 == rows || number_of(p, half) != number_of(below, half);
        if (half) {{
            {_LOST}
            {_KEEP_LOST.replace("SIZE", "size")}
        }}
    }}
    for (int other = 16; other > 0; other >>= 1) gap = max(gap, __shfl_down_sync(0xffffffffu, gap, other));
    if ((threadIdx.x & 31) == 0) atomicMax(whole + 1, gap);
    {_add_up(wins="(unsigned long long*)whole", precision="sums")}
    {_add_up(lost0="sums + 1", lost1="sums + 2", lost2="sums + 3", lost3="sums + 4")}
}}
""",
}
_THREADS, _BLOCKS = 256, 2048


def has_kernel(name: str, kinds: Mapping[str, str]) -> bool:
    """Whether there is a kernel for numbers of these kinds."""
    floats = kinds.get("scores", "float32") in ("float32", "float64")
    whole = "float" not in kinds.get("truth", "int64")
    return name in _SOURCES and floats and whole and set(kinds.values()) <= set(_TYPES)


def run_kernel(cupy: Values, name: str, rows: int, kinds: Mapping[str, str], given: Mapping[str, int]) -> None:
    """Run a kernel over so many rows (or runs), with numbers and addresses of arrays in the order of its parameters."""
    kernel = _compiled(cupy, name, tuple((of, kinds[of]) for of in ("scores", "truth", "taken", "keys") if of in kinds))
    numbers = map(cupy.int64, (rows, *given.values()))
    kernel((min(_BLOCKS, -(-rows // _THREADS)),), (_THREADS,), tuple(numbers))


@functools.cache
def _compiled(cupy: Values, name: str, kinds: tuple[tuple[str, str], ...]) -> Values:
    source = _SOURCES[name]
    for column, kind in kinds:
        source = source.replace(column.upper(), _TYPES[kind])
        if column == "keys":
            source = source.replace("HIGHEST", _HIGHEST[kind])
    return cupy.RawKernel(source, name)
