"""What GitHub Actions reads: a summary of the job, and errors that it shows beside the build."""

import os
from typing import Any

import click

from stakes.views import markdown


def tell(gate: Any, title: str, to_standard_output: bool) -> None:
    """Append to the summary, and print an error for each condition that is not met; elsewhere do nothing."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(f"### {markdown.text(title)}\n\n{markdown.of_page(gate._page())}\n\n")
    for check in gate.failed:
        heading = property_of_command(f"{title}: {check.condition}")
        click.echo(f"::error title={heading}::{message_of_command(check.words)}", err=not to_standard_output)


def message_of_command(text: str) -> str:
    """Return a text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def property_of_command(text: str) -> str:
    """Return a text as a property of a workflow command, where colons and commas separate."""
    return message_of_command(text).replace(":", "%3A").replace(",", "%2C")
