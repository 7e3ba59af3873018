"""Small pictures for notebooks as SVG text: no library, a few kilobytes, names escaped, legible on light and dark."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TypeVar

import numpy as np

from stakes.decisions.curves.curve import Curve
from stakes.findings.pictures import Points, density, shares_of_truth
from stakes.frozen import dataclass
from stakes.language.numbers import write
from stakes.language.sentences import Chip, metric_name, words
from stakes.metrics import Estimate
from stakes.tallies import Confusion
from stakes.tallies.arithmetic import Array
from stakes.text import visible

BLUE, ORANGE = "#2A8FD0", "#E0702A"
"""Colours that stand out on white and on black; everything else takes the colour of the notebook's text."""

MOST_CLASSES = 20
_WITH_NUMBERS = 10
_MOST_DOTS = 400
_MOST_PAIRS = 15
_LINE_POINTS = 200
_GRID = 36

Number = TypeVar("Number", float, Array)


@dataclass(frozen=True)
class _Frame:
    """A square (or flat) field with room for words around it; x and y run from ``low`` to ``high``."""

    x: tuple[float, float]
    y: tuple[float, float]
    left: float = 46
    top: float = 22
    width: float = 200
    height: float = 200
    right: float = 14
    bottom: float = 36

    def across(self, x: Number) -> Number:
        """Where x lies."""
        return self.left + (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1) * self.width

    def down(self, y: Number) -> Number:
        """Where y lies, counted from the top."""
        return self.top + self.height - (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1) * self.height

    def svg(self, title: str, parts: Iterable[str]) -> str:
        """Put parts into a picture of the right size."""
        width, height = self.left + self.width + self.right, self.top + self.height + self.bottom
        width = max(width, self.left + 6.0 * len(title))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="10" fill="currentColor">'
            f"<title>{escape(title)}</title>{_text(self.left, 12, title, size=11)}{''.join(parts)}</svg>"
        )

    def edges(self, x_name: str, y_name: str) -> Iterable[str]:
        """The two axes with their ends and names."""
        left, low, right = self.left, self.top + self.height, self.left + self.width
        yield _line([(left, self.top), (left, low), (right, low)], "currentColor", 0.8, 'opacity="0.6"')
        for value, where in zip(self.x, ("start", "end"), strict=True):
            yield _text(self.across(value), low + 13, write(value, "short"), where)
        for value in self.y:
            yield _text(left - 4, self.down(value) + 3, write(value, "short"), "end")
        yield _text((left + right) / 2, low + 28, x_name, "middle")
        middle = self.top + self.height / 2
        yield _text(12, middle, y_name, "middle", f' transform="rotate(-90 12 {middle:.0f})"')


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "", size: float = 10) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}"{more}>{escape(text)}</text>'


def _line(points: Iterable[tuple[float, float]], colour: str, width: float, more: str = "") -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="{width:g}" {more}/>'


def _dot(x: float, y: float, colour: str, size: float = 3.5, more: str = "") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" fill="{colour}" {more}/>'


def _box(x: float, y: float, width: float, height: float, colour: str, strength: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}" '
        f'fill-opacity="{strength:.2f}"/>'
    )


def _short(name: str, most: int) -> str:
    """A name from data as text, cut to a length."""
    name = visible(name)
    return name if len(name) <= most else f"{name[: most - 1]}…"


# ── the pictures ─────────────────────────────────────────────────────────────────────────────────────────────────
def roc(curve: Curve, area: Estimate, point: Sequence[Estimate] = ()) -> str:
    """Draw a ROC curve with its band, its area and the (false positive rate, recall) of the threshold in use."""
    frame = _Frame((0.0, 1.0), (0.0, 1.0))
    kept = np.unique(np.linspace(0, len(curve.x) - 1, _LINE_POINTS).astype(int))
    parts = list(frame.edges(metric_name("false_positive_rate"), metric_name("recall")))
    band = curve.band
    if not np.isnan(band.low).all():
        there, back = zip(band.x, band.high, strict=True), zip(band.x[::-1], band.low[::-1], strict=True)
        ends = " ".join(f"{frame.across(x):.1f},{frame.down(y):.1f}" for x, y in (*there, *back))
        parts.append(f'<polygon points="{ends}" fill="{BLUE}" fill-opacity="0.22"/>')
    diagonal = [(frame.across(end), frame.down(end)) for end in (0.0, 1.0)]
    parts.append(_line(diagonal, "currentColor", 0.8, 'stroke-dasharray="4 3" opacity="0.6"'))
    steps = zip(frame.across(curve.x[kept]), frame.down(curve.y[kept]), strict=True)
    parts.append(_line(steps, BLUE, 1.8))
    if len(point) == 2 and all(figure.defined for figure in point):
        parts.append(_dot(frame.across(point[0].value), frame.down(point[1].value), ORANGE))
    return frame.svg(f"ROC, {Chip.of(area).words}", parts)


def confusion(table: Confusion) -> str:
    """Draw a confusion table: the darker, the larger the share of the true class."""
    rows, columns = len(table.truths), len(table.decisions)
    numbers = max(rows, columns) <= _WITH_NUMBERS
    cell = 62 if columns <= 4 else 44 if numbers else 20
    names = 12 if columns <= 4 else 14
    left = 24 + 6 * max(len(_short(name, names)) for name in table.truths)
    below = 20 if columns <= 4 else 14 + 4.5 * max(len(_short(name, names)) for name in table.decisions)
    frame = _Frame((0, columns), (0, rows), left, width=cell * columns, height=cell * rows, bottom=below + 18, right=24)
    shares = shares_of_truth(table)
    parts = []
    for (i, j), share in np.ndenumerate(shares):
        x, y = frame.left + j * cell, frame.top + i * cell
        parts.append(_box(x, y, cell - 1, cell - 1, BLUE, 0.05 + 0.6 * float(share)))
        if numbers:
            parts.append(_text(x + cell / 2, y + cell / 2 - 2, write(float(table.counts[i, j]), "count"), "middle"))
            parts.append(_text(x + cell / 2, y + cell / 2 + 11, write(share, "percent"), "middle", ' opacity="0.75"'))
    return frame.svg(words("confusion.caption"), [*parts, *_names(frame, table, cell, names)])


def _names(frame: _Frame, table: Confusion, cell: float, most: int) -> Iterable[str]:
    """The truths beside the rows, the decisions under the columns, rotated where they are many."""
    for i, name in enumerate(table.truths):
        yield _text(frame.left - 5, frame.top + (i + 0.5) * cell + 3, _short(name, most), "end")
    y = frame.top + frame.height + 13
    for j, name in enumerate(table.decisions):
        x = frame.left + (j + 0.5) * cell
        rotation = f' transform="rotate(-40 {x:.1f} {y:.1f})"' if len(table.decisions) > 4 else ""
        yield _text(x, y, _short(name, most), "end" if rotation else "middle", rotation)


def predicted(points: Points, r2: Estimate) -> str:
    """Draw predictions against truths: dots where rows are few, otherwise how densely they lie."""
    truth, prediction, weight = points.truth, points.prediction, points.weight
    ends = float(min(truth.min(), prediction.min())), float(max(truth.max(), prediction.max()))
    frame = _Frame(ends, ends, left=56)
    parts = list(frame.edges(words("predicted.truth"), words("predicted.prediction")))
    diagonal = [(frame.across(end), frame.down(end)) for end in ends]
    parts.append(_line(diagonal, "currentColor", 0.8, 'stroke-dasharray="4 3" opacity="0.6"'))
    if len(truth) <= _MOST_DOTS:
        places = zip(frame.across(truth), frame.down(prediction), strict=True)
        parts += [_dot(x, y, BLUE, 2, 'fill-opacity="0.55"') for x, y in places]
    else:
        parts += _density(frame, truth, prediction, weight)
    return frame.svg(Chip.of(r2).words, parts)


def _density(frame: _Frame, truth: Array, prediction: Array, weight: Array) -> Iterable[str]:
    counts, *edges = density(truth, prediction, weight, _GRID)
    across, down = frame.across(np.clip(edges[0], *frame.x)), frame.down(np.clip(edges[1], *frame.y))
    for i, j in zip(*np.nonzero(counts), strict=True):
        strength = 0.1 + 0.8 * float(np.log1p(counts[i, j]) / np.log1p(counts.max()))
        yield _box(across[i], down[j + 1], across[i + 1] - across[i], down[j] - down[j + 1], BLUE, strength)


def forest(title: str, lines: Sequence[tuple[str, float, float | None, float | None]]) -> str:
    """Draw differences (name, value, low, high) one under another, with a line at 0."""
    shown = lines[:_MOST_PAIRS]
    ends = [end for _, *numbers in shown for end in numbers if end is not None]
    span = min(0.0, *ends), max(0.0, *ends)
    left = 20 + 5.6 * max(len(_short(name, 40)) for name, *_ in shown)
    frame = _Frame(span, (0, len(shown)), left, width=220, height=20 * len(shown), bottom=20, right=40)
    low = frame.top + frame.height
    zero = [(frame.across(0.0), frame.top), (frame.across(0.0), low)]
    parts = [_line(zero, "currentColor", 0.8, 'stroke-dasharray="4 3" opacity="0.6"')]
    parts += [_text(frame.across(end), low + 13, write(end, "short"), "middle") for end in sorted({0.0, *span})]
    for place, (name, value, least, most) in enumerate(shown):
        y = frame.top + 20 * place + 10
        parts.append(_text(left - 8, y + 3, _short(name, 40), "end"))
        if least is not None and most is not None:
            parts.append(_line([(frame.across(least), y), (frame.across(most), y)], BLUE, 2))
        parts.append(_dot(frame.across(value), y, BLUE))
    cut = "" if len(shown) == len(lines) else f" ({words('differences.cut', shown=len(shown), n=len(lines))})"
    return frame.svg(title + cut, parts)


def network(arrows: Sequence[tuple[str, str]], places: Mapping[str, tuple[float, float]], fixed: Sequence[str]) -> str:
    """Draw a system from left to right: circles for what is uncertain, double ones for what follows, a square cost."""
    across, down, radius = 120.0, 62.0, 17.0
    lowest = min(y for _, y in places.values())
    at = {name: (40 + across * x, 44 + down * (y - lowest)) for name, (x, y) in places.items()}
    width, height = max(x for x, _ in at.values()) + 60, max(y for _, y in at.values()) + 44
    head = '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    parts = [f'<defs>{head}<path d="M0,0 L8,4 L0,8 z" fill="currentColor"/></marker></defs>']
    for one, other in arrows:
        (x0, y0), (x1, y1) = at[one], at[other]
        far = float(np.hypot(x1 - x0, y1 - y0)) or 1.0
        dx, dy = radius * (x1 - x0) / far, radius * (y1 - y0) / far
        ends = [(x0 + dx, y0 + dy), (x1 - dx, y1 - dy)]
        parts.append(_line(ends, "currentColor", 1, 'opacity="0.45" marker-end="url(#head)"'))
    for name, (x, y) in at.items():
        rims = (radius, radius - 3.5) if name in fixed else (radius,)
        parts += [
            _box(x - radius, y - radius, 2 * radius, 2 * radius, ORANGE, 0.35)
            if name == "cost"
            else _dot(x, y, BLUE, rim, 'fill-opacity="0.15" stroke="currentColor"')
            for rim in rims
        ]
        called = words(f"system.{name}") if name in ("truth", "decision", "cost") else _short(name, 20)
        parts.append(_text(x, y + radius + 12, called, "middle"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" fill="currentColor">{"".join(parts)}</svg>'
    )
