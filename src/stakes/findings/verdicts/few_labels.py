"""The verdict on few labels: how good is it, did the other rows help, and what does all of it rest on?"""

from collections.abc import Iterator

from stakes.evaluation.few_labels import FewLabels
from stakes.language.sentences import Finding, Sentence, answer, caution, metric, reason, sentence
from stakes.metrics.agreement import accuracy
from stakes.metrics.ranking import auc
from stakes.metrics.rates import alarm_rate, prevalence, recall

_HELPED = 1.1
"""Rows without a truth help where they are worth this many times the labels."""


def verdict_of(found: FewLabels) -> tuple[Finding, ...]:
    """Return what the labels tell, whether the other rows helped, and the one thing that must hold."""
    shown = [found[name] for name in (prevalence.name, accuracy.name, recall.name)]
    shown += [found[auc.name]] if found.kept.score is not None else []
    lead = shown[0]
    values = {"name": metric(lead.name), "value": lead.value, "low": lead.low, "high": lead.high}
    told = sentence("few.estimated", n=found.labelled, rows=found.rows, positive=found.positive, **values)
    answers = [answer("few.question", "note", told, figures=shown)]
    answers.append(answer("few.helped", "note", *_helped(found)))
    missing = [caution("few.no_interval", name=metric(one.name), why=reason(one.no_interval))
               for one in found.figures.values() if one.no_interval]  # fmt: skip
    silent = [caution("few.no_interval", name=f"“{name}”", why=reason(why))
              for name, part in found.segments.items() if (why := part.why_nothing)]  # fmt: skip
    return (*answers, *missing[:3], *silent, caution("few.provided"))


def _helped(found: FewLabels) -> Iterator[Sentence]:
    worth = {name: labels for name, labels in found.as_good_as.items() if name != alarm_rate.name}
    better = {name: labels for name, labels in worth.items() if labels >= _HELPED * found.labelled}
    for name, labels in sorted(better.items(), key=lambda one: -one[1])[:3]:
        yield sentence("few.as_good_as", name=metric(name), labels=round(labels), n=found.labelled)
    rest = [name for name in worth if name not in better]
    if rest or not better:
        yield sentence("few.no_help", name=metric(rest[0])) if rest else sentence("few.nothing_known")
