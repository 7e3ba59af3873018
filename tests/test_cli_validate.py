"""stakes validate: an estimator and a file, named in words."""

import json
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import stakes
from stakes.cli import cli
from tests.command import run

pytestmark = pytest.mark.slow

MODULE = """
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

ready = LogisticRegression(max_iter=1000)
number = 3

class zoo:
    tree = DecisionTreeClassifier(random_state=0)

def make():
    return LogisticRegression(max_iter=1000)

def with_text():
    dense = OneHotEncoder(sparse_output=False)
    return make_pipeline(make_column_transformer((dense, ["colour"]), remainder="passthrough"), ready)

class Quits(DecisionTreeClassifier):
    def fit(self, X, y):
        raise SystemExit(0)

class Silent(Quits):
    predict_proba = property()

    def fit(self, X, y):
        return self

    def predict(self, X):
        return None

def quits():
    raise SystemExit(0)

def broken():
    raise RuntimeError("no such luck\\nmore")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    X, y = load_iris(return_X_y=True)
    names = ["setosa", "versicolor", "virginica"]
    lines = [",".join([*map(repr, map(float, row)), names[t]]) for row, t in zip(X, y, strict=True)]
    (tmp_path / "iris.csv").write_text("\n".join(["a,b,c,d,species", *lines]) + "\n")
    (tmp_path / "my_model.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    return tmp_path


def told(*arguments):
    done = CliRunner().invoke(cli, ["validate", *arguments, "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_the_program_finds_modules_of_the_current_folder(folder):
    script = "import sys; sys.path.remove(''); sys.argv[0] = 'stakes'; from stakes.cli import main; main()"
    arguments = ["validate", "iris.csv", "--estimator", "my_model:make", "--target", "species", "--seed", "3", "--json"]
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    X, y = load_iris(return_X_y=True)
    said = cross_val_predict(
        LogisticRegression(max_iter=1000), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=3)
    )
    assert json.loads(done.stdout)["figures"]["accuracy"]["pooled"]["value"] == pytest.approx(accuracy_score(y, said))


def test_it_is_what_python_gives(folder):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    expected = stakes.validate(LogisticRegression(max_iter=1000), X, labels, how=3, seed=1).to_dict()
    found = told("iris.csv", "--estimator", "my_model:ready", "--target", "species", "--folds", "3", "--seed", "1")
    assert found["figures"] == expected["figures"]
    assert found["how"] == expected["how"]


def test_columns_beside_the_features(folder):
    lines = (folder / "iris.csv").read_text().splitlines()
    more = [f"{line},{i // 3},{1 + i % 2}" for i, line in enumerate(lines[1:])]
    (folder / "more.csv").write_text("\n".join([f"{lines[0]},site,w", *more]))
    options = ("--groups", "site", "--weight", "w", "--how", "3-fold")
    found = told("more.csv", "--estimator", "my_model:zoo.tree", "--target", "species", *options)
    assert "whole groups" in found["how"]
    only_a = told("more.csv", "--estimator", "my_model:zoo.tree", "--target", "species", "--feature", "a")
    all_but = told("iris.csv", "--estimator", "my_model:zoo.tree", "--target", "species")
    assert only_a["figures"]["accuracy"]["pooled"]["value"] < all_but["figures"]["accuracy"]["pooled"]["value"]


def test_text_and_missing_values_reach_the_estimator(folder):
    rows = [f"{i % 2},{i * 13 % 50},{'red' if i % 2 else 'blue'}" for i in range(60)]
    (folder / "mixed.csv").write_text("\n".join(["y,x,colour", *rows]))
    found = told("mixed.csv", "--estimator", "my_model:with_text", "--target", "y")
    assert found["figures"]["auc"]["pooled"]["value"] == 1  # the colour tells all, and it is a text
    rows[3] = "1,NA,red"
    (folder / "mixed.csv").write_text("\n".join(["y,x,colour", *rows]))
    trees = ("--estimator", "sklearn.ensemble:HistGradientBoostingClassifier", "--feature", "x")
    assert told("mixed.csv", *trees, "--target", "y")["pooled"]["rows"] == 60


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--estimator", "my_model", "--target", "species"), "'my_model' is no MODULE:OBJECT"),
        (("--estimator", "no_module:x", "--target", "species"), "ModuleNotFoundError: No module named 'no_module'"),
        (("--estimator", "my_model:nobody", "--target", "species"), "has no attribute 'nobody'"),
        (("--estimator", "my_model:number", "--target", "species"), "give an object with fit"),
        (("--estimator", "my_model:broken", "--target", "species"), "(RuntimeError: no such luck)"),
        (("--estimator", "my_model:quits", "--target", "species"), "cannot be had (SystemExit: 0)"),
        (
            ("--estimator", "my_model:Quits", "--target", "species"),
            "cannot be fitted to these rows (SystemExit: 0)",
        ),
        (("--estimator", "my_model:Silent", "--target", "species"), "Silent.predict gives a NoneType for 30 rows"),
        (("--estimator", "my_model:make", "--target", "spices"), "there is no column 'spices'"),
        (("--estimator", "my_model:make", "--target", "species", "--feature", "z"), "there is no column 'z'"),
        (("--estimator", "my_model:make", "--target", "species", "--feature", "species"), "is what is to be predicted"),
        (("--estimator", "my_model:make", "--target", "species", "--folds", "3", "--how", "3-fold"), "say the same"),
        (("--estimator", "my_model:make", "--target", "species", "--folds", "1"), "fold"),
    ],
)
def test_what_does_not_work_is_one_line(folder, arguments, words):
    done = run("validate", "iris.csv", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_without_features_is_one_line(folder):
    (folder / "one.csv").write_text("species\na\nb\n")
    done = run("validate", "one.csv", "--estimator", "my_model:make", "--target", "species")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there are no features" in done.stderr
