"""Our frozen dataclasses do what those of the standard library do."""

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from functools import cached_property

import pytest

from stakes.frozen import dataclass, replace


class _Body:
    first: int
    second: tuple[float, ...] = ()
    unseen: str = field(default="-", repr=False)
    aside: int = field(default=0, compare=False)
    made: list[int] = field(default_factory=list, init=False, compare=False)


def _both(**words):
    """The same class made by us and by the standard library."""
    return [
        maker(frozen=True, **words)(type("Made", (), {"__annotations__": dict(_Body.__annotations__), **_fields()}))
        for maker in (dataclass, dataclasses.dataclass)
    ]


def _fields():
    return {name: value for name, value in vars(_Body).items() if not name.startswith("__")}


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("below 0")


@dataclass(frozen=True, kw_only=True)
class Named(Point):
    name: str = "here"


def test_they_look_and_compare_as_those_of_the_standard_library_do():
    ours, theirs = _both()
    assert repr(ours(1, (2.0,), "u", 3)) == repr(theirs(1, (2.0,), "u", 3))
    nan = float("nan")
    for left, right in (((1,), (1,)), ((1,), (2,)), ((1, (), "a"), (1, (), "b")), ((1, (), "-", 1), (1, (), "-", 2))):
        assert (ours(*left) == ours(*right)) is (theirs(*left) == theirs(*right)), (left, right)
        assert (hash(ours(*left)) == hash(ours(*right))) is (hash(theirs(*left)) == hash(theirs(*right)))
    assert (ours(1, (nan,)) == ours(1, (nan,))) is (theirs(1, (nan,)) == theirs(1, (nan,)))
    assert ours(1) != theirs(1)
    assert [one.name for one in dataclasses.fields(ours)] == [one.name for one in dataclasses.fields(theirs)]


def test_without_equality_each_is_only_itself():
    ours, _ = _both(eq=False)
    one, other = ours(1), ours(1)
    assert one == one
    assert one != other
    assert len({one, other}) == 2


def test_what_is_set_stays():
    point = Point(1.0)
    for name in ("x", "y", "z"):
        with pytest.raises(FrozenInstanceError, match=name):
            setattr(point, name, 2.0)
    with pytest.raises(FrozenInstanceError, match="x"):
        del point.x
    with pytest.raises(ValueError, match="below 0"):
        Point(-1.0)


def test_they_are_replaced_copied_pickled_and_inherited():
    named = Named(x=1.0, name="there")
    for way in (replace, dataclasses.replace):
        assert way(named, y=2.0) == Named(x=1.0, y=2.0, name="there")
        with pytest.raises(ValueError, match="below 0"):
            way(named, x=-1.0)
        with pytest.raises(TypeError, match="unheard"):
            way(named, unheard=1)
    assert copy.copy(named) == copy.deepcopy(named) == pickle.loads(pickle.dumps(named)) == named
    assert named != Point(1.0)
    assert repr(named) == "Named(x=1.0, y=0.0, name='there')"
    with pytest.raises(FrozenInstanceError):
        named.name = "nowhere"


@dataclass(frozen=True, eq=False)
class Plain:
    held: int
    missing: list[int] = field(default_factory=list)
    self_made: int = 3

    @cached_property
    def double(self) -> int:
        return 2 * self.held


def test_they_are_made_of_what_those_of_the_standard_library_are_made_of():
    ours, theirs = _both()
    assert inspect.signature(ours) == inspect.signature(theirs)
    assert (vars(Plain(1)), vars(Plain(1, [2], self_made=4))) == (
        {"held": 1, "missing": [], "self_made": 3},
        {"held": 1, "missing": [2], "self_made": 4},
    )
    assert Plain(1).missing is not Plain(1).missing
    for wrong in ({}, {"held": 1, "unheard": 2}):
        with pytest.raises(TypeError, match=r"Plain.__init__\(\)"):
            Plain(**wrong)


def test_what_follows_from_fields_is_found_again_where_they_are_replaced():
    one = Plain(1, [5])
    assert one.double == 2
    other = replace(one, held=7)
    assert (other.double, other.missing) == (14, [5])
    for way in (replace, dataclasses.replace):
        with pytest.raises(TypeError, match="unheard"):
            way(one, unheard=1)
