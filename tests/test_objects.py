"""Results are ordinary Python objects: they can be pickled, copied, sent to other processes, and used after a fork."""

import copy
import dataclasses
import inspect
import operator
import os
import pickle
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache, cached_property
from multiprocessing import get_context

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import stakes
from stakes.errors import StakesError
from stakes.tallies.costs import Costs

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
S = np.clip(0.3 * Y + 0.7 * RNG.random(120), 0, 1)
K = RNG.integers(0, 3, 120)
P = RNG.dirichlet([1, 1, 1], 120)
SITE = np.array(["A", "B"])[RNG.integers(0, 2, 120)]
PRICES = Costs(miss=5, false_alarm=1)
CALIBRATORS = (
    stakes.IsotonicCalibrator,
    stakes.SigmoidCalibrator,
    stakes.BetaCalibrator,
    stakes.AffineCalibrator,
    stakes.TemperatureCalibrator,
    stakes.VectorCalibrator,
)
QUIET = pytest.mark.filterwarnings("ignore")


@cache
def results():
    """One result of every kind that users hold, by a name."""
    system = stakes.System(
        {"y": Y, "a": (S > 0.5) * 1, "b": Y},
        truth="y",
        models=["a", "b"],
        decide="a and b",
        costs=PRICES,
    )
    tables = stakes.System(
        classes=["sick", "healthy"],
        models={"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]},
        decide="majority(images, history)",
        costs=PRICES,
    )
    two = stakes.evaluate(truth=Y, score=S, by=SITE, cluster=K + 3 * (np.arange(120) // 3))
    plain = stakes.evaluate(truth=Y, score=S, by=SITE)
    compared = stakes.compare(truth=Y, scores={"a": S, "b": S**2})
    priced = stakes.evaluate(truth=Y, score=S, costs=PRICES)
    counter = stakes.Counter()
    counter.update(Y, S)
    return {
        "counter": counter,
        "two classes": two,
        "decisions": stakes.evaluate(truth=Y, prediction=S > 0.4),
        "costs": priced,
        "costs by row": stakes.evaluate(
            {"y": Y, "s": S, "amount": 1 + S}, truth="y", score="s", costs=Costs(miss="amount", false_alarm=1)
        ),
        "several classes": stakes.evaluate(truth=K, prediction=K[::-1], task="classification"),
        "class scores": stakes.evaluate(truth=K, score=P, classes=[0, 1, 2]),
        "numbers": stakes.evaluate(truth=S, prediction=S + Y),
        "binned": stakes.evaluate(truth=Y, score=S, exact=False),
        "segments": plain.by_segment(),
        "comparison": compared,
        "difference": compared.curve("decision"),
        "decision": stakes.decide(truth=Y, score=S, costs=PRICES),
        "labels": stakes.decide(truth=P > 0.5, score=P, classes=["a", "b", "c"], costs=PRICES),
        "policies": stakes.decide(
            truth=K, score=P, classes=[0, 1, 2], costs=Costs(1 - np.eye(3), ["0", "1", "2"], ["0", "1", "2"])
        ),
        "best figure": stakes.decide(truth=Y, score=S, best="f1"),
        "recalibration": stakes.calibrate(truth=Y, score=S, method="sigmoid"),
        "permutation test": stakes.permutation_test(truth=Y, score=S, permutations=50),
        "validation": stakes.validate(LogisticRegression(), np.column_stack([S, K]), Y, how=3),
        "few labels": stakes.evaluate(truth=np.where(np.arange(120) < 60, Y, np.nan), score=S, unlabelled="estimate"),
        "few classes": stakes.evaluate(
            truth=[*"abc" * 20, *[None] * 60], prediction=[*"abb" * 40], unlabelled="estimate"
        ),
        "few grades": stakes.evaluate(
            truth=np.where(np.arange(120) < 60, S * 2 + 1, np.nan), prediction=S, unlabelled="estimate"
        ),
        "plan": stakes.plan("auc", plain, width=0.1),
        "gate": stakes.gate(plain, require=["auc >= 0.5"]),
        "ranks": stakes.rank(scores={"a": S, "b": S**2, "c": P[:, 0]}, cluster=K + 3 * (np.arange(120) // 3)),
        "watch": stakes.watch([stakes.count(truth=Y, score=S, threshold=0.5)] * 3, require=["auc >= 0.5"]),
        "system": system,
        "system of tables": tables,
        "counts": stakes.count(truth=Y, score=S, by=SITE),
        "joint": system.joint,
        "calibrators": [kind().fit(S, Y) for kind in CALIBRATORS[:4]],
        "scalings": [kind().fit(P, K) for kind in CALIBRATORS[3:]],
        "metrics": [stakes.metrics.find(name) for name in ("auc", "f_beta(beta=2)", "macro_f1", "mae")],
        "metric at costs": priced._find("normalised_cost"),
        "scorer": stakes.metrics.expected_cost.scorer(costs=PRICES),
        "curves": [plain.curve(kind) for kind in ("roc", "pr", "cost", "decision", "reject")],
        "parts of systems": [
            tables.worth(),
            tables.bounds("history"),
            tables.component_costs("images"),
            tables.do(images="sick"),
        ],
        "errors": [stakes.errors.InputError("words"), stakes.errors.UnableError("words")],
    }


def reached(root, seen=None, depth=3):
    """The objects of our own that can be had from a result without arguments, attribute by attribute."""
    seen = {} if seen is None else seen
    if isinstance(root, list | tuple):
        for part in root:
            reached(part, seen, depth)
        return seen
    if isinstance(root, dict):
        return reached(list(root.values())[:3], seen, depth)
    if not type(root).__module__.startswith("stakes.") or id(root) in seen or isinstance(root, type):
        return seen
    seen[id(root)] = root
    declared = isinstance(root, stakes.metrics.Metric)  # what it is made of stays where it is declared
    for name in dir(type(root)) + list(vars(root)) if depth and not declared else ():
        member = inspect.getattr_static(root, name, None)
        if name.startswith("_") or not (isinstance(member, property | cached_property) or name in vars(root)):
            continue
        with suppress(StakesError):  # not everything makes sense for every result
            reached(getattr(root, name), seen, depth - 1)
    return seen


def told(thing):
    """What there is to compare of an object and its copy."""
    if hasattr(thing, "to_dict"):
        with suppress(StakesError):
            return thing.to_dict()
    if dataclasses.is_dataclass(thing):
        return sorted(field.name for field in dataclasses.fields(thing))
    return repr(thing) if "0x" not in repr(thing) else type(thing)


@QUIET
@pytest.mark.parametrize("name", results())
@pytest.mark.spread(8)
def test_every_result_can_be_pickled_and_copied(name):
    for thing in {type(thing): thing for thing in reached(results()[name]).values()}.values():
        expected, result = told(thing), thing is results()[name]
        copies = [copy.copy(thing), copy.deepcopy(thing)] if result else []  # of their parts, which take the same way
        for again in (pickle.loads(pickle.dumps(thing)), *copies):
            assert type(again) is type(thing)
            assert told(again) == expected


@QUIET
def test_no_public_class_is_left_out():
    public = {value for value in map(stakes.__getattr__, stakes._HOMES) if inspect.isclass(value)}
    known = {type(thing) for root in results().values() for thing in reached(root).values()}
    left_out = {kind.__name__ for kind in public if not any(issubclass(one, kind) for one in known)}
    assert left_out <= {"InputWarning", "UndefinedWarning"}


@QUIET
def test_a_copy_answers_what_the_original_answers():
    for name in ("two classes", "costs", "class scores", "numbers", "costs by row"):
        ev = results()[name]
        again = pickle.loads(pickle.dumps(ev))
        assert again.to_json() == ev.to_json()
        assert [part.to_json() for part in again.segments.values()] == [part.to_json() for part in ev.segments.values()]


@QUIET
def test_results_travel_to_other_processes_and_back():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        back = pool.submit(operator.itemgetter("auc"), results()["two classes"]).result(timeout=60)
    assert back == results()["two classes"]["auc"]


# ── after fork() ─────────────────────────────────────────────────────────────────────────────────────────────────
def in_a_fork(ask):
    """Ask in a forked child that may take ten seconds; return what it says."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10)
        try:
            said = str(ask())
        except BaseException as problem:
            said = f"{type(problem).__name__}: {problem}"
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child hangs"
    return said


MANY = 1 << 17
ASKED = {
    "arrays": lambda: stakes.evaluate(truth=Y, score=S, by=SITE).segments["A"]["auc"].value,
    "lists of text": lambda: stakes.evaluate(truth=list("abab"), prediction=list("abba"), positive="a")["recall"].value,
    "text in pandas": lambda: (
        stakes.evaluate(pd.DataFrame({"y": SITE, "s": S}), truth="y", score="s", positive="B")["auc"].value
    ),
    "many scores": lambda: stakes.metrics.auc(np.arange(MANY) % 2, np.arange(MANY) * 0.37 % 1),
    "a comparison": lambda: stakes.compare(truth=Y, scores={"a": S, "b": S**2}).pairs[0].p_value,
    "a decision": lambda: stakes.decide(truth=Y, score=S, costs=PRICES).threshold,
}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_answers_alike(asked):
    pl.Series(["b", "a"]).unique().sort()  # Polars has threads now, which no child has
    assert in_a_fork(ASKED[asked]) == str(ASKED[asked]())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_needs_polars_refuses_after_a_fork(tmp_path):
    frame = pl.DataFrame({"y": SITE, "s": S})
    frame.write_csv(tmp_path / "rows.csv")
    frame.unique()
    for data in (tmp_path / "rows.csv", frame, frame.lazy()):
        said = in_a_fork(lambda: stakes.evaluate(data, truth="y", score="s", positive="B"))  # noqa: B023
        assert said.startswith("InputError: this process was forked from one in which Polars was at work")
        assert "get_context('spawn')" in said
    table = {"y": SITE, "s": S, "q": S**2}
    pandas, arrow = pd.DataFrame(table), frame.to_arrow()
    asked = {"truth": "y", "where": "s > 0.2", "positive": "B"}
    for ask in (
        lambda: stakes.evaluate(pandas, score="s", **asked),
        lambda: stakes.count(arrow, score="s", **asked),
        lambda: stakes.compare(table, scores=["s", "q"], **asked),
        lambda: stakes.permutation_test(table, score="s", **asked),
        lambda: stakes.decide(table, score="s", costs=PRICES, **asked),
    ):
        assert "this process was forked from one in which Polars was at work" in in_a_fork(ask)
