"""Results as data: entries by name, by path, of methods, left out, spread; numbers that JSON does not have."""

import json
import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from stakes.records import Record, as_data


@dataclass(frozen=True)
class Inner(Record):
    low: float
    high: float = math.inf


@dataclass(frozen=True)
class Outer(
    Record, stakes="outer", form=3, shown="name bound=inner.low twice=doubled() note? *inner rest=pairs of_class=total"
):
    name: str
    inner: Inner | None
    note: str = ""
    pairs: tuple[tuple[str, float], ...] = ()
    hidden: dict = field(default_factory=dict)

    def doubled(self):
        return 2 * self.inner.low

    @property
    def total(self):
        return np.array([[1.5, math.nan], [-math.inf, 2]])


def test_data_follow_the_entries_in_order():
    found = Outer("a", Inner(0.5), pairs=(("x", math.nan),), hidden={"never": 1}).to_dict()
    assert found == {
        "stakes": "outer",
        "format": 3,
        "name": "a",
        "bound": 0.5,
        "twice": 1.0,
        "low": 0.5,
        "high": "Infinity",
        "rest": [["x", None]],
        "of_class": [[1.5, None], ["-Infinity", 2.0]],
    }
    assert list(found) == ["stakes", "format", "name", "bound", "twice", "low", "high", "rest", "of_class"]
    assert json.loads(Outer("a", Inner(1), note="n").to_json())["note"] == "n"


def test_without_entries_all_fields_are_told_and_a_subclass_keeps_what_it_does_not_say():
    assert Inner(1.0, 2.0).to_dict() == {"low": 1.0, "high": 2.0}

    class Later(Outer, stakes="later", form=4):
        pass

    told = Later("b", Inner(0.0)).to_dict()
    assert (told["stakes"], told["format"], told["name"]) == ("later", 4, "b")


@pytest.mark.parametrize("value", [1, "x", None, True, [1, {"a": (2,)}], {"k": np.int64(3)}, iter([1, 2])])
def test_plain_data_stay_plain(value):
    json.dumps(as_data(value), allow_nan=False)
