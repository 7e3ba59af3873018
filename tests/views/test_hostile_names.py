"""Hostile names through every view: each command in each form, each object, each plot, each page."""

import contextlib
import csv
import dataclasses
import importlib
import inspect
import io
import json
import os
import pkgutil
import pty
import re
import subprocess
import sys
import warnings
from functools import partial
from html import escape, unescape
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sklearn.dummy import DummyClassifier

import stakes
from stakes.cli import cli
from stakes.cli.output import FORMS
from stakes.cli.words import wrap
from stakes.evaluation.recalibrating import calibrate
from stakes.text import visible
from stakes.views import csv as as_csv
from stakes.views import markdown, report, terminal
from stakes.views.junit import junit
from stakes.views.page import AnswerInWords, Page, TextTable
from tests.bad_inputs.catalogue import run_command
from tests.command import run
from tests.parts import Lazily, examples
from tests.views.hostile import HOSTILE, harmless, unseen

pytestmark = pytest.mark.slow

mpl = Lazily("matplotlib")
plt = Lazily("matplotlib.pyplot")

ROWS = 40 * len(HOSTILE)
SICK, WELL = "\x1b[2J::error::sick\n::error::x", "##[warning]\u202ewell\u200b ≥ Ж"
KINDS = (SICK, WELL, "=third|`$x$`\x9b", "__proto__")
COSTS = stakes.Costs(miss=5, false_alarm=1)
Y, P, Q, SITE = "y\x1b[31m", "::p\u202e", "q\n::error::q", "site\u200b|<b>"
IN_TOML = json.dumps  # a text of JSON is a text of TOML


@pytest.fixture(scope="module")
def rows():
    """Columns whose names and values are hostile; the scores are good enough to say something about."""
    rng = np.random.default_rng(0)
    sick = rng.random(ROWS) < 0.4
    scores = [np.clip(0.5 * rng.random(ROWS) + gain * sick, 0.01, 0.99).round(3) for gain in (0.35, 0.2)]
    names, sites = np.where(sick, SICK, WELL), np.array(HOSTILE)[np.arange(ROWS) % len(HOSTILE)]
    return {Y: names, P: scores[0], Q: scores[1], SITE: sites, "case": np.arange(ROWS)}


@pytest.fixture(scope="module")
def exhibits(rows):
    """One of each thing that can be shown, found by its class."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, len(KINDS), 240)
    chances = rng.dirichlet(np.ones(len(KINDS)), 240) + np.eye(len(KINDS))[truth]
    chances /= chances.sum(1, keepdims=True)
    many = {"truth": np.array(KINDS)[truth], "score": chances, "classes": list(KINDS)}
    numbers = {"truth": rng.random(ROWS), "prediction": rng.random(ROWS)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        two = stakes.evaluate(rows, truth=Y, score=P, positive=SICK, by=SITE, costs=COSTS)
        three = stakes.evaluate(**many, by=np.array(HOSTILE[:3])[np.arange(240) % 3])
        prices = stakes.Costs((1.0 - np.eye(len(KINDS))).tolist(), KINDS, KINDS)
        validated = stakes.validate(DummyClassifier(), rows[P].reshape(-1, 1), rows[Y], how=2, positive=SICK)
        labels = stakes.evaluate(
            truth=dict.fromkeys(HOSTILE[:2], rows[Y] == SICK), score=dict.fromkeys(HOSTILE[:2], rows[P])
        )
        outputs = stakes.evaluate(**{name: dict.fromkeys(HOSTILE[:2], column) for name, column in numbers.items()})
    network = system()
    return [
        two,
        labels,
        outputs,
        *labels.counted.tallies.values(),
        *outputs.counted.tallies.values(),
        stakes.InputError(f"there is no {SICK!s}"),
        three,
        stakes.evaluate(**numbers, by=rows[SITE]),
        two.by_segment(),
        two.gap("specificity"),
        two.calibration,
        three.calibration,
        two.calibration.reliability(),
        two.histograms(),
        two.curve("roc"),
        two["auc"],
        two.findings[0],
        three["f1", KINDS[2]],
        two.decide(COSTS),
        stakes.decide(**many, costs=prices),
        calibrate(rows, truth=Y, score=P, positive=SICK),
        stakes.compare(rows, truth=Y, scores={HOSTILE[i]: name for i, name in ((0, P), (7, Q))}, positive=SICK),
        stakes.permutation_test(rows, truth=Y, score=P, positive=SICK, permutations=49),
        stakes.gate(two, require=["recall >= 0.999 in every segment", "auc.low >= 0.9999", "gap(recall) < 0.01"]),
        validated,
        validated["accuracy"],
        network,
        network.table,
        network.best_rule(),
        network.best_plan(),
        network.component_costs(MODELS[0]),
        network.bounds(MODELS[0]),
        network.worth(),
        network.break_even(MODELS[0]),
        network.threshold(MODELS[0]),
        network.do({MODELS[0]: SICK}),
        stakes.Costs(miss=P, false_alarm=Q),
        *two.counted.tallies.values(),
        two.confusion,
        two.counted,
        stakes.JointCounts.from_rows([Y, SITE], [[SICK, WELL], HOSTILE[:2]], [[0, 1], [1, 0]]),
        three.counted.tallies["class_scores"],
        two.explore(),
    ]


MODELS = ("im\x1b[2Jages\n::error::x", "::history")


def system():
    tables = {MODELS[0]: [[80, 20], [20, 80]], MODELS[1]: [[50, 50], [100, 100]]}
    rule = " and ".join(f"`{name}`" for name in MODELS)
    return stakes.System(classes=[SICK, WELL], models=tables, decide=rule, costs=COSTS)


# ── Python ───────────────────────────────────────────────────────────────────────────────────────────────────────
NAMELESS = {"CostSums", "ErrorSums", "Figure", "GapFigure", "GradedItems"}
"""What shows itself, and has no names from data to show."""


def shown_by_themselves():
    """Every class of stakes that words, draws or prints itself."""
    modules = (importlib.import_module(found.name) for found in pkgutil.walk_packages(stakes.__path__, "stakes."))
    ways = ("__str__", "_repr_html_", "show")
    return {
        one.__name__
        for module in modules
        for one in vars(module).values()
        if inspect.isclass(one) and one.__module__.startswith("stakes") and any(way in vars(one) for way in ways)
    }


def test_every_class_that_shows_itself_is_tried(exhibits):
    tried = {base.__name__ for thing in exhibits for base in type(thing).__mro__}
    assert shown_by_themselves() - tried == NAMELESS


def test_every_object_shows_names_as_text(exhibits):
    for thing in exhibits:
        harmless(str(thing))
        if "def __repr__" in inspect.getsource(type(thing)):
            harmless(repr(thing))
        if hasattr(thing, "show"):
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                thing.show()
            harmless(shown.getvalue())
        for way in ("conclusion", "advice", "picture"):
            harmless(str(getattr(thing, way, "")))
        if hasattr(thing, "to_json") and not getattr(thing, "segments", None):  # those of segments: see the commands
            harmless(thing.to_json())
            assert json.loads(thing.to_json()) == json.loads(json.dumps(thing.to_dict()))


def test_notebooks_show_names_as_text(exhibits):
    pages = [thing._repr_html_() for thing in exhibits if hasattr(thing, "_repr_html_")]
    assert len(pages) == 20
    *fragments, framed = pages
    for page in (*fragments, framed.replace("\u00ad", "", 4)):  # which our own long words in Russian have
        harmless(page)
        ElementTree.fromstring(page)
        assert "<script" not in page
        assert "<img" not in page
    worst = exhibits[0].by_segment().segments[0].name
    assert any(visible(worst) in cell for cell in ElementTree.fromstring(pages[0]).itertext())


def test_plots_draw_names_as_text(exhibits):
    plotted = [thing for thing in exhibits if getattr(thing, "plots", ())]
    assert len(plotted) >= 8
    seen = ""
    with warnings.catch_warnings(), mpl.rc_context({"svg.fonttype": "none"}):
        warnings.simplefilter("error")  # such as a letter that no font has
        warnings.simplefilter("ignore", DeprecationWarning)  # which libraries have for each other
        for draw in (*(partial(thing.plot, kind) for kind, thing in _to_draw(plotted)), _regions):
            drawn, text = draw(), io.StringIO()
            drawn.figure_.savefig(text, format="svg")
            plt.close(drawn.figure_)
            harmless(text.getvalue())
            ElementTree.fromstring(text.getvalue())
            seen += text.getvalue()
    assert all(name in seen for name in (r"C:\temp\x1b", "$x^2$ and $\\alpha$", r"\u540d\u524d"))


def _to_draw(plotted):
    """Every kind of plot once, and that of classes for each thing that has them."""
    seen = set()
    for thing in plotted:
        for kind in thing.plots:
            if kind not in seen or kind == "confusion":
                seen.add(kind)
                yield kind, thing


def _regions():
    """The regions of an estimator whose features and classes have hostile names."""
    frame = pd.DataFrame({P: [0.0, 1.0] * 4, Q: [0.0, 0.0, 1.0, 1.0] * 2})
    fitted = DummyClassifier().fit(frame, [SICK, WELL] * 4)
    return stakes.plot_regions(fitted, frame, [SICK, WELL] * 4, resolution=20)


@pytest.mark.parametrize("blank", ["", " "])
def test_folding_a_name_begins_no_line_with_a_command(blank, monkeypatch, capsys):
    """A name can be as long as it takes for its rest to begin a line."""
    monkeypatch.setenv("COLUMNS", "40")
    for length in range(15, 45):
        name = f"{'a' * length}{blank}::error::{'b' * 30}"
        answer = AnswerInWords("good", name, name, [name], [name])
        page = Page(name, [name], [answer], [TextTable(("name", "n"), [(name, "1")], title=name)], [name])
        terminal.show_page(page)
        harmless(terminal.text_of_page(page, 40) + capsys.readouterr().out + wrap(name))


# ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def pages(exhibits, tmp_path_factory):
    """The page of everything that has one."""
    folder, found = tmp_path_factory.mktemp("pages"), {}
    for thing in exhibits:
        if hasattr(thing, "report"):
            path = folder / f"{type(thing).__name__}.html"
            thing.report(path, about=" ".join(name for name in HOSTILE))
            found[type(thing).__name__] = path
    return found


def test_pages_hold_names_as_text(pages):
    assert len(pages) == 10
    for path in pages.values():
        text = path.read_text(encoding="utf-8")
        harmless(text.replace("\u00ad", "", 4))  # which our own long words in Russian have
        assert text.count("</script") == 2
        assert "<img" not in text


@pytest.mark.parametrize("name", ["TwoClassEvaluation", "ManyClassEvaluation", "Comparison", "System"])
def test_in_a_browser_and_in_what_is_saved_there(opened, pages, name):
    page = opened(pages[name])
    shown = page.evaluate("""() => [document.title, document.body.innerText, ...[...document.querySelectorAll('*')]
        .flatMap((e) => [...e.attributes].map((a) => a.value))].join('\\n')""")
    harmless(re.sub(r"(?m)^\s+", "", shown.replace("\t", " ")).replace("::", ""))  # a page is no log
    assert visible(HOSTILE[0]) in shown
    svg, tables = (_saved(page, kind) for kind in ("SVG", "CSV"))
    for text in svg:
        assert unseen(text) == set()
        ElementTree.fromstring(text)
    for text in tables:
        assert unseen(text.replace("\r\n", "")) == set()
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]


def _saved(page, kind):
    """What the first few buttons of a kind save."""
    buttons = page.locator(f"button:text-is('{kind}'):visible").all()[:4]
    assert buttons
    texts = []
    for button in buttons:
        with page.expect_download() as download:
            button.click()
        texts.append(download.value.path().read_bytes().decode("utf-8"))
    return texts


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────
SYSTEM = f"""
classes = [{IN_TOML(SICK)}, {IN_TOML(WELL)}]
decide = {IN_TOML(" and ".join(f"`{name}`" for name in MODELS))}
costs = {{miss = 5, false_alarm = 1}}
models.{IN_TOML(MODELS[0])} = [[80, 20], [20, 80]]
models.{IN_TOML(MODELS[1])} = [[50, 50], [100, 100]]
"""


@pytest.fixture(scope="module")
def asked(rows, tmp_path_factory):
    """A command of each kind, about files whose names are hostile, too."""
    folder = tmp_path_factory.mktemp("named")
    data, toml = folder / "rows\x1b[2J\n::error::\u202e.parquet", folder / "::system\x1b[31m.toml"
    pl.DataFrame(rows).write_parquet(data)
    toml.write_text(SYSTEM, encoding="utf-8")
    partly = folder / "::few\x1b[2J\n.parquet"
    few = pl.concat([pl.DataFrame(rows)] * 3)
    few.with_columns(pl.when(pl.int_range(pl.len()) < 60).then(pl.col(Y))).write_parquet(partly)
    day = folder / "day\x1b[2J\n::error::\u202e.tally"
    stakes.count(rows, truth=Y, score=P, positive=SICK).save(day)
    truth = (str(data), "--truth", Y, "--positive", SICK)
    model = (*truth, "--score", P)
    failing = ("--require", "recall.low >= 0.99 in every segment", "--require", "auc >= 0.9999")
    estimator = ("--estimator", "sklearn.dummy:DummyClassifier", "--feature", P, "--folds", "2")
    return {
        "evaluate": (*model, "--by", SITE),
        "decide": (*model, "--miss", "5", "--false-alarm", "1"),
        "count": (*model, "--by", SITE, "-o", str(folder / "out\x1b[2J\n::error::.tally")),
        "compare": (*truth, "--score", P, "--score", Q),
        "calibrate": (*model, "-o", str(folder / "::calibrator\n\x1b.json")),
        "permute": (*model, "--permutations", "49"),
        "label": (str(partly), *model[1:], "--count", "5", "-o", str(folder / "::to\x1b_label.csv")),
        "plan": ("auc", "--pilot", *model, "--width", "0.1"),
        "report": (*model, "--by", SITE, "-o", str(folder / "page\x1b[2J\n::error::.html")),
        "system": (str(toml),),
        "validate": (str(data), "--target", Y, "--positive", SICK, *estimator),
        "rank": (str(data), "--score", P, "--score", Q),
        "watch": (str(day), "--require", "auc >= 0.1"),
        "gate": (*model, "--by", SITE, *failing, "--junit", str(folder / "gate.xml")),
        "columns": (str(data),),
        "metrics": ("f1",),
        "demo": (),
        "doctor": (),
    }


def test_every_command_is_tried(asked):
    assert set(asked) == set(cli.commands)


@pytest.mark.parametrize("verb", sorted(set(cli.commands) - {"demo"}))
@pytest.mark.spread(10)
def test_every_form_of_every_answer(asked, verb, monkeypatch, capsys):
    """One run of a command, told in every form."""
    told = {}

    def keep(answer, *_):
        told.update({form: answer.render(form) for form in (*FORMS, "text")}, ascii=answer.render("json", "ascii"))

    monkeypatch.setattr("stakes.cli.output._tell", keep)
    code, out, err = run_command([verb, *asked[verb]], capsys)
    assert code == (verb == "gate"), err
    for text in (*told.values(), out, err):
        harmless(text)
    names = _texts(json.loads(told["json"]))
    assert told["ascii"].isascii()
    assert json.loads(told["ascii"]) == json.loads(told["json"])
    if verb in ("evaluate", "gate", "count"):  # in JSON names are what they are
        assert names & set(HOSTILE)
    if verb == "system":
        assert {SICK, WELL, *MODELS} <= names
    tables = list(csv.reader(io.StringIO(told["csv"])))
    assert {len(row) for row in tables} == {len(tables[0])}
    rendered = MarkdownIt("commonmark").enable("table").render(told["markdown"])
    assert set(re.findall(r"</?(\w+)", rendered)) <= TAGS
    if verb == "gate":
        ElementTree.parse(asked[verb][-1])


TAGS = {*("p", "ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "span")}


def _texts(data):
    if isinstance(data, dict):
        return set().union(data, *map(_texts, data.values()))
    return set().union(*map(_texts, data)) if isinstance(data, list) else {data} if isinstance(data, str) else set()


DRIVER = """
import json, sys
from stakes import cli
from stakes.cli import progress
progress.PATIENCE = 3600  # what is said while one waits depends on the machine
for words in json.load(open(sys.argv[1])):
    sys.argv = ["stakes", *words]
    try:
        cli.main()
    except SystemExit:
        pass
"""


def in_a_process(asked, verbs, tmp_path, output, **settings):
    """Run commands in one process, whose output goes there."""
    (tmp_path / "asked.json").write_text(json.dumps([[verb, *asked[verb], *verbs[verb]] for verb in verbs]))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "90", **settings}
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "asked.json")]
    return subprocess.Popen(command, stdout=output, stderr=output, env=environment)


def test_in_a_terminal(asked, tmp_path):
    listening, speaking = pty.openpty()
    verbs = ("evaluate", "compare", "system", "gate", "columns", "doctor")  # the others show their answers as these do
    with in_a_process(asked, dict.fromkeys(verbs, ()), tmp_path, speaking) as running:
        os.close(speaking)
        said = b""
        with contextlib.suppress(OSError):  # how a terminal ends
            while part := os.read(listening, 1 << 16):
                said += part
    os.close(listening)
    assert running.returncode == 0, said
    text = said.decode("utf-8").replace("\r\n", "\n")
    harmless(text)
    assert "\x1b[" in text  # in colour
    assert visible(SICK) in text


def test_in_a_log_of_github(asked, tmp_path):
    """The only commands are our own, one for each condition that is not met."""
    summary = tmp_path / "summary.md"
    settings = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    done = [run(verb, *asked[verb], env=settings) for verb in ("evaluate", "decide", "system", "gate")]
    lines = "".join(one.stdout + one.stderr for one in done).split("\n")
    own = [line for line in lines if line.startswith("::error title=stakes gate")]
    assert len(own) == 2
    harmless("\n".join(line.replace("::", "") if line in own else line for line in lines))
    harmless(summary.read_text(encoding="utf-8"))


@pytest.mark.deep  # without hostile names it is tried in test_cli.py
def test_in_a_terminal_without_unicode(asked, tmp_path):
    settings = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    verbs = {"evaluate": (), "count": (), "system": ("--json",)}
    with (tmp_path / "log").open("wb") as log, in_a_process(asked, verbs, tmp_path, log, **settings) as running:
        pass
    assert running.returncode == 0
    text = (tmp_path / "log").read_text(encoding="ascii")
    harmless(text)
    assert {SICK, WELL, *MODELS} <= _texts(json.loads(text[text.index("\n{") :]))
    assert r"\u202ewell\u200b >= \u0416" in text
    assert not re.search(r"\w\?\w|\? \d", text)


def test_help_is_plain_ascii(capsys):
    for verb in cli.commands:
        code, out, _ = run_command([verb, "--help"], capsys)
        assert code == 0
        assert out.isascii(), verb


@pytest.mark.parametrize(
    "words",
    [
        ("non\x1b[2Jsense\n::error::",),
        ("evaluate", "--no-\x1b[2J\n::error::such"),
        ("evaluate", "none\x1b[2J\udcff\n::error::.csv", "--truth", "y", "--score", "p"),
        ("evaluate", "a.csv", "--truth", "y", "--threshold", "\x1b[2J\n::error::"),
        ("calibrate", "a\n.csv", "--score", "p", "--apply", "\n::error::\x1b.json", "-o", "b.csv"),
        ("compare", "a.csv", "--truth", "y", "--margin", "\u202e\n##[error]"),
        ("decide", "a.csv", "--truth", "y", "--score", "p", "--costs", "::\x1b\n.toml"),
        ("demo", "\x1b[2J\n::error::"),
        ("metrics", "f1\x1b[2J\n::error::"),
        ("gate", "--config", "\n::error::\u200b.toml"),
        ("system", "\n::error::\x9b.toml"),
        ("system", "a.csv", "--score", "\n::error::\u2028"),
    ],
)
def test_what_is_wrong_is_quoted_as_text(words, capsys):
    code, out, err = run_command(list(words), capsys)
    assert (code, out) == (2, "")
    harmless(err)
    last = err.rstrip("\n").split("\n")[-1]
    assert last.startswith(("stakes: ", "Error: "))
    assert "Traceback" not in err


# ── single forms ─────────────────────────────────────────────────────────────────────────────────────────────────
MARKUP = st.text("_*~`[]()!<&|#@:$\\-+1. w", max_size=12)
ANYTHING = st.text(st.characters(), max_size=20) | st.sampled_from(HOSTILE) | MARKUP


@examples(300)
@given(ANYTHING)
def test_markdown_renders_a_name_as_it_is_shown(name):
    """A reader of Markdown sees the words, and none of them is markup."""
    words = " ".join(visible(name).split())
    for text in (markdown.text(name), markdown.paragraph(name)):
        assert not re.search(r"[@#]\w|://|www\.|:[\w+-]+:|(?<!>)\$", text.replace("&#", ""), re.IGNORECASE)
    rendered = MarkdownIt("commonmark").enable("strikethrough").render(markdown.paragraph(name))
    if words:
        assert set(re.findall(r"</?(\w+)", rendered)) <= {"p", "span"}
        assert _read(rendered) == words
    cell = MarkdownIt("commonmark").enable("table").render(f"| a |\n| :-- |\n| {markdown.text(name)} |")
    assert set(re.findall(r"</?(\w+)", cell)) <= TAGS
    assert _read(cell).removeprefix("a").strip() == words


def _read(html):
    """The words that a reader sees."""
    return " ".join(unescape(re.sub(r"<!-- -->|<[^>]*>", "", html)).split())


@examples(200)
@given(ANYTHING)
def test_csv_holds_a_name_in_its_cell(name):
    head, row = csv.reader(io.StringIO(as_csv.of_rows([{"name": name, "n": -1.5}])))
    assert (head, row[1]) == (["name", "n"], "-1.5")
    assert row[0].removeprefix("'") == visible(name).removeprefix("'")
    assert not row[0].startswith(tuple("=+-@＝＋－＠\t\r"))


@examples(100)
@given(ANYTHING)
def test_junit_is_xml_whatever_a_segment_is_called(name):
    found = stakes.gate(_SMALL, require="auc >= 0.99")
    check = dataclasses.replace(found.checks[0], segment=name, condition=name)
    (case,) = ElementTree.fromstring(junit(dataclasses.replace(found, checks=[check]))).iter("testcase")
    assert case.get("name") == visible(name)
    assert visible(name) in case.find("failure").get("message")


_SMALL = stakes.evaluate(truth=[0, 1, 0, 1], score=[0.1, 0.4, 0.5, 0.9])


@examples(50)
@given(ANYTHING.filter(bool), ANYTHING)
def test_a_page_holds_any_name(one, other):
    named = {"key": "x", "values": {"name": one}}
    page = report.html({"title": named, "sections": [], "facts": [{other: [one, {"n": (other,)}]}]})
    shown = re.search(r'"page":(.*?)</script>', page, re.S)[1]
    harmless(shown)
    assert json.loads(shown[:-1])["facts"] == [{visible(other): [visible(one), {"n": [visible(other)]}]}]
    assert f"<title>{escape(visible(one))}</title>" in page
