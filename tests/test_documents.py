"""README and the other documents run: Python blocks are executed, console blocks are compared with the real output."""

import ast
import re
import runpy
import shlex
import sys
import tomllib
import types
import warnings
from pathlib import Path

import click
import pytest

from stakes.cli import cli
from tests.bad_inputs.catalogue import run_command
from tests.parts import is_older, since

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "README.es.md", ROOT / "README.ru.md"]
DOCUMENTS = [*READMES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ORIGINALS = [document for document in DOCUMENTS if document not in READMES[1:]]
"""Translations show the code of their original, which a test compares; so only that is run, but for commands, whose
answers they show in their own language."""


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def blocks(language: str, documents=ORIGINALS):
    for document in documents:
        for i, code in enumerate(re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.S)):
            yield pytest.param(document, code, id=f"{name_of(document)}-{i}")


def test_there_is_something_to_run():
    assert len(list(blocks("python"))) >= 5
    assert len(list(blocks("console"))) >= 1


CHECK = """
def _holds(value, said, line):
    assert _same(value, said), f"{line} is {value!r}, not {said!r}"

def _same(value, said):
    if isinstance(said, (list, tuple)):
        return len(value) == len(said) and all(map(_same, value, said))
    if said is None or isinstance(said, (bool, str)):
        return bool(value == said)
    return abs(value - said) <= 1e-7 * max(1, abs(said))
"""
COMMENTED = re.compile(r"^(\S.*?)  +# (.+)$")
"""An expression, and a comment that may begin with its value: ``0.9375``, ``0.9375…`` or ``[1, 2]: words``."""


def checked(code: str) -> str:
    """Let every line that tells the value of an expression assert it."""
    return "\n".join(_asserted(line) for line in code.splitlines())


def _asserted(line: str) -> str:
    found = COMMENTED.match(line)
    if found is None or _parsed(found[1]) is None:
        return line
    told = re.match(r"(.+?)(?=: |…|$)", found[2])[1].replace("−", "-")
    value = _parsed(told)
    literal = value is not None and all(isinstance(node, LITERAL) for node in ast.walk(value))
    return f"_holds(({found[1]}), ({told}), {found[1]!r})" if literal else line


LITERAL = (ast.Expression, ast.Constant, ast.UnaryOp, ast.USub, ast.Tuple, ast.List, ast.Load)


def _parsed(text: str) -> ast.Expression | None:
    try:
        return ast.parse(text, mode="eval")
    except SyntaxError:
        return None


def python_of(document: Path) -> str:
    """The blocks of one document share their names, as a reader's session would."""
    return "\n".join(re.findall(r"```python\n(.*?)```", document.read_text(), re.S))


@pytest.mark.parametrize("document", list(filter(python_of, ORIGINALS)), ids=name_of)
def test_python_blocks_run_and_give_the_values_in_their_comments(document, monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    monkeypatch.chdir(ROOT)
    session = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", session)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        exec(compile(CHECK + checked(python_of(document)), name_of(document), "exec"), session.__dict__)
    plt.close("all")


def test_values_in_comments_are_found():
    assert checked("ev['auc'].value  # 0.5: a coin") == "_holds((ev['auc'].value), (0.5), \"ev['auc'].value\")"
    assert checked("f(x)  # [('c', 'b', 1)]") == "_holds((f(x)), ([('c', 'b', 1)]), 'f(x)')"
    assert checked("f(x)  # how sure") == "f(x)  # how sure"
    assert checked("x = 3  # 3") == "x = 3  # 3"
    assert checked(READMES[0].read_text()).count("_holds(") >= 4
    assert sum(checked(document.read_text()).count("_holds(") for document in DOCUMENTS) >= 300


@pytest.mark.parametrize("translation", READMES[1:], ids=name_of)
def test_a_translation_shows_the_same_code(translation):
    """Only words are translated: what was added, changed, moved or left out is noticed."""
    original, translated = (document.read_text() for document in (READMES[0], translation))
    assert len(sections_and_blocks(original)) >= 9
    assert sections_and_blocks(translated) == sections_and_blocks(original)
    assert names_in_sentences(translated) == names_in_sentences(original)
    assert values_in_comments(translated) == values_in_comments(original)


def values_in_comments(text: str) -> list[str]:
    """What the code is said to give; where it is the same, running the original is enough."""
    return re.findall(r"^_holds\(.*", checked(text), re.M)


def sections_and_blocks(text: str) -> list[str]:
    """The blocks in their order, without comments and answers of commands, and where sections begin."""
    parts = re.findall(r"^(##) |^```(\w+\n.*?)^```$", text, re.M | re.S)
    return [heading or _command(code) or re.sub(r" +# .*", "", code) for heading, code in parts]


def _command(code: str) -> str:
    """The command of a console block, whatever language it answers in."""
    return re.sub(r" --lang \w+$", "", code.splitlines()[1]) if code.startswith("console\n") else ""


@pytest.mark.parametrize("translation", READMES[1:], ids=name_of)
def test_a_translation_shows_answers_in_its_language(translation):
    commands = re.findall(r"^```console\n(.*)", translation.read_text(), re.M)
    assert commands
    assert all(command.endswith(f" --lang {translation.suffixes[0][1:]}") for command in commands)


def names_in_sentences(text: str) -> list[str]:
    """Code and targets of links within sentences, whose order is a matter of grammar; those to languages differ."""
    sentences = re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.M | re.S)
    found = re.findall(r"(?<!`)`([^`]+)`(?!`)|\]\(([^)]+)\)", sentences)
    return sorted(" ".join((code or target).split()) for code, target in found if not target.startswith("README"))


@pytest.mark.parametrize(("document", "code"), list(blocks("console", DOCUMENTS)))
def test_console_blocks_show_the_real_output(document, code, tmp_path, monkeypatch, capsys):
    command, *expected = code.rstrip().splitlines()
    assert command.startswith("$ stakes ")
    arguments = shlex.split(command.removeprefix("$ stakes "))
    monkeypatch.chdir(tmp_path)  # what a reader types works from any folder
    monkeypatch.setenv("COLUMNS", "100")
    exit_code, out, err = run_command(arguments, capsys)
    assert exit_code == 0, err
    shown = [line.rstrip() for line in out.splitlines()]
    if expected[-1] == "…":
        expected = expected[:-1]
        shown = shown[: len(expected)]
    if is_older("rich", "14.3"):  # which left other gaps between columns
        assert set(" ".join(expected).replace("─", "").split()) <= set(out.replace("─", "").split())
    else:
        assert shown == expected


KNOWN = {"python", "console", "sh", "text", "toml", "json", "sql", "diff", ""}
NOT_RUN = {"docs/start.md": 1, "docs/scale.md": 1, "docs/migrating/torchmetrics.md": 3}
"""Blocks of Python that only show: of a model that the reader has, a cluster, a library too large to install."""


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_block_escapes(document):
    fences = re.findall(r"^ *```(.*)$", document.read_text(), re.M)
    assert len(fences) % 2 == 0
    opened = [fence for fence in fences[::2] if not fence.startswith("{")]
    assert opened.count("py") == NOT_RUN.get(name_of(document), 0)
    assert set(opened) - {"py"} <= KNOWN


@pytest.mark.parametrize(("document", "code"), list(blocks("toml")))
def test_toml_is_toml(document, code):
    assert tomllib.loads(code)


@pytest.mark.parametrize(("document", "code"), list(blocks("sh")))
def test_commands_have_the_options_that_are_shown(document, code):
    for line in code.replace("\\\n", " ").splitlines():
        command, *words = shlex.split(line, comments=True)[1:] if re.match(r"(\S*/)?stakes \w", line) else [""]
        if command and "…" not in line and not {"|", ">"} & set(words):
            found = cli.commands[command]
            found.make_parser(click.Context(found)).parse_args(words)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_pages_made_from_the_code_are_up_to_date():
    """`make pages` writes them."""
    since("click", "8.2", "puts brackets around a choice twice")
    written = runpy.run_path(str(ROOT / "tools" / "pages"), run_name="pages")["written"]()
    assert len(written) >= 10
    for path, text in written.items():
        assert path.read_text() == text, path.name
