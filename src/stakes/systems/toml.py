"""A system written down in a TOML file.

    classes = ["sick", "healthy"]
    decide = "images and history"

    [models]
    images = [[80, 20], [20, 80]]
    history = [[50, 50], [100, 100]]

    [costs]
    miss = 5
    false_alarm = 1

The words are those of stakes.System; ``rule`` is ``decide``. Rows come with ``data`` (a file beside this one) and
``truth``; models are then columns. Costs can also name decisions: ``[costs.sick]``, ``operate = 0``, ``home = 1000``.
"""

from pathlib import Path

from stakes import errors
from stakes.engines.files.demo import real_name
from stakes.errors import InputError, short
from stakes.question.options import Value
from stakes.tallies.costs import Costs, take_unit
from stakes.tallies.small_files import read_toml

WORDS = (
    *("data", "truth", "models", "decide", "costs", "classes", "positive", "prior", "weight", "cluster", "fusers"),
    *("shared_difficulty", "confidence", "seed", "alike"),
)
NEEDED = ("models", "decide", "costs")
_PRICES = ("miss", "false_alarm")


def read(path: Path) -> dict[str, Value]:
    """Return the arguments of a System."""
    path = Path(real_name(path))
    written = read_toml(path)
    if "rule" in written and "decide" not in written:
        written["decide"] = written.pop("rule")
    strange = [word for word in written if word not in WORDS]
    if strange:
        raise errors.unknown_words(str(path), strange, WORDS)
    for word in NEEDED:
        if word not in written:
            raise InputError("missing-in-file", f"{path!s}: {word} is missing; a system needs models, decide and costs")
    if "data" in written:
        if not isinstance(written["data"], str):
            raise InputError(
                "data-is-no-file",
                f"{path!s}: data is {short(repr(written['data']))}; give the name of a file, in quotes",
            )
        written["data"] = str(path.parent / real_name(written["data"]))
    return {**written, "costs": costs(written["costs"])}


def costs(written: object) -> Costs:
    """Read costs: a miss and a false alarm, or what each decision costs for each class."""
    if not isinstance(written, dict):
        raise errors.costs_wanted(type(written).__name__)
    prices, unit = take_unit(written)
    if prices and all(isinstance(row, dict) for row in prices.values()):
        return Costs(prices, unit=unit)
    strange = [word for word in prices if word not in _PRICES]
    if strange:
        raise errors.unknown_words("costs", strange, _PRICES)
    for word in _PRICES:
        if word not in prices:
            raise errors.price_missing(word)
    return Costs(**prices, unit=unit)
