"""What RESULTS.md says: summary first, then the peers, growth, memory, and the contests."""

import re
from collections.abc import Sequence
from typing import Any

import growth
import peers
from budget import Group
from contest import HEAD, Line

UNUSUAL = "a busy machine or few rows may be the reason"


def written(form: str, groups: Sequence[Group], records: dict[str, list], facts: dict[str, str]) -> str:
    """The page: what was run, the ``records`` of each group by its name, ``facts`` about the machine and the run."""
    everything = [record for group in groups for record in records[group.name]]
    parts = ["# Measured", form, summary(everything), *_facts(facts)]
    for group in groups:
        parts.append(f"## {group.title}")
        mine = records[group.name]
        if rows := [record for record in mine if isinstance(record, peers.Row)]:
            parts.append(peers.shown(rows))
        if points := [record for record in mine if isinstance(record, growth.Point)]:
            parts.append(growth.shown(points))
        lines = [record for record in everything if isinstance(record, Line) and record.section == group.name]
        lines += [record for record in mine if isinstance(record, Line) and not record.section]
        if lines:
            parts.append("\n".join([HEAD, *map(str, lines)]))
    return units("\n\n".join(parts) + "\n")


def units(text: str) -> str:
    """Let a unit stay with its number."""
    return re.sub(r"(?<=\d) (?=(s|×|GB|MB)[ ,.:;)])", "\N{NO-BREAK SPACE}", text)


LARGE = "## Very many rows"
"""The section that `make bench-large` writes, the last one."""


def with_large(page: str, section: str) -> str:
    """The page with this section of very many rows in place of the one it has."""
    return f"{page.partition(LARGE)[0].rstrip()}\n\n{LARGE}\n\n{section.strip()}\n" if section.strip() else page


def summary(records: Sequence[Any]) -> str:
    """How many of the wanted figures are met, which are not and why, and what was not measured."""
    wanted = [record for record in records if isinstance(record, Line) and record.wanted]
    missed = [line for line in wanted if line.met is False]
    missing = [record.missing for record in records if record.missing]
    met, unknown = (sum(line.met is answer for line in wanted) for answer in (True, None))
    text = [f"{met} of {len(wanted)} wanted figures are met, {len(missed)} are not, {unknown} were not measured."]
    if missed:
        text += ["", "Not met:", ""]
        text += [f"- {line.what}: {line.measured}, wanted {line.wanted}; {line.hard or UNUSUAL}." for line in missed]
    if missing:
        text += ["", "Not measured:", "", *(f"- {what}." for what in missing)]
    return "\n".join(text)


def _facts(facts: dict[str, str]) -> list[str]:
    table = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items())]
    return [
        "Each contest runs both sides in turn on the same rows and compares the best times. `y` are true classes, `s` "
        "scores, `d` decisions, `p` class probabilities. A ratio with ≥ says how many times as long the peer takes, "
        "one with ≤ how many times as long stakes takes. Measured numbers are rounded to the side that does not "
        "flatter.",
        "\n".join(table),
    ]
