"""Figures that users declare."""

import math

import numpy as np
import pytest

import stakes
from stakes.metrics.declare import CATALOGUE

Y = np.array([0, 1, 1, 0, 1, 0, 1, 0] * 20)
P = np.clip(0.4 * Y + 0.6 * np.random.default_rng(0).random(160), 0, 1)
D = P >= 0.5


@pytest.fixture(autouse=True)
def forget():
    before = dict(CATALOGUE)
    yield
    CATALOGUE.clear()
    CATALOGUE.update(before)


def g_mean(c):
    return math.sqrt(c.tp / c.P * (c.tn / c.N))  # of a single table: math knows no arrays


def found_share(c):
    return c.tp / (c.tp + c.fn)


def test_an_own_figure_is_judged_like_a_declared_one():
    stakes.metric(found_share, question="What share is found?", range=(0, 1))
    ev, other = stakes.evaluate(truth=Y, score=P), np.sqrt(P)
    own, declared = ev["found_share"], ev["recall"]
    assert own.value == declared.value
    assert own.baseline == pytest.approx(declared.baseline)
    assert own.low <= own.value <= own.high
    pairs = [
        stakes.compare(truth=Y, scores={"a": P, "b": other}, metric=name).pairs[0] for name in ("found_share", "recall")
    ]
    assert pairs[0].difference == pairs[1].difference
    tests = [stakes.permutation_test(truth=Y, prediction=D, metric=name).p_value for name in ("found_share", "recall")]
    assert tests[0] == pytest.approx(tests[1], rel=1e-9)
    assert stakes.gate(ev, require="found_share >= 0.1").passed
    assert not stakes.gate(ev, require="found_share >= 1.1").passed
    assert stakes.metrics.found_share(Y, D) == declared.value
    assert "found_share" in str(stakes.metrics.found_share.scorer())
    assert stakes.evaluate(truth=Y, score=P, by=["a", "b"] * 80).by_segment("found_share").segments


def test_a_function_of_single_tables_has_an_interval_too():
    assert stakes.metric(g_mean).name == "g_mean"
    found = stakes.evaluate(truth=Y, score=P)["g_mean"]
    rates = [stakes.evaluate(truth=Y, score=P)[name].value for name in ("recall", "specificity")]
    assert found.value == pytest.approx(math.sqrt(math.prod(rates)), rel=1e-12)
    assert found.low < found.value < found.high


def test_a_function_of_a_table_of_any_classes_is_judged_like_a_declared_one():
    stakes.metric(lambda c: np.trace(c.counts) / c.counts.sum(), name="own_hits", range=(0, 1))
    rng = np.random.default_rng(2)
    y = rng.choice(["a", "b", "c"], 300)
    first, second = (np.where(rng.random(300) < share, y, rng.choice(["a", "b", "c"], 300)) for share in (0.7, 0.5))
    ev = stakes.evaluate(truth=y, prediction=first, by=["n", "s", "w"] * 100)
    own, declared = ev["own_hits"], ev["accuracy"]
    assert own.value == pytest.approx(declared.value)
    assert own.baseline == pytest.approx(sum((y == one).mean() * (first == one).mean() for one in "abc"))
    assert (own.low, own.high) == pytest.approx((declared.low, declared.high), abs=0.01)
    assert ev.by_segment("own_hits")["n"].value == pytest.approx(ev.by_segment("accuracy")["n"].value)
    pairs = [
        stakes.compare(truth=y, predictions={"x": first, "y": second}, metric=name).pairs[0]
        for name in ("own_hits", "accuracy")
    ]
    assert pairs[0].difference == pytest.approx(pairs[1].difference)
    assert (pairs[0].low, pairs[0].high) == pytest.approx((pairs[1].low, pairs[1].high), abs=0.01)
    tests = [
        stakes.permutation_test(truth=y, prediction=second, metric=name, permutations=99).p_value
        for name in ("own_hits", "accuracy")
    ]
    assert tests[0] == tests[1]
    assert stakes.gate(ev, require="own_hits.low >= 0.5").passed
    two = stakes.evaluate(truth=Y, prediction=D)
    assert two["own_hits"].value == pytest.approx(two["accuracy"].value)


def test_an_own_figure_may_ask_for_classes_by_name_or_for_so_many_of_them():
    prices = np.array([[0, 1, 9, 2], [1, 0, 2, 3], [9, 2, 0, 1], [1, 1, 1, 0]])
    stakes.metric(lambda c: (c.counts * prices).sum() / c.counts.sum(), name="own_price", better="lower")
    stakes.metric(lambda c: c.counts[c.truths.index("d"), c.truths.index("a")], name="d_for_a", better="lower")
    rng = np.random.default_rng(3)
    y, other = rng.choice(list("abcd"), 200), rng.choice(list("abcd"), 200)
    d = np.where(rng.random(200) < 0.7, y, other)
    ev = stakes.evaluate(truth=y, prediction=d)
    places = {name: i for i, name in enumerate("abcd")}
    assert ev["d_for_a"].value == ((y == "d") & (d == "a")).sum()
    price = ev["own_price"]
    assert price.value == pytest.approx(np.mean([prices[places[t], places[p]] for t, p in zip(y, d, strict=True)]))
    shares = [[(y == name).mean() for name in "abcd"], [(d == name).mean() for name in "abcd"]]
    assert price.baseline == pytest.approx(shares[0] @ prices @ shares[1])
    assert price.low < price.value < price.high < price.baseline
    pair = stakes.compare(truth=y, predictions={"d": d, "other": other}, metric="own_price").pairs[0]
    assert pair.difference == pytest.approx(price.value - stakes.metrics.own_price(y, other))
    assert pair.low < pair.difference < pair.high < 0
    assert not stakes.gate(ev, require="own_price.high <= 0.1").passed
    with pytest.raises(stakes.InputError, match=r"the function of own_price failed \(ValueError: .*\(3,3\) \(4,4\)"):
        stakes.evaluate(truth=y[y != "d"], prediction=np.where(d == "d", "a", d)[y != "d"])["own_price"]


def test_an_own_figure_of_any_classes_is_validated():
    from sklearn.dummy import DummyClassifier

    stakes.metric(lambda c: sum(c.counts[i, i] for i in range(len(c.truths))) / c.total, name="own_hits")
    found = stakes.validate(DummyClassifier(), np.zeros((30, 1)), ["a", "b", "c"] * 10, how="2-fold")
    assert found["own_hits"].pooled.value == found["accuracy"].pooled.value


def test_a_division_by_zero_is_undefined():
    stakes.metric(lambda c: c.fp / c.fn, name="alarms_per_miss", better="lower")
    found = stakes.evaluate(truth=[0, 1, 1, 0], prediction=[1, 1, 1, 0])["alarms_per_miss"]
    assert math.isnan(found.value)
    assert found.reason == "its function divides by zero, or has no value"


def test_a_name_can_be_declared_again():
    stakes.metric(lambda c: c.tp, name="mine")
    stakes.metric(lambda c: c.fp, name="mine")
    assert stakes.metrics.mine([0, 1, 1], [1, 1, 1]) == 1


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"name": "auc"}, "name='auc' is no name for a figure of your own, or that of another one"),
        ({"name": "roc_auc"}, "name='roc_auc' is no name"),
        ({"name": "two words"}, "name='two words' is no name"),
        ({}, "name='<lambda>' is no name"),
        ({"name": "x", "of": "rows"}, "of='rows' is not known; give 'table', 'scores', 'probability' or 'number'"),
        ({"name": "x", "better": "up"}, "better='up' is not known; give 'higher', 'lower' or 'neither'"),
    ],
)
def test_what_is_no_figure_of_ones_own(facts, words):
    with pytest.raises(stakes.InputError) as caught:
        stakes.metric(lambda c: c.tp, **facts)
    assert str(caught.value).startswith(words)


def test_a_function_that_fails_is_told():
    stakes.metric(lambda c: c.nothing, name="broken")
    with pytest.raises(stakes.InputError, match=r"the function of broken failed \(AttributeError: .*nothing.*\)"):
        stakes.evaluate(truth=Y, score=P)["broken"]


@pytest.mark.parametrize("of", ["probability", "number"])
def test_a_loss_of_one_row_is_judged_everywhere(of):
    """The mean of |truth − output| under another name must be judged as the declared one is, or as its own mean."""
    loss = stakes.metric(lambda t, p: abs(t - p), of=of, name="own_loss", better="lower", range=(0, math.inf))
    rng = np.random.default_rng(1)
    truth, first, second = Y, P, np.sqrt(P)
    column, several = "score", "scores"
    if of == "number":
        truth, column, several = 3 * rng.random(160), "prediction", "predictions"
        first, second = truth + rng.normal(size=160), truth + 1.5 * rng.normal(size=160)
    site = np.array(["a", "b"] * 80)
    ev = stakes.evaluate(**{"truth": truth, column: first}, by=site)
    sizes = np.abs(truth - first)
    assert loss(truth, first) == pytest.approx(sizes.mean())
    assert ev["own_loss"].value == pytest.approx(sizes.mean())
    assert ev["own_loss"].baseline > 0
    assert (ev["own_loss"].high - ev["own_loss"].low) / (3.92 * sizes.std() / 160**0.5) == pytest.approx(1, abs=0.06)
    gap = sizes - np.abs(truth - second)
    pair = stakes.compare(**{"truth": truth, several: {"a": first, "b": second}}, metric="own_loss").pairs[0]
    assert abs(pair.difference) == pytest.approx(abs(gap.mean()))
    assert (pair.high - pair.low) / (3.92 * gap.std() / 160**0.5) == pytest.approx(1, abs=0.08)
    segment = ev.by_segment("own_loss")["a"]
    assert (segment.value, segment.rest) == pytest.approx((sizes[site == "a"].mean(), sizes[site == "b"].mean()))
    assert segment.p_value is not None
    assert stakes.gate(ev, require=f"own_loss.high <= {sizes.mean() * 2}").passed
    assert (
        stakes.permutation_test(**{"truth": truth, column: first}, metric="own_loss", permutations=99).p_value == 0.01
    )
    if of == "number":
        assert (ev["own_loss"].low, ev["own_loss"].high) == (ev["mae"].low, ev["mae"].high)


def test_a_figure_of_scores_is_judged_like_a_declared_one():
    def own_auc(table):
        steps = table.as_columns()
        positives, negatives = steps.values["positives"], steps.values["negatives"]
        below = negatives.sum() - np.cumsum(negatives) + negatives / 2
        return (positives * below).sum() / (positives.sum() * negatives.sum())

    stakes.metric(own_auc, of="scores", range=(0, 1))
    ev = stakes.evaluate(truth=Y, score=P, by=["a", "b"] * 80)
    own, declared = ev["own_auc"], ev.interval("auc", method="delong")
    assert own.value == pytest.approx(declared.value)
    assert own.baseline == 0.5
    assert (own.low, own.high) == pytest.approx((declared.low, declared.high), abs=0.01)
    pairs = [
        stakes.compare(truth=Y, scores={"a": P, "b": np.sqrt(P) * D}, metric=name).pairs[0]
        for name in ("own_auc", "auc")
    ]
    assert pairs[0].difference == pytest.approx(pairs[1].difference)
    assert (pairs[0].low, pairs[0].high) == pytest.approx((pairs[1].low, pairs[1].high), abs=0.01)
    assert ev.by_segment("own_auc")["a"].value == pytest.approx(ev.by_segment("auc")["a"].value)


@pytest.mark.slow
def test_a_new_declaration_is_one_place(tmp_path):
    """A mean of a row loss, a ratio of cells and a figure of scores: each declared once, and known everywhere."""
    from stakes.metrics.declare import metric
    from stakes.metrics.folds import Fold, total
    from stakes.metrics.reasons import NO_NEGATIVES, NO_POSITIVES
    from stakes.tallies import Confusion, ErrorSums
    from stakes.tallies.arithmetic import ratio

    words = {"question": "How much?", "formula": "x", "better": "lower", "reference": "nobody", "pitfall": "none"}

    def root(t, p):
        return np.sqrt(np.abs(t - p))

    def mean_root_error(s: ErrorSums):
        return s.mean_of(root)

    def errors_per_positive(c: Confusion):
        return ratio(c.fp + c.fn, c.P)

    def lost_pairs(pairs, table):
        return 1 - ratio(pairs, 2 * table.P * table.N)

    for function, home in ((mean_root_error, "regression"), (errors_per_positive, "rates"), (lost_pairs, "ranking")):
        function.__module__ = f"stakes.metrics.{home}"  # as if it stood there
    metric(loss=root, parts=("rows",), **words)(mean_root_error)
    metric(undefined=(NO_POSITIVES,), range=(0, math.inf), **words)(errors_per_positive)
    outranking = Fold(lambda s: total(s.negatives * (2 * s.tp - s.positives)), lost_pairs)
    metric(name="lost_pairs", undefined=(NO_POSITIVES, NO_NEGATIVES), **words)(outranking)

    truth = 3 * np.random.default_rng(1).random(160)
    worlds = {
        "mean_root_error": ({"truth": truth, "prediction": truth + P - 0.5}, "predictions", truth - P / 3),
        "errors_per_positive": ({"truth": Y, "score": P}, "scores", np.sqrt(P)),
        "lost_pairs": ({"truth": Y, "score": P}, "scores", np.sqrt(P) * D),
    }
    for name, (rows, several, other) in worlds.items():
        ev = stakes.evaluate(**rows, by=["a", "b"] * 80)
        found = ev[name]
        assert found.low < found.value < found.high, name
        assert name in [row["metric"] for row in ev.to_rows()]
        columns = {"a": rows.get("score", rows.get("prediction")), "b": other}
        pair = stakes.compare(**{"truth": rows["truth"], several: columns}, metric=name).pairs[0]
        assert pair.low < pair.difference < pair.high, name
        assert (pair.p_value < 0.05) == (pair.low > 0 or pair.high < 0), name
        assert ev.by_segment(name)["a"].low is not None, name
        assert stakes.gate(ev, require=f"{name}.high <= {found.high + 1e-6}").passed, name
        assert 0 < stakes.permutation_test(**rows, metric=name, permutations=99).p_value < 0.2, name
        assert name in [one.name for one in stakes.metrics.catalogue()]
        ev.report(tmp_path / f"{name}.html")
        assert name in (tmp_path / f"{name}.html").read_text()


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_baseline_of_a_figure_that_counts_is_that_of_as_many_rows(weight):
    stakes.metric(lambda c: 5 * c.fn + c.fp, name="counted_harm", better="lower")
    random = np.random.default_rng(0)
    truth, said = random.random((2, 300)) < 0.4
    weights = np.ones(300) if weight is None else random.random(300)
    total, P, said_so = weights.sum(), weights @ truth, weights @ said
    expected = (5 * P * (total - said_so) + (total - P) * said_so) / total
    found = stakes.evaluate(truth=truth, prediction=said, weight=weights)["counted_harm"]
    assert found.baseline == pytest.approx(expected)


def test_a_declared_figure_is_in_every_list_and_its_options_may_stand_in_the_decorator():
    @stakes.metric(of="scores", name="positives_seen", better="neither")
    def seen(table):
        return float(table.P)

    @stakes.metric
    def alarms_each(c):
        return (c.tp + c.fp) / c.tp

    ev = stakes.evaluate(truth=[1, 1, 1, 0, 0, 0], score=[0.9, 0.8, 0.3, 0.6, 0.2, 0.1])
    told = {row["metric"]: row["value"] for row in ev.to_rows()}
    assert (told["positives_seen"], told["alarms_each"]) == (3.0, 1.5)
    assert [one.name for one in stakes.metrics.catalogue()][-2:] == ["positives_seen", "alarms_each"]
    assert seen.name == "positives_seen"
