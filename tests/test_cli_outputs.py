"""Where commands write: never over what they read, never two outputs into one file, in the format of the name."""

import importlib
import json
import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import click
import polars as pl
import pytest

import stakes
from stakes.cli import cli
from stakes.cli.paths import Command, InputFile, OutputFile
from stakes.engines.files import writing
from stakes.errors import InputError
from tests.bad_inputs.catalogue import run_command
from tests.command import DEMO_FILE, DEMO_FILES
from tests.parts import bound_by_permissions

FIT = ["--truth", "y", "--score", "p"]
NO_FILES = {
    *(
        "COLUMN",
        "CLASS",
        "SQL",
        "COST",
        "SHARE",
        "NAME",
        "WORDS",
        "FIGURE",
        "CONDITION",
        "FIGURE:MARGIN",
        "SIGN",
        "WIDTH",
        "WORD",
        "MODULE:OBJECT",
    ),
    *("MODEL=COLUMN", "MODEL=NUMBER", "TEXT", "NAME@K", "DAY"),
}
"""What options take that name no file; an option of another kind has to say whether it reads or writes one."""


# ── every option says what it does ───────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", sorted(cli.commands))
def test_every_name_of_a_file_says_whether_it_is_read_or_written(name):
    command = cli.commands[name]
    assert isinstance(command, Command)
    for one in command.params:
        if isinstance(one.type, InputFile | OutputFile):
            continue
        assert not isinstance(one.type, click.Path | click.File), one.name
        if isinstance(one, click.Argument):
            assert (name, one.name) in {("metrics", "name"), ("plan", "figure")} or isinstance(one.type, click.Choice)
        elif isinstance(one.type, click.types.StringParamType):
            assert one.metavar in NO_FILES, f"{name} --{one.name}: is it the name of a file? stakes.cli.paths has types"


# ── nothing that is read is written over ─────────────────────────────────────────────────────────────────────────
SYSTEM = """
data = "joint.csv"
truth = "y"
models = ["a", "b"]
decide = "a and b"
costs = {miss = 5, false_alarm = 1}
"""
MODELS = ["--truth", "y", "--model", "a", "--model", "b", "--rule", "a and b"]
ESTIMATOR = ["--target", "y", "--feature", "p", "--estimator", "sklearn.dummy:DummyClassifier"]
BASELINE = ["--baseline", "old.tally", "--no-worse", "auc:0.9"]
COMMANDS = {
    "evaluate": ["evaluate", "rows.csv", *FIT, "--costs", "costs.toml"],
    "evaluate a pattern": ["evaluate", "row?.csv", *FIT],
    "evaluate several": ["evaluate", "rows.csv", "more.csv", *FIT],
    "evaluate a tally": ["evaluate", "old.tally"],
    "evaluate a database": ["evaluate", "rows.sqlite::t", *FIT],
    "decide": ["decide", "rows.csv", *FIT, "--costs", "costs.toml"],
    "compare": ["compare", "rows.csv", "more.csv", "--id", "case", *FIT, "--costs", "costs.toml"],
    "plan": ["plan", "auc", "--pilot", "rows.csv", *FIT, "--width", "0.1", "--costs", "costs.toml"],
    "permute": ["permute", "rows.csv", *FIT, "--costs", "costs.toml"],
    "label": ["label", "partly.csv", *FIT, "--costs", "costs.toml", "--count", "3"],
    "labels that were made": ["label", "partly.csv", "--truth", "y", "--done", "done.csv"],
    "count": ["count", "rows.csv", *FIT, "--costs", "costs.toml"],
    "report": ["report", "rows.csv", *FIT, "--costs", "costs.toml"],
    "calibrate": ["calibrate", "rows.csv", *FIT],
    "apply": ["calibrate", "rows.csv", "--score", "p", "--apply", "calibrator.json"],
    "system": ["system", "system.toml"],
    "system of rows": ["system", "joint.csv", *MODELS, "--costs", "costs.toml"],
    "validate": ["validate", "rows.csv", *ESTIMATOR, "--costs", "costs.toml"],
    "gate": ["gate", "--config", "conf.toml", "rows.csv", *FIT, "--costs", "costs.toml", *BASELINE],
    "gate by its settings": ["gate"],
    "watch": ["watch", "old.tally", "--require", "recall", "--against", "day.tally", "--costs", "costs.toml"],
}
READ = {
    "evaluate": ["rows.csv", "costs.toml"],
    "evaluate a pattern": ["rows.csv"],
    "evaluate several": ["rows.csv", "more.csv"],
    "evaluate a tally": ["old.tally"],
    "evaluate a database": ["rows.sqlite", "rows.sqlite-wal"],
    "decide": ["rows.csv", "costs.toml"],
    "compare": ["rows.csv", "more.csv", "costs.toml"],
    "plan": ["rows.csv", "costs.toml"],
    "permute": ["rows.csv", "costs.toml"],
    "label": ["partly.csv", "costs.toml"],
    "labels that were made": ["partly.csv", "done.csv"],
    "count": ["rows.csv", "costs.toml"],
    "report": ["rows.csv", "costs.toml"],
    "calibrate": ["rows.csv"],
    "apply": ["rows.csv", "calibrator.json"],
    "system": ["system.toml", "joint.csv"],
    "system of rows": ["joint.csv", "costs.toml"],
    "validate": ["rows.csv", "costs.toml"],
    "gate": ["rows.csv", "costs.toml", "old.tally", "conf.toml"],
    "gate by its settings": ["stakes.toml", "rows.csv", "more.csv"],
    "watch": ["old.tally", "day.tally", "costs.toml"],
}
HOLDS = {"costs.toml": "costs", "conf.toml": "options", "stakes.toml": "options", "calibrator.json": "calibrator"}
HOLDS |= {"system.toml": "system", "day.tally": "reference", "done.csv": "labels"}
ENDINGS = {"--report": ".html", "--junit": ".xml", "-o": ".json"}


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """Something of every kind that commands read."""
    folder = tmp_path_factory.mktemp("originals")
    lines = "".join(f"{i},{i % 2},{(i * 37 % 100) / 100}\n" for i in range(60))
    (folder / "rows.csv").write_text("case,y,p\n" + lines)
    (folder / "more.csv").write_text("case,y,p\n" + lines)
    partly = (f"{i},{i % 2 if i < 40 else ''},{(i * 37 % 100) / 100}\n" for i in range(60))
    (folder / "partly.csv").write_text("case,y,p\n" + "".join(partly))
    (folder / "done.csv").write_text("row,y\n50,1\n")
    (folder / "joint.csv").write_text("y,a,b\n" + "".join(f"{i % 2},{i // 2 % 2},{i // 3 % 2}\n" for i in range(60)))
    (folder / "costs.toml").write_text("miss = 5\nfalse_alarm = 1\n")
    (folder / "conf.toml").write_text('[gate]\nrequire = ["auc > 0"]\n')
    (folder / "stakes.toml").write_text(
        '[gate]\nfiles = ["rows.csv"]\ntruth = "y"\nscore = "p"\nbaseline = "more.csv"\nno-worse = {auc = 1}\n'
    )
    (folder / "system.toml").write_text(SYSTEM)
    with sqlite3.connect(folder / "rows.sqlite") as database:
        database.execute("CREATE TABLE t (y, p)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [(i % 2, i / 60) for i in range(60)])
    (folder / "rows.sqlite-wal").touch()
    rows = pl.read_csv(folder / "rows.csv")
    stakes.count(rows, truth="y", score="p", threshold=1 / 6).save(folder / "old.tally")
    shutil.copy(folder / "old.tally", folder / "day.tally")
    stakes.SigmoidCalibrator().fit(rows["p"], rows["y"]).save(folder / "calibrator.json")
    return folder


@pytest.fixture
def folder(originals, tmp_path, monkeypatch):
    """A copy of them, in which a command is run."""
    place = tmp_path / "here"
    shutil.copytree(originals, place)
    monkeypatch.chdir(place)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return place


def contents(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


def one_line(text):
    (line,) = text.splitlines()
    assert line.startswith("stakes: ")
    return line


def outputs_of(name):
    """The options of a command that name a file to write."""
    return [one.opts[0] for one in cli.commands[COMMANDS[name][0]].params if isinstance(one.type, OutputFile)]


def spelled(target, how, option):
    """Another name of a file."""
    if how == "as it is":
        return target
    if how == "roundabout":
        return f"../here/./{target}"
    link = "other" + ENDINGS[option]
    (os.symlink if how == "symbolic link" else os.link)(target, link)
    return link


SPELLINGS = ["as it is", "roundabout", "symbolic link", "hard link"]


@pytest.mark.parametrize(
    ("name", "target", "option", "how"),
    [
        (name, target, option, how)
        for name in COMMANDS
        for target in READ[name]
        for option in outputs_of(name)
        for how in (SPELLINGS if target == READ[name][0] and option == "-o" else SPELLINGS[:1])
    ],
)
@pytest.mark.spread(70)
def test_no_output_replaces_an_input(folder, capsys, name, target, option, how):
    given = spelled(target, how, option)
    before = contents(folder)
    code, out, err = run_command([*COMMANDS[name], option, given], capsys)
    what = "baseline" if (name, target) in (("gate", "old.tally"), ("gate by its settings", "more.csv")) else "rows"
    expected = f"stakes: {given}: that is the file with the {HOLDS.get(target, what)}, which is never written over"
    assert (code, out) == (2, "")
    assert one_line(err) == f"{expected}; name another one"
    assert contents(folder) == before


def test_what_is_read_is_complete():
    """Every option of every command that reads a file is tried above."""
    tried = {(words[0], word) for words in COMMANDS.values() for word in words if word.startswith("-")}
    for name, command in cli.commands.items():
        for one in command.params:
            if isinstance(one.type, InputFile) and isinstance(one, click.Option):
                assert (name, one.opts[0]) in tried


@pytest.mark.parametrize("name", ["evaluate", "count", "apply", "gate", "gate by its settings", "system"])
def test_the_same_command_works_beside_its_inputs(folder, capsys, name):
    """What is refused above is refused for its target alone."""
    out = {"count": "new.tally", "apply": "new.csv"}.get(name, "new.json")
    before = contents(folder)
    code, _, err = run_command([*COMMANDS[name], "-o", out], capsys)
    assert code == 0, err
    after = contents(folder)
    assert after.pop(out)
    assert after == before


def run(*arguments, **options):
    command = [sys.executable, "-m", "stakes", *map(str, arguments)]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=60, **options)


@pytest.mark.slow
def test_standard_input_and_output_are_files_too(folder):
    before = contents(folder)
    with open("rows.csv") as rows:
        done = run("evaluate", "-", *FIT, "-o", "rows.csv", stdin=rows)
    assert (done.returncode, "rows.csv: that is the file with the rows" in one_line(done.stderr)) == (2, True)
    with open("rows.csv", "a") as rows:  # >> rows.csv
        done = run("evaluate", "rows.csv", *FIT, "--csv", stdout=rows)
    assert done.returncode == 2
    assert "standard output: that is the file with the rows, which is never written over" in one_line(done.stderr)
    assert contents(folder) == before


def test_the_summary_of_a_job_is_an_output_too(folder, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "rows.csv")
    before = contents(folder)
    code, _, err = run_command(["gate"], capsys)
    assert (code, contents(folder)) == (2, before)
    assert "rows.csv: that is the file with the rows" in one_line(err)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    code, _, err = run_command(["gate", "-o", "./summary.md"], capsys)
    assert (code, contents(folder)) == (2, before)
    assert one_line(err) == "stakes: ./summary.md: the summary of the job and -o would write the same file; name two"


# ── two outputs ──────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (["gate", "--junit", "x", "-o", "x"], "--junit", "-o"),
        (["gate", "--json", "--junit", "x", "-o", "../here/x"], "--junit", "-o"),
        ([*COMMANDS["evaluate"], "--report", "x", "-o", "x"], "--report", "-o"),
        ([*COMMANDS["decide"], "--report", "x", "-o", "y"], "--report", "-o"),
        ([*COMMANDS["compare"], "--report", "x", "-o", "./x"], "--report", "-o"),
        ([*COMMANDS["permute"], "--report", "old.html", "-o", "hard.json"], "--report", "-o"),
        ([*COMMANDS["system"], "--report", "x", "-o", "x"], "--report", "-o"),
    ],
)
def test_two_outputs_are_two_files(folder, capsys, words, first, second):
    os.symlink("x", "y")  # to what is not there yet
    Path("old.html").write_text("earlier")
    os.link("old.html", "hard.json")
    names = sorted(os.listdir())
    code, out, err = run_command(words, capsys)
    assert (code, out) == (2, "")
    assert f": {first} and {second} would write the same file; name two" in one_line(err)
    assert sorted(os.listdir()) == names


def test_nothing_is_written_to_one_device_too_many(folder, capsys):
    code, _, err = run_command([*COMMANDS["evaluate"], "--report", "/dev/null", "-o", "/dev/null"], capsys)
    assert (code, err) == (0, "")


# ── the format that a name promises ──────────────────────────────────────────────────────────────────────────────
TEXT = "the name of a text ends in .txt, .log or .out (.json, .csv, .md choose another form); give it such a name"
PAGE = "the name of an HTML page ends in .html or .htm; give it such a name"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("evaluate", ["-o", "x.xlsx"], TEXT),
        ("evaluate", ["-o", "x.pdf"], TEXT),
        ("evaluate", ["-o", "x.html"], TEXT),
        ("decide", ["-o", "x.json.gz"], TEXT),
        ("compare", ["-o", "x.PNG"], TEXT),
        ("validate", ["-o", "model.py"], TEXT),
        ("evaluate", ["--quiet", "-o", "x.json"], "the name of a text ends in .txt, .log or .out; give"),
        ("evaluate", ["--json", "-o", "x.csv"], "the name of JSON ends in .json, .txt, .log or .out; give"),
        ("evaluate", ["--json", "-o", "x.jsonl"], "the name of JSON ends in .json, .txt"),
        ("permute", ["--csv", "-o", "x.json"], "the name of CSV ends in .csv, .txt, .log or .out; give"),
        ("system", ["--csv", "-o", "x.tsv"], "the name of CSV ends in .csv, .txt"),
        ("gate", ["--markdown", "-o", "x.csv"], "the name of Markdown ends in .md, .markdown, .txt, .log or .out"),
        ("gate", ["--junit", "x.json"], "the name of JUnit's XML ends in .xml; give"),
        ("gate by its settings", ["--junit", "x.md"], "the name of JUnit's XML ends in .xml"),
        ("evaluate", ["--report", "out.pdf"], PAGE),
        ("decide", ["--report", "out.json"], PAGE),
        ("system", ["--report", "out.xhtml"], PAGE),
        ("count", ["-o", "x.csv"], "the name of a tally ends in .tally; give"),
        ("count", ["-o", "x"], "the name of a tally ends in .tally; give"),
        ("calibrate", ["-o", "c.csv"], "the name of a calibrator ends in .json; give"),
        ("calibrate", ["-o", "c.pkl"], "the name of a calibrator ends in .json; give"),
        ("apply", ["-o", "c.json"], "the name of a table ends in .csv, .parquet or .jsonl; give"),
        ("apply", ["-o", "new.xlsx"], "the name of a table ends in .csv, .parquet or .jsonl; give"),
        ("apply", ["-o", "new"], "the name of a table ends in .csv, .parquet or .jsonl; give"),
    ],
)
def test_a_name_that_promises_another_format_is_refused(folder, capsys, name, options, words):
    before = contents(folder)
    code, out, err = run_command([*COMMANDS[name], *options], capsys)
    assert (code, out) == (2, "")
    assert f"stakes: {options[-1]}: {words}" in one_line(err)
    assert contents(folder) == before


def test_the_file_behind_a_link_promises_too(folder, capsys):
    os.symlink("numbers.xlsx", "out.json")
    code, _, err = run_command([*COMMANDS["permute"], "-o", "out.json"], capsys)
    assert code == 2
    assert "numbers.xlsx: the name of JSON ends in .json" in one_line(err)


@pytest.mark.parametrize(
    ("options", "start"),
    [
        (["-o", "x.JSON"], "{"),
        (["-o", "x.markdown"], "**Gate**"),
        (["--json", "-o", "x.txt"], "{"),
        (["--json", "-o", "x"], "{"),
        (["--json", "-o", "run.2024-05-01"], "{"),
        (["--csv", "-o", "x.1"], "condition,"),
        (["-o", "x.log"], "Gate\n"),
        (["--junit", "x.XML"], "<?xml"),
        (["--junit", "x"], "<?xml"),
    ],
)
def test_a_name_that_promises_nothing_else_is_taken(folder, capsys, options, start):
    code, _, err = run_command(["gate", *options], capsys)
    assert code == 0, err
    assert Path(options[-1]).read_text().lstrip().startswith(start)


@pytest.mark.slow
def test_lang_is_for_every_form(folder, capsys):
    for verb in ("evaluate", "decide", "compare", "permute", "system"):
        for form in ([], ["--markdown"], ["--json"], *([] if verb == "evaluate" else [["--quiet"]])):
            code, out, err = run_command([*COMMANDS[verb], *form, "--lang", "ru"], capsys)
            assert code == 0, err
            assert re.search("[а-я]{4}", out), (verb, form, out)
    code, _, err = run_command([*COMMANDS["permute"], "--lang", "ru", "--report", "x.html"], capsys)
    assert code == 0, err
    assert '<html lang="ru">' in Path("x.html").read_text()


# ── gate --markdown ──────────────────────────────────────────────────────────────────────────────────────────────
def test_markdown_of_a_gate_is_a_flag_like_everywhere(folder, capsys):
    code, out, _ = run_command(["gate", "--markdown"], capsys)
    assert (code, "- ✓ **Does the model pass?** Yes" in out) == (0, True)
    assert run_command(["gate", "-o", "gate.md"], capsys)[:2] == (0, "")
    assert Path("gate.md").read_text() == out


@pytest.mark.parametrize("file", ["gate.md", "summary"])
def test_the_file_that_markdown_once_took_is_explained(folder, capsys, file):
    code, out, err = run_command(["gate", "rows.csv", "--markdown", file], capsys)
    assert (code, out) == (2, "")
    assert one_line(err).endswith(f"--markdown takes no file; write Markdown to a file with -o {file}")
    Path("stakes.toml").write_text(f'[gate]\nmarkdown = "{file}"\n')
    code, _, err = run_command(["gate", "rows.csv", *FIT], capsys)
    assert code == 2
    expected = f'stakes.toml: markdown has "{file}"; write true or false, and the name of a file as output'
    assert one_line(err) == f"stakes: {expected}"


# ── modes, names and links of files ──────────────────────────────────────────────────────────────────────────────
def write(path, text="new", form="text"):
    writing.write_text(path, text, form)


@pytest.fixture
def usual_mask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o700])
def test_the_mode_of_a_file_that_is_replaced_stays(tmp_path, usual_mask, mode):
    out = tmp_path / "out.txt"
    out.write_text("earlier")
    out.chmod(mode)
    write(out)
    assert (stat.S_IMODE(out.stat().st_mode), out.read_text()) == (mode, "new")


def test_every_command_keeps_modes(folder, capsys):
    for name in ("old.html", "old.json", "old.xml", "old.tally", "new.csv"):
        Path(name).touch()
        Path(name).chmod(0o600)
    for words in (
        [*COMMANDS["evaluate"], "--report", "old.html"],
        ["gate", "--junit", "old.xml", "-o", "old.json"],
        [*COMMANDS["count"], "-o", "old.tally"],
        [*COMMANDS["apply"], "-o", "new.csv"],
        [*COMMANDS["calibrate"], "-o", "old.json"],
    ):
        assert run_command(words, capsys)[0] == 0
        assert stat.S_IMODE(os.stat(words[-1]).st_mode) == 0o600
        assert os.stat(words[-1]).st_size
    assert stat.S_IMODE(os.stat("old.xml").st_mode) == 0o600


def test_a_new_file_has_the_usual_mode(tmp_path, usual_mask):
    write(tmp_path / "out.txt")
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o640
    os.umask(0o077)
    write(tmp_path / "mine.txt")
    assert stat.S_IMODE((tmp_path / "mine.txt").stat().st_mode) == 0o600


def test_the_group_of_a_file_that_is_replaced_stays_or_has_no_rights(tmp_path, monkeypatch):
    out = tmp_path / "out.txt"
    out.write_text("earlier")
    out.chmod(0o660)
    others = [group for group in (*os.getgroups(), 12_345) if group != out.stat().st_gid]
    try:
        os.chown(out, -1, others[0])
    except PermissionError:
        pytest.skip("this user has one group only")
    write(out)
    assert (out.stat().st_gid, stat.S_IMODE(out.stat().st_mode)) == (others[0], 0o660)

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refused)  # as for a user who is not in that group
    write(out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_what_is_not_finished_is_nobodys_business(tmp_path):
    """The name cannot be foreseen, so no link can be planted there; it is new, and for the owner only."""
    places = []
    for _ in range(2):
        with writing.written_beside(tmp_path / "out.txt", "text") as place:
            assert stat.S_IMODE(place.lstat().st_mode) == 0o600
            assert stat.S_ISREG(place.lstat().st_mode)
            assert place.parent == tmp_path
            places.append(place.name)
    assert places[0] != places[1]
    assert re.sub(r"-\w+\.part$", "", places[0]) == re.sub(r"-\w+\.part$", "", places[1])  # who writes is known


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Even one whose name was guessed: the file must not exist before."""
    import tempfile

    guesses = iter(["guessed1", "fresh002"])
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: guesses)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    start = writing._start(tmp_path / "out.txt")
    (tmp_path / f"{start}{os.getpid()}-guessed1.part").symlink_to(victim)
    write(tmp_path / "out.txt")
    assert (victim.read_text(), (tmp_path / "out.txt").read_text()) == ("precious", "new")


@pytest.mark.parametrize("name", ["n" * 246 + ".txt", "n" * 251 + ".txt", "ä" * 123 + ".txt", "漢" * 83 + "n.txt"])
def test_long_names_are_written(tmp_path, name):
    assert len(os.fsencode(name)) >= 250
    write(tmp_path / name)
    write(tmp_path / name, "newer")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "newer")]


def test_litter_beside_a_long_name_is_cleared(tmp_path):
    out = tmp_path / ("ä" * 120 + ".txt")
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    litter = tmp_path / f"{writing._start(out)}{done.stdout.strip()}-abc12_34.part"
    litter.touch()
    write(out)
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_that_is_only_to_be_read_stays(folder):
    Path("out.json").write_text("earlier")
    Path("out.json").chmod(0o444)
    command = [*bound_by_permissions(), sys.executable, "-m", "stakes", *COMMANDS["permute"], "-o", "out.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode not in (0, 2)
    assert "cannot write out.json: Permission denied" in one_line(done.stderr)
    assert Path("out.json").read_text() == "earlier"


# ── closed streams ───────────────────────────────────────────────────────────────────────────────────────────────
SAYING = ("evaluate", "compare", "decide", "calibrate", "count", "validate")


def shell(words, how):
    command = " ".join([f"'{sys.executable}' -m stakes", *(f"'{word}'" for word in words), how])
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("evaluate", "<&- >&- 2>&-"),
        pytest.param("gate", "2>&-", marks=pytest.mark.deep),
        pytest.param("system", ">&-", marks=pytest.mark.deep),
        pytest.param("apply", ">&- 2>&-", marks=pytest.mark.deep),
        *(pytest.param(name, "2>&-", marks=pytest.mark.deep) for name in SAYING),
        *(pytest.param(name, "<&- >&- 2>&-", marks=pytest.mark.deep) for name in COMMANDS if name != "evaluate"),
    ],
)
@pytest.mark.slow
def test_streams_may_be_closed(folder, name, how):
    made = {"count": "new.tally", "apply": "new.csv", "report": "new.html"}
    made |= dict.fromkeys(("label", "labels that were made"), "new.csv")
    done = shell([*COMMANDS[name], *(["-o", made[name]] if name in made else [])], how)
    assert (done.returncode, done.stderr) == (0, "")
    assert bool(done.stdout) == (how == "2>&-")


@pytest.mark.parametrize(
    ("words", "how", "code"),
    [
        (["gate", "rows.csv", *FIT, "--require", "auc >= 2"], "<&- >&- 2>&-", 1),
        pytest.param(["evaluate", "gone.csv", *FIT], "2>&-", 2, marks=pytest.mark.deep),
        (["evaluate", "-", *FIT], "<&-", 2),
        pytest.param(["evaluate", "gone.csv", *FIT], "2>/dev/full", 2, marks=pytest.mark.deep),
        pytest.param(["evaluate", "rows.csv", "--nonsense"], "2>&-", 2, marks=pytest.mark.deep),
    ],
)
@pytest.mark.slow
def test_exit_codes_do_not_need_streams(folder, words, how, code):
    done = shell(words, how)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_file_does_not_get_the_number_of_a_closed_stream(folder):
    """What is said to standard error would be written into it."""
    done = shell([*COMMANDS["apply"], "--positive", "0", "-o", "new.csv"], "2>&- >&-")
    assert done.returncode == 0
    assert pl.read_csv("new.csv").columns == ["case", "y", "p", "p_calibrated"]


# ── names that are no UTF-8 ──────────────────────────────────────────────────────────────────────────────────────
def odd(ending):
    return os.fsdecode(b"n\xe9\xff") + ending


@pytest.fixture
def odd_names(folder):
    if sys.platform != "linux":
        pytest.skip("only Linux keeps such names")
    for path in list(folder.iterdir()):
        shutil.copy(path, folder / odd(path.name))
    return folder


def frame_of(kind, place):
    frame = pl.read_csv("rows.csv")
    with open(place, "wb") as file:
        {"parquet": frame.write_parquet, "jsonl": frame.write_ndjson, "arrow": frame.write_ipc}[kind](file)


@pytest.mark.parametrize("kind", ["csv", "sqlite", "tally", "parquet", "jsonl", "arrow"])
def test_rows_are_read_from_names_that_are_no_utf8(odd_names, kind):
    name = odd({"csv": "rows.csv", "sqlite": "rows.sqlite", "tally": "old.tally"}.get(kind, f".{kind}"))
    if not os.path.exists(name):
        frame_of(kind, name)
    asked = {} if kind == "tally" else {"truth": "y", "score": "p"}
    found = stakes.evaluate(f"{name}::t" if kind == "sqlite" else name, **asked)
    assert found.rows == 60
    pattern = stakes.evaluate(odd("rows.cs?"), truth="y", score="p", exact=False)
    assert pattern.rows == 60


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", odd("rows.csv"), *FIT, "--costs", odd("costs.toml"), "--report", odd(".html"), "-o", odd(".json")],
        ["compare", odd("rows.csv"), odd("more.csv"), "--id", "case", *FIT, "--report", odd(".html"), "-o", odd(".md")],
        ["gate", odd("rows.csv"), *FIT, "--baseline", odd("old.tally"), "--no-worse", "auc:0.9", "-o", odd(".json")],
        ["system", odd("system.toml"), "-o", odd(".json")],
        ["calibrate", odd("rows.csv"), "--score", "p", "--apply", odd("calibrator.json"), "-o", odd("new.csv")],
        ["count", odd("rows.csv"), *FIT, "-o", odd("new.tally")],
    ],
    ids=lambda words: words[0],
)
def test_commands_take_names_that_are_no_utf8(odd_names, capsys, words):
    code, out, err = run_command(words, capsys)
    assert (code, err) == (0, "")
    for name in words[words.index("-o") + 1 :: 2]:
        text = Path(name).read_bytes()
        assert text
        if name.endswith(".json"):
            json.loads(text.decode("utf-8"))
    assert odd("") not in out


@pytest.mark.slow
def test_a_real_process_takes_names_that_are_no_utf8(odd_names):
    done = run("gate", odd("rows.csv"), *FIT, *BASELINE, "--junit", odd(".xml"), stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.path.getsize(odd(".xml"))


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["evaluate", odd("gone.csv"), *FIT], r"n\udce9\udcffgone.csv: there is no such file"),
        (["evaluate", odd("rows.csv"), *FIT, "-o", odd("rows.csv")], r"n\udce9\udcffrows.csv: that is the file"),
        (["evaluate", odd("rows.csv"), *FIT, "--report", odd(".pdf")], r"n\udce9\udcff.pdf: the name of an HTML page"),
        (["evaluate", odd("rows.sqlite"), *FIT], r"n\udce9\udcffrows.sqlite is a database; name the table too"),
        (["evaluate", odd("rows.csv"), *FIT, "--costs", odd("gone.toml")], r"n\udce9\udcffgone.toml: there is no"),
        (["gate", "--config", odd("gone.toml")], r"n\udce9\udcffgone.toml: there is no such file"),
    ],
)
def test_messages_show_names_that_are_no_utf8(odd_names, capsys, words, seen):
    code, _, err = run_command(words, capsys)
    assert code == 2
    assert seen in one_line(err)
    with pytest.raises(InputError) as problem:
        stakes.evaluate(odd("gone.csv"), truth="y", score="p")
    assert str(problem.value).encode("utf-8").isascii()


def test_a_database_of_duckdb_with_such_a_name_is_explained(odd_names, capsys):
    importlib.import_module("duckdb").connect("t.duckdb").execute("CREATE TABLE t AS SELECT 1 AS y").close()
    os.rename("t.duckdb", odd("t.duckdb"))
    code, _, err = run_command(["evaluate", odd("t.duckdb::t"), *FIT], capsys)
    assert code == 2
    assert "DuckDB opens no file whose name is not UTF-8; rename it" in one_line(err)


def test_the_demo_files_are_never_outputs(capsys):
    for what, file in (("evaluate", DEMO_FILE), ("system", DEMO_FILES / "clinic_and.toml")):
        before = file.read_bytes()
        code, _, err = run_command(["demo", what, "--report", str(file)], capsys)
        assert (code, file.read_bytes()) == (2, before)
        assert "the name of an HTML page" in one_line(err)
