"""README and the other documents run: Python blocks are executed, console blocks are compared with the real output."""

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


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_python_blocks_run(document):
    """The blocks of one document share their names, as a reader's session would."""
    code = "\n".join(re.findall(r"```python\n(.*?)```", document.read_text(), re.S))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("document", READMES, ids=name_of)
def test_values_in_comments_are_true(document):
    names: dict = {}
    checked = 0
    for code in re.findall(r"```python\n(.*?)```", document.read_text(), re.S):
        cwd = Path.cwd()
        os.chdir(ROOT)
        try:
            exec(code, names)
            for expression, value in re.findall(r"^(\S.*?)  +# ([\d.]+)(?=:|$|…)", code, re.M):
                assert eval(expression, names) == pytest.approx(float(value), abs=1e-7), expression
                checked += 1
        finally:
            os.chdir(cwd)
    assert checked >= 4


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
