"""The picture of which package of stakes imports which, drawn from the import statements."""

import ast
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "stakes"
ORDER = (
    "frozen",
    "text",
    "results",
    "records",
    "errors",
    "tallies",
    "engines",
    "metrics",
    "language",
    "uncertainty",
    "question",
    "decisions",
    "systems",
    "evaluation",
    "planning",
    "validation",
    "findings",
    "views",
    "sklearn",
    "cli",
)
_IMPORT = re.compile(r"^ *((?:from|import) stakes\b(?:[^\n(]|\([^)]*\))*)", re.M)  # parsing all the rest takes seconds
HEIGHT, TOP, LEFT, WIDTH = 46, 24, 16, 148


def pages() -> dict[str, str]:
    """Return the picture."""
    return {"pictures/import_graph.svg": _drawn(imports())}


def imports() -> dict[str, set[str]]:
    """Return for each package those that it imports from, also inside functions."""
    found: dict[str, set[str]] = {name: set() for name in ORDER}
    for path in SOURCE.rglob("*.py"):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if package in found:
            found[package] |= {name for name in _imported(path) if name != package and name in found}
    return found


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    statements = "\n".join(_IMPORT.findall(path.read_text(encoding="utf-8")))
    for node in ast.parse(statements).body:
        if isinstance(node, ast.ImportFrom) and node.module == "stakes":
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stakes."):
            names.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("stakes.")}
    return names


def _drawn(graph: dict[str, set[str]]) -> str:
    """Packages stand below each other in the order in which they may import; an arc leads to what is imported."""
    middles = {name: TOP + i * HEIGHT + 15 for i, name in enumerate(ORDER)}
    height = TOP + len(ORDER) * HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 {height}" font-family="sans-serif" font-size="14">',
        "<title>Which package imports which</title>",
        f'<rect width="620" height="{height}" fill="#ffffff"/>',
    ]
    for name in ORDER:
        parts += [_arc(middles[name], middles[other], name, other) for other in sorted(graph[name], key=ORDER.index)]
    for name in ORDER:
        y = middles[name]
        parts += [
            f'<rect x="{LEFT}" y="{y - 15}" width="{WIDTH}" height="30" rx="6" fill="#d5ebe6" stroke="#0a6b5c"/>',
            f'<text x="{LEFT + WIDTH / 2:g}" y="{y + 5}" text-anchor="middle" fill="#1c2430">{name}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _arc(start: int, end: int, importer: str, imported: str) -> str:
    edge = LEFT + WIDTH
    reach = edge + 40 + (start - end) * 0.85
    middle = f"{reach:g} {start - 4} {reach:g} {end + 4}"
    return (
        f"<g><title>{importer} imports from {imported}</title>"
        f'<path d="M{edge} {start - 4} C{middle} {edge + 7} {end + 4}" fill="none" '
        f'stroke="#566173" stroke-opacity="0.6"/>'
        f'<path d="M{edge} {end + 4} l8 -4 v8 z" fill="#566173"/></g>'
    )
