"""The command line, run as a user runs it."""

import importlib
import json
import re
import subprocess
import sys

import polars as pl
import pytest

import stakes
from stakes.language.sentences import metric_name
from tests.command import DEMO_FILE, run, run_alone


@pytest.fixture
def preds(tmp_path):
    file = tmp_path / "my preds (final).csv"
    rows = [
        "outcome,\"P(yes), v2\",center 'A',amount",
        "yes,0.9,north,1",
        "no,0.2,north,2",
        "yes,0.4,south,3",
        "no,0.6,south,4",
    ]
    file.write_text("\n".join(rows) + "\n")
    return file


COLUMNS = ("--truth", "outcome", "--score", "P(yes), v2", "--positive", "yes")


def test_evaluate_prints_the_figures(preds):
    done = run("evaluate", preds, *COLUMNS, "--by", "center 'A'")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("yes or no?\n4 rows · 50% are “yes” · “yes” when score ≥ 0.5\n")
    assert "0.7500" in done.stdout
    assert "north" in done.stdout
    assert "more figures" in done.stdout
    assert "\x1b[" not in done.stdout  # no colour in a pipe


def test_evaluate_all_shows_every_figure(preds):
    shown = run("evaluate", preds, *COLUMNS, "--all", env={"COLUMNS": "200"}).stdout  # wide enough for whole names
    figures = json.loads(run("evaluate", preds, *COLUMNS, "--json").stdout)["figures"]
    assert all(f"\n{metric_name(name)} " in shown for name in figures)
    assert "more figures" not in shown


def test_json_is_what_python_gives(preds):
    done = run("evaluate", preds, *COLUMNS, "--weight", "amount", "--threshold", "0.3", "--json")
    options = {"truth": "outcome", "score": "P(yes), v2", "positive": "yes", "weight": "amount", "threshold": 0.3}
    assert json.loads(done.stdout) == stakes.evaluate(preds, **options).to_dict()


def test_parquet_and_csv_give_the_same_answer(preds):
    parquet = preds.with_suffix(".parquet")
    pl.read_csv(preds).write_parquet(parquet)
    answers = [run("evaluate", file, *COLUMNS, "--json").stdout for file in (preds, parquet)]
    assert answers[0] == answers[1]


def test_decisions_in_the_file(tmp_path):
    file = tmp_path / "d.csv"
    file.write_text("truth,decided\n1,1\n0,1\n1,0\n")
    done = run("evaluate", file, "--truth", "truth", "--prediction", "decided", "--json")
    assert json.loads(done.stdout)["confusion"]["counts"] == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("a,b\n1,2\n", ["--truth", "y", "--score", "b"], "stakes: truth: there is no column 'y'; there is 'a' and 'b'"),
        (
            "y,p\n1,0.2\n0,oops\n",
            ["--truth", "y", "--score", "p"],
            "score has 1 row that holds no number ('oops'; the first is in ",
        ),
        ("y,p\n1,0.2\nNA,0.3\n", ["--truth", "y", "--score", "p"], "truth is missing in 1 row"),
        ("y,p\n1,0.2\nnan,0.3\n", ["--truth", "y", "--score", "p"], "truth is missing in 1 row"),
        ("y,y,p\n1,0,0.2\n", ["--truth", "y", "--score", "p"], "the table has several columns called 'y'"),
        ("y,p\n1,0.2\n,0.3\n", ["--truth", "y", "--score", "p"], "truth is missing in 1 row"),
        (
            "y,p\n1,0.2\n0\n",
            ["--truth", "y", "--score", "p"],
            "preds.csv: line 3 has 1 field and the header has 2",
        ),
        ("y,p\n", ["--truth", "y", "--score", "p"], "truth is empty"),
        ("", ["--truth", "y", "--score", "p"], "cannot be read"),
        (
            "y,p\nyes,0.2\nno,0.3\n",
            ["--truth", "y", "--score", "p"],
            "neither is obviously the positive one; pass --positive yes or --positive no",
        ),
        ("y,p\n1,0.2\n", ["--truth", "y"], "give --score "),
        ("y,p\n1,1e400\n0,0\n", ["--truth", "y", "--score", "p"], "score is infinite in 1 row"),
    ],
)
def test_a_file_that_is_wrong_gets_one_line_and_exit_code_2(tmp_path, content, arguments, words):
    file = tmp_path / "preds.csv"
    file.write_text(content)
    done = run("evaluate", file, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_files_that_are_not_there_or_of_another_kind(tmp_path):
    for name, words in (
        ("gone.csv", "there is no such file"),
        ("a.docx", "does not end in .csv, .tsv, .tab, .txt"),
        ("", "it is a directory"),
    ):
        file = tmp_path / name
        if name == "a.docx":
            file.write_text("x")
        done = run("evaluate", file, "--truth", "y", "--score", "p")
        assert done.returncode == 2
        assert words in done.stderr


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    (tmp_path / "a[1].csv").write_text("y,p\n1,0.9\n0,0.1\n")
    (tmp_path / "a1.csv").write_text("y,p\n1,0.1\n0,0.9\n")
    done = run("evaluate", tmp_path / "a[1].csv", "--truth", "y", "--score", "p", "--json")
    assert json.loads(done.stdout)["figures"]["auc"]["value"] == 1


def test_labels_in_a_file_stay_text(tmp_path):
    file = tmp_path / "codes.csv"
    file.write_text("y,p\n007,0.9\n7,0.1\n")
    done = run("evaluate", file, "--truth", "y", "--score", "p", "--positive", "007", "--json")
    assert (json.loads(done.stdout)["positive"], json.loads(done.stdout)["negative"]) == ("007", "7")


def test_awkward_headers_and_common_pairs(tmp_path):
    file = tmp_path / "quoted.csv"
    file.write_text('"truth, ""really""",p\nTrue,0.9\nFalse,0.1\n')
    done = run("evaluate", file, "--truth", 'truth, "really"', "--score", "p", "--json")
    assert json.loads(done.stdout)["positive"] == "True", done.stderr


@pytest.mark.slow
def test_output_that_cannot_be_written_is_one_line():
    done = subprocess.run(f"{sys.executable} -m stakes metrics > /dev/full", shell=True, capture_output=True, text=True)
    assert done.returncode == 3
    assert "cannot write: No space left on device" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_terminal_without_unicode_gets_stand_ins_for_our_own_signs():
    done = run_alone("demo", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
    assert '"malignant" when score >= 0.5' in done.stdout
    assert "0.5319 - 0.6627" in done.stdout
    assert "\\u" not in done.stdout


def test_three_classes_on_the_command_line(tmp_path):
    file = tmp_path / "three.csv"
    file.write_text("y,d,pa,pb,pc\na,a,0.6,0.3,0.1\nb,b,0.2,0.5,0.3\nc,b,0.3,0.4,0.3\n")
    scores = [part for name in "abc" for part in ("--score", f"{name}=p{name}")]
    done = run("evaluate", file, "--truth", "y", "--prediction", "d", *scores, "--json")
    data = json.loads(done.stdout)
    assert data["figures"]["accuracy"]["value"] == 2 / 3
    assert data["class_figures"]["a"]["auc"]["value"] == 1
    shown = run("evaluate", file, "--truth", "y", "--prediction", "d").stdout
    assert "Most confused" in shown
    wrong = run("evaluate", file, "--truth", "y", "--score", "pa", "--score", "b=pb")
    assert wrong.returncode == 2
    assert "with several scores write each as CLASS=COLUMN" in wrong.stderr


def test_regression_on_the_command_line(tmp_path):
    file = tmp_path / "numbers.csv"
    file.write_text("t,p\n1.5,1\n2,2.5\n10,7\n")
    done = run("evaluate", file, "--truth", "t", "--prediction", "p", "--baseline", "3", "--json")
    assert json.loads(done.stdout)["figures"]["mean_absolute_error"]["value"] == pytest.approx(4 / 3)
    assert "Largest errors" in run("evaluate", file, "--truth", "t", "--prediction", "p").stdout
    whole = tmp_path / "whole.csv"
    whole.write_text("t,p\n1,2\n3,3\n5,4\n")
    asked = run("evaluate", whole, "--truth", "t", "--prediction", "p")
    assert asked.returncode == 2, asked.stdout
    assert "pass --task classification or --task regression" in asked.stderr
    assert run("evaluate", whole, "--truth", "t", "--prediction", "p", "--task", "regression").returncode == 0


def test_a_warning_is_one_line():
    file = DEMO_FILE
    done = run("evaluate", file, "--truth", "diagnosis", "--prediction", "size", "--json")
    assert done.returncode == 0
    assert done.stderr.startswith(
        "stakes: warning: prediction has no class of truth ('large', 'medium' and 'small' against"
    )
    assert len(done.stderr.splitlines()) == 1


def test_permute_says_how_many_shuffles_did_as_well(preds):
    done = run("permute", preds, *COLUMNS, "--permutations", "500", "--seed", "3", "--json")
    options = {"truth": "outcome", "score": "P(yes), v2", "positive": "yes", "permutations": 500, "seed": 3}
    test = stakes.permutation_test(preds, **options)
    assert json.loads(done.stdout) == test.to_dict()
    assert run("permute", preds, *COLUMNS, "--permutations", "500", "--seed", "3").stdout == f"{test}\n"
    exact = run("permute", preds, *COLUMNS, "--metric", "accuracy").stdout
    assert "accuracy   0.5000   0.8333   Fisher's exact test, one-sided\n" in exact
    wrong = run("permute", preds, *COLUMNS, "--permutations", "0")
    assert wrong.returncode == 2
    assert wrong.stderr == "stakes: --permutations 0 does not work; give a whole number from 1 on\n"


def test_wrong_usage_is_exit_code_2():
    assert run_alone("evaluate").returncode == 2
    assert run("nonsense").returncode == 2
    assert "x.csv: there is no such file" in run("evaluate", "x.csv").stderr


def test_metrics_lists_all_and_explains_one():
    everything = run("metrics").stdout
    assert all(f"  {metric.name} " in everything for metric in stakes.metrics.catalogue())
    one = run("metrics", "sensitivity").stdout
    assert one.startswith("recall\n")
    assert "tp / P" in one
    assert "no case is positive" in one
    assert "Yerushalmy" in one
    typo = run("metrics", "precisoin")
    assert typo.returncode == 2
    assert "did you mean 'precision'" in typo.stderr


@pytest.mark.slow
def test_a_broken_pipe_is_quiet():
    command = f"{sys.executable} -m stakes metrics | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert done.stderr == ""


def test_help_of_every_command_fits_80_columns():
    listed = run("--help", env={"COLUMNS": "80"}).stdout
    commands = re.findall(r"^  ([a-z]+)  ", listed, re.MULTILINE)
    assert {"evaluate", "compare", "plan", "label", "system", "watch"} <= set(commands)
    told = {name: run(name, "--help", env={"COLUMNS": "80"}).stdout for name in commands} | {"": listed}
    assert {name: line for name, text in told.items() for line in text.splitlines() if len(line) > 80} == {}


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["--version"]])
def test_help_loads_no_numpy(arguments):
    code = f"""
import sys
sys.argv = ["stakes", *{arguments!r}]
from stakes.cli import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 0, stop.code
heavy = [m for m in ("numpy", "scipy", "polars", "narwhals", "pandas", "rich", "pyarrow") if m in sys.modules]
assert not heavy, heavy
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "stakes" in done.stdout


# ── compare ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def two_models(tmp_path):
    rows = pl.DataFrame(
        {
            "case": range(60),
            "y": ["yes", "no"] * 30,
            "knn": [0.9, 0.2, 0.4, 0.6, 0.8, 0.1] * 10,
            "svc": [0.8, 0.3, 0.7, 0.4, 0.9, 0.2] * 10,
        }
    )
    rows.write_csv(tmp_path / "both.csv")
    for name in ("knn", "svc"):
        rows.select("case", "y", pl.col(name).alias("p")).write_csv(tmp_path / f"{name}.csv")
    return tmp_path


PAIR = ("--truth", "y", "--positive", "yes")


def test_compare_prints_the_ranking_and_the_conclusion(two_models):
    done = run("compare", two_models / "both.csv", *PAIR, "--score", "knn", "--score", "svc", "--metric", "accuracy")
    assert done.returncode == 0, done.stderr
    assert "“svc”: its accuracy is higher, and chance alone hardly explains it." in " ".join(done.stdout.split())
    assert "McNemar's exact test" in done.stdout


def test_compare_gives_the_json_of_python(two_models):
    options = ("--metric", "auc", "--metric", "f1", "--margin", "0.1", "--confidence", ".9", "--seed", "3", "--json")
    done = run("compare", two_models / "both.csv", *PAIR, "--score", "knn", "--score", "svc", *options)
    expected = stakes.compare(
        two_models / "both.csv",
        truth="y",
        positive="yes",
        scores=["knn", "svc"],
        metric=["auc", "f1"],
        margin=0.1,
        confidence=0.9,
        seed=3,
    )
    assert json.loads(done.stdout) == expected.to_dict()


def test_compare_joins_files_by_case(two_models):
    files = (two_models / "knn.csv", two_models / "svc.csv")
    done = run("compare", *files, *PAIR, "--id", "case", "--score", "p", "--json")
    assert [place["model"] for place in json.loads(done.stdout)["table"]] == ["svc", "knn"]
    done = run("compare", *files, *PAIR, "--score", "p")
    assert done.returncode == 2
    assert done.stderr == (
        "stakes: several tables were given; name the column of case numbers that joins them as --id, or pass "
        "--unpaired if they hold different cases\n"
    )
    assert run("compare", *files, *PAIR, "--score", "p", "--unpaired").returncode == 0


def test_compare_needs_two_models(two_models):
    done = run("compare", two_models / "both.csv", *PAIR, "--score", "knn")
    assert (done.returncode, done.stderr) == (
        2,
        "stakes: a comparison needs two models or more, and there is only 'knn'; name them in --score or "
        "--prediction\n",
    )


# ── decisions and costs ──────────────────────────────────────────────────────────────────────────────────────────
DEMO = (str(DEMO_FILE), "--truth", "diagnosis", "--score", "logistic", "--positive", "malignant")


def test_decide_tells_the_threshold_in_plain_words():
    done = run("decide", *DEMO, "--miss", "10", "--false-alarm", "1")
    assert done.returncode == 0
    told = " ".join(done.stdout.split())
    for words in (
        "569 rows · costs: a miss 10, a false alarm 1",
        "“malignant” from score 0.09091 on, otherwise “benign”.",
        "Of 100 “malignant” cases 99.1 are found (97 to 99.7);",
        "of 100 “benign” cases 72 raise a false alarm (67 to 77).",
        "Of 1,000 cases 822 raise an alarm (789 to 852); of 100 alarms 45 are right (40 to 49).",
        "Yes: compared with deciding “malignant” for everyone, it saves 138.84 per 1,000 cases.",
        "Thresholds between 0.05131 and 0.1803 cannot be told apart from 0.1164 on these rows.",
        "If the probabilities were right, 0.09091 would be best",
        "a miss costs 4.4545 to 13 times as much as a false alarm",
    ):
        assert words in told
    found = json.loads(run("decide", *DEMO, "--miss", "10", "--false-alarm", "1", "--json").stdout)
    assert found["thresholds"] == [pytest.approx(0.116428, abs=1e-6)]
    assert found["corrected"]["low"] < found["corrected"]["value"] < found["corrected"]["high"]


@pytest.mark.slow
def test_decide_by_a_condition_and_by_a_file_of_costs(tmp_path):
    done = run("decide", *DEMO, "--best", "recall >= 0.95")
    assert "the condition ≥ 0.95" in " ".join(done.stdout.split())
    file = tmp_path / "costs.toml"
    file.write_text(
        "[costs.malignant]\noperate = 0\nwatch = 4\nhome = 20\n[costs.benign]\noperate = 5\nwatch = 1\nhome = 0\n"
    )
    done = run("decide", *DEMO, "--costs", str(file))
    assert "“home” for the lowest scores, “watch” from score" in " ".join(done.stdout.split())
    assert "“watch” from score" in done.stdout
    done = run("evaluate", *DEMO, "--costs", str(file), "--prior", "0.05", "--training-prior", "rows", "--json")
    found = json.loads(done.stdout)
    assert found["prior"] == 0.05
    assert found["figures"]["expected_cost"]["value"] > 0
    assert [len(row) for row in found["confusion"]["counts"]] == [3, 3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--miss", "10"), "--miss and --false-alarm go together"),
        (("--miss", "1", "--false-alarm", "1", "--costs", "x.toml"), "not both"),
        (("--costs", "nowhere.toml"), "nowhere.toml: there is no such file"),
        (("--miss", "amount", "--false-alarm", "1"), "'amount'"),
        (("--best", "f1", "--miss", "1", "--false-alarm", "1"), "give --costs (what decisions cost), or --best"),
        ((), "say what mistakes cost (--miss 5 --false-alarm 1, or --costs FILE), or --best FIGURE."),
        (("--best", "f1", "--threshold", "0.3"), "--threshold means nothing to decide: it is what decide looks for"),
        (("--miss", "1", "--false-alarm", "1", "--prior", "2:3"), "give the share of the positive class"),
        (("--miss", "1", "--false-alarm", "1", "--prior", "malignant=0.5"), "--prior is about 'malignant'"),
    ],
)
def test_decide_asks_for_what_it_needs(options, words):
    done = run("decide", *DEMO, *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


# ── several files, standard input, databases ─────────────────────────────────────────────────────────────────────
LEFT_OUT = "1 row with a missing value or weight 0 was left out."


def test_several_files_and_patterns_are_one_table(preds):
    table = pl.read_csv(preds)
    for number in range(2):
        table[2 * number : 2 * number + 2].write_csv(preds.parent / f"part{number}.csv")
    expected = run("evaluate", preds, *COLUMNS, "--json").stdout
    parts = [preds.parent / f"part{number}.csv" for number in range(2)]
    assert run("evaluate", *parts, *COLUMNS, "--json").stdout == expected
    assert run("evaluate", preds.parent / "part*.csv", *COLUMNS, "--json").stdout == expected
    assert run("evaluate", "-", *COLUMNS, "--json", input=preds.read_text()).stdout == expected


def test_a_condition_and_missing_values(preds):
    with preds.open("a") as file:
        file.write("yes,,north,5\nno,0.3,west,6\n")
    done = run("evaluate", preds, *COLUMNS, "--where", "amount <= 5", "--missing", "drop", "--json")
    found = stakes.evaluate(preds, truth="outcome", score="P(yes), v2", positive="yes", where="amount < 5").to_dict()
    told = json.loads(done.stdout)
    assert LEFT_OUT in told["notes"]
    told["notes"].remove(LEFT_OUT)
    told["findings"] = [one for one in told["findings"] if one["key"] != "caution.dropped"]
    assert told == {**found, "dropped": 1}
    done = run("evaluate", preds, *COLUMNS, "--missing", "drop")
    assert f"! {LEFT_OUT}\n" in done.stdout
    done = run("decide", preds, *COLUMNS, "--best", "f1", "--missing", "drop", "--where", "\"center 'A'\" <> 'west'")
    assert f"! {LEFT_OUT}\n" in done.stdout
    done = run("evaluate", preds, *COLUMNS, "--where", "centre = 'A'")
    assert done.returncode == 2
    assert done.stderr.startswith("stakes: where: there is no column 'centre'")
    done = run("evaluate", preds, *COLUMNS, "--where", "amount >")
    assert done.stderr.startswith("stakes: --where 'amount >' is not understood")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_other_commands_take_several_files_and_conditions(tmp_path):
    rows = pl.read_csv(DEMO_FILE)
    halves = (tmp_path / "a.csv", tmp_path / "b.csv")
    rows[:300].write_csv(halves[0])
    rows[300:].write_csv(halves[1])
    columns = ("--truth", "diagnosis", "--score", "logistic", "--positive", "malignant", "--json")
    for command, *options in (("decide", "--best", "f1"), ("permute", "--permutations", "99"), ("calibrate",)):
        one, both = (run(command, *files, *columns, *options) for files in ((DEMO_FILE,), halves))
        assert one.stdout == both.stdout != "", both.stderr
        where = run(command, *halves, *columns, *options, "--where", "size = 'small'")
        rows.filter(pl.col("size") == "small").write_csv(tmp_path / "small.csv")
        assert where.stdout == run(command, tmp_path / "small.csv", *columns, *options).stdout != ""


@pytest.mark.slow
def test_a_database_prints_nothing_else(preds):
    duckdb = importlib.import_module("duckdb")  # part of the test extra: missing is a failure
    database = preds.parent / "all.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM read_csv('{preds}', types={{'outcome': 'VARCHAR'}})")
    done = run_alone("evaluate", f"{database}::t", *COLUMNS, "--json")  # what a library prints by itself counts too
    assert done.stdout == run("evaluate", preds, *COLUMNS, "--json").stdout
    assert done.stderr == ""


def test_a_report_is_written_in_a_language(preds, tmp_path):
    done = run("evaluate", preds, *COLUMNS, "--report", tmp_path / "out.html", "--lang", "ru")
    assert done.returncode == 0, done.stderr
    assert "AUC 0,7500" in done.stdout  # the figures are printed all the same, and in Russian
    assert '<html lang="ru">' in (tmp_path / "out.html").read_text()
    nowhere = run("evaluate", preds, *COLUMNS, "--report", tmp_path / "nowhere" / "out.html")
    assert nowhere.returncode == 2
    assert "the folder to write to does not exist" in nowhere.stderr


def test_other_commands_write_reports_too(preds, tmp_path):
    asked = {
        "compare": ("--truth", "outcome", "--score", "P(yes), v2", "--score", "amount", "--positive", "yes"),
        "permute": (*COLUMNS, "--permutations", "50", "--lang", "es"),
        "decide": (*COLUMNS, "--miss", "5", "--false-alarm", "1"),
    }
    for command, options in asked.items():
        done = run(command, preds, *options, "--report", tmp_path / "out.html")
        assert done.returncode == 0, done.stderr
        lang = "es" if "es" in options else "en"
        assert f'<html lang="{lang}">' in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_report_is_never_written_over_what_is_read(preds, tmp_path):
    rows = preds.read_bytes()
    for command, options in {"evaluate": (), "decide": ("--miss", "5", "--false-alarm", "1"), "permute": ()}.items():
        done = run(command, preds, *COLUMNS, *options, "--report", preds)
        assert done.returncode == 2
        assert "is never written over" in done.stderr
    compared = run(
        "compare", preds, "--truth", "outcome", "--score", "P(yes), v2", "--score", "amount", "--report", preds
    )
    assert compared.returncode == 2
    assert preds.read_bytes() == rows


def test_a_report_of_a_tally_shows_the_threshold_that_was_counted(preds, tmp_path):
    assert run("count", preds, *COLUMNS, "--threshold", "0.3", "-o", tmp_path / "a.tally").returncode == 0
    done = run("evaluate", tmp_path / "a.tally", "--report", tmp_path / "out.html")
    assert done.returncode == 0, done.stderr
    assert '"threshold": 0.3' in (tmp_path / "out.html").read_text().replace('"threshold":0.3', '"threshold": 0.3')


def test_a_system_has_a_report_too(tmp_path):
    demo = run("demo", "system", "--report", tmp_path / "demo.html", "--lang", "es")
    assert demo.returncode == 0, demo.stderr
    assert '<html lang="es">' in (tmp_path / "demo.html").read_text()
    file = DEMO_FILE.parent / "clinic_or.toml"
    done = run("system", file, "--report", tmp_path / "out.html", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cost"] == 375
    assert '<html lang="en">' in (tmp_path / "out.html").read_text()
