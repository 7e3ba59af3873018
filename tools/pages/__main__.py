"""Write the pages and schemas that are made from the code (``make pages``); a test compares them with what is there."""

from pathlib import Path

import catalogue
import command_line
import error_codes
import import_graph
import options_of_verbs
import same_names
import schemas
import warehouse_sql

DOCS = Path(__file__).parents[2] / "docs"


def written() -> dict[Path, str]:
    """Return every file that is made from the code, by its path."""
    makers = (
        catalogue,
        command_line,
        error_codes,
        import_graph,
        options_of_verbs,
        same_names,
        schemas,
        warehouse_sql,
    )
    return {DOCS / name: text for maker in makers for name, text in maker.pages().items()} | schemas.files()


if __name__ == "__main__":
    for path, text in written().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
