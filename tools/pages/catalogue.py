"""The catalogue of metrics, a page for each family, made from the declarations."""

import re

from stakes import metrics
from stakes.metrics import Metric

TITLES = {
    "rates": "Rates of two classes",
    "agreement": "Agreement in one number",
    "cost": "Costs",
    "ranking": "Order of the scores",
    "probability": "Probabilities",
    "calibration": "The calibration line",
    "many": "More than two classes",
    "multilabel": "Several labels per row",
    "graded": "Grades in order",
    "regression": "Errors of numbers",
    "counts": "Counts and positive quantities",
    "quantiles": "Intervals and quantiles",
    "forecasts": "Forecasts in time",
}
LABELS = {
    "formula": "Formula",
    "range": "Range",
    "baseline": "Ignoring the input",
    "interval": "Interval",
    "undefined": "Undefined when",
    "pitfall": "Pitfall",
    "parameters": "Parameters",
    "aliases": "Also called",
    "reference": "Reference",
}

_INTRODUCTION = """\
# The metrics

Every metric is declared once in the code, with the question it answers, its formula, the ways in which it misleads,
and what *ignoring the input* would score. These pages are written from the declarations by `make pages`, and a test
compares the two; `stakes metrics NAME` says the same in a terminal, and `stakes.metrics.f1` is the metric itself: call
it on arrays or on a tally.

Not sure which one? [Begin with the decision](../which_metric.md).

Cells are called `tp`, `fn`, `fp`, `tn`; `P` and `N` are the positive and the negative cases, `PP` and `PN` those
decided positive and negative, `n` all of them. Figures of two classes work for each class of several, too:
`ev["recall", "setosa"]` is setosa against the rest, and `macro_`, `micro_` and `weighted_` in front of a name put the
classes together.
"""


def pages() -> dict[str, str]:
    """Return the pages of the catalogue."""
    listed = metrics.catalogue()
    families = {family: [metric for metric in listed if metric.family == family] for family in metrics.FAMILIES}
    found = {f"catalogue/{family}.md": _family_page(family, members) for family, members in families.items()}
    return {"catalogue/index.md": _index(families), **found}


def _index(families: dict[str, list[Metric]]) -> str:
    parts = [_INTRODUCTION]
    for family, members in families.items():
        rows = [f"| [{m.name}]({family}.md#{m.name}) | {m.question} |" for m in members]
        parts.append(
            "\n".join([f"## {TITLES[family]}\n", "| figure | the question it answers |", "|---|---|", *rows, ""])
        )
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *families, "```", ""])
    return "\n".join([*parts, toctree])


def _family_page(family: str, members: list[Metric]) -> str:
    about = " ".join((metrics.FAMILIES[family] or "").split("\n\n")[0].split())
    return "\n".join([f"# {TITLES[family]}\n", f"{about}\n", *map(_entry, members)])


def _entry(metric: Metric) -> str:
    facts = metric.facts()
    lines = [f"- **{label}:** {_shown(name, facts[name])}" for name, label in LABELS.items() if name in facts]
    return "\n".join([f"## {metric.name}\n", f"*{metric.question}*\n", *lines, ""])


def _shown(fact: str, words: str) -> str:
    """Code is shown as code; what Markdown would read as marks is kept as it is."""
    if fact == "formula":
        return f"`{words}`"
    return re.sub(r"([*_\\|])", r"\\\1", words)
