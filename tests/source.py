"""The source of the package as trees, parsed once for all tests that look at it; one worker runs these."""

import ast
import functools
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "stakes"
FILES = sorted(SOURCE.rglob("*.py"))


@functools.cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@functools.cache
def nodes_of(file: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(file)))
