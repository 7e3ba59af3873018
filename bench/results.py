"""What RESULTS.md says: summary first, then the peers, growth, memory, and the contests."""

from collections.abc import Sequence

import growth
import peers
from budget import Group
from contest import HEAD, Line


def written(groups: Sequence[Group], records: dict[str, list], machine: dict[str, str], run: dict[str, str]) -> str:
    """The page; ``records`` are those of each group by its name, ``run`` says how and when it was run."""
    lines = {group.name: [record for record in records[group.name] if isinstance(record, Line)] for group in groups}
    everything = [line for found in lines.values() for line in found]
    parts = ["# Measured", summary(everything), *_facts(machine, run)]
    for group in groups:
        parts.append(f"## {group.title}")
        here = [line for line in everything if line.section == group.name]
        here += [line for line in lines[group.name] if not line.section]
        if group.name == "peers":
            parts.append(peers.shown(r for r in records[group.name] if isinstance(r, peers.Row)))
        if group.name == "growth":
            parts.append(growth.shown(r for r in records[group.name] if isinstance(r, growth.Point)))
        if here:
            parts.append("\n".join([HEAD, *map(str, here)]))
    return "\n\n".join(parts) + "\n"


def summary(lines: Sequence[Line]) -> str:
    """How many of the wanted figures are met, which are not, and why."""
    wanted = [line for line in lines if line.wanted]
    missed = [line for line in wanted if line.met is False]
    unknown = [line for line in lines if line.measured.startswith(("left out", "failed"))]
    met = sum(line.met is True for line in wanted)
    text = [f"{met} of {len(wanted)} wanted figures are met, {len(missed)} are not, {len(unknown)} were not measured."]
    if missed:
        text += ["", "Not met:", ""]
        text += [f"- {line.what}: {line.measured}, wanted {line.wanted}{_reason(line)}." for line in missed]
    if unknown:
        text += ["", "Not measured:", ""]
        text += [f"- {line.what}: {line.measured}." for line in unknown]
    return "\n".join(text)


def _reason(line: Line) -> str:
    return f"; {line.hard}" if line.hard else "; other runs met it: a busy machine may be the reason"


def _facts(machine: dict[str, str], run: dict[str, str]) -> list[str]:
    table = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in {**run, **machine}.items())]
    return [
        "Each contest runs both sides in turn on the same rows and compares the best times. `y` are true classes, `s` "
        "scores, `d` decisions, `p` class probabilities. A ratio with ≥ says how many times as long the peer takes, "
        "one with ≤ how many times as long stakes takes. Measured numbers are rounded to the side that does not "
        "flatter.",
        "\n".join(table),
    ]
