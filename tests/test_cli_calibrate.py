"""stakes calibrate, run as a user runs it."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import stakes
from stakes.cli import cli
from stakes.evaluation.recalibrating import apply_calibrator, calibrate
from tests.command import DEMO_FILE, run


@pytest.fixture
def preds(tmp_path):
    rng = np.random.default_rng(0)
    p = np.round(rng.uniform(0.01, 0.99, 400), 4)
    y = rng.random(400) < 1 / (1 + ((1 - p) / p) ** 0.4)  # far too extreme
    file = tmp_path / "preds.csv"
    frame = pl.DataFrame({"case": [f"{i:03d}" for i in range(400)], "y": np.where(y, "yes", "no"), "p": p})
    others = {"gap": pl.lit("NA"), "note": pl.lit('NA, or "none"'), "w": pl.Series(rng.integers(1, 4, 400))}
    frame.with_columns(**others).write_csv(file)
    return file


@pytest.fixture
def flowers(tmp_path):
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(3), 300)
    y = np.array([rng.choice(3, p=row) for row in p])
    p = p**3 / (p**3).sum(1, keepdims=True)
    file = tmp_path / "flowers.parquet"
    names = np.array(["rose", "lily", "iris"])
    pl.DataFrame({"kind": names[y], **{f"p {c}": p[:, i] for i, c in enumerate(names)}}).write_parquet(file)
    return file


FIT = ("--truth", "y", "--score", "p", "--positive", "yes")
KINDS = [f"--score={c}=p {c}" for c in ("rose", "lily", "iris")]


def test_it_tells_how_honest_the_probabilities_are_and_what_would_help(preds, tmp_path):
    saved = tmp_path / "c.json"
    done = run("calibrate", preds, *FIT, "-o", saved)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "? Can the probabilities be taken at face value? Not quite: they are too extreme" in told
    assert "✓ Does recalibration help? Yes: affine recalibration lowers the log loss" in told
    assert all(figure in told for figure in ("slope", "intercept of that line", "shift", "ECE", "miscalibration"))
    assert all(method in told for method in ("as it stands", "isotonic", "sigmoid", "temperature", "beta"))
    assert f"{saved}: the calibrator (affine, fitted on all rows)" in done.stdout
    table = pl.read_csv(preds)
    truth = (table["y"] == "yes").to_numpy()
    fitted = stakes.AffineCalibrator().fit(table["p"].to_numpy(), truth)
    named = {"score": "p", "positive class": "yes"}
    assert stakes.load_calibrator(saved).to_dict() == {**fitted.to_dict(), "fitted_for": named}


def test_json_is_what_python_gives(preds):
    done = run(
        "calibrate", preds, *FIT, "--weight", "w", "--method", "sigmoid", "--folds", "3", "--seed", "5", "--json"
    )
    assert done.returncode == 0, done.stderr
    options = {"truth": "y", "score": "p", "positive": "yes", "weight": "w"}
    found = calibrate(preds, **options, method="sigmoid", folds=3, seed=5)
    shown = json.loads(done.stdout)
    assert shown == json.loads(found.to_json())
    assert list(shown["after"]) == ["sigmoid"]
    ev = stakes.evaluate(preds, **options)
    assert shown["before"]["log_loss"] == pytest.approx(ev["log_loss"].value, rel=1e-12)
    assert shown["before"]["brier_score"] == pytest.approx(ev["brier_score"].value, rel=1e-12)
    assert shown["calibration"]["slope"]["value"] == pytest.approx(ev.calibration.slope.value)


def test_losses_after_are_those_of_cross_fitted_scores(preds):
    table = pl.read_csv(preds)
    p, y, w = table["p"].to_numpy(), (table["y"] == "yes").to_numpy(), table["w"].to_numpy()
    found = calibrate(truth=y, score=p, weight=w, seed=2)
    for method, kind in {"isotonic": stakes.IsotonicCalibrator, "sigmoid": stakes.SigmoidCalibrator}.items():
        judged = stakes.evaluate(truth=y, score=stakes.cross_fitted(kind(), p, y, seed=2, weight=w), weight=w)
        for name in ("log_loss", "brier_score"):
            assert found.loss(name, method) == pytest.approx(judged[name].value, rel=1e-12)
    assert found.method == min(found.after, key=lambda m: found.loss("log_loss", m))
    change = found.changes[found.method]
    assert change.value == pytest.approx(found.loss("log_loss", found.method) - found.loss("log_loss"))
    assert change.low < change.value < change.high < 0
    assert repr(found) == f"<Recalibration by {found.method}>"


def test_the_best_method_is_that_of_the_weighted_rows():
    """Two halves of the rows, each best served by another method: the weights say which half counts."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 600)
    bent = np.arange(600) < 300
    y = rng.random(600) < np.where(bent, np.where(x > 0, 0.95, 0.05), 1 / (1 + np.exp(-2 * x)))
    score = x + np.where(bent, 0, 10)  # the halves lie apart, so neither spoils the other's curve
    weight = np.where(bent, 100.0, 0.01)
    found = {calibrate(truth=y, score=score, weight=w).method for w in (weight, 1 / weight)}
    assert found == {"isotonic", "sigmoid"}


def test_honest_probabilities_are_left_alone():
    rng = np.random.default_rng(0)
    p = rng.random(500)
    found = calibrate(truth=rng.random(500) < p, score=p)
    assert [(one.key, one.tone) for one in found.findings] == [
        ("verdict.honest", "good"),
        ("recalibration.question", "note"),
    ]
    harmed = calibrate(DEMO_FILE, truth="diagnosis", score="logistic", positive="malignant", method="sigmoid")
    assert "No: sigmoid recalibration raises the log loss; leave the probabilities as they are." in str(harmed)
    assert (harmed.findings[0].key, harmed.findings[0].tone) == ("recalibration.question", "bad")
    impossible = calibrate(DEMO_FILE, truth="diagnosis", score="neighbours", positive="malignant")
    assert [one.tone for one in impossible.findings] == ["bad", "good"]
    assert impossible.findings[0].sentences[1].values["n"] == 5
    assert impossible.findings[1].sentences[0].key == "recalibration.mends"


def test_scores_that_are_no_probabilities_become_some(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, 300)
    y = rng.random(300) < 1 / (1 + np.exp(-x))
    found = calibrate(truth=y, score=x)
    assert found.before is None
    assert set(found.after) == {"isotonic", "sigmoid"}
    assert "they are not read as probabilities here" in str(found)
    assert [one.tone for one in found.findings] == ["open", "open"]
    saved = json.loads(found.to_json())
    assert saved["before"] is None
    assert saved["calibration"] is None
    with pytest.raises(stakes.InputError, match="is no probability, and TemperatureCalibrator takes"):
        calibrate(truth=y, score=x, method="temperature")


def test_infinite_losses_are_told():
    found = calibrate(truth=[0, 1, 0, 1, 0, 1], score=[0.0, 0.0, 0.3, 0.6, 0.2, 0.9], folds=2, method="sigmoid")
    assert found.changes["sigmoid"].no_interval == "a loss is infinite"
    assert json.loads(found.to_json())["before"]["log_loss"] == "Infinity"
    assert "∞" in str(found)


# ── applied ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_applying_adds_one_column_and_leaves_the_rest(preds, tmp_path):
    saved, out = tmp_path / "c.json", tmp_path / "out.csv"
    assert run("calibrate", preds, *FIT, "--method", "isotonic", "-o", saved).returncode == 0
    before = preds.read_bytes()
    done = run("calibrate", preds, "--score", "p", "--apply", saved, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{out}: added p_calibrated"
    assert preds.read_bytes() == before
    old, new = preds.read_text().splitlines(), out.read_text().splitlines()
    assert new[0] == old[0] + ",p_calibrated"
    assert [line.rpartition(",")[0] for line in new] == old  # text as it stood: 007, NA, quotes
    expected = stakes.load_calibrator(saved).transform(pl.read_csv(preds)["p"].to_numpy())
    assert pl.read_csv(out)["p_calibrated"].to_list() == expected.tolist()
    assert sorted(f.name for f in tmp_path.iterdir()) == ["c.json", "out.csv", "preds.csv"]


def test_the_new_column_can_have_a_name_and_the_file_another_kind(preds, tmp_path):
    saved, out = tmp_path / "c.json", tmp_path / "out.parquet"
    run("calibrate", preds, *FIT, "-o", saved)
    done = run("calibrate", preds, "--score", "p", "--apply", saved, "--column", "q", "-o", out, "--json")
    assert json.loads(done.stdout) == {
        "stakes": "recalibrated file",
        "format": 1,
        "written": str(out),
        "columns": ["q"],
    }
    assert pl.read_parquet(out).columns == ["case", "y", "p", "gap", "note", "w", "q"]


@pytest.mark.parametrize("method", ["temperature", "affine", "vector"])
def test_several_classes(method, flowers, tmp_path):
    saved, out = tmp_path / "c.json", tmp_path / "out.parquet"
    done = run("calibrate", flowers, "--truth", "kind", *KINDS, "--method", method, "-o", saved)
    assert done.returncode == 0, done.stderr
    assert "of 3 classes have probabilities that are too extreme" in " ".join(done.stdout.split())
    assert f"Yes: {method} " in done.stdout
    model = stakes.load_calibrator(saved)
    assert model.classes == ["iris", "lily", "rose"]
    assert 0.2 < np.min(model._map[0]) <= np.max(model._map[0]) < 0.5  # the probabilities were cubed
    done = run("calibrate", flowers, *KINDS, "--apply", saved, "-o", out)
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(out)
    names = ["p iris", "p lily", "p rose"]
    expected = model.transform(table.select(names).to_numpy())
    assert table.select([f"{name}_calibrated" for name in names]).to_numpy() == pytest.approx(expected, abs=0)


def test_several_classes_as_data_name_the_method_with_the_lowest_loss(flowers):
    shown = json.loads(run("calibrate", flowers, "--truth", "kind", *KINDS, "--json").stdout)
    after = shown["after"]
    assert list(after) == ["temperature", "affine", "vector"]
    assert shown["method"] == min(after, key=lambda name: after[name]["multiclass_log_loss"])
    options = {"truth": "kind", "score": {c: f"p {c}" for c in ("rose", "lily", "iris")}}
    ev = stakes.evaluate(flowers, **options)
    assert shown["before"]["multiclass_log_loss"] == pytest.approx(ev["multiclass_log_loss"].value, rel=1e-12)
    assert shown["before"]["multiclass_brier_score"] == pytest.approx(ev["multiclass_brier_score"].value, rel=1e-12)


def test_classes_may_be_numbers(tmp_path):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 60)
    file, out = tmp_path / "n.csv", tmp_path / "out.csv"
    pl.DataFrame({f"c{i}": p[:, i] for i in range(3)}).write_csv(file)
    model = stakes.TemperatureCalibrator().fit(p, rng.integers(0, 3, 60))
    score = {i: f"c{i}" for i in range(3)}
    assert apply_calibrator(file, model, out, score=score) == ["c0_calibrated", "c1_calibrated", "c2_calibrated"]
    assert pl.read_csv(out)["c2_calibrated"].to_numpy() == pytest.approx(model.transform(p)[:, 2])


# ── mistakes ─────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--score", "p"), "--truth COLUMN says what really happened"),
        (("--truth", "y", "--score", "p"), "pass --positive yes or --positive no"),
        ((*FIT, "--column", "q"), "--column is for --apply"),
        ((*FIT, "-o", "{file}"), "that is the file with the rows, which is never written over"),
        ((*FIT, "--folds", "1"), "stakes: --folds 1 does not work; give a whole number from 2 on"),
        ((*FIT, "--confidence", "2"), "confidence"),
        (("--truth", "y", "--score", "q", "--positive", "yes"), "score: there is no column 'q'"),
        (("--score", "p", "--apply", "{saved}"), "say where with -o OUT"),
        (("--score", "p", "--apply", "{saved}", "-o", "{file}"), "which is never written over; name another one"),
        (("--score", "p", "--apply", "{saved}", "-o", "{saved}"), "that is the file with the calibrator"),
        (("--score", "p", "--apply", "gone.json", "-o", "x.csv"), "gone.json: there is no such file"),
        (("--score", "p", "--apply", "{file}", "-o", "x.csv"), "this is no saved calibrator"),
        (("--score", "q", "--apply", "{saved}", "-o", "x.csv"), "score: there is no column 'q'"),
        (("--score", "y", "--apply", "{saved}", "-o", "x.csv"), "score has 400 rows that hold no number"),
        (
            ("--score", "p", "--apply", "{saved}", "--column", "w", "-o", "x.csv"),
            "the file has a column 'w' already; name the new one with --column",
        ),
        (("--score", "a=p", "--score", "b=w", "--apply", "{saved}", "-o", "x.csv"), "was fitted on a single score"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_2(preds, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    saved = tmp_path / "c.json"
    stakes.SigmoidCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).save(saved)
    before = preds.read_bytes()
    done = run("calibrate", preds, *(a.format(file=preds, saved=saved) for a in arguments))
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().splitlines()[-1].count("stakes: ") <= 1
    assert "Traceback" not in done.stderr
    assert preds.read_bytes() == before
    assert sorted(f.name for f in tmp_path.iterdir()) == ["c.json", "preds.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--truth", "kind", *KINDS, "--method", "sigmoid"), "method='sigmoid' is for two classes, and there are more"),
        (("--score", "p rose", "--apply", "{saved}", "-o", "x.csv"), "fitted on 3 classes, and a single column"),
        ((*KINDS[:2], "--apply", "{saved}", "-o", "x.csv"), "score has no column for the class 'iris'"),
        ((*KINDS, "--column", "q", "--apply", "{saved}", "-o", "x.csv"), "column='q' names one new column"),
    ],
)
def test_mistakes_with_several_classes(flowers, tmp_path, arguments, words):
    saved = tmp_path / "c.json"
    table = pl.read_parquet(flowers)
    columns = [f"p {c}" for c in ("rose", "lily", "iris")]
    model = stakes.TemperatureCalibrator(classes=["rose", "lily", "iris"])
    model.fit(table.select(columns).to_numpy(), table["kind"]).save(saved)
    done = CliRunner().invoke(cli, ["calibrate", str(flowers), *(a.format(saved=saved) for a in arguments)])
    assert isinstance(done.exception, stakes.InputError)
    assert words in str(done.exception)


def test_scores_of_several_classes_must_be_probabilities():
    rng = np.random.default_rng(0)
    with pytest.raises(stakes.InputError, match="are no probabilities, and only those can be recalibrated"):
        calibrate(truth=rng.integers(0, 3, 50), score=rng.normal(size=(50, 3)), classes=range(3))
    with pytest.raises(stakes.InputError, match=r"'magic' is not known; it is 'isotonic', 'sigmoid', .* or 'vector'"):
        calibrate(truth=[0, 1], score=[0.1, 0.2], method="magic")
    with pytest.raises(stakes.InputError, match="method='vector' is for more than two classes, and there are two; use"):
        calibrate(truth=[0, 1], score=[0.1, 0.2], method="vector")


def test_missing_scores_are_not_filled_in(preds, tmp_path):
    saved = tmp_path / "c.json"
    stakes.SigmoidCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).save(saved)
    file = tmp_path / "gap.csv"
    file.write_text("p\n0.5\nNA\n0.7\n")
    done = run("calibrate", file, "--score", "p", "--apply", saved, "-o", tmp_path / "out.csv")
    assert done.returncode == 2
    assert "score is missing in 1 row (the first is row 2" in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_a_place_that_cannot_be_written(preds, tmp_path):
    done = run("calibrate", preds, *FIT, "-o", tmp_path / "no such folder" / "c.json")
    assert done.returncode == 2
    assert "no such folder/c.json: the folder to write to does not exist; make it first" in done.stderr


def test_a_calibrator_of_another_score_is_warned_of(preds, tmp_path):
    saved = tmp_path / "c.json"
    assert run("calibrate", preds, *FIT, "-o", saved).returncode == 0
    fitted = json.loads(saved.read_text())["fitted_for"]
    assert set(fitted) == {"score", "positive class"}
    file = tmp_path / "new.csv"
    file.write_text("other\n0.5\n0.7\n")
    done = run(
        "calibrate", file, "--score", "other", "--apply", saved, "--positive", "nobody", "-o", tmp_path / "o.csv"
    )
    assert done.returncode == 0
    assert f"fitted for the score {fitted['score']!r}, and is applied to 'other'" in done.stderr
    assert "fitted for the positive class" in done.stderr
