"""Every metric, declared once: ``stakes.metrics.precision(truth, decision)``, ``stakes.metrics.catalogue()``.

A metric works on arrays and on tallies, and knows the question it answers, its formula, its range, what ignoring the
input would score, and why it can be undefined. ``python -m stakes metrics`` prints all that.
"""

import ast
import copyreg
import itertools
import re
import warnings
from collections.abc import Callable, Iterator, Sequence

from stakes import errors
from stakes.errors import InputError, nearest
from stakes.metrics import (
    agreement,
    calibration,
    cost,
    counts,
    forecasts,
    graded,
    many,
    multilabel,
    outputs,
    prior,
    probability,
    quantiles,
    ranking,
    rates,
    regression,
)
from stakes.metrics.declare import ALIASES, CATALOGUE, OWN, Metric, Parameter, measure
from stakes.metrics.estimate import Estimate
from stakes.metrics.ranking import auc_bounds

FAMILIES = {
    family.__name__.rpartition(".")[2]: family.__doc__
    for family in (
        *(rates, agreement, cost, ranking, probability, calibration, many, multilabel, graded),
        *(regression, counts, quantiles, forecasts),
    )
}
"""The families, in the order in which they are shown."""


def catalogue() -> Sequence[Metric]:
    """Return every declared metric, family by family; those of the user last."""
    return [metric for family in (*FAMILIES, OWN) for metric in CATALOGUE.values() if metric.family == family]


def list() -> Sequence[Metric]:
    """Return what :func:`catalogue` does, under its name of version 0.1."""
    warnings.warn("stakes.metrics.list() is now called stakes.metrics.catalogue()", DeprecationWarning, stacklevel=2)
    return catalogue()


def find(text: str) -> Metric:
    """Return a metric by its name, an alias, or a text such as ``f_beta(beta=0.5)``; ``F2`` will do for that, too."""
    name, parameters = _parse(text)
    for spelled in itertools.chain((name,), _other_spellings(name)):
        found = CATALOGUE.get(ALIASES.get(spelled, spelled)) or _average(spelled)
        if found is not None:
            return found.with_parameters(**parameters)
    if beta := _F_BETA.fullmatch(name):
        return find("f_beta").with_parameters(beta=float(beta[1]), **parameters)
    if name.startswith("neg_"):
        ours = find(name.removeprefix("neg_")).name
        raise InputError(
            "negated-metric",
            f"{name!r} is the negative of {ours}, of which lower values are better here; ask for {ours}",
        )
    hint = nearest(name, [*CATALOGUE, *ALIASES])
    guessed = "; did you mean" in hint  # otherwise some of very many are named
    raise InputError(
        "no-such-metric", f"there is no metric {name!r}{hint if guessed else '; `stakes metrics` lists them all'}"
    )


_F_BETA = re.compile(r"[fF]_?(\d(?:\.\d+)?)(?:_score)?")


def _other_spellings(name: str) -> Iterator[str]:
    """How scikit-learn and others write the names of metrics and averages: ``ROC-AUC``, ``f1_macro``, ``r2_score``."""
    lowered = name.lower().replace("\u2212", "-").replace("\u00b2", "2")
    yield lowered
    lowered = lowered.replace("-", "_").replace(" ", "_")
    yield lowered
    if lowered != "fowlkes_mallows_score":  # which is about clusterings there
        yield lowered.removesuffix("_score")
    base, _, how = lowered.replace("_ovr", "" if lowered.endswith("_weighted") else "_macro").rpartition("_")
    if how in many.AVERAGES:
        yield f"{how}_{base}"


def _average(name: str) -> Metric | None:
    for over in outputs.AVERAGES:
        of = name.removeprefix(f"{over}_")
        if of != name and ALIASES.get(of, of) in CATALOGUE:
            return outputs.average_of_outputs(ALIASES.get(of, of), over)
    how, _, of = name.partition("_")
    if how not in many.AVERAGES or ALIASES.get(of, of) not in CATALOGUE:
        return None
    return many.average_of(CATALOGUE[ALIASES.get(of, of)], how)


def _by_name(metric: Metric) -> tuple[Callable[..., Metric], tuple[object, ...]]:
    """Pickle a metric by its name and its costs, if it has any: declarations hold functions, which pickle refuses."""
    pricing, of = cost.given_to(metric)
    if pricing is not None:
        return cost.with_prices, (find(metric.name.partition("[")[0]), pricing, metric.tally, of)
    if metric.population is not None:
        return prior.at_prior, (find(metric.text), metric.population)
    return find, (metric.text,)


copyreg.pickle(Metric, _by_name)


def _parse(text: str) -> tuple[str, dict[str, Parameter]]:
    """Take name(parameter=number) apart; the text is read, never run."""
    if not isinstance(text, str):
        raise errors.bad_metric_text(text)
    if "(" not in text:
        return text.strip(), {}
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)) or call.args:
            raise ValueError
        if not all(isinstance(keyword.value, ast.Constant | ast.UnaryOp) and keyword.arg for keyword in call.keywords):
            raise ValueError
        return call.func.id, {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise errors.bad_metric_text(text) from None


def __getattr__(name: str) -> Metric:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return find(name)
    except errors.InputError as problem:
        raise AttributeError(str(problem)) from None


def __dir__() -> Sequence[str]:
    return sorted([*globals(), *CATALOGUE])


__all__ = ["Estimate", "Metric", "auc_bounds", "catalogue", "find", "list", "measure"]
