"""What a page shows, as plain data: one file for each kind of result, and one for each part that pages share.

``payload_of(thing)`` chooses the page; ``stakes.views.report`` describes how a page is added.
"""

from datetime import date
from importlib import import_module
from importlib.metadata import version

from stakes.errors import InputError
from stakes.findings import findings_of, kind_of
from stakes.findings.facts import about, source_of
from stakes.findings.pages.payload import verdict_section
from stakes.language.narrated import Narrated
from stakes.records import Plain, as_data

_PAGES = {
    "binary": "two_classes",
    "multiclass": "many_classes",
    "regression": "regression",
    "comparison": "comparison",
    "permutation test": "permutation",
    "decision": "decision",
    "policies": "policies",
    "system": "system",
}
"""The module that makes the page of each kind of result; it is loaded when such a page is written."""


def payload_of(thing: object) -> Plain:
    """Return the sections below the verdict on a thing's page."""
    kind = kind_of(thing)
    if kind not in _PAGES:
        raise InputError("no-report-of", f"there is no report page for a {kind} yet; ev.show() prints all figures")
    sections = import_module(f"stakes.findings.pages.{_PAGES[kind]}").sections_of(thing)
    head = about(thing)
    found = thing.findings if isinstance(thing, Narrated) else findings_of(thing)
    parts = {
        "title": head.title,
        "facts": head.facts,
        "source": source_of(thing),
        "sections": [verdict_section(found), *sections],
    }
    made = {"date": date.today().isoformat(), "version": version("stakes")}
    return {**{name: as_data(part) for name, part in parts.items()}, "made": made}
