"""What decide answers the owner of a decision: whom it finds and alarms, what that costs, and when nothing changes."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import stakes
from stakes.decisions.thresholds.digits import round_threshold
from stakes.findings.pages import payload_of
from stakes.language import speaking
from stakes.language.sentences import money, sentence
from stakes.tallies import ScoreTable
from stakes.uncertainty.interval import wilson

COSTS = stakes.Costs(miss=9, false_alarm=1)


def chance(x):
    return 1 / (1 + np.exp(-np.asarray(x)))


def patients(n=800, seed=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(-1.5, 1.5, n)
    return chance(x), np.where(rng.random(n) < chance(x), "ill", "well")


def decided(costs=COSTS, **options):
    p, truth = patients()
    return stakes.decide(truth=truth, score=p, positive="ill", costs=costs, **options)


def sentences(found):
    return {one.key.rpartition(".")[2]: one.values for finding in found.findings for one in finding.sentences}


# ── how many are found, how many alarmed ─────────────────────────────────────────────────────────────────────────
def test_the_page_begins_with_what_the_owner_asks():
    choice = decided()
    assert [one.key for one in choice.findings][:3] == ["decided.what", "decided.who", "decided.alarms"]
    p, truth = patients()
    ill, called = truth == "ill", p >= 0.1
    said = sentences(choice)
    assert said["from"]["threshold"] == 0.1
    assert said["who_found"]["found"] == round(100 * called[ill].mean())
    assert said["who_found"]["alarmed"] == round(100 * called[~ill].mean())
    low, high = wilson(called[ill].mean(), ill.sum(), 0.95)
    assert (said["who_found"]["found_low"], said["who_found"]["found_high"]) == (round(100 * low), round(100 * high))
    assert said["alarms_of"]["alarms"] == round(1000 * called.mean())
    assert said["alarms_of"]["right"] == round(100 * ill[called].mean())
    assert str(choice).index("Of 100 “ill” cases") < str(choice).index("Ways to decide")


def test_the_decision_holds_its_evaluation_and_its_table():
    choice = decided()
    p, truth = patients()
    assert choice.table.tp == ((p >= 0.1) & (truth == "ill")).sum()
    assert choice.evaluation.threshold == choice.recommended[0]
    assert choice.evaluation["expected_cost"].value == pytest.approx(choice.cost.value)
    assert choice.figures["precision"] == choice.evaluation["precision"]
    saved = json.loads(choice.to_json())
    assert saved["table"]["counts"] == choice.table.counts.tolist()
    assert saved["figures"]["recall"]["low"] == choice.figures["recall"].low
    assert pickle.loads(pickle.dumps(choice)).table.counts.tolist() == choice.table.counts.tolist()


def test_alarms_are_told_for_the_deployment():
    choice = decided(prior=0.02, training_prior="rows")
    hits, alarms = (choice.evaluation[name].value for name in ("recall", "false_positive_rate"))
    rate = 0.02 * hits + 0.98 * alarms
    assert choice.figures["alarm_rate"].value == pytest.approx(rate)
    right = choice.figures["precision"]
    assert right.value == pytest.approx(0.02 * hits / rate)
    assert right.low < right.value < right.high
    assert sentences(choice)["deployed"]["share"] == 0.02


def test_nobody_is_alarmed():
    p, truth = patients(200)
    choice = stakes.decide(truth=truth, score=p, positive="ill", costs=stakes.Costs(miss=1, false_alarm=500))
    assert "alarms_none" in sentences(choice)
    assert choice.table.tp == 0


def test_several_decisions_say_who_gets_which():
    costs = stakes.Costs({"well": {"home": 0, "tests": 1, "operate": 4}, "ill": {"home": 20, "tests": 5, "operate": 0}})
    choice = decided(costs)
    table = choice.table
    assert table.decisions == ("home", "tests", "operate")
    assert table.total == 800
    told = [one.values for one in next(f for f in choice.findings if f.key == "decided.who_each").sentences]
    ill = {one.values["decision"]: one.values["cases"] for one in told[0]["shares"]}
    row = table.counts[table.truths.index("ill")]
    assert ill["operate"] == round(100 * row[2] / row.sum())
    surely = next(one.values for one in told[0]["shares"] if one.values["decision"] == "operate")
    limits = binomtest(int(row[2]), int(row.sum())).proportion_ci(method="wilson")
    assert [surely["cases_low"], surely["cases_high"]] == [round(100 * limits.low), round(100 * limits.high)]
    assert choice.evaluation["expected_cost"].value == pytest.approx(choice.cost.value)


def test_the_page_has_the_controls_of_threshold_and_costs():
    (explorer,) = [one for one in payload_of(decided())["sections"] if one["kind"] == "explorer"]
    assert explorer["threshold"] == 0.1
    assert explorer["costs"]["matrix"] == [[0, 1], [9, 0]]
    by_figure = stakes.decide(truth=[0, 1, 1, 0, 1, 0], score=[0.1, 0.9, 0.8, 0.3, 0.4, 0.6], best="f1")
    assert "explorer" in [one["kind"] for one in payload_of(by_figure)["sections"]]


# ── what need not change ─────────────────────────────────────────────────────────────────────────────────────────
def test_a_threshold_that_cannot_be_told_from_the_best_stays():
    rng = np.random.default_rng(3)
    p = rng.random(400)
    truth = rng.random(400) < p
    choice = stakes.decide(truth=truth, score=p, best="accuracy")
    low, high = choice.alike[0][0][0], choice.alike[0][-1][1]
    assert low <= 0.5 <= high
    assert choice.threshold != 0.5
    assert choice.recommended == (0.5,)
    assert choice.kept == 0.5
    said = sentences(choice)
    assert said["from"]["threshold"] == 0.5
    assert "keep" in said
    assert "by_figure" not in said
    assert said["figure_in_use"]["value"] == pytest.approx(np.mean((p >= 0.5) == truth))


@pytest.mark.slow
def test_the_threshold_in_use_stays_where_probabilities_mislead():
    """Probabilities that are all too low: Bayes's threshold is wrong, and the one in use is as good as the best."""
    p, truth = patients()
    low = chance(np.log(p / (1 - p)) - 3)
    best = stakes.decide(truth=truth, score=low, positive="ill", costs=COSTS)
    assert not best.bayes_is_alike
    near = best.threshold * 0.98
    choice = stakes.evaluate(truth=truth, score=low, positive="ill", threshold=near).decide(COSTS)
    assert choice.recommended == (near,)
    assert choice.cost == choice.alternatives[f"threshold {near:g}"]
    saved = choice.savings["always ill"].value
    assert saved == pytest.approx(choice.alternatives["always ill"].value - choice.cost.value)
    far = stakes.evaluate(truth=truth, score=low, positive="ill", threshold=0.9).decide(COSTS)
    assert far.recommended == far.thresholds
    ev = stakes.evaluate(truth=truth, score=low, positive="ill", threshold=near, costs=COSTS)
    assert "threshold_keep" in sentences(ev)


def test_bayes_threshold_goes_before_the_one_in_use():
    rng = np.random.default_rng(4)
    p = rng.beta(1, 1, 150)
    choice = stakes.decide(truth=rng.random(150) < p, score=p, costs=stakes.Costs(miss=5, false_alarm=4))
    assert choice.recommended == choice.bayes
    assert choice.kept == 0.5
    assert sentences(choice)["no_change"]["threshold"] == 0.5


def test_without_costs_no_threshold_is_ticked():
    p, truth = patients()
    (found,) = [one for one in stakes.evaluate(truth=truth, score=p, positive="ill").findings if "threshold" in one.key]
    assert found.tone == "open"
    assert [one.key for one in found.sentences] == ["verdict.threshold_no_costs", "verdict.threshold_in_use"]


# ── digits that matter ───────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("scores", "threshold", "digits"),
    [
        ([0.1, 0.2, 0.9], 1 / 6, 0.1667),
        ([0.1, 0.2, 0.9], 0.5, 0.5),
        ([0.16661, 0.16667, 0.9], 0.16667, 0.16667),  # 0.1667 would leave a row out, 0.1666 take one more in
        ([0.123, 0.123456, 0.9], 0.123456, 0.1234),
        ([0.99999, 0.9999994, 1.0], 0.9999994, 0.999999),
        ([12345.0, 23456.0], 23456.0, 23450.0),
        ([-3.14159, 2.0], -3.14159, -3.142),
        ([0.0, 1.0], np.inf, np.inf),
    ],
)
def test_thresholds_show_as_few_digits_as_decide_alike(scores, threshold, digits):
    table = ScoreTable.from_rows(scores, [i % 2 for i in range(len(scores))])
    assert round_threshold(table, threshold) == digits
    assert table.at(digits).tp == table.at(threshold).tp


def test_a_recommendation_shows_four_digits_everywhere():
    choice = decided(stakes.Costs(miss=5, false_alarm=1))
    assert choice.recommended == pytest.approx((1 / 6,))
    assert repr(choice) == "<Decision: 'ill' from 0.1667>"
    assert "from score 0.1667 on" in str(choice)
    assert "“ill” when score ≥ 0.1667" in str(choice.evaluation)
    assert "0.166666" not in str(choice)


# ── costs in a unit ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("lang", "unit", "words"),
    [
        ("en", "€", "€390"),
        ("es", "€", "390\xa0€"),
        ("ru", "€", "390\xa0€"),
        ("en", "minutes", "390\xa0minutes"),
        ("en", "", "390"),
    ],
)
def test_costs_are_written_in_their_unit(lang, unit, words):
    with speaking(lang):
        assert sentence("decided.cost_given", cost=money(390, unit)).words.startswith(words)
        assert sentence("decided.cost_given", cost=money(-390, unit)).words.startswith(f"−{words}")


@pytest.mark.parametrize(
    ("amount", "words"),
    [(1726.7, "€1,727"), (13.336, "€13.34"), (5.5, "€5.50"), (80, "€80"), (-0.1448, "−€0.145"), (0, "€0")],
)
def test_money_has_two_decimals_or_none(amount, words):
    assert money(amount, "€").words == words


def test_what_is_lost_is_not_called_saved():
    """A score of noise costs more than one decision for everybody; no sentence tells that as a negative saving."""
    rng = np.random.default_rng(0)
    truth, score = (rng.random(60) < 0.6).astype(int), rng.random(60)
    for lang in ("en", "es", "ru"):
        choice = stakes.decide(
            truth=truth, score=score, positive=1, costs=stakes.Costs(miss=5, false_alarm=2, unit="€"), lang=lang
        )
        told = [words for one in choice.findings for words in one.words]
        assert choice.savings_by_score[choice.constant].value < 0
        assert not any("−" in words for words in told), told
        assert "€−" not in str(choice)


def test_a_decision_speaks_in_the_unit_of_its_costs(tmp_path):
    file = tmp_path / "costs.toml"
    file.write_text('unit = "€"\nmiss = 9\nfalse_alarm = 1\n')
    choice = decided(stakes.Costs.from_toml(file))
    assert choice.costs.unit == "€"
    text = " ".join(str(choice).split())
    assert f"€{1000 * choice.cost.value:.2f} per 1,000 cases" in text
    assert "it saves €" in text
    assert "cost per 1,000, €" in text
    assert json.loads(choice.to_json())["costs"] == {"miss": 9.0, "false_alarm": 1.0, "unit": "€"}
    p, truth = patients()
    ev = stakes.evaluate(truth=truth, score=p, positive="ill", costs=choice.costs)
    assert "€" in next(one for one in ev.findings if one.key == "verdict.threshold").words[0]
    file.write_text('unit = "kg"\n[costs.a]\na = 0\nb = 1\n[costs.b]\na = 2\nb = 0\n')
    assert stakes.Costs.from_toml(file).data()["unit"] == "kg"
    file.write_text('unit = "kg"\n[utilities.a]\na = 3\nb = 1\n[utilities.b]\na = 2\nb = 4\n')
    assert stakes.Costs.from_toml(file).unit == "kg"
    file.write_text("[costs.unit]\nunit = 0\nb = 1\n[costs.b]\nunit = 2\nb = 0\n")
    assert stakes.Costs.from_toml(file).classes == ("unit", "b")  # a class of that name


@pytest.mark.parametrize("unit", [5, " €", "a\nb", "x" * 30])
def test_what_is_no_unit(unit):
    with pytest.raises(stakes.InputError, match="is no unit"):
        stakes.Costs(miss=1, false_alarm=1, unit=unit)


# ── several classes ──────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("cluster", [None, 5])
def test_policies_say_how_many_of_each_class_are_right(cluster):
    rng = np.random.default_rng(6)
    q = rng.dirichlet([1, 1, 2], 900)
    y = (q.cumsum(1) > rng.random((900, 1))).argmax(1)
    prices = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]])
    options = {"truth": np.array(list("abc"))[y], "score": {n: q[:, i] for i, n in enumerate("abc")}}
    groups = {} if cluster is None else {"cluster": np.arange(900) // cluster}
    found = stakes.decide(costs=stakes.Costs(prices.tolist(), "abc", unit="$"), **options, **groups)
    taken = (q @ prices).argmin(1)
    assert found.best == "the costs and the probabilities"
    assert found.table.counts.tolist() == [[int(((y == c) & (taken == d)).sum()) for d in range(3)] for c in range(3)]
    for c, name in enumerate("abc"):
        right = found.right[name]
        assert right.value == pytest.approx(np.mean(taken[y == c] == c))
        low, high = wilson(right.value, (y == c).sum(), 0.95)
        assert (right.high - right.low) / (high - low) == pytest.approx(1, abs=1e-9 if cluster is None else 0.3)
    assert [one.key for one in found.findings][:2] == ["decided.how", "decided.right"]
    told = [one.values for one in found.findings[1].sentences]
    assert told[0]["name"] == min("abc", key=lambda name: found.right[name].value)
    assert f"${1000 * found.estimates[found.best].value:.5g}" in str(found)
    assert json.loads(found.to_json())["right"]["a"]["value"] == pytest.approx(found.right["a"].value)


@pytest.mark.parametrize(
    ("saves", "key", "tone"),
    [
        ((0.01, 0.2, 0.3), "helps", "doubt"),
        ((-0.3, -0.2, -0.01), "hurts", "good"),
        ((-0.001, 0.0, 0.001), "idle", "good"),
        ((-0.5, 0.1, 0.6), "unsure", "doubt"),
    ],
)
def test_recalibration_of_several_classes_is_told_by_what_it_surely_saves(saves, key, tone):
    rng = np.random.default_rng(6)
    q = rng.dirichlet([1, 1, 2], 90)
    truth = np.array(list("abc"))[(q.cumsum(1) > rng.random((90, 1))).argmax(1)]
    prices = stakes.Costs([[0, 1, 4], [2, 0, 1], [9, 3, 0]], "abc")
    found = stakes.decide(truth=truth, score={n: q[:, i] for i, n in enumerate("abc")}, costs=prices)
    low, value, high = saves
    saved = replace(found.recalibrations[found.method], low=low, value=value, high=high)
    (honest,) = [
        one for one in replace(found, recalibrations={found.method: saved}).findings if one.key == "decided.honest"
    ]
    assert (honest.sentences[0].key, honest.tone) == (f"decided.recalibration_{key}", tone)


# ── what the verdict on scores with costs calls cheapest ─────────────────────────────────────────────────────────
def paid(truth, score, threshold, miss, alarm):
    return (miss * ((truth == 1) & (score < threshold)) + alarm * ((truth == 0) & (score >= threshold))).mean()


def random_file(seed):
    """Scores more or less honest, and costs."""
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(80), 2)
    truth = (rng.random(80) < p ** rng.choice([0.3, 1, 3])).astype(int)
    return truth, p, float(rng.choice([1, 3, 20])), float(rng.choice([1, 4]))


@pytest.mark.slow
def test_only_the_cheapest_threshold_is_called_cheapest():
    told = set()
    for seed in range(14):
        truth, p, miss, alarm = random_file(seed)
        costs = stakes.Costs(miss=miss, false_alarm=alarm)
        ev = stakes.evaluate(truth=truth, score=p, positive=1, costs=costs)
        (said,) = [one.sentences[0] for one in ev.findings if one.key == "verdict.threshold"]
        told.add(said.key.rpartition("_")[2])
        least = min(paid(truth, p, start, miss, alarm) for start in [*p, np.inf])
        if said.key == "verdict.threshold_best":
            assert paid(truth, p, said.values["threshold"], miss, alarm) == pytest.approx(least)
        elif said.key == "verdict.threshold_bayes":
            assert said.values["threshold"] == pytest.approx(alarm / (alarm + miss), abs=1e-3)
            at_bayes = 1000 * paid(truth, p, alarm / (alarm + miss), miss, alarm)
            assert said.values["cost"] == pytest.approx(at_bayes)
    assert {"best", "bayes"} <= told


# ── when the model does not pay ──────────────────────────────────────────────────────────────────────────────────
@pytest.mark.slow
def test_what_is_recommended_never_looks_dearer_than_a_constant_and_agrees_with_itself():
    seen = set()
    for seed in range(12):
        truth, p, miss, alarm = random_file(seed)
        p = np.random.default_rng(seed).permutation(p) if seed % 2 else p
        choice = stakes.decide(
            truth=truth, score=p, positive=1, costs=stakes.Costs(miss=miss, false_alarm=alarm), harm=seed % 3 / 10
        )
        always = {"always 0": miss * truth.mean(), "always 1": alarm * (1 - truth.mean())}
        cheapest = min(always, key=always.get)
        assert choice.cost.value <= always[cheapest] * (1 + 1e-9)
        called = p >= choice.recommended[0]
        assert choice.table.counts.tolist() == [[sum((truth == t) & (called == c)) for c in (0, 1)] for t in (0, 1)]
        found = json.loads(choice.to_json())
        seen.add((choice.for_everyone, choice.constant))
        said = sentences(choice)
        assert "loses" not in said or choice.for_everyone
        if not choice.for_everyone:
            continue
        assert choice.constant == cheapest
        assert found["recommended"] == ["-Infinity" if cheapest == "always 1" else "Infinity"]
        assert said["everyone"] == {"decision": cheapest[-1]}
        assert said["who_found"]["alarmed"] == said["who_found"]["found"] == (100 if cheapest == "always 1" else 0)
        assert (found["kept"], choice.chosen) == (None, False)
        assert not {"lowest", "from", "keep", "flatters", "labels_worth", "unseen"} & {*said}
        for name, one in choice.savings.items():
            assert one.value == pytest.approx(choice.alternatives[name].value - choice.cost.value)
        payload_of(choice)
    assert seen == {(model, f"always {name}") for model in (True, False) for name in (0, 1)}


def test_several_decisions_may_be_one_for_everyone():
    costs = stakes.Costs({"well": {"home": 0, "tests": 1, "operate": 9}, "ill": {"home": 20, "tests": 1, "operate": 0}})
    truth = np.where(np.random.default_rng(1).random(90) < 0.4, "ill", "well")
    noise = np.random.default_rng(2).random(90)
    choice = stakes.decide(truth=truth, score=noise, positive="ill", costs=costs)
    assert choice.recommended == (-np.inf, np.inf)
    assert sentences(choice)["everyone"] == {"decision": "tests"}
    assert choice.table.counts.sum(axis=0).tolist() == [0, 90, 0]
    assert choice.cost.value == 1


def test_bayes_thresholds_that_are_surely_better_are_not_called_chance():
    choice = decided()
    surely = replace(choice.miscalibration, value=-0.4, low=-0.7, high=-0.1)
    (honest,) = [one for one in replace(choice, miscalibration=surely).findings if one.key == "decided.honest"]
    assert (honest.tone, honest.sentences[0].key) == ("good", "decided.well_led")
    assert honest.sentences[0].values["cost"] == 400


@pytest.mark.parametrize("lang", ["en", "es", "ru"])
def test_where_nearly_all_weight_is_on_one_row_no_brackets_are_empty(lang):
    random = np.random.default_rng(1)
    truth = (random.random(100) < 0.4).astype(int)
    score = 1 / (1 + np.exp(-truth - random.normal(size=100)))
    weight = np.where(np.arange(100) == 0, 1e9, 1.0)
    ev = stakes.evaluate(truth=truth, score=score, weight=weight, lang=lang)
    found = ev.decide(stakes.Costs(miss=5, false_alarm=1))
    assert found.figures["recall"].low is None
    (who,) = [one for one in found.findings if one.key == "decided.who"]
    assert "(" not in who.words[0]
    assert (ev["calibration_slope"].low, ev["calibration_slope"].no_interval) == (None, "a class has a single row")


def test_costs_by_row_say_whether_a_threshold_or_each_row_decides():
    rows = {"y": [0, 0, 1, 1, 0, 1], "p": [0.1, 0.4, 0.35, 0.8, 0.2, 0.05], "amount": [5.0, 1, 3, 9, 2, 8]}
    asked = {"truth": "y", "score": "p", "costs": stakes.Costs(miss="amount", false_alarm=1)}
    fixed, by_row = stakes.evaluate(rows, **asked, threshold=0.3), stakes.evaluate(rows, **asked)
    said = [
        {one.key.removeprefix("verdict."): one.values for found in ev.findings for one in found.sentences}
        for ev in (fixed, by_row)
    ]
    assert said[0]["threshold_fixed_by_row"]["threshold"] == 0.3
    assert "threshold_by_row" not in said[0]
    assert "threshold_by_row" in said[1]
    assert fixed["expected_cost"].value == pytest.approx((1 + 8) / 6)  # an alarm at 0.4, and the 8 of 0.05 missed
    assert by_row["expected_cost"].value == pytest.approx((0 + 8) / 6)  # p · amount < (1 − p) there, and at 0.4


def test_deciding_each_row_by_its_own_costs_is_a_way_and_said_where_it_is_cheaper():
    rng = np.random.default_rng(5)
    p, amount = rng.random(400), rng.choice([1.0, 50.0], 400)
    ill = rng.random(400) < p
    rows = {"y": ill.astype(int), "p": p, "amount": amount}
    asked = {"truth": "y", "score": "p", "costs": stakes.Costs(miss="amount", false_alarm=5)}
    choice = stakes.decide(rows, **asked)
    called = p * amount > (1 - p) * 5
    paid = np.where(called, ~ill * 5, ill * amount).mean()
    way = choice.alternatives["each row by its own costs"]
    assert way.value == pytest.approx(paid)
    evaluated = stakes.evaluate(rows, **asked)["expected_cost"]
    assert (way.low, way.high) == (evaluated.low, evaluated.high)
    assert paid < choice.cost.value
    assert sentences(choice)["but_by_row"]["cost"] == pytest.approx(1000 * paid)
    assert choice.findings[0].tone == "doubt"
    logits = stakes.decide({**rows, "p": 9 * p - 4}, **asked)  # no probabilities, so no row knows its own switch
    assert "each row by its own costs" not in logits.alternatives


def test_several_decisions_are_all_in_the_headline():
    p, truth = patients()
    costs = stakes.Costs([[0, 2, 60], [100, 5, 0]], ["well", "ill"], ["home", "tests", "operate"])
    choice = stakes.decide(truth=truth, score=p, positive="ill", costs=costs)
    lead, (first, second) = choice.findings[0].words[0], choice.recommended
    assert lead.startswith("“home” for the lowest scores, “tests” from score ")
    assert [float(word) for word in lead.split() if word[0].isdigit()] == [choice.shown(first), choice.shown(second)]
    who = choice.findings[1].words
    assert [words.partition(" cases")[0] for words in who] == ["Of 100 “ill”", "Of 100 “well”"]
    operated = np.mean((p >= second)[truth == "ill"])
    assert f"{round(100 * operated)} get “operate”" in who[0]
    (verdict, *_) = payload_of(choice)["sections"]
    assert len(verdict["answers"][0]["sentences"][0]["values"]["steps"]) == 3


def test_a_score_that_orders_nothing_has_no_certain_threshold_and_no_infinite_cost():
    choice = stakes.decide(truth=[1] * 30 + [0] * 70, score=[0.5] * 100, costs=COSTS)
    found = {one.key: one for one in choice.findings}
    assert (found["decided.firm"].tone, found["decided.firm"].words) == ("open", ["No threshold is recommended."])
    assert found["decided.honest"].words[0].startswith("They decide these rows just as")
    assert "∞" not in " ".join(choice.sentences())


def test_no_price_is_below_0():
    for seed in range(3):
        p, truth = patients(200, seed)
        choice = stakes.decide(truth=truth, score=p, positive="ill", costs=COSTS)
        (honest,) = [one for one in choice.findings if one.key == "decided.honest"]
        below = choice.miscalibration.value < 0
        assert bool(honest.figures) is not below
        if honest.tone == "good":
            assert honest.sentences[0].key.endswith(("_less", "well_led")) is below


def test_what_the_rows_that_chose_the_threshold_tell_says_so():
    p, truth = patients(300)
    ranks = stakes.decide(truth=truth, score=100 * p, positive="ill", costs=COSTS)  # no probabilities: the rows choose
    assert ranks.chosen
    assert ranks.findings[1].words[0].endswith(", on the rows used to choose the threshold.")
    assert "Decisions on the rows used to choose the threshold\n" in str(ranks)
    assert "), on new" in str(ranks)
    bayes = decided()
    assert not bayes.chosen
    assert "used to choose" not in bayes.findings[1].words[0]
    assert "Decisions on the rows" not in str(bayes)
