"""What text views show of each kind of result; ``page_of(thing)`` chooses."""

from importlib import import_module

from stakes.findings import kind_of
from stakes.views.page import Page

_PAGES = {
    **dict.fromkeys(("binary", "multiclass", "regression", "labels", "outputs", "quantiles"), "evaluation:page"),
    **{kind: f"{kind}:page" for kind in ("comparison", "gate", "ranks", "watch", "plan", "system", "decision")},
    "segments": "segments:page",
    "gap": "segments:gap_page",
    "system choice": "choice:page",
    "Validation": "validation:page",
    "calibration": "calibration:page",
    "class calibrations": "calibration:page",
    "number calibration": "calibration:number_page",
    "recalibration": "calibration:recalibration_page",
    "policies": "decision:page",
    "label decisions": "decision:labels_page",
    "permutation test": "permutation:page",
    "few labels": "few_labels:page",
}
"""The module and the function that lay out each kind of result, loaded on first use."""


def page_of(thing: object, everything: bool = False, more: str = "") -> Page:
    """Return what there is to see of a result; ``more`` says how to see what that leaves out."""
    module, _, name = _PAGES[kind_of(thing)].partition(":")
    found: Page = getattr(import_module(f"stakes.views.pages.{module}"), name)(thing, everything, more)
    return found
