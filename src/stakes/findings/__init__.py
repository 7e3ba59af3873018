"""What results mean, decided once: verdicts and cautions (``verdicts/``), what pages show (``pages/``).

``findings_of(thing)`` are the answers to plain questions about a result, the worst first, and what a careful colleague
would point out. Every view shows the same ones.
"""

from importlib import import_module

from stakes.language.sentences import Finding

WITH_A_PAGE = {
    "binary": "two_classes",
    "multiclass": "many_classes",
    "regression": "regression",
    **dict.fromkeys(("labels", "outputs", "quantiles"), "several"),
    "comparison": "comparison",
    "permutation test": "permutation",
    "ranks": "ranks",
    "watch": "watch",
    "few labels": "few_labels",
    "decision": "decision",
    "policies": "policies",
    "label decisions": "label_decisions",
    "system": "system",
}
"""The module of each kind of result that has a page: in ``verdicts`` and in ``pages``, loaded on first use."""

_VERDICTS = {
    **WITH_A_PAGE,
    "gate": "gate",
    "gap": "gap",
    "plan": "plan",
    "calibration": "honesty",
    "class calibrations": "honesty",
    "recalibration": "recalibration",
    "system choice": "choice",
}
"""The module in ``verdicts`` for each kind of result."""


def kind_of(thing: object) -> str:
    """Return the kind of a result: the task of an evaluation, or the name under which others are plotted."""
    return str(getattr(thing, "task", None) or getattr(thing, "plotted_as", type(thing).__name__))


def findings_of(thing: object) -> tuple[Finding, ...]:
    """Return the findings of a result; none if there is no verdict on its kind."""
    kind = kind_of(thing)
    if kind not in _VERDICTS:
        return ()
    found: tuple[Finding, ...] = import_module(f"stakes.findings.verdicts.{_VERDICTS[kind]}").verdict_of(thing)
    return found
