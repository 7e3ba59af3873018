"""Every public function with nonsense in the place of each argument: an answer, or one line that says what is wrong."""

import datetime
import decimal
import fractions
import inspect
import os
import pathlib
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import stakes
from stakes.engines.plan import Counted
from stakes.metrics.declare import CATALOGUE
from tests.bad_inputs.catalogue import within

QUICKLY = 5
"""So many kinds of nonsense are tried for each argument; all of them in the deep form."""

NONSENSE = {
    "an object": object,
    "a number": lambda: 5,
    "a negative number": lambda: -1,
    "a fraction": lambda: 2.5,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "a number beyond all floats": lambda: 10**400,
    "a word": lambda: "x",
    "nothing but quotes": lambda: "",
    "a NUL byte": lambda: "a\0b",
    "bytes": lambda: b"x",
    "True": lambda: True,
    "an empty list": list,
    "an empty dictionary": dict,
    "a set": lambda: {1, 2},
    "a generator": lambda: (i for i in range(3)),
    "a function": lambda: len,
    "a class": lambda: int,
    "a module": lambda: os,
    "an ellipsis": lambda: ...,
    "an array without axes": lambda: np.array(3.0),
    "an array of three axes": lambda: np.zeros((2, 2, 2)),
    "a table": lambda: np.zeros((40, 2)),
    "a ragged list": lambda: [[1], [1, 2]],
    "mixed kinds": lambda: ["a", 1, None] * 13 + ["a"],
    "complex numbers": lambda: np.ones(40) * 1j,
    "dates": lambda: np.array(["2024-01-01"] * 40, "M8[D]"),
    "times": lambda: [datetime.datetime(2024, 1, 1)] * 40,
    "spans of time": lambda: np.ones(40, "m8[s]"),
    "a sparse matrix": lambda: sparse.csr_matrix(np.eye(40)),
    "a sparse column": lambda: sparse.csr_array(np.ones((40, 1))),
    "a decimal that is none": lambda: decimal.Decimal("NaN"),
    "a time that is none": lambda: pd.NaT,
    "a value that is missing": lambda: pd.NA,
    "no rows": lambda: np.array([]),
    "records": lambda: np.zeros(40, [("a", int), ("b", float)]),
    "an array of bytes": lambda: np.array([b"a", b"b"] * 20),
    "objects": lambda: [object()] * 40,
    "dictionaries": lambda: [{"a": 1}] * 40,
    "tuples": lambda: [(1, 2)] * 40,
    "gaps": lambda: [float("nan")] * 40,
    "words": lambda: ["x", "y"] * 20,
    "one row too many": lambda: [0.5] * 41,
    "a data frame": lambda: pd.DataFrame({"a": [1, 2]}),
    "a series": lambda: pd.Series([1, 2]),
    "an exact third": lambda: fractions.Fraction(1, 3),
    "masked rows": lambda: np.ma.masked_all(40),
}

RNG = np.random.default_rng(0)
Y, P, D, T = [0, 1] * 20, RNG.random(40).round(3).tolist(), [0, 1, 1, 0] * 10, RNG.random(40).tolist()
K, Q, X = (["a", "b", "c"] * 14)[:40], RNG.dirichlet([1, 1, 1], 40), RNG.random((40, 2))
COSTS = stakes.Costs(miss=5, false_alarm=1)
THREE = stakes.Costs((1 - np.eye(3)).tolist(), list("abc"))
PRICED = {"costs": COSTS, "prior": None, "training_prior": None}


def declare(**facts):
    """Declare a figure, ask it, and forget it."""
    before = dict(CATALOGUE)
    try:
        return stakes.metric(**facts)([1, 0, 1], [1, 1, 0])
    finally:
        CATALOGUE.clear()
        CATALOGUE.update(before)


def subjects(folder):
    """Name → (what is called, with which arguments; those that are None are left out unless they are nonsense)."""
    two = stakes.evaluate(truth=Y, score=P, by=["u", "v"] * 20)
    decided, many = stakes.evaluate(truth=Y, prediction=D), stakes.evaluate(truth=K, score=Q, classes=list("abc"))
    counted, both = stakes.count(truth=Y, score=P), stakes.compare(truth=Y, scores={"a": P, "b": P[::-1]})
    tables = {"classes": ["s", "h"], "models": {"i": [[80, 20], [20, 80]], "h": [[50, 50], [100, 100]]}}
    system = stakes.System(**tables, decide="i and h", costs=COSTS)
    fitted = LogisticRegression().fit(X, Y)
    rows = {"truth": Y, "score": P, "positive": None, "classes": None, "weight": None, "threshold": None, "task": None}
    asked = {**rows, "data": None, "prediction": None, "where": None, "missing": None, "by": None, "exact": None}
    sure = {"confidence": None, "seed": None, "cluster": None}
    calibrators = [getattr(stakes, name) for name in stakes.__all__ if name.endswith("Calibrator")]
    return {
        "evaluate": (stakes.evaluate, {**asked, **sure, **PRICED, "design": None, "baseline": None}),
        "evaluate classes": (stakes.evaluate, {"truth": K, "score": Q, "classes": list("abc"), "costs": None}),
        "evaluate numbers": (stakes.evaluate, {"truth": T, "prediction": P, "baseline": None, "weight": None}),
        "evaluate what is left": (stakes.evaluate, {"truth": Y, "score": P, "missing": "drop", "weight": None}),
        "count": (stakes.count, asked),
        "demo_data": (stakes.demo_data, {"name": "diabetes", "path": None}),
        "calibrate": (stakes.calibrate, {"truth": Y, "score": P, "weight": None, "folds": 5, **sure}),
        "decide": (stakes.decide, {"truth": Y, "score": P, **PRICED, **sure, "best": None}),
        "compare": (
            stakes.compare,
            {
                **{name: value for name, value in rows.items() if name != "score"},
                **{"scores": {"a": P, "b": P[::-1]}, "predictions": None, "metric": None, "resamples": 100, **sure},
                **{"margin": None, "paired": None, "simultaneous": None, "id": None, "where": None, "data": None},
                **{**PRICED, "costs": None},
            },
        ),
        "permutation_test": (
            stakes.permutation_test,
            {**rows, "data": None, "prediction": None, "metric": None, "permutations": 10, "seed": None},
        ),
        "plan": (
            stakes.plan,
            {
                **{"figure": "auc", "pilot": two, "width": 0.1, "difference": None, "margin": None, "require": None},
                **{"power": 0.8, "confidence": 0.95, "assurance": None, "by": None, "labels": None, "seed": 0},
            },
        ),
        "plan rates": (
            stakes.plan,
            {"figure": "accuracy", "difference": 0.1, "disagreement": 0.2, "accuracy": 0.8, "prevalence": None},
        ),
        "plan f1": (
            stakes.plan,
            {"figure": "f1", "width": 0.1, "prevalence": 0.2, "recall": 0.8, "precision": None, "specificity": 0.9},
        ),
        "gate": (stakes.gate, {"evaluation": two, "require": "auc > 0", "no_worse": None, "allow_dropped": None}),
        "gate baseline": (stakes.gate, {"evaluation": two, "baseline": two, "no_worse": {"auc": 0.1}}),
        "rank": (
            stakes.rank,
            {
                **{"scores": {"a": P, "b": P[::-1]}, "item": None, "cluster": None, "repeat": None, "data": None},
                **{"model": None, "score": None, "missing": None, "higher_is_better": None, "where": None},
                **{"query": None, "relevance": None, "measure": None, "confidence": None},
            },
        ),
        "rank queries": (stakes.rank, {"scores": {"a": P, "b": P}, "query": K, "relevance": Y, "measure": "mrr"}),
        "watch": (
            stakes.watch,
            {
                **{"days": [counted, counted], "require": "auc >= 0.6", "against": None, "margin": None, "alpha": None},
                **{"life": None, "drop": None, "days_alike": None, "allow_dropped": None, "restart": None},
                **{"costs": None, "state": None},
            },
        ),
        "System": (
            stakes.System,
            {
                **tables,
                **{"decide": "i and h", "costs": COSTS, "data": None, "truth": None, "positive": None, "prior": None},
                **{"fusers": None, "shared_difficulty": None, "confidence": None, "seed": None},
            },
        ),
        "System.from_toml": (stakes.System.from_toml, {"path": ""}),
        "system.do": (system.do, {"values": None, "i": "s"}),
        "system.given": (system.given, {"values": None, "i": "s"}),
        "system.bounds": (system.bounds, {"model": "i", "table": None}),
        "system.break_even": (system.break_even, {"model": "i", "price": None}),
        "system.threshold": (system.threshold, {"model": "i", "score": None}),
        "saving": (system.break_even("i").saving, {"tpr": 0.5, "tnr": 0.5}),
        "tnr": (system.break_even("i").tnr, {"tpr": 0.5}),
        "validate": (
            stakes.validate,
            {
                **{"estimator": LogisticRegression(), "X": X, "y": np.array(Y), "how": 2, "repeats": None},
                **{"stratified": None, "groups": None, "task": None, "positive": None, "classes": None, "seed": None},
                **{"confidence": None, "threshold": None},
            },
        ),
        "metric": (
            declare,
            {"function": lambda c: c.tp, "name": "own_share", "question": "?", "better": "lower", "range": (0, 1)},
        ),
        "Counter": (
            stakes.Counter,
            {"task": "classification", "classes": [0, 1], "positive": 1, "exact": False, "from_logits": False},
        ),
        "Counter.update": (stakes.Counter().update, {"truth": np.array([0, 1]), "score": np.array([0.2, 0.7])}),
        "scorer": (stakes.scorer, {"metric": "f1", "positive": None, "classes": None}),
        "scorer of costs": (stakes.scorer, {"metric": "expected_cost", **PRICED}),
        "plot": (stakes.plot, {"thing": decided, "kind": "confusion"}),
        "plot_regions": (
            stakes.plot_regions,
            {"estimator": fitted, "X": X, "y": np.array(Y), "costs": None, "positive": None, "resolution": 5},
        ),
        "report": (stakes.report, {"thing": decided, "path": folder / "x.html", "lang": "en", "about": ""}),
        "load": (stakes.load, {"path": ""}),
        "findings_of": (stakes.findings_of, {"thing": two}),
        "load_calibrator": (stakes.load_calibrator, {"saved": ""}),
        "cross_fitted": (
            stakes.cross_fitted,
            {
                **{"calibrator": stakes.IsotonicCalibrator(), "score": P, "truth": Y, "folds": 2, "seed": 0},
                **{"weight": None, "groups": None},
            },
        ),
        **{f"{c.__name__}.fit": (c().fit, {"score": P, "truth": Y, "weight": None}) for c in calibrators},
        **{f"{c.__name__}.transform": (c().fit(P, Y).transform, {"score": P}) for c in calibrators},
        "Costs": (stakes.Costs, {"miss": 5, "false_alarm": 1}),
        "Costs of a matrix": (
            stakes.Costs,
            {"matrix": [[0, 1], [5, 0]], "classes": ["a", "b"], "decisions": None},
        ),
        "Costs.from_utilities": (stakes.Costs.from_utilities, {"matrix": [[1, 0], [0, 1]], "classes": ["a", "b"]}),
        "Costs.from_toml": (stakes.Costs.from_toml, {"path": ""}),
        "switch_points": (stakes.Costs([[0, 1], [5, 0]], ["a", "b"]).switch_points, {"positive": "a"}),
        "bayes_decisions": (COSTS.bayes_decisions, {"posteriors": [[0.5, 0.5]], "positive": None}),
        "table_tests": (stakes.table_tests, {"table": [[5, 2], [1, 7]]}),
        "metrics.f1": (lambda t, d, **more: stakes.metrics.f1(t, d, **more), {"t": Y, "d": D, "weight": None}),
        "metrics.auc": (lambda t, d, **more: stakes.metrics.auc(t, d, **more), {"t": Y, "d": P, "positive": None}),
        "metrics.mae": (lambda t, d, **more: stakes.metrics.mae(t, d, **more), {"t": T, "d": P, "baseline": None}),
        "metrics.find": (stakes.metrics.find, {"text": "f1"}),
        "metrics.measure": (stakes.metrics.measure, {"metrics": [stakes.metrics.auc], "tally": counted.scores}),
        "metrics.auc_bounds": (stakes.metrics.auc_bounds, {"table": counted.scores}),
        "parameters": (stakes.metrics.expected_cost.with_parameters, {"miss": 1, "false_alarm": 1}),
        "ev[…]": (lambda name: two[name], {"name": "auc"}),
        "ev[…, class]": (lambda name, of: many[name, of], {"name": "f1", "of": "a"}),
        "ev.interval": (two.interval, {"name": "auc", "confidence": None, "method": None}),
        "ev.at": (two.at, {"threshold": 0.5}),
        "ev.priced": (two.priced, PRICED),
        "ev.priced decisions": (decided.priced, PRICED),
        "ev.priced classes": (many.priced, {"costs": THREE}),
        "ev.decide": (two.decide, {**PRICED, "best": None, "harm": 0.1}),
        "ev[cost, class]": (lambda name, of: two.priced(COSTS)[name, of], {"name": "expected_cost", "of": "1"}),
        "ev.decide classes": (many.decide, {**PRICED, "costs": THREE}),
        "ev.curve": (two.curve, {"kind": "roc"}),
        "ev.curve cost": (two.curve, {"kind": "cost", "threshold": None}),
        "ev.curve decision": (two.curve, {"kind": "decision", "thresholds": None}),
        "ev.curve reject": (two.curve, {"kind": "reject", "threshold": None, "costs": None}),
        "ev.curve of a class": (many.curve, {"kind": "roc", "of": "a"}),
        "ev.histograms": (two.histograms, {"bins": 3}),
        "ev.by_segment": (two.by_segment, {"name": None}),
        "ev.segments": (lambda name: two.segments[name], {"name": "u"}),
        "ev.most_confused": (many.most_confused, {"most": 3}),
        "ev.calibration.reliability": (two.calibration.reliability, {"bins": 3, "by": None}),
        "comparison.pair": (both.pair, {"one": "a", "other": "b", "metric": None}),
        "comparison.curve": (both.curve, {"kind": "decision", "first": "a", "second": "b", "thresholds": None}),
        "Evaluation": (stakes.Evaluation, {"counted": counted, "probabilities": None, "pricing": None}),
        "Counted.sum": (Counted.sum, {"parts": [counted]}),
        "Counted.of": (Counted.of, {"tally": counted.scores}),
        "Counted.from_dict": (Counted.from_dict, {"saved": {}}),
        "counted.save": (counted.save, {"path": folder / "x.tally", "exact": None, "min_cell": None}),
        "Confusion": (stakes.Confusion, {"truths": "a", "decisions": "b", "counts": [[1]], "positive": None}),
        "Confusion.two_class": (
            stakes.Confusion.two_class,
            {"tp": 1, "fn": 2, "fp": 3, "tn": 4, "positive": "p", "negative": "n"},
        ),
        "ScoreTable.from_rows": (stakes.ScoreTable.from_rows, {"scores": P, "truth": Y, "weight": None}),
        "ScoreTable.from_columns": (
            stakes.ScoreTable.from_columns,
            {"scores": [0.1, 0.2], "positives": [1, 2], "negatives": [2, 1]},
        ),
        "ErrorSums.from_rows": (stakes.ErrorSums.from_rows, {"truth": T, "prediction": P, "weight": None}),
        "ClassScores.from_rows": (
            stakes.ClassScores.from_rows,
            {"scores": Q, "truth": np.arange(40) % 3, "classes": list("abc"), "weight": None},
        ),
    }


NAMES = list(subjects(pathlib.Path()))
MADE_BY_OTHERS = {
    *(
        "Calibration",
        "Comparison",
        "Curve",
        "Decision",
        "Estimate",
        "FewClasses",
        "FewGrades",
        "FewLabels",
        "Gate",
        "LabelDecisions",
        "PermutationTest",
        "Plan",
        "Recalibration",
        "Policies",
        "Ranks",
        "Validation",
        "Watch",
    ),
    "findings_of",  # has nothing to say about what is no result
    *(
        "InputError",
        "UnableError",
        "InputWarning",
        "StakesError",
        "UndefinedWarning",
        "GradedItems",
        "JointCounts",
        "metrics",
    ),
}
"""Public names that nobody calls: results of other functions, errors, and what counting makes."""


def test_every_public_function_is_walked():
    walked = {name.partition(".")[0].partition(" ")[0] for name in NAMES}
    assert set(stakes.__all__) - MADE_BY_OTHERS - walked == set()


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    return subjects(tmp_path_factory.mktemp("nonsense"))


def walk(call, given, kinds):
    """Put each kind of nonsense in the place of each argument."""
    valid = {name: value for name, value in given.items() if value is not None}
    for place, argument in enumerate(given):
        for kind in kinds(place):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem = raised(call, {**valid, argument: NONSENSE[kind]()})
            if problem is None or raised_by_the_estimator(problem):
                continue
            fine = isinstance(problem, stakes.StakesError) and "\n" not in str(problem) and len(str(problem)) < 700
            assert fine, f"{argument} as {kind}: {problem!r}"


def raised(call, arguments) -> Exception | None:
    try:
        call(**arguments)
    except Exception as problem:
        return problem
    return None


def raised_by_the_estimator(problem: BaseException) -> bool:
    """What scikit-learn says about features that it cannot take is its own to say."""
    frames = inspect.getinnerframes(problem.__traceback__)
    return any(f"{os.sep}sklearn{os.sep}" in frame.filename for frame in frames)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.spread(24)
def test_nonsense_is_refused_in_one_line(name, walked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    kinds = list(NONSENSE)
    start = NAMES.index(name)

    def some(place):
        return [kinds[(11 * (start + place) + 9 * i) % len(kinds)] for i in range(QUICKLY)]

    with within(10):
        walk(*walked[name], some)


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_all_nonsense_is_refused_in_one_line(name, walked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with within(150):
        walk(*walked[name], lambda place: NONSENSE)
