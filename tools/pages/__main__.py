"""Write the pages of docs/ that are made from the code (``make pages``); a test compares them with what is there."""

from pathlib import Path

import catalogue
import command_line
import import_graph
import warehouse_sql

DOCS = Path(__file__).parents[2] / "docs"


def written() -> dict[Path, str]:
    """Return every page that is made from the code, by its path."""
    makers = (catalogue, command_line, import_graph, warehouse_sql)
    return {DOCS / name: text for maker in makers for name, text in maker.pages().items()}


if __name__ == "__main__":
    for path, text in written().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
