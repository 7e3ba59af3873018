"""Two classes of which neither is obviously positive: stakes asks when a figure depends on it, and not before."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import metrics as sklearn_metrics

import stakes
from stakes import Confusion, Costs, Evaluation, InputError
from stakes.engines import streaming
from stakes.errors import Pass, Text
from stakes.metrics import catalogue
from tests.command import run

ROWS = 400
DRAWN = np.random.default_rng(7)
TRUTH = np.where(DRAWN.random(ROWS) < 0.35, "dog", "cat")
SAID = np.where(DRAWN.random(ROWS) < 0.75, TRUTH, np.where(TRUTH == "cat", "dog", "cat"))
OTHER = np.where(DRAWN.random(ROWS) < 0.65, TRUTH, np.where(TRUTH == "cat", "dog", "cat"))
WEIGHT = DRAWN.integers(1, 4, ROWS) / 2
SITE = np.where(np.arange(ROWS) % 2, "A", "B")
FRAME = pd.DataFrame({"y": TRUTH, "said": SAID, "other": OTHER, "w": WEIGHT, "site": SITE})
BY_NAME = {"truth": "y", "prediction": "said"}
PRICES = Costs([[0, 1], [5, 0]], classes=["cat", "dog"], decisions=["cat", "dog"])
OF_DECISIONS = [metric for metric in catalogue() if metric.tally is Confusion and metric.family != "graded"]


def asks(call, *names):
    """Check that a call says what to pass, as data, too."""
    with pytest.raises(InputError) as caught:
        call()
    problem = caught.value
    assert (problem.code, problem.argument) == ("which-positive", "truth")
    assert problem.advice == [Pass("positive", name) for name in names or ("dog", "cat")]


@pytest.fixture(scope="module")
def ev():
    return stakes.evaluate(FRAME, **BY_NAME)


@pytest.fixture(scope="module")
def named():
    return stakes.evaluate(FRAME, **BY_NAME, positive="dog")


# ── which figures are the same for both classes ──────────────────────────────────────────────────────────────────
def by_either_name(metric):
    """The figure of many tables, with either class as the positive one."""
    if metric.lacking:
        metric = metric.with_parameters(miss=5, false_alarm=1)
    tables = [Confusion(("a", "b"), ("a", "b"), cells, positive="b") for cells in DRAWN.integers(0, 9, (50, 2, 2))]
    return np.array([[metric.of(table), metric.of(table.swapped())] for table in tables]).T


@pytest.mark.parametrize("metric", OF_DECISIONS, ids=lambda m: m.name)
def test_what_is_declared_symmetric_is_and_nothing_else(metric):
    one, other = by_either_name(metric)
    assert np.allclose(one, other, rtol=1e-12, equal_nan=True) == metric.symmetric


@pytest.mark.parametrize("metric", OF_DECISIONS, ids=lambda m: m.name)
def test_a_symmetric_figure_is_that_of_a_named_class_and_the_others_ask(ev, named, metric):
    if metric.symmetric:
        assert ev[metric.name] == named[metric.name]
        assert ev.figures[metric.name] == named.figures[metric.name]
        assert metric.of(ev.confusion) == metric.of(named.confusion)
        return
    name = "expected_cost(miss=5, false_alarm=1)" if metric.lacking else metric.name
    asks(lambda: ev[name])
    asks(lambda: ev.interval(name))
    assert metric.name not in ev.figures
    if not metric.lacking:
        asks(lambda: metric.of(ev.confusion))


@pytest.mark.parametrize("metric", [m for m in OF_DECISIONS if m.symmetric], ids=lambda m: m.name)
def test_why_a_symmetric_figure_is_undefined_does_not_depend_on_a_name(metric):
    for cells in ([[3, 0], [0, 0]], [[3, 0], [2, 0]], [[3, 1], [0, 0]]):
        table = Confusion(("a", "b"), ("a", "b"), cells)
        if math.isnan(metric.of(table)):
            assert metric.why_undefined(table)


# ── an evaluation ────────────────────────────────────────────────────────────────────────────────────────────────
def test_there_is_no_positive_class(ev, named):
    assert ev.positive is None
    assert ev.classes == ("cat", "dog")
    assert np.array_equal(ev.confusion.counts, named.confusion.counts)
    assert ev.plots == ("confusion", "roc")


def test_what_only_a_positive_class_gives_says_so(ev):
    words = r"and this is an evaluation of two classes; truth has .* neither is obviously the positive one"
    for name in ("negative", "prevalence"):
        assert not hasattr(ev, name)
        with pytest.raises(InputError, match=words) as caught:
            getattr(ev, name)
        assert caught.value.advice == [Pass("positive", "dog"), Pass("positive", "cat")]


def test_symmetric_figures_are_those_of_scikit_learn(ev):
    of = sklearn_metrics
    expected = {
        "accuracy": of.accuracy_score(TRUTH, SAID),
        "mcc": of.matthews_corrcoef(TRUTH, SAID),
        "cohen_kappa": of.cohen_kappa_score(TRUTH, SAID),
        "balanced_accuracy": of.balanced_accuracy_score(TRUTH, SAID),
    }
    for how in ("macro", "micro", "weighted"):
        expected[f"{how}_f1"] = of.f1_score(TRUTH, SAID, average=how)
        expected[f"{how}_recall"] = of.recall_score(TRUTH, SAID, average=how)
        expected[f"{how}_precision"] = of.precision_score(TRUTH, SAID, average=how)
    assert {name: ev[name].value for name in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["cat", "dog"])
def test_a_figure_of_a_class_is_the_one_with_that_class_as_positive(ev, name):
    alone = stakes.evaluate(FRAME, **BY_NAME, positive=name)
    for figure in ("f1", "recall", "precision", "specificity"):
        assert ev[figure, name].value == alone[figure].value
    assert ev["f1", name].value == pytest.approx(sklearn_metrics.f1_score(TRUTH, SAID, pos_label=name))


def test_scores_are_missed_in_words(ev):
    assert ev["auc"].reason == "no scores were given; pass score="
    assert ev["log_loss"].reason == "no scores were given; pass score="


def test_a_score_asks_at_once():
    asks(lambda: stakes.evaluate(truth=TRUTH, score=np.linspace(0, 1, ROWS)))
    asks(lambda: stakes.evaluate(truth=TRUTH, prediction=SAID, score=np.linspace(0, 1, ROWS)))
    columns = {"cat": np.linspace(0, 1, ROWS), "dog": np.linspace(1, 0, ROWS)}
    asks(lambda: stakes.evaluate(truth=TRUTH, score=columns))


def test_declared_classes_keep_their_order():
    found = stakes.evaluate(FRAME, **BY_NAME, classes=["dog", "cat"])
    assert (found.positive, found.classes) == (None, ("dog", "cat"))
    asks(lambda: found["f1"], "cat", "dog")


@pytest.mark.parametrize("truth", [[1, 2, 2, 1], [0, 2, 2, 0], ["TRUE", "False", "TRUE", "TRUE"]])
def test_any_other_pair_works_at_once(truth):
    found = stakes.evaluate(truth=truth, prediction=truth[::-1], task="classification")
    assert found.positive is None
    assert found["accuracy"].defined


def test_an_obvious_pair_has_a_positive_class():
    assert stakes.evaluate(truth=[0, 1, 1], prediction=[0, 1, 0]).positive == "1"


# ── costs ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_costs_by_name_need_no_positive_class():
    priced, other = (
        stakes.evaluate(FRAME, **BY_NAME, costs=PRICES, prior={"cat": 0.9, "dog": 0.1}, positive=name)
        for name in (None, "dog")
    )
    assert priced.positive is None
    for figure in ("expected_cost", "normalised_cost"):
        assert priced[figure] == other[figure]


def test_costs_of_misses_and_the_share_of_positives_ask(ev):
    misses = Costs(miss=5, false_alarm=1)
    asks(lambda: stakes.evaluate(FRAME, **BY_NAME, costs=misses))
    asks(lambda: ev.priced(misses))
    asks(lambda: stakes.evaluate(FRAME, **BY_NAME, costs=PRICES, prior=0.1))
    asks(lambda: ev.priced(PRICES, prior=0.1))
    asks(lambda: stakes.evaluate(ev.confusion, costs=misses))
    assert ev.priced(PRICES)["expected_cost"].defined


def test_decisions_beyond_the_classes_tell_what_was_said_to_be_positive():
    prices = Costs([[0, 1, 0.5], [5, 0, 0.5]], classes=["cat", "dog"], decisions=["cat", "dog", "ask"])
    said = np.where(np.arange(ROWS) % 5, SAID, "ask")
    unnamed, named = (
        stakes.evaluate(truth=TRUTH, prediction=said, costs=prices, positive=name) for name in (None, "cat")
    )
    assert (unnamed.positive, named.positive, named.confusion.positive) == (None, "cat", "cat")
    assert unnamed["expected_cost"].value == named["expected_cost"].value
    assert unnamed["f1"].reason == named["f1"].reason == "some decisions are no class, so there is only coverage"
    assert unnamed["coverage"].value == named["coverage"].value == 0.8


# ── to look at ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_one_note_says_what_to_pass(ev, named):
    (note,) = [note for note in ev.notes if "obviously the positive class" in note]
    assert isinstance(note, Text)
    assert [part for part in note.parts if isinstance(part, Pass)] == [Pass("positive", "dog"), Pass("positive", "cat")]
    assert not [note for note in named.notes if "obviously the positive class" in note]


def test_every_view_tells_it(ev, tmp_path):
    assert "pass positive='dog' or positive='cat'" in " ".join(str(ev).split())
    assert "positive=&#x27;dog&#x27;" in ev._repr_html_() or "positive='dog'" in ev._repr_html_()
    assert any("positive='dog'" in note for note in ev.to_dict()["notes"])
    assert {row["metric"] for row in ev.to_rows()} >= {"accuracy", "mcc", "macro_f1"}
    ev.report(tmp_path / "report.html")
    assert "Neither “{one}” nor “{other}”" in (tmp_path / "report.html").read_text("utf-8")


@pytest.fixture
def asked(tmp_path):
    """The command line about a file of these rows."""
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    return lambda verb, *more: run(verb, path, "--truth", "y", "--prediction", "said", *more)


def test_the_command_line_tells_figures_and_the_option(asked):
    done = asked("evaluate")
    assert done.returncode == 0
    assert "balanced accuracy" in done.stdout
    assert " ".join(done.stdout.split()).count("pass --positive dog or --positive cat") == 1


def test_a_gate_on_the_command_line(asked):
    assert asked("gate", "--require", "mcc >= 0.1", "--require", "f1[dog] > 0.1").returncode == 0
    done = asked("gate", "--require", "f1 >= 0.1")
    assert done.returncode == 2
    assert "neither is obviously the positive one; pass --positive dog or --positive cat" in done.stderr


# ── every door ───────────────────────────────────────────────────────────────────────────────────────────────────
def same_figures(found, expected):
    assert found.positive is None
    for name in ("accuracy", "mcc", "macro_f1", "informedness"):
        assert found[name] == expected[name]
    asks(lambda: found["recall"])


@pytest.mark.parametrize("more", [{}, {"by": "site"}, {"weight": "w"}])
def test_lazy_tables(more):
    same_figures(
        stakes.evaluate(pl.from_pandas(FRAME).lazy(), **BY_NAME, **more), stakes.evaluate(FRAME, **BY_NAME, **more)
    )


@pytest.mark.parametrize("more", [{}, {"by": "site"}, {"weight": "w"}])
def test_batches(more, tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    FRAME.sort_values("y").to_csv(path, index=False)  # the first batches have one class only
    whole = stakes.evaluate(path, **BY_NAME, **more)
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    monkeypatch.setattr(streaming, "BATCH", 64)
    found = stakes.evaluate(path, **BY_NAME, **more)
    same_figures(found, whole)
    if "by" in more:
        same_figures(found.segments["A"], whole.segments["A"])
        assert found.by_segment("informedness").to_rows() == whole.by_segment("informedness").to_rows()
        asks(lambda: found.by_segment("f1"))


def test_scores_in_batches_ask(tmp_path, monkeypatch):
    path = tmp_path / "rows.csv"
    FRAME.assign(p=0.25).to_csv(path, index=False)
    monkeypatch.setattr(streaming, "MOST_EXACT", 100)
    asks(lambda: stakes.evaluate(path, truth="y", score="p"))


def test_tallies_add_up_are_saved_and_can_be_told_later(ev, named, tmp_path):
    parts = [stakes.count(FRAME[start::2], **BY_NAME, by="site") for start in (0, 1)]
    both = parts[0] + parts[1]
    both.save(tmp_path / "both.tally")
    for found in (Evaluation(both), stakes.evaluate(tmp_path / "both.tally"), stakes.evaluate(parts)):
        same_figures(found, ev)
    for given in (both, tmp_path / "both.tally", parts):
        told = stakes.evaluate(given, positive="dog")
        assert told["f1"] == named["f1"]
        assert told.segments["A"].positive == "dog"
    with pytest.raises(InputError, match="positive='bird' is not a class of truth"):
        stakes.evaluate(both, positive="bird")


def test_a_positive_class_that_was_counted_stays():
    counted = stakes.count(FRAME, **BY_NAME, positive="cat")
    with pytest.raises(InputError, match="fixed when its rows were counted"):
        stakes.evaluate(counted, positive="dog")


def test_a_published_table(ev, named):
    table = Confusion(("cat", "dog"), ("cat", "dog"), named.confusion.counts)
    same_figures(stakes.evaluate(table), ev)
    assert stakes.evaluate(table, positive="dog")["f1"] == named["f1"]
    asks(lambda: table.tp)


def test_segments_and_clusters():
    found = stakes.evaluate(FRAME, **BY_NAME, by="site", cluster=np.arange(ROWS) // 4)
    other = stakes.evaluate(FRAME, **BY_NAME, by="site", cluster=np.arange(ROWS) // 4, positive="dog")
    for name in ("mcc", "informedness"):
        assert found[name] == other[name]
        assert found.segments["B"][name] == other.segments["B"][name]
    assert found.by_segment("mcc").to_rows() == other.by_segment("mcc").to_rows()


def test_metrics_of_arrays(named):
    assert stakes.metrics.mcc(TRUTH, SAID) == named["mcc"].value
    assert stakes.metrics.accuracy(TRUTH, SAID) == named["accuracy"].value
    assert stakes.metrics.informedness(TRUTH, SAID) == named["informedness"].value
    asks(lambda: stakes.metrics.f1(TRUTH, SAID))
    asks(lambda: stakes.metrics.auc(TRUTH, np.linspace(0, 1, ROWS)))


def test_comparisons():
    question = {"truth": "y", "predictions": ["said", "other"], "metric": ["accuracy", "mcc", "informedness"]}
    found, named = (stakes.compare(FRAME, **question, positive=name, resamples=200) for name in (None, "dog"))
    assert [pair.to_dict() for pair in found.pairs] == [pair.to_dict() for pair in named.pairs]
    asks(lambda: stakes.compare(FRAME, **{**question, "metric": "f1"}))


@pytest.mark.parametrize("metric", [None, "accuracy", "informedness"])
def test_permutation_tests_are_exact(metric):
    found, named = (stakes.permutation_test(FRAME, **BY_NAME, metric=metric, positive=name) for name in (None, "dog"))
    assert found.to_dict() == named.to_dict()
    assert "exact" in found.method


def test_a_permutation_test_of_f1_asks():
    asks(lambda: stakes.permutation_test(FRAME, **BY_NAME, metric="f1"))


def test_gates(ev):
    assert stakes.gate(ev, require=["mcc >= 0.1", "f1[dog].low > 0.1"]).passed
    asks(lambda: stakes.gate(ev, require="f1 >= 0.1"))
    asks(lambda: stakes.gate(FRAME, **BY_NAME, require="recall >= 0.1"))
    other = stakes.evaluate(FRAME, truth="y", prediction="other")
    assert stakes.gate(ev, no_worse={"informedness": 0.1}, baseline=other).passed


class Nearest:
    """An estimator that says no more than its decisions."""

    def fit(self, X, y):
        """Remember the mean of each class."""
        self.means = {name: X[y == name].mean() for name in sorted(set(y))}
        return self

    def predict(self, X):
        """Return the class whose mean is nearest."""
        names, means = list(self.means), np.array(list(self.means.values()))
        return np.array(names)[np.abs(X[:, :1] - means).argmin(axis=1)]

    def get_params(self, deep=True):
        """There is nothing to set."""
        return {}


FEATURE = np.where(TRUTH == "dog", 1.0, 0.0)[:, None] + DRAWN.normal(size=(ROWS, 1))


def test_validation_of_decisions():
    found = stakes.validate(Nearest(), FEATURE, TRUTH)
    assert found.pooled.positive is None
    assert found.pooled["mcc"].defined
    asks(lambda: found.pooled["f1"])


def test_validation_of_scores_asks():
    from sklearn.linear_model import LogisticRegression

    asks(lambda: stakes.validate(LogisticRegression(), FEATURE, TRUTH))


def test_scorers():
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(FEATURE, TRUTH)
    expected = sklearn_metrics.matthews_corrcoef(TRUTH, model.predict(FEATURE))
    assert stakes.metrics.mcc.scorer()(model, FEATURE, TRUTH) == pytest.approx(expected)
    asks(lambda: stakes.metrics.f1.scorer()(model, FEATURE, TRUTH))
    asks(lambda: stakes.metrics.auc.scorer()(model, FEATURE, TRUTH))


def test_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(stakes.evaluate(FRAME, **BY_NAME))
