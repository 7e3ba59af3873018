"""Bounded fuzzing: whatever rule text, TOML, tallies and CSV hold, the answer is a result or one line."""

import contextlib
import random
import warnings

import numpy as np
import pytest

import stakes
from stakes.errors import InputError
from tests.bad_inputs.catalogue import within

pytestmark = pytest.mark.slow

SIZES = [300, pytest.param(20_000, marks=pytest.mark.deep)]
COSTS = stakes.Costs(miss=5, false_alarm=1)

WORDS = (
    *("a", "b", "`c d`", "and", "or", "not", "if", "else", "in", "==", "!=", "(", ")", "[", "]", ",", "'sick'", "2 *"),
    *("majority(", "at_least(2,", "exactly(", "'", '"', "\\", "1e999", "0x", "lambda", ":", "{", "}", "*", "**", "is"),
    *("None", "True", "__import__", ".", "\n", "\t", "\0", "é", "😀", "#", ";", "@", "`", "-", "~", "await", "f'{a}'"),
)


@contextlib.contextmanager
def an_error_or_an_answer(seen):
    """An InputError of one line is fine, and so is an answer with or without warnings; nothing else is."""
    try:
        with within(5), warnings.catch_warnings():
            warnings.simplefilter("ignore", stakes.InputWarning)
            warnings.simplefilter("ignore", stakes.UndefinedWarning)
            yield
        seen["answers"] += 1
    except InputError as problem:
        seen["errors"] += 1
        if "\n" in str(problem).strip():
            pytest.fail(f"more than one line: {problem!r}")


@pytest.mark.parametrize("size", SIZES)
def test_rules(size):
    chance, seen = random.Random(size), {"answers": 0, "errors": 0}
    models = {name: [[8, 2], [3, 7]] for name in ("a", "b", "c d")}
    for _ in range(size):
        rule = " ".join(chance.choices(WORDS, k=chance.randint(1, 7)))
        with an_error_or_an_answer(seen):
            stakes.System(models=models, decide=rule, classes=["sick", "healthy"], costs=COSTS)
    assert seen["errors"] > size / 2
    assert seen["answers"] > 0


SYSTEM = """\
classes = ["sick", "healthy"]
decide = "a and b"
models.a = [[8, 2], [3, 7]]
models.b = [[50, 50], [10, 90]]
costs = {miss = 5, false_alarm = 1}
"""
PRICES = "[costs.a]\ngo = 0\nstop = 1.5\n[costs.b]\ngo = 20\nstop = 0\n"
TABLE = 'y,p,w,site\n0,0.25,1,A\n1,0.75,2,B\n1,0.5,1.5,A\n0,0.125,1,"B, too"\n1,0.9,3,A\n'
LINES = '{"y": 0, "p": 0.25}\n{"y": 1, "p": 0.75}\n{"y": 1, "p": 0.5}\n'


def mangled(content: bytes, chance: random.Random) -> bytes:
    """A few bytes changed, cut out, doubled or moved."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at, length = chance.randrange(len(data) + 1), chance.randint(0, 12)
        piece = bytes(data[at : at + length])
        way = chance.randrange(5)
        if way == 0:
            data[at : at + length] = b""
        elif way == 1:
            data[at:at] = piece * chance.randint(1, 3)
        elif way == 2:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif way == 3:
            data[at:at] = chance.choice([b"\n", b'"', b",", b"[", b"{", b"=", b"nan", b"-1", b"1e400", b"\xff", b"\0"])
        else:
            del data[chance.randrange(len(data) + 1) :]
        data = data or bytearray(b"\n")
    return bytes(data)


FILES = {
    "system.toml": (SYSTEM.encode(), stakes.System.from_toml),
    "costs.toml": (PRICES.encode(), stakes.Costs.from_toml),
    "rows.csv": (TABLE.encode(), lambda path: stakes.evaluate(path, truth="y", score="p", weight="w", by="site")),
    "rows.jsonl": (LINES.encode(), lambda path: stakes.evaluate(path, truth="y", score="p")),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.spread(2)
def test_files(tmp_path, name, size):
    content, read = FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    read(path)  # as it stands it is right
    chance, seen = random.Random(size), {"answers": 0, "errors": 0}
    for _ in range(size):
        path.write_bytes(mangled(content, chance))
        try:
            with an_error_or_an_answer(seen):
                read(path)
        except Exception as problem:
            pytest.fail(f"{type(problem).__name__}: {problem} for {path.read_bytes()!r}")
    assert min(seen.values()) > size / 100


@pytest.mark.parametrize("size", SIZES)
def test_tallies(tmp_path, size):
    rng, chance, seen = np.random.default_rng(0), random.Random(size), {"answers": 0, "errors": 0}
    path = tmp_path / "a.tally"
    stakes.count(truth=rng.random(400) < 0.5, score=rng.random(400), by=rng.integers(0, 3, 400)).save(path)
    content = path.read_bytes()
    for _ in range(size):
        path.write_bytes(mangled(content, chance))
        with an_error_or_an_answer(seen):
            stakes.Evaluation(stakes.load(path))["auc"]
    assert seen["errors"] > size / 2


@pytest.mark.parametrize("rows", [3_000, pytest.param(3_000_000, marks=pytest.mark.deep)])
def test_partitions_and_threads_give_the_same_figures(rows, monkeypatch):
    """Counted at once, in parts of any size and order, or with one thread: the same bytes of JSON."""
    rng = np.random.default_rng(rows)
    score = np.round(rng.random(rows), 3)
    columns = {"truth": rng.random(rows) < score, "score": score}
    whole = stakes.Evaluation(stakes.count(**columns)).to_json()
    for parts in (2, 7):
        places = np.array_split(rng.permutation(rows), parts)
        counted = [stakes.count(**{name: column[place] for name, column in columns.items()}) for place in places]
        added = counted[0]
        for one in counted[1:]:
            added = added + one
        assert stakes.Evaluation(added).to_json() == whole
    monkeypatch.setattr("stakes.tallies.parallel.run_all", lambda tasks, rows: [task() for task in tasks])
    monkeypatch.setattr("stakes.engines.reading.run_all", lambda tasks, rows: [task() for task in tasks])
    assert stakes.Evaluation(stakes.count(**columns)).to_json() == whole
