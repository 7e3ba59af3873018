"""The page of several labels, outputs or quantiles: verdict, each of them, segments, every figure."""

from stakes.evaluation.several import SeveralEvaluation
from stakes.findings.pages.figures import figures_section, segments_section
from stakes.findings.pages.payload import Part, figure, section
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import sentence, short_name


def sections_of(evaluation: SeveralEvaluation) -> list[Part]:
    """Return the sections below the verdict on several things per row."""
    return [*_each_section(evaluation), *segments_section(evaluation), figures_section(evaluation)]


def _each_section(evaluation: SeveralEvaluation) -> list[Part]:
    """The figures of each label, output or level."""
    each = {name: evaluation.each_figures[name] for name in evaluation.shown_names[:MOST]}
    if not each:
        return []
    known = list(next(iter(each.values())))
    rows = [
        {"name": short_name(name), "rows": evaluation.support[name], "figures": [figure(one[key]) for key in known]}
        for name, one in each.items()
    ]
    words = {"title": sentence(f"each.{evaluation.task}"), "entry": sentence(f"each.of_{evaluation.task}")}
    return [section("classes", metrics=known, classes=rows, whole=None, count=len(evaluation.names), **words)]
