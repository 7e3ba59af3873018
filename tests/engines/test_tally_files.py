"""Counts as files: what is saved comes back, what is damaged is refused, and sums are those of all rows."""

import contextlib
import io
import json
import math
import re
import struct
import zipfile

import numpy as np
import pytest

import stakes
from stakes import metrics
from stakes.engines import anonymise, tally_files
from stakes.engines.plan import Counted

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(7)


def hospital(seed, rows=800):
    """Rows of one site: outcome, risk, ward, weight, and a decision."""
    rng = np.random.default_rng(seed)
    ill = rng.random(rows) < 0.3
    risk = 1 / (1 + np.exp(1.2 - 2 * ill - rng.normal(size=rows)))
    return {
        "ill": np.where(ill, "yes", "no"),
        "risk": risk,
        "ward": rng.choice(["north", "south", "east"], rows, p=[0.6, 0.35, 0.05]),
        "w": rng.integers(1, 5, rows) / 2,
        "said": np.where(risk > 0.4, "yes", "no"),
    }


def joined(*sites):
    return {name: np.concatenate([site[name] for site in sites]) for name in sites[0]}


QUESTION = {"truth": "ill", "score": "risk", "positive": "yes"}


def questions():
    rng = np.random.default_rng(3)
    y, p = rng.normal(size=60), rng.normal(size=60)
    three = rng.dirichlet([1, 1, 1], 90)
    costs = stakes.Costs(miss="w", false_alarm=1)
    return {
        "scores": stakes.count(hospital(1), **QUESTION),
        "threshold": stakes.count(hospital(1), **QUESTION, threshold=0.3, by="ward"),
        "nobody": stakes.count(hospital(1), **QUESTION, threshold=math.inf),
        "weighted": stakes.count(hospital(1), **QUESTION, weight="w", by="ward"),
        "decisions": stakes.count(hospital(1), truth="ill", prediction="said", positive="yes"),
        "both": stakes.count(hospital(1), **QUESTION, prediction="said"),
        "logits": stakes.count(truth=y > 0, score=4 * p),
        "numbers": stakes.count(truth=y, prediction=p, by=np.where(y > 1, "a", "b")),
        "weighted numbers": stakes.count(truth=y, prediction=p, weight=p**2 + 0.1, baseline=1.0),
        "no logarithm": stakes.count(truth=y - 9, prediction=p),
        "three classes": stakes.count(truth=rng.choice(list("abc"), 90), score=three, classes="abc"),
        "many classes": stakes.count(
            truth=np.arange(2100) // 2, prediction=np.arange(2100) // 3, task="classification"
        ),
        "impossible": stakes.count(truth=["a", "b", "c"], score=[[0, 0.5, 0.5]] * 3, classes="abc"),
        "costs by row": stakes.count(hospital(1), **QUESTION, costs=costs, threshold=0.25),
        "large whole numbers": stakes.count(truth=[0, 1, 1, 0], score=[2**60, 2**60 + 1, 2**62, 5]),
    }


CASES = questions()


def saved(counted, path, **options):
    with pytest.warns(stakes.InputWarning) if options.get("exact") else pytest.MonkeyPatch.context():
        counted.save(path, **options)
    return path


@pytest.mark.parametrize("name", CASES)
def test_what_is_saved_comes_back(name, tmp_path):
    counted = CASES[name]
    counted.save(tmp_path / "binned.tally")
    loaded = stakes.load(tmp_path / "binned.tally")
    assert loaded == anonymise.anonymise(counted, 10)
    assert loaded.to_dict() == anonymise.anonymise(counted, 10).to_dict()
    if name in ("decisions", "many classes"):
        counted.save(tmp_path / "exact.tally", exact=True)  # no scores, no warning
    else:
        saved(counted, tmp_path / "exact.tally", exact=True)
    assert stakes.load(str(tmp_path / "exact.tally")) == counted
    assert stakes.load(tmp_path / "exact.tally").to_dict() == counted.to_dict()
    assert (loaded + loaded).to_dict()["tallies"]  # what came back can be added


def test_the_same_count_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        stakes.count(hospital(1), **QUESTION, by="ward").save(tmp_path / f"{name}.tally")
    assert (tmp_path / "a.tally").read_bytes() == (tmp_path / "b.tally").read_bytes()


def test_a_million_rows_are_a_small_file(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.random(1_000_000) < 0.4
    counted = stakes.count(truth=truth, score=1 / (1 + np.exp(1.5 - rng.normal(size=len(truth)) - 3 * truth)))
    counted.save(tmp_path / "x.tally")
    assert (tmp_path / "x.tally").stat().st_size < 200_000
    low, high = metrics.auc_bounds(stakes.load(tmp_path / "x.tally").scores)
    assert low <= float(metrics.find("auc").of(counted.scores)) <= high
    assert high - low < 1e-4


# ── two hospitals that do not show each other their rows ─────────────────────────────────────────────────────────
def test_figures_of_two_hospitals_are_those_of_all_their_rows(tmp_path):
    sites = [hospital(1, 900), hospital(2, 700)]
    for name, site in zip("ab", sites, strict=True):
        stakes.count(site, **QUESTION, threshold=0.3).save(tmp_path / f"{name}.tally")
    found = stakes.evaluate([tmp_path / "a.tally", tmp_path / "b.tally"])
    rows = stakes.evaluate(joined(*sites), **QUESTION, threshold=0.3)
    assert found.threshold == 0.3
    assert found.confusion == rows.confusion
    for metric in metrics.catalogue():
        if metric.tally is stakes.Confusion and metric.name in rows.figures:
            assert found[metric.name].to_dict() == rows[metric.name].to_dict(), metric.name
    low, high = metrics.auc_bounds(found.scores)
    assert low < rows["auc"].value < high
    assert high - low < 0.1
    wide, narrow = found["auc"], rows["auc"]
    assert 0 <= wide.low < min(low, narrow.low)
    assert max(high, narrow.high) < wide.high <= 1
    assert wide.method.endswith("Newcombe's method 5, wider by what the bins leave open")
    for name in ("partial_auc", "recall_at_specificity", "gain"):
        low, high = found[name].bounds
        assert low < rows[name].value < high
        assert found[name].low <= min(low, rows[name].low)
        assert max(high, rows[name].high) <= found[name].high
    assert str(found.at(0.3).confusion) == str(rows.confusion)
    assert found.at(0.5).confusion == rows.at(0.5).confusion
    with pytest.raises(stakes.InputError, match="lies inside a bin"):
        _ = found.at(0.31).confusion
    text = str(found)
    assert "“yes” when score ≥ 0.3" in text
    assert "Scores were counted in bins" in text
    assert "take rows within a bin as tied" in text


def test_exact_tallies_give_every_figure_of_all_rows(tmp_path):
    sites = [hospital(1, 300), hospital(2, 200)]
    for name, site in zip("ab", sites, strict=True):
        saved(stakes.count(site, **QUESTION, by="ward"), tmp_path / f"{name}.tally", exact=True)
    found = stakes.evaluate(str(tmp_path / "*.tally"), confidence=0.9, seed=3, design="classes fixed")
    options = {"confidence": 0.9, "seed": 3, "design": "classes fixed", "by": "ward"}
    assert found.to_json() == stakes.evaluate(joined(*sites), **QUESTION, **options).to_json()


@pytest.mark.parametrize("exact", [True, False])
def test_sums_in_any_order_and_grouping_are_equal(exact, tmp_path):
    parts = []
    for seed, rows in enumerate((400, 90, 250, 33)):
        path = tmp_path / f"{seed}.tally"
        counted = stakes.count(hospital(seed, rows), **QUESTION, threshold=0.3)
        parts.append(stakes.load(saved(counted, path, exact=True) if exact else saved(counted, path)))
    a, b, c, d = parts
    assert a + b + c + d == a + (b + (c + d)) == Counted.sum([d, b, a, c]) == sum(parts)


def test_decide_on_tallies(tmp_path):
    counted = stakes.count(hospital(1, 2000), **QUESTION)
    saved(counted, tmp_path / "e.tally", exact=True)
    counted.save(tmp_path / "b.tally")
    costs = stakes.Costs(miss=5, false_alarm=1)
    rows = stakes.decide(hospital(1, 2000), **QUESTION, costs=costs)
    assert str(stakes.decide(tmp_path / "e.tally", costs=costs)) == str(rows)
    binned = stakes.decide(tmp_path / "b.tally", costs=costs)
    assert binned.threshold in stakes.load(tmp_path / "b.tally").scores.thresholds
    assert rows.apparent.value <= binned.apparent.value < rows.apparent.value * 1.1
    assert "0.166667 lies inside a bin of these scores" in str(binned)
    assert stakes.decide(tmp_path / "b.tally", best="youden").threshold > 0


def test_another_threshold_or_costs_for_what_was_counted_at_a_threshold(tmp_path):
    stakes.count(hospital(1), **QUESTION, threshold=0.3, by="ward").save(tmp_path / "a.tally")
    rows = stakes.evaluate(hospital(1), **QUESTION, threshold=0.5)
    assert stakes.evaluate(tmp_path / "a.tally", threshold=0.5).confusion == rows.confusion
    costs = stakes.Costs(miss=5, false_alarm=1)
    priced = stakes.evaluate(tmp_path / "a.tally", costs=costs)
    wanted = stakes.evaluate(hospital(1), **QUESTION, threshold=0.3, costs=costs)
    assert priced["expected_cost"].to_dict() == wanted["expected_cost"].to_dict()
    assert priced.segments["north"].threshold == 0.3


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ({"threshold": 0.3}, {"threshold": 0.4}, "the threshold is 0.3 in one and 0.4 in the other"),
        ({"threshold": 0.3}, {}, "the threshold is 0.3 in one and 'none' in the other"),
        ({"weight": "w"}, {}, "weighting is 'weighted' in one and 'unweighted' in the other"),
        ({"weight": "w"}, {"weight": "risk"}, "the column of weight= is 'w' in one and 'risk' in the other"),
        ({"by": "ward"}, {"by": "said"}, "the column of by= is 'ward' in one and 'said' in the other"),
        ({"by": "ward"}, {}, "by is 'given' in one and 'not given' in the other"),
        ({"score": "w"}, {}, "the column of score= is 'w' in one and 'risk' in the other"),
        (
            {"prediction": "said"},
            {"prediction": "ward", "classes": ["no", "yes"]},
            "the column of prediction= is 'said'",
        ),
        ({"truth": "said"}, {}, "the column of truth= is 'said' in one and 'ill' in the other"),
        (
            {"score": {"yes": "risk", "no": "w"}},
            {"score": {"yes": "w", "no": "risk"}},
            "the column of score= is 'no=w, ",
        ),
        ({"positive": "no"}, {}, "the positive class is 'no' in one and 'yes' in the other"),
        ({"prediction": "said"}, {}, r"the list of tallies is \['confusion', 'scores'\] in one and \['scores'\]"),
    ],
)
def test_tallies_of_different_questions_do_not_add_up(one, other, difference, tmp_path):
    for name, options in (("a", one), ("b", other)):
        stakes.count(hospital(1), **{**QUESTION, **options}).save(tmp_path / f"{name}.tally")
    with pytest.raises(stakes.InputError, match=f"these tallies answer different questions: {difference}"):
        stakes.evaluate([tmp_path / "a.tally", tmp_path / "b.tally"])


def test_exact_and_binned_scores_do_not_add_up(tmp_path):
    counted = stakes.count(hospital(1), **QUESTION)
    binned, exact = saved(counted, tmp_path / "b.tally"), saved(counted, tmp_path / "e.tally", exact=True)
    with pytest.raises(stakes.InputError, match="the grid of bins is 'probability' in one and 'none' in the other"):
        stakes.evaluate([binned, exact])


def test_columns_without_names_add_to_any():
    site = hospital(1)
    named = stakes.count(site, **QUESTION, weight="w")
    arrays = stakes.count(truth=site["ill"], score=site["risk"], positive="yes", weight=site["w"])
    assert (named + arrays).question == (arrays + named).question == {"truth": "ill", "score": "risk", "weight": "w"}


def test_the_question_was_fixed_when_counting(tmp_path):
    path = saved(stakes.count(hospital(1), **QUESTION), tmp_path / "a.tally")
    with pytest.raises(stakes.InputError, match=r"^score=, by=: the question of a tally was fixed when its rows were"):
        stakes.evaluate(path, truth="ill", score="w", by="ward")
    with pytest.raises(stakes.InputError, match=r"^missing=: the question"):
        stakes.evaluate(path, missing="drop")
    with pytest.raises(stakes.InputError, match=r"^truth=, score=: the question"):
        stakes.decide(path, truth="said", score="w", best="f1")
    with pytest.raises(stakes.InputError, match=r"a\.tally is a tally but rows\.csv holds rows; count those first"):
        stakes.evaluate([path, "rows.csv"])
    with pytest.raises(stakes.InputError, match=r"a\.tally has been counted already"):
        stakes.count(path)
    with pytest.raises(stakes.InputError, match="twice"):
        stakes.evaluate([path, path])
    with pytest.raises(stakes.InputError, match=r"these costs differ from row to row \(column 'w'\)"):
        stakes.evaluate(path, costs=stakes.Costs(miss="w", false_alarm=1))
    decided = saved(CASES["both"], tmp_path / "d.tally")
    with pytest.raises(stakes.InputError, match="threshold"):
        stakes.evaluate(decided, threshold=0.5)
    three = saved(CASES["three classes"], tmp_path / "3.tally")
    with pytest.raises(stakes.InputError, match="threshold"):
        stakes.evaluate(three, threshold=0.5)
    with pytest.raises(stakes.InputError, match="threshold"):
        stakes.count(truth=[1.5, 2], prediction=[1, 2], threshold=0.5)


def test_counting_with_clusters_and_a_threshold_gives_the_same_as_evaluating():
    site = hospital(1, 200) | {"patient": np.arange(200) // 4}
    counted = stakes.count(site, **QUESTION, cluster="patient", threshold=0.3)
    rows = stakes.evaluate(site, **QUESTION, cluster="patient", threshold=0.3)
    assert stakes.Evaluation(counted).to_json() == rows.to_json()
    with pytest.raises(stakes.InputError, match="neither added nor saved"):
        counted.save("nowhere.tally")


# ── what travels ─────────────────────────────────────────────────────────────────────────────────────────────────
def segmented(**sizes):
    names = np.repeat(list(sizes), list(sizes.values()))
    rng = np.random.default_rng(0)
    truth = rng.random(len(names)) < 0.5
    return stakes.count(truth=truth, score=rng.random(len(names)), by=names, threshold=0.5)


@pytest.mark.parametrize(
    ("sizes", "left"),
    [
        ({"a": 40, "b": 30}, {"a": 40, "b": 30}),
        ({"a": 40, "b": 10}, {"a": 40, "b": 10}),
        ({"a": 40, "b": 6, "c": 5}, {"a": 40, "(small segments)": 11}),
        ({"a": 40, "b": 9, "c": 30}, {"a": 40, "c": 30}),
        ({"a": 9, "b": 40}, {"b": 40}),
        ({"a": 4, "b": 3}, {}),
    ],
)
def test_small_segments_are_put_together(sizes, left, tmp_path):
    counted = segmented(**sizes)
    counted.save(tmp_path / "a.tally")
    found = stakes.load(tmp_path / "a.tally")
    assert {name: part.scores.total for name, part in found.segments.items()} == left
    assert found.confusion == counted.confusion
    assert sum(part.confusion.total for part in found.segments.values()) == sum(left.values())
    apart = sum(sizes.values()) - sum(size for name, size in left.items() if name in sizes)
    assert found.rows_without_segment == (apart if left else 0)
    notes = [note for note in stakes.Evaluation(found).notes if "in no segment of their own" in note]
    assert bool(notes) == bool(found.rows_without_segment)
    assert (found + found).segments.keys() == left.keys()
    assert anonymise.anonymise(found, 10) == found


def test_weighted_segments_are_judged_by_the_number_of_equal_rows():
    weight = np.array([100.0, *[1.0] * 19, *[5.0] * 20])
    counted = stakes.count(
        truth=np.arange(40) % 2, score=np.arange(40) / 40, weight=weight, by=np.repeat(["a", "b"], 20)
    )
    assert list(anonymise.anonymise(counted, 10).segments) == ["b"]
    assert list(anonymise.anonymise(counted, 1).segments) == ["a", "b"]


def test_rows_of_predicted_numbers_stay_at_home(tmp_path):
    truth, prediction = RNG.normal(size=50), RNG.normal(size=50)
    counted = stakes.count(truth=truth, prediction=prediction)
    counted.save(tmp_path / "a.tally")
    sums = stakes.load(tmp_path / "a.tally").tallies["errors"]
    assert (sums.rows, sums.worst, sums.histogram, sums.constant.rows) == (None, None, None, None)
    content = zipfile.ZipFile(tmp_path / "a.tally").read("tally.json").decode()
    assert not any(repr(float(value)) in content for value in [*truth, *prediction])
    found, rows = stakes.evaluate(tmp_path / "a.tally"), stakes.evaluate(truth=truth, prediction=prediction)
    for name in ("rmse", "mae", "r2"):
        assert found[name].value == rows[name].value
    assert min(sums.sizes.counts.min(), sums.constant.sizes.counts.min()) >= 10
    size, away = abs(truth - prediction), abs(truth - truth.mean())
    for sizes, values in ((sums.sizes, size), (sums.constant.sizes, away)):
        low, high = sizes.around_median
        assert low <= np.median(values) <= high
    assert found["median_absolute_error"].note.startswith("it lies between ")


@pytest.mark.parametrize("weighted", [False, True])
def test_losses_of_class_probabilities_keep_their_intervals(weighted, tmp_path):
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 4, 900)
    shares = np.exp(rng.normal(size=(900, 4)) + 1.5 * np.eye(4)[truth])
    shares /= shares.sum(1, keepdims=True)
    given = {"weight": rng.integers(1, 6, 900) / 2} if weighted else {}
    rows = {"truth": truth, "score": shares, **given}
    here = stakes.evaluate(**rows)
    stakes.count(**rows).save(tmp_path / "all.tally")
    there = stakes.evaluate(tmp_path / "all.tally")
    for name in ("multiclass_log_loss", "multiclass_brier_score"):
        one, other = here.interval(name), there.interval(name)
        width = one.high - one.low
        assert other.low == pytest.approx(one.low, abs=0.02 * width), name
        assert other.high == pytest.approx(one.high, abs=0.02 * width), name


def test_no_single_score_is_in_the_file(tmp_path):
    site = hospital(1, 400)
    stakes.count(site, **QUESTION, by="ward").save(tmp_path / "a.tally")
    archive = zipfile.ZipFile(tmp_path / "a.tally")
    text, numbers = archive.read("tally.json").decode(), archive.read("numbers.bin")
    for value in site["risk"]:
        assert repr(float(value)) not in text
        assert struct.pack("<d", value) not in numbers


def test_exact_warns_and_bad_options_are_refused(tmp_path):
    counted = CASES["scores"]
    with pytest.warns(stakes.InputWarning, match="exact: distinct scores are row-level data"):
        counted.save(tmp_path / "a.tally", exact=True)
    with pytest.warns(stakes.InputWarning, match="row-level data"):
        CASES["numbers"].save(tmp_path / "a.tally", exact=True)
    for wrong in (0, -3, 2.5, "ten", math.nan):
        with pytest.raises(stakes.InputError, match="is no number of rows; give a whole number from 1 on"):
            counted.save(tmp_path / "a.tally", min_cell=wrong)
    with pytest.raises(stakes.InputError, match=r"a\.json: the name of a tally ends in \.tally"):
        counted.save(tmp_path / "a.json")
    with pytest.raises(stakes.InputError, match="folder"):
        counted.save(tmp_path / "nowhere" / "a.tally")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tally"]


# ── damage ───────────────────────────────────────────────────────────────────────────────────────────────────────
def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("tally.json")), archive.read("numbers.bin")


def written(path, *members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def refused(path, match="is damaged or no tally"):
    with pytest.raises(stakes.InputError, match=match) as caught:
        stakes.load(path)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


@pytest.fixture
def real(tmp_path):
    """A tally with long arrays, a threshold, weights and segments."""
    path = tmp_path / "real.tally"
    stakes.count(hospital(1, 3000), **QUESTION, threshold=0.3, by="ward").save(path, min_cell=2)
    return path


def test_flipped_bytes_and_cut_files_are_never_read_as_something_else(real, tmp_path):
    content, truth = real.read_bytes(), stakes.load(real)
    rng, survived = np.random.default_rng(0), 0
    for _ in range(400):
        broken = bytearray(content)
        if rng.random() < 0.25:
            broken = broken[: rng.integers(0, len(content))]
        else:
            for place in rng.integers(0, len(content), rng.integers(1, 4)):
                broken[place] ^= 1 << rng.integers(0, 8)
        path = tmp_path / "broken.tally"
        path.write_bytes(broken)
        try:
            found = stakes.load(path)
        except stakes.InputError:
            refused(path, "broken")
        else:
            survived += 1
            assert found == truth
    assert survived < 60


def test_every_byte_of_the_directory_may_be_wrong(real, tmp_path):
    """The end of the file, where checksums do not reach."""
    content, truth = real.read_bytes(), stakes.load(real)
    for place in range(len(content) - 200, len(content)):
        for wrong in (0x00, 0xFF, content[place] ^ 0x10):
            path = tmp_path / "broken.tally"
            path.write_bytes(content[:place] + bytes([wrong]) + content[place + 1 :])
            with contextlib.suppress(stakes.InputError):
                assert stakes.load(path) == truth


def test_files_that_are_something_else(tmp_path, real):
    head, numbers = parts_of(real)
    text = json.dumps(head)
    path = tmp_path / "other.tally"
    refused_as_other = [
        [],
        [("tally.json", text)],
        [("numbers.bin", numbers), ("tally.json", text)],
        [("tally.json", text), ("numbers.bin", numbers), ("more", b"")],
        [("../tally.json", text), ("numbers.bin", numbers)],
        [("tally.json", text), ("/numbers.bin", numbers)],
        [("tally.json", ""), ("numbers.bin", numbers)],
        [("tally.json", "[]"), ("numbers.bin", numbers)],
        [("tally.json", b"\xff\xfe"), ("numbers.bin", numbers)],
        [("tally.json", "[" * 100_000), ("numbers.bin", numbers)],
        [("tally.json", text), ("numbers.bin", numbers[:-1])],
        [("tally.json", text), ("numbers.bin", numbers + b"\0")],
        [("tally.json", text.replace('"stakes": "tally"', '"stakes": "other"')), ("numbers.bin", numbers)],
    ]
    for members in refused_as_other:
        refused(written(path, *members))
    refused(written(path, ("tally.json", text), ("numbers.bin", numbers), method=zipfile.ZIP_STORED), "not deflated")
    refused(written(path, ("tally.json", text), ("numbers.bin", numbers), method=zipfile.ZIP_BZIP2), "not deflated")
    path.write_bytes(b"")
    refused(path)
    path.write_text("y,p\n1,0.5\n")
    refused(path)
    with pytest.raises(stakes.InputError, match="there is no such file"):
        stakes.load(tmp_path / "none.tally")
    (tmp_path / "folder.tally").mkdir()
    refused(tmp_path / "folder.tally")


def test_a_member_that_claims_absurd_sizes_is_not_read(real, tmp_path):
    content = bytearray(real.read_bytes())
    for entry in re.finditer(rb"PK\x01\x02", bytes(content)):
        struct.pack_into("<I", content, entry.start() + 24, 2**31)
    path = tmp_path / "bomb.tally"
    path.write_bytes(content)
    refused(path, "claims 2,147,483,648 bytes")


def test_versions_are_named(real, tmp_path):
    head, numbers = parts_of(real)
    path = tmp_path / "v.tally"
    for change, words in (
        ({"version": 2}, "this tally was saved in version 2, this stakes reads version 1"),
        (
            {"counted": {**head["counted"], "version": 1}},
            "this count was saved in version 1, this stakes reads version 3",
        ),
    ):
        refused(written(path, ("tally.json", json.dumps({**head, **change})), ("numbers.bin", numbers)), words)


def changed(saved, path, value):
    """A copy with one place changed."""
    if not path:
        return value
    copy = dict(saved) if isinstance(saved, dict) else list(saved)
    copy[path[0]] = changed(saved[path[0]], path[1:], value)
    return copy


CHANGES = [
    (("task",), "guessing"),
    (("task",), "regression"),
    (("decided_by",), "dice"),
    (("decided_by",), "rows"),
    (("dropped",), -1),
    (("dropped",), 1.5),
    (("threshold",), "0.3"),
    (("threshold",), [0.3]),
    (("question",), {"by": 3}),
    (("question",), {"other": "x"}),
    (("tallies",), []),
    (("tallies", 0, "tally"), "cost"),
    (("tallies", 0, "version"), 9),
    (("tallies", 0, "counts"), [[1, 2], [3, -4]]),
    (("tallies", 0, "counts"), [[1, 2], [3, 4]]),
    (("tallies", 0, "counts"), [[1, 2], [3, 1e400]]),
    (("tallies", 0, "counts"), [[1, 2, 3]]),
    (("tallies", 0, "counts"), [["a", "b"], ["c", "d"]]),
    (("tallies", 0, "positive"), "maybe"),
    (("tallies", 1, "scores", "numbers"), "i8"),
    (("tallies", 1, "scores", "numbers"), "O"),
    (("tallies", 1, "scores", "numbers"), "c8"),
    (("tallies", 1, "scores", "at"), 8),
    (("tallies", 1, "scores", "shape"), [3]),
    (("tallies", 1, "scores", "shape"), [-3]),
    (("tallies", 1, "scores", "shape"), [10**30]),
    (("tallies", 1, "scores", "shape"), "3"),
    (("tallies", 1, "scores"), [0.5]),
    (("tallies", 1, "scores"), None),
    (("tallies", 1, "columns", "positives"), [1, 2]),
    (("tallies", 1, "columns", "negatives", "numbers"), "f4"),
    (("tallies", 1, "grid"), None),
    (("tallies", 1, "grid", "kind"), "line"),
    (("tallies", 1, "positive"), "no"),
    (("segments",), []),
    (("segments",), {"a": {}}),
    (("segments", "north", "task"), "regression"),
    (("segments", "north", "segments"), {"a": 1}),
]


@pytest.mark.parametrize(("path", "value"), CHANGES, ids=[f"{'.'.join(map(str, p))}={v!r}"[:60] for p, v in CHANGES])
def test_content_that_no_count_has_is_refused(path, value, real, tmp_path):
    """Somebody, or some other program, wrote a proper archive with wrong numbers in it."""
    head, numbers = parts_of(real)
    text = json.dumps(changed(head, ("counted", *path), value))
    refused(written(tmp_path / "w.tally", ("tally.json", text), ("numbers.bin", numbers)), r"w\.tally")


@pytest.mark.parametrize("name", ["weighted", "three classes", "numbers", "many classes", "costs by row"])
def test_no_number_can_become_nan_or_negative(name, tmp_path):
    """Each number of each tally in turn, where it must be finite and not below 0."""
    saved_content = tally_files._Numbers().take_out(
        {"counted": json.loads(json.dumps(anonymise.anonymise(CASES[name], 10).to_dict()))}
    )["counted"]
    skip = {"scores", "moments", "baseline", "range", "threshold", "version", "ranges", "products", "powers", "sums"}
    skip |= {"variation"}  # terms may be below 0; what is wrong with it is told by a test of its own

    def places(saved, path=()):
        items = saved.items() if isinstance(saved, dict) else enumerate(saved) if isinstance(saved, list) else ()
        if type(saved) in (int, float):
            yield path
        for key, part in items:
            if key not in skip and not (isinstance(key, str) and key.startswith("cost ")):
                yield from places(part, (*path, key))

    found = list(places(saved_content["tallies"], ("tallies",)))
    for path in [found[i] for i in np.random.default_rng(0).permutation(len(found))[:40]]:
        undefined = {"surprise", "squares", "squared_logs"} & {*path}  # NaN where nothing can be told
        for wrong in (-1,) if undefined else (-1, math.nan):
            with pytest.raises(stakes.InputError):
                Counted.from_dict(changed(saved_content, path, wrong))


def test_scores_that_are_no_probabilities_keep_a_range_that_tells_no_score(tmp_path):
    rng = np.random.default_rng(0)
    scores = rng.random((90, 3)) * 1.5 + 0.1
    counted = stakes.count(truth=rng.choice(list("abc"), 90), score=scores, classes="abc")
    counted.save(tmp_path / "a.tally")
    low, high = stakes.load(tmp_path / "a.tally").tallies["class_scores"].range
    assert (low, high) == (0.0625, 2.0)
    found, rows = stakes.evaluate(tmp_path / "a.tally"), stakes.Evaluation(counted)
    assert found["accuracy"].value == rows["accuracy"].value
    assert str(found)


def test_the_format_is_as_it_is_written(real):
    """Read a file with nothing but the standard library, as the documentation says."""
    head, numbers = parts_of(real)
    assert (head["stakes"], head["version"]) == ("tally", 1)
    table = head["counted"]["tallies"][1]
    codes = {"u1": "B", "u2": "H", "u4": "I", "u8": "Q", "i8": "q", "f4": "f", "f8": "d"}

    def array(reference):
        n = math.prod(reference["shape"])
        return list(struct.unpack_from(f"<{n}{codes[reference['numbers']]}", numbers, reference["at"]))

    counted = stakes.load(real)
    assert array(table["scores"]) == counted.scores.as_columns().scores.tolist()
    assert sum(array(table["columns"]["positives"])) == counted.scores.P
    assert len(array(table["grid"]["ranges"])) == 2 * len(counted.scores.grid.ranges)
    with zipfile.ZipFile(io.BytesIO(real.read_bytes())) as archive:
        assert {member.date_time for member in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_names_that_look_like_references_are_names(tmp_path):
    rng = np.random.default_rng(0)
    by = rng.choice(["numbers", "shape", "at"], 300)
    counted = stakes.count(truth=rng.random(300) < 0.5, score=rng.random(300), by=by)
    counted.save(tmp_path / "a.tally")
    assert set(stakes.load(tmp_path / "a.tally").segments) == {"numbers", "shape", "at"}
    one = stakes.count(truth=rng.random(300) < 0.5, score=rng.random(300), by=np.full(300, "number"))
    one.save(tmp_path / "b.tally")
    assert set(stakes.load(tmp_path / "b.tally").segments) == {"number"}


@pytest.mark.parametrize("lacking", [False, True], ids=["all classes", "a class without rows"])
def test_averages_over_classes_are_as_open_as_the_bins_of_each(lacking, tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2 if lacking else 3, 300)
    scores = rng.dirichlet([1, 1, 1], 300) + 0.6 * np.eye(3)[truth]
    columns = dict(zip("abc", (scores / scores.sum(1, keepdims=True)).T, strict=True))
    asked = {"truth": np.array([*"abc"])[truth], "score": columns}
    stakes.count(**asked).save(tmp_path / "shared.tally")
    rows, shared = stakes.evaluate(**asked), stakes.evaluate(tmp_path / "shared.tally")
    for name in ("auc", "gini", "average_precision"):
        for how in ("weighted",) if lacking else ("macro", "weighted"):
            one, other = rows[f"{how}_{name}"], shared[f"{how}_{name}"]
            low, high = other.bounds
            assert other.low <= low <= one.value <= high <= other.high
    for name in ("weighted_ks", "weighted_precision_at_recall"):
        assert "rows of a bin count as tied" in shared[name].note  # and nothing tells how far that moves these
        assert "tied" not in rows[name].note


def test_costs_that_a_tally_cannot_answer_are_told_with_the_way_out(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.4
    rows = {"truth": truth, "score": 1 / (1 + np.exp(-rng.normal(truth, 1)))}
    costs = stakes.Costs(miss=1, false_alarm=2.5)
    stakes.count(**rows).save(tmp_path / "shared.tally")
    with pytest.raises(stakes.InputError, match=r"inside a bin .* may imply, count the rows with threshold=0\.7142"):
        stakes.evaluate(tmp_path / "shared.tally", costs=costs)["expected_cost"]
    stakes.count(**rows, threshold=1 / 1.4).save(tmp_path / "shared.tally")
    assert stakes.evaluate(tmp_path / "shared.tally", costs=costs)["expected_cost"].value > 0
