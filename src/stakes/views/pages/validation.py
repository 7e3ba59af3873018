"""A validation to look at: every figure on rows that the models had not seen, beside it on those they had."""

from stakes import metrics
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, reason_text, words
from stakes.validation.result import FigureOverFolds, Validation
from stakes.views.page import Page, TextTable, between, sure_of


def page(found: Validation, everything: bool = False, more: str = "") -> Page:
    """Lay out the main figures, or all of them, pooled, over the folds and on the training rows."""
    names = [name for name in found.pooled.figures if everything or metrics.find(name).headline]
    shown = [found.figure(name) for name in names]
    sure = sure_of(found.pooled.sampling.confidence)
    heads = ("name", "pooled", "baseline", "folds", "training", "all_rows")
    name, pooled, baseline, folds, *fitted = (words(f"validation.{one}") for one in heads)
    single = all(fold.rows == 1 for fold in found.folds)
    grid = TextTable([name, pooled, sure, baseline, folds, *fitted], [_cells(one, single) for one in shown])
    missing = [f"{metric_name(one.name)} ({write(one.undefined, 'count')})" for one in shown if one.undefined]
    notes = [words("validation.undefined", n=len(found.folds), figures=", ".join(missing))] if missing else []
    hidden = len(found.pooled.figures) - len(names)
    rest = words("figures.hidden", n=hidden, how=more or "v.to_rows()") if hidden else ""
    verdict = [one for one in found.pooled.findings if one.tone != "open"]
    return Page.of(about(found), verdict, grids=[grid], notes=[*notes, *map(reason_text, found.notes)], more=rest)


def _cells(found: FigureOverFolds, single: bool) -> tuple[str, ...]:
    """A row of the table; folds of a single row have no figures worth the name."""
    pooled = (write(found.pooled.value), between(found.pooled), write(found.pooled.baseline))
    folds = "–" if single else f"{write(found.mean)} ± {write(found.spread)}"
    fitted = (write(found.training.value), write(found.all_rows.value))
    return (metric_name(found.name), *pooled, folds, *fitted)
