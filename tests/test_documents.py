"""README and the other documents run: Python blocks are executed, console blocks are compared with the real output."""

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = [ROOT / "README.md", ROOT / "README.es.md", ROOT / "README.ru.md"]
DOCUMENTS = [*READMES, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(document: Path) -> str:
    return str(document.relative_to(ROOT))


def blocks(language: str):
    for document in DOCUMENTS:
        for i, code in enumerate(re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.S)):
            yield pytest.param(document, code, id=f"{name_of(document)}-{i}")


def test_there_is_something_to_run():
    assert len(list(blocks("python"))) >= 5
    assert len(list(blocks("console"))) >= 1


CHECK = """
def _holds(value, said, line):
    assert abs(value - said) <= 1e-7 * max(1, abs(said)), f"{line} is {value}, not {said}"
"""
VALUE = re.compile(r"^(\S.*?)  +# ([-−]?[\d.]+)(?=:|$|…)")
"""An expression, and in a comment the number that it gives."""


def checked(code: str) -> str:
    """Let every line that tells the value of an expression assert it."""
    return "\n".join(_asserted(line) for line in code.splitlines())


def _asserted(line: str) -> str:
    found = VALUE.match(line)
    if found is None or not _is_expression(found[1]):
        return line
    return f"_holds({found[1]}, {float(found[2].replace('−', '-'))!r}, {found[1]!r})"


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_python_blocks_run_and_give_the_values_in_their_comments(document):
    """The blocks of one document share their names, as a reader's session would."""
    code = checked("\n".join(re.findall(r"```python\n(.*?)```", document.read_text(), re.S)))
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    script = CHECK + code
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_values_in_comments_are_found():
    assert checked("ev['auc'].value  # 0.5: a coin") == "_holds(ev['auc'].value, 0.5, \"ev['auc'].value\")"
    assert checked("x = 3  # 3") == "x = 3  # 3"
    readme = READMES[0].read_text()
    assert checked(readme).count("_holds(") >= 8
    assert sum(checked(document.read_text()).count("_holds(") for document in DOCUMENTS) >= 200


@pytest.mark.parametrize("translation", READMES[1:], ids=name_of)
def test_a_translation_shows_the_same_code(translation):
    """Only words are translated: what was added, changed, moved or left out is noticed."""
    original, translated = (document.read_text() for document in (READMES[0], translation))
    assert len(sections_and_blocks(original)) >= 20
    assert sections_and_blocks(translated) == sections_and_blocks(original)
    assert names_in_sentences(translated) == names_in_sentences(original)


def sections_and_blocks(text: str) -> list[str]:
    """The blocks in their order, without comments, and where sections begin."""
    parts = re.findall(r"^(##) |^```(\w+\n.*?)^```$", text, re.M | re.S)
    return [heading or re.sub(r" +# .*", "", code) for heading, code in parts]


def names_in_sentences(text: str) -> list[str]:
    """Code and targets of links within sentences, whose order is a matter of grammar; those to languages differ."""
    sentences = re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.M | re.S)
    found = re.findall(r"(?<!`)`([^`]+)`(?!`)|\]\(([^)]+)\)", sentences)
    return sorted(" ".join((code or target).split()) for code, target in found if not target.startswith("README"))


@pytest.mark.parametrize(("document", "code"), list(blocks("console")))
def test_console_blocks_show_the_real_output(document, code):
    command, *expected = code.rstrip().splitlines()
    assert command.startswith("$ stakes ")
    arguments = shlex.split(command.removeprefix("$ stakes "))
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-m", "stakes", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    shown = [line.rstrip() for line in done.stdout.splitlines()]
    if expected[-1] == "…":
        expected = expected[:-1]
        shown = shown[: len(expected)]
    assert shown == expected


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


def test_pages_made_from_the_code_are_up_to_date():
    """`make pages` writes them."""
    written = runpy.run_path(str(ROOT / "tools" / "pages"), run_name="pages")["written"]()
    assert len(written) >= 10
    for path, text in written.items():
        assert path.read_text() == text, path.name
