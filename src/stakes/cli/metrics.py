"""stakes metrics: every figure and the question it answers."""

from collections.abc import Callable

import click

from stakes.cli import output
from stakes.cli.output import Answer
from stakes.cli.paths import Command


@click.command(cls=Command)
@click.argument("name", required=False)
@output.forms("json", "csv", "markdown")
def metrics(name: str | None) -> Answer:
    """List the metrics, or explain the one called NAME.

    \b
    Example:
      stakes metrics f_beta
    """
    from stakes import metrics
    from stakes.views import catalogue

    wanted = metrics.catalogue() if name is None else [metrics.find(name)]
    show: Callable[[], None] = catalogue.show_all if name is None else lambda: catalogue.show_one(name)
    found = catalogue.Listed([catalogue.facts(metric) for metric in wanted])
    return Answer(show, found.to_dict, lambda: [facts.data() for facts in found.metrics], lambda: "")
