"""The pages of several classes, numbers, comparisons, permutation tests and decisions in a real browser, offline."""

import csv
import io
import math

import numpy as np
import pytest

from stakes.language import TRANSLATED
from stakes.language.texts import texts
from tests.views.pages import CLASSES, EVIL, PAGES, nothing_stands_in_the_way, scored_rows
from tests.views.test_report_browser import A4, clipped, sheets


@pytest.fixture(scope="module")
def things():
    return {name: make() for name, make in PAGES.items()}


@pytest.fixture(scope="module")
def files(things, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, thing in things.items():
        thing.report(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in things}


def values(page, selector):
    """The full precision behind all numbers within an element; NaN where one is undefined."""
    found = page.locator(f"{selector} [data-value]").evaluate_all("all => all.map(one => one.dataset.value)")
    return [math.nan if text == "" else float(text) for text in found]


def saved(page, selector, kind="CSV"):
    with page.expect_download() as download:
        page.locator(f"{selector} button", has_text=kind).first.click()
    return download.value.path().read_text()


def same(found, expected):
    assert found == pytest.approx([math.nan if one is None else float(one) for one in expected], rel=1e-9, nan_ok=True)


# ── every page ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.spread(2)
def test_every_page_is_for_everybody_in_every_language(opened, files, name):
    page = opened(files[name], color_scheme="light")
    nothing_stands_in_the_way(page)
    assert page.evaluate("document.scripts.length") == 2
    page.set_viewport_size({"width": 360, "height": 740})
    for lang in TRANSLATED:
        page.select_option("#language", lang)
        assert page.locator("#verdict-title").inner_text() == texts(lang)["verdict.title"]
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        asked = "".join(page.locator(".asked").all_inner_texts())
        text = page.locator("body").inner_text().replace(asked, "").replace(EVIL, "").lower()
        words = ("the ", " of ", "{", "undefined", "nan", "truth", "score")
        assert [word for word in words if word in text] == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.spread(2)
def test_every_chart_tells_its_points_and_can_be_saved(opened, files, name):
    page = opened(files[name])
    broken = "all => all.filter(e => [...e.attributes].some(a => /NaN|undefined|Infinity/.test(a.value))).length"
    charts = page.locator("figure").count()
    for number, drawn in enumerate(page.locator("figure svg.chart").all()):
        drawn.focus()
        keys = ("Home", "End") if number else ("Home", "ArrowRight", "ArrowDown", "End")
        told = [page.keyboard.press(key) or page.evaluate(READ) for key in keys]
        assert all(len(text) > 5 for text in told)
        assert len(set(told)) > 1
    assert page.locator("figure svg *").evaluate_all(broken) == 0
    assert page.locator("figure svg.chart").count() == charts
    if charts:
        assert saved(page, "figure", "SVG").startswith("<svg")
    tables = page.evaluate(TABLES)
    assert len(tables) == charts
    for table in tables:
        head, *rows = csv.reader(io.StringIO(table))
        assert rows
        assert {len(row) for row in rows} == {len(head)}
        assert not [cell for row in rows for cell in row if cell.startswith("=")]


READ = "() => document.activeElement.closest('figure').querySelector('.readout').innerText"

# What the first button for a table of each chart would save; that it is saved is tried chart by chart below.
TABLES = """() => {
  const made = [];
  URL.createObjectURL = (blob) => { made.push(blob.text()); return "#"; };
  HTMLAnchorElement.prototype.click = () => {};
  for (const chart of document.querySelectorAll("figure")) {
    [...chart.querySelectorAll("button")].find((button) => button.textContent.includes("CSV")).click();
  }
  return Promise.all(made);
}"""


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def test_the_confusion_table_is_that_of_python(opened, files, things):
    ev = things["many classes"]
    page = opened(files["many classes"])
    counts = ev.confusion.counts
    same(values(page, "#matrix table"), np.column_stack([counts, counts.sum(1)]).ravel())
    texts_of = "all => all.map(one => one.textContent)"
    shares = page.locator("#matrix-chart .heat-text:not(.second)").evaluate_all(texts_of)
    page.select_option("#matrix-mode", "counts")
    numbers = page.locator("#matrix-chart .heat-text:not(.second)").evaluate_all(texts_of)
    shown = counts[counts > 0]
    assert numbers == [f"{count:,}" for count in shown]
    exact = (counts / counts.sum(1, keepdims=True))[counts > 0]
    assert [float(one.strip("%<>")) for one in shares] == pytest.approx((100 * exact).tolist(), abs=0.501)


def test_the_keys_walk_through_the_table_row_by_row(opened, files, things):
    page = opened(files["many classes"])
    counts = things["many classes"].confusion.counts
    chart = page.locator("#matrix-chart svg.chart")
    chart.focus()
    for key, i, j in (("Home", 0, 0), ("ArrowDown", 1, 0), ("ArrowRight", 1, 1), ("ArrowUp", 0, 1)):
        chart.press(key)
        told = page.locator("#matrix-chart .readout").inner_text()
        assert told.startswith(f"“{CLASSES[i]}” taken for “{CLASSES[j]}”: {counts[i, j]:,} row")


def test_cells_can_be_read_in_both_themes(opened, files):
    page = opened(files["many classes"], color_scheme="light")
    for _ in ("light", "dark"):
        assert page.evaluate(CONTRAST) >= 4.5
        page.click("#theme")


CONTRAST = """() => {
  const colour = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) => 0.2126 * light(rgb[0]) + 0.7152 * light(rgb[1]) + 0.0722 * light(rgb[2]);
  const style = ([kind, name]) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", kind);
    one.setAttribute("class", name);
    document.querySelector("#matrix-chart .marks").append(one);
    const fill = colour(getComputedStyle(one).fill);
    one.remove();
    return fill;
  };
  const [ground, heat, weak, strong] = [
    ["rect", "heat-ground"], ["rect", "heat"], ["text", "heat-text"], ["text", "heat-text strong"],
  ].map(style);
  let least = 99;
  for (let i = 0; i <= 1000; i += 1) {
    const strength = i / 1000;
    const mixed = luminance(ground.slice(0, 3).map((c, k) => c * (1 - strength) + heat[k] * strength));
    const ink = luminance(strength >= 0.74 ? strong : weak);
    least = Math.min(least, (Math.max(mixed, ink) + 0.05) / (Math.min(mixed, ink) + 0.05));
  }
  return least;
}"""


def test_a_chosen_class_has_its_own_curves_and_figures(opened, files, things):
    ev = things["many classes"]
    page = opened(files["many classes"])
    before = page.locator("#versus-roc path.line:not(.behind):not(.diagonal)").get_attribute("d")
    for i, name in enumerate(CLASSES):
        page.select_option("#versus-class", str(i))
        figures = [ev.interval((metric, name)).value for metric in ("auc", "average_precision")]
        same(values(page, "#versus-figures"), figures)
    assert page.locator("#versus-roc path.line:not(.behind):not(.diagonal)").get_attribute("d") != before
    page.select_option("#language", "ru")  # what was chosen stays
    assert page.locator("#versus-class").input_value() == "3"


def test_class_figures_are_those_of_python(opened, files, things):
    ev = things["many classes"]
    page = opened(files["many classes"])
    names = ("recall", "precision", "f1", "false_positive_rate", "auc")
    expected = [[ev.support[of], *(ev[name, of].value for name in names)] for of in CLASSES]
    same(values(page, "#classes table"), np.ravel(expected))
    page.select_option("#classes-choice", "2")
    rows = list(csv.reader(io.StringIO(saved(page, "#classes-chart"))))[1:]
    for row, of in zip(rows, CLASSES, strict=True):
        estimate = ev.interval(("f1", of))
        assert [float(one) for one in row[2:]] == pytest.approx([estimate.value, estimate.low, estimate.high], rel=1e-9)
    pairs = [[count, share] for _, _, count, share in ev.most_confused()]
    same(values(page, "#confused table"), np.ravel(pairs))


# ── numbers, comparison, chance, decisions ───────────────────────────────────────────────────────────────────────
def test_numbers_are_those_of_python(opened, files, things):
    ev = things["numbers"]
    page = opened(files["numbers"])
    same(values(page, "#largest table"), np.ravel([[w.truth, w.prediction, w.error] for w in ev.largest_errors]))
    same(values(page, "#figures table"), [one.value for one in _main_first(ev)])
    chips = values(page, "#verdict [data-question='verdict.better']")
    same(chips, [ev["r2"].value, ev["mean_absolute_error"].value])
    page.hover("#predicted-chart svg.chart")
    assert "truth" in page.locator("#predicted-chart .readout").inner_text()


def _main_first(ev):
    return sorted(ev.figures.values(), key=lambda one: not ev._find(one.name).headline)


def test_differences_and_ranking_are_those_of_python(opened, files, things):
    compared = things["comparison"]
    page = opened(files["comparison"])
    for place, metric in enumerate(compared.metrics):
        page.select_option("#differences-metric", str(place))
        pairs = [pair for pair in compared.pairs if pair.metric == metric]
        same(
            values(page, "#differences table"), np.ravel([[p.difference, p.p_value, p.adjusted_p_value] for p in pairs])
        )
        assert page.locator("#differences-chart .marks rect.band").count() == 1  # the margin
    same(values(page, "#ranking"), [place.estimate.value for place in compared.table])
    flips = [list(vars(pair.flipped).values()) for pair in compared.pairs if pair.metric == "auc"]
    same(values(page, "#agreement table"), np.ravel(flips))


def test_curves_of_models_run_through_their_counts(opened, files, things):
    page = opened(files["comparison"])
    truth, scores = scored_rows()
    sick = truth == "sick"
    rows = list(csv.reader(io.StringIO(saved(page, "#together-roc"))))[1:]
    assert {row[0] for row in rows} == set(scores)
    for name, threshold, alarms, found in rows[5::60]:
        called = scores[name] >= float(threshold)
        assert float(found) == pytest.approx(called[sick].mean(), rel=1e-9)
        assert float(alarms) == pytest.approx(called[~sick].mean(), rel=1e-9)


def test_the_seen_figure_stands_beside_the_shuffled_ones(opened, files, things):
    test = things["permutation"]
    page = opened(files["permutation"])
    same(values(page, "#verdict"), [test.value, test.p_value])
    seen = float(page.locator("#null-chart .marks .line.seen").get_attribute("x1"))
    bars = page.locator("#null-chart .marks rect").evaluate_all("all => all.map(one => one.x.baseVal.value)")
    assert seen > max(bars)


def test_a_decision_is_that_of_python(opened, files, things):
    found = things["decision"]
    page = opened(files["decision"])
    ways = [[found.cost.value]] + [
        [cost.value, found.savings[name].value] for name, cost in found.alternatives.items() if cost is not found.cost
    ]
    same(values(page, "#ways table"), [1000 * one for way in ways for one in way])
    same(
        values(page, "#verdict [data-question='decided.price']"),
        [1000 * found.corrected.value, 1000 * found.apparent.value],
    )
    rows = list(csv.reader(io.StringIO(saved(page, "#thresholds-chart"))))[1:]
    curve = found.over_thresholds
    assert [float(row[1]) for row in rows] == pytest.approx((1000 * curve.y).tolist(), rel=1e-9)
    rule = float(page.locator("#thresholds-chart .marks .line.seen").get_attribute("x1"))
    ends = "all => all.map(({ x, width }) => [x.baseVal.value, x.baseVal.value + width.baseVal.value])"
    spans = page.locator("#thresholds-chart .marks rect.band").evaluate_all(ends)
    assert any(low - 1e-6 <= rule <= high + 1e-6 for low, high in spans)


def test_policies_are_those_of_python(opened, files, things):
    found = things["policies"]
    page = opened(files["policies"])
    rest = [[cost.value, found.savings[name].value] for name, cost in found.estimates.items() if name != found.best]
    ways = [[found.estimates[found.best].value], *rest]
    same(values(page, "#ways table"), [1000 * one for way in ways for one in way])


def test_several_classes_fit_on_six_sheets(opened, files):
    page = opened(files["many classes"])
    assert 1 < sheets(page) <= 6
    page.set_viewport_size(A4)
    assert clipped(page) == []


def test_a_command_is_not_broken_within_an_option(opened, tmp_path):
    asked = "stakes decide rows.csv --truth diagnosis --score logistic --positive malignant --missing drop -o x.html"
    PAGES["decision"]().report(tmp_path / "page.html", about=asked)
    page = opened(tmp_path / "page.html", viewport={"width": 390, "height": 800})
    assert page.locator(".asked").inner_text().replace("\n", " ") == asked
    lines = page.locator(".asked span").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert len(lines) == 6
    assert len(set(lines)) == 1, lines


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.spread(4)
def test_nothing_is_cut_on_a_phone(opened, files, name):
    page = opened(files[name], viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert clipped(page) == []
