"""Evaluations in a real local MLflow store."""

import logging
import math
import subprocess
import sys

import numpy as np
import pytest

import stakes
from stakes.errors import InputError
from tests.parts import Lazily

pytestmark = pytest.mark.slow

mlflow = Lazily("mlflow")

RNG = np.random.default_rng(0)
SCORE = RNG.random(300)
TRUTH = (RNG.random(300) < SCORE).astype(int)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of files with its artifacts, both in a folder of their own; nothing is logged elsewhere.

    Building the tables of a database would take longer than all tests.
    """
    folder = tmp_path_factory.mktemp("mlflow")
    logging.getLogger("mlflow").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        before = mlflow.get_tracking_uri()
        mlflow.set_tracking_uri((folder / "runs").as_uri())
        files = (folder / "files").as_uri()
        mlflow.set_experiment(experiment_id=mlflow.create_experiment("one", artifact_location=files))
        yield mlflow.MlflowClient()
        mlflow.set_tracking_uri(before)


def test_two_classes(store, tmp_path):
    costs = stakes.Costs(miss=5, false_alarm=1)
    ev = stakes.evaluate(truth=TRUTH, score=SCORE, costs=costs, prior=0.25, training_prior="rows")
    run = ev.log_to_mlflow()
    assert mlflow.active_run() is None  # a run that was begun is ended
    data = store.get_run(run).data
    for name, estimate in ev.figures.items():
        if not estimate.defined:
            assert name not in data.metrics
            assert f"{name}: {estimate.reason}" in data.tags["stakes.undefined"]
            continue
        assert data.metrics[name] == estimate.value
        limits = [data.metrics.get(f"{name}_{end}") for end in ("low", "high")]
        assert limits == [None if end is None or math.isinf(end) else end for end in (estimate.low, estimate.high)]
    assert data.metrics["auc_low"] < data.metrics["auc"] < data.metrics["auc_high"]
    assert data.params == {
        "task": "binary",
        "rows": "300",
        "dropped": "0",
        "positive": "1",
        "negative": "0",
        "threshold": str(ev.threshold),
        "costs": "a miss 5, a false alarm 1",
        "prior": "0.25",
        "training_prior": "rows",
        "confidence": "0.95",
    }
    page = mlflow.artifacts.download_artifacts(run_id=run, artifact_path="report.html", dst_path=str(tmp_path))
    ev.report(tmp_path / "own.html")
    with open(page, encoding="utf-8") as file:
        assert file.read() == (tmp_path / "own.html").read_text(encoding="utf-8")


def test_several_evaluations_of_one_run(store):
    with mlflow.start_run() as run:
        ids = {
            stakes.evaluate(truth=TRUTH[rows], score=SCORE[rows]).log_to_mlflow(prefix, report=False)
            for prefix, rows in (("train/", slice(200)), ("test/", slice(200, 300)))
        }
        assert mlflow.active_run().info.run_id == run.info.run_id  # it is the caller's to end
    assert ids == {run.info.run_id}
    data = store.get_run(run.info.run_id).data
    assert (data.params["train/rows"], data.params["test/rows"]) == ("200", "100")
    assert data.metrics["train/auc"] != data.metrics["test/auc"]
    assert store.list_artifacts(run.info.run_id) == []


def test_undefined_and_infinite_figures_are_told_as_such(store):
    ev = stakes.evaluate(truth=[1, 1, 0, 0], prediction=[1, 1, 0, 0])
    data = store.get_run(ev.log_to_mlflow(report=False)).data
    assert all(math.isfinite(value) and value < 1e300 for value in data.metrics.values())
    assert "odds_ratio: " in data.tags["stakes.undefined"]


@pytest.mark.parametrize(
    "columns",
    [
        {"truth": [1.5, 2.5, 3.5, 5], "prediction": [1, 2, 4, 4.5]},
        {"truth": ["a", "b", "c", "a"], "prediction": ["a", "b", "c", "c"]},
    ],
)
def test_other_tasks(store, columns):
    ev = stakes.evaluate(**columns)
    data = store.get_run(ev.log_to_mlflow("x-", report=False)).data
    finite = {name for name, one in ev.figures.items() if math.isfinite(one.value)}
    assert finite == {name.removeprefix("x-") for name in data.metrics} & set(ev.figures)
    assert data.params["x-rows"] == "4"


@pytest.mark.parametrize("prefix", ["a b", "50%", "/root", "../up/", "ä", 5, "x" * 101])
def test_a_prefix_that_mlflow_could_not_take(store, prefix):
    ev = stakes.evaluate(truth=TRUTH, score=SCORE)
    with pytest.raises(InputError, match="cannot begin names in MLflow; use at most 100 letters"):
        ev.log_to_mlflow(prefix)
    assert mlflow.active_run() is None


def test_without_mlflow_one_line_says_what_to_install():
    code = """
import sys
sys.modules["mlflow"] = None
import stakes
stakes.evaluate(truth=[0, 1], score=[0.1, 0.9]).log_to_mlflow()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1].endswith("which is missing; pip install mlflow-skinny")
