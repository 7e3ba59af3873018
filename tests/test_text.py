"""Names from data as text: every sign is seen, nothing is a command, JSON stays exact, columns stay aligned."""

import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stakes import errors
from stakes.text import ERRORS, aligned, as_json, columns, encodable, lines, uncommanding, visible
from stakes.views import terminal
from stakes.views.page import Grid, Page
from tests.parts import examples
from tests.views.hostile import HOSTILE, commands, unseen

ANYTHING = st.text(st.characters(), max_size=30) | st.sampled_from(HOSTILE)


@examples(200)
@given(ANYTHING)
@example("a\x1b[2J\x85\u202e\u200b\U000e0041\ud800\ufe0f\u3164")
def test_what_is_visible_can_be_seen_and_stays_so(name):
    shown = visible(name)
    assert unseen(shown) == set()
    assert not commands(lines([name]))
    assert visible(shown) == shown
    assert all(sign in shown for sign in name if sign.isalnum() and sign not in unseen(name))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\r\n\tb\0", r"a\r\n\tb\x00"),
        ("\x9b31m\x7f\x85", r"\x9b31m\x7f\x85"),
        ("\u202eabc\u2066\u061c", r"\u202eabc\u2066\u061c"),
        ("a\u200b\u200d\ufeff\u00ad\u180e\u034f\u2060", r"a\u200b\u200d\ufeff\xad\u180e\u034f\u2060"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\U000e0041\ufe0f\U000e0100\ufff9", r"\U000e0041\ufe0f\U000e0100\ufff9"),
        ("\udcff\ufffe\ue000", r"\udcff\ufffe\ue000"),
        ("C:\\temp\\x1b", "C:\\temp\\x1b"),  # a backslash is a letter like others
        ("Жук 名前 e\u0301 a\u00a0b \u3000", "Жук 名前 e\u0301 a\u00a0b \u3000"),
        ("##[error] ##vso[x] ##teamcity[y] ## [z]", r"\x23#[error] \x23#vso[x] \x23#teamcity[y] ## [z]"),
        ("preds.sqlite::table", "preds.sqlite::table"),
    ],
)
def test_how_names_are_shown(name, shown):
    assert visible(name) == shown


def test_no_line_begins_like_a_command():
    text = "::error::x\n  ::group::y\n\x1b[1m::stop-commands::z\n\u00a0::a\na::b"
    wanted = "\\x3a:error::x\n  \\x3a:group::y\n\x1b[1m\\x3a:stop-commands::z\n\u00a0\\x3a:a\na::b"
    assert uncommanding(text) == wanted
    assert lines(["one", "::two\n::three"]) == "one\n\\x3a:two\\n::three"


@examples(200)
@given(st.recursive(ANYTHING, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANYTHING, inner, max_size=3)))
def test_json_is_exact_and_can_be_seen(data):
    for text in (as_json(data), as_json(data, 2), as_json(data, only_ascii=True)):
        assert json.loads(text) == json.loads(json.dumps(data))
        assert unseen(text.replace("\n", "")) == set()
        assert not commands(text)
    assert as_json(data, only_ascii=True).isascii()
    assert as_json("Жук") == '"Жук"'


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "koi8-r"])
def test_what_an_encoding_lacks_is_escaped_and_our_own_signs_have_stand_ins(encoding):
    assert encodable("名 ≥ ─ ✓", encoding).replace("─", "-").replace("≥", ">=") == r"\u540d >= - *"
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=ERRORS)
    print("名😀", file=stream, flush=True)
    assert stream.buffer.getvalue() == rb"\u540d\U0001f600" + b"\n"
    assert encodable("Ж–é", "ascii") == r"\u0416-\xe9"
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", ERRORS)


def test_our_own_signs_have_stand_ins_of_one_meaning():
    signs = "–−…≥≤×·±→²∞½✓✕►◄─┬┐├└│┤┴“”«»10⁻¹²"
    assert not set("\\?") & set(encodable(signs, "ascii"))


def test_wide_letters_and_marks_leave_tables_aligned():
    rows = [["name", "n"], ["名前", "1"], ["e\u0301a", "22"], ["a\x1bb", "3"], ["::x", "4"]]
    told = aligned(rows)
    assert {columns(line) for line in told} == {columns(told[0])}
    assert told[1].startswith("名前     ")
    page = Page("名前", grids=[Grid(("name", "n"), [*rows[1:], ["名" * 9, "5"]])])
    shown = terminal.text_of_page(page, 50).split("\n")
    assert {columns(line) for line in shown[4:]} == {columns(shown[2])}


@pytest.mark.parametrize("kind", [errors.StakesError, errors.InputError, errors.InputWarning, errors.UndefinedWarning])
def test_errors_and_warnings_are_one_line(kind):
    assert str(kind("code", "a\n::error::\x1b[2J")) == r"a\n::error::\x1b[2J"
    assert kind("code", "a\nb").text == r"a\nb"
