"""Systems of several models: component costs, bounds and worth of every model, each system in a new process."""

from collections.abc import Callable, Iterator

import numpy as np

import alone
import stakes
from contest import Line, Measurement, at_most

WANTED = at_most(10, "s")
ASKED = "`System(…)`: `component_costs`, `bounds` of every model, `worth`"


def pieces(n: int) -> Iterator[Measurement]:
    yield _measured("a system of 12 binary models under a majority, by tables", "voters")
    yield _measured(f"a system of 5 models with 5 classes under a majority, {n:,} rows", "rows_of_five", n)


def _measured(what: str, work: str, *arguments: int) -> Measurement:
    def lines() -> list[Line]:
        found = alone.measured(f"systems.{work}", *arguments)
        ours = f"{found.seconds:.1f} s, {found.extra / 1e6:,.0f} MB on top of the rows: {ASKED}"
        return [Line.of(what, ours, "", found.seconds, WANTED)]

    return Measurement(what, lines, WANTED)


# ── the work, in a process of its own ────────────────────────────────────────────────────────────────────────────
def voters() -> Callable[[], None]:
    return lambda: _asked(twelve_voters())


def twelve_voters() -> stakes.System:
    names = [f"m{i}" for i in range(12)]
    tables = {name: [[700 + 10 * i, 300 - 10 * i], [250, 750]] for i, name in enumerate(names)}
    rule, costs = f"majority({', '.join(names)})", stakes.Costs(miss=5, false_alarm=1)
    return stakes.System(classes=["1", "0"], models=tables, decide=rule, costs=costs)


def rows_of_five(n: int) -> Callable[[], None]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, n)
    rows = {f"m{i}": np.where(rng.random(n) < 0.5 + 0.08 * i, y, rng.integers(0, 5, n)) for i in range(5)}
    costs = stakes.Costs(np.abs(np.subtract.outer(range(5), range(5))).tolist(), [str(c) for c in range(5)])
    rule = f"majority({', '.join(rows)})"
    return lambda: _asked(stakes.System({"y": y, **rows}, truth="y", models=list(rows), decide=rule, costs=costs))


def _asked(system: stakes.System) -> None:
    for name in system.models:
        _ = system.component_costs(name).expected_limits
        system.bounds(name)
    system.worth()
    if system.joint is None:  # by tables, the dependence between all models is open too
        system.bounds()
