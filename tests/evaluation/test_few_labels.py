"""Few labels and many outputs: against all labels, exact posteriors, and how often intervals hold."""

import json

import duckdb
import numpy as np
import polars as pl
import pytest
from scipy import stats

import stakes
from stakes.engines import unlabelled
from stakes.evaluation.few_labels import FewLabels, cells_of
from stakes.evaluation.few_rows import Rows
from stakes.uncertainty.few_labels import (
    Bins,
    _shift,
    _shifted,
    draw_decisions,
    draw_tables,
    effective_labels,
    regressed_mean,
)
from tests.bad_inputs.catalogue import run_command
from tests.command import run
from tests.parts import Lazily

sm = Lazily("statsmodels.api")


def world(seed, rows=2000, prevalence=0.3, apart=1.5):
    """Calibrated scores of two normal classes, and the truth."""
    generator = np.random.default_rng(seed)
    truth = (generator.random(rows) < prevalence).astype(float)
    seen = generator.normal(apart * truth, 1)
    logit = apart * seen - apart**2 / 2 + np.log(prevalence / (1 - prevalence))
    return truth, 1 / (1 + np.exp(-logit)), generator


def estimate(truth, score, labelled, **more):
    known = np.where(labelled, truth, np.nan)
    return stakes.evaluate({"t": known, "s": score}, truth="t", score="s", unlabelled="estimate", **more)


def at_random(generator, rows, labels):
    chosen = np.zeros(rows, bool)
    chosen[generator.choice(rows, labels, replace=False)] = True
    return chosen


def test_nearly_all_labels_tell_what_all_of_them_tell():
    truth, score, generator = world(0)
    found = estimate(truth, score, at_random(generator, 2000, 1900))
    full = stakes.evaluate(truth=truth, score=score)
    for name in ("prevalence", "accuracy", "recall", "specificity", "precision", "f1", "mcc", "auc", "brier_score"):
        width = full[name].high - full[name].low
        assert found[name].value == pytest.approx(full[name].value, abs=0.25 * width), name
        assert found[name].high - found[name].low == pytest.approx(width, rel=0.25), name


def test_decisions_alone_have_an_exact_posterior():
    """Two betas, mixed by how often each decision was taken: means by hand."""
    rows, none = np.array([600.0, 400.0]), np.zeros(2)
    bins = Bins(rows, np.array([3.0, 40.0]), np.array([47.0, 10.0]), none, none, np.array([0, 1]))
    drawn = draw_decisions(bins, 0, 40_000)
    shares = [3.5 / 51, 40.5 / 51]
    total = (drawn.positives + drawn.negatives).sum(-1)
    assert (drawn.positives.sum(-1) / total).mean() == pytest.approx(0.6 * shares[0] + 0.4 * shares[1], abs=2e-3)
    share = drawn.positives[:, 1] / (drawn.positives + drawn.negatives)[:, 1]
    assert stats.kstest(share, stats.beta(40.5, 10.5).cdf).pvalue > 1e-3
    assert (total / 1000).std() == pytest.approx(1 / np.sqrt(1000), rel=0.05)  # how many rows there are is chance


def test_the_labels_of_a_decision_anchor_the_curve():
    """In each decision the share of positives among the labelled rows varies as its own labels make it."""
    for share, weight, wanted in (
        ([0.5, 0.5], [0.5, 0.5], 1.0),
        ([1e-12, 1 - 1e-12], [0.9, 0.1], 0.5),
        ([0.2], [1.0], 0),
    ):
        moved = _shift(np.array([share] * 2), np.array(weight), np.array([wanted, 0.3]))
        assert moved @ weight == pytest.approx([wanted, 0.3], abs=1e-6)  # however far it has to go
    means = np.array([0.1, 0.3, 0.7, 0.9])
    rows, positive, negative = np.full(4, 500.0), np.array([1.0, 4, 9, 14]), np.array([14.0, 9, 4, 2])
    bins = Bins(rows, positive, negative, rows * means, rows * means**2, np.array([0, 0, 1, 1]))
    drawn = draw_tables(bins, 1, draws=8000)
    share = drawn.positives / (drawn.positives + drawn.negatives)
    for here in (slice(0, 2), slice(2, 4)):
        weight = (positive + negative)[here]
        mean = share[:, here] @ weight / weight.sum()
        beta = stats.beta(positive[here].sum() + 0.5, negative[here].sum() + 0.5)
        assert stats.kstest(mean, beta.cdf).pvalue > 1e-3


def test_labels_that_follow_the_score_do_not_mislead():
    truth, score, generator = world(1, rows=20_000)
    labelled = generator.random(20_000) < np.where(score > 0.5, 0.04, 0.005)  # positives are labelled far more often
    found = estimate(truth, score, labelled)
    naive = truth[labelled].mean()
    assert naive > truth.mean() + 0.15
    assert found["prevalence"].low < truth.mean() < found["prevalence"].high
    assert abs(found["prevalence"].value - truth.mean()) < 0.05


def covered(worlds, labels, draw):
    hits = {}
    for seed in range(worlds):
        truth, score, generator = world(seed)
        labelled = at_random(generator, 2000, labels)
        found, full = draw(truth, score, labelled), draw(*world(10_000, rows=200_000)[:2], None)
        for name, value in full.items():
            hits.setdefault(name, []).append(found[name].low <= value <= found[name].high)
    return {name: np.mean(each) for name, each in hits.items()}


_FULL = {}


def judged_by_decisions(truth, score, labelled):
    if labelled is None:
        return _FULL.setdefault("of decisions", _all_of(truth, score, ("prevalence", "accuracy", "specificity")))
    known = np.where(labelled, truth, np.nan)
    table = {"t": known, "d": (score >= 0.5).astype(int)}
    return stakes.evaluate(table, truth="t", prediction="d", positive=1, unlabelled="estimate")


def judged_by_scores(truth, score, labelled):
    if labelled is None:
        names = ("prevalence", "accuracy", "recall", "specificity", "precision", "f1", "auc")
        return _FULL.setdefault("of scores", _all_of(truth, score, names))
    return estimate(truth, score, labelled)


def _all_of(truth, score, names):
    full = stakes.evaluate(truth=truth, score=score)
    return {name: full[name].value for name in names}


@pytest.mark.deep
def test_intervals_of_decisions_hold():
    assert min(covered(60, 60, judged_by_decisions).values()) >= 0.87


@pytest.mark.deep
@pytest.mark.parametrize("labels", [50, 200])
def test_intervals_of_scores_hold(labels):
    assert min(covered(200, labels, judged_by_scores).values()) >= 0.89


def test_rows_to_label_next_tell_more_than_random_ones():
    widths = {"chosen": [], "random": []}
    for seed in range(1):
        truth, score, generator = world(seed, prevalence=0.1, apart=2)
        first = at_random(generator, 2000, 60)
        chosen = estimate(truth, score, first).next_labels("f1", 120)
        assert len({*chosen.tolist()}) == 120
        assert not first[chosen].any()
        more = {"chosen": chosen, "random": generator.choice(np.flatnonzero(~first), 120, replace=False)}
        for kind, rows in more.items():
            labelled = first.copy()
            labelled[rows] = True
            one = estimate(truth, score, labelled)["f1"]
            widths[kind].append(one.high - one.low)
    assert np.mean(widths["chosen"]) < 0.9 * np.mean(widths["random"])


@pytest.mark.slow
def test_segments_costs_and_other_figures():
    truth, score, generator = world(2)
    labelled = at_random(generator, 2000, 200)
    table = {"t": np.where(labelled, truth, np.nan), "s": score, "site": np.where(np.arange(2000) < 1200, "a", "b")}
    asked = {"truth": "t", "score": "s", "unlabelled": "estimate", "by": "site"}
    found = stakes.evaluate(table, **asked, costs=stakes.Costs(miss=5, false_alarm=1))
    assert {name: part.rows for name, part in found.segments.items()} == {"a": 1200, "b": 800}
    assert sum(part.labelled for part in found.segments.values()) == 200
    few = {**table, "site": np.where(np.cumsum(labelled) <= 20, "rare", "b")}
    silent = stakes.evaluate(few, **asked)
    assert f"“rare”: 20 of {(few['site'] == 'rare').sum():,} rows have a truth, and 30 at least" in " ".join(
        str(silent).split()
    )
    (check,) = stakes.gate(silent, require="accuracy.low >= 0.1 in every segment").checks
    assert (check.passed, check.segment, "30 at least are needed" in check.reason) == (False, "rare", True)
    cost = found["expected_cost"]
    table_ = cells_of(found._draws, found.kept.bins.cell)
    by_hand = (5 * table_[:, 1, 0] + table_[:, 0, 1]) / table_.sum((-1, -2))
    assert cost.value == pytest.approx(np.median(by_hand))
    assert found["f_beta(beta=2)"].low < found["f_beta(beta=2)"].value
    assert found.as_good_as["prevalence"] > 200
    with pytest.raises(stakes.InputError, match=r"few labels give figures of decisions, auc and brier_score; log_loss"):
        found["log_loss"]


def test_it_says_how_many_labels_would_halve_an_interval():
    """Four times as many, as widths of 50 and 200 labels bear out; nothing where it is narrow, or rows are too few."""
    truth, score, generator = world(3)
    words = [
        "About 200 labels in all, chosen alike, would halve the interval of recall; fewer if rows are chosen for it."
    ]
    widths = []
    for labels, rows, wanted in ((50, 2000, words), (200, 2000, []), (50, 150, [])):
        found = estimate(truth[:rows], score[:rows], at_random(generator, rows, labels))
        assert [one for part in found.findings for one in part.words if "would halve" in one] == wanted
        widths.append(found["recall"].high - found["recall"].low)
    assert 0.35 < widths[1] / widths[0] < 0.7


def test_too_few_of_a_class_is_told_with_what_to_do():
    truth, score, generator = world(3, prevalence=0.02, apart=3)
    found = estimate(truth, score, at_random(generator, 2000, 60))
    assert found.labelled_positives < 5
    why = found["recall"].no_interval
    assert found["recall"].low is None
    assert why.startswith(f"labelled positives: only {found.labelled_positives}; anything from")
    assert "fits; label about" in why
    assert "best those with scores from" in why
    assert found["specificity"].low is not None
    assert not stakes.gate(found, require="recall.low >= 0.1").passed
    assert stakes.gate(found, require="specificity.low >= 0.5").passed


WRONG = {
    "every row has a truth": ({"t": [0, 1, 1] * 20, "s": [0.1, 0.9, 0.8] * 20}, {}),
    "no row has a truth": ({"t": [None] * 60, "s": [0.1, 0.9, 0.8] * 20}, {}),
    "2 of 60 rows have a truth, and 30 at least": ({"t": [0, 1, *[None] * 58], "s": [0.1] * 60}, {}),
    "every labelled row is '0'": ({"t": [*[0] * 40, *[None] * 20], "s": [0.1] * 60}, {"classes": [0, 1]}),
    "the scores are no probabilities": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [3.0, *[0.1] * 59]}, {}),
    "score is missing in 1 row (the first is row 1, counting from 1); fill them, or leave those rows out with where=": (
        {"t": [*[0, 1] * 20, *[None] * 20], "s": [None, *[0.1] * 59]}, {}),
    "score is missing in 2 rows (the first is row 3, counting from 1)": (
        {"t": [*[0, 1] * 20, *[None] * 20], "s": np.r_[0.1, 0.9, np.nan, np.nan, [0.1] * 56]}, {}),
    "design= means nothing to few labels": (
        {"t": [*[0, 1] * 20, *[None] * 20], "s": [0.1] * 60},
        {"design": "classes fixed"},
    ),
    "plain rows, and an exposure is given": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [0.1] * 60}, {"exposure": "s"}),
    "one truth and one answer, and here are several": ({"t": [1, None], "s": [0.1, 0.2]}, {"low": "s", "high": "s"}),
    "plain rows, and a weight is given": ({"t": [*[0, 1] * 20, *[None] * 20], "s": [0.1] * 60}, {"weight": "s"}),
}  # fmt: skip


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_estimated_is_told_in_a_line(words):
    table, more = WRONG[words]
    with pytest.raises(stakes.InputError) as problem:
        stakes.evaluate(table, truth="t", score="s", unlabelled="estimate", **more)
    assert words in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_file_of_few_labels_says_how_to_estimate(tmp_path):
    truth, score, generator = world(4, rows=400)
    labelled = at_random(generator, 400, 60)
    file, out = tmp_path / "judged.csv", tmp_path / "to_label.csv"
    human = ["" if not one else "pass" if truth[i] else "fail" for i, one in enumerate(labelled)]
    judge = np.where(score >= 0.5, "pass", "fail")
    pl.DataFrame({"id": range(400), "human": human, "judge": judge, "p": score}).write_csv(file)
    asked = [file, "--truth", "human", "--prediction", "judge", "--positive", "pass"]
    wrong = run("evaluate", *asked)
    assert (wrong.returncode, "--unlabelled estimate estimates their figures" in wrong.stderr) == (2, True)
    told = run("evaluate", *asked, "--unlabelled", "estimate").stdout
    assert "From 60 labels of 400 rows: prevalence of “pass” is" in " ".join(told.split())
    assert "provided that whether a row was labelled depends on its output only" in " ".join(told.split())
    data = json.loads(run("evaluate", *asked, "--unlabelled", "estimate", "--json").stdout)
    assert (data["stakes"], data["labelled"]) == ("few labels", 60)
    assert run("gate", *asked, "--unlabelled", "estimate", "--require", "accuracy.low >= 0.3").returncode == 0
    by_score = [file, "--truth", "human", "--score", "p", "--positive", "pass"]
    done = run("label", *by_score, "--for", "recall", "--count", "25", "-o", out)
    assert done.returncode == 0, done.stderr
    chosen = pl.read_csv(out)
    assert chosen.columns == ["row", "id", "human", "judge", "p"]
    assert (chosen["row"] == chosen["id"] + 1).all()
    assert chosen["human"].is_null().all()
    assert len(chosen) == 25


def test_it_shows_itself_in_every_language():
    truth, score, generator = world(5)
    found = estimate(truth, score, at_random(generator, 2000, 100), lang="ru")
    assert isinstance(found, FewLabels)
    assert "Помогли ли строки без меток?" in str(found)
    assert "¿Ayudaron las filas sin etiqueta?" in found.to_markdown(lang="es")
    assert {row["metric"] for row in found.to_rows()} >= {"recall", "auc", "brier_score"}


def test_two_rounds_of_labels_add_up(tmp_path):
    """Rows that were written out get a truth and go back to where they stood; all else stays as it was."""
    truth, score, generator = world(6, rows=300)
    labelled, ids = at_random(generator, 300, 40), generator.permutation(300)
    file, out, again = tmp_path / "all.csv", tmp_path / "out.jsonl", tmp_path / "again.csv"
    text = [str(int(one)) if known else "NA" for one, known in zip(truth, labelled, strict=True)]
    pl.DataFrame({"id": ids, "y": text, "p": score}).write_csv(file)
    asked = ["--truth", "y", "--score", "p"]
    for round_ in range(2):
        assert run("label", file, *asked, "--count", "30", "-o", out).returncode == 0
        rows = pl.read_ndjson(out)
        known = pl.Series("y", [str(int(truth[row - 1])) for row in rows["row"]])
        rows.with_columns(known, pl.col("p").cast(float).round(6)).reverse().write_csv(tmp_path / "done.csv")
        merged = run("label", file, "--truth", "y", "--done", tmp_path / "done.csv", "-o", again)
        assert merged.returncode == 0, merged.stderr
        found = pl.read_csv(again, infer_schema=False)
        assert (found["y"] != "NA").sum() == 40 + 30 * (round_ + 1)
        right = [one in ("NA", str(int(truth[row]))) for row, one in enumerate(found["y"])]
        assert all(right)
        assert found["id"].to_list() == [str(one) for one in ids]
        file, again = again, tmp_path / "third.csv"
    assert stakes.evaluate(file, truth="y", score="p", unlabelled="estimate").labelled == 100
    again = tmp_path / "fourth.csv"
    other = run("label", file, "--truth", "y", "--done", tmp_path / "done.csv", "-o", again)
    assert other.returncode == 0  # the same labels once more change nothing
    pl.read_csv(tmp_path / "done.csv").with_columns(row=pl.col("row") % 300 + 1).write_csv(tmp_path / "moved.csv")
    wrong = run("label", file, "--truth", "y", "--done", tmp_path / "moved.csv", "-o", again)
    assert (wrong.returncode, "among the labels; put them where they belong" in wrong.stderr) == (2, True)
    nowhere = pl.DataFrame({"row": [0], "y": ["1"]})
    nowhere.write_csv(tmp_path / "nowhere.csv")
    wrong = run("label", file, "--truth", "y", "--done", tmp_path / "nowhere.csv", "-o", again)
    assert "row has to name rows from 1 to 300, each once" in " ".join(wrong.stderr.split())


THREE = np.array(["cat", "dog", "owl"])


def three_classes(seed, rows=2000, labels=120):
    """Decisions of three classes, a fifth of them at random, and the truth of some rows."""
    generator = np.random.default_rng(seed)
    truth = generator.choice(3, rows, p=[0.5, 0.3, 0.2])
    said = np.where(generator.random(rows) < 0.7, truth, generator.integers(0, 3, rows))
    known = np.where(at_random(generator, rows, labels), THREE[truth], None)
    return THREE[truth], {"t": known, "d": THREE[said], "site": np.where(np.arange(rows) % 2, "A", "B")}


SEVERAL = {"truth": "t", "prediction": "d", "unlabelled": "estimate"}


def test_several_classes_are_the_labels_of_each_decision():
    """The table by hand; a decision's rows are what its labels are. The jackknife by brute force, label by label."""
    _, table = three_classes(0)
    found = stakes.evaluate(table, **SEVERAL)
    labelled = table["t"] != None  # noqa: E711
    rows = np.array([(table["d"] == name).sum() for name in THREE])

    def figure(labels, name):
        table = labels / labels.sum(axis=0) * rows
        return float(stakes.metrics.find(name).of(stakes.Confusion(THREE, THREE, table, squares=table)))

    labels = np.array([[((table["t"] == a) & (table["d"] == b) & labelled).sum() for b in THREE] for a in THREE], float)
    for name in ("accuracy", "macro_f1", "kappa"):
        assert found[name].value == pytest.approx(figure(labels, name))
        value, influence = found._moves(stakes.metrics.find(name), None)
        variance = 0.0
        for (i, j), count in np.ndenumerate(labels):
            less = labels.copy()
            less[i, j] -= 1
            size = labels[:, j].sum()
            variance += (size - 1) / size * count * (value - figure(less, name)) ** 2 if count else 0.0
        own = variance + (influence.unseen / 2) ** 2
        assert influence.error**2 == pytest.approx(own, rel=0.1)  # the other rows add a little
        assert influence.error**2 > own
        assert found[name].low < value < found[name].high
    hits = (table["d"] == "dog") & (table["t"] == "dog")
    share = {name: hits.sum() / (labelled & (table["d"] == "dog")).sum() for name in ("precision",)}
    assert found["precision", "dog"].value == pytest.approx(share["precision"])
    assert found["precision[dog]"].low == found["precision", "dog"].low
    assert set(found.as_good_as) == set(found.figures)


def test_several_classes_travel_and_choose_rows(tmp_path):
    _, table = three_classes(1)
    found = stakes.evaluate(table, **SEVERAL, by="site")
    half = [{name: column[part] for name, column in table.items()} for part in (slice(900), slice(900, None))]
    tallies = [stakes.count(one, **SEVERAL) for one in half]
    tallies[0].save(tmp_path / "a.tally")
    both = stakes.evaluate([stakes.load(tmp_path / "a.tally"), tallies[1]])
    for name in ("accuracy", "macro_recall"):
        assert [both[name].value, both[name].low] == pytest.approx([found[name].value, found[name].low])
    part = stakes.evaluate({name: one[1::2] for name, one in table.items()}, **SEVERAL)
    assert found.segments["A"]["macro_f1"].low == part["macro_f1"].low
    chosen = found.next_labels("macro_f1", 50)
    assert (len(set(chosen)), (table["t"][chosen] == None).all()) == (50, True)  # noqa: E711
    assert stakes.gate(found, require="accuracy.low >= 0.5")
    found.report(tmp_path / "k.html")
    assert "macro_recall" in (tmp_path / "k.html").read_text()
    assert repr(found) == "<FewClasses: 120 of 2,000 rows have a truth>"


def test_a_quiet_command_tells_one_figure(tmp_path, capsys):
    """Of several classes, of two, and of grades: each has a figure that stands for all."""
    generator, file = np.random.default_rng(0), tmp_path / "rows.csv"
    rows = {"y": generator.integers(0, 2, 90), "k": generator.integers(0, 3, 90), "g": generator.random(90).round(2)}
    said = {f"said_{name}": np.roll(one, 1) for name, one in rows.items()}
    known = {
        name: [str(value) if place < 50 else None for place, value in enumerate(one)] for name, one in rows.items()
    }
    pl.DataFrame({**known, **said}).write_csv(file)
    for name, figure in {"y": "accuracy", "k": "accuracy", "g": "mean_truth"}.items():
        words = ["--truth", name, "--prediction", f"said_{name}", "--unlabelled", "estimate", "--quiet"]
        words += ["--task", "classification"] if name == "k" else []
        code, told, wrong = run_command(["evaluate", str(file), *words], capsys)
        assert (code, wrong, told.startswith(f"{figure} 0.")) == (0, "", True)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("two classes, for decisions and for numbers; give decisions as prediction=", {"score": {"cat": "p"}}),
        ("prior= was tried for two classes only", {"prior": {"cat": 0.2, "dog": 0.3, "owl": 0.5}}),
        ("label_probability= was tried for two classes only", {"label_probability": "p"}),
    ],
)
def test_what_several_classes_do_not_tell_is_told_in_a_line(words, more):
    _, table = three_classes(2)
    with pytest.raises(stakes.InputError, match=words):
        stakes.evaluate({**table, "p": np.full(2000, 0.06)}, **SEVERAL, **more)


def test_a_class_of_few_labels_has_no_interval():
    truth, table = three_classes(3)
    rare = np.where((truth == "owl") & (table["t"] != None), None, table["t"])  # noqa: E711
    rare[np.flatnonzero(truth == "owl")[:3]] = "owl"
    found = stakes.evaluate({**table, "t": rare}, **SEVERAL)
    assert found["accuracy"].low is not None
    assert found["macro_f1"].no_interval == "labelled rows of 'owl': only 3; label more"
    silent = np.where(table["d"] == "owl", None, table["t"])
    with pytest.raises(stakes.InputError, match="no row that was decided 'owl' has a truth, and there are"):
        stakes.evaluate({**table, "t": silent}, **SEVERAL)
    for name in ("auc", "expected_cost"):
        with pytest.raises(stakes.InputError, match="few labels of several classes give figures of decisions"):
            found[name]


@pytest.mark.deep
@pytest.mark.parametrize("labels", [60, 200])
def test_intervals_of_several_classes_hold(labels):
    big, hits = three_classes(10_001, rows=300_000), []
    right = stakes.evaluate(truth=big[0], prediction=big[1]["d"])
    for seed in range(200):
        found = stakes.evaluate(three_classes(seed, labels=labels)[1], **SEVERAL)
        hits.append([found[name].low <= right[name].value <= found[name].high for name in ("accuracy", "macro_f1")])
    assert np.mean(hits, axis=0).min() >= 0.92


def test_rows_to_label_are_numbered_as_in_the_table():
    """After a condition, and in a segment, too."""
    truth, score, generator = world(7, rows=600)
    labelled = at_random(generator, 600, 200)
    site = np.where(np.arange(600) % 3 == 0, "a", "b")
    table = {"t": np.where(labelled, truth, np.nan), "s": score, "site": site}
    asked = {"truth": "t", "score": "s", "unlabelled": "estimate"}
    parts = stakes.evaluate(table, **asked, by="site").segments
    for found in (stakes.evaluate(table, **asked, where="site = 'a'"), parts["a"]):
        rows = found.next_labels("recall", 40)
        assert (rows % 3 == 0).all()
        assert not labelled[rows].any()


def test_rare_positives_are_in_bins_of_their_own():
    """The order of scores within a bin is lost: with rare positives that must not lower the auc."""
    truth, score, generator = world(8, rows=20_000, prevalence=0.02, apart=3)
    rows = estimate(truth, score, at_random(generator, 20_000, 1000)).kept
    codes, many = rows.places
    positives, negatives = np.bincount(codes, truth, many), np.bincount(codes, 1 - truth, many)
    wins = (positives * (np.cumsum(negatives) - negatives / 2)).sum() / positives.sum() / negatives.sum()
    assert wins == pytest.approx(stakes.metrics.auc(truth, score), abs=5e-4)


def tallied(rows, **asked):
    """The tallies of two halves of a table, written, read and added up."""
    parts = [{name: values[half] for name, values in rows.items()} for half in (slice(0, 700), slice(700, None))]
    return [stakes.count(part, truth="t", unlabelled="estimate", classes=[0, 1], **asked) for part in parts]


@pytest.mark.slow
def test_tallies_of_few_labels_add_up_and_travel(tmp_path):
    """A tally tells what its rows tell: the same bins, the same draws."""
    truth, score, generator = world(11)
    table = {"t": np.where(at_random(generator, 2000, 150), truth, np.nan), "s": score,
             "site": np.where(np.arange(2000) % 2, "a", "b")}  # fmt: skip
    for number, part in enumerate(tallied(table, score="s", by="site")):
        with pytest.warns(stakes.InputWarning, match="distinct scores are row-level data"):
            part.save(tmp_path / f"{number}.tally", exact=True)
        with pytest.raises(stakes.InputError, match="few labels need the scores of the labelled rows as they are"):
            part.save(tmp_path / "other.tally")
    asked = {"truth": "t", "unlabelled": "estimate"}
    found = stakes.evaluate([tmp_path / "0.tally", tmp_path / "1.tally"])
    of_rows = stakes.evaluate(table, **asked, score="s", by="site")
    assert found.as_good_as == pytest.approx(of_rows.as_good_as, rel=1e-2)
    for one, other in [(found, of_rows), *((found.segments[name], of_rows.segments[name]) for name in "ab")]:
        for count in ("rows", "labelled", "labelled_positives"):
            assert getattr(one, count) == getattr(other, count)
        for name in ("recall", "auc", "brier_score"):
            assert (one[name].low, one[name].high) == pytest.approx((other[name].low, other[name].high), abs=1e-3)
    assert not stakes.gate(found, require="recall.low >= 0.99").passed
    binned = [stakes.count({name: values[half] for name, values in table.items()}, **asked, score="s", exact=False)
              for half in (slice(900), slice(900, None))]  # fmt: skip
    assert stakes.evaluate(binned)["auc"].value == pytest.approx(found["auc"].value, abs=2e-3)
    with pytest.raises(stakes.InputError, match="chosen among all rows of a table"):
        found.next_labels("recall", 5)
    with pytest.raises(stakes.InputError, match="rows without a truth, which evaluate and gate estimate"):
        stakes.Evaluation(stakes.load(tmp_path / "0.tally"))
    decided = {"t": table["t"], "d": (score >= 0.5).astype(int)}
    verdicts = tallied(decided, prediction="d", positive=1)
    verdicts[0].save(tmp_path / "decided.tally")  # decisions alone can be sent
    one = stakes.evaluate([stakes.load(tmp_path / "decided.tally"), verdicts[1]])["recall"]
    other = stakes.evaluate(decided, **asked, prediction="d", positive=1)["recall"]
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    with pytest.raises(stakes.InputError, match="threshold"):
        stakes.evaluate(verdicts[0], threshold=0.5)
    counted = stakes.count(table, **asked, score="s", threshold=0.4)
    for more, asked_again in ({"threshold": 0.7}, {"threshold": 0.7}), ({"threshold": 0.4}, {}):
        of_rows = stakes.evaluate(table, **asked, score="s", **more)["alarm_rate"].value
        assert stakes.evaluate(counted, **asked_again)["alarm_rate"].value == pytest.approx(of_rows, abs=1e-3)
    for pilot in (found, counted):
        with pytest.raises(stakes.InputError, match="a pilot has a truth for every row, and this one for few"):
            stakes.plan("recall", pilot, width=0.1)
    stakes.report(counted, tmp_path / "page.html")
    with pytest.raises(stakes.InputError, match="this tally holds no rows without a truth"):
        stakes.evaluate(stakes.count(truth=[0, 1], score=[0.1, 0.9]), unlabelled="estimate")


def graded(seed, labels, rows=2000, share=(0.04, 0.04, 0.07, 0.15, 0.7)):
    """Stars of people, and of a judge that gives half a star too few."""
    generator = np.random.default_rng(seed)
    human = generator.choice(5, rows, p=share) + 1.0
    judge = np.clip(human - 0.5 + 0.7 * generator.normal(size=rows), 1, 5)
    known = np.where(at_random(generator, rows, labels), human, np.nan)
    return {"human": known, "judge": judge}, human


def test_grades_of_a_judge_are_corrected_by_a_line():
    """The regression estimator of two-phase sampling, by statsmodels; the judge's error and people's mean add up."""
    table, human = graded(0, 60)
    found = stakes.evaluate(table, truth="human", prediction="judge", unlabelled="estimate")
    here = ~np.isnan(table["human"])
    fit = sm.OLS(table["human"][here], sm.add_constant(table["judge"][here])).fit()
    at = np.array([1, table["judge"].mean()])
    assert found["mean_truth"].value == pytest.approx(at @ fit.params)
    variance = (
        at @ fit.get_robustcov_results("HC3").cov_params() @ at + fit.params[1] ** 2 * table["judge"].var(ddof=1) / 2000
    )
    width = 2 * stats.t.ppf(0.975, 58) * np.sqrt(variance)
    assert found["mean_truth"].high - found["mean_truth"].low == pytest.approx(width)
    assert found["mean_truth"].value + found["mean_error"].value == pytest.approx(table["judge"].mean())
    assert found["mean_truth"].low < human.mean() < found["mean_truth"].high
    assert found["mean_truth"].low > table["judge"].mean()  # which the judge alone would not have told
    assert found["rmse"].value ** 2 == pytest.approx(found["mse"].value)
    assert found.as_good_as["mean_truth"] > 90
    assert "mean of the truth is" in " ".join(str(found).split())
    assert stakes.gate(found, require="mae.high <= 1").passed
    with pytest.raises(stakes.InputError, match="few labels give 'mean_truth', 'mean_error'"):
        found["r2"]
    few = stakes.evaluate(
        {"human": [5.0] * 40 + [4, 3] + [None] * 60, "judge": np.linspace(1, 5, 102)},
        truth="human", prediction="judge", unlabelled="estimate", task="regression",
    )  # fmt: skip
    assert few["mean_truth"].no_interval == "labelled rows that differ from the most frequent value: only 2"


@pytest.mark.deep
@pytest.mark.parametrize("labels", [30, 100])
def test_intervals_of_graded_means_hold(labels):
    hits = []
    for seed in range(600):
        table, _ = graded(seed, labels)
        one = stakes.evaluate(table, truth="human", prediction="judge", unlabelled="estimate")["mean_truth"]
        if one.low is not None:
            hits.append(one.low <= 4.43 <= one.high)
    assert np.mean(hits) >= 0.92


def interesting(seed, rows=4000):
    """Rows that somebody found interesting, which positives are more often, were labelled more often."""
    truth, score, generator = world(seed, rows)
    chance = np.where(generator.random(rows) < np.where(truth == 1, 0.8, 0.3), 0.12, 0.02)
    return truth, score, chance, generator.random(rows) < chance


def test_known_probabilities_of_labelling_undo_what_was_interesting():
    truth, score, chance, labelled = interesting(0)
    naive = estimate(truth, score, labelled)["prevalence"]
    assert naive.low > truth.mean()  # labels alone mislead
    found = estimate(truth, score, labelled, label_probability=chance)
    for name, right in {"prevalence": truth.mean(), "recall": (score[truth == 1] >= 0.5).mean()}.items():
        assert found[name].low < right < found[name].high, name
    assert found["prevalence"].high - found["prevalence"].low > naive.high - naive.low
    assert "labelled with the probability that is given for it" in " ".join(str(found).split())
    assert (found.labelled, found.labelled_positives) == (labelled.sum(), (labelled & (truth == 1)).sum())


def test_labels_that_weigh_differently_count_for_fewer():
    """Equal weights change nothing; others count for as many as Hájek's variance says, and keep its share."""
    positive = np.repeat([1.0, 0.0], [10, 40])
    assert effective_labels(np.full(50, 7.0), np.full(50, 49.0), positive) == pytest.approx(50)
    weight = np.where(np.arange(50) % 5 == 0, 20.0, 1.0)
    counted = effective_labels(weight, weight**2, positive)
    share = np.average(positive, weights=weight)
    hajek = ((weight * (positive - share)) ** 2).sum() / weight.sum() ** 2
    most = weight.sum() ** 2 / (weight**2).sum()
    assert counted == pytest.approx(min(share * (1 - share) / hajek, most), rel=0.05)
    assert counted <= most + 1e-9
    rows = Rows((np.arange(50) % 2), None, positive.astype(int), np.arange(50) < 45, weight=weight)
    for place, sums in enumerate(np.stack([rows.bins.positive, rows.bins.negative], axis=1)):
        here = rows.labelled & (rows.decided == place)
        assert sums[0] / sums.sum() == pytest.approx(np.average(positive[here], weights=weight[here]))
        heaviest = (weight[rows.decided == place] ** 2).sum() / weight[rows.decided == place].sum()  # labelled or not
        assert rows.bins.unseen[place] == pytest.approx(max(sums.sum() * heaviest / weight[here].sum(), 1))


@pytest.mark.filterwarnings("ignore:exact. distinct scores are row-level data")
@pytest.mark.parametrize("named", [{"score": "s"}, {"prediction": "d", "positive": 1}], ids=["scores", "decisions"])
def test_known_probabilities_add_up_and_travel(tmp_path, monkeypatch, named):
    """Weights of labels are sums: of rows, halves, files, batches and lazy tables they tell the same."""
    truth, score, chance, labelled = interesting(1, rows=1500)
    table = {"t": np.where(labelled, truth, np.nan), "s": score, "c": chance, "d": (score >= 0.5) * 1,
             "g": np.where(np.arange(1500) % 2, "a", "b")}  # fmt: skip
    asked = {"truth": "t", "unlabelled": "estimate", "label_probability": "c", "by": "g", **named}
    of_rows = stakes.evaluate(table, **asked)
    frame = pl.DataFrame(table).with_columns(pl.col("t").fill_nan(None))
    halves = [stakes.count(half.to_dict(), classes=[0, 1], **asked) for half in (frame[:400], frame[400:])]
    for number, half in enumerate(halves):
        half.save(tmp_path / f"{number}.tally", **({"exact": True} if "score" in named else {"min_cell": 1}))
    frame.write_parquet(tmp_path / "rows.parquet")
    found = [stakes.evaluate(halves), stakes.evaluate([tmp_path / f"{number}.tally" for number in (0, 1)]),
             stakes.evaluate(frame.lazy(), **asked)]  # fmt: skip
    with monkeypatch.context() as small:
        small.setattr(unlabelled, "MOST_WHOLE", 100)
        small.setattr("stakes.engines.streaming.BATCH", 64)
        found.append(stakes.evaluate(tmp_path / "rows.parquet", **asked))
    for one in found:
        assert one.kept.counts is not None
        for part, other in [(one, of_rows), (one.segments["a"], of_rows.segments["a"])]:
            assert (part.rows, part.labelled, part.labelled_positives) == (other.rows, other.labelled,
                                                                           other.labelled_positives)  # fmt: skip
            for name in ("prevalence", "recall", "precision"):
                limits = part[name].low, part[name].high
                assert limits == pytest.approx((other[name].low, other[name].high), abs=4e-3), name
        assert one.as_good_as == pytest.approx(of_rows.as_good_as, rel=0.03)
    plain = stakes.count(table, **{**asked, "label_probability": None, "classes": [0, 1]})
    for given in ({**asked, "data": table}, {"data": halves, "unlabelled": "estimate"}):
        with pytest.raises(stakes.InputError, match="prior='estimate' was not tried with known probabilities"):
            stakes.evaluate(**given, prior="estimate")
    with pytest.raises(stakes.InputError, match=r"label_probability .*given"):
        stakes.evaluate([halves[0], plain])
    with pytest.raises(stakes.InputError, match=r"was not tried for a threshold|few labels decide"):
        stakes.decide(halves, best="f1")


WRONG_CHANCES = {
    "label_probability= is 0 in 2 rows, which can never be labelled": [0.0, 0.0],
    "label_probability= is -0.5 in 1 row; a probability is above 0": [-0.5],
    "label_probability= is 7 in 1 row; a probability is above 0": [7.0],
    "label_probability is missing in 1 row (in an engine whose rows have no numbers); fill them, or leave those rows "
    "out with where=": [None],
    "label_probability= promises about 60 labels, and 30 rows have one": [1.0] * 60,
}


@pytest.mark.parametrize("words", WRONG_CHANCES)
def test_wrong_probabilities_in_another_engine_are_refused(words):
    chance = (WRONG_CHANCES[words] + [0.5] * 60)[:60]
    frame = pl.DataFrame({"t": [0, 1] * 15 + [None] * 30, "s": np.linspace(0.1, 0.9, 60), "c": chance})
    with pytest.raises(stakes.InputError) as problem:
        stakes.evaluate(frame.lazy(), truth="t", score="s", unlabelled="estimate", label_probability="c")
    assert words in str(problem.value)


def test_small_sites_are_sent_together_with_their_labels(tmp_path):
    """Sites of few labels become one, in which labelled rows are still told from others; none gets lost."""
    truth, score, generator = world(15, rows=1200)
    site = generator.choice(list("abcd"), 1200, p=[0.6, 0.36, 0.02, 0.02])
    table = {"t": np.where(at_random(generator, 1200, 150), truth, np.nan), "d": (score >= 0.5) * 1, "g": site}
    whole = stakes.count(table, truth="t", prediction="d", positive=1, by="g", unlabelled="estimate")
    whole.save(tmp_path / "sites.tally")
    sent, kept = stakes.evaluate(tmp_path / "sites.tally"), stakes.evaluate(whole)
    assert [*sent.segments] == ["a", "b", "(small segments)"] or {*sent.segments} == {"a", "(small segments)"}
    assert (sent.rows, sent.labelled, sent["recall"].low) == (1200, 150, kept["recall"].low)
    assert sum(part.labelled for part in sent.segments.values()) == 150


@pytest.mark.deep
def test_intervals_of_known_probabilities_hold():
    right = judged_by_scores(*world(10_000, rows=200_000)[:2], None)
    hits = []
    for seed in range(150):
        truth, score, chance, labelled = interesting(seed)
        found = estimate(truth, score, labelled, label_probability=chance)
        hits.append([found[name].low <= value <= found[name].high for name, value in right.items()])
    assert np.mean(hits, axis=0).min() >= 0.88


def test_a_line_through_weighted_grades_is_that_of_statsmodels():
    generator = np.random.default_rng(0)
    judge, weight = generator.normal(size=300), generator.choice([1.0, 9.0], 60)
    seen = 2 + judge[:60] + generator.normal(size=60)
    fit = sm.WLS(seen, sm.add_constant(judge[:60]), weights=weight).fit(cov_type="HC3")
    at = np.array([1, judge.mean()])
    value, low, high = regressed_mean(seen, (judge[:60], judge), 0.95, weight)
    assert value == pytest.approx(at @ fit.params)
    error = np.sqrt(at @ fit.cov_params() @ at + fit.params[1] ** 2 * judge.var(ddof=1) / 300)
    freedom = weight.sum() ** 2 / (weight**2).sum() - 2
    assert high - low == pytest.approx(2 * stats.t.ppf(0.975, freedom) * error, rel=1e-6)


PROBABILITIES = {
    "label_probability= is 0 in 1 row (the first is row 3, counting from 1), which can never be labelled": {3: 0.0},
    "label_probability= is -0.5 in 1 row (the first is row 1, counting from 1); a probability is above 0": {1: -0.5},
    "label_probability= promises about 60 labels, and 30 rows have one": dict.fromkeys(range(1, 61), 1.0),
}  # fmt: skip


@pytest.mark.parametrize("words", PROBABILITIES)
def test_probabilities_of_labelling_that_cannot_be_are_refused(words):
    chance = np.full(60, 0.5)
    chance[[row - 1 for row in PROBABILITIES[words]]] = list(PROBABILITIES[words].values())
    known = np.r_[np.tile([0.0, 1.0], 15), np.full(30, np.nan)]
    with pytest.raises(stakes.InputError) as problem:
        estimate(known, np.linspace(0.1, 0.9, 60), np.arange(60) < 30, label_probability=chance)
    assert words in str(problem.value)
    with pytest.raises(stakes.InputError, match="for rows of which only some have a truth; pass unlabelled='estimate'"):
        stakes.evaluate(truth=[0, 1], score=[0.1, 0.9], label_probability=[0.5, 0.5])
    with pytest.raises(stakes.InputError, match="label_probability= was tried for two classes only"):
        stakes.count(truth=["a", "b", "c", None], prediction=["a", "b", "c", "a"], unlabelled="estimate",
                     label_probability=[0.7] * 4)  # fmt: skip


def test_class_frequencies_elsewhere_are_where_saerens_ends():
    """EM by hand over rows; of decisions alone the adjusted count has a closed form."""
    share, labelled = np.array([[0.1, 0.3, 0.5, 0.9]]), np.array([[40.0, 30, 20, 10]])
    rows, base = np.array([[700.0, 200, 60, 40]]), 0.32  # (4 + 9 + 10 + 9) / 100
    prior = base
    for _ in range(5000):
        odds = share / (1 - share) * prior / base * (1 - base) / (1 - prior)
        prior = float((rows * odds / (1 + odds)).sum() / rows.sum())
    assert 0.01 < prior < base
    found = _shifted(share, labelled, rows)
    assert (rows * found).sum() / rows.sum() == pytest.approx(prior, abs=1e-6)
    two = _shifted(np.array([[0.1, 0.8]]), np.array([[60.0, 40.0]]), np.array([[85.0, 15.0]]))
    sensitivity, alarms = 32 / 38, 8 / 62  # 32 of the 38 positives are found
    assert 0.85 * two[0, 0] + 0.15 * two[0, 1] == pytest.approx((0.15 - alarms) / (sensitivity - alarms), abs=1e-8)


def elsewhere(seed, prevalence=0.1, rows=2000):
    """200 labelled rows of which 30 % are positive, and others of which fewer are."""
    here, there = world(seed, 200)[:2], world(seed + 5000, rows, 0.3)[:2]
    keep = (there[0] == 0) | (np.random.default_rng(seed).random(rows) < prevalence / 0.3 * 0.7 / (1 - prevalence))
    truth, score = (np.r_[one, other[keep]] for one, other in zip(here, there, strict=True))
    return truth, score, np.arange(len(truth)) < 200


@pytest.mark.slow
def test_a_prior_is_estimated_from_rows_without_a_truth(tmp_path):
    truth, score, labelled = elsewhere(0)
    there = truth[~labelled].mean()
    usual = estimate(truth, score, labelled)["prevalence"]
    assert usual.low > there  # which takes both for one place
    found = estimate(truth, score, labelled, prior="estimate", costs=stakes.Costs(miss=5, false_alarm=1))
    assert found["prevalence"].low < there < found["prevalence"].high
    assert found["prevalence"].value < usual.value
    assert not found.as_good_as
    assert {"auc", "brier_score"}.isdisjoint(found.figures)
    for problem, ask in {"leave it out": found.next_labels, "held too rarely": lambda: found["auc"]}.items():
        with pytest.raises(stakes.InputError, match=problem):
            ask()
    file = tmp_path / "rows.csv"
    text = [str(int(one)) if known else "" for one, known in zip(truth, labelled, strict=True)]
    pl.DataFrame({"y": text, "p": score}).write_csv(file)
    asked = [file, "--truth", "y", "--score", "p", "--unlabelled", "estimate", "--prior", "estimate"]
    told = " ".join(run("evaluate", *asked).stdout.split())
    assert f"From 200 labelled rows, of the {len(truth) - 200:,} others: prevalence of “1” is" in told
    assert "only the frequency of the classes differs" in told
    tally = stakes.count(file, truth="y", score="p", unlabelled="estimate")
    assert stakes.evaluate(tally, unlabelled="estimate", prior="estimate")["prevalence"].value == pytest.approx(
        found["prevalence"].value, abs=0.02
    )
    with pytest.raises(stakes.InputError, match="among rows without a truth; pass unlabelled='estimate'"):
        stakes.evaluate(truth=truth, score=score, prior="estimate")
    with pytest.raises(stakes.InputError, match="among rows without a truth; give their shares"):
        stakes.compare(truth=truth, scores={"a": score, "b": score}, prior="estimate")


@pytest.mark.deep
def test_intervals_of_an_estimated_prior_hold():
    hits = []
    for seed in range(150):
        found = estimate(*elsewhere(seed), prior="estimate")
        right = {"prevalence": 0.1, "recall": 0.5675, "specificity": 0.8975}
        hits.append([found[name].low <= value <= found[name].high for name, value in right.items()])
    assert np.mean(hits, axis=0).min() >= 0.9


def test_labels_at_other_scores_than_the_rest():
    truth, score, _ = world(9, rows=400)
    with pytest.raises(
        stakes.InputError, match=r"labelled rows have scores from 0\.\d+ to 0\.\d+, and all others from"
    ):
        estimate(truth, score, score > 0.5)
    most = (score > 0.3) & (np.arange(400) % 2 == 0)
    told = " ".join(str(estimate(truth, score, most)).split())
    assert "% of all rows lie outside: of them the curve alone tells" in told


def two_models(seed, labels=150):
    """A model, and another that sees less of it."""
    truth, score, generator = world(seed)
    other = 1 / (1 + np.exp(-(np.log(score / (1 - score)) + 1.5 * generator.normal(size=2000))))
    known = np.where(at_random(generator, 2000, labels), truth, np.nan)
    return truth, {"t": known, "a": score, "b": other}


@pytest.mark.slow
def test_two_models_are_compared_by_few_labels():
    """The share of positives in each combination of decisions, by hand; both agree with evaluate about each model."""
    truth, table = two_models(0)
    asked = {"truth": "t", "unlabelled": "estimate"}
    found = stakes.compare(table, **asked, scores=["a", "b"], metric=["accuracy", "recall"])
    assert (found.rows, found.unlabelled) == (150, 1850)
    for place in found.table:
        alone = stakes.evaluate(table, **asked, score=place.model)[place.metric]
        assert (place.estimate.low, place.estimate.high) == (alone.low, alone.high)
    pair = found.pair("a", "b", "accuracy")
    one, other = table[pair.first] >= 0.5, table[pair.second] >= 0.5
    labelled = ~np.isnan(table["t"])
    gap = 0.0
    for first, second in [(True, False), (False, True)]:
        here = (one == first) & (other == second)
        positive, of = truth[here & labelled].sum(), (here & labelled).sum()
        share = (positive + 0.5) / (of + 1)  # the mean of its beta
        gap += here.mean() * (share - (1 - share)) * (1 if first else -1)
    assert pair.difference == pytest.approx(gap, abs=2e-3)
    assert pair.low < pair.difference < pair.high
    assert (pair.p_value > 0.05) == (pair.low < 0 < pair.high)
    assert pair.flipped.only_first_right == (labelled & (one == truth) & (other != truth)).sum()
    same = stakes.compare({**table, "b": table["a"]}, **asked, scores=["a", "b"]).pairs[0]
    assert (same.difference, same.p_value) == (0, 1)
    told = " ".join(str(found).split())
    assert "Figures and differences are of all rows, from 150 that have a truth and 1,850 others." in told


def test_models_are_compared_within_segments_by_few_labels():
    """Each segment is a comparison of its rows alone; one of few labels says why it tells nothing."""
    _, table = two_models(3)
    table["site"] = np.where(np.arange(2000) < 1200, "A", np.where(np.arange(2000) < 1900, "B", "C"))
    asked = {"truth": "t", "scores": ["a", "b"], "metric": "accuracy", "unlabelled": "estimate"}
    found = stakes.compare(table, **asked, by="site")
    alone = stakes.compare({name: one[:1200] for name, one in table.items()}, **asked)
    (pair,), (same,) = found.segments["A"].pairs, alone.pairs
    assert (pair.low, pair.high, pair.difference) == (same.low, same.high, same.difference)
    assert pair.flipped == same.flipped
    assert found.segments["A"].unlabelled == alone.unlabelled
    assert found.pairs[0].low == stakes.compare(table, **asked).pairs[0].low
    (small,) = found.segments["C"].pairs
    assert (small.low, "rows have a truth, and 30 at least are needed" in small.note) == (None, True)
    assert found.segments["A"].pairs[0].adjusted_p_value >= pair.p_value


@pytest.mark.deep
def test_intervals_of_differences_hold():
    full = {name: {} for name in ("accuracy", "recall", "f1")}
    big, hits = [two_models(seed)[1] | {"t": world(seed)[0]} for seed in range(60)], []
    joined = {name: np.concatenate([one[name] for one in big]) for name in ("t", "a", "b")}
    both = stakes.compare(joined, truth="t", scores=["a", "b"], metric=list(full))
    right = {name: both.pair("a", "b", name).difference for name in full}
    for seed in range(100, 250):
        asked = {"truth": "t", "scores": ["a", "b"], "metric": list(full), "unlabelled": "estimate"}
        found = stakes.compare(two_models(seed)[1], **asked)
        pairs = {name: found.pair_like(both.pair("a", "b", name)) for name in full}
        hits.append([pairs[name].low <= value <= pairs[name].high for name, value in right.items()])
    assert np.mean(hits, axis=0).min() >= 0.88


NOT_COMPARED = {
    "few labels give differences of decisions only, and auc is about scores": {"metric": "auc"},
    "prior= means nothing to few labels": {"prior": 0.2},
    "few labels compare models on the same rows of one table": {"paired": False},
    "label_probability= means nothing to compare": {"label_probability": "a"},
}


@pytest.mark.parametrize("words", NOT_COMPARED)
def test_differences_that_few_labels_do_not_tell_are_refused(words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.compare(two_models(1)[1], truth="t", scores=["a", "b"], unlabelled="estimate", **NOT_COMPARED[words])


def test_a_comparison_of_few_labels_is_no_pilot_and_no_baseline():
    _, table = two_models(2)
    found = stakes.compare(table, truth="t", scores=["a", "b"], unlabelled="estimate")
    with pytest.raises(stakes.InputError, match="a pilot has a truth for every row"):
        stakes.plan("accuracy", found, difference=0.05, power=0.8)
    whole = stakes.evaluate(truth=np.nan_to_num(table["t"]), score=table["a"])
    with pytest.raises(stakes.InputError, match="differences from few labels were not tried in a gate"):
        stakes.gate(whole, require="auc >= 0.1", no_worse="accuracy:0.1", baseline=found)


COSTS = stakes.Costs(miss=5, false_alarm=1)


@pytest.mark.slow
def test_few_labels_choose_a_threshold(tmp_path):
    """Near that of all labels; what it costs on average over all curves is least there, by brute force."""
    truth, score, generator = world(1)
    known = np.where(at_random(generator, 2000, 150), truth, np.nan)
    asked = {"truth": known, "score": score, "unlabelled": "estimate", "costs": COSTS}
    found = stakes.decide(**asked)
    best = stakes.decide(truth=truth, score=score, costs=COSTS)

    def cost(threshold):
        return ((truth == 1) & (score < threshold)).mean() * 5 + ((truth == 0) & (score >= threshold)).mean()

    assert cost(found.threshold) < 1.1 * cost(best.threshold)
    assert found["expected_cost"].low < cost(found.threshold) < found["expected_cost"].high
    before = stakes.evaluate(**asked)
    curve, bins = before._curve, before.kept.bins
    costs = [((curve.positives @ (bins.means < at)) * 5 + curve.negatives @ (bins.means >= at)).mean()
             for at in np.linspace(0, 1, 101)]  # fmt: skip
    assert np.linspace(0, 1, 101)[np.argmin(costs)] == pytest.approx(found.threshold, abs=0.05)
    tally = stakes.count(truth=known, score=score, unlabelled="estimate")
    assert stakes.decide(tally, costs=COSTS).threshold == pytest.approx(found.threshold, abs=0.02)
    file = tmp_path / "rows.csv"
    pl.DataFrame({"y": ["" if np.isnan(one) else str(int(one)) for one in known], "p": score}).write_csv(file)
    words = ["--truth", "y", "--score", "p", "--unlabelled", "estimate", "--miss", "5", "--false-alarm", "1"]
    done = run("decide", file, *words)
    assert (done.returncode, "costs least" in done.stdout) == (0, True)
    assert "savings held too rarely" in " ".join(done.stdout.split())
    for name, value in {"harm": 1.0, "training_prior": 0.2}.items():
        with pytest.raises(stakes.InputError, match=f"{name}= .* few labels .*; leave it out"):
            stakes.decide(**asked, **{name: value})
    with pytest.raises(stakes.InputError, match="few labels decide by probabilities of rows of one place"):
        stakes.decide(truth=known, prediction=(score > 0.5).astype(int), unlabelled="estimate", costs=COSTS)
    with pytest.raises(stakes.InputError, match="choose a threshold of scores of two classes"):
        stakes.decide(truth=known * 1.5, prediction=score, task="regression", unlabelled="estimate")


def test_few_labels_choose_the_best_figure():
    """By brute force over the mean of all curves that fit, and near that of all labels."""
    truth, score, generator = world(1)
    asked = {"truth": np.where(at_random(generator, 2000, 150), truth, np.nan), "score": score}
    asked["unlabelled"] = "estimate"
    before = stakes.evaluate(**asked)
    means = before.kept.bins.means
    positives, negatives = before._curve.positives.mean(axis=0), before._curve.negatives.mean(axis=0)

    def at(threshold):
        said = means >= threshold
        return positives[said].sum(), negatives[said].sum(), positives.sum()

    marks = np.linspace(0, 1, 201)
    f1 = [2 * hits / (hits + alarms + all_positives) for hits, alarms, all_positives in map(at, marks)]
    found = stakes.decide(**asked, best="f1")
    assert found.threshold == pytest.approx(marks[np.argmax(f1)], abs=0.05)
    assert "gives the best F1" in next(found.sentences())
    found = stakes.decide(**asked, best="recall >= 0.9")
    hits, _, all_positives = at(found.threshold)
    assert 0.9 <= hits / all_positives < 0.94
    assert ["best precision with recall >= 0.9" in one or "Then recall" in one for one in found.sentences()][:2] == [
        1,
        1,
    ]
    with pytest.raises(stakes.InputError, match="no threshold gives specificity ≥ 2 on these rows"):
        stakes.decide(**asked, best="specificity >= 2")
    with pytest.raises(stakes.InputError, match=r"or best= \(a figure such as"):
        stakes.decide(**asked, best="f1", costs=COSTS)


def test_few_labels_at_a_known_prior():
    """Shares within the classes stay, and the classes are weighed as the prior says: draw by draw, by hand."""
    truth, score, generator = world(1)
    asked = {"truth": np.where(at_random(generator, 2000, 150), truth, np.nan), "score": score}
    asked["unlabelled"] = "estimate"
    here, there = stakes.evaluate(**asked), stakes.evaluate(**asked, prior=0.05)
    (tn, fp), (fn, tp) = np.moveaxis(cells_of(here._draws, here.kept.bins.cell), 0, -1)
    recall, false_alarms = tp / (tp + fn), fp / (fp + tn)
    precision = 0.05 * recall / (0.05 * recall + 0.95 * false_alarms)
    low, value, high = np.quantile(precision, (0.025, 0.5, 0.975))
    assert [there["precision"].low, there["precision"].value, there["precision"].high] == pytest.approx(
        [low, value, high]
    )
    assert there["recall"].low == pytest.approx(here["recall"].low)
    assert there["prevalence"].value == pytest.approx(0.05)
    assert "where 5% of all cases are “1”" in " ".join(there.sentences())
    chosen = stakes.decide(**asked, costs=COSTS, prior=0.05)
    assert chosen.threshold > stakes.decide(**asked, costs=COSTS).threshold + 0.1  # a rare class asks for surer scores
    for options, words in (
        ({"prior": {1: 30, 0: 70}}, "are counts, whose own chance was not tried"),
        ({"prior": 0.1, "costs": COSTS}, "give threshold=, or choose one with decide"),
        ({"prior": 0.1, "training_prior": 0.2}, "training_prior= means nothing to few labels"),
    ):
        with pytest.raises(stakes.InputError, match=words):
            stakes.evaluate(**asked, **options)


@pytest.mark.deep
def test_costs_of_chosen_thresholds_hold():
    big, marks, hits = world(10_001, rows=200_000), np.linspace(0, 1, 1001), []
    costs = [((big[0] == 1) & (big[1] < at)).mean() * 5 + ((big[0] == 0) & (big[1] >= at)).mean() for at in marks]
    for seed in range(150):
        truth, score, generator = world(seed)
        known = np.where(at_random(generator, 2000, 100), truth, np.nan)
        found = stakes.decide(truth=known, score=score, unlabelled="estimate", costs=COSTS)
        right = np.interp(found.threshold, marks, costs)
        hits.append(found["expected_cost"].low <= right <= found["expected_cost"].high)
    assert np.mean(hits) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("csv", marks=pytest.mark.deep), "parquet"])
def test_large_files_are_counted_in_batches(tmp_path, monkeypatch, kind):
    """The same rows, whole and in batches of which the first has no label: counts are alike, and so are figures."""
    truth, score, generator = world(12, rows=900)
    labelled = at_random(generator, 900, 300) & (np.arange(900) >= 64)
    known = [("yes" if one else "no") if here else None for one, here in zip(truth, labelled, strict=True)]
    table = {"y": known, "p": score.round(3), "site": np.where(np.arange(900) % 3, "a", "b"), "d": (score > 0.6) * 1}
    file = tmp_path / f"rows.{kind}"
    getattr(pl.DataFrame(table), f"write_{kind}")(file)
    asked = {"truth": "y", "unlabelled": "estimate", "positive": "yes", "by": "site", "where": "p > 0.01"}
    for more in [{"score": "p"}] if kind == "csv" else [{"score": "p", "threshold": 0.5}]:
        whole = stakes.evaluate(file, **asked, **more)
        with monkeypatch.context() as small:
            small.setattr(unlabelled, "MOST_WHOLE", 100)
            small.setattr("stakes.engines.streaming.BATCH", 64)
            parts = stakes.evaluate(file, **asked, **more)
            counted = stakes.count(file, **asked, **more)
            kept = stakes.evaluate(file, **asked, **more, exact=True)
        assert (parts.kept.counts is None, kept.kept.counts is None) == (False, True)
        counts = ("rows", "labelled", "labelled_positives")
        both = [(whole, parts), (whole, stakes.evaluate(counted)), (whole.segments["a"], parts.segments["a"])]
        for one, other in both:
            assert all(getattr(one, name) == getattr(other, name) for name in counts)
            for name in ("recall", "auc"):
                assert (one[name].low, one[name].high) == pytest.approx((other[name].low, other[name].high), abs=4e-3)
    with monkeypatch.context() as small:
        small.setattr(unlabelled, "MOST_WHOLE", 100)
        with pytest.raises(stakes.InputError, match="keep the rows of a large file with exact=True"):
            stakes.evaluate(file, **{**asked, "by": None}, score="p").next_labels()


@pytest.mark.slow
def test_lazy_tables_are_counted_where_they_lie():
    """Missing truths of every kind; what comes back is counts, and tells what the rows tell."""
    truth, score, generator = world(13, rows=600)
    labelled = at_random(generator, 600, 200)
    gaps = [" ", None] * 300
    text = [str(int(one)) if here else gap for one, here, gap in zip(truth, labelled, gaps, strict=True)]
    table = {
        "y": text,
        "f": np.where(labelled, truth, np.nan),
        "p": score,
        "d": (score > 0.4) * 1,
        "g": ["a", "b"] * 300,
        "h": ["x", "far, away", "y"] * 200,
    }
    frame = pl.DataFrame(table)
    several = {"score": "p", "by": ["g", "h"]}
    for named in (several, {"score": "p", "by": "g"}, {"prediction": "d", "positive": 1, "where": "p > 0.05"}):
        whole = stakes.evaluate(frame, truth="f", unlabelled="estimate", **named)
        for lazy in (frame.lazy(), duckdb.sql("SELECT * FROM frame")):
            for name in "yf" if "score" in named else "f":
                found = stakes.evaluate(lazy, truth=name, unlabelled="estimate", **named)
                assert found.kept.counts is not None
                for count in ("rows", "labelled", "labelled_positives"):
                    assert getattr(found, count) == getattr(whole, count)
                    for segment, part in whole.segments.items():
                        assert getattr(found.segments[segment], count) == getattr(part, count)
                one, other = found["recall"], whole["recall"]
                assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=2e-3)
    with pytest.raises(stakes.InputError, match="no row has a truth"):
        stakes.evaluate(frame.with_columns(y=pl.lit("")).lazy(), truth="y", score="p", unlabelled="estimate")


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:PySpark does not")
def test_few_labels_are_counted_in_spark(spark):
    truth, score, generator = world(14, rows=400)
    known = [str(int(one)) if here else None for one, here in zip(truth, at_random(generator, 400, 120), strict=True)]
    frame = pl.DataFrame({"y.y": known, "p": score.round(2), "c": np.where(score > 0.5, 0.3, 0.25)})
    asked = {"truth": "y.y", "score": "p", "unlabelled": "estimate", "label_probability": "c"}
    there = spark.createDataFrame(frame.rows(), "`y.y` string, p double, c double").repartition(3)
    found = stakes.evaluate(there, **asked)
    whole = stakes.evaluate(frame, **asked)
    assert found.kept.counts is not None
    assert (found.rows, found.labelled, found.labelled_positives) == (400, 120, whole.labelled_positives)
    assert found["recall"].low == pytest.approx(whole["recall"].low, abs=2e-3)


def test_members_of_other_evaluations_say_why_they_are_not_there():
    truth, score, generator = world(0, rows=200)
    found = estimate(truth, score, at_random(generator, 200, 100))
    for name in ("at", "interval", "gap", "curve", "plots", "confusion", "calibration", "log_to_mlflow"):
        with pytest.raises(stakes.InputError, match=rf"ev\.{name} needs the truth of every row.*labelled rows alone$"):
            getattr(found, name)
        assert not hasattr(found, name)
    with pytest.raises(AttributeError, match="FewLabels has no attribute 'recal'"):
        found.recal  # noqa: B018
    with pytest.raises(stakes.InputError, match=r"^costs=: few labels .* decide\(rows, …, unlabelled='estimate'\)$"):
        found.decide(costs=stakes.Costs(miss=5, false_alarm=1))
