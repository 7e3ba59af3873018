"""What a metric is called is said by its declaration: other code imports that, or asks ``metrics.usual``."""

import ast
from collections.abc import Iterable, Iterator

import pytest

from stakes import metrics
from stakes.metrics import usual
from tests.source import FILES, SOURCE, nodes_of

NAMES = {metric.name for metric in metrics.catalogue()}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def literals(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every text that is the name of a metric; what documents something is none."""
    nodes = list(nodes)
    docstrings = {id(node.body[0].value) for node in nodes if isinstance(node, DOCUMENTED) and is_text(node.body[0])}
    for node in nodes:
        if isinstance(node, ast.Constant) and node.value in NAMES and id(node) not in docstrings:
            yield str(node.value)


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@pytest.fixture(scope="module")
def found() -> list[str]:
    """The file and the text of each name that is written out beyond the metrics themselves."""
    files = [file.relative_to(SOURCE) for file in FILES]
    tables = ("metrics", "sklearn", "rates.py")  # the face, and what a plan can expect, are tables of names, too
    outside = [file for file in files if not {file.parts[0], file.name} & {*tables}]
    return [f"{file.as_posix()}: {name}" for file in outside for name in literals(nodes_of(SOURCE / file))]


@pytest.mark.slow
def test_few_names_are_written_out(found):
    """Those that are left belong to sentences of pages, or are other words, as the accuracy of a system's model."""
    assert len(found) < 65, "\n".join(found)


def test_how_sure_a_figure_is_does_not_hang_on_its_name(found):
    assert not [one for one in found if one.startswith("uncertainty/")]


def test_docstrings_are_no_names_and_literals_are():
    nodes = ast.walk(ast.parse('"recall"\ndef f(x):\n    "auc"\n    return x["auc"] + find("recall")'))
    assert list(literals(nodes)) == ["auc", "recall"]


def every(names: object) -> Iterator[str]:
    if isinstance(names, dict):
        names = tuple(names.values())
    yield from [names] if isinstance(names, str) else (name for one in names for name in every(one))


@pytest.mark.parametrize("table", [name for name in vars(usual) if name.isupper()])
def test_usual_figures_exist(table):
    for name in every(getattr(usual, table)):
        assert metrics.find(name).name == name


@pytest.mark.parametrize("table", ["COMPARED", "TESTED", "REFITTED"])
def test_the_usual_figure_is_one_of_that_tally_and_has_a_better_side(table):
    for tally, name in getattr(usual, table).items():
        metric = metrics.find(name)
        assert metric.tally is tally or metric.sparse
        assert metric.better != "neither"
