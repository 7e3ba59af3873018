"""report(): a page to explore, about any result or about rows."""

import os
from typing import Unpack

from stakes.engines.files.writing import check_target
from stakes.errors import Given, InputError, Pass
from stakes.evaluation import evaluation_of
from stakes.findings.pages import payload_of
from stakes.question.options import Asked, Data, asks
from stakes.question.question import Question
from stakes.views.report import write


@asks("report")
def report(thing: Data = None, path: str | os.PathLike[str] = "", *, about: str = "", **asked: Unpack[Asked]) -> None:
    """Write one offline HTML page about an evaluation, comparison, decision, permutation test or system.

    ``lang`` is the code of the language in which it opens: "en", "es", "ru" (``stakes.language`` lists them).
    ``about`` is a line of your own below the title: which model, which file. The command line writes what was asked.
    Rows can be given in the place of an evaluation, with the arguments of :func:`stakes.evaluate`.
    """
    question = Question.of("report", asked)
    if isinstance(path, str) and not path:
        raise InputError("no-path", "a report is written to a file; pass ", Pass("path", "report.html"))
    check_target(path, "page")  # before anything is computed
    if not isinstance(about, str):
        raise InputError("not-a-line", Given("about", about), " is no text; give a line to stand below the title")
    payload = payload_of(evaluation_of(thing, question)) | ({"about": about} if about else {})
    write(payload, path, question["lang"])
