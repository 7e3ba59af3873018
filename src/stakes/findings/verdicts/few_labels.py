"""The verdict on few labels: how good is it, did the other rows help, and what does all of it rest on?"""

from collections.abc import Iterator, Sequence

from stakes.decisions.thresholds.objectives import BestFigure
from stakes.evaluation.few_grades import MEAN_TRUTH, FewGrades
from stakes.evaluation.few_labels import FewLabels
from stakes.evaluation.few_rows import FewEstimates
from stakes.findings.verdicts.answers import WIDE
from stakes.language.sentences import Finding, Sentence, answer, caution, metric, reason, sentence
from stakes.metrics import Estimate
from stakes.metrics.rates import alarm_rate

_HELPED = 1.1
"""Rows without a truth help where they are worth this many times the labels."""

_MANY_OUTSIDE = 0.1
"""More than this share of rows with scores outside of the labelled ones is worth a caution."""


def verdict_of(found: FewEstimates) -> tuple[Finding, ...]:
    """Return the estimates, whether the other rows helped, and the one assumption that must hold."""
    shown = [found[name] for name in found.main_figures]
    main = shown[0]
    values = {"name": named(main.name), **_limits(main)}
    shifted = isinstance(found, FewLabels) and found.kept.shifted
    positive = found.positive if isinstance(found, FewLabels) else ""
    kind = "few.elsewhere" if shifted else "few.estimated" if positive else "few.graded"
    rows = found.rows - found.labelled if shifted else found.rows
    lead = sentence(kind, n=found.labelled, rows=rows, positive=positive, **values)
    answers = []
    if isinstance(found, FewLabels) and found.threshold is not None:
        answers.append(answer("few.decide", "note", *_choice(found)))
    figures = [one for one in shown if one.name != MEAN_TRUTH]
    answers.append(answer("few.question", "note", lead, *_more_labels(found, figures), figures=figures))
    if found.as_good_as or not (shifted or len(answers) > 1):
        answers.append(answer("few.helped", "note", *_helped(found)))
    missing = [caution("few.no_interval", name=named(one.name), why=reason(one.no_interval))
               for one in found.figures.values() if one.no_interval]  # fmt: skip
    silent = [caution("few.no_interval", name=f"“{name}”", why=reason(why))
              for name, part in found.segments.items() if (why := part.why_nothing)]  # fmt: skip
    return (*answers, *missing[:3], *silent, *_outside(found), *_there(found), caution(found.rests_on))


def _choice(found: FewLabels) -> Iterator[Sentence]:
    """Where the threshold stands, and what is reached there."""
    wanted = BestFigure.parse(found.best) if found.best else None
    one = found["expected_cost" if wanted is None else wanted.metric.text]
    values = {"positive": found.positive, "threshold": found.threshold, **_limits(one)}
    if wanted is None:
        yield sentence("few.threshold", unit=found.unit, **values)
        yield sentence("few.no_saving")
    elif wanted.condition is None:
        yield sentence("few.best", name=metric(one.name), **values)
    else:
        yield sentence("few.best_with", name=metric(one.name), condition=found.best, **values)
        held = found[wanted.condition.text]
        yield sentence("few.then", name=metric(held.name), **_limits(held))


def _more_labels(found: FewEstimates, figures: Sequence[Estimate]) -> Iterator[Sentence]:
    """How many labels would halve the widest interval of a share, where it is too wide: widths fall with their root."""
    widths = {one.name: one.high - one.low for one in figures if one.low is not None and one.high is not None}
    widest = max(widths, key=lambda name: widths[name], default="")
    if isinstance(found, FewGrades) or found.kept.shifted or 4 * found.labelled > found.rows:
        return
    if widths.get(widest, 0.0) > WIDE:
        yield sentence("few.halved", labels=4 * found.labelled, name=metric(widest))


def _limits(one: Estimate) -> dict[str, float | None]:
    return {"value": one.value, "low": one.low, "high": one.high}


def _there(found: FewEstimates) -> Iterator[Finding]:
    """Caution that given class frequencies are those of another place."""
    if isinstance(found, FewLabels) and found.prior is not None:
        yield caution("few.at_prior", share=found.prior, positive=found.positive)


def _outside(found: FewEstimates) -> Iterator[Finding]:
    """Caution that for many rows the curve is extrapolated, because labelled ones have other scores."""
    seen = found.labelled_scores if isinstance(found, FewLabels) else None
    if seen is not None and seen[2] > _MANY_OUTSIDE:
        yield caution("few.outside", low=seen[0], high=seen[1], share=seen[2])


def named(name: str) -> Sentence | dict[str, str]:
    """The name of a figure; the mean of the truth is no metric and has a name of its own."""
    return sentence("few.mean_truth") if name == MEAN_TRUTH else metric(name)


def _helped(found: FewEstimates) -> Iterator[Sentence]:
    worth = {name: labels for name, labels in found.as_good_as.items() if name != alarm_rate.name}
    better = {name: labels for name, labels in worth.items() if labels >= _HELPED * found.labelled}
    for name, labels in sorted(better.items(), key=lambda one: -one[1])[:3]:
        yield sentence("few.as_good_as", name=named(name), labels=round(labels), n=found.labelled)
    rest = [name for name in worth if name not in better]
    if rest or not better:
        yield sentence("few.no_help", name=named(rest[0])) if rest else sentence("few.nothing_known")
