"""The page that specifies the tally file: a writer made from it alone gives files that stakes reads as it says."""

import json
import math
import re
import struct
import warnings
import zipfile
from fractions import Fraction

import numpy as np
import pytest

import stakes
from stakes.tallies import bins
from tests.clean_copy import ROOT

PAGE = (ROOT / "docs" / "tally_file.md").read_text(encoding="utf-8")
VECTORS = {part.splitlines()[0]: part for part in re.split(r"^### \d\. ", PAGE, flags=re.MULTILINE)[1:]}


def content(part):
    """The two members of a test vector."""
    text = re.search(r"```json\n(.*?)```", part, re.DOTALL)[1]
    numbers = re.search(r"```text\n(.*?)```", part, re.DOTALL)
    return text, bytes.fromhex(numbers[1]) if numbers else b""


def evaluated(folder, text, numbers):
    """Written by a library of zip archives, and by nothing of stakes."""
    with zipfile.ZipFile(folder / "of_another.tally", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tally.json", text)
        archive.writestr("numbers.bin", numbers)
    return stakes.evaluate(folder / "of_another.tally")


def fraction(words):
    """20/23 or 9.75/80."""
    return float(math.prod(Fraction(word) ** (-1) ** place for place, word in enumerate(words.split("/"))))


def test_the_page_has_all_kinds_that_others_write():
    kinds = set(re.findall(r'"tally": "(\w+)"', "".join(VECTORS.values())))
    assert kinds == {"confusion", "scores", "class_scores", "errors"}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_gives_the_figures_that_the_page_tells(name, tmp_path):
    ev = evaluated(tmp_path, *content(VECTORS[name]))
    told = re.findall(r"^\| (?:(\w+): )?(\w+) \| ([-\d./]+) \|$", VECTORS[name], re.MULTILINE)
    assert len(told) >= 3
    for segment, figure, value in told:
        whole = ev.segments[segment] if segment else ev
        assert whole[figure].value == pytest.approx(fraction(value), rel=1e-12), figure


@pytest.mark.parametrize("name", VECTORS)
def test_what_stakes_writes_of_it_reads_the_same(name, tmp_path):
    counted = evaluated(tmp_path, *content(VECTORS[name])).counted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stakes.InputWarning)  # distinct scores are as good as rows
        counted.save(tmp_path / "ours.tally", exact=True)
    assert stakes.load(tmp_path / "ours.tally") == counted


def test_large_vector_is_what_stakes_writes(tmp_path):
    """The vector with numbers outside the JSON, byte by byte."""
    text, numbers = content(VECTORS["Scores, with numbers outside the JSON"])
    with pytest.warns(stakes.InputWarning):
        evaluated(tmp_path, text, numbers).counted.save(tmp_path / "ours.tally", exact=True)
    with zipfile.ZipFile(tmp_path / "ours.tally") as archive:
        assert json.loads(archive.read("tally.json")) == json.loads(text)
        assert archive.read("numbers.bin") == numbers


@pytest.mark.parametrize(
    ("sound", "damaged"),
    [
        ("[[50, 7]", "[[50, -1]"),
        ("[[50, 7]", "[[50, 0.5]"),
        ('"version": 1, "counted"', '"version": 2, "counted"'),
        ('"dropped": 0', '"dropped": 0, "dropped": 0'),
        ('"segments": {}', '"segments": {}, "more": 1'),
    ],
)
def test_damage_is_refused(sound, damaged, tmp_path):
    text, _ = content(VECTORS["Decisions"])
    text = " ".join(text.split())
    assert sound in text
    with pytest.raises(stakes.InputError):
        evaluated(tmp_path, text.replace(sound, damaged), b"")


def test_a_byte_more_or_less_is_refused(tmp_path):
    text, numbers = content(VECTORS["Scores, with numbers outside the JSON"])
    for wrong in (numbers + b"\0", numbers[:-1]):
        with pytest.raises(stakes.InputError, match="damaged"):
            evaluated(tmp_path, text, wrong)


def bits(number):
    return struct.unpack("<q", struct.pack("<d", number))[0]


def number_of_bin(score, kind):
    """As the page says it."""
    if kind == "line":
        return bits(score) >> 37 if score >= 0 else -_up(bits(-score))
    return bits(score) >> 37 if score <= 0.5 else 2 * 33488896 - _up(bits(1 - score))


def _up(number):
    return -(-number // 2**37)


def test_bins_are_those_of_the_page():
    told = re.findall(r"^\| ([-\d.]+) \| (probability|line) \| (-?\d+) \| ([-\d.]+) \|$", PAGE, re.MULTILINE)
    assert len(told) == 7
    rng = np.random.default_rng(0)
    more = [(score, "probability") for score in rng.random(200)] + [(score, "line") for score in rng.normal(size=200)]
    for score, kind, number, edge in told:
        assert (number_of_bin(float(score), kind), float(edge)) == (int(number), float(_edge(int(number), kind)))
    for score, kind in more:
        assert bins.numbers(np.array([score]), kind)[0] == number_of_bin(score, kind)


def _edge(number, kind):
    return bins.edges(np.array([number]), kind)[0]
