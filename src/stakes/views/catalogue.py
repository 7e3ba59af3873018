"""The catalogue of metrics, printed from their declarations."""

from typing import Annotated

from stakes import metrics
from stakes.frozen import dataclass, fields
from stakes.metrics import Metric
from stakes.metrics.declare import Better
from stakes.records import Record, Says
from stakes.views.terminal import wrap


@dataclass(frozen=True)
class Facts(Record):
    """What is declared about a metric; what does not apply is None."""

    name: str
    family: str
    better: Better
    question: str | None = None
    formula: str | None = None
    range: str | None = None
    baseline: str | None = None
    interval: str | None = None
    undefined: str | None = None
    pitfall: str | None = None
    parameters: str | None = None
    aliases: str | None = None
    reference: str | None = None


@dataclass(frozen=True)
class Listed(Record, stakes="metrics"):
    """What is declared about metrics."""

    metrics: Annotated[list[Facts], Says(least_items=1)]


def facts(metric: Metric) -> Facts:
    """Return what is declared about a metric."""
    declared = metric.facts()
    more = {field.name: declared.get(field.name) for field in fields(Facts)[3:]}
    return Facts(metric.text, metric.family, metric.better, **more)


def show_all() -> None:
    """Print every metric with its question, family by family."""
    from rich.console import Console

    console = Console(highlight=False)
    width = max(len(metric.name) for metric in metrics.catalogue())
    for family, words in metrics.FAMILIES.items():
        console.print(f"[bold]{family}[/bold]: {(words or '').splitlines()[0]}")
        for metric in metrics.catalogue():
            if metric.family == family:
                line = f"  {metric.name:<{width}}  {metric.question}"
                if console.is_terminal:  # in a pipe one metric stays one line
                    line = wrap(line, console.width, width + 4)
                console.print(line, markup=False, soft_wrap=True)
        console.print()
    console.print("`stakes metrics NAME` explains one of them.", style="dim")


def show_one(name: str) -> None:
    """Print all that is declared about one metric."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    metric = metrics.find(name)
    table = Table.grid(padding=(0, 2))
    for fact, words in metric.facts().items():
        label = {"undefined": "undefined when", "baseline": "ignoring input", "aliases": "also called"}.get(fact, fact)
        table.add_row(Text(label, style="dim"), Text(words))
    console = Console(highlight=False)
    console.print(Text(metric.text, style="bold"))
    console.print(table)
