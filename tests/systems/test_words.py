"""Bad input: one clear line, and what to do."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from stakes import Confusion, Costs, InputError, System
from stakes.language import speaking
from stakes.systems import bounds, network
from tests.command import run

SICK = ["sick", "healthy"]
TABLE = [[8, 2], [3, 7]]
COSTS = Costs(miss=5, false_alarm=1)
TWO = {"images": TABLE, "history": TABLE}


def system(models=None, decide="images and history", **options):
    return System(models=models or TWO, decide=decide, **{"classes": SICK, "costs": COSTS, **options})


def rows(**columns):
    return {"y": [1, 1, 0, 0], "images": [1, 0, 0, 1], "history": [1, 1, 0, 0], **columns}


def from_rows(models=("images", "history"), decide="images and history", **options):
    return System(
        options.pop("data", rows()),
        truth=options.pop("truth", "y"),
        models=models if isinstance(models, dict) else list(models),
        decide=decide,
        costs=COSTS,
        **options,
    )


def model(**words):
    return {"images": TABLE, "history": words}


BAD = {
    "names 'imags', which is no model; did you mean 'images'?": lambda: system(decide="imags and history"),
    "names 'x', which is no model; there is 'images' and 'history'": lambda: system(decide=lambda x: True),
    "the rule 'the table' names 'x', which is no model": lambda: system(decide={"of": ["x"], "table": {}}),
    "does not know the class 'healthy'; it knows 'sick'": lambda: system(
        model(table={"sick": {"sick": 1, "healthy": 5}})
    ),
    "has the class 'helthy', which the system lacks; did you mean 'healthy'?": lambda: system(
        model(table={"sick": [8, 2], "healthy": [3, 7], "helthy": [3, 7]})
    ),
    "images, class 'sick': the probabilities sum to 0.9, not to 1": lambda: system(
        {**TWO, "images": [[0.8, 0.1], [0.2, 0.8]]}
    ),
    "prior={'sick': 0.1, 'healthy': 0.7} does not work; give the share of the positive class of two": lambda: system(
        prior=[0.1, 0.7]
    ),
    "holds -2 where the truth is 'sick' and it says 'healthy'": lambda: system({**TWO, "images": [[8, -2], [3, 7]]}),
    "holds nan where the truth is 'healthy' and it says 'sick'": lambda: system(
        {**TWO, "images": [[8, 2], [np.nan, 7]]}
    ),
    "images has no case of the class 'sick'": lambda: system({**TWO, "images": [[0, 0], [3, 7]]}),
    "images → history → images is a circle": lambda: system(
        {"images": {"table": TABLE, "sees": "history"}, "history": {"table": TABLE, "sees": "images"}}
    ),
    "history → history is a circle": lambda: system(model(table=TABLE, sees="history")),
    "x → z → x is a circle": lambda: system(decide="x", fusers={"x": "z or images", "z": "x and history"}),
    "the costs have the class 'ill', which the system lacks": lambda: system(
        costs=Costs([[0, 1], [1, 0], [1, 1]], ["sick", "healthy", "ill"], SICK)
    ),
    "the two contradict each other: of '1' it says '1' in 50 % by its table and in 100 % by the rows": lambda: (
        from_rows({"images": "images", "history": {"column": "history", "table": [[5, 5], [0, 10]]}})
    ),
    "a model sees 'imags', which is no model; did you mean 'images'?": lambda: system(model(table=TABLE, sees="imags")),
    "'history' is given by rows and sees 'images', which is not in them": lambda: from_rows(
        {"images": TABLE, "history": {"column": "history", "sees": "images"}}
    ),
    "'history' sees another model; give a table": lambda: system(model(accuracy=0.8, sees="images")),
    "nothing says how frequent the classes 'sick' and 'healthy' are": lambda: system({"images": 0.8, "history": 0.7}),
    "models given by tables need classes=": lambda: system(classes=None),
    "models given by columns need truth=": lambda: System(rows(), models=["images"], decide="images", costs=COSTS),
    "models is a list; give a dictionary": lambda: System(
        models=["images"], decide="images", costs=COSTS, classes=SICK
    ),
    "model 'images' is 'column'; give a confusion table": lambda: system({"images": "column"}, "images"),
    "model images='x' is a name, but no data was given": lambda: system({"images": {"column": "x"}}, "images"),
    "a model is called ' '; give it a name": lambda: system({" ": TABLE}, "a"),
    "models is empty; give a dictionary": lambda: System(models={}, decide="a", costs=COSTS, classes=SICK),
    "model 'history': sees is 3; give a list of different names": lambda: system(model(table=TABLE, sees=3)),
    "model 'history': outputs is ['x', 'x']; give a list of different names": lambda: system(
        model(table=TABLE, outputs=["x", "x"])
    ),
    "model 'history': right is ['sick']; give a dictionary class → output": lambda: system(
        model(table=TABLE, right=["sick"])
    ),
    "shared_difficulty='yes' does not work; give True, False or None": lambda: system(shared_difficulty="yes"),
    "price='x' is not a number": lambda: system().break_even("images", price="x"),
    "the table of the rule is {'table': 3}; give": lambda: system(decide={"table": 3}),
    "the table of the rule is {'table': [['sick']]}; give": lambda: system(decide={"table": [["sick"]]}),
    "fusers is a list; give a dictionary name → rule": lambda: system(fusers=["a"]),
    "the rule is a function with arguments without names": lambda: system(decide=max),
    "the table of 'history' holds something other than numbers": lambda: system(
        model(table={"sick": {"sick": 1, "healthy": 3}, "healthy": 4})
    ),
    "'truth' is taken": lambda: system({"truth": TABLE}, "truth"),
    "'images' is taken": lambda: system(fusers={"images": "history"}),
    "model images: there is no column 'imges'; did you mean 'images'?": lambda: from_rows(
        {"images": "imges"}, "images"
    ),
    "the table of 'images' is 3 × 2; give 2 rows": lambda: system({**TWO, "images": [[8, 2], [3, 7], [1, 1]]}),
    "the table of 'images' has 3 columns and there are 2 classes; name what it says": lambda: system(
        {**TWO, "images": [[8, 2, 1], [3, 7, 1]]}
    ),
    "the table of 'history' is 2 × 2; give 2 × 2 rows": lambda: system(model(table=TABLE, sees="images")),
    "holds something other than numbers": lambda: system({**TWO, "images": [["a", "b"], ["c", "d"]]}),
    "'history' has 'odd' in one place and not in another; it says 'sick' and 'healthy'": lambda: system(
        model(table=TABLE, right={"sick": "odd"})
    ),
    "give the share of right answers, from 0 to 1, of 'sick' and 'healthy'": lambda: system(model(accuracy=[0.8, 1.2])),
    "shares of right answers do not say how errors fall on 3 classes": lambda: System(
        classes=["a", "b", "c"],
        models={"m": 0.5},
        decide="m",
        costs=Costs(1 - np.eye(3), ["a", "b", "c"]),
        prior=[0.2, 0.3, 0.5],
    ),
    "prior=[0.1] does not work": lambda: system(prior=[0.1]),
    "prior= gives no share of 'healthy'; give one for every class": lambda: system(prior={"sick": 1}),
    "prior= is about 'sik' and 'healthy', but the classes": lambda: system(prior={"sik": 0.5, "healthy": 0.5}),
    "model 'history': 'tabel' is not known; did you mean 'table'?": lambda: system(model(tabel=TABLE)),
    "model 'history': 'seees' is not known; did you mean 'sees'?": lambda: system(model(table=TABLE, seees="images")),
    "'AND' is nothing that a rule can say; write and": lambda: system(decide="images AND history"),
    "'Or' is nothing that a rule can say; write or": lambda: system(decide="images Or history"),
    "'NOT' is nothing that a rule can say; write not": lambda: system(decide="NOT images"),
    "the model 'x ray' is no plain word; write `x ray` in the rule, in backticks": lambda: system(
        {"x ray": TABLE, "images": TABLE}, "x ray and images"
    ),
    "the model 'x-ray' is no plain word; write `x-ray` in the rule, in backticks": lambda: system(
        {"x-ray": TABLE, "images": TABLE}, "x-ray and images"
    ),
    "truth is '1' in every row, and nothing tells which other class there is": lambda: from_rows(
        data={"y": [1], "images": [1], "history": [1]}
    ),
    "classes=[['a'], ['b']] holds something other than labels; give a list of names": lambda: system(
        classes=[["a"], ["b"]]
    ),
    "costs is a dict; give stakes.Costs": lambda: system(costs={"miss": 1}),
    "decide is a int; give the text of a rule": lambda: system(decide=3),
    "the rule listens to no model": lambda: system(decide="'sick'"),
    "compares what images says with 'sik', which it never is; did you mean 'sick'?": lambda: system(
        decide="images == 'sik'"
    ),
    "the rule decides for 'maybe', which has no cost; there is 'sick' and 'healthy'": lambda: system(
        decide="'maybe' if images else history"
    ),
    "the rule decides for 'sik', which has no cost; did you mean 'sick'?": lambda: system(
        decide="'sik' if images else 'healthy'"
    ),
    "has no answer when images says 'sick', history says 'healthy'": lambda: system(decide={("sick", "sick"): "sick"}),
    "answers 'sick' and 'sick' twice": lambda: system(
        decide={"table": [["sick", "sick", "sick"], ["sick", "sick", "healthy"]]}
    ),
    "which cannot be said (images: 'sick' and 'healthy')": lambda: system(
        decide={"of": ["images"], "table": {"sick": "sick", "healthy": "healthy", "odd": "sick"}}
    ),
    "decide: 'off' is not known; did you mean 'of'?": lambda: system(decide={"off": ["images"], "table": {}}),
    "arguments without names": lambda: system(decide=lambda *said: "sick"),
    "begins with a number: write at_least(2, a, b, c)": lambda: system(decide="at_least(images, history)"),
    "has nobody to count": lambda: system(decide="majority()"),
    "is no weighted vote": lambda: system(decide="majority(images * history)"),
    "is nothing that a rule can say": lambda: system(decide="images + history"),
    "cannot be read": lambda: system(decide="images and"),
    "ask for a positive class, and 'a', 'b' and 'c' have none": lambda: System(
        classes=["a", "b", "c"],
        models={"m": np.eye(3) * 5 + 1},
        decide="not m",
        costs=Costs(1 - np.eye(3), ["a", "b", "c"]),
    ),
    "so the rule cannot tell its yes": lambda: system(model(table=TABLE, outputs=["up", "down"])),
    "there is no model 'x'; there is 'images' and 'history'": lambda: system().component_costs("x"),
    "there is no model 'histry'; did you mean 'history'?": lambda: system().bounds("histry"),
    "images never says 'ill'": lambda: system().do(images="ill"),
    "images='sick' never happens": lambda: system({**TWO, "images": [[0, 9], [0, 9]]}).given(images="sick"),
    "a break-even line in (TPR, TNR) is for two classes": lambda: system(
        model(table=[[1, 2, 3], [3, 4, 5]], outputs=["sick", "healthy", "odd"])
    ).break_even("history"),
    "sees other models, so one line": lambda: system(model(table=[TABLE, TABLE], sees="images")).break_even("history"),
    "a threshold in the system is for two classes": lambda: system(
        model(table=[[1, 2, 3], [3, 4, 5]], outputs=["sick", "healthy", "odd"])
    ).threshold("history"),
    "score= needs the rows of every model": lambda: system().threshold("images", score="p"),
    "the sample has no case of the class '2'": lambda: from_rows(classes=["1", "0", "2"]),
    "costs of a system cannot name a column ('amount'); give numbers": lambda: system(
        costs=Costs(miss="amount", false_alarm=1)
    ),
    "confidence": lambda: system(confidence=2),
}


@pytest.mark.parametrize("words", list(BAD), ids=lambda words: words[:40])
def test_bad_input_is_told_in_one_line(words):
    with pytest.raises(InputError) as problem:
        BAD[words]()
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_costs_of_the_wrong_shape():
    with pytest.raises(InputError, match="2 × 3"):
        system(costs=Costs([[0, 1, 2], [1, 0, 2]], SICK))
    with pytest.raises(InputError, match="'healthy'"):
        system(costs=Costs([[0, 1], [1, 0]], ["sick", "well"], SICK))
    three = Costs(1 - np.eye(3), ["a", "b", "c"])
    with pytest.raises(InputError, match="the class 'a', which the system lacks"):
        system(costs=three)


def test_a_positive_class_that_is_none():
    with pytest.raises(InputError, match="'ill'"):
        system(positive="ill")
    with pytest.raises(InputError, match="positive"):
        System(
            classes=["a", "b", "c"],
            models={"m": np.eye(3) * 5 + 1},
            decide="m",
            positive="a",
            costs=Costs(1 - np.eye(3), ["a", "b", "c"]),
        )


def test_too_large_a_table_is_refused_with_its_size_and_rows_serve():
    names = [f"m{i}" for i in range(26)]
    vote = f"majority({', '.join(names)})"
    with pytest.raises(InputError, match=re.escape(f"{2**26:,} combinations: a table of {2**26 * 28:,} cells")):
        system(dict.fromkeys(names, TABLE), vote)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 500)
    frame = {"y": truth, **{name: np.where(rng.random(500) < 0.8, truth, 1 - truth) for name in names}}
    found = System(frame, truth="y", models=names, decide=vote, costs=COSTS)
    votes = sum(frame[name] for name in names)
    decided = (votes >= 13).astype(int)  # a tie of 13 to 13 goes to the class listed first, the positive one
    assert found.cost == pytest.approx(np.sum(np.where(truth == 1, 5 * (decided == 0), decided)))
    assert np.isfinite(found.component_costs("m3").expected).all()
    assert "up to 12 models" in found.worth().reason
    assert found.worth()["m3"].saving == found.worth()["m3"].now - found.worth()["m3"].perfect


def test_too_large_a_program_says_so(monkeypatch):
    monkeypatch.setattr(bounds, "_MOST_VARIABLES", 3)
    found = system().bounds()
    assert np.isnan(found.best)
    assert "more than the 3 of the largest program" in found.note


def test_a_small_limit_of_cells(monkeypatch):
    monkeypatch.setattr(network, "MOST_CELLS", 10)
    with pytest.raises(InputError, match="a table of 16 cells, more than 10"):
        system()


def test_a_table_that_agrees_with_the_rows_is_fine():
    found = from_rows({"images": "images", "history": {"column": "history", "table": [[2, 0], [0, 2]]}})
    assert found.cost == from_rows().cost


def test_a_confusion_tally_is_a_table():
    tally = Confusion.two_class(tp=80, fn=20, fp=20, tn=80, positive="sick", negative="healthy")
    assert (
        system({"images": tally, "history": TABLE}).cost
        == system({"images": [[80, 20], [20, 80]], "history": TABLE}, prior=[0.5, 0.5]).cost * 200
    )


# ── files and the command line ───────────────────────────────────────────────────────────────────────────────────
CLINIC = """
classes = ["sick", "healthy"]
decide = "images and history"

[models]
images = [[80, 20], [20, 80]]
history = [[50, 50], [100, 100]]

[costs]
miss = 5
false_alarm = 1
"""


def test_a_toml_file(tmp_path):
    file = tmp_path / "system.toml"
    file.write_text(CLINIC)
    shown = run("system", file)
    assert shown.returncode == 0, shown.stderr
    for words in ("(truth) ─┬─► (images)", "((decision)) ─► [cost]", "Component costs", "✕ Is it cheaper than"):
        assert words in shown.stdout
    worth = ("833.3", "233.3", "156 – 326", r"1,667 \(healthy\)", "283.3", "187 – 401")
    for model, *numbers in (("history", "833.3", "1,067", "1,300"), ("images", *worth)):
        assert re.search(rf"^{model} +{' +'.join(numbers)}\b", shown.stdout, re.M)
    data = json.loads(run("system", file, "--json").stdout)
    assert data["cost"] == 320
    assert data["bounds"]["history"]["worst"] == 390
    assert data["worth"]["first"] == "history"
    cells = {(cell["truth"], cell["says"]): cell["expected"] for cell in data["component_costs"]["history"]["cells"]}
    assert cells == pytest.approx(
        {("sick", "sick"): 1, ("sick", "healthy"): 5, ("healthy", "sick"): 0.2, ("healthy", "healthy"): 0}
    )


def test_a_toml_file_of_rows_with_everything(tmp_path):
    frame = pd.DataFrame({"y": ["s", "h"] * 50, "a": ["s", "h", "h", "h"] * 25, "b": ["s", "h"] * 50})
    frame.to_csv(tmp_path / "preds.csv", index=False)
    (tmp_path / "system.toml").write_text(
        """
        data = "preds.csv"
        truth = "y"
        classes = ["s", "h"]
        prior = [0.25, 0.75]
        decide = "'treat' if screen else 'wait'"
        [fusers]
        screen = "a and b and c"
        [models]
        a = "a"
        b = {column = "b"}
        c = {table = [[[9, 1], [5, 5]], [[5, 5], [1, 9]]], sees = ["a"]}
        [costs]
        s = {treat = 0, wait = 5}
        h = {treat = 1, wait = 0}
        """
    )
    found = System.from_toml(tmp_path / "system.toml")
    assert found.cost == pytest.approx(0.25 * 5 * (1 - 0.5 * 0.9))
    assert found.facts["dependence"] == (
        "of a and b as in the rows; c assumed independent given the class and what they see"
    )
    assert found.picture.splitlines()[2].startswith("         └─► (c) ◄ sees a")


def test_the_command_on_columns(tmp_path):
    file = tmp_path / "preds.csv"
    pd.DataFrame({"y": ["s", "h"] * 50, "a": ["s", "h", "h", "h"] * 25, "b": ["s", "h"] * 50}).to_csv(file, index=False)
    columns = ("--truth", "y", "--model", "a", "--model", "other=b", "--rule", "a and other")
    prices = ("--miss", 5, "--false-alarm", 1)
    asked = run("system", file, *columns, *prices)
    assert asked.returncode == 2
    assert "pass --positive s or --positive h" in asked.stderr
    shown = run("system", file, *columns, *prices, "--positive", "s")
    assert "“a”: if it were always right, the system would cost 0 per 1,000 cases, 1,250 less" in " ".join(
        shown.stdout.split()
    )
    told = json.loads(run("system", file, *columns, *prices, "--positive", "s", "--prior", "0.1", "--json").stdout)
    assert told["cost"] == pytest.approx(0.1 * 0.5 * 5)
    scores = pd.read_csv(file).assign(p=lambda rows: (rows["a"] == "s") + 0.5 * (rows["y"] == "s"))
    scores.to_csv(file, index=False)
    again = run("system", file, *columns, *prices, "--positive", "s", "--score", "a=p")
    assert "a says yes from 0.5 on" in again.stdout
    assert "instead of 1.25, a saving of 1.25" in again.stdout
    for pair in ("a", "a=", "=p"):
        lost = run("system", file, *columns, *prices, "--positive", "s", "--score", pair)
        assert lost.returncode == 2
        assert f"--score {pair} does not work; write --score MODEL=COLUMN" in lost.stderr
    data = json.loads(run("system", file, *columns, *prices, "--positive", "s", "--score", "a=p", "--json").stdout)
    assert data["thresholds"]["a"]["held_out"] == 0
    assert "needs --rule, --miss, --false-alarm" in run("system", file, "--truth", "y", "--model", "a").stderr


@pytest.mark.parametrize(
    ("rule", "numbers"), [("and", ("833.3", "1,067", "1,300")), ("or", ("916.7", "1,250", "1,667"))]
)
def test_the_demos_of_systems(rule, numbers):
    shown = run("system", f"demo:clinic_{rule}")
    assert shown.returncode == 0, shown.stderr
    assert f"images {rule} history" in shown.stdout
    assert re.search(rf"^history +{' +'.join(numbers)}\b", shown.stdout, re.M)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("decide =", "cannot be read"),
        ("decde = 'a'", "'decde' is not known; did you mean 'decide'?"),
        ("decide = 'a'\ncosts = {miss = 1, false_alarm = 1}", "models is missing"),
        ("decide = 'a'\nmodels = {a = 0.5}\ncosts = 3", "costs is a int"),
        ("decide = 'a'\nmodels = {a = 0.5}\ncosts = {miss = 3}", "costs: false_alarm is missing; write miss = 5"),
        ("decide = 'a'\nmodels = {a = 0.5}\ncosts = {}", "costs: miss is missing; write miss = 5"),
        ("decide = 'a'\nmodels = {a = 0.5}\ncosts = {mis = 3}", "costs: 'mis' is not known; did you mean 'miss'?"),
        ("data = 5\ndecide = 'a'\nmodels = ['a']\ncosts = {}", "data is 5; give the name of a file, in quotes"),
        (
            "classes = ['a', 'b']\ndecide = 'm'\nmodels.m = [[8, 2], [1, 9]]\ncosts = {miss = '5', false_alarm = 1}",
            "costs of a system cannot name a column ('5'); give numbers",
        ),
        (
            "classes = ['a', 'b']\nmodels.m = [[8, 2], [1, 9]]\ncosts = {miss = 5, false_alarm = 1}\n"
            "decide = {of = [['m']], table = [[1, 1], [0, 0]]}",
            "of=[['m']] does not work; list the models",
        ),
    ],
)
def test_a_bad_toml_file(tmp_path, text, words):
    file = tmp_path / "system.toml"
    file.write_text(text)
    found = run("system", file)
    assert found.returncode == 2
    assert words in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1


def test_pages_for_notebooks_escape_names():
    found = system({"<b>": TABLE, "history": TABLE}, "`<b>` and history")
    html = found._repr_html_()
    assert "<svg" in html
    assert "&lt;b&gt;" in html
    assert not re.search(r"<b>(?! ?[^<]+</b>)", html)  # each that opens is ours, and closes
    assert repr(found) == "<System of 2 models, 2 classes>"


def test_costs_have_one_basis_and_their_unit():
    models = {"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]}
    costs = Costs(miss=5, false_alarm=1, unit="€")
    found = System(classes=["sick", "healthy"], models=models, decide="images and history", costs=costs)
    told = " ".join(str(found).split())
    for words in ("€1,067 per 1,000 cases", "The cost lies between €833.33 and €1,300", "a “sick” case €3 (€2.54"):
        assert words in told
    assert re.search(r"^history +833.3 +1,067 +1,300", str(found), re.M)  # 250, 320 and 390 of 300 cases
    assert "costs are for: 1,000 cases in words and tables, 300 cases in data" in told
    best = found.best_rule()
    assert "€466.67 per 1,000 cases instead of €1,067" in " ".join(str(best).split())
    assert re.search(r"healthy +sick +200 +600$", str(best), re.M)  # 60 cases save 180 of all 300
    assert best.to_rows()[0]["saves"] == 180


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            "a or b and not c",
            "dice 'sick' cuando a dice 'sick' o (b dice 'sick' y no es cierto que c dice 'sick'); si no",
        ),
        ("at_least(2, a, b, c)", "dice 'sick' cuando al menos 2 de a, b y c dicen 'sick'; si no, 'healthy'"),
        ("'sick' if a == 'sick' else b", "dice 'sick' si a dice 'sick'; si no, lo que dice b"),
        ("majority(a, b, c)", "dice lo que dice la mayoría de a, b y c"),
    ],
)
def test_rules_are_explained_in_the_language_of_the_reader(rule, words):
    models = {name: [[0.8, 0.2], [0.3, 0.7]] for name in "abc"}
    found = System(
        classes=["sick", "healthy"], models=models, decide=rule, costs=Costs(miss=5, false_alarm=1), prior=0.5
    )
    with speaking("es"):
        assert words in " ".join(str(found.to_markdown("es")).split())
