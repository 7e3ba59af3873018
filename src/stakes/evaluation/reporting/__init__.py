"""What a report shows of an evaluation, as plain data: one file for each part of a page.

``payload_of(evaluation)`` chooses the page by the task; ``stakes.views.report`` describes how a page is added.
"""

from collections.abc import Callable
from typing import Any

from stakes import errors
from stakes.evaluation.reporting.two_classes import two_class_page

_PAGES: dict[str, Callable[[Any], dict[str, Any]]] = {"binary": two_class_page}


def payload_of(evaluation: Any) -> dict[str, Any]:
    """Return the payload of an evaluation's page."""
    make = _PAGES.get(evaluation.task)
    if make is None:
        raise errors.no_report_of(evaluation.task)
    return make(evaluation)
