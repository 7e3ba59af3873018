"""report(): a page to explore, about any result or about rows."""

import os
from typing import Unpack

from stakes.evaluation import evaluation_of
from stakes.evaluation.reporting import write_page
from stakes.question.options import Asked, Data, asks
from stakes.question.question import Question


@asks("report")
def report(
    thing: Data = None, path: str | os.PathLike[str] = "", lang: str = "en", about: str = "", **asked: Unpack[Asked]
) -> None:
    """Write one offline HTML page about an evaluation, comparison, decision, permutation test or system.

    ``lang`` is the code of the language in which it opens: "en", "es", "ru" (``stakes.language`` lists them).
    ``about`` is a line of your own below the title: which model, which file. The command line writes what was asked.
    Rows can be given in the place of an evaluation, with the arguments of :func:`stakes.evaluate`.
    """
    question = Question.of("report", asked)
    write_page(evaluation_of(thing, question), path, lang, about)
