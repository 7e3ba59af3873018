"""What pyproject.toml asks for: everything has a lower bound, which is tried, and tools are not offered to users."""

import re
import tomllib

import pytest
from tools.lowest import constraints, requirements

import stakes
from tests.clean_copy import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]


def test_everything_has_one_lower_bound_and_no_upper_one():
    asked = set(requirements(PROJECT))
    for one in asked:
        assert re.fullmatch(r"[\w.-]+(\[[\w,]+\])?>=[\d.]+", one), one
    names = [re.split(r"[\[>]", one)[0] for one in asked]
    assert len(names) == len(set(names))


def test_the_lowest_versions_are_the_bounds():
    bounds = {re.sub(r"\[.*\]", "", one).replace(">=", "==") for one in requirements(PROJECT)}
    assert set(constraints(PROJECT)) == bounds
    assert {"hatchling", "polars", "pandas", "sphinx", "pycm", "pytest"} <= {one.split("==")[0] for one in bounds}


def test_what_has_no_lower_bound_is_refused():
    loose = {**PROJECT, "dependency-groups": {"test": ["pytest"]}}
    with pytest.raises(SystemExit, match="'pytest' has no lower bound"):
        constraints(loose)


def test_tools_are_groups_and_parts_for_users_are_extras():
    assert set(PROJECT["dependency-groups"]) == {"test", "docs", "bench", "torch"}
    assert set(EXTRAS).isdisjoint(PROJECT["dependency-groups"])
    for asked in EXTRAS.values():
        assert not any(one.startswith("stakes") for one in asked)


def test_make_installs_every_extra():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^EXTRAS := (.*)$", makefile, re.MULTILINE)[1].split(",") == list(EXTRAS)


def test_the_oldest_python_is_the_first_that_is_named():
    named = [one.rsplit(" ", 1)[1] for one in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_every_file_tells_the_same_version():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    told = re.search(r"version (\d[\d.]*\d)", (ROOT / "llms.txt").read_text(encoding="utf-8"))[1]
    changed = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert {cited, told, changed} == {stakes.__version__}


def test_pages_that_stand_outside_docs_lead_somewhere():
    for name in ("llms.txt", "AGENTS.md", "SECURITY.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#:]+)", (ROOT / name).read_text(encoding="utf-8")):
            assert (ROOT / target).exists(), (name, target)


def test_the_first_screen_stays_one_page():
    for name in ("README.md", "README.es.md", "README.ru.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 120, name
        assert text.index("make demo") < text.index("make test") < text.index("docs/pictures/front.png"), name


def test_every_page_of_the_docs_can_be_reached():
    """From the front page, by its lists of pages and theirs."""
    docs = ROOT / "docs"
    seen, waiting = set(), [docs / "index.md"]
    while waiting:
        page = waiting.pop()
        seen.add(page)
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            named = [page.parent / f"{line}.md" for line in block.split() if not line.startswith(":")]
            waiting += [one for one in named if one.exists() and one not in seen]
    assert seen == set(docs.rglob("*.md"))
