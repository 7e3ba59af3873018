"""Views render and never compute: what they show comes from findings, and is the same number wherever it is shown."""

import ast
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import stakes
from stakes.findings.pages import payload_of
from stakes.views import terminal

mpl.use("Agg")

VIEWS = Path(stakes.__file__).parent / "views"
COMPUTING = re.compile(r"scipy|stakes\.uncertainty|stakes\.decisions")
COUNTING = {"average", "bincount", "cov", "histogram", "histogram2d", "median", "std", "var"}


# ── nothing is computed ──────────────────────────────────────────────────────────────────────────────────────────
def computations(tree):
    """Functions that a module takes from rooms of statistics (types and constants are fine), and NumPy's own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if COMPUTING.match(one.name))
        elif isinstance(node, ast.ImportFrom) and COMPUTING.match(node.module or ""):
            yield from (one.name for one in node.names if one.name[0].islower() or node.module.startswith("scipy"))
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "np" and node.attr in COUNTING:
            yield f"np.{node.attr}"


@pytest.mark.parametrize("file", sorted(VIEWS.rglob("*.py")), ids=lambda file: str(file.relative_to(VIEWS)))
def test_no_view_computes(file):
    assert list(computations(ast.parse(file.read_text()))) == []


def test_what_computes_is_noticed():
    found = "import scipy.stats\nfrom stakes.uncertainty.interval import wilson\nnp.histogram(x)\n"
    fine = "from stakes.uncertainty.permutation import PermutationTest\nnp.linspace(0, 1)\n"
    assert list(computations(ast.parse(found + fine))) == ["scipy.stats", "wilson", "np.histogram"]


# ── the same numbers ─────────────────────────────────────────────────────────────────────────────────────────────
def section(thing, kind):
    return next(one for one in payload_of(thing)["sections"] if one["kind"] == kind)


def drawn(thing, kind, **options):
    """The artists of a plot; the figure is closed behind it."""
    from matplotlib import pyplot

    try:
        return thing.plot(kind, **options).artists
    finally:
        pyplot.close("all")


def polyline(svg):
    """The places of the thick line of a small picture."""
    (points,) = re.findall(r'<polyline points="([^"]+)" fill="none" stroke="[^"]+" stroke-width="1.8"', svg)
    return np.array([[float(place) for place in pair.split(",")] for pair in points.split()])


random_rows = pytest.mark.parametrize(("seed", "rows"), [(0, 30), (1, 77), (2, 200)])


@random_rows
def test_mean_errors_of_tenths_are_the_same_in_plot_and_page(seed, rows):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=rows).round(3)
    prediction = truth + rng.normal(size=rows).round(2)
    ev = stakes.evaluate(truth=truth, prediction=prediction, task="regression")
    x, y = drawn(ev, "residuals")["means"].lines[0].get_data()
    means = section(ev, "predicted")["means"]
    assert (list(x), list(y)) == (means["x"], means["mean"])
    middle = np.array([(prediction < one).mean() + (prediction == one).mean() / 2 for one in prediction])
    tenth = (10 * middle).astype(int)  # equal predictions stay together
    by_hand = [np.mean((truth - prediction)[tenth == one]) for one in np.unique(tenth)]
    assert means["mean"] == pytest.approx(by_hand)


@random_rows
def test_curves_and_histograms_are_the_same_in_plot_notebook_and_page(seed, rows):
    rng = np.random.default_rng(seed)
    truth = np.arange(rows) % 2
    score = rng.beta(1 + truth, 2).round(2)
    ev = stakes.evaluate(truth=truth, score=score)
    x, y = drawn(ev, "roc")["line"].get_data()
    explorer = section(ev, "explorer")
    stops = explorer["stops"]
    shown = {(fp / explorer["N"], tp / explorer["P"]) for fp, tp in zip(stops["fp"], stops["tp"], strict=True)}
    assert shown <= set(zip(x, y, strict=True))
    line = polyline(ev._repr_html_())
    (left, low), (right, high) = line[0], line[-1]
    small = (line - line[0]) / [right - left, high - low]
    assert small == pytest.approx(np.stack([x, y], 1), abs=0.002)  # drawn to a tenth of a point
    bars = drawn(ev, "histograms", bins=40)["bars"]
    for bar, name, size in zip(bars, ("positives", "negatives"), (explorer["P"], explorer["N"]), strict=True):
        assert bar.get_data().edges == pytest.approx(explorer["histogram"]["edges"])
        assert bar.get_data().values * size == pytest.approx(explorer["histogram"][name])


@pytest.mark.parametrize("null", [np.zeros(5), np.full(9, 0.5), np.random.default_rng(3).normal(size=60)])
def test_shuffles_are_the_same_in_plot_and_page(null):
    test = stakes.PermutationTest("auc", 0.5, 0.5, null, len(null), "m", "")
    bars, page = drawn(test, "null")["bars"].get_data(), section(test, "null")
    assert list(bars.values) == page["counts"]
    assert list(bars.edges) == page["edges"]
    assert sum(page["counts"]) == len(null)


# ── in the terminal ──────────────────────────────────────────────────────────────────────────────────────────────
def test_six_million_rows_are_written_in_full():
    table = stakes.Confusion(("no", "yes"), ("no", "yes"), np.array([[3_500_000, 500_000], [400_000, 1_600_000]]))
    text = terminal.text(stakes.evaluate(table, positive="yes"))
    assert "\n6,000,000 rows · " in text
    assert "3,500,000" in text
    assert not re.search(r"\d[eE][+-]?\d", text)


def test_a_page_as_text_has_no_colours(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" not in str(stakes.evaluate(truth=[0, 1] * 20, score=[0.2, 0.8] * 20))


def test_ways_to_decide_say_which_one_is_recommended():
    random = np.random.default_rng(0)
    truth = random.random(300) < 0.4
    score = np.clip(0.5 * truth + 0.6 * random.random(300), 0, 1)
    for asked in ({"costs": stakes.Costs(miss=5, false_alarm=1)}, {"best": "f1"}):
        found = stakes.decide(truth=truth, score=score, **asked)
        (row,) = (row for row in found.to_rows() if row["recommended"])
        assert row["way"] == found.way
        own = found.cost if found.costs is not None else row["value"]
        assert row["value"] == float(own)
        assert str(found).count("(recommended)") == 1
