"""Tensors of PyTorch through every door, and counters in two processes that talk to each other (``make test-torch``).

There is no GPU here. What happens there is tried by letting tensors say that they lie elsewhere: then they are counted
by the operations that a GPU would be given.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import stakes
from stakes import metrics
from stakes.engines.tensors import arrays, counting, operations
from stakes.tallies.keys import Keys

ROOT = Path(__file__).parents[2]
torch.manual_seed(0)
TRUTH = torch.randint(0, 2, (3000,))
SCORE = (0.3 * TRUTH + 0.7 * torch.rand(3000)).clamp(0.01, 0.99)
SAID = (SCORE > 0.5).long()
SEGMENT = torch.randint(0, 3, (3000,))
CLUSTER = torch.arange(3000) // 10


@pytest.fixture
def elsewhere(monkeypatch):
    """Let tensors on the CPU be counted as those of a GPU are, and see that none comes home as it is."""
    monkeypatch.setattr(arrays, "device_of", lambda tensor: "cuda:0")
    monkeypatch.setattr(counting, "as_countable", lambda tensor: tensor.detach())
    monkeypatch.setattr(counting, "FEW", 1000)


@pytest.fixture
def kept_there(elsewhere, monkeypatch):
    def refuse(tensor, argument):
        raise AssertionError(f"{argument} was copied")

    monkeypatch.setattr(arrays, "_from_torch", refuse)


def numpy(tensor):
    return tensor.detach().float().numpy() if tensor.is_floating_point() else tensor.numpy()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_tensors_in_memory_are_arrays(kind):
    score = SCORE.to(kind)
    wanted = stakes.evaluate(truth=TRUTH.numpy(), score=score.double().numpy())
    for given in (score, score.clone().requires_grad_(), torch.stack([score, score], 1)[:, 0]):
        found = stakes.evaluate(truth=TRUTH, score=given)
        assert {name: found[name] for name in ("auc", "log_loss", "f1")} == {
            name: wanted[name] for name in ("auc", "log_loss", "f1")
        }
        assert metrics.auc(TRUTH.bool(), given) == wanted["auc"].value
    table = {"y": TRUTH.int(), "p": score, "segment": SEGMENT}
    by = stakes.evaluate(table, truth="y", score="p", by="segment")
    assert by["auc"] == wanted["auc"]
    assert list(by.segments) == ["0", "1", "2"]


def test_several_classes_numbers_weights_and_comparisons():
    truth, scores = torch.randint(0, 4, (500,)), torch.softmax(torch.randn(500, 4, dtype=torch.float64), 1)
    found, wanted = (stakes.evaluate(truth=y, score=p) for y, p in ((truth, scores), (truth.numpy(), scores.numpy())))
    assert found["macro_auc"] == wanted["macro_auc"]
    columns = {str(k): scores[:, k] for k in range(4)}
    assert stakes.evaluate(truth=truth, score=columns)["macro_auc"] == wanted["macro_auc"]
    numbers = torch.randn(100), torch.randn(100)
    assert metrics.r2(*numbers) == metrics.r2(*(one.numpy() for one in numbers))
    weight = torch.rand(3000) + 0.1
    weighted = stakes.evaluate(truth=TRUTH, score=SCORE, weight=weight, cluster=CLUSTER)["auc"]
    assert weighted == stakes.evaluate(
        truth=TRUTH.numpy(), score=SCORE.numpy(), weight=weight.numpy(), cluster=CLUSTER.numpy()
    )["auc"]  # fmt: skip
    models = {"one": SCORE, "other": torch.rand(3000)}
    both = [stakes.compare(truth=y, scores=s) for y, s in (
        (TRUTH, models), (TRUTH.numpy(), {name: one.numpy() for name, one in models.items()})
    )]  # fmt: skip
    assert both[0].to_dict() == both[1].to_dict()
    gappy = SCORE.clone()
    gappy[5] = torch.nan
    assert stakes.evaluate(truth=TRUTH, score=gappy, missing="drop").counted.dropped == 1


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("truth", [TRUTH, TRUTH.bool(), TRUTH.to(torch.uint8), 2 * TRUTH - 1])
def test_every_figure_where_tensors_lie(kept_there, kind, truth):
    score = SCORE.to(kind).clone().requires_grad_()
    found, wanted = stakes.evaluate(truth=truth, score=score), stakes.evaluate(truth=numpy(truth), score=numpy(score))
    assert found.counted.scores.order is not None
    for name in ("auc", "gini", "ks", "accuracy", "f1", "mcc", "recall"):
        assert found[name].value == wanted[name].value
    for name in ("average_precision", "brier_score", "log_loss"):
        assert found[name].value == pytest.approx(wanted[name].value, rel=1e-12)
    assert metrics.auc(truth, score) == wanted["auc"].value
    few = stakes.evaluate(truth=truth[:900:3], score=score[:900:3])
    assert isinstance(few.counted.scores.store, Keys)
    assert few["log_loss"] == stakes.evaluate(truth=numpy(truth)[:900:3], score=numpy(score)[:900:3])["log_loss"]


def test_decisions_segments_thresholds_and_costs_where_tensors_lie(kept_there):
    columns = {"truth": TRUTH, "prediction": SAID, "by": SEGMENT, "weight": SCORE.double()}
    found = stakes.evaluate(**columns)
    wanted = stakes.evaluate(**{name: one.numpy() for name, one in columns.items()})
    assert found["f1"].value == pytest.approx(wanted["f1"].value, rel=1e-12)
    assert found.segments["2"]["recall"].value == pytest.approx(wanted.segments["2"]["recall"].value, rel=1e-12)
    scored, here = {"truth": TRUTH, "score": SCORE}, {"truth": TRUTH.numpy(), "score": SCORE.numpy()}
    assert stakes.evaluate(**scored, threshold=0.7)["f1"] == stakes.evaluate(**here, threshold=0.7)["f1"]
    prices = {"costs": stakes.Costs(miss=7, false_alarm=1)}
    assert stakes.evaluate(**scored, **prices).confusion == stakes.evaluate(**here, **prices).confusion
    chosen, wanted = stakes.decide(**scored, **prices), stakes.decide(**here, **prices)
    assert chosen.threshold == pytest.approx(wanted.threshold, rel=1e-3)
    parts = stakes.evaluate(**scored, by=SEGMENT)
    assert parts.segments["1"]["auc"].value == metrics.auc(TRUTH[SEGMENT == 1], SCORE[SEGMENT == 1])
    stakes.count(**scored, exact=False)


def test_predicted_numbers_where_tensors_lie(kept_there):
    truth = torch.randn(3000)
    prediction = truth + torch.randn(3000)
    found = stakes.evaluate(truth=truth, prediction=prediction)
    wanted = stakes.evaluate(truth=truth.numpy(), prediction=prediction.numpy())
    for name in ("mean_absolute_error", "r2", "median_absolute_error", "max_error"):
        assert found[name].value == pytest.approx(wanted[name].value, rel=1e-12)
    for figure in (metrics.r2, metrics.mae, metrics.median_absolute_error):
        assert figure(truth, prediction) == pytest.approx(figure(truth.numpy(), prediction.numpy()), rel=1e-12)


def test_class_probabilities_where_tensors_lie(kept_there):
    truth = torch.randint(0, 5, (3000,))
    logits = torch.randn(3000, 5) + torch.nn.functional.one_hot(truth)
    found = stakes.evaluate(truth=truth, score=logits, from_logits=True)
    wanted = stakes.evaluate(truth=truth.numpy(), score=logits.numpy(), from_logits=True)
    assert found.confusion == wanted.confusion
    for name in ("multiclass_log_loss", "multiclass_brier_score", "top_k_accuracy(k=3)", "accuracy"):
        assert found[name].value == pytest.approx(wanted[name].value, rel=1e-12)
    plain = metrics.macro_auc(truth.numpy(), logits.numpy())
    assert metrics.macro_auc(truth, logits) == pytest.approx(plain, abs=1e-4)


def test_what_cannot_be_counted_there_is_copied_and_says_so(elsewhere, caplog):
    caplog.set_level("INFO", "stakes")
    found = stakes.evaluate(truth=TRUTH, score=SCORE, cluster=CLUSTER)
    assert "score, a tensor of shape (3000,), was copied from cuda:0 to be counted" in caplog.text
    assert found["auc"].value == metrics.auc(TRUTH.numpy(), SCORE.numpy())


def test_what_is_wrong_with_tensors():
    for wrong, told in (
        ({"score": torch.empty(3000, device="meta")}, "score is a tensor of shape (3000,) on the device 'meta'"),
        ({"score": SCORE[:5]}, "score has 5 rows but truth has 3,000"),
        ({"score": SCORE.to_sparse()}, "score is a tensor of layout torch.sparse_coo"),
        ({"score": torch.stack([SCORE] * 3, 1)}, "score"),
        ({"score": SCORE.to(torch.complex64)}, "complex64"),
        ({"score": torch.tensor(0.5)}, "score is an array of shape ()"),
    ):
        with pytest.raises(stakes.InputError) as problem:
            stakes.evaluate(truth=TRUTH, **wrong)
        assert told in str(problem.value)
        assert "\n" not in str(problem.value)
    with pytest.raises(stakes.InputError, match="truth is empty"):
        stakes.evaluate(truth=TRUTH[:0], score=SCORE[:0])


def test_tensors_on_different_devices(monkeypatch):
    monkeypatch.setattr(arrays, "device_of", lambda tensor: "cpu" if tensor is TRUTH else "cuda:1")
    with pytest.raises(stakes.InputError) as problem:
        stakes.evaluate(truth=TRUTH, score=SCORE)
    told = "the tensors lie on different devices (truth on cpu, score on cuda:1); bring them to one with .to(device)"
    assert str(problem.value) == told


def test_what_torch_has_no_need_of_is_not_loaded():
    script = (
        "import sys, stakes; stakes.evaluate(truth=[0, 1, 1], score=[0.1, 0.5, 0.9]); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=paths())
    assert done.stdout.strip() == "False"


def test_checkpoints_hold_counters(tmp_path):
    counter = stakes.Counter()
    counter.update(TRUTH, SCORE)
    torch.save(counter.state_dict(), tmp_path / "checkpoint.pt")
    again = stakes.Counter()
    again.load_state_dict(torch.load(tmp_path / "checkpoint.pt", weights_only=True))
    assert again.compute().counted.scores == counter.compute().counted.scores


def paths():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


PROCESS = """
import sys
import numpy as np, torch, stakes
from torch import distributed
rank = int(sys.argv[1])
distributed.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
rng = np.random.default_rng(0)
truth, score = rng.integers(0, 2, 4000), rng.random(4000).astype(np.float32)
mine = slice(rank * 1500, 1500 if rank == 0 else 4000)
for exact in (False, True):
    counter = stakes.Counter(exact=exact)
    for start in range(mine.start, mine.stop, 500):
        counter.update(torch.from_numpy(truth[start:start + 500]), torch.from_numpy(score[start:start + 500]))
    whole = counter.all_reduce()
    wanted = stakes.evaluate(truth=truth, score=score, exact=exact).counted.scores
    assert whole.compute().counted.scores == wanted
    assert np.allclose(0 if exact else whole.compute().counted.scores.losses, 0 if exact else wanted.losses, rtol=1e-12)
    assert counter.compute().rows == mine.stop - mine.start
counter = stakes.Counter()
if rank == 1:  # the other process has seen nothing yet
    counter.update(torch.from_numpy(truth), torch.from_numpy(score))
    counter.update(torch.tensor([1, 0]), torch.tensor([0.5, float("nan")]))
try:
    counter.all_reduce().compute()
except stakes.InputError as problem:
    print(problem)
distributed.destroy_process_group()
"""


def test_two_processes_add_up_what_they_counted(tmp_path):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(rank), str(tmp_path / "meeting")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=paths(),
        )
        for rank in (0, 1)
    ]  # fmt: skip
    for process in started:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        told = "process 1, batch 2: score is missing in 1 row (the first is row 2, counting from 1)"
        assert told in out


def test_a_table_of_truths_and_scores_at_random():
    """Random kinds and shapes, each counted as on a GPU and as rows in memory."""
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(1, 400))
        truth = rng.integers(0, 2, n).astype(rng.choice([np.int8, np.uint8, np.int16, np.int32, np.int64, np.bool_]))
        score = np.round(rng.random(n), int(rng.integers(1, 9))).astype(
            rng.choice([np.float16, np.float32, np.float64])
        )
        if rng.random() < 0.3:
            score = (score * 9 - 4).astype(score.dtype)
        columns = {"truth": torch.from_numpy(truth), "score": torch.from_numpy(score)}
        asked = counting.RowQuestion(**columns)
        here = stakes.count(truth=truth, score=score).scores
        for exact in (True, None):
            counting_few = counting.FEW
            counting.FEW = 0
            try:
                found = counting.count_columns(columns, asked, exact).scores
            finally:
                counting.FEW = counting_few
            assert found.as_columns() == (here if exact else here.binned()).as_columns()
            if here.P and here.N:
                assert metrics.auc(found) == metrics.auc(here)


def test_operations_are_chosen_by_the_library():
    assert type(operations.operations_on(SCORE)) is operations.TorchOperations
    assert type(operations.operations_on(SCORE.numpy())) is operations.ArrayOperations
    assert operations.as_countable(SCORE) is None  # it lies here already


def test_the_bench_runs_without_a_gpu(tmp_path):
    script, page = ROOT / "bench" / "gpu.py", tmp_path / "GPU.md"
    done = subprocess.run(
        [sys.executable, str(script), "--quick", "--output", str(page)], capture_output=True, text=True, env=paths()
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in page.read_text().splitlines() if line.startswith("|")]
    assert not [line for line in lines if "failed" in line]
    assert {line.count("|") for line in lines} == {9}
    for words in ("exact, PyTorch alone", "in bins", "decisions between", "Counter.update", "bfloat16"):
        assert any(words in line for line in lines), words
    assert "the same: True" in page.read_text()
