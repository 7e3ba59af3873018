"""Evaluations in MLflow: figures as metrics, what was asked as params, the report as an artifact."""

import math
import re
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from stakes.errors import Given, InputError, MissingPartError
from stakes.metrics import Estimate
from stakes.records import as_data

if TYPE_CHECKING:
    from stakes.evaluation.base import Evaluation

_LONGEST_TAG = 5_000
"""What every version of MLflow keeps of a tag."""


def log(evaluation: "Evaluation", prefix: str, report: bool) -> str:
    """Log an evaluation to the active run, or to a new one; return the id of the run."""
    if not isinstance(prefix, str) or not re.fullmatch(r"(?!/)[\w./-]{0,100}", prefix, re.ASCII) or ".." in prefix:
        raise InputError(
            "bad-prefix",
            Given("prefix", prefix),
            " cannot begin names in MLflow; use at most 100 letters, digits and _ - . / such as 'test/'",
        )
    try:
        import mlflow
    except ImportError:
        raise MissingPartError(
            "missing-mlflow", "figures are logged with MLflow, which is missing; pip install mlflow-skinny"
        ) from None

    from stakes.findings.pages import payload_of
    from stakes.views.report import html

    # before anything is logged: what fails leaves no half of a run
    page = html(payload_of(evaluation)) if report else None
    numbers, left_out = _numbers(evaluation.figures)
    active = mlflow.active_run()
    with nullcontext(active) if active else mlflow.start_run() as run:
        mlflow.log_params({prefix + name: value for name, value in _params(evaluation).items()})
        mlflow.log_metrics({prefix + name: value for name, value in numbers.items()})
        mlflow.set_tag(f"{prefix}stakes.undefined", "; ".join(left_out)[:_LONGEST_TAG])
        if page is not None:
            mlflow.log_text(page, f"{prefix}report.html")
        return str(run.info.run_id)


def _numbers(figures: Mapping[str, Estimate]) -> tuple[dict[str, float], list[str]]:
    """Finite figures and limits by name, and what was left out: stores change infinity to the largest number."""
    numbers, left_out = {}, []
    for name, one in figures.items():
        if not one.defined:
            left_out.append(f"{name}: {one.reason}")
        for part, value in ((name, one.value), (f"{name}_low", one.low), (f"{name}_high", one.high)):
            if value is not None and math.isfinite(value):
                numbers[part] = value
            elif value is not None and math.isinf(value):
                left_out.append(f"{part}: infinite")
    return numbers, left_out


def _params(evaluation: "Evaluation") -> dict[str, object]:
    """What was asked, as far as it is one value."""
    names = ("task", "rows", "positive", "negative", "threshold")
    asked = {name: as_data(getattr(evaluation, name, None)) for name in names}
    params = {name: value for name, value in asked.items() if value is not None}
    params["dropped"] = evaluation.counted.dropped
    if evaluation.pricing is not None:
        pricing = evaluation.pricing.data()
        params["costs"] = evaluation.pricing.costs.words
        params |= {name: pricing[name] for name in ("prior", "training_prior") if pricing[name] is not None}
    return {**params, "confidence": evaluation.sampling.confidence}
