"""Tensors are counted where they lie: the same code through NumPy, and through PyTorch where that is installed.

``make test-torch`` runs this file, too. What rows in memory give is the outside view here; that is compared with
scikit-learn and brute force elsewhere.
"""

import importlib.util

import numpy as np
import pytest

import stakes
from stakes import metrics
from stakes.engines.counting import count_rows
from stakes.engines.reading import RowQuestion
from stakes.engines.tensors import binned, counting, ordered

MAKERS = ["numpy", *(["torch"] if importlib.util.find_spec("torch") else [])]


@pytest.fixture(params=MAKERS)
def made(request):
    """What makes a tensor of an array."""
    if request.param == "numpy":
        return lambda array: array
    import torch

    return lambda array: torch.from_numpy(np.array(array))


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    """Let a few thousand rows be very many, in blocks that cut through ties."""
    monkeypatch.setattr(counting, "FEW", 0)
    for module in (counting, ordered, binned):
        monkeypatch.setattr(module, "BLOCK", 333)


def counted(made, exact=None, asked=None, **columns):
    tensors = {name: made(column) for name, column in columns.items()}
    named = {**tensors, **(asked or {})}
    return counting.count_columns(tensors, RowQuestion(**named), exact)


def rows(seed, kind=np.float32, digits=9, low=0.0, high=1.0, n=2000):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n)
    score = np.round(np.clip(rng.normal(0.4 + 0.2 * truth, 0.2, n), 0, 1), digits)
    return truth, (low + (high - low) * score).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [1, 3, 9])
@pytest.mark.parametrize("span", [(0, 1), (-4, 3), (0, 50)])
def test_scores_are_the_same_exact_in_bins_and_by_the_sums_of_their_order(made, kind, digits, span):
    truth, score = rows(digits, kind, digits, *span)
    here = count_rows(truth=truth, score=score).scores
    keys = counted(made, True, truth=truth, score=score).scores
    assert keys == here
    assert keys.store.layout == here.store.layout
    folded = counted(made, truth=truth, score=score).scores
    assert folded.as_columns() == here.binned().as_columns()
    for name in ("auc", "gini", "ks"):
        assert metrics.find(name)(folded) == metrics.find(name)(here)  # the same bytes
    assert metrics.average_precision(folded) == pytest.approx(metrics.average_precision(here), rel=1e-13)
    if span == (0, 1):
        straight = counted(made, False, truth=truth, score=score).scores
        assert straight == here.binned()
        for table in (folded, straight):
            np.testing.assert_allclose(table.losses, here.binned().losses, rtol=1e-12)


def test_the_order_of_few_rows_by_brute_force(made):
    truth, score = np.array([1, 0, 1, 1, 0, 0, 1]), np.array([0.5, 0.5, 0.5, 0.9, 0.1, 0.9, 0.2], np.float32)
    order = counted(made, truth=truth, score=score).scores.order
    pairs = [(a, b) for a in score[truth == 1] for b in score[truth == 0]]
    assert order.twice_wins == sum(2 * int(a > b) + int(a == b) for a, b in pairs)
    reached = [(truth[score >= t].sum(), (1 - truth)[score >= t].sum()) for t in score]
    assert order.widest_gap == max(tp * 3 - fp * 4 for tp, fp in reached)
    precision = [truth[score >= t].mean() for t, y in zip(score, truth, strict=True) if y]
    assert order.precision == pytest.approx(sum(precision), rel=1e-15)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, bool])
def test_decisions_with_weights_and_segments(made, kind):
    rng = np.random.default_rng(3)
    most = 2 if kind is bool else 5
    truth, said = rng.integers(0, most, 1500).astype(kind), rng.integers(0, most, 1500).astype(kind)
    columns = {"truth": truth, "prediction": said, "by": rng.integers(-2, 2, 1500)}
    task = {"task": "classification"}
    assert counted(made, asked=task, **columns).tallies == count_rows(**columns, **task).tallies
    found, here = counted(made, asked=task, **columns), count_rows(**columns, **task)
    assert {name: part.confusion for name, part in found.segments.items()} == {
        name: part.confusion for name, part in here.segments.items()
    }
    weight = rng.random(1500) + 0.1
    found, here = counted(made, asked=task, weight=weight, **columns), count_rows(weight=weight, **columns, **task)
    np.testing.assert_allclose(found.confusion.counts.astype(float), here.confusion.counts.astype(float), rtol=1e-13)
    np.testing.assert_allclose(found.confusion.squares.astype(float), here.confusion.squares.astype(float), rtol=1e-13)


@pytest.mark.parametrize(
    "values", [range(150), [-7, 3, 4, 200, 150], range(5, 160)], ids=["all", "few of many", "from 5"]
)
def test_many_classes_are_found_by_the_labels_that_occur(made, values):
    rng = np.random.default_rng(5)
    truth, said = (rng.choice([*values], 4000).astype(np.int32) for _ in range(2))
    said[said == values[-1]] = values[0]  # a class that is never decided for
    named = {"task": "classification", "classes": [*reversed(values)]}
    for asked in ({"task": "classification"}, named):
        columns = {"truth": truth, "prediction": said}
        found, here = counted(made, asked=asked, **columns), count_rows(**columns, **asked)
        assert found.tallies == here.tallies
        assert (found.read, found.confusion.total) == (4000, 4000)


def test_scores_of_segments_and_of_weighted_rows(made):
    truth, score = rows(5)
    rng = np.random.default_rng(6)
    by = {"by": rng.integers(10, 13, len(truth))}
    found, here = counted(made, truth=truth, score=score, **by), count_rows(truth=truth, score=score, **by)
    assert list(found.segments) == list(here.segments) == ["10", "11", "12"]
    for name, part in found.segments.items():
        assert part.scores.as_columns() == here.segments[name].scores.binned("probability").as_columns()
        assert metrics.auc(part.scores) == metrics.auc(here.segments[name].scores)
    weight = rng.random(len(truth)) + 0.1
    found = counted(made, truth=truth, score=score, weight=weight).scores
    here = count_rows(truth=truth, score=score, weight=weight).scores.binned()
    assert set(found.as_columns().values) == set(here.as_columns().values)
    for name, column in here.as_columns().values.items():
        np.testing.assert_allclose(found.as_columns().values[name], column, rtol=1e-12)
    assert metrics.auc(found) == pytest.approx(metrics.auc(here), rel=1e-12)
    assert metrics.log_loss(found) == pytest.approx(metrics.log_loss(here), rel=1e-12)


@pytest.mark.parametrize("exact", [None, False])
def test_a_threshold_inside_a_bin_is_decided_before_the_scores_are_lost(made, exact):
    truth, score = rows(7)
    found = counted(made, exact, {"threshold": 0.7}, truth=truth, score=score)
    assert found.decided_by == "threshold"
    assert found.threshold == 0.7
    assert found.confusion == count_rows(truth=truth, score=score).scores.at(0.7)
    sevens = np.full(4, 0.7, np.float32)  # as the number that it is, a float32 of 0.7 lies below 0.7
    assert counted(made, exact, {"threshold": 0.7}, truth=truth[:4], score=sevens).confusion.counts[:, 1].sum() == 0


def test_probabilities_nearer_to_the_ends_than_bins_are_kept_apart(made):
    score = np.array([0.0, 1e-300, 2e-12, 0.3, 1 - 1e-14, 1.0, 0.5, 0.75])
    truth = np.array([0, 0, 1, 0, 1, 1, 0, 1])
    found = counted(made, False, truth=truth, score=score).scores
    assert found.merged
    assert (found.P, found.N, found.range) == (4, 4, (0.0, 1.0))
    least, most = metrics.auc_bounds(found)
    assert least <= metrics.auc(truth, score) <= most
    assert not counted(made, False, truth=truth[[0, 3, 5]], score=score[[0, 3, 5]]).scores.merged


def test_labels_are_those_of_rows_in_memory(made):
    truth, score = rows(8)
    flags = counted(made, truth=truth.astype(bool), score=score).scores
    assert (flags.positive, flags.negative) == ("true", "false")
    named_as_usual = counted(made, truth=truth, score=score).scores
    signs = counted(made, truth=2 * truth - 1, score=score).scores
    assert (signs.positive, signs.negative, signs.P) == ("1", "-1", truth.sum())
    named = counted(made, asked={"positive": 3}, truth=truth + 3, score=score).scores
    assert (named.positive, named.P) == ("3", (truth == 0).sum())
    assert counted(made, truth=truth.astype(np.float32), score=score).scores == named_as_usual
    ones = counted(made, truth=np.ones(9, np.uint8), score=score[:9]).scores
    assert (ones.P, ones.N) == (9, 0)
    assert np.isnan(metrics.auc.of(ones))


@pytest.mark.parametrize("exact", [True, False, None])
def test_what_is_wrong_is_said_in_the_words_of_rows_in_memory(made, exact):
    truth, score = rows(9, n=50)
    gap, endless, third = score.copy(), score.copy(), truth.copy()
    gap[[3, 7]], endless[5], third[[4, 6]] = np.nan, -np.inf, 2
    for wrong in (
        {"truth": truth, "score": gap},
        {"truth": truth, "score": endless},
        {"truth": truth, "score": score[:10]},
        {"truth": truth[:0], "score": score[:0]},
        {"truth": third, "score": score},
        {"truth": third + 5, "prediction": truth, "classes": [0, 1]},
    ):
        asked = {name: wrong[name] for name in wrong if name == "classes"}
        columns = {name: wrong[name] for name in wrong if name != "classes"}
        with pytest.raises(stakes.InputError) as here:
            count_rows(**wrong)
        with pytest.raises(stakes.InputError) as there:
            counted(made, exact, asked, **columns)
        assert (str(there.value), there.value.code) == (str(here.value), here.value.code)


def test_what_needs_the_rows_is_left_to_the_usual_way(made):
    truth, score = rows(10, np.float64, n=50)
    assert counted(made, truth=truth + 0.5, score=score) is None
    assert counted(made, truth=truth, score=score * 1e200 - 1) is None
    assert counted(made, truth=truth * 10**7, prediction=truth) is None


def test_an_evaluation_of_a_folded_table_says_what_it_knows(made):
    truth, score = rows(11, n=20_000)
    found = stakes.Evaluation(counted(made, truth=truth, score=score))
    here = stakes.evaluate(truth=truth, score=score)
    assert {one.key for one in found.findings} & {"caution.bins", "caution.sorted_bins"} == {"caution.sorted_bins"}
    for name in ("auc", "brier_score", "log_loss", "average_precision", "accuracy", "ks"):
        assert found[name].value == pytest.approx(here[name].value, rel=1e-12)
        if here[name].low is not None:
            size = here[name].high - here[name].low
            assert found[name].low == pytest.approx(here[name].low, abs=0.01 * size)
            assert found[name].high == pytest.approx(here[name].high, abs=0.01 * size)
    parts = [counted(made, truth=truth[half], score=score[half]) for half in (slice(9000), slice(9000, None))]
    whole = (parts[0] + parts[1]).scores
    assert whole.order is None  # pairs between the parts were never seen
    assert whole.as_columns() == found.counted.scores.as_columns()


def test_logits_become_probabilities_when_somebody_says_so(made):
    truth, logit = rows(12, np.float64, low=-6, high=9)
    said = 1 / (1 + np.exp(-logit))
    found = counted(made, asked={"from_logits": True}, truth=truth, score=logit).scores
    assert found.probabilities
    assert metrics.log_loss(found) == pytest.approx(metrics.log_loss(truth, said), rel=1e-12)
    assert not counted(made, truth=truth, score=logit).scores.probabilities
    with pytest.raises(stakes.InputError, match="score is infinite in 1 row"):
        counted(made, asked={"from_logits": True}, truth=truth, score=np.where(logit == logit[3], np.inf, logit))


MEANS = ("mean_absolute_error", "root_mean_squared_error", "r2", "pearson", "mean_error", "max_error")
MEANS += ("mean_absolute_percentage_error", "explained_variance")


@pytest.mark.parametrize(
    ("kind", "weighted", "baseline"), [(np.float64, False, None), (np.float32, True, None), (np.float64, True, 1.5)]
)
def test_predicted_numbers_are_added_up_where_they_lie(made, kind, weighted, baseline, monkeypatch):
    from stakes.engines.tensors import numbers

    monkeypatch.setattr(numbers, "BLOCK", 700)
    rng = np.random.default_rng(13)
    truth = (3 + rng.normal(size=5000)).astype(kind)
    columns = {"truth": truth, "prediction": (truth + rng.normal(0.1, 0.5, 5000)).astype(kind)}
    if weighted:
        columns["weight"] = rng.random(5000) + 0.1
    asked = {} if baseline is None else {"baseline": baseline}
    found = stakes.Evaluation(counted(made, asked=asked, **columns))
    here = stakes.evaluate(**columns, **asked)
    for name in (*MEANS, "median_absolute_error"):
        assert found[name].value == pytest.approx(here[name].value, rel=1e-12), name
        near = 1e-4 if name == "median_absolute_error" else 1e-12  # the median of the baseline is told by its bin
        assert found[name].baseline == pytest.approx(here[name].baseline, rel=near, nan_ok=True), name
        if here[name].low is not None and found[name].low is not None:
            size = here[name].high - here[name].low
            assert found[name].low == pytest.approx(here[name].low, abs=0.05 * size), name
            assert found[name].high == pytest.approx(here[name].high, abs=0.05 * size), name
    gap = columns["prediction"].copy()
    gap[9] = np.nan
    with pytest.raises(stakes.InputError, match=r"prediction is missing in 1 row \(the first is row 10"):
        counted(made, asked=asked, **{**columns, "prediction": gap})


@pytest.mark.parametrize(
    ("form", "kind", "digits"),
    [("probabilities", np.float64, 2), ("probabilities", np.float32, 12), ("logits", np.float32, 12),
     ("scores", np.float64, 12), ("scores", np.float32, 2)],
)  # fmt: skip
def test_class_scores_are_counted_where_they_lie(made, kind, digits, form, monkeypatch):
    from stakes.engines.tensors import classes

    monkeypatch.setattr(classes, "BLOCK", 4 * 700)
    rng = np.random.default_rng(14)
    truth = rng.integers(0, 4, 3000)
    score = rng.normal(size=(3000, 4)) + 1.5 * np.eye(4)[truth]
    if form == "probabilities":
        score = np.exp(score) / np.exp(score).sum(1, keepdims=True)
    score = np.round(score, digits).astype(kind)
    if form == "scores":
        score[:2000] = np.abs(score[:2000]) / 10  # the first blocks could be probabilities
    if form == "probabilities":
        score = (score / score.sum(1, keepdims=True)).astype(kind)
    asked = {"from_logits": True} if form == "logits" else {}
    found = stakes.Evaluation(counted(made, asked=asked, truth=truth, score=score))
    here = stakes.evaluate(truth=truth, score=score, **asked)
    assert found.confusion == here.confusion
    assert found.counted.decided_by == here.counted.decided_by == "score"
    ours, theirs = found.counted.tallies["class_scores"], here.counted.binned().tallies["class_scores"]
    assert (ours.ranks == theirs.ranks).all()
    for one, other in zip(ours.tables, theirs.tables, strict=True):
        if form != "logits":  # whose probabilities are not rounded alike by all libraries
            assert one.as_columns() == other.as_columns()
    names = ["top_k_accuracy(k=2)", "macro_f1"] + ["multiclass_log_loss", "multiclass_brier_score"] * (form != "scores")
    for name in names:
        assert found[name].value == pytest.approx(here[name].value, rel=1e-12), name
    assert found["macro_auc"].value == pytest.approx(here["macro_auc"].value, abs=1e-3 if digits == 2 else 2e-5)
    if form != "scores":
        size = here["multiclass_log_loss"].high - here["multiclass_log_loss"].low
        assert found["multiclass_log_loss"].low == pytest.approx(here["multiclass_log_loss"].low, abs=0.05 * size)
    gap = score.copy()
    gap[9, 2] = np.nan
    with pytest.raises(stakes.InputError, match=r"score is missing in 1 row \(the first is row 10"):
        counted(made, asked=asked, truth=truth, score=gap)


def test_tensors_whose_bins_break_a_promise_are_copied_here(monkeypatch):
    monkeypatch.setattr("stakes.engines.counting.lie_elsewhere", lambda columns: True)
    monkeypatch.setattr(counting, "as_countable", np.asarray)
    generator = np.random.default_rng(3)
    truth, score, weight = generator.random(300) < 0.4, 0.5 + generator.random(300) * 1e-6, generator.random(300) + 1
    question = {"truth": truth, "score": score, "weight": weight}
    assert stakes.evaluate(**question, exact=False).scores.grid is not None
    promised = stakes.evaluate(**question, auc_error=1e-6)
    assert promised["auc"].value == pytest.approx(metrics.auc(truth, score, weight=weight), rel=1e-12)
