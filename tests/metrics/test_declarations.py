"""Property tests over the declarations: every metric is held to what it says of itself."""

import itertools
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.metrics import measure
from stakes.metrics.declare import ALIASES, CATALOGUE
from stakes.tallies import Confusion, ScoreTable
from tests import exact
from tests.parts import complete, examples

COUNTED = [complete(m) for m in stakes.metrics.catalogue() if m.tally is Confusion]
SCORED = [complete(m) for m in stakes.metrics.catalogue() if m.tally is ScoreTable]
FITTED = [m.name for m in SCORED if m.interval == "line"]
"""Found step by step, so the last digits are not sure."""
ALL = [*COUNTED, *SCORED]
# Each random example is made once and tried on all metrics, since making it takes longer than most figures do.

count = st.one_of(st.integers(0, 4), st.integers(0, 10**4), st.integers(0, 10**15))
cells = st.tuples(count, count, count, count)
coarse = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.5000000000000001, 0.7, 0.9, 1.0])
probability = st.one_of(coarse, st.floats(0, 1, allow_subnormal=False))
scored_rows = st.lists(st.tuples(st.booleans(), probability), min_size=1, max_size=14)


def table_of(four) -> Confusion:
    return Confusion.two_class(**dict(zip(("tp", "fn", "fp", "tn"), four, strict=True)))


def scores_of(rows) -> ScoreTable:
    return ScoreTable.from_rows([s for _, s in rows], [y for y, _ in rows])


def same(a: float, b: float, tolerance: float = 1e-12) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-3)


# ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_every_declared_metric_is_listed():
    assert len(stakes.metrics.catalogue()) == len(CATALOGUE) >= 60
    assert {m.family for m in stakes.metrics.catalogue()} == set(stakes.metrics.FAMILIES)


@pytest.mark.parametrize("metric", stakes.metrics.catalogue(), ids=lambda m: m.name)
def test_a_metric_says_what_it_is(metric):
    assert metric.question.rstrip().endswith(("?", "useful)"))
    assert metric.formula
    assert metric.range[0] < metric.range[1]
    assert metric.better in ("higher", "lower", "neither")
    assert {"question", "formula", "range", "baseline", "interval", "pitfall", "reference"} <= set(metric.facts())
    assert stakes.metrics.find(metric.name) is metric
    assert getattr(stakes.metrics, metric.name) is metric


def test_aliases_are_names_for_the_same_metric():
    for alias, name in ALIASES.items():
        assert stakes.metrics.find(alias) is CATALOGUE[name]
    assert stakes.metrics.sensitivity is stakes.metrics.recall


# ── the formula, run on fractions ────────────────────────────────────────────────────────────────────────────────
@examples(150)
@given(four=cells)
def test_a_count_metric_is_its_formula_to_the_last_bit(four):
    table = table_of(four)
    for metric in COUNTED:
        expected = float(exact.run(metric.formula, exact.of_cells(*four, **metric.parameters)))
        # the differences of the roots lose digits that eighty decimals cannot always give back
        tolerance = 1e-15 if "sqrt" in metric.formula else 0
        assert same(metric.of(table), expected, tolerance), metric.name


def _hardly_differ(rows):
    scores = sorted({score for _, score in rows})
    return any(after - before < 1e-9 for before, after in itertools.pairwise(scores))


@examples(60)
@given(rows=scored_rows)
def test_a_score_metric_is_its_formula_by_brute_force(rows):
    table = scores_of(rows)
    for metric in SCORED:
        value = metric.of(table)
        if metric.why_undefined(table) and math.isnan(value):
            continue
        if metric.name in FITTED and (any(0 < min(s, 1 - s) < 1e-6 for _, s in rows) or _hardly_differ(rows)):
            continue  # between log odds far apart, or nearly the same, many lines fit alike
        names = exact.of_rows([y for y, _ in rows], [s for _, s in rows], **metric.parameters)
        near = 1e-6 if metric.name in FITTED else 1e-11
        assert same(value, float(exact.run(metric.formula, names)), near), metric.name


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("f_beta(beta=0.5)", {"beta": 0.5}),
        ("f_beta(beta=3)", {"beta": 3}),
        ("partial_auc(max_fpr=0.37)", {"max_fpr": 0.37}),
        ("recall_at_precision(precision=0.6)", {"precision": 0.6}),
        ("precision_at_recall(recall=0.5)", {"recall": 0.5}),
        ("precision_at_k(k=3)", {"k": 3}),
        ("recall_at_k(k=3)", {"k": 3}),
        ("ece(bins=4)", {"bins": 4}),
        ("recall_at_specificity(specificity=0.75)", {"specificity": 0.75}),
        ("specificity_at_recall(recall=0.5)", {"recall": 0.5}),
        ("gain(share=0.3)", {"share": 0.3}),
        ("lift(share=0.3)", {"share": 0.3}),
        ("net_benefit(threshold=0.6, harm=0.1)", {"threshold": 0.6, "harm": 0.1}),
        ("soft_cost(miss=5, false_alarm=2)", {"miss": 5, "false_alarm": 2}),
        ("mce_equal_mass(bins=3)", {"bins": 3}),
    ],
)
def test_parameters_reach_the_formula(text, parameters):
    metric = stakes.metrics.find(text)
    assert dict(metric.parameters) == parameters
    assert metric.text == text
    truth, score = [1, 0, 1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.55, 0.3, 0.3, 0.1]
    if metric.tally is Confusion:
        table = Confusion.two_class(tp=5, fn=3, fp=2, tn=7)
        expected = exact.run(metric.formula, exact.of_cells(5, 3, 2, 7, **parameters))
    else:
        table = ScoreTable.from_rows(score, truth)
        expected = exact.run(metric.formula, exact.of_rows(truth, score, **parameters))
    assert same(metric.of(table), float(expected))


# ── undefined, range, laws, swapped classes ──────────────────────────────────────────────────────────────────────
@examples(100)
@given(four=st.tuples(*[st.integers(0, 2)] * 4))
def test_undefined_exactly_when_it_says_so(four):
    """The arithmetic itself (here on a leading axis, where reasons are not consulted) is NaN when a reason applies."""
    table = table_of(four)
    for metric in COUNTED:
        raw = metric.function(Confusion.stack([table]), **metric.parameters)[0]
        assert math.isnan(raw) == bool(metric.why_undefined(table)), metric.name
        assert math.isnan(metric.of(table)) == bool(metric.why_undefined(table)), metric.name


@examples(60)
@given(rows=scored_rows)
def test_a_score_metric_without_value_has_a_reason(rows):
    table = scores_of(rows)
    for metric in SCORED:
        if math.isnan(metric.of(table)):
            assert metric.why_undefined(table), metric.name
        elif not metric.otherwise:
            assert not metric.why_undefined(table), metric.name


@examples(60)
@given(four=cells, rows=scored_rows)
def test_values_and_baselines_stay_in_range(four, rows):
    tallies = {Confusion: table_of(four), ScoreTable: scores_of(rows)}
    for metric in ALL:
        low, high = metric.range
        for value in (metric.of(tallies[metric.tally]), metric.baseline_of(tallies[metric.tally])):
            assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12, metric.name


@examples(60)
@given(four=cells, rows=scored_rows)
def test_nothing_beats_a_perfect_model(four, rows):
    tp, fn, fp, tn = four
    pairs = {
        Confusion: (table_of(four), table_of((tp + fn, 0, 0, fp + tn))),
        ScoreTable: (scores_of(rows), scores_of([(y, float(y)) for y, _ in rows])),
    }
    for metric in ALL:
        value, best = (metric.of(tally) for tally in pairs[metric.tally])
        if not math.isnan(value) and not math.isnan(best):
            assert metric.better != "higher" or value <= best + 1e-12, metric.name
            assert metric.better != "lower" or value >= best - 1e-12, metric.name


LAWS = [(m, law) for m in ALL for law in m.laws]


@examples(80)
@given(four=cells, rows=scored_rows)
def test_laws_hold(four, rows):
    counted, scored = table_of(four), scores_of(rows)
    figures = {
        Confusion: {m.name: m.of(counted) for m in COUNTED},
        ScoreTable: {m.name: m.of(scored) for m in SCORED} | {"prevalence": sum(y for y, _ in rows) / len(rows)},
    }
    for metric, law in LAWS:
        names = figures[metric.tally]
        used = [names[word] for word in set(re.findall(r"[a-z_0-9]+", law)) if word in names]
        if all(math.isfinite(v) for v in used):
            left, sign, right = re.split(r" (==|<=) ", law)
            left, right = (exact.run(side, {**names, "sqrt": math.sqrt}) for side in (left, right))
            assert same(left, right, 1e-9) or (sign == "<=" and left <= right), (metric.name, law)


SWAPPED = [m for m in ALL if m.swapped]


@examples(80)
@given(four=cells, rows=st.lists(st.tuples(st.booleans(), st.integers(0, 64)), min_size=1, max_size=12))
def test_swapping_the_classes_does_what_it_says(four, rows):
    counted, scored = table_of(four), scores_of([(y, s / 64) for y, s in rows])
    # the other class is positive, and its probability is 1 − p (sixty-fourths are exact)
    swapped = {Confusion: counted.swapped(), ScoreTable: scores_of([(not y, 1 - s / 64) for y, s in rows])}
    figures = {Confusion: {m.name: m.of(counted) for m in COUNTED}, ScoreTable: {m.name: m.of(scored) for m in SCORED}}
    for metric in SWAPPED:
        expected = float(exact.run(metric.swapped, figures[metric.tally]))
        assert same(metric.of(swapped[metric.tally]), expected, 1e-9), metric.name


def test_f1_changes_when_the_classes_swap_names():
    always = Confusion.two_class(tp=80, fn=0, fp=20, tn=0)
    assert stakes.metrics.f1(always) == pytest.approx(0.888889, abs=5e-7)
    assert stakes.metrics.f1(always.swapped()) == 0


# ── weights, order, leading axes ─────────────────────────────────────────────────────────────────────────────────
def on_rows(metric, truth, other, weight=None) -> float:
    """The metric on arrays, with undefined as NaN."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stakes.UndefinedWarning)
        decided = np.asarray(other) if metric.tally is ScoreTable else (np.asarray(other) >= 0.5).astype(int)
        return metric(np.asarray(truth, int), decided, weight=weight, positive=1)


@examples(50)
@given(rows=scored_rows, data=st.data())
def test_a_weight_of_two_is_a_row_twice_and_zero_is_no_row(rows, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)).filter(any))
    truth, other = [y for y, _ in rows], [s for _, s in rows]
    repeated = [row for row, w in zip(rows, weights, strict=True) for _ in range(w)]
    for metric in ALL:
        if metric.name.endswith("_at_k"):  # k rows are k of rows of equal weight, not a weight of k
            continue
        weighted = on_rows(metric, truth, other, weight=weights)
        again = on_rows(metric, [y for y, _ in repeated], [s for _, s in repeated])
        assert same(weighted, again, 1e-12), metric.name


@examples(40)
@given(rows=scored_rows, data=st.data(), scale=st.sampled_from([2.0**-20, 0.125, 4.0, 2.0**20]))
def test_the_scale_of_the_weights_does_not_matter(rows, data, scale):
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows))), float)
    truth, other = [y for y, _ in rows], [s for _, s in rows]
    for metric in ALL:
        one, two = on_rows(metric, truth, other, weights), on_rows(metric, truth, other, weights * scale)
        assert same(one, two, 1e-12), metric.name


@examples(40)
@given(rows=scored_rows, seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(rows, seed):
    truth, other = np.array([y for y, _ in rows]), np.array([s for _, s in rows])
    order = np.random.default_rng(seed).permutation(len(rows))
    for metric in ALL:
        one, two = on_rows(metric, truth, other), on_rows(metric, truth[order], other[order])
        assert same(one, two, 0), metric.name


@examples(40)
@given(tables=st.lists(st.tuples(*[st.integers(0, 10**6)] * 4), min_size=1, max_size=5))
def test_a_leading_axis_gives_each_table_its_figure(tables):
    each_is_that_of_its_table(COUNTED, [table_of(four) for four in tables], 1e-9)


@examples(40)
@given(parts=st.lists(scored_rows, min_size=1, max_size=4))
def test_a_leading_axis_gives_each_score_table_its_figure(parts):
    each_is_that_of_its_table(SCORED, [scores_of(rows) for rows in parts], 1e-12)


def each_is_that_of_its_table(metrics, singles, near) -> None:
    stacked = type(singles[0]).stack(singles)
    for metric in metrics:
        for figure in (metric.of, metric.baseline_of):
            found = np.broadcast_to(figure(stacked), len(singles))
            wanted = [figure(table) for table in singles]
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=near, err_msg=metric.name)


# ── on arrays ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_undefined_warns_with_the_reason():
    with pytest.warns(stakes.UndefinedWarning, match="precision is undefined: nothing is decided positive"):
        assert math.isnan(stakes.metrics.precision([1, 0, 1], [0, 0, 0]))
    with pytest.warns(stakes.UndefinedWarning, match=r"recall_at_precision is undefined: no threshold .* of 0\.9"):
        stakes.metrics.recall_at_precision([0, 1, 0], [0.9, 0.2, 0.1])
    with pytest.warns(stakes.UndefinedWarning, match="fewer than 10 rows"):
        stakes.metrics.precision_at_k([0, 1, 0], [0.9, 0.2, 0.1])


def test_a_probability_figure_of_logits_is_an_error_when_asked_for_by_name():
    with pytest.raises(stakes.InputError, match=r"log_loss needs probabilities, but the scores run from -2 to 3;"):
        stakes.metrics.log_loss([0, 1, 1], [-2.0, 3.0, 0.5])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("precison", "there is no metric 'precison'; did you mean 'precision'"),
        ("zzz", "there is no metric 'zzz'; `stakes metrics` lists them all"),
        ("f_beta(gamma=1)", "f_beta has no parameter 'gamma'; it takes 'beta'"),
        ("f1(beta=1)", "f1 has no parameter 'beta'; it is written behind the figure: 'f_beta"),
        ("f_beta(beta=-1)", r"f_beta\(beta=-1\) does not work; give a number above 0"),
        ("precision_at_k(k=2.5)", r"precision_at_k\(k=2\.5\) does not work; give a whole number from 1 on"),
        ("partial_auc(max_fpr=2)", r"partial_auc\(max_fpr=2\) does not work; give a number above 0, at most 1"),
        ("f_beta(beta='x')", "does not work"),
        ("f_beta(2)", "is not how a metric is written"),
        ("f_beta(beta=open('x'))", "is not how a metric is written"),
        ("f1.__class__()", "is not how a metric is written"),
        ("f_beta(", "is not how a metric is written"),
    ],
)
def test_a_name_that_is_wrong_gets_a_useful_line(text, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.metrics.find(text)


def test_calling_a_metric_wrongly_says_how():
    with pytest.raises(stakes.InputError, match=r"call auc\(truth, score\), or auc\(table\) with a scores table"):
        stakes.metrics.auc([0, 1])
    with pytest.raises(stakes.InputError, match="auc needs a scores table, not a Confusion"):
        stakes.metrics.auc(Confusion.two_class(tp=1, fn=1, fp=1, tn=1))
    with pytest.raises(AttributeError, match="did you mean 'recall'"):
        _ = stakes.metrics.recal


def test_several_metrics_share_one_walk(monkeypatch):
    table = scores_of([(True, 0.9), (False, 0.4), (True, 0.3)])
    walks = []
    original = ScoreTable.blocks
    monkeypatch.setattr(ScoreTable, "blocks", lambda self: walks.append(1) or original(self))
    folded = [m for m in SCORED if m.name not in FITTED]
    values = measure(folded, table)
    assert len(walks) == 1
    assert all(same(v, m.of(table)) for m, v in zip(folded, values, strict=True))


def test_counts_of_any_size_are_exact_for_score_metrics_too():
    """10¹⁵ rows in a few steps: products of counts do not fit into 64 bits."""
    table = ScoreTable.from_columns([0.9, 0.5, 0.1], [10**15, 3, 10**15 - 7], [5, 10**15 + 1, 10**15])
    small = ScoreTable.from_columns([0.9, 0.5, 0.1], [10**6, 3, 10**6], [5, 10**6, 10**6])
    P, N = 2 * 10**15 - 4, 2 * 10**15 + 6
    wins = Fraction(10**15 * (2 * (N - 5) + 5) + 3 * (2 * 10**15 + 10**15 + 1) + (10**15 - 7) * 10**15, 2)
    assert stakes.metrics.auc(table) == float(wins / (P * N))
    for metric in SCORED:  # every other figure works at that size as well, and looks like that of a smaller table
        assert same(metric.of(table), metric.of(small), 1e-4) or "k(" in metric.text or metric.name.endswith("_k")


def test_the_catalogue_has_its_old_name_for_one_release():
    with pytest.deprecated_call(match=r"metrics\.catalogue\(\)"):
        assert stakes.metrics.list() == stakes.metrics.catalogue()
