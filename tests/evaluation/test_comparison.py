"""compare(): the object a user holds, its words, and every error."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.metrics as sk

import stakes
from stakes.engines.joining import table_names
from stakes.evaluation.comparison import Pair, Place
from tests.command import run
from tests.parts import corrected

pytestmark = pytest.mark.slow

RANDOM = np.random.default_rng(8)
N = 240
TRUTH = (RANDOM.random(N) < 0.45).astype(int)
SIGNAL = 2 * TRUTH + RANDOM.normal(size=N)
SCORES = {
    name: 1 / (1 + np.exp(1 - SIGNAL - noise * RANDOM.normal(size=N)))
    for name, noise in (("sharp", 0.2), ("blunt", 2.5), ("middling", 0.3))
}
DECISIONS = {name: (score >= 0.5).astype(int) for name, score in SCORES.items()}
THREE = np.array(["ash", "beech", "cedar"])


def two(**options):
    return stakes.compare(truth=TRUTH, scores={k: SCORES[k] for k in ("sharp", "blunt")}, **options)


def trees():
    truth = RANDOM.integers(0, 3, N)
    scores = RANDOM.dirichlet([2, 2, 2], (2, N))
    scores[0, np.arange(N), truth] += 0.8
    return truth, scores / scores.sum(-1, keepdims=True)


# ── the ranking ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_models_are_ranked_and_every_two_compared():
    compared = stakes.compare(truth=TRUTH, scores=SCORES)
    assert [place.rank for place in compared.table] == [1, 2, 3]
    assert compared.table[-1].model == "blunt"
    values = [place.estimate.value for place in compared.table]
    assert values == sorted(values, reverse=True)
    order = [place.model for place in compared.table]
    assert [(p.first, p.second) for p in compared.pairs] == [tuple(order[:2]), (order[0], order[2]), tuple(order[1:])]
    for place in compared.table:
        alone = stakes.evaluate(truth=TRUTH, score=SCORES[place.model])
        assert place.estimate.value == alone["auc"].value == compared.models[place.model]["auc"].value
    for pair in compared.pairs:
        assert pair.difference == compared.models[pair.first]["auc"].value - compared.models[pair.second]["auc"].value
        assert pair.low < pair.difference < pair.high


def test_lower_is_better_for_losses():
    compared = two(metric="log_loss")
    assert compared.table[0].model == "sharp"
    assert compared.pairs[0].difference < 0
    assert compared.conclusion.startswith("“sharp”: its log loss is lower, and chance alone hardly explains it.")
    assert "“sharp” minus “blunt” is −0.4147. With 95% confidence" in compared.conclusion


def test_the_order_of_the_models_does_not_matter():
    one = stakes.compare(truth=TRUTH, scores=SCORES, metric=["auc", "f1", "average_precision"], resamples=200)
    other = stakes.compare(
        truth=TRUTH, scores=dict(reversed(SCORES.items())), metric=["auc", "f1", "average_precision"], resamples=200
    )
    assert one.to_dict() == other.to_dict()


def test_holm_is_over_the_pairs_of_a_metric():
    compared = stakes.compare(truth=TRUTH, scores=SCORES, metric=["auc", "accuracy"])
    for metric in ("auc", "accuracy"):
        pairs = [pair for pair in compared.pairs if pair.metric == metric]
        expected = corrected([pair.p_value for pair in pairs])
        assert [pair.adjusted_p_value for pair in pairs] == pytest.approx(expected)


def test_simultaneous_intervals_are_wider_and_say_so():
    each = stakes.compare(truth=TRUTH, scores=SCORES)
    all_at_once = stakes.compare(truth=TRUTH, scores=SCORES, simultaneous=True)
    bonferroni = stakes.compare(truth=TRUTH, scores=SCORES, confidence=1 - 0.05 / 3)
    assert (each.intervals, all_at_once.intervals) == ("unadjusted", "simultaneous")
    assert [(p.low, p.high) for p in all_at_once.pairs] == [(p.low, p.high) for p in bonferroni.pairs]
    assert all(w.high - w.low > n.high - n.low for w, n in zip(all_at_once.pairs, each.pairs, strict=True))
    assert "There are 3 pairs: the intervals are widened so that they hold for all pairs at once." in str(all_at_once)


# ── what is compared ─────────────────────────────────────────────────────────────────────────────────────────────
def test_the_usual_metric_is_told_by_what_there_is_to_judge():
    truth, scores = trees()
    named = {"a": dict(zip(THREE, scores[0].T, strict=True)), "b": dict(zip(THREE, scores[1].T, strict=True))}
    cases = [
        (stakes.compare(truth=TRUTH, scores=SCORES), "auc"),
        (stakes.compare(truth=TRUTH, predictions=DECISIONS), "accuracy"),
        (stakes.compare(truth=TRUTH, scores={"s": SCORES["sharp"]}, predictions={"d": DECISIONS["blunt"]}), "accuracy"),
        (stakes.compare(truth=SIGNAL, predictions={"a": SIGNAL + 0.1, "b": 0 * SIGNAL}), "mean_absolute_error"),
        (stakes.compare(truth=THREE[truth], scores=named), "macro_auc"),
        (stakes.compare(truth=THREE[truth], scores=dict(zip("ab", scores, strict=True)), classes=THREE), "macro_auc"),
    ]
    for compared, metric in cases:
        assert compared.metrics == [metric]


def test_losses_of_several_classes_go_by_their_usual_name():
    truth, scores = trees()
    compared = stakes.compare(
        truth=THREE[truth], scores=dict(zip("ab", scores, strict=True)), classes=THREE, metric="log_loss"
    )
    assert compared.metrics == ["multiclass_log_loss"]
    assert compared.table[0].model == "a"


def test_columns_of_a_table_or_file_are_named(tmp_path):
    frame = pl.DataFrame({"y": TRUTH, **SCORES})
    frame.write_csv(tmp_path / "preds.csv")
    frame.write_parquet(tmp_path / "preds.parquet")
    expected = stakes.compare(truth=TRUTH, scores=SCORES).to_dict()
    for data in (
        frame,
        frame.to_pandas(),
        frame.to_dict(as_series=False),
        tmp_path / "preds.csv",
        tmp_path / "preds.parquet",
    ):
        assert stakes.compare(data, truth="y", scores=list(SCORES)).to_dict() == expected


def test_the_columns_of_a_data_frame_are_models():
    expected = stakes.compare(truth=TRUTH, scores=SCORES).to_dict()
    assert stakes.compare(truth=TRUTH, scores=pl.DataFrame(SCORES)).to_dict() == expected
    assert stakes.compare(truth=TRUTH, scores=pl.DataFrame(SCORES).to_pandas()).to_dict() == expected


def test_a_metric_named_twice_is_compared_once():
    assert two(metric=["auc", "roc_auc"]).to_dict() == two(metric=[]).to_dict() == two().to_dict()


def test_scores_of_several_classes_have_no_threshold():
    truth, scores = trees()
    with pytest.raises(stakes.InputError, match="model 'a': threshold= is for the scores of two classes; leave it out"):
        stakes.compare(truth=truth, scores=dict(zip("ab", scores, strict=True)), classes=[0, 1, 2], threshold=0.5)


def test_rows_that_flipped_are_counted():
    flipped = stakes.compare(truth=TRUTH, predictions={k: DECISIONS[k] for k in ("sharp", "blunt")}).pairs[0].flipped
    right = {name: decided == TRUTH for name, decided in DECISIONS.items()}
    assert flipped.only_first_right == (right["sharp"] & ~right["blunt"]).sum()
    assert flipped.both_wrong == (~right["sharp"] & ~right["blunt"]).sum()
    assert two().pairs[0].flipped == flipped  # scores are cut at ½
    assert two(threshold=0.9).pairs[0].flipped != flipped
    logits = {name: np.log(score / (1 - score)) for name, score in SCORES.items()}
    assert stakes.compare(truth=TRUTH, scores=logits).pairs[0].flipped is None  # no threshold, no decisions


def test_a_threshold_decides():
    compared = two(metric="recall", threshold=0.8)
    assert compared.models["sharp"].threshold == 0.8
    assert compared.table[0].estimate.value == max(
        np.mean(s[TRUTH == 1] >= 0.8) for k, s in SCORES.items() if k != "middling"
    )


def test_extra_decisions_of_one_model():
    said = np.where(SCORES["blunt"] > 0.9, "unsure", DECISIONS["blunt"].astype(str))
    compared = stakes.compare(
        truth=TRUTH.astype(str),
        predictions={"a": DECISIONS["sharp"].astype(str), "b": said},
        classes=["0", "1"],
        metric="coverage",
    )
    assert compared.pairs[0].difference == pytest.approx(np.mean(said == "unsure"))


def test_weights_of_zero_leave_rows_out():
    weight = np.where(np.arange(N) < 200, 1.0, 0.0)
    part = stakes.compare(truth=TRUTH[:200], scores={k: v[:200] for k, v in SCORES.items()}, metric=["auc", "f1"])
    whole = stakes.compare(truth=TRUTH, scores=SCORES, weight=weight, metric=["auc", "f1"])
    for here, there in zip(part.pairs, whole.pairs, strict=True):
        assert (here.low, here.high, here.p_value) == pytest.approx((there.low, there.high, there.p_value))


# ── non-inferiority ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("metric", ["auc", "brier_score"])
def test_the_margin_is_judged_by_the_end_of_the_interval(metric):
    pair = two(metric=metric).pairs[0]
    gap = max(abs(pair.low), abs(pair.high))  # how much worse the second may be
    for margin, shown in ((gap * 1.01, True), (gap * 0.99, False)):
        judged = two(metric=metric, margin=margin)
        assert judged.pairs[0].second_not_inferior is shown
        assert judged.pairs[0].not_inferior is True
        equivalent = "“sharp” and “blunt” are equivalent within 0."
        told = [note for note in judged.notes if note.startswith(equivalent)]
        assert [note.endswith("(two one-sided tests at 2.5%).") for note in told] == [True] * shown
        assert any(note.startswith("Shown: “sharp” is at most") for note in judged.notes)
        assert any(note.startswith("Not shown: “blunt” is at most") for note in judged.notes) is not shown
    assert two(metric=metric).pairs[0].not_inferior is None


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_conclusion_claims_no_more_than_the_interval():
    alike = stakes.compare(truth=TRUTH, scores={k: SCORES[k] for k in ("sharp", "middling")})
    pair = alike.pairs[0]
    assert pair.low < 0 < pair.high
    assert alike.conclusion.startswith(f"“{pair.first}” and “{pair.second}” cannot be told apart by AUC on these rows.")
    assert two().conclusion.startswith("“sharp”: its AUC is higher, and chance alone hardly explains it.")
    several = stakes.compare(truth=TRUTH, scores=SCORES)
    best, second, last = (place.model for place in several.table)
    assert several.conclusion == (
        f"“{best}” has the best AUC: 0.9157. It is better than “{last}”, and chance alone hardly explains it. "
        f"It cannot be told apart from “{second}”."
    )


def test_an_interval_without_its_p_value_is_no_claim():
    facts = {"first": "a", "second": "b", "metric": "auc", "difference": 0.1}
    assert Pair(**facts, low=0.01, high=0.2, p_value=0.03, adjusted_p_value=0.03).told_apart(0.95)
    assert not Pair(**facts, low=0.01, high=0.2, p_value=0.03, adjusted_p_value=0.06).told_apart(0.95)
    assert not Pair(**facts, low=-0.01, high=0.2, p_value=0.03, adjusted_p_value=0.03).told_apart(0.95)
    assert not Pair(**facts).told_apart(0.95)


def test_undefined_figures_are_not_compared_and_say_why():
    never = np.zeros(N, int)
    compared = stakes.compare(
        truth=TRUTH, predictions={"never": never, "sharp": DECISIONS["sharp"]}, metric="precision"
    )
    pair = compared.pairs[0]
    assert (pair.first, pair.second) == ("sharp", "never")
    assert math.isnan(pair.difference)
    assert (pair.low, pair.p_value, pair.adjusted_p_value) == (None, None, None)
    assert pair.note == "precision of never is undefined: nothing is decided positive"
    assert compared.conclusion == "“sharp” and “never” cannot be compared by precision: it is undefined or infinite."
    assert compared.notes[-1] == f"precision: {pair.note}"
    nobody = stakes.compare(truth=TRUTH, predictions={"a": never, "b": never, "c": never}, metric="precision")
    assert nobody.conclusion == "No model has a defined precision."
    assert "nothing is decided positive" in str(nobody)


def test_infinite_losses_have_no_difference():
    sure = np.where(np.arange(N) == 0, 1.0 - TRUTH[0], SCORES["sharp"])
    pair = stakes.compare(truth=TRUTH, scores={"sure": sure, "sharp": SCORES["sharp"]}, metric="log_loss").pairs[0]
    assert (pair.first, pair.low, pair.note) == ("sharp", None, "log_loss is infinite")


def test_a_figure_without_an_interval_says_why():
    assert two(metric="ks").conclusion.startswith("How far “sharp” and “blunt” are apart is not known")


def test_the_text_shows_ranking_pairs_and_conclusion():
    compared = stakes.compare(truth=TRUTH, scores=SCORES)
    text = str(compared)
    for words in (
        "3 models · 240 rows, the same for all",
        "Holm's p",
        "influence of rows on the difference",
        "sharp − blunt",
        "“sharp” has the best AUC",
    ):
        assert words in text
    assert repr(compared) == "<Comparison of sharp, blunt and middling by auc>"
    html = stakes.compare(truth=TRUTH, scores={"<b>": SCORES["sharp"], "c": SCORES["blunt"]})._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>:" not in html


def test_data_are_plain():
    compared = two(metric=["auc", "ks"])
    saved = json.loads(compared.to_json())
    assert saved == compared.to_dict()
    assert (saved["stakes"], saved["rows"], saved["intervals"], saved["clusters"]) == (
        "comparison",
        240,
        "unadjusted",
        None,
    )
    assert saved["pairs"][0]["flipped"]["both_right"] == compared.pairs[0].flipped.both_right
    row = compared.to_rows()[1]
    assert (row["metric"], row["low"], row["only_first_right"]) == (
        "ks",
        None,
        compared.pairs[1].flipped.only_first_right,
    )
    assert "flipped" not in row


def test_a_pair_is_found_in_either_order():
    compared = two(metric=["auc", "f1"])
    assert compared.pair("blunt", "sharp") is compared.pairs[0]
    assert compared.pair("sharp", "blunt", "f1") is compared.pairs[1]
    with pytest.raises(
        stakes.InputError,
        match="there is no pair of 'sharp' and 'nobody' by that metric; the models are 'sharp' and 'blunt'",
    ):
        compared.pair("sharp", "nobody")


# ── clusters ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_clusters_rule_out_tests_of_single_rows():
    compared = two(cluster=np.arange(N) // 3, metric=["auc", "accuracy", "brier_score"])
    assert compared.clusters == 80
    for pair in compared.pairs:
        assert pair.method == "influence of whole clusters on the difference, Student's t"
    assert any("because their rows are not independent" in note for note in compared.notes)


def test_few_clusters_warn():
    with pytest.warns(
        stakes.InputWarning, match="there are only 12 clusters; with fewer than 30 intervals are too short"
    ):
        two(cluster=np.arange(N) // 20, resamples=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        two(cluster=np.arange(N) // 8, resamples=100)


# ── different rows ───────────────────────────────────────────────────────────────────────────────────────────────
def test_models_on_different_rows(tmp_path):
    halves = {"a": (TRUTH[:100], SCORES["sharp"][:100]), "b": (TRUTH[100:], SCORES["blunt"][100:])}
    compared = stakes.compare(scores=halves, paired=False)
    assert compared.rows == [100, 140]
    assert compared.pairs[0].method == "influence of rows, independent samples"
    assert compared.pairs[0].flipped is None
    assert "240 rows in all, different ones for each" in str(compared)
    for name, (truth, score) in halves.items():
        pl.DataFrame({"y": truth, "p": score}).write_csv(tmp_path / f"{name}.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert stakes.compare(files, truth="y", scores="p", paired=False).to_dict() == compared.to_dict()


# ── files joined by case ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def files(tmp_path):
    case = [f"c{i}" for i in RANDOM.permutation(N)]
    frame = pl.DataFrame({"case": case, "y": TRUTH, "site": np.arange(N) // 4, **SCORES})
    for name in ("sharp", "blunt"):
        part = frame.select("case", "y", "site", pl.col(name).alias("p"))
        (part if name == "sharp" else part.reverse()).write_csv(tmp_path / f"{name}.csv")
    return [tmp_path / "sharp.csv", tmp_path / "blunt.csv"]


JOINED = {"id": "case", "truth": "y", "scores": "p"}


def test_files_are_joined_by_case(files):
    joined = stakes.compare(files, **JOINED)
    assert joined.to_dict() == two().to_dict()
    clustered = stakes.compare(files, **JOINED, cluster="site", resamples=200)
    assert clustered.to_dict() == two(cluster=np.arange(N) // 4, resamples=200).to_dict()
    frames = [pl.read_csv(file) for file in files]
    assert list(stakes.compare(frames, **JOINED).models) == ["table 1", "table 2"]


def edited(file, change):
    frame = change(pl.read_csv(file))
    frame.write_csv(file)
    return frame


def test_cases_that_do_not_match_are_named(files):
    frame = edited(files[1], lambda f: f[2:])
    kept = set(frame["case"])
    missing = sorted(f"c{i}" for i in range(N) if f"c{i}" not in kept)
    with pytest.raises(stakes.InputError) as problem:
        stakes.compare(files, **JOINED)
    assert str(problem.value) == (
        f"blunt lacks 2 cases that sharp has (the first has case {missing[0]!r}); give both the same cases"
    )
    with pytest.raises(stakes.InputError, match="blunt lacks 2 cases that sharp has"):
        stakes.compare(files[::-1], **JOINED)


def test_cases_that_occur_twice_are_named(files):
    frame = edited(files[1], lambda f: pl.concat([f, f[:1]]))
    with pytest.raises(stakes.InputError) as problem:
        stakes.compare(files, **JOINED)
    assert str(problem.value) == (
        f"blunt: 1 value of case occurs more than once (the first is {frame['case'][0]!r}); keep one row of every case"
    )


def test_truths_that_disagree_are_named(files):
    frame = edited(
        files[1], lambda f: f.with_columns(y=pl.when(pl.int_range(pl.len()) == 5).then(1 - pl.col("y")).otherwise("y"))
    )
    with pytest.raises(stakes.InputError) as problem:
        stakes.compare(files, **JOINED)
    assert str(problem.value) == (
        f"blunt and sharp disagree about the truth of 1 case (the first has case {frame['case'][5]!r}); mend the "
        "files, so that both have the same truth"
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"id": None}, "several tables were given; name the column of case numbers that joins them as id=, or pass"),
        ({"scores": ["p", "q"]}, "scores: with several tables, one model each, give the one column name that all"),
        ({"id": "number"}, "model 'sharp': id: there is no column 'number'"),
        ({"paired": False}, "id= is for models on the same rows; leave it out with paired=False"),
    ],
)
def test_slips_with_several_files(files, options, words):
    with pytest.raises(stakes.InputError, match=words):
        stakes.compare(files, **{**JOINED, **options})


def test_two_files_of_one_name(files, tmp_path):
    (tmp_path / "other").mkdir()
    pl.read_csv(files[0]).write_csv(tmp_path / "other" / "sharp.csv")
    folder = tmp_path.name
    both = stakes.compare([files[0], tmp_path / "other" / "sharp.csv"], **JOINED)
    assert list(both.models) == [f"{folder}/sharp", "other/sharp"]
    assert table_names(["a/sharp.csv", "a/sharp.parquet"]) == ["a/sharp.csv", "a/sharp.parquet"]
    assert table_names(["sharp.csv", "main/sharp.csv"]) == ["sharp", "main/sharp"]
    with pytest.raises(
        stakes.InputError, match=r"two tables are called 'x\.csv', and models are called like their tables; rename one"
    ):
        table_names(["x.csv", "x.csv"])


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────
BOTH = {"truth": TRUTH, "scores": SCORES}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"scores": {"a": SCORES["sharp"]}},
            "a comparison needs two models or more, and there is only 'a'; name them in scores= or predictions=",
        ),
        (
            {"scores": None},
            "a comparison needs two models or more, and there is none; name them in scores= or predictions=",
        ),
        (
            {"scores": {"a": SCORES["sharp"], "b": SCORES["sharp"][1:]}},
            "model 'b' has 239 rows but truth has 240; models are compared on the same rows: give every model all "
            "of them, or with paired=False each its own truth",
        ),
        (
            {"scores": np.zeros((N, 2))},
            "scores is a ndarray; give a dictionary model → column, or a list of column names",
        ),
        ({"confidence": 1}, "confidence=1 is not between 0 and 1; 0.95 is usual"),
        ({"confidence": "high"}, "confidence='high' is not between 0 and 1; 0.95 is usual"),
        ({"margin": -0.1}, "margin=-0.1 is not a number from 0 on; give the difference that would still not matter"),
        ({"seed": -1}, "seed=-1 does not work; give a whole number from 0 on"),
        ({"resamples": 10}, "resamples=10 does not work; give a whole number from 100 on"),
        (
            {"metric": "prevalence"},
            "prevalence is better neither higher nor lower, so nothing can be ranked by it; name another metric",
        ),
        (
            {"metric": "r2"},
            "r2 is a figure of predicted numbers, and this is an evaluation of two classes; `stakes metrics` lists "
            "them all",
        ),
        ({"metric": "acx"}, "there is no metric 'acx'"),
        ({"metric": 5}, "5 is not how a metric is written; write a name, or name(parameter=number)"),
        (
            {"truth": None},
            "write which columns are which: compare(data, truth='y', scores=['a', 'b']), or compare(truth=y, "
            "scores={'a': p, 'b': q})",
        ),
        ({"id": "case"}, "id= joins several tables; give a list of them, or leave it out"),
        (
            {"paired": False},
            "model 'sharp' has no truth of its own; with paired=False give each its own file, or pairs (truth, score)",
        ),
        ({"paired": False, "weight": TRUTH}, "weight= is for models on the same rows; leave it out with paired=False"),
        (
            {"scores": {"a": SCORES["sharp"], "b": np.where(TRUTH == 1, np.nan, 0.5)}},
            f"model 'b': score is missing in {TRUTH.sum()} rows (the first is row {TRUTH.argmax() + 1}, counting "
            "from 1); fill them, or leave those rows out with missing='drop'",
        ),
        (
            {
                "scores": None,
                "predictions": {"a": DECISIONS["sharp"], "b": np.where(np.arange(N) == 3, 2, TRUTH)},
                "task": "classification",
            },
            "model 'b' has the class '2', which another model does not have; pass classes= to say what the classes are",
        ),
        (
            {"scores": None, "predictions": {"a": DECISIONS["sharp"], "b": 3 * SCORES["sharp"]}},
            "model 'b' is evaluated as regression, but 'a' as classification; pass task= to say what is meant",
        ),
        (
            {"scores": None, "predictions": DECISIONS, "threshold": 0.5},
            "threshold and prediction were both given; the decisions come from prediction, or from score ≥ threshold",
        ),
    ],
)
def test_slips_are_named(options, words):
    with pytest.raises(stakes.InputError) as problem:
        stakes.compare(**{**BOTH, **options})
    assert str(problem.value).startswith(words)


def test_arrays_without_names_ask_which_is_which():
    with pytest.raises(stakes.InputError, match="write which columns are which"):
        stakes.compare(TRUTH, SCORES["sharp"], SCORES["blunt"])


# ── costs ────────────────────────────────────────────────────────────────────────────────────────────────────────
AMOUNT = np.round(RANDOM.gamma(2, 3, N), 2)
BY_ROW = {"miss": stakes.Costs(miss="amount", false_alarm=2)}
BY_ROW["three decisions"] = stakes.Costs(
    {"1": {"stop": 0, "ask": 1, "go": "amount"}, "0": {"stop": 4, "ask": 1, "go": 0}},
)
TABLE = {"y": TRUTH, "amount": AMOUNT, "sharp": SCORES["sharp"], "blunt": SCORES["blunt"]}


def paid(costs: str, score):
    """What each row costs by the cheapest decision at its own prices, worked out without stakes."""
    if costs == "miss":
        prices = {1: np.stack([0 * AMOUNT, AMOUNT]), 0: np.stack([2 + 0 * AMOUNT, 0 * AMOUNT])}
    else:
        one = np.ones(N)
        prices = {1: np.stack([0 * one, one, AMOUNT]), 0: np.stack([4 * one, one, 0 * one])}
    chosen = (score * prices[1] + (1 - score) * prices[0]).argmin(0)
    real = np.where(TRUTH == 1, prices[1], prices[0])
    return real[chosen, np.arange(N)]


@pytest.mark.parametrize("costs", list(BY_ROW))
def test_models_are_compared_at_costs_that_differ_by_row(costs):
    compared = stakes.compare(
        TABLE, truth="y", scores=["sharp", "blunt"], metric="expected_cost", costs=BY_ROW[costs], positive=1
    )
    pair = compared.pairs[0]
    sharp, blunt = paid(costs, SCORES["sharp"]), paid(costs, SCORES["blunt"])
    sign = 1 if pair.first == "sharp" else -1
    assert pair.difference == pytest.approx(sign * (sharp - blunt).mean(), abs=1e-12)
    draws = np.random.default_rng(1).integers(N, size=(4000, N))
    low, high = np.quantile(sign * (sharp - blunt)[draws].mean(1), [0.025, 0.975])
    spread = high - low
    assert low - 0.2 * spread < pair.low < low + 0.02 * spread  # wider, since one dear row may not have come up yet
    assert high - 0.02 * spread < pair.high < high + 0.2 * spread
    coins = np.random.default_rng(2).choice([-1, 1], size=(4000, N))
    p = np.mean(np.abs((coins * (sharp - blunt)).mean(1)) >= abs(pair.difference) - 1e-12)
    assert p - 0.02 <= pair.p_value <= p + 0.15
    assert (pair.low <= 0 <= pair.high) == (pair.p_value >= 0.05)


def test_costs_are_what_models_are_compared_by():
    assert stakes.compare(TABLE, truth="y", scores=["sharp", "blunt"], costs=BY_ROW["miss"]).metrics == [
        "expected_cost"
    ]
    assert two(costs=stakes.Costs(miss=5, false_alarm=1)).metrics == ["expected_cost"]
    assert two().metrics == ["auc"]


def test_row_costs_are_compared_in_any_order_of_rows():
    order = np.random.default_rng(3).permutation(N)
    moved = {name: column[order] for name, column in TABLE.items()}
    options = {"truth": "y", "scores": ["sharp", "blunt"], "metric": "normalised_cost", "costs": BY_ROW["miss"]}
    one, other = (stakes.compare(table, **options).pairs[0] for table in (TABLE, moved))
    assert (one.low, one.high, one.p_value) == pytest.approx((other.low, other.high, other.p_value), rel=1e-9)


def test_weights_of_row_costs_count():
    weight = 1.0 + np.arange(N) % 4
    options = {"truth": "y", "scores": ["sharp", "blunt"], "metric": "expected_cost", "costs": BY_ROW["miss"]}
    pair = stakes.compare({**TABLE, "w": weight}, weight="w", **options).pairs[0]
    sharp, blunt = (np.average(paid("miss", SCORES[name]), weights=weight) for name in ("sharp", "blunt"))
    assert pair.difference == pytest.approx((sharp - blunt) * (1 if pair.first == "sharp" else -1), abs=1e-12)
    assert pair.low < pair.difference < pair.high


@pytest.mark.parametrize("threshold", [0.1, 0.9])
def test_a_threshold_decides_where_costs_differ_by_row(threshold):
    options = {"truth": "y", "costs": BY_ROW["miss"], "threshold": threshold, "positive": 1}
    compared = stakes.compare(TABLE, scores=["sharp", "blunt"], metric="expected_cost", **options)
    for name, evaluation in compared.models.items():
        alone = stakes.evaluate(TABLE, score=name, **options)
        decided = SCORES[name] >= threshold
        real = np.where(TRUTH == 1, np.where(decided, 0, AMOUNT), np.where(decided, 2, 0)).mean()
        assert evaluation["expected_cost"].value == alone["expected_cost"].value == pytest.approx(real)


def test_joined_tables_bring_their_costs():
    tables = [
        pl.DataFrame({"i": np.arange(N), "y": TRUTH, "p": SCORES[k], "amount": AMOUNT}) for k in ("sharp", "blunt")
    ]
    options = {"truth": "y", "metric": "expected_cost", "costs": BY_ROW["miss"], "positive": 1}
    joined = stakes.compare([tables[0], tables[1].reverse()], id="i", scores="p", **options).pairs[0]
    beside = stakes.compare(TABLE, scores=["sharp", "blunt"], **options).pairs[0]
    assert (joined.difference, joined.low, joined.high) == pytest.approx((beside.difference, beside.low, beside.high))


def test_whole_scores_beyond_floats_are_decided_as_they_are_counted():
    large = 2**53 + np.arange(30)
    truth = (np.arange(30) >= 10).astype(int)
    scores = {"one": large, "other": large[::-1].copy()}
    compared = stakes.compare(truth=truth, scores=scores, threshold=float(2**53 + 10), metric="accuracy")
    assert compared.models["one"]["accuracy"].value == 1
    flipped = compared.pairs[0].flipped
    assert (flipped.both_right, flipped.only_first_right) == (10, 20)


def test_decisions_that_are_no_classes_are_compared_by_cost_and_flip_no_rows():
    """Fixed costs of three decisions: the scores decide where the costs switch."""
    matrix = stakes.Costs({"1": {"stop": 0, "ask": 1, "go": 9}, "0": {"stop": 4, "ask": 1, "go": 0}})
    compared = stakes.compare(
        truth=TRUTH, scores={k: SCORES[k] for k in ("sharp", "blunt")}, metric="expected_cost", costs=matrix, positive=1
    )
    pair = compared.pairs[0]

    def mean(score):
        expected = np.stack([4 * (1 - score), np.ones(N), 9 * score])
        real = np.where(TRUTH == 1, np.array([0, 1, 9])[:, None], np.array([4, 1, 0])[:, None])
        return real[expected.argmin(0), np.arange(N)].mean()

    gap = mean(SCORES["sharp"]) - mean(SCORES["blunt"])
    assert pair.difference == pytest.approx(gap * (1 if pair.first == "sharp" else -1), abs=1e-12)
    assert pair.low < pair.difference < pair.high
    assert pair.flipped is None
    assert "both right" not in str(compared)


# ── how sure ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_models_have_intervals_of_the_same_confidence_and_seed():
    assert two(confidence=0.99).table[0].estimate.confidence == 0.99
    ends = [two(metric="f1", seed=seed, threshold=0.5).table[0].estimate.low for seed in (5, 5, 6)]
    assert ends[0] == ends[1] != ends[2]


def test_a_single_cluster_or_row_tells_nothing():
    with pytest.warns(stakes.InputWarning, match="there is only 1 cluster"):
        pair = two(cluster=np.zeros(N), margin=0.05).pairs[0]
    assert (pair.low, pair.high, pair.p_value, pair.not_inferior) == (None, None, None, None)
    assert pair.note == "there is a single cluster"
    with pytest.raises(stakes.InputError, match="model 'a': there is a single row, which tells nothing about a differ"):
        stakes.compare(truth=[1], predictions={"a": [1], "b": [0]}, classes=[0, 1])


def test_long_rankings_are_compared_like_resampled_rows():
    rng = np.random.default_rng(2)
    truth = rng.random(1500) < 0.1
    first, second = (rng.normal(size=1500) + shift * truth for shift in (1.5, 1.2))
    pair = stakes.compare(truth=truth, scores={"a": first, "b": second}, metric="average_precision").pairs[0]
    drawn = []
    for _ in range(300):
        rows = rng.integers(0, 1500, 1500)
        drawn.append(
            sk.average_precision_score(truth[rows], first[rows]) - sk.average_precision_score(truth[rows], second[rows])
        )
    assert pair.difference == pytest.approx(
        sk.average_precision_score(truth, first) - sk.average_precision_score(truth, second)
    )
    assert (pair.high - pair.low) / (2 * 1.96 * np.std(drawn)) == pytest.approx(1, abs=0.12)
    assert pair.low < pair.difference < pair.high


def test_a_conclusion_that_the_interval_does_not_explain_says_the_p_value():
    pair = Pair("a", "b", "f1", 0.18, 0.01, 0.32, 0.058, 0.058)
    models = two().models
    named = {"a": models["sharp"], "b": models["blunt"]}
    places = [Place(rank, name, "f1", model["f1"]) for rank, (name, model) in enumerate(named.items(), 1)]
    told = stakes.Comparison(named, places, [pair])
    assert told.conclusion.startswith("“a” and “b” cannot be told apart by F1")
    assert "between 0.0100 and 0.3200. " in told.conclusion
    assert told.conclusion.endswith("would turn up with probability 0.0580.")


def test_identical_models_are_the_same():
    same = stakes.compare(truth=TRUTH, scores=[SCORES["sharp"], SCORES["sharp"].copy()])
    assert same.conclusion.startswith("“model 1” and “model 2” are the same as far as the AUC can tell.")


def test_a_handful_of_rows_tells_nothing():
    pair = stakes.compare(
        truth=[1, 0, 1, 0, 1], scores={"a": [0.9, 0.1, 0.8, 0.2, 0.7], "b": [0.4, 0.5, 0.3, 0.6, 0.9]}
    ).pairs[0]
    assert pair.p_value > 0.05
    assert (pair.low, pair.high) == (-1, 1)


def test_case_numbers_may_have_met_a_missing_value():
    tables = [pl.DataFrame({"case": ["1", "2", "3"], "y": [1, 0, 1], "p": [0.9, 0.2, 0.4]})]
    tables.append(pl.DataFrame({"case": ["3.0", "1.0", "2.0"], "y": [1, 1, 0], "p": [0.8, 0.7, 0.3]}))
    both = stakes.compare(tables, id="case", truth="y", scores="p")
    assert both.models["table 2"]["auc"].value == 1


def test_models_without_a_figure_are_not_called_alike():
    predictions = {
        "a": (SCORES["sharp"] > 0.5).astype(int),
        "always": np.ones(N, int),
        "b": (SCORES["blunt"] > 0.5).astype(int),
    }
    told = stakes.compare(truth=TRUTH, predictions=predictions, metric="mcc").conclusion
    assert told.endswith("It cannot be compared with “always”.")
    assert "told apart from “always”" not in told


def _rows_by_site():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    p = np.clip(0.5 * y + 0.5 * rng.random(300), 0, 1)
    site = np.array(["n", "s", "w"], object)[np.arange(300) % 3]
    site[0] = "tiny"
    q = np.where(site == "n", rng.random(300), p + 0.01 * rng.random(300))
    return pd.DataFrame({"y": y, "p": p, "q": q, "site": site, "sex": ["f", "m"] * 150, "case": np.arange(300) // 2})


@pytest.mark.parametrize("simultaneous", [False, True])
def test_models_are_compared_within_segments(simultaneous):
    rows = _rows_by_site()
    asked = {"truth": "y", "scores": ["p", "q"], "metric": ["auc", "brier_score"], "cluster": "case"}
    found = stakes.compare(rows, **asked, by="site", simultaneous=simultaneous)
    assert list(found.segments) == ["n", "s", "tiny", "w"]
    confidence = 1 - 0.05 / 4 if simultaneous else 0.95
    raw = []
    for name in ("n", "s", "w"):
        alone = stakes.compare(rows[rows.site == name], **asked, confidence=confidence)
        for pair, own in zip(found.segments[name].pairs, alone.pairs, strict=True):
            kept = ("first", "second", "metric", "difference", "low", "high", "p_value")
            assert [getattr(pair, k) for k in kept] == [getattr(own, k) for k in kept]
        raw.append(alone.pair("p", "q", "auc").p_value)
    adjusted = [found.segments[name].pair("p", "q", "auc").adjusted_p_value for name in ("n", "s", "w")]
    assert adjusted == pytest.approx(corrected(raw, "bonferroni" if simultaneous else "holm"))
    tiny = found.segments["tiny"].pair("p", "q", "brier_score")
    assert (tiny.low, tiny.note) == (None, "too small: 1 row; at least 10 wanted")
    assert "comparisons within segments" in str(found)
    assert "“p” is better than “q” in “n”" in str(found).replace("\n", " ")
    assert found.to_dict()["segments"]["n"]["pairs"][0]["metric"] == "auc"
    assert [row["segment"] for row in found.to_rows()] == [None] * 2 + [
        s for s in ("n", "s", "tiny", "w") for _ in "ab"
    ]


def test_segments_of_joined_tables_of_gaps_and_of_other_rows(tmp_path):
    rows = _rows_by_site().assign(id=range(300), score=lambda t: t.p).drop(columns=["p", "q"])
    other = rows.assign(score=_rows_by_site().q)
    asked = {"truth": "y", "scores": "score", "by": ["site", "sex"]}
    joined = stakes.compare([rows, other.iloc[::-1]], id="id", **asked)
    one = joined.segments["site=n, sex=f"]
    here = (rows.site == "n") & (rows.sex == "f")
    assert one.rows == here.sum()
    beside = rows.assign(other=other.score)
    alone = stakes.compare(beside[here], truth="y", scores=["score", "other"]).pairs[0]
    assert abs(one.pairs[0].difference) == pytest.approx(abs(alone.difference))
    beside.loc[3, "other"] = math.nan
    asked = {"truth": "y", "scores": ["score", "other"], "by": "sex", "missing": "drop"}
    assert stakes.compare(beside, **asked).segments["m"].rows == 149
    apart = stakes.compare([rows, other[10:]], truth="y", scores="score", by="sex", paired=False)
    assert apart.segments["f"].rows == [150, 145]
    with pytest.raises(stakes.InputError, match="by= is for models on the same rows"):
        stakes.compare(scores={"a": ([0, 1], [0, 1]), "b": ([0, 1], [0, 1])}, by=[1, 2], paired=False)
    file = tmp_path / "rows.csv"
    beside.dropna().to_csv(file)
    done = run("compare", file, "--truth", "y", "--score", "score", "--score", "other", "--by", "sex")
    assert "comparisons within segments" in done.stdout


def test_costs_are_told_in_their_unit_and_decisions_only_where_they_are_compared():
    truth = [1, 0] * 30
    scores = {"a": [0.9, 0.2, 0.4, 0.6] * 15, "b": [0.8, 0.3, 0.7, 0.1] * 15}
    by_cost = stakes.compare(truth=truth, scores=scores, costs=stakes.Costs(miss=5, false_alarm=1, unit="€"))
    assert "costs: a miss €5, a false alarm €1" in " ".join(str(by_cost).split())
    assert "both right" in str(by_cost)
    assert "both right" not in str(stakes.compare(truth=truth, scores=scores, metric="auc"))
    assert "both right" in str(stakes.compare(truth=truth, scores=scores, metric=["auc", "accuracy"]))


@pytest.mark.parametrize("decided", [{"threshold": 0.8}, {"costs": stakes.Costs(miss=5, false_alarm=1)}], ids=str)
@pytest.mark.parametrize("place", [pl.DataFrame, pl.LazyFrame])
def test_thresholds_inside_bins_are_those_of_the_rows_that_were_read(decided, place):
    """Rows with frequencies are read, and what is here needs no bins."""
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    scores = {name: rng.beta(2, 2, 300) * 0.7 + part * truth for name, part in (("p", 0.3), ("q", 0.1))}
    rows = place({"y": truth, **scores, "times": rng.integers(1, 4, 300)})
    asked = {"truth": "y", "scores": ["p", "q"], "frequency": "times", **decided}
    (one,), (other,) = (stakes.compare(rows, **asked, exact=exact).pairs for exact in (None, False))
    assert one == other


@pytest.mark.parametrize("place", [pl.DataFrame, pl.LazyFrame])
def test_fixed_classes_of_numbers_are_refused_as_by_evaluate(place):
    rows = place({name: np.random.default_rng(place).normal(size=50) for place, name in enumerate("tuv")})
    with pytest.raises(stakes.InputError, match="design= is about classes, and these are predicted numbers"):
        stakes.compare(rows, truth="t", predictions=["u", "v"], design="classes fixed")
