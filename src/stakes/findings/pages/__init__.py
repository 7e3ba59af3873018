"""What a page shows, as plain data: one file for each kind of result, and one for each part that pages share.

``payload_of(thing)`` chooses the page; ``stakes.views.report`` describes how a page is added.
"""

from datetime import date
from importlib import import_module
from importlib.metadata import version

from stakes.errors import InputError
from stakes.findings import WITH_A_PAGE, kind_of
from stakes.findings.facts import about, source_of
from stakes.findings.pages.payload import verdict_section
from stakes.language.narrated import Narrated
from stakes.records import Plain, as_data


def payload_of(thing: object) -> Plain:
    """Return the payload of a thing's page."""
    kind = kind_of(thing)
    if kind not in WITH_A_PAGE or not isinstance(thing, Narrated):
        raise InputError("no-report-of", f"there is no report page for a {kind} yet; ev.show() prints all figures")
    sections = import_module(f"stakes.findings.pages.{WITH_A_PAGE[kind]}").sections_of(thing)
    head = about(thing)
    parts = {
        "title": head.title,
        "facts": head.facts,
        "source": source_of(thing),
        "sections": [verdict_section(thing.findings), *sections],
    }
    made = {"date": date.today().isoformat(), "version": version("stakes")}
    return {**{name: as_data(part) for name, part in parts.items()}, "made": made}
