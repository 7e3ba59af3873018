"""The pages of several classes, numbers, comparisons, permutation tests and decisions: what their payloads say."""

import json
import re

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix, roc_curve

import stakes
from stakes.findings.pages import payload_of
from stakes.language.texts import texts
from stakes.tallies import ErrorSums
from stakes.views import report
from tests.views.pages import (
    CLASSES,
    EVIL,
    PAGES,
    class_rows,
    comparison,
    decision,
    many_classes,
    number_rows,
    numbers,
    permutation,
    policies,
    scored_rows,
)
from tests.views.test_report import data_of, gaps, keys_said, section, sentences, tones

pytestmark = pytest.mark.slow


def kinds(payload):
    return [one["kind"] for one in payload["sections"]]


# ── every page ───────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module", params=PAGES)
def payload(request):
    return payload_of(PAGES[request.param]())


@pytest.mark.spread(6)
def test_every_page_is_small_and_inert(payload):
    page = report.html(payload, "ru")
    assert len(page.encode()) < 1_000_000
    assert page.count("<script") == page.count("</script") == 2
    assert data_of(page)["page"] == json.loads(json.dumps(payload))


def test_what_is_said_fills_every_gap(payload):
    for text, values in said(payload):
        wanted = {name.partition(":")[0] for part in gaps(texts("en")[text]) for name in part}
        assert wanted <= set(values), text
        if isinstance(texts("en")[text], dict):
            assert "n" in values, text


def said(tree):
    if isinstance(tree, dict):
        if "key" in tree and "values" in tree:
            yield tree["key"], tree["values"]
        tree = list(tree.values())
    if isinstance(tree, list):
        for value in tree:
            yield from said(value)


def test_reports_are_written_through_the_front_door(tmp_path):
    decision().report(tmp_path / "decision.html", "es")
    stakes.report(permutation(), tmp_path / "chance.html")
    assert '<html lang="es">' in (tmp_path / "decision.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in (tmp_path / "chance.html").read_text(encoding="utf-8")
    stakes.report(many_classes().confusion, tmp_path / "table.html")  # a tally is evaluated
    with pytest.raises(stakes.InputError, match="there is no report page for a curve yet"):
        stakes.report(stakes.evaluate(truth=[0, 1, 1], score=[0.1, 0.7, 0.4]).curve("roc"), tmp_path / "no.html")


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
def test_the_matrix_is_that_of_scikit_learn():
    truth, score = class_rows()
    shown = section(payload_of(many_classes()), "matrix")
    expected = confusion_matrix(truth, score.argmax(1))
    assert shown["cells"] == expected.tolist()
    assert shown["totals"] == expected.sum(1).tolist()
    assert (shown["truths"], shown["decisions"]) == (list(CLASSES), list(CLASSES))


def test_of_many_classes_the_most_frequent_are_shown():
    truth, score = class_rows(6_000, 60)
    names = np.array([f"class {i}" for i in range(60)])
    payload = payload_of(stakes.evaluate(truth=names[truth], prediction=names[score.argmax(1)], classes=list(names)))
    shown = section(payload, "matrix")
    table = confusion_matrix(truth, score.argmax(1), labels=range(60))
    order = [int(name.split()[1]) for name in shown["truths"]]
    assert len(order) == 50
    assert shown["count"] == 60
    assert set(order) == set(np.argsort(-table.sum(1), kind="stable")[:50].tolist())
    assert shown["cells"] == table[np.ix_(order, order)].tolist()
    assert shown["totals"] == table.sum(1)[order].tolist()
    assert len(section(payload, "classes")["classes"]) == 50


def test_too_many_classes_for_a_table_still_have_a_matrix():
    rng = np.random.default_rng(2)
    truth, said = rng.integers(0, 4_000, 20_000), rng.integers(0, 4_000, 20_000)
    said[::2] = truth[::2]
    ev = stakes.evaluate(truth=[f"c{i}" for i in truth], prediction=[f"c{i}" for i in said])
    payload = payload_of(ev)
    assert kinds(payload) == ["verdict", "matrix", "confused", "figures"]
    assert "caution.too_many_classes" in keys_said(payload)
    shown = section(payload, "matrix")
    order = [int(name[1:]) for name in shown["truths"]]
    for place in (0, 17, 49):
        rows = truth == order[place]
        assert shown["totals"][place] == rows.sum()
        assert shown["cells"][place] == [int((said[rows] == code).sum()) for code in order]
    assert len(report.html(payload).encode()) < 1_000_000


def test_class_figures_and_their_mean_are_those_of_the_evaluation():
    ev = many_classes()
    shown = section(payload_of(ev), "classes")
    for place, name in enumerate(shown["metrics"]):
        assert shown["whole"][place]["value"] == ev[f"macro_{name}"].value
        for one, label in zip(shown["classes"], CLASSES, strict=True):
            figure = one["figures"][place]
            assert (figure["value"], figure["low"]) == (ev[name, label].value, ev.interval((name, label)).low)


def test_curves_of_a_class_pass_through_those_of_scikit_learn():
    truth, score = class_rows()
    shown = section(payload_of(many_classes()), "versus")["curves"]
    for i, curve in enumerate(shown):
        fpr, tpr, thresholds = roc_curve(truth == i, score[:, i], drop_intermediate=False)
        known = dict(zip(thresholds.tolist(), zip(tpr, fpr, strict=True), strict=True))
        for threshold, tp, fp in list(zip(curve["thresholds"], curve["tp"], curve["fp"], strict=True))[1:]:
            assert (tp / curve["P"], fp / curve["N"]) == pytest.approx(known[threshold], rel=1e-12)


def test_a_verdict_on_classes_follows_the_figures():
    ev = many_classes()
    payload = payload_of(ev)
    expected = {"better": "good", "believe": "good", "honest": "doubt", "cost": "open", "where": "note"}
    assert tones(payload) == {f"verdict.{name}": tone for name, tone in expected.items()}
    better = sentences(payload, "verdict.better")["verdict.better_accuracy"]
    assert (better["share"], better["always"]) == (ev["accuracy"].value, max(ev.support.values()) / ev.rows)
    assert better["majority"] == max(ev.support, key=ev.support.get)
    where = sentences(payload, "verdict.where")
    recalls = {name: ev["recall", name].value for name in CLASSES}
    assert where["verdict.where_class"]["name"] == min(recalls, key=recalls.get)
    truth, said, count, share = ev.most_confused(1)[0]
    confused = where["verdict.where_confused"]
    assert (confused["truth"], confused["decision"], confused["n"], confused["share"]) == (truth, said, count, share)


def test_dishonest_classes_are_counted():
    ev = many_classes()
    found = sentences(payload_of(ev), "verdict.honest")
    slopes = [ev.calibration[name].slope for name in CLASSES]
    shifts = [ev.calibration[name].intercept_at_slope_1 for name in CLASSES]
    expected = {
        "extreme": sum(one.high < 1 for one in slopes),
        "timid": sum(one.low > 1 for one in slopes),
        "high": sum(one.high < 0 for one in shifts),
        "low": sum(one.low > 0 for one in shifts),
    }
    told = {
        key.removeprefix("verdict.honest_classes_"): values["n"] for key, values in found.items() if "classes_" in key
    }
    assert told == {way: count for way, count in expected.items() if count}


def test_noise_between_classes_is_told_to_be_noise():
    rng = np.random.default_rng(4)
    payload = payload_of(stakes.evaluate(truth=rng.choice(list("abc"), 300), prediction=rng.choice(list("abc"), 300)))
    assert (tones(payload)["verdict.better"], tones(payload)["verdict.believe"]) in (
        ("doubt", "doubt"),
        ("bad", "doubt"),
    )
    assert {"caution.majority"} <= keys_said(payload)


def test_costs_of_classes_are_told_per_thousand():
    costs = stakes.Costs((1 - np.eye(4)).tolist(), CLASSES, CLASSES)
    ev = many_classes(costs=costs)
    payload = payload_of(ev)
    found = sentences(payload, "verdict.cost")
    assert tones(payload)["verdict.cost"] == "good"
    assert found["verdict.cost_spent"]["cost"] == pytest.approx(1000 * ev["expected_cost"].value)
    assert found["verdict.cost_always"]["cost"] == pytest.approx(1000 * ev["expected_cost"].baseline)


def test_an_abstaining_model_has_a_column_of_its_own():
    truth, score = class_rows()
    names = np.array(CLASSES)
    said = np.where(score.max(1) < 0.5, "unsure", names[score.argmax(1)])
    ev = stakes.evaluate(truth=names[truth], prediction=said, classes=list(CLASSES))
    shown = section(payload_of(ev), "matrix")
    column = shown["decisions"].index("unsure")
    by_name = {name: row[column] for name, row in zip(shown["truths"], shown["cells"], strict=True)}
    assert by_name == {name: int(((names[truth] == name) & (said == "unsure")).sum()) for name in CLASSES}


@pytest.mark.parametrize(
    "options",
    [{"weight": np.linspace(0.5, 2, 1_200)}, {"cluster": np.arange(1_200) // 20}],
    ids=["weights", "clusters"],
)
def test_other_rows_of_classes_have_a_page(options):
    ev = many_classes(**options)
    payload = json.loads(json.dumps(payload_of(ev)))
    assert np.sum(section(payload, "matrix")["cells"]) == pytest.approx(ev.rows)


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────
def test_few_rows_are_points_and_many_are_counted_on_a_grid():
    truth, prediction = number_rows(300)
    shown = section(payload_of(numbers(300)), "predicted")
    assert shown["predicted"] == {"x": truth.tolist(), "y": prediction.tolist()}
    assert shown["residuals"]["y"] == pytest.approx((truth - prediction).tolist())
    truth, prediction = number_rows()
    cloud = section(payload_of(numbers()), "predicted")["predicted"]
    across, up, counts = (np.array(one) for one in cloud["cells"])
    expected, *edges = np.histogram2d(truth, prediction, 48)
    assert cloud["edges"][0] == pytest.approx(edges[0].tolist())
    assert counts.sum() == 3_000
    assert (expected[across, up] == counts).all()


def test_means_of_tenths_have_students_intervals():
    truth, prediction = number_rows()
    shown = section(payload_of(numbers()), "predicted")["means"]
    order = np.argsort(prediction)
    for i, part in enumerate(np.split(order, 10)):
        error = (truth - prediction)[part]
        low, high = stats.t.interval(0.95, 299, error.mean(), stats.sem(error))
        assert shown["x"][i] == pytest.approx(prediction[part].mean())
        assert (shown["mean"][i], shown["low"][i], shown["high"][i]) == pytest.approx((error.mean(), low, high))


def test_errors_are_counted_once_inside_or_outside_of_the_picture():
    truth, prediction = number_rows()
    shown = section(payload_of(numbers()), "errors")
    error, edges = truth - prediction, np.array(shown["edges"])
    assert sum(shown["counts"]) + shown["below"] + shown["above"] == 3_000
    assert shown["below"] == (error < edges[0]).sum() > 0
    assert shown["above"] == (error > edges[-1]).sum() > 0
    assert shown["counts"][7] == ((error >= edges[7]) & (error < edges[8])).sum()


def test_rows_that_are_gone_are_seen_through_their_picture(monkeypatch):
    ev = numbers()
    seen = payload_of(ev)
    monkeypatch.setattr("stakes.findings.pictures._MANY", 100)
    payload = payload_of(ev)
    shown, exact = section(payload, "predicted"), section(seen, "predicted")
    assert sum(shown["predicted"]["cells"][2]) == pytest.approx(3_000)
    assert "low" not in shown["means"]
    assert shown["means"]["x"] == pytest.approx(exact["means"]["x"], rel=0.03)
    assert shown["means"]["mean"][-1] == pytest.approx(exact["means"]["mean"][-1], abs=0.6)
    errors, counted = section(payload, "errors"), section(seen, "errors")
    assert errors["edges"][0] == pytest.approx(counted["edges"][0], rel=0.1)
    assert sum(errors["counts"]) + errors["below"] + errors["above"] == pytest.approx(3_000, abs=25)
    assert not errors["counted"]
    centres = [np.average(np.array(one["edges"][1:]), weights=one["counts"]) for one in (errors, counted)]
    assert centres[0] == pytest.approx(centres[1], abs=0.2)


def test_boxes_of_the_picture_hold_their_rows():
    truth, prediction = number_rows(500)
    lower, upper, counts = ErrorSums.from_rows(truth, prediction).boxes()
    for low, high, count in zip(lower, upper, counts, strict=True):
        inside = (low[0] <= truth) & (truth < high[0]) & (low[1] <= prediction) & (prediction < high[1])
        assert inside.sum() == count


def test_a_verdict_on_numbers_follows_the_figures():
    ev = numbers()
    payload = payload_of(ev)
    expected = {"better": "good", "believe": "good", "shifted": "doubt", "where": "note"}
    assert tones(payload) == {f"verdict.{name}": tone for name, tone in expected.items()}
    better = sentences(payload, "verdict.better")["verdict.better_mean"]
    assert better["error"] == ev["mean_absolute_error"].value
    assert better["always"] == ev["mean_absolute_error"].baseline
    assert sentences(payload, "verdict.shifted")["verdict.shifted_low"]["size"] == abs(ev["mean_error"].value)
    worst = sentences(payload, "verdict.where")["verdict.where_largest"]
    assert (worst["row"], worst["truth"]) == (ev.largest_errors[0].row + 1, ev.largest_errors[0].truth)


def test_shifted_scaled_and_dominated_predictions_are_pointed_out():
    truth = np.random.default_rng(0).normal(size=400)
    shifted = payload_of(stakes.evaluate(truth=truth, prediction=truth + 3))
    assert tones(shifted)["verdict.better"] == "bad"
    assert {"caution.r_above_r2", "verdict.better_worse"} <= keys_said(shifted)
    wild = truth.copy()
    wild[0] += 500
    assert "caution.few_large_errors" in keys_said(payload_of(stakes.evaluate(truth=truth, prediction=wild)))
    noisy = truth + 0.1 * np.random.default_rng(1).normal(size=400)
    high = payload_of(stakes.evaluate(truth=truth, prediction=noisy + 0.1))
    assert "verdict.shifted_high" in keys_said(high)


def test_perfect_numbers_are_suspicious():
    truth = np.arange(100) + 0.5
    payload = payload_of(stakes.evaluate(truth=truth, prediction=truth.copy()))
    asked = ("better", "believe", "shifted")
    assert [tones(payload)[f"verdict.{name}"] for name in asked] == ["good", "doubt", "good"]
    assert {"verdict.believe_perfect", "caution.own_truth"} <= keys_said(payload)
    nearly = payload_of(stakes.evaluate(truth=truth, prediction=truth + np.tile([0.1, -0.1], 50)))
    assert "caution.perfect_figure" in keys_said(nearly)


def test_the_worst_segment_of_errors_has_the_largest_ones():
    truth, prediction = number_rows()
    by = np.where(np.arange(3_000) % 2, "odd", "even")
    prediction = np.where(by == "odd", prediction + 9, prediction)
    ev = stakes.evaluate(truth=truth, prediction=prediction, by=by)
    found = sentences(payload_of(ev), "verdict.where")["verdict.where_above"]
    assert found["segment"] == "odd"
    assert found["value"] == ev.segments["odd"]["mean_absolute_error"].value


@pytest.mark.parametrize("n", [1, 2, 5])
def test_odd_numbers_have_a_page(n):
    for truth in (np.arange(n) + 0.5, np.full(n, 1.5)):
        for options in ({}, {"weight": np.linspace(0.5, 1, n)}):
            ev = stakes.evaluate(truth=truth, prediction=truth * 1.1, task="regression", **options)
            report.html(payload_of(ev))


# ── comparison ───────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_comparison_says_no_more_than_its_intervals():
    compared = comparison()
    payload = payload_of(compared)
    named = [
        one for one in section(payload, "verdict")["answers"] if one["question"]["values"]["name"]["metric"] == "auc"
    ]
    which, margin = named
    assert [one["question"]["key"] for one in named] == ["compared.which", "compared.margin"]
    best = {one["key"]: one["values"] for one in which["sentences"]}
    sure = [pair.second for pair in compared.pairs if pair.metric == "auc" and pair.first == "boosting"]
    assert best["compared.surely_better"]["models"] == sure
    assert all(compared.pair("boosting", other).told_apart(0.95) for other in sure)
    shown = [one["values"] for one in margin["sentences"] if one["key"] == "compared.shown"]
    expected = {(p.first, p.second) for p in compared.pairs if p.metric == "auc" and p.not_inferior}
    expected |= {(p.second, p.first) for p in compared.pairs if p.metric == "auc" and p.second_not_inferior}
    assert {(one["one"], one["other"]) for one in shown} == expected


def test_differences_ranking_and_agreement_are_those_of_the_comparison():
    compared = comparison()
    payload = payload_of(compared)
    shown = section(payload, "differences")
    assert shown["margin"] == 0.02
    for found in shown["metrics"]:
        for pair in found["pairs"]:
            expected = compared.pair(pair["first"], pair["second"], found["metric"])
            assert (pair["first"], pair["difference"]) == (expected.first, expected.difference)
            assert (pair["low"], pair["adjusted_p_value"]) == (expected.low, expected.adjusted_p_value)
    places = section(payload, "ranking")["tables"][0]["places"]
    assert [one["model"] for one in places] == [p.model for p in compared.table if p.metric == "auc"]
    flips = section(payload, "agreement")["pairs"][0]
    assert flips["only_first_right"] == compared.pairs[0].flipped.only_first_right


def test_two_models_are_told_apart_or_not():
    truth, scores = scored_rows()
    two = {"a": scores["boosting"], "b": scores["boosting"] + 0.0}
    same = payload_of(stakes.compare(truth=truth, scores=two, positive="sick"))
    assert "compared.same" in keys_said(same)
    two["b"] = scores["stump"]
    apart = payload_of(stakes.compare(truth=truth, scores=two, positive="sick", metric=["auc", "log_loss"]))
    assert {"compared.higher", "compared.lower", "compared.tiny_p"} <= keys_said(apart)
    rng = np.random.default_rng(0)
    noise = stakes.compare(truth=rng.integers(0, 2, 80), scores={"a": rng.random(80), "b": rng.random(80)})
    assert {"compared.alike", "compared.p"} <= keys_said(payload_of(noise))


def test_all_kinds_of_comparisons_have_a_page():
    truth, prediction = number_rows(200)
    of_numbers = stakes.compare(truth=truth, predictions={"line": prediction, "mean": np.full(200, truth.mean())})
    assert kinds(payload_of(of_numbers)) == ["verdict", "differences", "ranking"]
    rng = np.random.default_rng(0)
    many = {f"model {i}": rng.random(100) for i in range(12)}
    crowd = payload_of(stakes.compare(truth=rng.integers(0, 2, 100), scores=many, resamples=100))
    assert (len(section(crowd, "together")["curves"]), section(crowd, "together")["count"]) == (6, 12)
    assert (len(section(crowd, "differences")["metrics"][0]["pairs"]), section(crowd, "differences")["count"]) == (
        50,
        66,
    )
    own = {"a": ([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5]), "b": ([0, 1, 0, 1], [0.4, 0.5, 0.6, 0.7])}
    assert "compared.own_rows" in keys_said(payload_of(stakes.compare(scores=own, paired=False)))
    endless = {"a": [0.0, 0.0, 1.0, 0.2, 0.3], "b": [0.1, 0.2, 0.3, 0.4, 0.5]}
    lost = payload_of(stakes.compare(truth=[0, 1, 1, 0, 1], scores=endless, metric="log_loss"))
    assert "compared.undefined" in keys_said(lost)
    report.html(lost)


# ── chance ───────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_null_distribution_holds_every_shuffle():
    test = permutation()
    payload = payload_of(test)
    shown = section(payload, "null")
    assert sum(shown["counts"]) == 400
    assert shown["counts"] == np.histogram(test.null, 40)[0].tolist()
    assert (shown["value"], shown["p_value"]) == (test.value, test.p_value)
    assert shown["mean"] == pytest.approx(test.null.mean())
    assert {"chance.none_did", "chance.smallest", "chance.unlikely"} <= keys_said(payload)


def test_chance_is_told_in_words():
    rng = np.random.default_rng(0)
    noise = stakes.permutation_test(truth=rng.integers(0, 2, 60), score=rng.random(60), permutations=99)
    payload = payload_of(noise)
    assert list(tones(payload).values()) == ["doubt"]
    some = sentences(payload, "chance.question")["chance.some"]
    assert some["times"] == (noise.null >= noise.value).sum()
    exact = stakes.permutation_test(truth=[1] * 9 + [0] * 9, prediction=[1] * 9 + [0] * 9)
    assert kinds(payload_of(exact)) == ["verdict"]
    assert {"chance.exact", "chance.hardly"} <= keys_said(payload_of(exact))


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_decision_tells_its_threshold_costs_and_doubts():
    found = decision()
    payload = payload_of(found)
    assert sentences(payload, "decided.what")["decided.from"]["threshold"] == found.shown(found.recommended[0])
    assert sentences(payload, "decided.price")["decided.cost"]["cost"] == pytest.approx(1000 * found.cost.value)
    saving = found.savings[found.constant]
    assert sentences(payload, "decided.evidence")["decided.earns"]["saving"] == pytest.approx(1000 * saving.value)
    firm = sentences(payload, "decided.firm")
    assert firm["decided.alike"]["high"] == found.shown(found.alike[0][-1][1])
    assert (firm["decided.ratio"]["low"], firm["decided.ratio"]["high"]) == found.cost_ratio
    assert sentences(payload, "decided.labels")["decided.labels_worth"]["cost"] == pytest.approx(
        1000 * found.worth_of_labels
    )


def test_costs_at_every_threshold_are_those_of_the_table():
    found = decision()
    shown = section(payload_of(found), "thresholds")
    truth, scores = scored_rows()
    sick = truth == "sick"
    for threshold, cost in list(zip(shown["x"], shown["y"], strict=True))[::20]:
        called = scores[EVIL] >= threshold
        expected = (5 * (sick & ~called).sum() + (~sick & called).sum()) / len(sick)
        assert cost == pytest.approx(1000 * expected)
    assert min(shown["y"]) == pytest.approx(1000 * found.apparent.value)


def test_ways_to_decide_are_named_and_priced():
    found = decision()
    shown = section(payload_of(found), "ways")["ways"]
    assert shown[0]["name"]["key"] == "way.recommended"
    by_name = {(one["name"]["key"], one["name"]["values"].get("decision")): one for one in shown}
    always = by_name["way.always", "sick"]
    assert always["figure"]["value"] == pytest.approx(1000 * found.alternatives["always sick"].value)
    assert always["saving"]["low"] == pytest.approx(1000 * found.savings["always sick"].low)


def test_other_questions_about_thresholds_have_a_page():
    by_figure = payload_of(decision(best="recall >= 0.9"))
    assert kinds(by_figure) == ["verdict", "explorer", "thresholds"]
    assert keys_said(by_figure) & {"decided.kept", "decided.not_kept"}
    three = stakes.Costs([[0, 1, 6], [9, 3, 0]], ["well", "sick"], ["home", "tests", "treat"])
    steps = payload_of(decision(costs=three))
    assert kinds(steps) == ["verdict", "explorer", "ways"]
    assert {"decided.first", "decided.step", "decided.alike_of", "decided.bayes_of"} <= keys_said(steps)
    rng = np.random.default_rng(0)
    costs = stakes.Costs(miss=5, false_alarm=1)
    noise = stakes.decide(truth=rng.integers(0, 2, 60), score=rng.normal(size=60), costs=costs)
    assert "decided.no_bayes" in keys_said(payload_of(noise))
    upside_down = np.arange(400) % 2
    worse = stakes.decide(truth=upside_down, score=0.9 - 0.5 * upside_down - 0.4 * rng.random(400), costs=costs)
    assert {"decided.everyone", "decided.no_threshold"} <= keys_said(payload_of(worse)) or worse.worse is False


def test_a_figure_flatters_only_where_it_is_better():
    found = decision(best="recall >= 0.9")
    said = keys_said(payload_of(found))
    flattered = found.apparent.value > found.corrected.value
    assert ("decided.figure_flatters" in said) == flattered
    assert ("decided.figure_here" in said) != flattered


def test_policies_have_a_page():
    found = policies()
    shown = section(payload_of(found), "ways")["ways"]
    assert len(shown) == len(found.estimates)
    assert shown[0]["figure"]["value"] == pytest.approx(1000 * found.estimates[found.best].value)
    assert re.search("decided.by_|decided.everyone", " ".join(keys_said(payload_of(found))))
