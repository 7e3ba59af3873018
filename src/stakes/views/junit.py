"""A gate as JUnit's XML, which build servers show as tests."""

import re
from typing import Any
from xml.etree import ElementTree

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Signs that XML 1.0 cannot hold, however they are written."""


def junit(gate: Any) -> str:
    """Return a test suite with one test for each condition."""
    numbers = {"tests": str(len(gate.checks)), "failures": str(len(gate.failed)), "errors": "0"}
    suites = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "stakes gate", **numbers, "skipped": "0", "time": "0"})
    for check in gate.checks:
        named = {"classname": "stakes.gate", "name": _clean(check.condition), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", named)
        if not check.passed:
            ElementTree.SubElement(case, "failure", {"message": _clean(check.words), "type": check.kind})
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
