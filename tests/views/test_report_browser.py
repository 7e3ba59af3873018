"""The report in a real browser, offline: what is set there, what follows, and that its figures are Python's."""

import csv
import io
import math
import re

import numpy as np
import pytest

import stakes
from stakes import metrics
from stakes.language import LANGUAGES, TRANSLATED
from stakes.language.texts import texts
from tests.views.pages import nothing_stands_in_the_way

EVIL = "</script><script>alert(1)</script>"
COSTS = stakes.Costs(miss=5, false_alarm=1)


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(7)
    truth = rng.random(3_000) < 0.3
    score = (1 / (1 + np.exp(-rng.normal(size=3_000) - 1.5 * truth + 1))).round(4)
    by = np.array(["=1+1", "plain", EVIL])[np.arange(3_000) % 3]
    names = np.where(truth, "sick", "well")
    return stakes.evaluate(truth=names, score=score, positive="sick", by=by, costs=COSTS)


@pytest.fixture(scope="module")
def file(evaluation, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    evaluation.report(path)
    return path


def value(page, selector):
    """The full precision behind a number on the page; NaN where it is undefined."""
    text = page.locator(selector).get_attribute("data-value")
    return math.nan if text == "" else float(text)


def rates(page):
    """All rates on the page at once."""
    found = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('[id^=rate-]')].map(e => [e.id.slice(5), e.dataset.value]))"
    )
    return {name: math.nan if text == "" else float(text) for name, text in found.items()}


def agrees(page, table, threshold=None):
    """Compare the confusion table and every rate with those of Python at the page's threshold."""
    threshold = value(page, "#threshold-typed") if threshold is None else threshold
    confusion = table.at(threshold)
    for cell in ("tp", "fn", "fp", "tn"):
        assert value(page, f"#cell-{cell}") == pytest.approx(float(getattr(confusion, cell)), rel=1e-12, abs=1e-9)
    shown = rates(page)
    assert len(shown) == 25
    for name, figure in shown.items():
        assert figure == pytest.approx(float(metrics.find(name).of(confusion)), rel=1e-9, abs=1e-12, nan_ok=True), name
    return threshold


def test_the_slider_moves_everything_and_agrees_with_python(opened, file, evaluation):
    page = opened(file)
    assert agrees(page, evaluation.scores) == evaluation.threshold
    slider = page.locator("#threshold-slider")
    slider.focus()
    visited = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowLeft", "PageUp", "PageDown", "PageDown", "Home", "End"):
        slider.press(key)
        visited.append(agrees(page, evaluation.scores))
    assert visited[0] > evaluation.threshold > visited[2]
    assert visited[-2] == evaluation.scores.range[0]  # everybody
    assert visited[-1] == math.inf  # nobody
    assert "undefined" in page.locator("#rate-precision").locator("xpath=ancestor::tr").inner_text()
    for i in range(0, int(slider.get_attribute("max")), 211):
        slider.evaluate("(e, i) => { e.value = i; e.dispatchEvent(new Event('input')); }", i)
        agrees(page, evaluation.scores)


def test_weighted_rows_agree_too(opened, tmp_path):
    rng = np.random.default_rng(3)
    truth, score, weight = rng.random(300) < 0.5, rng.random(300), rng.exponential(size=300)
    ev = stakes.evaluate(
        truth=truth.astype(int), score=score, weight=weight, costs=COSTS, prior=0.2, training_prior=0.4
    )
    ev.report(tmp_path / "weighted.html")
    page = opened(tmp_path / "weighted.html")
    assert value(page, "#prevalence-typed") == 0.2
    assert value(page, "#reading-bayes-threshold") == pytest.approx(ev.threshold, rel=1e-9)
    assert value(page, "#reading-cost-here") == pytest.approx(1000 * ev["expected_cost"].value, rel=1e-9)
    page.click("#prevalence-reset")
    agrees(page, ev.scores)


def test_points_and_bars_follow_the_slider(opened, file, evaluation):
    page = opened(file)
    here = "document.querySelector('#roc .dot.here').getAttribute('cx')"
    before = page.evaluate(here)
    full = page.locator("#histogram .full rect.positive")
    before_bars = full.count()
    page.fill("#threshold-typed", "0.9")
    page.press("#threshold-typed", "Enter")
    assert float(page.evaluate(here)) < float(before)
    assert 0 < full.count() < before_bars


def test_the_bar_of_the_threshold_is_full_up_to_the_rows_that_reach_it(opened, tmp_path):
    """Whole scores fill wide bins: the deaths at score 26 count as alarmed wherever their bin begins."""
    truth, score = [1, 1, 1, 0, 0, 0, 0], [26, 26, 25, 26, 1, 3, 40]
    stakes.evaluate(truth=truth, score=score, threshold=26).report(tmp_path / "page.html")
    page = opened(tmp_path / "page.html")
    heights = "(look) => [...document.querySelectorAll(look)].map((bar) => Number(bar.getAttribute('height')))"
    for name, share in (("positive", 2 / 3), ("negative", 2 / 4)):
        full, pale = (f"#histogram {look}" for look in (f".full rect.{name}", f"g > rect.{name}.pale"))
        assert sum(page.evaluate(heights, full)) / sum(page.evaluate(heights, pale)) == pytest.approx(share)


def test_costs_by_row_show_no_costs_that_nobody_gave(opened, tmp_path):
    rows = {"y": [1, 0, 1, 0, 0, 1], "p": [0.9, 0.2, 0.4, 0.6, 0.1, 0.7], "amount": [5, 9, 2, 7, 3, 8]}
    asked = {"truth": "y", "score": "p", "costs": stakes.Costs(miss="amount", false_alarm=1, unit="€")}
    for found in (stakes.evaluate(rows, **asked), stakes.decide(rows, **asked)):
        found.report(tmp_path / "page.html")
        page = opened(tmp_path / "page.html")
        shown = page.locator("section#explorer, #explorer").first.inner_text()
        assert "Each row has costs of its own" in shown
        assert not any(words in shown for words in ("€", "No costs were given", "per 1,000"))
        assert not page.locator("#answer-keeps, #live-line, #price").count()


def test_typed_thresholds_snap_visibly(opened, file, evaluation):
    page = opened(file)
    for typed, wanted in (("0.61234", 0.61234), ("0,7", 0.7), ("2", math.inf), ("-1", -math.inf)):
        page.fill("#threshold-typed", typed)
        page.press("#threshold-typed", "Enter")
        took = agrees(page, evaluation.scores)
        assert took >= min(wanted, 1e9) or wanted == math.inf
        assert took == math.inf or took - max(wanted, evaluation.scores.range[0]) < 0.01
    page.fill("#threshold-typed", "0.61234")
    page.press("#threshold-typed", "Enter")
    assert page.locator("#snapped").inner_text().startswith("Showing 0.61")
    page.fill("#threshold-typed", "much")
    page.press("#threshold-typed", "Enter")
    assert page.locator("#snapped").inner_text() == "Please type a number."


def test_costs_recompute_live(opened, file, evaluation):
    page = opened(file)
    tables = evaluation.scores.confusions()
    for miss, alarm in ((5, 1), (1, 3), (40, 0.5)):
        page.fill("#cost-miss", str(miss))
        page.press("#cost-miss", "Enter")
        page.fill("#cost-alarm", str(alarm))
        page.press("#cost-alarm", "Enter")
        prices = (miss * tables.fn + alarm * tables.fp) / tables.total
        assert value(page, "#reading-cost-best") == pytest.approx(1000 * prices.min(), rel=1e-9)
        best = value(page, "#reading-best-threshold")
        there = evaluation.scores.at(best)
        assert (miss * there.fn + alarm * there.fp) / there.total == pytest.approx(prices.min(), rel=1e-9)
        assert value(page, "#reading-bayes-threshold") == pytest.approx(alarm / (alarm + miss), rel=1e-9)
        assert value(page, "#reading-cost-nobody") == pytest.approx(1000 * prices[0], rel=1e-9)
        assert value(page, "#reading-cost-everyone") == pytest.approx(1000 * prices[-1], rel=1e-9)
        page.click("#go-best")
        assert agrees(page, evaluation.scores) == best
        here = metrics.find(f"expected_cost(miss={miss}, false_alarm={alarm})").of(there)
        assert value(page, "#reading-cost-here") == pytest.approx(1000 * float(here), rel=1e-9)
        assert page.locator("#price svg.chart .dot.best").count() == 1
        benefit = (there.tp - there.fp * alarm / miss) / there.total
        assert value(page, "#reading-net-benefit") == pytest.approx(benefit, rel=1e-9)
    page.fill("#cost-miss", "dear")
    page.press("#cost-miss", "Enter")
    assert page.locator("#cost-miss").get_attribute("aria-invalid") == "true"


def test_prevalence_moves_precision_and_cost_but_not_the_roc_curve(opened, file, evaluation):
    page = opened(file)
    roc, pr = "document.querySelector('#roc .line.ahead').getAttribute('d')", "#pr-curve"
    curves = page.evaluate(roc), page.locator(pr).get_attribute("d")
    before = rates(page)
    page.fill("#prevalence-typed", "2")
    page.press("#prevalence-typed", "Enter")
    after = rates(page)
    assert page.evaluate(roc) == curves[0]
    assert page.locator(pr).get_attribute("d") != curves[1]
    for name in ("recall", "specificity", "informedness", "positive_likelihood_ratio"):
        assert after[name] == pytest.approx(before[name], rel=1e-9)
    found, alarmed = before["recall"] * 0.02, before["false_positive_rate"] * 0.98
    assert after["precision"] == pytest.approx(found / (found + alarmed), rel=1e-9)
    assert after["prevalence"] == pytest.approx(0.02, rel=1e-9)
    moved = evaluation.priced(COSTS, prior=0.02, training_prior="rows")
    assert value(page, "#reading-bayes-threshold") == pytest.approx(moved.threshold, rel=1e-9)
    there = moved.at(value(page, "#threshold-typed"))["expected_cost"]
    assert value(page, "#reading-cost-here") == pytest.approx(1000 * there.value, rel=1e-9)
    page.locator("#prevalence-slider").focus()
    page.locator("#prevalence-slider").press("ArrowRight")
    assert value(page, "#prevalence-typed") > 0.02
    page.click("#prevalence-reset")
    agrees(page, evaluation.scores)


def test_three_decisions_have_an_editable_table_and_the_cheapest_policy(opened, evaluation, tmp_path):
    matrix = [[0, 1, 6], [9, 3, 0]]
    costs = stakes.Costs(matrix, ["well", "sick"], ["home", "tests", "treat"])
    priced = evaluation.priced(costs)
    priced.report(tmp_path / "three.html")
    page = opened(tmp_path / "three.html")
    for cost in (3, 2):
        page.fill("#cost-1-1", str(cost))
        page.press("#cost-1-1", "Enter")
        matrix[1][1] = cost
        assert value(page, "#policy-cost") == pytest.approx(1000 * _cheapest(evaluation.scores, matrix), rel=1e-9)
    first = [line.split()[0] for line in page.locator("#policy li").all_inner_texts()]
    assert first == ["“home”", "“tests”", "“treat”"]


def _cheapest(table, matrix):
    """The least cost of two thresholds, tried one by one."""
    tables = table.confusions()
    tp, fp, n = tables.tp, tables.fp, float(table.total)
    (a, b, c), (d, e, f) = matrix
    first = a * float(table.N) + d * float(table.P) + (b - a) * fp + (e - d) * tp
    second = (c - b) * fp + (f - e) * tp
    return min(first[i] + second[: i + 1].min() for i in range(len(tp))) / n


def test_play_builds_the_curve_case_by_case(opened, tmp_path):
    truth, score = [1, 0, 1, 0, 1, 1], [0.9, 0.8, 0.7, 0.7, 0.6, 0.2]
    ev = stakes.evaluate(truth=truth, score=score)
    ev.report(tmp_path / "few.html")
    page = opened(tmp_path / "few.html")
    page.click("#restart")
    assert value(page, "#threshold-typed") == math.inf
    path = []
    for _ in range(5):
        page.click("#step-once")
        path.append((value(page, "#cell-tp"), value(page, "#cell-fp")))
        agrees(page, ev.scores)
    assert path == [(1, 0), (1, 1), (2, 2), (3, 2), (4, 2)]
    page.click("#restart")
    words = []
    for _ in range(3):
        page.click("#step-once")
        words.append(page.locator("#step").inner_text())
    assert words[0] == "Score 0.9: 1 × “1”, up."
    assert words[1] == "Score 0.8: 1 × “0”, right."
    assert words[2] == "Down to score 0.7: 1 × “1” up, 1 × “0” right, diagonally."


def test_play_runs_pauses_and_ends(opened, file, evaluation):
    page = opened(file)
    page.click("#restart")
    page.click("#play")
    assert page.locator("#play").inner_text() == "Pause"
    page.wait_for_timeout(400)
    page.click("#play")
    assert agrees(page, evaluation.scores) < math.inf
    place = value(page, "#threshold-typed")
    page.wait_for_timeout(100)
    assert value(page, "#threshold-typed") == place


def test_who_wants_no_motion_goes_step_by_step(opened, file, evaluation):
    page = opened(file, reduced_motion="reduce")
    assert page.locator("#play").is_hidden()
    page.click("#restart")
    page.click("#step-once")
    assert 0.9 < agrees(page, evaluation.scores) < math.inf


@pytest.mark.parametrize("lang", TRANSLATED)
def test_the_language_changes_and_what_was_set_stays(opened, file, evaluation, lang):
    page = opened(file)
    page.fill("#threshold-typed", "0.61234")
    page.press("#threshold-typed", "Enter")
    threshold = value(page, "#threshold-typed")
    page.select_option("#language", lang)
    assert page.locator("html").get_attribute("lang") == lang
    assert page.locator("#verdict-title").inner_text() == texts(lang)["verdict.title"]
    assert texts(lang)["metric.recall"] in page.locator("#explorer").inner_text()
    assert agrees(page, evaluation.scores) == threshold
    assert re.fullmatch(r"0[,.]6\d+", page.locator("#threshold-typed").input_value())
    everything = page.locator("body").inner_text().replace(page.locator(".asked").inner_text(), "")
    assert not re.search(r"\{\w+", everything)
    english = ("threshold", "the ", "score", " of ", "undefined")
    assert [word for word in english if word in everything.replace(EVIL, "").lower()] == []


def test_plurals_are_right_in_russian(opened, tmp_path):
    for n, words in ((1, "1 строка"), (3, "3 строки"), (11, "11 строк"), (21, "21 строка")):
        truth = [1] * (n - n // 2) + [0] * (n // 2)
        ev = stakes.evaluate(truth=truth, prediction=[1] * n, classes=[0, 1], positive=1)
        ev.report(tmp_path / f"{n}.html", lang="ru")
        page = opened(tmp_path / f"{n}.html")
        assert page.locator(".facts li").first.inner_text() == words


def test_names_from_the_data_are_text(opened, file):
    page = opened(file)
    assert EVIL[:12] in page.locator("#segments").inner_text()
    assert page.evaluate("document.scripts.length") == 2


def test_charts_and_tables_can_be_saved(opened, file, evaluation):
    page = opened(file)
    with page.expect_download() as download:
        page.locator("#roc button", has_text="CSV").click()
    head, *rows = csv.reader(io.StringIO(download.value.path().read_text()))
    assert head == ["Threshold", "false positive rate", "recall"]
    for row in rows[1::100]:
        there = evaluation.scores.at(float(row[0]))
        assert float(row[2]) == pytest.approx(there.tp / there.P, rel=1e-12)
    with page.expect_download() as download:
        page.locator("#segments-chart button", has_text="CSV").click()
    names = [row[0] for row in csv.reader(io.StringIO(download.value.path().read_text()))]
    assert "'=1+1" in names
    with page.expect_download() as download:
        page.locator("#roc button", has_text="SVG").click()
    drawn = download.value.path().read_text()
    assert drawn.startswith("<svg")
    assert 'stroke="rgb(' in drawn
    assert "class=" not in drawn


def test_charts_tell_their_points_to_the_keyboard(opened, file, evaluation):
    page = opened(file)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('figure')?.id + document.activeElement.tagName") == "rocsvg":
            break
    page.keyboard.press("End")
    assert "finds 100% of “sick”; 100% of the others raise a false alarm" in page.locator("#roc .readout").inner_text()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert "Threshold 0.9" in page.locator("#roc .readout").inner_text()


def test_charts_tell_their_points_to_the_pointer(opened, file):
    page = opened(file)
    for chart, words in (
        ("roc", "false alarm"),
        ("histogram", "“sick”"),
        ("reliability", "observed"),
        ("price", "per"),
    ):
        page.hover(f"#{chart} svg.chart")
        assert words in page.locator(f"#{chart} .readout").inner_text()
    page.hover("h1")
    assert page.locator("#price .readout").inner_text().strip() == ""


def test_nothing_stands_in_the_way_of_anybody(opened, file):
    nothing_stands_in_the_way(opened(file))


def test_the_switch_changes_the_theme(opened, file):
    page = opened(file, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != light
    assert page.locator("#theme").get_attribute("aria-pressed") == "true"
    page.click("#theme")
    assert page.evaluate(ground) == light


def test_paper_is_light_and_shows_the_main_figures(opened, file):
    page = opened(file, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("#figures table").first.is_visible()
    assert page.locator("#rate-jaccard").is_hidden()
    assert page.locator("#theme").is_hidden()


A4 = {"width": 703, "height": 1000}
"""What lies between the margins, in CSS pixels."""


def clipped(page):
    """Tables and cells that reach beyond their card, and words that reach beyond their cell."""
    return page.evaluate(
        """() => [...document.querySelectorAll("table, td, th")].filter((one) => {
            if (!one.checkVisibility() || one.closest("thead")?.offsetWidth === 1) return false;
            const [own, card] = [one.getBoundingClientRect(), one.closest(".card").getBoundingClientRect()];
            return own.right > card.right + 1 || one.scrollWidth > one.clientWidth + 2;
        }).map((one) => one.textContent.slice(0, 60))"""
    )


@pytest.fixture
def translated(evaluation, tmp_path, lang):
    """The report in a language."""
    evaluation.report(tmp_path / f"{lang}.html", lang=lang)
    return tmp_path / f"{lang}.html"


LONGEST_WORDS = [pytest.param(lang, marks=() if lang == "ru" else pytest.mark.deep) for lang in LANGUAGES]
"""Russian has them: what fits there fits in the others, too."""


@pytest.mark.parametrize("lang", LONGEST_WORDS)
def test_a_report_fits_on_five_sheets(opened, translated):
    page = opened(translated)
    assert 1 < sheets(page) <= 5
    page.set_viewport_size(A4)
    assert clipped(page) == []


def sheets(page):
    """On how many sheets of A4 a page is printed."""
    page.emulate_media(media="print")
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4", prefer_css_page_size=True)))


def test_no_heading_is_left_alone_at_the_end_of_a_sheet(opened, file):
    """Whatever height a sheet has, a heading goes to the next one with what it heads."""
    page = opened(file)
    page.emulate_media(media="print")
    kept = page.evaluate(
        """() => [...document.querySelectorAll("h2, h3, .caption, .table-head")]
            .filter((one) => one.checkVisibility())
            .map((one) => one.closest(".card") ? getComputedStyle(one.closest(".card")).breakInside
                : getComputedStyle(one).breakAfter)"""
    )
    assert set(kept) == {"avoid"}
    empty = page.evaluate(
        """() => [...document.querySelectorAll("h2")].map((one) => one.nextElementSibling)
            .flatMap((one) => [...one.children]).filter((one) => one.checkVisibility() && !one.offsetHeight).length"""
    )
    assert empty == 0  # nothing stands between a heading and what it heads, where a sheet could end


@pytest.mark.parametrize("lang", LONGEST_WORDS)
def test_a_phone_needs_no_sideways_scrolling(opened, translated):
    for width in (390, 360):
        page = opened(translated, viewport={"width": width, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert clipped(page) == []


def test_a_step_of_the_slider_takes_less_than_two_frames(opened, file):
    assert milliseconds_of_a_step(opened(file), "threshold-slider", 60, 10) < 33


def milliseconds_of_a_step(page, slider, steps, size):
    """How long a page usually takes to follow a slider, in the middle of so many steps."""
    times = page.evaluate(
        """([id, steps, size]) => {
            const slider = document.getElementById(id);
            return Array.from({ length: steps }, (_, i) => {
                const start = performance.now();
                slider.value = size * i;
                slider.dispatchEvent(new Event("input"));
                document.body.getBoundingClientRect();
                return performance.now() - start;
            });
        }""",
        [slider, steps, size],
    )
    return sorted(times)[steps // 2]
