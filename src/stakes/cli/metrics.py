"""stakes metrics: every figure and the question it answers."""

import click


@click.command()
@click.argument("name", required=False)
def metrics(name: str | None) -> None:
    """List the metrics, or explain the one called NAME.

    \b
    Example:
      stakes metrics f_beta
    """
    from stakes.views import catalogue

    if name is None:
        catalogue.show_all()
    else:
        catalogue.show_one(name)
