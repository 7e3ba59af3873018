"""What a report shows, as plain data: one file for each page, and one for each part that pages share.

``payload_of(thing)`` chooses the page; ``stakes.views.report`` describes how a page is added.
"""

import os
from importlib import import_module
from typing import TypeAlias

from stakes.errors import Given, InputError

Part: TypeAlias = dict[str, object]
"""A part of a page as plain data: a section, a sentence with what fills its gaps, a figure."""

_PAGES = {
    "binary": "two_classes",
    "multiclass": "many_classes",
    "regression": "regression",
    "comparison": "comparison",
    "permutation test": "chance",
    "decision": "decision",
    "policies": "policies",
    "system": "system",
}
"""The module that makes the page of each kind of result; it is loaded when such a page is written."""


def write_page(thing: object, path: str | os.PathLike[str], lang: str, about: str) -> None:
    """Write one offline HTML page about a result."""
    from stakes.engines.files.writing import check_target
    from stakes.views import report as pages  # only reports need it

    check_target(path, "page")  # before anything is computed
    if not isinstance(about, str):
        raise InputError("not-a-line", Given("about", about), " is no text; give a line to stand below the title")
    payload = payload_of(thing) | ({"about": about} if about else {})
    pages.write(payload, path, lang)


def payload_of(thing: object) -> Part:
    """Return the payload of a thing's page."""
    kind = str(getattr(thing, "task", None) or getattr(thing, "drawn_as", type(thing).__name__))
    if kind not in _PAGES:
        raise InputError("no-report-of", f"there is no report page for a {kind} yet; ev.show() prints all figures")
    return dict(import_module(f"stakes.evaluation.reporting.{_PAGES[kind]}").page_of(thing))
