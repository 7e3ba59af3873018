"""Figures with their intervals and baselines: of all rows and of each segment, and the confusion table of decisions."""

from collections.abc import Mapping, Sequence

from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import marks, notes_of
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.findings.pages.payload import Part, figure, listed, section
from stakes.findings.verdicts.answers import largest_segments
from stakes.findings.verdicts.segments import segments_by, verdict_of_segment
from stakes.language.sentences import Sentence, short_name
from stakes.metrics import Estimate
from stakes.metrics.usual import SEGMENT_FIGURES
from stakes.tallies import Confusion


def each_section(
    each: Mapping[str, tuple[float, Mapping[str, Estimate]]],
    count: int,
    whole: list[Part] | None = None,
    **words: Sentence,
) -> list[Part]:
    """The figures of each class, label or output by name, and how many rows it has; nothing where none is known."""
    rows = [
        {"name": short_name(name), "rows": rows, "figures": [figure(one) for one in figures.values()]}
        for name, (rows, figures) in each.items()
    ]
    known = [name for _, figures in list(each.values())[:1] for name in figures]
    return [section("classes", metrics=known, classes=rows, whole=whole, count=count, **words)] if known else []


def figures_section(evaluation: Evaluation) -> Part:
    """Return all figures of an evaluation, family by family; the main ones are marked."""
    notes = notes_of(evaluation, main=True) | notes_of(evaluation, main=False)
    marked = {name: {"mark": mark, "note": notes[name]} for name, mark in marks(evaluation).items()}
    rows = [
        {**figure(estimate), "family": found.family, "main": found.headline, **marked.get(name, {})}
        for name, estimate in evaluation.figures.items()
        for found in [evaluation._find(name)]
    ]
    return section("figures", figures=rows, confidence=evaluation.sampling.confidence)


def confusion_section(evaluation: TwoClassEvaluation) -> list[Part]:
    """Return the confusion table, if decisions were taken."""
    table = evaluation.confusion
    if table is None:
        return []
    names = {
        "truths": [short_name(one) for one in table.truths],
        "decisions": [short_name(one) for one in table.decisions],
    }
    positive = list(table.truths).index(evaluation.positive)
    return [section("confusion", **names, positive=positive, cells=[listed(row) for row in table.counts.astype(float)])]


def segments_section(evaluation: Evaluation) -> list[Part]:
    """Return the largest segments with some figures of each, or nothing where there are no segments."""
    if not evaluation.segments:
        return []
    known = [name for name in SEGMENT_FIGURES[evaluation.task] if name in evaluation.figures]
    shown = largest_segments(evaluation)
    columns = [_of_segments(evaluation, name, shown) for name in known]
    rows = [
        {"name": short_name(name), "rows": part.rows, "figures": [column[name] for column in columns]}
        for name, part in shown
    ]
    whole = [figure(evaluation.figures[name]) for name in known]
    return [section("segments", metrics=known, segments=rows, whole=whole, count=len(evaluation.segments))]


def _of_segments(evaluation: Evaluation, name: str, shown: Sequence[tuple[str, Evaluation]]) -> dict[str, Part]:
    """One figure of the segments that are shown, compared with the rest where that was tested."""
    found = _judge_segments(evaluation, name)
    return {segment: found[segment] if segment in found else figure(part.interval(name)) for segment, part in shown}


def _judge_segments(evaluation: Evaluation, name: str) -> dict[str, Part]:
    """Each segment by one figure, compared with the rest, and its rank from the worst.

    Tables of counts are compared at once; of the figures that look at every row, only the key one is.
    """
    metric = evaluation._find(name)
    quick = metric.tally is Confusion or metric.name in (evaluation._key_figure, evaluation._usual_figure)
    if not quick or not evaluation.figures[name].defined:
        return {}
    found = segments_by(evaluation, name)
    verdicts = {one.name: (one, *verdict_of_segment(one, found)) for one in found}
    numbers = ("value", "low", "high", "difference")
    return {
        segment: {
            "name": name,
            **{key: getattr(one, key) for key in numbers},
            "place": i,
            "verdict": words,
            "tone": tone,
        }
        for i, (segment, (one, tone, words)) in enumerate(verdicts.items())
        if one.value is not None
    }
