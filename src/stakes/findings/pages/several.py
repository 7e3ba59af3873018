"""The page of several labels, outputs or quantiles: verdict, each of them, segments, every figure."""

from dataclasses import asdict

from stakes.evaluation.several import LabelsEvaluation, QuantilesEvaluation, SeveralEvaluation
from stakes.findings.pages.figures import each_section, figures_section, segments_section
from stakes.findings.pages.payload import Part, section
from stakes.findings.pages.points import quantiles_section
from stakes.findings.verdicts.answers import MOST
from stakes.language.sentences import sentence, short_name


def sections_of(evaluation: SeveralEvaluation) -> list[Part]:
    """Return the sections below the verdict on several things per row."""
    own = []
    if isinstance(evaluation, QuantilesEvaluation):
        own = quantiles_section(evaluation)
    elif isinstance(evaluation, LabelsEvaluation):
        own = _together_section(evaluation)
    each = {name: (evaluation.support[name], evaluation.each_figures[name]) for name in evaluation.shown_names[:MOST]}
    title, entry = (sentence(f"each.{key}") for key in (evaluation.task, f"of_{evaluation.task}"))
    return [
        *each_section(each, len(evaluation.names), title=title, entry=entry),
        *own,
        *segments_section(evaluation),
        figures_section(evaluation),
    ]


def _together_section(evaluation: LabelsEvaluation) -> list[Part]:
    """Which labels are missed together, and which are missed while another is wrongly given."""
    pairs = {"forgotten": evaluation.forgotten, "taken_for": evaluation.taken_for}
    return [
        section(
            "pairs",
            id=name,
            title=sentence(f"pairs.{name}"),
            other=sentence(f"pairs.{name}_other"),
            pairs=[
                {**asdict(one), "missed": short_name(one.missed), "beside": short_name(one.beside)} for one in found
            ],
        )
        for name, found in pairs.items()
        if found
    ]
