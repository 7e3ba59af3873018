"""An evaluation to look at: verdict, confusion table, figures, classes, largest errors, segments."""

from collections.abc import Callable, Iterator
from functools import partial

from stakes import metrics
from stakes.evaluation.base import Evaluation
from stakes.evaluation.cautions import marks, noted
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.several import SeveralEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.findings.facts import about
from stakes.findings.pictures import points_of
from stakes.language.numbers import write
from stakes.language.sentences import words
from stakes.metrics.ranking import auc
from stakes.metrics.rates import false_positive_rate, recall
from stakes.metrics.usual import CLASS_FIGURES
from stakes.views import pictures
from stakes.views.page import Page, TextTable, confusion_grid, figures_grid, short, without_repeated_reasons
from stakes.views.pages import segments

_MOST_CLASSES = 20
_MOST_ERRORS = 5
_MORE = "ev.to_rows(), ev.show(everything=True)"
_MORE_SEGMENTS, _MORE_SEGMENTS_TYPED = "ev.by_segment().to_rows()", "stakes evaluate … --by … --json"
"""How to see all segments: in Python, and on the command line."""


def page(evaluation: Evaluation, everything: bool = False, more: str = "") -> Page:
    """Lay out the verdict and the main figures, or everything."""
    figures = [(evaluation._find(name), estimate) for name, estimate in evaluation.figures.items()]
    shown = [(metric, one) for metric, one in figures if everything or metric.headline]
    kept, notes = (shown, []) if everything else without_repeated_reasons(shown)
    grids = list(_before(evaluation))
    grids += [figures_grid(kept, everything, marks(evaluation))] if kept else []
    grids += _after(evaluation)
    findings = [*evaluation.findings, *(noted(evaluation, main=False) if everything else ())]
    if evaluation._overview is not None:
        grids.append(segments.grid(evaluation._overview, _MORE_SEGMENTS if not more else _MORE_SEGMENTS_TYPED))
    hidden = len(figures) - len(shown)
    rest = words("figures.hidden", n=hidden, how=more or _MORE) if hidden else ""
    return Page.of(about(evaluation), findings, grids, notes, more=rest, pictures=list(_pictures(evaluation)))


def _before(evaluation: Evaluation) -> Iterator[TextTable]:
    """The confusion table, if decisions were taken between few enough classes."""
    table = None if isinstance(evaluation, RegressionEvaluation | SeveralEvaluation) else evaluation.confusion
    if table is not None and len(table.decisions) <= _MOST_CLASSES:
        yield confusion_grid(table)


def _after(evaluation: Evaluation) -> Iterator[TextTable]:
    """What belongs to one task only: the largest errors, each class against the rest, the most confused classes."""
    if isinstance(evaluation, RegressionEvaluation):
        head = [words("largest.row"), *(words(f"predicted.{name}") for name in ("truth", "prediction", "error"))]
        rows = [
            ("–" if one.row is None else f"{one.row:,}",
             *(write(v, "short") for v in (one.truth, one.prediction, one.error)))
            for one in evaluation.numbered_errors[:_MOST_ERRORS]
        ]  # fmt: skip
        if rows:
            yield TextTable(head, rows, words=(), title=words("largest.title"))
    elif isinstance(evaluation, ManyClassEvaluation):
        yield from _classes(evaluation)
    elif isinstance(evaluation, SeveralEvaluation):
        yield from _each(evaluation)


def _each(evaluation: SeveralEvaluation) -> Iterator[TextTable]:
    """The figures of each label, output or level."""
    each = {name: evaluation.each_figures[name] for name in evaluation.shown_names[:_MOST_CLASSES]}
    if not each:
        return
    names = list(next(iter(each.values())))
    rows = [
        (name, write(evaluation.support[name], "count"), *(write(one[figure].value) for figure in names))
        for name, one in each.items()
    ]
    head = (words(f"each.of_{evaluation.task}"), words("segments.rows"), *map(short, names))
    yield TextTable(head, rows, title=words(f"each.{evaluation.task}"))


def _classes(evaluation: ManyClassEvaluation) -> Iterator[TextTable]:
    shown = evaluation.classes[:_MOST_CLASSES]
    names = [n for n in CLASS_FIGURES if metrics.find(n).tally in evaluation._against_rest[evaluation.classes[0]]]
    rows = [
        (name, write(evaluation.support[name], "count"), *(write(evaluation._of_class(n, name).value) for n in names))
        for name in shown
    ]
    cut = len(shown) < len(evaluation.classes)
    title = words("classes.first", shown=len(shown), n=len(evaluation.classes)) if cut else ""
    if names:
        yield TextTable((words("classes.class"), words("segments.rows"), *map(short, names)), rows, title=title)
    pairs = [] if evaluation._decided is None else evaluation._decided.most_confused(5)
    if pairs:
        confused = [(truth, decided, write(n, "count"), write(share, "percent")) for truth, decided, n, share in pairs]
        head = [words(f"confused.{name}") for name in ("truth", "decision", "rows", "share")]
        yield TextTable(head, confused, words=(0, 1), title=words("confused.title"))


def _pictures(evaluation: Evaluation) -> Iterator[Callable[[], str]]:
    """What a notebook draws beside the page."""
    if isinstance(evaluation, RegressionEvaluation):
        points = points_of(evaluation.errors)
        if points is not None:
            yield lambda: pictures.predicted(points, evaluation["r2"])
        return
    if isinstance(evaluation, SeveralEvaluation):
        return
    if isinstance(evaluation, TwoClassEvaluation) and evaluation.scores is not None and 0 < evaluation.prevalence < 1:
        yield partial(_roc, evaluation)
    table = evaluation.confusion
    if table is not None and max(table.counts.shape) <= pictures.MOST_CLASSES:
        yield partial(pictures.confusion, table)


def _roc(evaluation: TwoClassEvaluation) -> str:
    decided = evaluation.confusion is not None and evaluation.confusion.of_pair
    point = [evaluation[rate.name] for rate in (false_positive_rate, recall)] if decided else []
    return pictures.roc(evaluation.curve("roc"), evaluation[auc.name], point)
