"""What a report shows, as plain data: one file for each page, and one for each part that pages share.

``payload_of(thing)`` chooses the page; ``stakes.views.report`` describes how a page is added.
"""

from collections.abc import Callable
from typing import Any

from stakes import errors
from stakes.evaluation.reporting.chance import chance_page
from stakes.evaluation.reporting.comparison import comparison_page
from stakes.evaluation.reporting.decision import decision_page
from stakes.evaluation.reporting.many_classes import many_class_page
from stakes.evaluation.reporting.policies import policies_page
from stakes.evaluation.reporting.regression import regression_page
from stakes.evaluation.reporting.system import system_page
from stakes.evaluation.reporting.two_classes import two_class_page

_PAGES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "binary": two_class_page,
    "multiclass": many_class_page,
    "regression": regression_page,
    "comparison": comparison_page,
    "permutation test": chance_page,
    "decision": decision_page,
    "policies": policies_page,
    "system": system_page,
}


def report(thing: Any, path: Any, lang: str = "en", about: str = "") -> None:
    """Write one offline HTML page about an evaluation, comparison, decision, permutation test or system.

    ``lang`` is the code of the language in which it opens: "en", "es", "ru" (``stakes.views.languages`` lists them).
    ``about`` is a line of your own below the title: which model, which file. The command line writes what was asked.
    """
    from stakes.engines.files.writing import check_target
    from stakes.views import report as pages  # only reports need it

    check_target(path, "page")  # before anything is computed
    if not isinstance(about, str):
        raise errors.not_a_line(about)
    payload = payload_of(thing) | ({"about": about} if about else {})
    pages.write(payload, path, lang)


def payload_of(thing: Any) -> dict[str, Any]:
    """Return the payload of a thing's page."""
    kind = str(getattr(thing, "task", None) or getattr(thing, "drawn_as", type(thing).__name__))
    make = _PAGES.get(kind)
    if make is None:
        raise errors.no_report_of(kind)
    return make(thing)
