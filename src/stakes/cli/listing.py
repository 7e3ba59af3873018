"""The columns of a file as lines, and the command to type next."""

import shlex
from typing import TYPE_CHECKING

from stakes.text import aligned, lines, visible

if TYPE_CHECKING:
    from stakes.engines.files.describing import DescribedFile


def list_columns(found: "DescribedFile", verb: str = "evaluate") -> str:
    """The columns under each other, and below them what to type next."""
    rows = [[one.name, one.kind, f"{one.missing:,}"] for one in found.columns]
    told = aligned([["column", "kind", "missing"], *rows])
    values = ["values", *(visible(one.holds) for one in found.columns)]
    listed = [f"{line}  {held}" for line, held in zip(told, values, strict=True)]
    return lines([*listed, "", f"next: {next_command(found, verb)}"])


def next_command(found: "DescribedFile", verb: str = "evaluate") -> str:
    """The command that asks about this file; what it does not tell stands there in capitals."""
    roles = {"truth": "COLUMN", **found.roles}
    if len(roles) == 1:
        roles["score"] = "COLUMN"
    words = [word for role, name in roles.items() for word in (f"--{role}", name)]
    return shlex.join(["stakes", verb, found.file, *words])
