"""Names are words of the field, or of the short list of the house; other words that were once used are refused."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from tests.source import FILES, SOURCE, nodes_of, tree_of

ROOT = Path(__file__).parents[1]
ROOMS = ("tallies", "engines", "metrics", "systems", "decisions", "validation", "cli", "language", "findings", "views")
MORE_ROOMS = ("uncertainty", "evaluation", "planning", "sklearn")
PUBLIC = {"told_apart", "priced", "stops"}  # names of 0.1, which people use, and one that the page's script reads
REFUSED = re.compile(
    "anew|bill|climbed|dearer|dealt|doubt|drawn|judged|ladder|priced|rung|said|stop|travel|told|turned"
)
"""House words of earlier days: a newcomer would not search for them."""

PARTICIPLES = re.compile(
    "added|chosen|combined|compared|cumulated|decided|divided|found|given|grouped|joined|kept|made|merged|moved|numbered|"
    "quoted|restored|rounded|seen|settled|shown|spelled|stacked|summed|taken|thinned|wrapped|written"
)


def named(file: Path):
    """Every class and function of a file, and whether it stands by itself."""
    top = {id(node) for node in tree_of(file).body}
    nodes = (node for node in nodes_of(file) if isinstance(node, ast.FunctionDef | ast.ClassDef))
    return [(node, id(node) in top) for node in nodes]


def files(rooms=ROOMS + MORE_ROOMS):
    return [file for file in FILES if file.relative_to(SOURCE).parts[0] in rooms]


def words(name: str) -> set[str]:
    """The words of a name, in the singular."""
    found = set(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_").split("_"))
    return found | {word.removesuffix("s") for word in found}


def test_names_have_no_words_that_nobody_would_search_for():
    found = {
        f"{file.relative_to(SOURCE)}: {name}"
        for file in files()
        for name in (file.stem, *(node.name for node, _ in named(file)))
        if name not in PUBLIC and any(map(REFUSED.fullmatch, words(name)))
    }
    assert not found


def test_variables_arguments_and_attributes_have_none_either():
    found = {
        f"{file.relative_to(SOURCE)}: {name}"
        for file in FILES
        for node in nodes_of(file)
        for name in (getattr(node, part, None) for part in ("id", "arg", "attr"))
        if isinstance(name, str) and name not in PUBLIC
        if any(map(REFUSED.fullmatch, words(name) - {"stop"}))  # the end of a slice, as Python calls it
    }
    assert not found


def test_functions_are_verbs_or_name_what_they_return():
    found = {
        f"{file.relative_to(SOURCE)}: {node.name}"
        for file in files()
        for node, top in named(file)
        if top and isinstance(node, ast.FunctionDef) and PARTICIPLES.fullmatch(node.name.strip("_"))
    }
    assert not found


def test_a_class_has_a_name_of_its_own():
    homes = defaultdict(list)
    for file in files(ROOMS):
        for node, top in named(file):
            if top and isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(file.relative_to(SOURCE)))
    assert not {name: places for name, places in homes.items() if len(places) > 1}


def test_the_glossary_has_ten_words_at_most_and_the_code_uses_them():
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert 0 < len(listed) <= 10
    used = set().union(*(words(node.name) for file in FILES for node, _ in named(file)))
    used |= {word for file in FILES for word in words(file.stem)}
    assert not [word for word in listed if word not in used]


def test_a_way_is_one_to_decide():
    """Other things have names of their own: a method, a monitor, a scheme, terms."""
    at_home = re.compile(r"(decisions/thresholds/decision|findings/(pages|verdicts)/(ways|decision))\.py")
    found = {
        f"{file.relative_to(SOURCE)}: {name}"
        for file in files()
        for name in (file.stem, *(node.name for node, _ in named(file)))
        if "way" in words(name) and not at_home.fullmatch(file.relative_to(SOURCE).as_posix())
    }
    assert found == {"engines/older_polars.py: _by_way_of_disk", "tallies/losses.py: losses_either_way"}
