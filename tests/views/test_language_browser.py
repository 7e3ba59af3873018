"""The page tells sentences as Python does: numbers, lists, plurals and names by one rule in three languages."""

import itertools

import numpy as np
import pytest

from stakes.language import LANGUAGES, speaking
from stakes.language.sentences import metric, reason, sentence
from stakes.language.texts import file_texts, texts
from stakes.records import as_data
from stakes.views import report
from tests.views.test_report import gaps

pytestmark = pytest.mark.slow

SHARES = [0.0, 1.0, 0.005, 0.9951, 0.285, 0.12345, 1 / 3, 0.00004, 0.0095, 0.9999999]
NUMBERS = [
    *(0, -1.5, 1.00005, 0.99995, 1234.565, -123456.785, 9_999_999.994, 1e7, 2.5e-5, -1e-12, 0.00999, 1e-4, 5e-324),
    *(float("inf"), -float("inf"), float("nan"), 0.1 + 0.2, 2.675, 1e15, 1000, 10000, -0.00049995),
]
COUNTS = [0, 1, 2, 5, 11, 12, 21, 22, 25, 101, 111, 1_000, 1_234, 10_000, 1_234_567, 2.5, 12_345.6]
OTHERS = [
    ["one"],
    ["one", "two"],
    ["a", "b", "c"],
    metric("macro_f1"),
    metric("f_beta(beta=2)"),
    reason("no case is positive"),
    reason("1,234 rows have a probability of 0 or 1"),
    sentence("page.rows", n=3),
    "<b>“name”</b>",
    None,
]


def said():
    """Every sentence of pages, its gaps filled with one number after the other, or with something else."""
    rounds = {"percent": itertools.cycle(SHARES), "count": itertools.cycle(COUNTS), "": itertools.cycle(NUMBERS)}
    others, count = itertools.cycle(OTHERS), itertools.cycle(COUNTS)
    for place, key in enumerate(key for key in file_texts("en") if not key.startswith("plot.")):
        english = texts("en")[key]
        names = {one for part in gaps(english) for one in part}
        for turn in range(3):
            values = {}
            for name, _, form in (one.partition(":") for one in sorted(names)):
                other = (turn, place % 3) == (2, 0) and not form
                values[name] = next(others) if other else next(rounds.get(form, rounds[""]))
            if not isinstance(english, str):
                values["n"] = next(count)
            yield sentence(key, **values)
            if not names:
                break


def test_sentences_read_the_same_on_the_page_and_in_python(opened, tmp_path):
    told = list(said())
    assert len(told) > 900
    read_the_same(told, opened, tmp_path)


def read_the_same(told, opened, tmp_path):
    """See whether the page shows sentences as Python does, in every language."""
    payload = {"title": sentence("page.comparison"), "facts": told, "source": {"facts": [], "call": ""}, "sections": []}
    (tmp_path / "said.html").write_text(report.html({name: as_data(one) for name, one in payload.items()}), "utf-8")
    page = opened(tmp_path / "said.html")
    for lang in LANGUAGES:
        page.select_option("#language", lang)
        shown = page.evaluate("[...document.querySelectorAll('.facts li')].map((one) => one.textContent)")
        with speaking(lang):
            assert [(a, b.words) for a, b in zip(shown, told, strict=True) if a != b.words] == []


def test_random_numbers_are_written_alike(opened, tmp_path):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=600) * 10.0 ** rng.integers(-8, 9, 600)
    numbers = [float(f"{one:.{digits}g}") for one, digits in zip(numbers, rng.integers(1, 17, 600), strict=True)]
    told = [sentence("verdict.threshold_limits", low=one, high=-one, confidence=abs(one) % 1) for one in numbers]
    told += [sentence("predicted.mean", prediction=one, error=1 / one) for one in numbers]
    told += [sentence("explorer.snapped", wanted=one, took=-one) for one in numbers]
    told += [sentence("compared.p", p=one) for one in (0.0, 1e-310, 1e-299, 0.04)]
    read_the_same(told, opened, tmp_path)
