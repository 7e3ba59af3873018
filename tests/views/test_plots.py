"""Plots draw what the objects say, and nothing else changes: settings, figures and names from the data stay inert."""

import builtins
import itertools
import pickle
import re
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC

import stakes
from stakes.errors import InputError, UnableError
from stakes.findings.pictures import Points, mean_errors, points_of
from stakes.text import visible
from stakes.views import pictures
from stakes.views.plots.network import arrows_of, layout
from stakes.views.plots.words import inert, with_interval
from tests.parts import Lazily

pytestmark = pytest.mark.slow

mpl = Lazily("matplotlib")
plt = Lazily("matplotlib.pyplot")
proportion = Lazily("statsmodels.stats.proportion")

EVIL = ("$\\frac{", "_hidden", "<b>&", "two\nlines", "$$", "x" * 80)


@pytest.fixture(autouse=True)
def _nothing_leaks():
    """A plot leaves the user's settings as they were; figures are closed here."""
    plt.switch_backend("Agg")
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def rows_of_two(n=300, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    score = 1 / (1 + np.exp(-(rng.normal(size=n) + 2 * truth - 1.5)))
    return rng, truth, score


@pytest.fixture(scope="module")
def two():
    rng, truth, score = rows_of_two()
    site = rng.choice(["north", "south", "west"], len(truth))
    return stakes.evaluate(truth=np.where(truth, "sick", "well"), score=score, positive="sick", by=site)


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(1)
    names = ["a", "b", "c"]
    truth = rng.integers(0, 3, 240)
    chances = rng.dirichlet(np.ones(3), 240)
    chances[np.arange(240), truth] += 0.4
    chances /= chances.sum(1, keepdims=True)
    where = rng.choice(["x", "y"], 240)
    return stakes.evaluate(truth=np.array(names)[truth], score=chances, classes=names, by=where)


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(2)
    truth = rng.normal(50, 10, 200)
    return stakes.evaluate(truth=truth, prediction=truth + rng.normal(1, 3, 200), by=rng.choice(["f", "m"], 200))


@pytest.fixture(scope="module")
def comparison():
    rng, truth, score = rows_of_two()
    others = {"sharp": score, "blunt": (score + rng.random(len(truth))) / 2, "coin": rng.random(len(truth))}
    return stakes.compare(truth=truth, scores=others, metric=["auc", "brier_score"], margin=0.05, resamples=200)


@pytest.fixture(scope="module")
def system():
    return stakes.System(
        classes=["sick", "well"],
        models={
            "images": [[80, 20], [20, 80]],
            "history": [[50, 50], [100, 100]],
            "late": {"table": [[[8, 2], [3, 7]], [[2, 8], [4, 6]]], "sees": ["images"]},
        },
        decide="either and late",
        fusers={"either": "images or history"},
        costs=stakes.Costs(miss=5, false_alarm=1),
    )


def drawn_texts(display):
    display.figure_.canvas.draw()
    return [text.get_text() for text in display.figure_.findobj(mpl.text.Text) if text.get_text()]


deeply = partial(pytest.param, marks=pytest.mark.deep)


# ── every kind, for real data of each task ───────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("two", "roc pr histograms cost reject reliability decision confusion segments"),
        deeply("many", "confusion roc pr histograms cost reject reliability decision segments"),
        ("regression", "predicted residuals reliability segments"),
        ("comparison", "forest roc pr reliability decision"),
        ("system", "network"),
    ],
)
def test_every_kind_is_drawn_alone_and_in_a_grid(name, kinds, request):
    thing = request.getfixturevalue(name)
    assert list(thing.plots) == kinds.split()
    figure, grid = plt.subplots(3, 3)
    for kind, ax in zip(thing.plots, grid.flat, strict=False):
        alone = thing.plot(kind)
        assert alone.kind == kind
        assert alone.ax_.figure is alone.figure_
        assert alone.figure_.number in plt.get_fignums()
        before = plt.get_fignums()
        inside = thing.plot(kind, ax=ax)
        assert inside.ax_ is ax
        assert inside.figure_ is figure
        assert plt.get_fignums() == before
        words = {text for text in (alone.ax_.get_xlabel(), alone.ax_.get_ylabel()) if text}
        assert not any("_" in text for text in words)
    figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["two", "system", *map(deeply, ("many", "regression", "comparison"))])
def test_plots_speak_the_language_of_the_reader(name, request):
    """All words on a Russian plot are Russian, but for names from the data and a few that have no other form."""
    thing = request.getfixturevalue(name)
    names = "true false north south east west sick well sharp blunt coin images history either late"
    known = {"AUC", "ROC", "R²", *names.split()}
    for kind in thing.plots:
        ax = thing.plot(kind, lang="ru").ax_
        legend = ax.get_legend().get_texts() if ax.get_legend() else []
        named = [one.get_text() for one in (*ax.texts, *legend, *ax.get_yticklabels())]
        for text in (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel(), *named):
            strange = set(re.findall(r"[A-Za-z][A-Za-z²]+", text)) - known
            assert not {word for word in strange if len(word) > 2}, (kind, text)
            assert not re.search(r"\d\.\d", text), (kind, text)
        plt.close("all")


def test_a_plot_speaks_as_its_result_does():
    rows = {"truth": [0, 1, 0, 1], "score": [0.1, 0.3, 0.35, 0.8]}
    asked, other = stakes.evaluate(**rows, lang="es"), stakes.evaluate(**rows)
    assert asked.plot("roc").ax_.get_xlabel().startswith("proporción de falsas alarmas")
    assert asked.plot("roc", lang="en").ax_.get_xlabel() == other.plot("roc").ax_.get_xlabel()
    assert asked.plot("roc").ax_.yaxis.get_major_formatter()(0.5, 0) == "0,5"
    assert asked.plot("roc").ax_.get_legend().get_texts()[0].get_text() == "AUC 0,75 [0,00; 1,00]"
    with pytest.raises(stakes.InputError, match="'eo' is not known"):
        other.plot("roc", lang="eo")


def test_the_usual_kind_comes_first(two, many, regression):
    assert [thing.plot().kind for thing in (two, many, regression)] == ["roc", "confusion", "predicted"]


def test_decisions_alone_have_the_roc_line_through_one_point():
    ev = stakes.evaluate(truth=[0, 1, 1, 0] * 9, prediction=[0, 1, 0, 0] * 9)
    assert ev.plots == ("confusion", "roc")
    shown = ev.plot("roc")
    assert shown.artists["line"].get_ydata().tolist() == [0, 0.5, 1]
    assert shown.artists["line"].get_label().startswith("area through one point 0.75")
    with pytest.raises(InputError, match=r"^there is no plot 'pr' of this; there is 'confusion' and 'roc'$"):
        ev.plot("pr")


def test_the_null_is_a_band_beside_the_roc_curve(two):
    shown = two.plot("roc", null=True)
    assert shown.artists["chance"].get_label() == "shuffled labels, 95% band"
    assert "chance" not in two.plot("roc").artists


def test_scores_that_are_no_probabilities_have_no_plots_of_probabilities():
    ev = stakes.evaluate(truth=[0, 1, 1, 0], score=[-3, 2, 9, 1])
    assert ev.plots == ("roc", "pr", "histograms", "cost")
    assert ev.at(1.5).plots == ("roc", "pr", "histograms", "cost", "confusion")
    assert all(ev.at(1.5).plot(kind).kind == kind for kind in ev.at(1.5).plots)


# ── curves ───────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("kind", ["roc", "pr", "cost", "decision", "reject"])
def test_curves_are_drawn_as_they_are(two, kind):
    curve = two.curve(kind)
    for shown in (two.plot(kind), curve.plot()):
        np.testing.assert_array_equal(shown.artists["line"].get_xdata(), curve.x)
        np.testing.assert_array_equal(shown.artists["line"].get_ydata(), curve.y)
        corners = shown.artists["band"].get_paths()[0].vertices
        for x, low, high in zip(curve.band.x, curve.band.low, curve.band.high, strict=True):
            heights = corners[corners[:, 0] == x][:, 1]
            assert {heights.min(), heights.max()} == {low, high}


def test_references_of_curves_are_drawn(two):
    shown = two.plot("decision")
    found = {line.get_label(): line.get_ydata() for line in shown.artists["references"]}
    for name, heights in two.curve("decision").references.items():
        np.testing.assert_array_equal(found[name], heights)
    (line,) = two.plot("roc").artists["references"]
    assert line.get_xydata().tolist() == [[0, 0], [1, 1]]
    (level,) = two.plot("pr").artists["references"]
    assert level.get_ydata().tolist() == [two.prevalence] * 2


def test_precision_holds_up_to_its_recall_and_rejections_hold_from_theirs(two):
    styles = {kind: two.plot(kind).artists["line"].get_drawstyle() for kind in ("roc", "pr", "reject", "cost")}
    assert styles == {"roc": "default", "pr": "steps-pre", "reject": "steps-post", "cost": "default"}


def test_the_threshold_in_use_stands_at_its_figures_with_intervals(two):
    at = two.at(0.3)
    for kind, names in {"roc": ("false_positive_rate", "recall"), "pr": ("recall", "precision")}.items():
        dot, _, (across, up) = at.plot(kind).artists["point"]
        figures = [at[name] for name in names]
        assert dot.get_xydata().tolist() == [[figure.value for figure in figures]]
        ends = [across.get_segments()[0][:, 0], up.get_segments()[0][:, 1]]
        for (low, high), figure in zip(ends, figures, strict=True):
            assert (low, high) == pytest.approx((figure.low, figure.high))


def test_the_legend_tells_the_area_with_its_interval(two):
    auc = two["auc"]
    words = [text.get_text() for text in two.plot("roc").ax_.get_legend().get_texts()]
    assert f"AUC {auc.value:.3f} [{auc.low:.3f}, {auc.high:.3f}]" in words
    assert "95% band, simultaneous" in words


def test_given_decisions_are_not_marked_with_a_threshold():
    _, truth, score = rows_of_two()
    ev = stakes.evaluate(truth=truth, score=score, prediction=score > 0.2)
    assert "point" not in ev.plot("roc").artists


def test_the_line_of_the_threshold_lies_on_the_cost_plot(two):
    line = two.plot("cost").artists["threshold"]
    table = two.confusion
    assert line.get_ydata().tolist() == pytest.approx([table.fp / table.N, table.fn / table.P])


def test_curves_of_several_classes(many):
    shown = many.plot("roc")
    for name, line in zip(many.classes, shown.artists["lines"], strict=True):
        np.testing.assert_array_equal(line.get_ydata(), many.curve("roc", name).y)
    alone = many.plot("pr", of="b")
    np.testing.assert_array_equal(alone.artists["line"].get_ydata(), many.curve("pr", "b").y)
    assert alone.artists["references"][0].get_ydata()[0] == many.support["b"] / many.rows
    np.testing.assert_array_equal(many.plot("reject").artists["line"].get_ydata(), many.curve("reject").y)


def test_of_many_classes_the_largest_are_drawn():
    rng = np.random.default_rng(3)
    sizes = [5, 30, 31, 32, 33, 34, 35, 36, 37, 38]
    names = [f"k{i}" for i in range(10)]
    truth = np.repeat(np.arange(10), sizes)
    ev = stakes.evaluate(truth=np.array(names)[truth], score=rng.dirichlet(np.ones(10), sum(sizes)), classes=names)
    shown = ev.plot("roc")
    assert [line.get_label().partition(":")[0] for line in shown.artists["lines"]] == names[2:]
    assert shown.ax_.get_title(loc="left") == "AUC of each class against the rest, the 8 largest of 10"


def test_curves_of_very_many_points_are_thinned_but_keep_their_shape():
    _, truth, score = rows_of_two(40_000)
    curve = stakes.evaluate(truth=truth, score=score).curve("roc")
    line = curve.plot().artists["line"]
    assert len(curve) > 6000 > len(line.get_xdata())
    x, y = line.get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert np.trapezoid(y, x) == pytest.approx(np.trapezoid(curve.y, curve.x), abs=1e-4)
    apart, _ = cKDTree(np.stack([x, y], 1)).query(np.stack([curve.x, curve.y], 1))
    assert apart.max() < 1e-3


def test_the_difference_of_two_decision_curves(comparison):
    curve = comparison.curve("decision", "sharp", "blunt")
    shown = curve.plot()
    np.testing.assert_array_equal(shown.artists["line"].get_ydata(), curve.y)
    assert shown.ax_.get_ylabel() == "difference in net benefit"


# ── confusion ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_confusion_shows_shares_counts_and_wilsons_limits():
    truth = ["well"] * 50 + ["sick"] * 10
    said = ["well"] * 45 + ["sick"] * 5 + ["sick"] * 8 + ["well"] * 2
    ev = stakes.evaluate(truth=truth, prediction=said, positive="sick")
    shown = ev.plot("confusion")
    np.testing.assert_allclose(shown.artists["image"].get_array(), [[0.9, 0.1], [0.2, 0.8]])
    low, high = proportion.proportion_confint(8, 10, method="wilson")
    assert shown.artists["texts"][3].get_text() == f"80%\n{100 * low:.0f} – {100 * high:.0f}%\n8"
    assert [t.get_text() for t in shown.ax_.get_yticklabels()] == ["well", "sick"]
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("decision", "truth")


def test_shares_that_are_nearly_nothing_or_all_are_not_rounded_to_that():
    ev = stakes.evaluate(truth=[0] * 1000 + [1] * 9, prediction=[0] * 999 + [1] + [1] * 9)
    words = [text.get_text() for text in ev.plot("confusion").artists["texts"]]
    assert words[0].startswith("> 99%")
    assert words[1].startswith("< 1%")
    assert words[3].startswith("100%")


def test_clusters_have_no_limits_of_independent_rows():
    rng, truth, score = rows_of_two()
    ev = stakes.evaluate(truth=truth, score=score, cluster=rng.integers(0, 40, len(truth)))
    assert "–" not in "".join(text.get_text() for text in ev.plot("confusion").artists["texts"])
    bins, (bars,) = ev.calibration.reliability().bins, ev.plot("reliability").artists["points"][2]
    assert [bar[:, 1].tolist() for bar in bars.get_segments()] == [
        pytest.approx(ends) for ends in zip(bins.low, bins.high, strict=True)
    ]


@pytest.mark.parametrize("classes", [12, 45])
def test_large_tables(classes):
    rng = np.random.default_rng(0)
    names = [f"class number {i:02}" for i in range(classes)]
    truth = rng.integers(0, classes, 2000)
    said = np.where(rng.random(2000) < 0.8, truth, rng.integers(0, classes, 2000))
    shown = stakes.evaluate(truth=np.array(names)[truth], prediction=np.array(names)[said]).plot("confusion")
    assert bool(shown.artists["texts"]) == (classes == 12)
    shown.figure_.canvas.draw()
    boxes = [label.get_window_extent() for label in shown.ax_.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_histograms_are_shares_of_each_class(two, many):
    found = two.histograms(20)
    shown = two.plot("histograms", bins=20)
    for bars, counts in zip(shown.artists["bars"], found.counts.values(), strict=True):
        np.testing.assert_allclose(bars.get_data().values, counts / counts.sum())
        np.testing.assert_array_equal(bars.get_data().edges, found.edges)
    assert shown.artists["threshold"].get_xdata()[0] == 0.5
    for bars, name in zip(many.plot("histograms").artists["bars"], many.classes, strict=True):
        own = many.histograms()[name].counts[name]
        np.testing.assert_allclose(bars.get_data().values, own / own.sum())
    with pytest.raises(InputError, match="'z'"):
        many.plot("histograms", of="z")


def test_reliability_has_bins_with_limits_a_rising_curve_and_the_band_of_honest_ones(two, many):
    found = two.calibration.reliability(7, "width")
    shown = two.plot("reliability", bins=7, by="width")
    dots, _, (limits,) = shown.artists["points"]
    np.testing.assert_array_equal(dots.get_xdata(), found.bins.mean_probability)
    np.testing.assert_array_equal(dots.get_ydata(), found.bins.frequency)
    ends = np.array(limits.get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, np.stack([found.bins.low, found.bins.high], 1), atol=1e-12)
    np.testing.assert_array_equal(shown.artists["line"].get_ydata(), found.frequency)
    assert shown.artists["band"].get_paths()[0].vertices[:, 0].max() == found.band.probability[-1]
    points = many.plot("reliability").artists["points"]
    for (dots, *_), name in zip(points, many.classes, strict=True):
        np.testing.assert_array_equal(dots.get_ydata(), many.calibration[name].reliability().bins.frequency)


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_predictions_and_errors_of_few_rows_are_points(regression):
    rows = regression.errors.rows
    cloud = regression.plot("predicted").artists["points"]
    np.testing.assert_array_equal(cloud.get_xdata(), rows.truth)
    np.testing.assert_array_equal(cloud.get_ydata(), rows.prediction)
    cloud = regression.plot("residuals").artists["points"]
    np.testing.assert_array_equal(cloud.get_xdata(), rows.prediction)
    np.testing.assert_array_equal(cloud.get_ydata(), rows.truth - rows.prediction)


def test_the_mean_errors_have_students_intervals(regression):
    import scipy.stats

    rows = regression.errors.rows
    dots, _, (limits,) = regression.plot("residuals").artists["means"]
    first = np.argsort(rows.prediction, kind="stable")[:20]
    error = (rows.truth - rows.prediction)[first]
    assert dots.get_xydata()[0] == pytest.approx([rows.prediction[first].mean(), error.mean()])
    wanted = scipy.stats.t.interval(0.95, 19, error.mean(), scipy.stats.sem(error))
    assert limits.get_segments()[0][:, 1] == pytest.approx(wanted)


def test_groups_of_a_single_row_have_no_interval():
    *_, reach = mean_errors(Points(np.ones(3), np.arange(3.0), np.ones(3), rows=True), 0.95)
    assert np.isnan(reach).all()


@pytest.mark.parametrize("kind", ["predicted", "residuals"])
def test_many_rows_are_counted_in_cells(kind):
    rng = np.random.default_rng(0)
    truth = rng.normal(1e6, 1, 100_000)
    ev = stakes.evaluate(truth=truth, prediction=truth + rng.normal(0, 1, 100_000))
    shown = ev.plot(kind)
    mesh = shown.artists["points"]
    assert mesh.get_array().sum() == 100_000
    assert mesh.get_array().count() > 500  # an offset does not hide the shape
    assert sum(len(line.get_xdata()) for line in shown.ax_.get_lines()) < 100


def test_where_rows_are_gone_the_kept_histogram_is_drawn():
    rng = np.random.default_rng(0)
    truth = rng.normal(5, 2, 5000)
    sums = stakes.ErrorSums.from_rows(truth, truth + 0.1, parts=("histogram",))
    points = points_of(sums)
    assert not points.few
    assert points.weight.sum() == pytest.approx(5000)
    assert np.average(points.truth, weights=points.weight) == pytest.approx(truth.mean(), abs=0.15)


# ── chance, forests, decisions ───────────────────────────────────────────────────────────────────────────────────
def test_the_null_and_the_figure():
    _, truth, score = rows_of_two()
    test = stakes.permutation_test(truth=truth, score=score, permutations=300)
    shown = test.plot(bins=15)
    assert shown.artists["bars"].get_data().values.tolist() == np.histogram(test.null, 15)[0].tolist()
    assert shown.artists["value"].get_xdata()[0] == test.value
    assert any(f"p = {test.p_value:.2g}" in text for text in drawn_texts(shown))


def test_an_exact_p_value_has_no_null():
    test = stakes.permutation_test(truth=[1, 1, 0, 0], prediction=[1, 1, 0, 0])
    words = (
        r"^nothing was shuffled, so there is nothing to draw: the p-value is exact \(Fisher's exact test, one-sided\)$"
    )
    with pytest.raises(InputError, match=words):
        test.plot()


def test_the_forest_of_a_comparison(comparison):
    for metric in ("auc", "brier_score"):
        shown = comparison.plot("forest", metric=metric)
        pairs = [pair for pair in comparison.pairs if pair.metric == metric]
        assert shown.artists["points"].get_offsets().tolist() == [[p.difference, i] for i, p in enumerate(pairs)]
        bars = [line for line in shown.ax_.get_lines() if line.get_linestyle() == "-"]
        assert [list(line.get_xdata()) for line in bars] == [[p.low, p.high] for p in pairs]
        names = [f"{p.first} − {p.second}" for p in pairs]
        assert [label.get_text() for label in shown.ax_.get_yticklabels()] == names
        assert shown.ax_.get_ylim()[0] > shown.ax_.get_ylim()[1]  # the best pair on top
    assert shown.artists["margin"].get_x() == -0.05
    assert comparison.plot().ax_.get_xlabel() == "difference in AUC (higher is better)"
    with pytest.raises(InputError, match=r"^the models were compared by 'auc' and 'brier_score', not by 'f1'; c"):
        comparison.plot(metric="f1")


@pytest.mark.parametrize(("metric", "worst"), [("recall", min), ("miss_rate", max)])
def test_segments_stand_with_the_worst_first(two, metric, worst):
    shown = two.plot("segments", metric=metric)
    values = {name: part[metric].value for name, part in two.segments.items()}
    names = [label.get_text() for label in shown.ax_.get_yticklabels()]
    assert names[0] == worst(values, key=values.get)
    assert shown.artists["points"].get_offsets()[:, 0].tolist() == [values[name] for name in names]
    assert shown.artists["whole"].get_xdata()[0] == two[metric].value


def test_of_many_segments_thirty_are_shown():
    rng, truth, score = rows_of_two(2000)
    ev = stakes.evaluate(truth=truth, score=score, by=rng.integers(0, 40, 2000))
    shown = ev.plot("segments", metric="accuracy")
    values = sorted(part["accuracy"].value for part in ev.segments.values())
    assert shown.artists["points"].get_offsets()[:, 0].tolist() == values[:30]
    assert shown.ax_.get_title(loc="left").endswith("the worst 30 of 40")


def test_segments_of_scores_without_decisions_show_the_auc():
    ev = stakes.evaluate(truth=[0, 1] * 20, score=np.arange(40) - 20, by=["a", "b", "b", "a"] * 10)
    assert ev.plot("segments").ax_.get_xlabel() == "AUC"


def test_a_figure_that_is_undefined_in_all_segments():
    ev = stakes.evaluate(truth=[0, 0, 1, 1], prediction=[0, 0, 0, 0], by=["a", "a", "b", "b"])
    with pytest.raises(InputError, match=r"^there is no precision to draw: it is undefined everywhere; name another"):
        ev.plot("segments", metric="precision")


def test_a_decision_shows_what_every_threshold_costs():
    _, truth, score = rows_of_two()
    choice = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=5, false_alarm=1))
    curve = choice.over_thresholds
    brute = [(5 * (truth & (score < t)).sum() + (~truth & (score >= t)).sum()) / len(truth) for t in curve.x]
    np.testing.assert_allclose(curve.y, brute, rtol=1e-12)
    assert curve.y[curve.x == choice.threshold] == pytest.approx([choice.apparent.value])
    assert curve.y.min() >= choice.apparent.value - 1e-12
    shown = choice.plot()
    np.testing.assert_array_equal(shown.artists["line"].get_ydata(), curve.y)
    dot, _, (limits,) = shown.artists["recommended"]
    assert dot.get_xydata().tolist() == [[choice.recommended[0], choice.cost.value]]
    assert limits.get_segments()[0][:, 1] == pytest.approx([choice.cost.low, choice.cost.high])
    low, high = choice.alike[0][0]
    assert (shown.artists["alike"].get_x(), shown.artists["alike"].get_width()) == pytest.approx((low, high - low))


def test_costs_over_thresholds_are_those_of_the_deployment_and_its_decisions():
    _, truth, score = rows_of_two()
    names = np.where(truth, "sick", "well")
    costs = stakes.Costs({"sick": {"treat": 1, "home": 9}, "well": {"treat": 2, "home": 0}})
    choice = stakes.decide(truth=names, score=score, positive="sick", costs=costs, prior=0.1, training_prior="rows")
    curve = choice.over_thresholds
    treated = score >= curve.x[:, None]
    sick = 1 * treated[:, truth].mean(1) + 9 * (1 - treated[:, truth].mean(1))
    well = 2 * treated[:, ~truth].mean(1)
    np.testing.assert_allclose(curve.y, 0.1 * sick + 0.9 * well, rtol=1e-12)
    assert choice.plot().ax_.get_xlabel() == "threshold: decide treat from this score on"


def test_a_decision_by_a_figure_and_one_with_several_thresholds():
    _, truth, score = rows_of_two()
    ev = stakes.evaluate(truth=truth, score=score)
    choice = ev.decide(best="f1")
    curve = choice.over_thresholds
    np.testing.assert_allclose(curve.y, [f1_score(truth, score >= t) for t in curve.x])
    assert choice.plots == ("threshold", "alternatives")
    assert pickle.loads(pickle.dumps(choice)).threshold == choice.threshold
    ask = stakes.Costs([[0, 0.2, 1], [5, 0.2, 0]], ["0", "1"], ["0", "ask", "1"])
    with_doubts = stakes.decide(truth=truth.astype(int), score=score, costs=ask)
    assert with_doubts.plots == ("alternatives",)
    shown = with_doubts.plot()
    assert shown.artists["points"].get_offsets()[0, 0] == with_doubts.cost.value
    assert "always “ask”" in [label.get_text() for label in shown.ax_.get_yticklabels()]


# ── systems ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_network_of_a_system(system):
    arrows = arrows_of(system.network)
    assert set(arrows) == {
        *(("truth", name) for name in ("images", "history", "late", "cost")),
        *(("images", name) for name in ("late", "either")),
        *(("history", "either"), ("either", "decision"), ("late", "decision"), ("decision", "cost")),
    }
    places = layout(arrows)
    assert all(places[one][0] < places[other][0] for one, other in arrows)
    assert len(set(places.values())) == len(places)
    shown = system.plot()
    assert set(shown.artists["nodes"]) == set(places)
    assert len(shown.artists["arrows"]) == len(arrows)
    circles = [patch for patch in shown.ax_.patches if isinstance(patch, mpl.patches.Circle)]
    assert len(circles) == 6 + 2  # the fuser and the decision are double
    assert {"truth", "images", "history", "late", "either", "decision", "cost"} <= set(drawn_texts(shown))


# ── decision regions ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, names = X.iloc[:, :2], np.array(["setosa", "versicolor", "virginica"])[y]
    return LogisticRegression(max_iter=500).fit(X.to_numpy(), names), X.to_numpy(), names


def grid_of(mesh):
    corners = mesh.get_coordinates()
    middles = (corners[:-1, :-1] + corners[1:, :-1] + corners[:-1, 1:] + corners[1:, 1:]) / 4
    return middles.reshape(-1, 2), np.asarray(mesh.get_array()).ravel()


def test_regions_are_what_the_model_says(flowers):
    model, X, names = flowers
    shown = stakes.plot_regions(model, X, names, resolution=40)
    points, codes = grid_of(shown.artists["surface"])
    assert (model.classes_[codes.astype(int)] == model.predict(points)).mean() > 0.999
    drawn = [rows.get_offsets().tolist() for rows in shown.artists["rows"]]
    assert drawn == [X[names == name].tolist() for name in model.classes_]


def test_regions_with_costs_are_bayes_decisions_with_abstention(flowers):
    model, X, names = flowers
    order = ["virginica", "setosa", "versicolor"]  # not that of the model
    costs = stakes.Costs([[0, 3, 3, 0.3], [1, 0, 1, 0.3], [1, 1, 0, 0.3]], order, [*order, "ask"])
    shown = stakes.plot_regions(model, X, names, costs=costs, resolution=40)
    points, codes = grid_of(shown.artists["surface"])
    posteriors = model.predict_proba(points)[:, [list(model.classes_).index(name) for name in order]]
    assert (codes == costs.bayes_decisions(posteriors).codes).mean() > 0.999
    assert (codes == 3).sum() > 50
    words = [text.get_text() for text in shown.artists["legend"].get_texts()]
    assert words[:4] == [f"decide {name}" for name in (*order, "ask")]


@pytest.mark.parametrize("positive", [None, "setosa"])
def test_regions_of_a_miss_and_a_false_alarm(flowers, positive):
    _, X, names = flowers
    model = LogisticRegression().fit(X[:100], names[:100])
    costs = stakes.Costs(miss=10, false_alarm=1)
    shown = stakes.plot_regions(model, X[:100], names[:100], costs=costs, positive=positive, resolution=40)
    points, codes = grid_of(shown.artists["surface"])
    column = 1 if positive is None else 0
    alarms = model.predict_proba(points)[:, column] >= 1 / 11
    assert ((codes == column) == alarms).mean() > 0.999


def test_regions_refuse_what_cannot_be_drawn(flowers):
    model, X, names = flowers
    costs = stakes.Costs(miss=1, false_alarm=1)
    calls = {
        "regions are drawn in a plane, so X must have 2 features, not 3; choose two columns": (
            lambda: stakes.plot_regions(model, np.ones((4, 3)), names)
        ),
        "the LogisticRegression is not fitted; call fit(X, y) first": (
            lambda: stakes.plot_regions(LogisticRegression(), X, names)
        ),
        "costs decide by probabilities, and LinearSVC has no predict_proba; leave costs= out": (
            lambda: stakes.plot_regions(LinearSVC().fit(X, names), X, names, costs=costs)
        ),
        "y has 2 rows and X has 150; give the class of every row of X": (
            lambda: stakes.plot_regions(model, X, names[:2], resolution=5)
        ),
    }
    for words, call in calls.items():
        with pytest.raises(InputError) as found:
            call()
        assert str(found.value) == words
    with pytest.raises(InputError, match="Costs"):
        stakes.plot_regions(model, X, names, costs={"miss": 1})
    with pytest.raises(InputError, match="'tulip'"):
        stakes.plot_regions(model, X, names, costs=costs, positive="tulip")
    assert plt.get_fignums() == []


# ── what is refused, and what is left alone ──────────────────────────────────────────────────────────────────────
def test_unknown_kinds_options_axes_and_things_are_refused_in_one_line(two, many):
    _, grid = plt.subplots(1, 2)
    before = plt.get_fignums()
    calls = {
        "there is no plot 'rok' of this; there is 'roc', 'pr', 'histograms', 'cost', 'reject', 'reliability', "
        "'decision', 'confusion' and 'segments'": lambda: two.plot("rok"),
        "the plot 'histograms' has no option 'bin'; did you mean 'bins'?": lambda: two.plot("histograms", bin=3),
        "the plot 'confusion' has no option 'of'; leave it out": lambda: two.plot("confusion", of=1),
        "ax= must be axes of matplotlib (of subplots, one of them: axes[0]), not a ndarray": lambda: two.plot(ax=grid),
        "a dict cannot be drawn; plot an evaluation, curve, decision, comparison, test or system": (
            lambda: stakes.plot({})
        ),
    }
    for words, call in calls.items():
        with pytest.raises(InputError) as found:
            call()
        assert str(found.value) == words
    with pytest.raises(InputError, match="has no option 'colour'"):
        two.plot("roc", colour="red")
    with pytest.raises(InputError, match="'zebra'"):
        many.plot("roc", of="zebra")
    assert plt.get_fignums() == before


def test_a_plot_that_fails_leaves_no_figure(two, monkeypatch):
    monkeypatch.setattr(mpl.axes.Axes, "legend", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        two.plot("roc")
    assert plt.get_fignums() == []


def test_without_matplotlib_it_says_what_to_install(two, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnableError) as found:
        two.plot("roc")
    assert str(found.value) == "plots are drawn with matplotlib, which is missing; pip install matplotlib"


def test_settings_of_the_user_do_not_show_through(two):
    with mpl.rc_context({"axes.titlelocation": "right", "text.usetex": True, "lines.linewidth": 9}):
        shown = two.plot("roc")
        assert shown.artists["line"].get_linewidth() < 3
        shown.figure_.canvas.draw()  # nothing is sent to TeX


# ── names are inert ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("name", EVIL)
def test_names_from_the_data_are_drawn_as_text(name):
    ax = plt.figure().add_subplot()
    text = ax.text(0, 0, inert(name))
    shown, math = text._preprocess_math(text.get_text())
    assert not math
    wanted = " ".join(visible(name).split())
    assert shown.lstrip() == (wanted if len(wanted) <= 28 else wanted[:27] + "…")


def test_classes_that_begin_with_an_underscore_stay_in_the_legend(two):
    ev = stakes.evaluate(truth=["_a", "_b"] * 20, score=np.linspace(0, 1, 40), positive="_a")
    words = [text.get_text() for text in ev.plot("histograms").ax_.get_legend().get_texts()]
    assert [word.lstrip() for word in words] == ["_a (20 rows)", "_b (20 rows)", "threshold 0.50"]


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((0.91234, 0.88, 0.93), "0.912 [0.880, 0.930]"),
        ((0.19, -4.92, 5.29), "0.2 [−4.9, 5.3]"),
        ((4321.0, 4000.0, 5000.0), "4,321 [4,000, 5,000]"),
        ((0.5, None, None), "0.50"),
        ((2.0, 2.0, 2.0), "2.00"),
    ],
)
def test_intervals_say_how_many_decimals_a_figure_is_worth(numbers, words):
    assert with_interval(*numbers) == words


# ── notebooks ────────────────────────────────────────────────────────────────────────────────────────────────────
def svgs_of(thing):
    html = thing._repr_html_()
    parts = [part.partition("</svg>")[0] for part in html.split("<svg")[1:]]
    return [ElementTree.fromstring(f"<svg{part}</svg>") for part in parts]


def words_of(svg):
    return [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]


def test_notebooks_show_the_key_pictures(two, many, regression, comparison):
    roc, table = svgs_of(two)
    auc = two["auc"]
    assert words_of(roc)[0] == f"ROC, AUC {auc.value:.4f} ({auc.low:.4f} – {auc.high:.4f})"
    dot = roc.find("{*}circle")
    x, y = two["false_positive_rate"].value, two["recall"].value
    assert (float(dot.get("cx")), float(dot.get("cy"))) == pytest.approx((46 + 200 * x, 222 - 200 * y), abs=0.06)
    assert [w for w in words_of(table) if w.isdigit()] == [str(n) for n in two.confusion.counts.ravel()]
    (table,) = svgs_of(many)
    assert [w for w in words_of(table) if w.isdigit()] == [str(n) for n in many.confusion.counts.ravel()]
    (cloud,) = svgs_of(regression)
    assert len(cloud.findall("{*}circle")) == 200
    (forest,) = svgs_of(comparison)
    assert len(forest.findall("{*}circle")) == 3
    assert "sharp − blunt" in words_of(forest)


def test_pictures_of_notebooks_are_light_and_take_the_colour_of_the_text(two):
    html = two._repr_html_()
    assert len(html) < 20_000
    assert 'fill="currentColor"' in html
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, 50_000)
    points = points_of(stakes.ErrorSums.from_rows(truth, truth))
    picture = pictures.predicted(points, stakes.Estimate("r2", 1.0))
    assert len(picture) < 60_000
    assert "<circle" not in picture


def test_names_in_pictures_are_escaped():
    ev = stakes.evaluate(truth=["<script>", "b&c"] * 5, prediction=["<script>", "b&c"] * 5, positive="b&c")
    (table,) = svgs_of(ev)
    assert {"<script>", "b&c"} <= set(words_of(table))
    assert "<script>" not in ev._repr_html_()


def test_pictures_that_cannot_be_drawn_are_left_out():
    assert svgs_of(stakes.evaluate(truth=["1", "1"], score=[0.2, 0.9], classes=["0", "1"]))[0] is not None
    lone = stakes.evaluate(truth=[5.5, 5.5], prediction=[5.5, 5.5], task="regression")
    assert len(svgs_of(lone)) == 1
