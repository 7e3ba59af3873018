"""The columns of a file as lines, and the command to type next."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from stakes.text import aligned, lines, visible

if TYPE_CHECKING:
    from stakes.engines.files.describing import DescribedFile

_ALSO = {"gate": ("--require",), "decide": ("--miss", "--costs", "--best")}
"""Verbs that want one of these options, too."""


def list_columns(found: "DescribedFile", command: str) -> str:
    """The columns under each other, and below them what to type next."""
    rows = [[one.name, one.kind, f"{one.missing:,}"] for one in found.columns]
    table = aligned([["column", "kind", "missing"], *rows])
    values = ["values", *(visible(one.holds) for one in found.columns)]
    listed = [f"{line}  {held}" for line, held in zip(table, values, strict=True)]
    part = [] if found.whole else [f"(of the first {found.rows:,} rows; others may hold more)"]
    return lines([*listed, *part, "", f"next: {command}"])


def next_command(found: "DescribedFile", verb: str, typed: Sequence[str]) -> str:
    """The command as typed, completed for this file; values that the file does not show are in capitals."""
    lacking = _lacking(found, verb, typed)
    words = [word for option, value in lacking for word in (option, value)]
    scale = f"--{found.scale.replace('_', '-')}"
    guessed = [scale] if found.scale and scale not in typed and ("--score", found.roles["score"]) in lacking else []
    return shlex.join(["stakes", verb, *typed, *words, *guessed])


def _lacking(found: "DescribedFile", verb: str, typed: Sequence[str]) -> list[tuple[str, str]]:
    roles = found.roles
    outputs = [(f"--{role}", roles[role]) for role in ("score", "prediction") if role in roles]
    if verb == "compare":
        outputs = [(f"--{role}", name) for role, names in found.models.items() for name in names]
        outputs += [("--score", "COLUMN")] * (2 - len(outputs))
    if any(option in typed for option in ("--score", "--prediction")):
        outputs = []
    elif not outputs:
        outputs = [("--score", "COLUMN")]
    wanted = [("--truth", roles.get("truth", "COLUMN")), *outputs]
    if found.positive and "--positive" not in typed and any(option == "--score" for option, _ in outputs):
        wanted.append(("--positive", found.positive))
    if verb in _ALSO and not any(option in typed for option in _ALSO[verb]):
        figure = "auc" if "score" in roles else "accuracy"
        wanted += [("--require", f"{figure} >= 0.5")] if verb == "gate" else [("--miss", "5"), ("--false-alarm", "1")]
    return wanted
