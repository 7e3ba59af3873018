"""What GitHub Actions reads: a summary of the job, and errors that it shows beside the build."""

import os
from typing import TYPE_CHECKING

from stakes import errors
from stakes.cli.words import complain, say
from stakes.text import visible

if TYPE_CHECKING:
    from stakes.evaluation.gate import Gate

TITLE = "stakes gate"


def summarise(gate: "Gate") -> None:
    """Append the conditions and what was seen to the summary of the job; elsewhere do nothing."""

    file = summary()
    if file:
        try:
            with open(file, "a", encoding="utf-8") as page:
                page.write(f"### {TITLE}\n\n{gate.to_markdown()}\n\n")
        except OSError as problem:
            complain(f"warning: the summary of the job: {errors.unable(problem)}")


def summary() -> str | None:
    """Return the file that holds the summary of the job, if there is one."""
    return os.environ.get("GITHUB_STEP_SUMMARY") if _is_here() else None


def annotate(gate: "Gate", err: bool = False) -> None:
    """Print an error for each condition that is not met, and a warning of rows left out; elsewhere do nothing."""
    if _is_here():
        for check in gate.checks:
            if check.passed and check.kind != "dropped":
                continue
            level = "warning" if check.passed else "error"
            title = property_of_command(f"{TITLE}: {check.condition}")
            say(f"::{level} title={title}::{message_of_command(check.words)}", err=err)


def _is_here() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def message_of_command(text: str) -> str:
    """Return a text as the message of a workflow command."""
    return visible(text).replace("%", "%25")


def property_of_command(text: str) -> str:
    """Return a text as a property of a workflow command, where colons and commas separate."""
    return message_of_command(text).replace(":", "%3A").replace(",", "%2C")
