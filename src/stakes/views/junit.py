"""A gate as JUnit's XML, which build servers show as tests."""

from xml.etree import ElementTree

from stakes.evaluation.gate import Gate
from stakes.text import visible


def junit(gate: Gate) -> str:
    """Return a test suite with one test for each condition."""
    numbers = {"tests": str(len(gate.checks)), "failures": str(len(gate.failed)), "errors": "0"}
    suites = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "stakes gate", **numbers, "skipped": "0", "time": "0"})
    for check in gate.checks:
        named = {"classname": "stakes.gate", "name": visible(check.condition), "time": "0"}
        case = ElementTree.SubElement(suite, "testcase", named)
        if not check.passed:
            ElementTree.SubElement(case, "failure", {"message": visible(check.words), "type": check.kind})
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode")
