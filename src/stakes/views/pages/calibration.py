"""Calibration to look at: is it honest, slope and shift, what losses are made of, what recalibration would do."""

import math
from collections.abc import Iterator, Mapping, Sequence

from stakes.decisions.calibration.calibration import Calibration, ClassCalibrations
from stakes.decisions.calibration.decomposition import Decomposition
from stakes.decisions.calibration.numbers import NumberCalibration
from stakes.evaluation.recalibrating import Recalibration
from stakes.findings.facts import about
from stakes.language.numbers import write
from stakes.language.sentences import metric_name, words
from stakes.metrics import Estimate
from stakes.views.page import Page, TextTable, between, why_undefined

_PARTS = ("score", "miscalibration", "discrimination", "uncertainty")


def page(found: Calibration | ClassCalibrations, everything: bool = False, more: str = "") -> Page:
    """Lay out the verdict, the line of the log odds, and the parts of the losses."""
    return Page.of(about(found), found.findings, grids=list(_grids(found)))


def number_page(found: NumberCalibration, everything: bool = False, more: str = "") -> Page:
    """Lay out the parts of the losses, and the mean truth beside the prediction."""
    keys = ("predicted.prediction", "segments.rows", "predicted.truth", "calibration.limits")
    rows = [
        (write(one["mean_prediction"]), write(one["rows"], "count"), write(one["mean_truth"]), _limits(one))
        for one in found.to_rows()
    ]
    grids = [_parts([found.squared_error, found.quantile_loss()]), TextTable([words(key) for key in keys], rows)]
    return Page.of(about(found), (), grids=grids)


def _limits(row: Mapping[str, float]) -> str:
    return "–" if math.isnan(row["low"]) else f"{write(row['low'])} – {write(row['high'])}"


def recalibration_page(found: Recalibration, everything: bool = False, more: str = "") -> Page:
    """Lay out both verdicts, the losses before and after, and the calibration as it stands."""
    grids = [_methods(found), *([] if found.calibration is None else _grids(found.calibration))]
    return Page.of(about(found), found.findings, grids=grids)


def _grids(found: Calibration | ClassCalibrations) -> Iterator[TextTable]:
    if isinstance(found, Calibration):
        yield _line(found)
        yield _parts([found.brier, found.log_loss])
    else:
        yield _lines(found)
        yield _parts([found.brier])


def _line(found: Calibration) -> TextTable:
    """Slope and shift of two classes, with how to read them."""
    rows = {
        "slope": found.slope,
        "intercept": found.intercept,
        "shift": found.intercept_at_slope_1,
        "ece": found.ece,
    }
    head = [words(f"calibration.{name}") for name in ("figure", "value", "limits", "meaning")]
    shown = [(_called(name, one), write(one.value), between(one), _meaning(name, one)) for name, one in rows.items()]
    return TextTable(head, shown, words=(0, 3), title=words("calibration.line"), below=3)


def _called(name: str, found: Estimate) -> str:
    return metric_name(found.name) if name == "ece" else words(f"calibration.{name}")


def _meaning(name: str, found: Estimate) -> str:
    return words(f"calibration.{name}_means") if found.defined else why_undefined(found)


def _lines(found: ClassCalibrations) -> TextTable:
    """Slope and shift of each class against the rest."""
    names = ("slope", "limits", "shift", "limits")
    head = [words("classes.class"), words("segments.rows"), *(words(f"calibration.{name}") for name in names)]
    rows = [
        (
            name,
            write(float(one.table.P), "count"),
            *(cell for each in (one.slope, one.intercept_at_slope_1) for cell in (write(each.value), between(each))),
        )
        for name, one in found.classes.items()
    ]
    return TextTable(head, rows, title=words("calibration.line"))


def _parts(losses: Sequence[Decomposition]) -> TextTable:
    """What the losses are made of."""
    head = [words(f"calibration.{name}").replace("\xad", "") for name in ("loss", *_PARTS)]  # pages may break words
    rows = [(metric_name(one.score.name), *(write(getattr(one, name).value) for name in _PARTS)) for one in losses]
    return TextTable(head, rows, title=words("calibration.parts"))


def _methods(found: Recalibration) -> TextTable:
    """The losses as they stand and after each method."""
    names = list(found.losses_after[found.method])[:-1]
    head = [
        words("recalibration.method"),
        *map(metric_name, names),
        words("recalibration.change"),
        words("ways.limits"),
    ]
    rows = [(words("recalibration.as_it_stands"), *_losses(found, names, None), "–", "–")] if found.before else []
    for method, change in found.changes.items():
        name = words(f"recalibration.{method}")
        rows.append((name, *_losses(found, names, method), write(change.value), between(change)))
    return TextTable(head, rows)


def _losses(found: Recalibration, names: Sequence[str], method: str | None) -> list[str]:
    return [write(found.loss(name, method)) for name in names]
