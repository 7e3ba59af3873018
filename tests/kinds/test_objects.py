"""Evaluations of every kind as objects: JSON that fits its schema, copies, data frames, notebooks, languages."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import stakes
from stakes.language import speaking
from stakes.language.sentences import metric_name
from tests.kinds.rows import forecasts, labels, outputs, quantiles
from tests.test_cli_schema import validator

BY = np.where(np.arange(60) % 2, "odd", "even")
COUNTS = {"truth": np.arange(60) % 4, "prediction": 1.0 + np.arange(60) % 3, "task": "counts"}
GRADES = {"truth": np.arange(60) % 4, "prediction": np.arange(60) // 2 % 4, "ordered": True}
KINDS = {
    "labels": labels(),
    "outputs": outputs(),
    "quantiles": quantiles(),
    "forecasts": forecasts(),
    "counts": COUNTS,
    "grades": GRADES,
}
every = pytest.mark.parametrize("kind", KINDS)


@every
def test_data_fit_the_schema(kind):
    ev = stakes.evaluate(**KINDS[kind], by=BY, weight=1.0 + np.arange(60) % 2)
    data = json.loads(ev.to_json())
    assert [error.message[:200] for error in validator("evaluate.json").iter_errors(data)] == []
    assert set(data["segments"]) == {"odd", "even"}


@every
def test_a_copy_is_the_same(kind):
    ev = stakes.evaluate(**KINDS[kind])
    copy = pickle.loads(pickle.dumps(ev))
    assert copy.to_json() == ev.to_json()


@pytest.mark.slow
@every
@pytest.mark.spread(3)
def test_views_show_it_in_every_language(kind):
    for lang in ("en", "es", "ru"):
        ev = stakes.evaluate(**KINDS[kind], by=BY, lang=lang)
        for shown in (str(ev), ev._repr_html_()):
            assert ("Can we trust this result?" in shown) == (lang == "en")
            assert any(f"{name}_" in shown for name in ("mean", "samples", "uniform", "quadratic")) is False
        assert {row["segment"] for row in ev.to_rows()} == {None, "odd", "even"}


@every
@pytest.mark.filterwarnings("ignore::stakes.errors.InputWarning")  # conditions that every model meets, or none
def test_gates_ask_for_intervals_in_every_segment(kind):
    ev = stakes.evaluate(**KINDS[kind])
    higher = ev._find(ev._usual_figure).better == "higher"
    met, failed = ("low >= -1e9", "low >= 1e9") if higher else ("high <= 1e9", "high <= -1e9")
    assert stakes.gate(**KINDS[kind], by=BY, require=f"{ev._usual_figure}.{met} in every segment").passed
    assert not stakes.gate(**KINDS[kind], require=f"{ev._usual_figure}.{failed}").passed


def test_frames_of_several_columns_are_columns():
    given = labels()
    truth, said = (pd.DataFrame(given[name], columns=list("abc")) for name in ("truth", "prediction"))
    ev = stakes.evaluate(truth=truth, prediction=said[["c", "a", "b"]])  # matched by name
    assert ev.names == ("a", "b", "c")
    assert (
        ev["macro_f1"].value == stakes.evaluate(truth=given["truth"], prediction=given["prediction"])["macro_f1"].value
    )
    given = outputs()
    ev = stakes.evaluate(truth=pd.DataFrame(given["truth"]), prediction=pd.DataFrame(given["prediction"]))
    assert ev["uniform_r2"].value == stakes.evaluate(**given)["uniform_r2"].value


@pytest.mark.parametrize(
    ("lang", "names"),
    {
        "en": ["F1, plain mean", "weighted interval score", "Poisson deviance", "D² Poisson", "MASE", "AUC, pooled"],
        "es": [
            "F1, media simple",
            "puntuación ponderada de intervalos",
            "desviación de Poisson",
            "D² de Poisson",
            "MASE",
        ],
        "ru": ["F1, простое среднее", "взвешенная оценка интервалов", "девианс Пуассона", "D² Пуассона", "MASE"],
    }.items(),
)
def test_figures_are_called_what_they_are(lang, names):
    texts = ["macro_f1", "weighted_interval_score", "poisson_deviance", "d2_poisson", "mase", "micro_auc"]
    with speaking(lang):
        assert [metric_name(text) for text in texts][: len(names)] == names
