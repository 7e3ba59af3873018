"""compare(…, unlabelled="estimate"): decisions of several models on all rows, a few of which have a truth."""

from dataclasses import replace

import numpy as np

from stakes.engines.labels import Labels
from stakes.engines.unlabelled import read_partly
from stakes.errors import InputError
from stakes.evaluation.contestants import Contestant, entries_by_name
from stakes.evaluation.few_labels import FewLabels, cells_of, estimate_rows, row_question, rows_of
from stakes.evaluation.few_rows import evaluate_labelled
from stakes.metrics import Metric
from stakes.question.options import Data
from stakes.question.question import Question
from stakes.uncertainty.few_labels import draw_decisions
from stakes.uncertainty.paired import Difference, Flipped, flipped
from stakes.uncertainty.sampling import Sample, Sampling

METHOD = "few labels: the labels of each combination of decisions"


class FewPairs:
    """What two models decide on all rows, and the labels of each combination of their decisions."""

    def flipped(self, first: Contestant, second: Contestant) -> Flipped:
        """Count the labelled rows on which both, one or none is right."""
        assert first.decided is not None
        assert second.decided is not None
        return flipped(first.sample, first.decided, second.decided)

    def difference(self, metric: Metric, first: Contestant, second: Contestant, sampling: Sampling) -> Difference:
        """Test the difference of a figure: sample the share of positives in each combination of decisions."""
        one, other = _few(first), _few(second)
        for found in (one, other):
            if why := found[metric.text].no_interval:
                return Difference(note=why)
        both = replace(one.kept, decided=2 * one.kept.decided + other.kept.decided, score=None).bins
        draws = draw_decisions(both, sampling.seed)
        values = one.figure_of_cells(metric, cells_of(draws, both.cell // 2))
        values = values - other.figure_of_cells(metric, cells_of(draws, both.cell % 2))
        values = values[np.isfinite(values)]
        tail = (1 - sampling.confidence) / 2
        low, value, high = (float(end) for end in np.quantile(values, (tail, 0.5, 1 - tail)))
        beyond = 1 + min(int((values <= 0).sum()), int((values >= 0).sum()))
        return Difference(low, high, min(1.0, 2 * beyond / (1 + len(values))), METHOD, value=value)


def _few(model: Contestant) -> FewLabels:
    assert isinstance(model.estimated, FewLabels)
    return model.estimated


def few_contestants(data: Data, question: Question) -> list[Contestant]:
    """The models of a call, each with its estimates from few labels."""
    if question["id"] is not None or not question["paired"] or isinstance(data, list | tuple):
        words = "few labels compare models on the same rows of one table; put their outputs beside each other"
        raise InputError("few-labels-one-table", words)
    found, pairs, named = [], FewPairs(), None
    for entry in entries_by_name(data, question):
        asked = replace(row_question(question), score=entry.score, prediction=entry.prediction)
        partly = read_partly(entry.data, asked)
        if len(partly.plan.classes) > 2:
            raise InputError("few-labels-compared", "few labels compare models of two classes, and these are several")
        names, rows = rows_of(partly, question)
        if named not in (None, names):
            raise InputError("few-labels-other-classes", "the models do not decide between the same two classes")
        named = names
        here, by = rows.labelled, partly.read.by
        few = estimate_rows(names, rows, question).in_segments(rows.by_segment(by)).refuse_unless_enough()
        sample = Sample(rows.truth[here], names, names, names[1])
        by = None if by is None else Labels(by.codes[here], by.names)
        evaluation = evaluate_labelled(rows, names, question.sampling, question.pricing, by)
        model = Contestant(entry.name, evaluation, sample, rows.decided[here], None, None, by, pairs)
        found.append(replace(model, estimated=few))
    return found
