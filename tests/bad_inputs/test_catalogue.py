"""Every input of the catalogue, in Python and on the command line: an error that helps, or the right answer."""

import json
import math
import re
import warnings

import pytest

from stakes.errors import InputError
from tests.bad_inputs.catalogue import LIBRARIES, LONGEST, Entry, as_typed, ask, command, entries, run_command, within
from tests.views.hostile import unseen

ENTRIES = entries()
WHAT_TO_DO = re.compile(
    r"\b(align|call|check|choose|compare|convert|count|cut|delete|did you mean|drop|evaluate|give|is judged by|it is|"
    r"it takes|keep|leave|lists them|loosen|make|mend|name|needed|needs|pass|rename|rescale|rows are|rule is|save|say|"
    r"scale|split|take|the tasks are|transpose|update|use|weights are|write|writes one|0\.95 is usual)\b"
    r"|; there is (and|')"
)
"""An error ends with what to do about it."""


def test_there_are_many_and_each_expects_something():
    assert len(ENTRIES) >= 350
    assert len({entry.topic for entry in ENTRIES}) >= 16
    for entry in ENTRIES:
        answered = entry.figures or entry.undefined or entry.holds
        assert bool(entry.error) != bool(answered), f"{entry} expects an error, or an answer"


def one_line(text: str, words: list[str]) -> None:
    assert "\n" not in text
    assert unseen(text) == set()
    assert len(text) < 700
    assert WHAT_TO_DO.search(text), f"it does not say what to do: {text}"
    for word in words:
        assert word in text


def check_answer(entry: Entry, found) -> None:
    for name, value in entry.figures.items():
        assert found[name].value == pytest.approx(value, rel=1e-12, abs=1e-300), name
    for name, reason in entry.undefined.items():
        assert math.isnan(found[name].value), name
        assert reason in found[name].reason
    for words in entry.holds:
        assert eval(words, {**LIBRARIES, "found": found}), words


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_in_python(entry, tmp_path):
    entry.write(tmp_path)
    with within(LONGEST), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if entry.error is not None:
            with pytest.raises(InputError) as problem:
                ask(entry, tmp_path)
            one_line(str(problem.value), entry.error)
        else:
            check_answer(entry, ask(entry, tmp_path))
    said = " ".join(str(one.message) for one in warned if issubclass(one.category, UserWarning | RuntimeWarning))
    assert bool(said) == bool(entry.warns), said
    for words in entry.warns:
        assert words in said


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.has_command], ids=str)
@pytest.mark.spread(80)
def test_on_the_command_line(entry, tmp_path, capsys):
    entry.write(tmp_path)
    with within(LONGEST):
        code, out, err = run_command(command(entry, tmp_path), capsys)
    lines = [line for line in err.splitlines() if line and not line.startswith("stakes: warning: ")]
    if entry.error is None:
        assert (code, lines) == (entry.code, []), err
        for words in entry.warns:
            assert as_typed(words) in err
        check_json(entry, out)
        return
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    if lines[0].startswith("Usage: "):  # what click itself refuses, such as a word where a number is wanted
        assert lines[-1].startswith("Error: ")
        return
    assert len(lines) == 1
    assert lines[0].startswith("stakes: ")
    one_line(lines[0], [as_typed(words) for words in entry.error])


def check_json(entry: Entry, out: str) -> None:
    """The figures stand in the JSON as they do in Python."""
    if entry.call == "metrics":
        return
    told = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    for name, value in (entry.figures if entry.call == "evaluate" else {}).items():
        if name in told["figures"]:
            shown = told["figures"][name]["value"]
            assert float(shown) == pytest.approx(value, rel=1e-12, abs=1e-300), name
    for name, reason in (entry.undefined if entry.call == "evaluate" else {}).items():
        if name in told["figures"]:
            assert told["figures"][name]["value"] is None
            assert reason in told["figures"][name]["reason"]
