"""Examples of other kinds of answers, against scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics as sk

from tests.examples import ran


@pytest.mark.slow
def test_several_labels():
    shown, names = ran("kinds/several_labels")
    said = np.column_stack(names["scores"]) >= 0.5
    assert names["ev"]["macro_f1"].value == pytest.approx(sk.f1_score(names["tags"], said, average="macro"))
    assert "Label by label" in shown


def test_grades():
    _, names = ran("kinds/grades")
    said = names["scores"].argmax(1)
    assert names["ev"]["quadratic_kappa"].value == pytest.approx(
        sk.cohen_kappa_score(names["codes"], said, weights="quadratic")
    )


def test_claims():
    shown, names = ran("kinds/claims")
    expected = sk.d2_tweedie_score(
        names["claims"] / names["years"], names["rates"], sample_weight=names["years"], power=1
    )
    assert names["ev"]["d2_poisson"].value == pytest.approx(expected)
    assert "of the claims" in shown


def test_predicted_intervals():
    shown, names = ran("kinds/predicted_intervals")
    truth, said = names["diabetes"].target, names["quantiles"]
    losses = [sk.mean_pinball_loss(truth, one, alpha=level) for level, one in said.items()]
    assert names["ev"]["crps"].value == pytest.approx(2 * np.mean(losses))
    assert "Do the intervals hold what they promise?" in shown


def test_several_outputs():
    shown, names = ran("kinds/several_outputs")
    expected = sk.r2_score(names["linnerud"].target, names["predicted"], multioutput="variance_weighted")
    assert names["ev"]["variance_weighted_r2"].value == pytest.approx(expected)
    assert "Waist" in shown


def test_forecasts():
    shown, names = ran("kinds/forecasts")
    sales, known = names["sales"], names["known"]
    assert names["ev"]["mase"].value == pytest.approx(np.abs(sales - known)[:, 1:].sum() / np.abs(np.diff(sales)).sum())
    assert "Diebold" in shown
