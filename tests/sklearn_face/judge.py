"""A pytest plugin that points scikit-learn's own installed tests at the functions of ``stakes.sklearn``.

Each function of the face stands in for its namesake while the tests run, and notes that it was called: a test that
calls none of them says nothing about the face, and does not count. Errors and warnings must be of the right kind;
their wording is aside. Run by ``tests/sklearn_face/test_judge.py`` in a process of its own.
"""

import functools
import json
import os

import pytest
import sklearn.metrics

import stakes.sklearn

called: set[str] = set()
record: dict[str, dict[str, object]] = {}


def noted(name, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        called.add(name)
        return function(*args, **kwargs)

    return call


def any_wording(check):
    @functools.wraps(check)
    def expect(*args, match=None, **kwargs):
        return check(*args, **kwargs)

    return expect


for name in stakes.sklearn.FUNCTIONS:
    if hasattr(sklearn.metrics, name):  # earlier releases lack the newest ones
        setattr(sklearn.metrics, name, noted(name, getattr(stakes.sklearn, name)))
pytest.raises, pytest.warns = any_wording(pytest.raises), any_wording(pytest.warns)


def pytest_runtest_setup(item):
    called.clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" and called:
        why = str(call.excinfo.value).strip().splitlines()[:1] if call.excinfo else []
        kind = [call.excinfo.typename] if call.excinfo else []
        record[f"{item.module.__name__.rpartition(chr(46))[2]}::{item.name}"] = {
            "outcome": report.outcome,
            "names": sorted(called),
            "why": ": ".join(kind + why),
        }


def pytest_sessionfinish():
    with open(os.environ["STAKES_JUDGE"], "w", encoding="utf-8") as file:
        json.dump(record, file, indent=0)
