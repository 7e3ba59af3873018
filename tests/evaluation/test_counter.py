"""A counter of batches, through NumPy, and through PyTorch where that is installed."""

import importlib.util
import itertools

import numpy as np
import pytest

import stakes
from stakes.engines.tensors import running

MAKERS = ["numpy", *(["torch"] if importlib.util.find_spec("torch") else [])]
RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 1000)
SCORE = np.clip(RNG.normal(0.4 + 0.2 * TRUTH, 0.2), 0.01, 0.99).astype(np.float32)
CUTS = [0, 10, 11, 400, 400, 1000]


@pytest.fixture(params=MAKERS)
def made(request):
    if request.param == "numpy":
        return np.array
    import torch

    return lambda array: torch.from_numpy(np.array(array))


@pytest.fixture(autouse=True)
def small_buffer(monkeypatch):
    monkeypatch.setattr(running, "BUFFER", 300)


def filled(made, truth=TRUTH, score=None, prediction=None, cuts=CUTS, **said):
    counter = stakes.Counter(**said)
    for start, stop in itertools.pairwise(cuts):
        output = {"score": score, "prediction": prediction}
        given = {name: made(one[start:stop]) for name, one in output.items() if one is not None}
        counter.update(made(truth[start:stop]), **given)
    return counter


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_probabilities_in_bins(made, kind):
    score = SCORE.astype(kind)
    found, wanted = filled(made, score=score).compute(), stakes.evaluate(truth=TRUTH, score=score, exact=False)
    assert found.counted.scores == wanted.counted.scores
    for name in ("auc", "accuracy", "log_loss", "brier_score"):
        assert found[name].value == pytest.approx(wanted[name].value, rel=1e-12)
        assert found[name].low == pytest.approx(wanted[name].low, rel=1e-9)
    least, most = stakes.metrics.auc_bounds(found.counted.scores)
    assert least <= stakes.metrics.auc(TRUTH, score) <= most


def test_rows_that_are_kept(made):
    found = filled(made, score=SCORE * 8 - 3, exact=True).compute()
    assert found.counted.scores == stakes.evaluate(truth=TRUTH, score=SCORE * 8 - 3).counted.scores
    truth, score = RNG.integers(0, 3, 1000), RNG.dirichlet([1, 1, 1], 1000)
    many = filled(made, truth, score, exact=True, classes=range(3)).compute()
    assert many["macro_auc"].value == stakes.evaluate(truth=truth, score=score)["macro_auc"].value
    numbers = RNG.normal(size=1000)
    errors = filled(made, numbers, prediction=numbers - 0.1, exact=True, task="regression").compute()
    assert errors["mean_error"].value == pytest.approx(0.1)


def test_decisions(made):
    truth, said = RNG.integers(0, 4, 1000), RNG.integers(0, 4, 1000)
    found = filled(made, truth, prediction=said, classes=range(4)).compute()
    assert found.confusion == stakes.evaluate(truth=truth, prediction=said, task="classification").confusion
    other = filled(made, np.where(TRUTH, -3, 7), prediction=np.where(SCORE > 0.5, -3, 7), classes=[-3, 7], positive=-3)
    assert other.compute()["recall"].value == np.mean(SCORE[TRUTH == 1] > 0.5)


def test_logits(made):
    logit = SCORE.astype(np.float64) * 8 - 3
    found, wanted = filled(made, score=logit, from_logits=True).compute(), 1 / (1 + np.exp(-logit))
    assert found["log_loss"].value == pytest.approx(stakes.metrics.log_loss(TRUTH, wanted), rel=1e-12)
    with pytest.raises(stakes.InputError, match=r"batch 1: score lies outside \[0, 1\] in \d+ rows"):
        filled(made, score=logit).compute()


@pytest.mark.parametrize(
    ("row", "value", "told"),
    [
        (10, np.nan, "batch 2: score is missing in 1 row (the first is row 1, counting from 1); give a value"),
        (411, np.inf, "batch 5: score is infinite in 1 row (the first is row 12, counting from 1); give finite"),
        (405, -0.5, "batch 5: score lies outside [0, 1] in 1 row (the first is row 6, counting from 1), and bins are "
         "those of probabilities; for logits pass from_logits=True, for other scores exact=True"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_batch(made, row, value, told):
    score = SCORE.copy()
    score[row] = value
    counter = filled(made, score=score)
    with pytest.raises(stakes.InputError) as problem:
        counter.compute()
    assert told in str(problem.value)
    with pytest.raises(stakes.InputError, match=r"^batch"):
        (counter + filled(made, score=SCORE)).compute()
    counter.reset()
    counter.update(made(TRUTH), made(SCORE))
    assert counter.compute().rows == 1000


def test_labels_out_of_range_are_told_with_their_batch(made):
    truth = TRUTH.copy()
    truth[[15, 900]] = 5
    with pytest.raises(stakes.InputError) as problem:
        filled(made, truth, SCORE).compute()
    words = "batch 3: truth is not in classes in 2 rows (the first is row 5, counting from 1), which are '0' and '1'"
    assert words in str(problem.value)
    with pytest.raises(stakes.InputError, match="batch 3: prediction is not in classes in 2 rows"):
        filled(made, prediction=truth).compute()


def test_labels_may_be_written_as_fractions_but_be_none(made):
    found = filled(made, TRUTH.astype(np.float32), SCORE).compute()
    assert found.counted.scores == filled(made, score=SCORE).compute().counted.scores
    for wrong in (0.5, np.nan):
        truth = TRUTH.astype(np.float64)
        truth[12] = wrong
        with pytest.raises(stakes.InputError, match="batch 3: truth is not in classes in 1 row"):
            filled(made, truth, SCORE).compute()
    mixed = stakes.Counter()
    for truth, score in ((TRUTH, SCORE), (TRUTH.astype(float), SCORE.astype(float)), (TRUTH > 0, SCORE)):
        mixed.update(made(truth[:90]), made(score[:90]))
    assert mixed.compute()["auc"].value == filled(made, TRUTH[:90], SCORE[:90], cuts=[0, 90]).compute()["auc"].value


def test_counters_add_up_and_are_saved(made):
    halves = [filled(made, TRUTH[half], SCORE[half], cuts=[0, 500]) for half in (slice(500), slice(500, None))]
    wanted = filled(made, score=SCORE).compute().counted
    assert (halves[0] + halves[1]).compute().counted.scores == wanted.scores
    again = stakes.Counter()
    again.load_state_dict(halves[0].state_dict())
    again.update(made(TRUTH[500:]), made(SCORE[500:]))
    assert again.compute().counted.scores == wanted.scores
    kept = [
        filled(made, TRUTH[half], SCORE[half], cuts=[0, 500], exact=True) for half in (slice(500), slice(500, 1000))
    ]
    again = stakes.Counter(exact=True)
    again.load_state_dict((kept[0] + kept[1]).state_dict())
    assert again.compute().counted.scores == stakes.evaluate(truth=TRUTH, score=SCORE).counted.scores
    with pytest.raises(stakes.InputError, match="what a counter counts"):
        halves[0] + kept[0]
    with pytest.raises(stakes.InputError, match="what a counter counts"):
        again.load_state_dict(halves[0].state_dict())
    with pytest.raises(stakes.InputError, match="did not give"):
        again.load_state_dict({})


def test_a_loop_may_reuse_its_tensors(made):
    for exact in (True, False):
        counter, truth, score = stakes.Counter(exact=exact), made(TRUTH[:50]), made(SCORE[:50])
        counter.update(truth, score)
        score[:] = 0
        assert counter.compute()["auc"].value == pytest.approx(stakes.metrics.auc(TRUTH[:50], SCORE[:50]), abs=1e-3)


def test_what_no_counter_counts(made):
    truth, score = made(TRUTH), made(SCORE)
    counter = stakes.Counter()
    with pytest.raises(stakes.InputError, match="truth is empty"):
        counter.compute()
    with pytest.raises(stakes.InputError, match="score has 3 rows but truth has 1,000"):
        counter.update(truth, score[:3])
    with pytest.raises(stakes.InputError, match="either score= or prediction="):
        counter.update(truth)
    with pytest.raises(stakes.InputError, match="pass exact=True, which keeps the rows"):
        stakes.Counter(classes=range(3)).update(truth, made(np.ones((1000, 3))))
    with pytest.raises(stakes.InputError, match="pass exact=True, which keeps the rows"):
        stakes.Counter(task="regression")
    with pytest.raises(stakes.InputError, match="give the whole numbers that stand for the classes"):
        stakes.Counter(classes=["cat", "dog"])
    with pytest.raises(stakes.InputError, match="positive"):
        stakes.Counter(classes=[3, 7])
    counter.update(truth, score)
    with pytest.raises(stakes.InputError, match="earlier batches have score, and this one has prediction"):
        counter.update(truth, prediction=truth)
