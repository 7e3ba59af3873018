"""Systems read from rows: dependence kept, cascades, mixtures with tables, thresholds."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

import stakes
from stakes import Costs, InputError, JointCounts, System

SICK = ["sick", "healthy"]
PRICES = {("sick", "healthy"): 5.0, ("healthy", "sick"): 1.0}


def rows(n=2000, seed=0, models=3):
    """Models that err together: all of them find the same cases difficult."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    difficult = rng.random(n) < 0.3
    frame = {"y": np.where(truth, "sick", "healthy")}
    for i in range(models):
        wrong = rng.random(n) < np.where(difficult, 0.6 - 0.1 * i, 0.1 + 0.05 * i)
        frame[f"m{i}"] = np.where(truth ^ wrong, "sick", "healthy")
    return pd.DataFrame(frame)


def system(frame, rule="majority(m0, m1, m2)", models=("m0", "m1", "m2"), **options):
    costs = options.pop("costs", Costs(miss=5, false_alarm=1))
    options = {"truth": "y", "positive": "sick", **options}
    return System(
        frame, models=list(models) if not isinstance(models, dict) else models, decide=rule, costs=costs, **options
    )


def fused(frame, rule):
    return np.where(rule({name: frame[name].to_numpy() == "sick" for name in frame.columns if name != "y"}), *SICK)


def paid(truth, decided):
    return sum(cost * np.sum((truth == t) & (decided == d)) for (t, d), cost in PRICES.items())


RULES = {
    "majority(m0, m1, m2)": lambda m: m["m0"].astype(int) + m["m1"] + m["m2"] >= 2,
    "exactly(1, m0, m1, m2)": lambda m: m["m0"].astype(int) + m["m1"] + m["m2"] == 1,
    "m0 and (m1 or not m2)": lambda m: m["m0"] & (m["m1"] | ~m["m2"]),
    "m1 if m0 == 'sick' else m2": lambda m: np.where(m["m0"], m["m1"], m["m2"]),
}


@pytest.mark.parametrize("rule", RULES)
def test_component_costs_are_means_over_rows(rule):
    frame = rows()
    truth = frame["y"].to_numpy()
    found = system(frame, rule)
    assert found.cost == pytest.approx(paid(truth, fused(frame, RULES[rule])))
    for name in ("m0", "m1", "m2"):
        costs = found.component_costs(name)
        for c, j in itertools.product(range(2), range(2)):
            done = fused(frame.assign(**{name: SICK[j]}), RULES[rule])
            here = truth == SICK[c]
            assert costs.expected[c, j] == pytest.approx(paid(truth[here], done[here]) / here.sum())
        counts = [[np.sum((truth == t) & (frame[name] == s)) for s in SICK] for t in SICK]
        assert costs.of(counts) == pytest.approx((costs.evaluation, costs.excess_evaluation))
        assert costs.evaluation + costs.dependence == pytest.approx(found.cost)


def test_dependence_by_its_definition():
    frame = rows()
    found = system(frame)
    total = 0.0
    for t in SICK:
        part = frame[frame["y"] == t]
        n = len(part)
        for u1, u2, j in itertools.product(SICK, repeat=3):
            others = (part["m1"] == u1) & (part["m2"] == u2)
            says = part["m0"] == j
            decided = SICK[0] if [u1, u2, j].count("sick") >= 2 else SICK[1]
            gap = np.mean(others & says) - np.mean(others) * np.mean(says)
            total += n * gap * PRICES.get((t, decided), 0.0)
    assert abs(total) > 10
    assert found.component_costs("m0").dependence == pytest.approx(total)


def test_seeing_differs_from_doing_when_models_err_together():
    frame = rows()
    found = system(frame)
    beside = {(row["truth"], row["says"], row["decision"]): row for row in found.seeing_and_doing("m0")}
    part = frame[(frame["y"] == "sick")]
    decided = fused(part, RULES["majority(m0, m1, m2)"])
    seen = np.mean(decided[part["m0"] == "healthy"] == "sick")
    done = np.mean(fused(part.assign(m0="healthy"), RULES["majority(m0, m1, m2)"]) == "sick")
    row = beside["sick", "healthy", "sick"]
    assert row["seen"] == pytest.approx(seen)
    assert row["done"] == pytest.approx(done)
    assert done - seen > 0.05


def test_every_kind_of_rows_gives_the_same(tmp_path):
    frame = rows(300)
    frame.to_csv(tmp_path / "preds.csv", index=False)
    columns = {name: frame[name].to_numpy() for name in frame.columns}
    wanted = system(frame).to_json()
    assert system(str(tmp_path / "preds.csv")).to_json() == wanted
    assert system(pl.from_pandas(frame)).to_json() == wanted
    given = {name: columns[name] for name in ("m0", "m1", "m2")}
    assert system(None, truth=columns["y"], models=given).to_json() == wanted


def test_counts_instead_of_rows():
    frame = rows(300)
    first = system(frame)
    again = system(first.joint, truth=None, classes=SICK)
    assert again.cost == pytest.approx(first.cost)
    assert again.component_costs("m1").expected == pytest.approx(first.component_costs("m1").expected)
    turned = system(first.joint, truth=None, classes=SICK[::-1])
    assert turned.component_costs("m1").expected[::-1] == pytest.approx(first.component_costs("m1").expected)


def test_classes_that_are_numbers_have_a_positive_one():
    frame = pd.DataFrame({"y": [1, 0, 1, 0, 1], "a": [1, 0, 0, 1, 1], "b": [1, 1, 0, 0, 1]})
    found = System(frame, truth="y", models=["a", "b"], decide="a and b", costs=Costs(miss=5, false_alarm=1))
    assert found.positive == "1"
    assert found.cost == 5
    assert found.classes == ("1", "0")
    assert "by the label rule" in found.facts["positive"]


def test_other_pairs_ask_for_the_positive_class():
    with pytest.raises(InputError, match="pass positive='sick' or positive='healthy'"):
        system(rows(50), positive=None)


def test_a_model_that_never_says_a_class():
    frame = rows(200).assign(m2="healthy")
    found = system(frame)
    assert found.component_costs("m2").outputs == ("sick", "healthy")
    assert found.component_costs("m2").rates[0, 0].tolist() == [0, 1]


def test_prior_reweights_the_classes():
    frame = rows()
    plain, tilted = system(frame), system(frame, prior=0.5)
    costs = plain.component_costs("m0")
    per_class = [plain.network.cost_of_class(c) for c in range(2)]
    assert tilted.cost == pytest.approx(0.5 * sum(per_class))
    assert tilted.component_costs("m0").expected == pytest.approx(costs.expected)
    assert tilted.cases == {"sick": 0.5, "healthy": 0.5}


# ── a candidate by its table, others by rows ─────────────────────────────────────────────────────────────────────
def test_a_table_beside_rows_is_independent_given_the_class():
    frame = rows()
    table = {"sick": {"sick": 70, "healthy": 30}, "healthy": {"sick": 20, "healthy": 180}}
    found = system(frame, models={"m0": "m0", "m1": "m1", "m2": table})
    wanted = 0.0
    for t, rate in (("sick", 0.7), ("healthy", 0.1)):
        part = frame[frame["y"] == t]
        for says, p in (("sick", rate), ("healthy", 1 - rate)):
            wanted += p * paid(part["y"].to_numpy(), fused(part.assign(m2=says), RULES["majority(m0, m1, m2)"]))
    assert found.cost == pytest.approx(wanted)
    by_rows = system(frame)
    assert by_rows.bounds("m2", table).independent == pytest.approx(wanted)
    assert found.bounds("m2").best == pytest.approx(by_rows.bounds("m2", table).best)
    assert "m2 assumed independent" in found.facts["dependence"]
    assert "of m0 and m1 as in the rows" in found.facts["dependence"]


# ── cascades ─────────────────────────────────────────────────────────────────────────────────────────────────────
def cascade(shared: bool, n=40_000):
    """images → biopsy (sees images); a hidden difficulty of the case moves both when ``shared``."""
    counts = {}
    for c, difficult in itertools.product((1, 0), (1, 0)):
        p_difficult = 0.4 if difficult else 0.6
        wrong = 0.5 if difficult else 0.1
        for j, d in itertools.product((1, 0), repeat=2):
            p_j = wrong if j != c else 1 - wrong
            p_d = biopsy(c, j, difficult if shared else None, d)
            key = (c, j, d)
            counts[key] = counts.get(key, 0.0) + n * (0.3 if c else 0.7) * p_difficult * p_j * p_d
    table = [key for key, count in counts.items() for _ in range(round(count))]
    return pd.DataFrame(table, columns=["y", "images", "biopsy"])


def biopsy(c, j, difficult, d):
    """P(biopsy says d | class, what images say, difficulty): misled by images, more so in difficult cases."""
    misled = {1: 0.5, 0: 0.1, None: 0.25}[difficult]
    wrong = misled if j != c else misled / 5
    return wrong if d != c else 1 - wrong


def naive_and_true(c, j):
    """The cost of do(images = j) for class c when the decision is the biopsy's, and what rows seem to tell."""
    price = 5 if c else 1
    true = sum(p * biopsy(c, j, h, 1 - c) for h, p in ((1, 0.4), (0, 0.6)))
    wrong = {1: 0.5, 0: 0.1}
    weight = {h: p * (wrong[h] if j != c else 1 - wrong[h]) for h, p in ((1, 0.4), (0, 0.6))}
    naive = sum(w * biopsy(c, j, h, 1 - c) for h, w in weight.items()) / sum(weight.values())
    return price * naive, price * true


def cascaded(frame, **options):
    models = {"images": "images", "biopsy": {"column": "biopsy", "sees": "images"}}
    return System(frame, truth="y", models=models, decide="biopsy", costs=Costs(miss=5, false_alarm=1), **options)


def test_shared_difficulty_makes_the_naive_figure_wrong_and_the_range_holds_the_true_one():
    frame = cascade(shared=True)
    open_ = cascaded(frame).component_costs("images")
    naive = cascaded(frame, shared_difficulty=False).component_costs("images")
    assert np.isnan(open_.expected).all()
    assert "may find the same cases difficult" in open_.notes[0]
    for c, j in itertools.product((1, 0), (1, 0)):
        seems, is_so = naive_and_true(c, j)
        place = (1 - c, 1 - j)  # the positive class comes first
        assert naive.expected[place] == pytest.approx(seems, rel=1e-2)
        assert open_.at_least[place[0], 0, place[1]] <= is_so <= open_.at_most[place[0], 0, place[1]]
        if j != c:
            assert abs(seems - is_so) > 0.1 * is_so


def test_without_shared_difficulty_rows_tell_the_do_cost():
    frame = cascade(shared=False)
    costs = cascaded(frame, shared_difficulty=False).component_costs("images")
    for c, j in itertools.product((1, 0), (1, 0)):
        wanted = (5 if c else 1) * biopsy(c, j, None, 1 - c)
        assert costs.expected[1 - c, 1 - j] == pytest.approx(wanted, rel=1e-3)
    assert costs.evaluation == pytest.approx(costs.system_cost)  # nothing but images comes before the biopsy


def test_the_range_by_its_formula():
    frame = cascade(shared=True)
    costs = cascaded(frame).component_costs("images")
    for c, j in itertools.product((1, 0), (1, 0)):
        part = frame[frame["y"] == c]
        says = part["images"] == j
        price = 5 if c else 1
        mean = np.mean(says & (part["biopsy"] != c)) * price
        assert costs.at_least[1 - c, 0, 1 - j] == pytest.approx(mean)
        assert costs.at_most[1 - c, 0, 1 - j] == pytest.approx(mean + (1 - np.mean(says)) * price)


def test_open_cascades_have_bounds_but_no_worth():
    found = cascaded(cascade(shared=True))
    bounds = found.bounds("images")
    assert bounds.best <= found.cost <= bounds.worst
    assert np.isnan(bounds.independent)
    assert np.isnan(found.worth()["images"].perfect)
    assert "range" in found.worth()["images"].reason
    assert np.isnan(found.worth()["biopsy"].share)
    with pytest.raises(InputError, match="may find the same cases difficult"):
        found.do(images="1")
    assert "shared_difficulty=False" in str(found)


def test_a_model_that_sees_another_has_costs_for_each_thing_it_sees():
    frame = rows(models=2)
    frame["second"] = np.where(np.random.default_rng(1).random(len(frame)) < 0.8, frame["m0"], frame["y"])
    models = {"m0": "m0", "m1": "m1", "second": {"column": "second", "sees": ["m0"]}}
    found = system(frame, "at_least(2, m0, m1, second)", models, shared_difficulty=False)
    costs = found.component_costs("second")
    assert costs.expected.shape == (2, 2, 2)
    for c, a, j in itertools.product(range(2), repeat=3):
        part = frame[(frame["y"] == SICK[c]) & (frame["m0"] == SICK[a])]
        votes = (part["m0"] == "sick").astype(int) + (part["m1"] == "sick") + (j == 0)
        decided = np.where(votes >= 2, *SICK)
        assert costs.expected[c, a, j] == pytest.approx(paid(part["y"].to_numpy(), decided) / len(part))
    assert "sees m0" in costs.notes[0]
    assert costs.evaluation + costs.dependence == pytest.approx(found.cost)


def test_a_target_that_sees_another_would_be_misjudged_by_one_table():
    """Σ K1[c, a, j]·n[c, a, j] is exact when the model errs on its own given what it sees; without a it is not."""
    models = {
        "images": [[0.8, 0.2], [0.3, 0.7]],
        "second": {"table": [[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.1, 0.9]]], "sees": "images"},
    }
    found = System(
        classes=SICK, models=models, decide="images and second", costs=Costs(miss=5, false_alarm=1), prior=0.4
    )
    costs = found.component_costs("second")
    assert costs.evaluation == pytest.approx(found.cost)
    rates = np.einsum("ca,caj->cj", costs.seen_shares, costs.rates)
    naive = 0.0
    for c, share in enumerate((0.4, 0.6)):
        for j, says in enumerate(SICK):
            outcome = found.do(second=says)
            naive += share * rates[c, j] * outcome.decisions[c] @ found.network.prices[c]
    assert abs(naive - found.cost) > 0.1


def test_a_combination_never_observed_is_named():
    frame = cascade(shared=False)
    frame = frame[~((frame["y"] == 1) & (frame["images"] == 0))]
    with pytest.raises(InputError, match="never observed: truth '1', images says '0'"):
        cascaded(frame, shared_difficulty=False).component_costs("images")


def test_a_cascade_by_table_beside_rows():
    frame = cascade(shared=False)
    table = [[[biopsy(c, j, None, d) for d in (1, 0)] for j in (1, 0)] for c in (1, 0)]
    models = {"images": "images", "biopsy": {"table": table, "sees": ["images"]}}
    costs = Costs(miss=5, false_alarm=1)
    found = System(frame, truth="y", models=models, decide="biopsy", costs=costs)
    by_rows = cascaded(frame, shared_difficulty=False)
    assert found.component_costs("images").expected == pytest.approx(
        by_rows.component_costs("images").expected, rel=1e-3
    )
    assert found.worth()["images"].perfect == pytest.approx(by_rows.worth()["images"].perfect, rel=1e-3)


# ── thresholds in the system ─────────────────────────────────────────────────────────────────────────────────────
def scored(n=4000, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    score = rng.normal(size=n) + 1.2 * truth
    other = rng.random(n) < np.where(truth, 0.8, 0.2)
    return pd.DataFrame({"y": truth.astype(int), "a": (score > 0.6).astype(int), "b": other.astype(int), "p": score})


def test_threshold_from_rows_against_trying_all():
    frame = scored(300)
    found = System(frame, truth="y", models=["a", "b"], decide="a and b", costs=Costs(miss=5, false_alarm=1))
    chosen = found.threshold("a", score="p")

    def cost(t):
        decided = (frame["p"] >= t) & (frame["b"] == 1)
        return float(np.mean(np.where(frame["y"] == 1, 5 * ~decided, decided)))

    best = min(cost(t) for t in [*frame["p"], np.inf])
    assert chosen.cost == pytest.approx(best)
    assert cost(chosen.value) == pytest.approx(best)
    assert chosen.now == pytest.approx(found.cost / len(frame))


def test_threshold_is_judged_on_rows_that_it_was_not_chosen_on():
    noise = scored(200).assign(p=np.random.default_rng(0).random(200))
    found = System(noise, truth="y", models=["a", "b"], decide="a", costs=Costs(miss=2.3, false_alarm=1))
    chosen = found.threshold("a", score="p")
    assert chosen.held_out > chosen.cost + 0.01  # the choice on the same rows flatters itself
    assert chosen.low < chosen.saving < chosen.high
    assert "on rows that did not choose it a case costs" in str(chosen)


def test_a_threshold_set_too_high_is_found_to_cost():
    frame = scored()
    frame["a"] = (frame["p"] > 2.5).astype(int)
    found = System(frame, truth="y", models=["a", "b"], decide="a and b", costs=Costs(miss=5, false_alarm=1))
    chosen = found.threshold("a", score="p")
    assert chosen.value < 1
    assert 0 < chosen.low < chosen.saving
    assert chosen.saving == pytest.approx(chosen.now - chosen.held_out)


def test_threshold_with_another_prior():
    frame = scored()
    costs = Costs(miss=1, false_alarm=1)
    rare, frequent = (
        System(frame, truth="y", models=["a", "b"], decide="a", costs=costs, prior=p).threshold("a", score="p")
        for p in (0.05, 0.8)
    )
    assert rare.value > frequent.value
    found = System(frame, truth="y", models=["a", "b"], decide="a", costs=costs, prior=0.05)
    assert rare.now == pytest.approx(found.cost)


@pytest.mark.slow
def test_votes_among_many_classes_from_rows():
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 4, 3000)
    frame = pd.DataFrame({"y": truth})
    for i in range(3):
        frame[f"m{i}"] = np.where(rng.random(3000) < 0.6, truth, rng.integers(0, 4, 3000))
    prices = np.abs(np.subtract.outer(range(4), range(4))).tolist()
    costs = Costs(prices, ["0", "1", "2", "3"])
    found = System(frame, truth="y", models=["m0", "m1", "m2"], decide="majority(m0, m1, m2)", costs=costs)
    votes = np.stack([(frame[["m0", "m1", "m2"]].to_numpy() == k).sum(1) for k in range(4)])
    decided = votes.argmax(0)  # the first of those that tie
    assert found.cost == pytest.approx(np.abs(decided - truth).sum())
    assert found.positive is None
    assert "the first one listed wins, in the order 0, 1, 2, 3" in str(found).replace("\n", " ")


def test_many_columns_are_counted_as_they_occur():
    """More combinations than can be numbered: only those that occur are kept."""
    rng = np.random.default_rng(0)
    labels = tuple(map(str, range(5)))
    codes = rng.integers(0, 5, (30, 1000))
    codes[:, 500:] = codes[:, :500]
    joint = JointCounts.from_rows([f"m{i}" for i in range(30)], [labels] * 30, codes)
    assert joint.total == 1000
    assert len(joint.counts) == len(np.unique(codes, axis=1).T)
    few = JointCounts.from_rows(["a", "b"], [labels] * 2, codes[:2])
    table = pd.crosstab(codes[0], codes[1]).to_numpy()
    assert few.counts.tolist() == table[table > 0].tolist()
    assert stakes.JointCounts.sum([few, few]).total == 2000


def test_weights_are_counted_in_blocks():
    rng = np.random.default_rng(1)
    n = 600_000
    codes, weight = rng.integers(0, 3, (2, n)), rng.random(n)
    joint = JointCounts.from_rows(["a", "b"], [("x", "y", "z")] * 2, codes, weight)
    wanted = np.bincount(codes[0] * 3 + codes[1], weights=weight)
    assert joint.counts == pytest.approx(wanted)


def test_booleans_beside_numbers_are_zero_and_one():
    truth = [True, False, True, False]
    found = System(
        {"y": truth, "a": [1, 0, 0, 0], "b": [1, 1, 0, 0]},
        truth="y",
        models=["a", "b"],
        decide="a or b",
        costs=Costs(miss=5, false_alarm=1),
    )
    assert found.cost == 6
    with pytest.raises(InputError, match="text"):
        System(
            {"y": truth, "a": ["x", "y"] * 2}, truth="y", models=["a"], decide="a", costs=Costs(miss=5, false_alarm=1)
        )


def test_intervals_of_cost_evaluation_and_dependence():
    frame = rows(3000)
    found = system(frame)
    costs = found.component_costs("m0")
    for value, limits in (
        (found.cost, found.cost_limits),
        (costs.evaluation, costs.evaluation_limits),
        (costs.dependence, costs.dependence_limits),
    ):
        assert limits[0] < value < limits[1]
    paid_by_row = np.zeros(len(frame))
    decided = fused(frame, RULES["majority(m0, m1, m2)"])
    for (t, d), price in PRICES.items():
        paid_by_row[(frame["y"] == t) & (decided == d)] = price
    within = [paid_by_row[frame["y"] == t] for t in SICK]
    error = np.sqrt(sum(len(part) * part.var() for part in within))
    assert found.cost_limits[1] - found.cost_limits[0] == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert costs.dependence_limits[0] > 0  # these models do err together


def test_the_page_puts_seeing_beside_doing():
    frame = rows(500)
    shown = str(system(frame))
    assert "How often the system decides so" in shown
    assert "seeing" not in str(
        System(classes=SICK, models={"a": 0.8}, decide="a", costs=Costs(miss=1, false_alarm=1), prior=0.5)
    )


def test_rows_may_tell_the_classes_alone():
    frame = rows(400)
    tables = {"a": [[8, 2], [3, 7]], "b": [[7, 3], [1, 9]]}
    found = system(frame[["y"]], "a and b", tables)
    sick = int((frame["y"] == "sick").sum())
    assert found.cases == {"sick": sick, "healthy": 400 - sick}
    assert found.cost == pytest.approx(5 * sick * (1 - 0.56) + (400 - sick) * 0.3 * 0.1)
    assert found.facts["classes"].endswith("(from the rows)")


def test_intervals_of_a_model_that_others_see_count_their_answers_too():
    """With nothing but the biopsy after it, K1 of images is the biopsy's own error rate: Wilson's width."""
    frame = cascade(shared=False, n=600)
    costs = cascaded(frame, shared_difficulty=False).component_costs("images")
    low, high = costs.expected_limits
    for c, j in itertools.product((1, 0), (1, 0)):
        part = frame[(frame["y"] == c) & (frame["images"] == j)]
        n, p, price = len(part), np.mean(part["biopsy"] != c), 5 if c else 1
        width = high[1 - c, 1 - j] - low[1 - c, 1 - j]
        assert width == pytest.approx(2 * 1.96 * price * np.sqrt(p * (1 - p) / n), rel=0.25)
    table = [[[90, 10], [30, 70]], [[60, 40], [5, 95]]]
    found = System(
        classes=SICK,
        models={"a": [[80, 20], [20, 80]], "b": {"table": table, "sees": "a"}},
        decide="b",
        costs=Costs(miss=5, false_alarm=1),
    )
    low, high = found.component_costs("a").expected_limits
    assert high[0, 0] - low[0, 0] == pytest.approx(2 * 1.96 * 5 * np.sqrt(0.1 * 0.9 / 100), rel=0.1)
    bounds = found.bounds("a")
    assert bounds.low < bounds.best < bounds.high
    assert bounds.best == pytest.approx(bounds.worst)  # nobody else to depend on


def test_bounds_of_a_seen_model_with_three_answers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    frame = {"y": y, "b": np.where(rng.random(900) < 0.7, y, rng.integers(0, 3, 900))}
    seen = rng.integers(5, 30, (3, 3, 3)).tolist()
    first = [[60, 20, 20], [20, 60, 20], [20, 20, 60]]
    found = System(
        frame,
        truth="y",
        models={"a": first, "b": "b", "c": {"table": seen, "sees": "a"}},
        decide="majority(a, b, c)",
        costs=Costs((1 - np.eye(3)).tolist(), ["0", "1", "2"]),
    )
    bounds = found.bounds("a")
    assert bounds.low < bounds.best < found.cost < bounds.worst < bounds.high


def test_nobody_can_be_the_best_threshold():
    frame = scored(300)
    costs = Costs(miss=1, false_alarm=1000)
    found = System(frame, truth="y", models=["a", "b"], decide="a", costs=costs).threshold("a", score="p")
    assert found.value == np.inf or found.value > frame.loc[frame["y"] == 0, "p"].max()
    noise = frame.assign(p=0.5)
    nobody = System(noise, truth="y", models=["a", "b"], decide="a", costs=costs).threshold("a", score="p")
    assert nobody.value == np.inf
    assert nobody.held_out == pytest.approx(frame["y"].mean())


def test_a_class_that_was_counted_zero_times_has_no_cases():
    joint = JointCounts(("truth", "a"), (("x", "y"),) * 2, np.array([[0, 0], [0, 1], [1, 0]]), np.array([3, 2, 0]))
    with pytest.raises(InputError, match="the sample has no case of the class 'y'"):
        System(joint, models=["a"], decide="a", costs=Costs(miss=5, false_alarm=1))


def test_component_costs_of_very_many_classes_are_means_over_rows():
    """Forty answers lead to 40^40 kinds of situations, more than can be numbered."""
    rng = np.random.default_rng(4)
    names = [str(i) for i in range(40)]
    truth = np.concatenate([np.arange(40), rng.integers(0, 40, 160)])
    said = {name: np.where(rng.random(200) < 0.7, truth, rng.integers(0, 40, 200)) for name in "abc"}
    prices = rng.integers(1, 9, (40, 40)) * (1 - np.eye(40, dtype=int))
    system = System(
        {"y": truth, **said}, truth="y", models=list("abc"), decide="c if a == b else a", classes=names,
        costs=Costs(prices.tolist(), names),
    )  # fmt: skip
    found = system.component_costs("a").expected
    for c, j in [(0, 0), (3, 7), (11, 39), (25, 25)]:
        rows = truth == c
        decided = np.where(said["b"][rows] == j, said["c"][rows], j)
        assert found[c, j] == pytest.approx(prices[c, decided].mean())
