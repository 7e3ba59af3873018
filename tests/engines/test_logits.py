"""from_logits=True makes probabilities of scores; nothing else does."""

import numpy as np
import pytest
from scipy.special import expit, softmax

import stakes

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 300)
LOGIT = RNG.normal(TRUTH, 2).astype(np.float32)


def test_two_classes():
    told, made = ({"truth": TRUTH, "score": one} for one in (LOGIT, expit(LOGIT.astype(float))))
    found, wanted = stakes.evaluate(from_logits=True, **told), stakes.evaluate(**made)
    for name in ("auc", "log_loss", "brier_score", "accuracy"):
        assert found[name].value == pytest.approx(wanted[name].value, rel=1e-14)
    assert stakes.metrics.log_loss(TRUTH, LOGIT, from_logits=True) == pytest.approx(wanted["log_loss"].value, rel=1e-14)
    assert not stakes.evaluate(**told).probabilities


def test_several_classes():
    truth, logits = RNG.integers(0, 3, 200), RNG.normal(size=(200, 3))
    found = stakes.evaluate(truth=truth, score=logits, from_logits=True)
    wanted = stakes.evaluate(truth=truth, score=softmax(logits, axis=1))
    for name in ("multiclass_log_loss", "macro_auc", "accuracy"):
        assert found[name].value == pytest.approx(wanted[name].value, rel=1e-12)
    columns = {str(k): logits[:, k] for k in range(3)}
    by_name = stakes.metrics.multiclass_log_loss(truth, columns, from_logits=True)
    assert by_name == pytest.approx(wanted["multiclass_log_loss"].value, rel=1e-12)


def test_a_file(tmp_path):
    lines = [f"{y},{s!r}" for y, s in zip(TRUTH.tolist(), LOGIT.astype(float).tolist(), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,s", *lines]))
    found = stakes.evaluate(tmp_path / "rows.csv", truth="y", score="s", from_logits=True)["log_loss"].value
    assert found == pytest.approx(stakes.metrics.log_loss(TRUTH, expit(LOGIT.astype(float))), rel=1e-14)


def test_what_is_no_logit():
    with pytest.raises(stakes.InputError, match="score is infinite in 1 row"):
        stakes.evaluate(truth=[0, 1], score=[0.0, np.inf], from_logits=True)
    with pytest.raises(stakes.InputError, match="from_logits=True says that scores are logits, and there is no score"):
        stakes.evaluate(truth=[0, 1], prediction=[0, 1], from_logits=True)
    with pytest.raises(stakes.InputError, match=r"for logits: from_logits=True\)"):
        stakes.metrics.log_loss(TRUTH, LOGIT)
