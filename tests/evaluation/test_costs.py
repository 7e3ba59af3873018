"""Evaluations at given costs: any decisions, costs by row, deployment and training priors."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stakes
from stakes.tallies import ClassScores, Confusion, CostSums
from stakes.tallies.bayes import round_up
from stakes.tallies.pricing import Pricing
from stakes.uncertainty.interval import clopper_pearson
from tests.parts import examples

SCAN = stakes.Costs([[0, 10, 1000], [500, 20, 0]], ["tumour", "none"], ["operate", "tests", "home"])


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    p = rng.beta(1, 5, 1500)
    return p, np.where(rng.random(1500) < p, "tumour", "none"), rng.lognormal(3, 1, 1500)


def paid(costs, truth, decided):
    return np.array(
        [
            float(costs.matrix[costs.classes.index(t)][costs.decisions.index(d)])
            for t, d in zip(truth, decided, strict=True)
        ]
    )


def relative(cost, truth, costs, shares=None):
    """The normalised cost by its definition."""
    prices = np.array(costs.matrix, float)
    shares = [np.mean(truth == name) for name in costs.classes] if shares is None else shares
    lowest, constants = np.dot(shares, prices.min(1)), np.dot(shares, prices)
    return (cost - lowest) / (constants.min() - lowest)


# ── decisions given ──────────────────────────────────────────────────────────────────────────────────────────────
def test_costs_of_given_decisions(rows):
    p, truth, _ = rows
    decided = np.array(["home", "tests", "operate"])[np.digitize(p, [0.05, 0.6])]
    ev = stakes.evaluate(truth=truth, prediction=decided, positive="tumour", costs=SCAN)
    each = paid(SCAN, truth, decided)
    assert ev["expected_cost"].value == pytest.approx(each.mean(), rel=1e-14)
    assert ev["normalised_cost"].value == pytest.approx(relative(each.mean(), truth, SCAN), rel=1e-13)
    share = np.mean(truth == "tumour")
    assert ev["expected_cost"].baseline == pytest.approx(min(500 * (1 - share), 10 * share + 20 * (1 - share)))
    assert ev["normalised_cost"].baseline == 1
    width = ev["expected_cost"].high - ev["expected_cost"].low
    assert width / (2 * 1.96 * each.std() / len(each) ** 0.5) == pytest.approx(1, abs=0.12)
    assert ev.confusion.decisions == ("operate", "tests", "home")
    assert "accuracy" in ev.figures
    assert "some decisions are no class" in ev["accuracy"].reason
    assert ev["coverage"].reason == "no decision is named like a class"
    assert ev.to_dict()["costs"]["decisions"] == ["operate", "tests", "home"]


def test_costs_at_a_deployment_prior(rows):
    p, truth, _ = rows
    decided = np.where(p >= 0.3, "operate", "home")
    ev = stakes.evaluate(truth=truth, prediction=decided, positive="tumour", costs=SCAN, prior=0.01)
    each = paid(SCAN, truth, decided)
    by_class = [each[truth == name].mean() for name in ("tumour", "none")]
    assert ev["expected_cost"].value == pytest.approx(0.01 * by_class[0] + 0.99 * by_class[1])
    wanted = relative(0.01 * by_class[0] + 0.99 * by_class[1], truth, SCAN, [0.01, 0.99])
    assert ev["normalised_cost"].value == pytest.approx(wanted)
    same = stakes.evaluate(
        truth=truth, prediction=decided, positive="tumour", costs=SCAN, prior={"none": 0.99, "tumour": 0.01}
    )
    assert same["expected_cost"] == ev["expected_cost"]


def test_exact_costs_of_counts():
    table = Confusion.two_class(tp=30, fn=10, fp=20, tn=140)
    ev = stakes.Evaluation(stakes.engines.plan.Counted("classification", {"confusion": table}))
    found = ev.priced(stakes.Costs(miss=0.1, false_alarm=0.3))
    assert found["expected_cost"].value == float((Fraction(1, 10) * 10 + Fraction(3, 10) * 20) / 200)
    # miss 0.1: leaving everybody alone is cheapest
    assert found["normalised_cost"].value == float((1 + 6) / Fraction(4))
    assert ev["expected_cost(miss=3, false_alarm=1)"].value == 50 / 200


# ── Bayes decisions from scores ──────────────────────────────────────────────────────────────────────────────────
def test_scores_are_decided_so_as_to_cost_least(rows):
    p, truth, _ = rows
    ev = stakes.evaluate(truth=truth, score=p, positive="tumour", costs=SCAN)
    risks = np.outer(p, [0, 10, 1000]) + np.outer(1 - p, [500, 20, 0])
    decided = np.array(SCAN.decisions)[risks.argmin(1)]
    assert ev["expected_cost"].value == pytest.approx(paid(SCAN, truth, decided).mean())
    counts = [[np.sum((truth == t) & (decided == d)) for d in SCAN.decisions] for t in ("none", "tumour")]
    assert ev.confusion.counts.tolist() == counts
    assert "“home” from 0 on · “tests” from 0.0198" in str(ev)
    parts = stakes.evaluate(truth=truth, score=p, positive="tumour", costs=SCAN, by=np.arange(len(p)) % 2)
    assert sum(part.confusion.counts.sum() for part in parts.segments.values()) == len(p)
    assert parts.segments["0"]["expected_cost"].value == pytest.approx(paid(SCAN, truth[::2], decided[::2]).mean())


def test_two_decisions_have_a_bayes_threshold(rows):
    p, truth, _ = rows
    ev = stakes.evaluate(truth=truth, score=p, positive="tumour", costs=stakes.Costs(miss=10, false_alarm=1))
    assert ev.threshold == round_up(Fraction(1, 11))
    assert ev["recall"].value == np.mean(p[truth == "tumour"] >= 1 / 11)
    assert ev.at(0.5)["expected_cost"].value == pytest.approx(
        np.mean(np.where(truth == "tumour", 10.0 * (p < 0.5), p >= 0.5))
    )
    assert ev.priced(stakes.Costs(miss=1, false_alarm=1)).threshold == 0.5


def test_a_score_at_the_switch_point_is_decided_exactly():
    third = 1 / 3  # below the exact third
    assert Fraction(third) < Fraction(1, 3)
    above = np.nextafter(third, 1)
    ev = stakes.evaluate(truth=[0, 1, 1], score=[third, above, 0.9], costs=stakes.Costs(miss=2, false_alarm=1))
    assert ev.confusion.counts.tolist() == [[1, 0], [0, 2]]


@examples(100)
@given(st.integers(1, 99), st.integers(1, 99), st.floats(0.001, 0.999), st.integers(1, 30))
def test_priors_move_the_threshold(trained, deployed, q, miss):
    """q′ ∝ q·π′/π, and the decision is the cheaper one at q′."""
    pricing = Pricing(stakes.Costs(miss=miss, false_alarm=1), prior=deployed / 100, training_prior=trained / 100)
    start = pricing.thresholds("0", "1", (Fraction(1, 2), Fraction(1, 2)))[1][1]
    odds = Fraction(q) / (1 - Fraction(q)) * Fraction(deployed, 100 - deployed) / Fraction(trained, 100 - trained)
    corrected = odds / (1 + odds)
    assert (q >= start) == (miss * corrected >= 1 - corrected)


def test_several_classes_and_priors():
    rng = np.random.default_rng(2)
    q = rng.dirichlet([1, 1, 1], 800)
    truth = (q.cumsum(1) > rng.random((800, 1))).argmax(1)
    names = np.array(list("abc"))
    prices = np.array([[0, 1, 4, 1], [2, 0, 1, 1], [9, 3, 0, 1]])
    costs = stakes.Costs(prices.tolist(), "abc", ["a", "b", "c", "ask"])
    score = {name: q[:, i] for i, name in enumerate(names)}
    ev = stakes.evaluate(truth=names[truth], score=score, costs=costs)
    decided = (q @ prices).argmin(1)
    assert ev["expected_cost"].value == pytest.approx(prices[truth, decided].mean())
    assert ev.counted.decided_by == "costs"
    trained, deployed = np.array([0.5, 0.25, 0.25]), np.array([0.1, 0.2, 0.7])
    shares = [dict(zip(names, values.tolist(), strict=True)) for values in (deployed, trained)]
    there = stakes.evaluate(truth=names[truth], score=score, costs=costs, prior=shares[0], training_prior=shares[1])
    corrected = q * deployed / trained
    decided = (corrected @ prices).argmin(1)
    each = [prices[c, decided[truth == c]].mean() for c in range(3)]
    assert there["expected_cost"].value == pytest.approx(deployed @ each)
    with pytest.raises(stakes.InputError, match="needs to know what mistakes cost; pass costs="):
        stakes.evaluate(truth=names[truth], score=score)["expected_cost"]
    with pytest.raises(stakes.InputError, match="need the rows again; evaluate them with costs="):
        stakes.evaluate(truth=names[truth], score=score).priced(costs)
    given_ = stakes.evaluate(truth=names[truth], prediction=names[q.argmax(1)]).priced(
        stakes.Costs(prices[:, :3].tolist(), "abc")
    )
    assert given_["expected_cost"].value == pytest.approx(prices[truth, q.argmax(1)].mean())


# ── costs by row ─────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("weighted", [False, True])
def test_costs_that_name_a_column(rows, weighted):
    p, truth, amount = rows
    weight = np.random.default_rng(3).integers(1, 5, len(p)) if weighted else np.ones(len(p))
    data = {"y": truth, "p": p, "amount": amount, "w": weight}
    costs = stakes.Costs(miss="amount", false_alarm=5)
    options = {"truth": "y", "positive": "tumour", "costs": costs, "weight": "w" if weighted else None}
    ev = stakes.evaluate(data, score="p", **options)
    sick = truth == "tumour"
    decided = p * amount > 5 * (1 - p)
    each = np.where(sick & ~decided, amount, 0) + np.where(~sick & decided, 5, 0)
    mean = np.average(each, weights=weight)
    assert ev["expected_cost"].value == pytest.approx(mean)
    constants = [
        np.average(np.where(sick, amount, 0), weights=weight),
        np.average(np.where(sick, 0, 5), weights=weight),
    ]
    assert ev["expected_cost"].baseline == pytest.approx(min(constants))
    assert ev["normalised_cost"].value == pytest.approx(mean / min(constants))
    rng = np.random.default_rng(4)
    drawn = rng.integers(0, len(p), (2000, len(p)))
    w = weight[drawn]
    again = (each[drawn] * w).sum(1) / w.sum(1)
    low, high = np.quantile(again, (0.025, 0.975))
    found = ev["expected_cost"]
    assert (found.high - found.low) / (high - low) == pytest.approx(1, abs=0.15)
    floor = np.where(sick, 0, 5)[drawn] * w
    ratio = again / (floor.sum(1) / w.sum(1) if constants[1] < constants[0] else 1)
    found = ev["normalised_cost"]
    if constants[1] < constants[0]:
        assert (found.high - found.low) / np.subtract(*np.quantile(ratio, (0.975, 0.025))) == pytest.approx(1, abs=0.12)
    given_ = stakes.evaluate({**data, "d": np.where(p > 0.3, "tumour", "none")}, prediction="d", **options)
    each = np.where(sick & (p <= 0.3), amount, 0) + np.where(~sick & (p > 0.3), 5, 0)
    assert given_["expected_cost"].value == pytest.approx(np.average(each, weights=weight))


@pytest.mark.parametrize("lazy", [False, True], ids=["memory", "lazy"])
def test_counts_at_other_thresholds_do_not_add_up_where_costs_differ_by_row(rows, lazy):
    p, truth, amount = rows
    frame = pl.DataFrame({"y": truth, "p": p, "amount": amount})
    asked = {"truth": "y", "score": "p", "positive": "tumour", "costs": stakes.Costs(miss="amount", false_alarm=5)}

    def counted(threshold):
        return stakes.evaluate(frame.lazy() if lazy else frame, threshold=threshold, **asked).counted

    assert counted(0.3).threshold == 0.3
    assert (counted(0.3) + counted(0.3)).confusion.total == 2 * len(p)
    with pytest.raises(stakes.InputError, match=r"the threshold is 0\.3 in one and 0\.7 in the other"):
        counted(0.3) + counted(0.7)


def test_costs_by_row_add_up_and_are_saved(rows):
    p, truth, amount = rows
    costs = stakes.Costs(miss="amount", false_alarm=5)

    def count(part):
        data = {"y": truth[part], "p": p[part], "amount": amount[part]}
        return stakes.count(data, truth="y", score="p", positive="tumour", costs=costs)

    whole, parts = count(slice(None)), [count(slice(0, 700)), count(slice(700, None))]
    both = parts[0] + parts[1]
    for name in ("sums", "products", "powers"):
        assert getattr(both.tallies["costs"], name) == pytest.approx(getattr(whole.tallies["costs"], name))
    assert CostSums.from_dict(whole.tallies["costs"].to_dict()) == whole.tallies["costs"]
    assert both.scores == whole.scores or both.scores.total == whole.scores.total
    damaged = whole.tallies["costs"].to_dict() | {"decisions": ["a"]}
    with pytest.raises(stakes.InputError, match="damaged"):
        CostSums.from_dict(damaged)


# ── files, and what is pointed out ───────────────────────────────────────────────────────────────────────────────
def test_costs_from_toml(tmp_path):
    file = tmp_path / "costs.toml"
    rows = [
        '[costs.tumour]\noperate = 0\n"more tests" = 10\nhome = 1000',
        "[costs.none]\noperate = 500",
        '"more tests" = 20\nhome = 0',
    ]
    file.write_text("\n".join(rows))
    costs = stakes.Costs.from_toml(file)
    assert costs.classes == ("tumour", "none")
    assert costs.decisions == ("operate", "more tests", "home")
    assert costs.matrix[0] == (0, 10, 1000)
    file.write_text('[costs]\nmiss = "amount"\nfalse_alarm = 2.5\n')
    assert stakes.Costs.from_toml(file).columns == ("amount",)
    file.write_text("[utilities.repays]\nrefuse = 0\nlend = 0.5\n[utilities.defaults]\nrefuse = 0\nlend = -0.4\n")
    assert stakes.Costs.from_toml(file).matrix == ((Fraction(1, 2), 0), (0, Fraction(2, 5)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no costs; write miss = 5"),
        ("miss = 5\n", "false_alarm is missing; write miss = 5 and false_alarm = 1"),
        ("miss = 5\nfalse_alram = 1\n", "'false_alram' is no cost; did you mean 'false_alarm'"),
        ("costs = 5\n", "costs = 5 is no table; write .costs.CLASS."),
        ("[costs.a]\nx = 1\n[utilities.a]\nx = 1\n", "holds costs and utilities; keep one of them"),
        ("miss = \n", "line 1 is 'miss = ', and TOML is wanted; write lines like miss = 5"),
        ("miss = 5\nfalse_alarm = 1 # \udcfc\n", "line 2 is not UTF-8; save it as UTF-8"),
        ("[costs]\na = 5\n", "the costs of the class 'a' are 5; give them as {decision: cost}"),
        (
            "[costs.a]\nx = 1\ny = 2\n[costs.b]\nx = 1\n",
            "the class 'a' has a cost of the decision 'y', but the class 'b' has none",
        ),
        (
            "[costs.a]\nhiem = 1\n[costs.b]\nheim = 1\n",
            "'b' has a cost of the decision 'heim', but the class 'a' has none, which has 'hiem'",
        ),
        ("[costs.a]\nx = true\ny = 2\n[costs.b]\nx = 1\ny = 0\n", "the cost of 'x' for the class 'a' is True"),
    ],
)
def test_files_without_costs(tmp_path, text, words):
    (tmp_path / "costs.toml").write_text(text, errors="surrogateescape")
    with pytest.raises(stakes.InputError, match=words) as problem:
        stakes.Costs.from_toml(tmp_path / "costs.toml")
    assert "\n" not in str(problem.value)
    with pytest.raises(stakes.InputError, match="there is no such file"):
        stakes.Costs.from_toml(tmp_path / "none.toml")


def test_decisions_that_are_never_worth_taking():
    dominated = stakes.Costs([[0, 10, 1000], [500, 20, 0], [500, 15, 20]], "abc", ["operate", "tests", "home"])
    assert dominated.never_cheapest() == []
    prices = [[0, 5, 1, 2], [4, 5, 0, 2], [9, 5, 3, 0]]
    assert stakes.Costs(prices, "abc", ["a", "worse", "b", "c"]).never_cheapest() == ["worse"]
    # never the best for sure, but the best for doubtful cases
    assert stakes.Costs([[0, 3, 9], [9, 3, 0]], "ab", ["a", "ask", "b"]).never_cheapest() == []
    assert stakes.Costs([[0, 5, 9], [9, 5, 0]], "ab", ["a", "ask", "b"]).never_cheapest() == ["ask"]
    ev = stakes.evaluate(
        truth=list("abab"),
        score=[0.1, 0.9, 0.4, 0.6],
        positive="b",
        costs=stakes.Costs([[0, 5, 9], [9, 5, 0]], "ab", ["a", "ask", "b"]),
    )
    assert "The decision “ask” is never worth taking at these costs." in ev.notes


def test_gains_handed_over_as_costs_are_noticed():
    with pytest.warns(stakes.InputWarning, match="for the class 'a' the decision 'a' costs 5, more than 'b' .0."):
        stakes.Costs([[5, 0], [0, 1]], "ab")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda **k: stakes.count(prior=0.1, **k), "prior= changes figures, and a tally has none; say this when you"),
        (lambda **k: stakes.evaluate(costs=5, **k), "costs=5 does not work; pass costs=Costs"),
        (
            lambda **k: stakes.evaluate(costs=np.eye(2), **k),
            r"or Costs\(matrix, classes=\[…\]\), which says whose rows",
        ),
        (
            lambda **k: stakes.evaluate(costs=stakes.Costs(miss=np.ones(4), false_alarm=1), **k),
            "miss= holds many costs; where they differ from row to row, name a column .*: miss='amount'",
        ),
        (lambda **k: stakes.evaluate(costs=stakes.Costs(miss=1, false_alarm=1), prior=0.1, **k), "training_prior="),
        (
            lambda **k: stakes.evaluate(
                costs=stakes.Costs(miss=1, false_alarm=1), prior=1.5, training_prior="rows", **k
            ),
            "give the share of the positive class of two, or prior={class: share, …} with shares",
        ),
        (
            lambda **k: stakes.evaluate(
                costs=stakes.Costs(miss=1, false_alarm=1), prior={"0": 0.2, "2": 0.8}, training_prior="rows", **k
            ),
            "prior= is about '0' and '2', but the classes are '0' and '1'",
        ),
        (
            lambda **k: stakes.evaluate(
                costs=stakes.Costs(miss=1, false_alarm=1), prior=0.2, training_prior={"0": 1, "1": 0}, **k
            ),
            "training_prior= gives the class '1' a share of 0",
        ),
        (
            lambda **k: stakes.evaluate(costs=stakes.Costs([[0, 1], [2, 0]], ["no", "yes"]), **k),
            "the costs have no class '0'",
        ),
        (
            lambda **k: stakes.evaluate(costs=stakes.Costs([[0, 1], [2, 0]], ["x", "y"], ["0", "1"]), **k),
            "the cell of truth 'x' and decision '0' seems to stand in a transposed matrix",
        ),
        (lambda **k: stakes.evaluate(costs=stakes.Costs(miss="amount", false_alarm=1), **k), "amount"),
        (
            lambda **k: stakes.evaluate(**k).priced(stakes.Costs(miss="amount", false_alarm=1)),
            "count again with costs=",
        ),
    ],
)
def test_costs_that_cannot_be_used(call, words):
    with pytest.raises(stakes.InputError, match=words) as problem:
        call(truth=[0, 1, 1, 0], score=[0.2, 0.8, 0.6, 0.1])
    assert "\n" not in str(problem.value)


def test_costs_and_other_tasks():
    costs = stakes.Costs(miss=1, false_alarm=1)
    with pytest.raises(stakes.InputError, match="these are predicted numbers; leave costs= out"):
        stakes.evaluate(truth=[0.5, 1.5], prediction=[1.0, 2.0], costs=costs)
    three = stakes.Costs([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "abc")
    scores = {"a": [3.0, 1, 1], "b": [0.0, 2, 1], "c": [1.0, 1, 3]}
    with pytest.raises(stakes.InputError, match="the costs decide by probabilities, but the scores reach from 0 to 3"):
        stakes.evaluate(truth=list("abc"), score=scores, costs=three)
    logits = stakes.evaluate(truth=[0, 1, 1], score=[-3.0, 2, 1], costs=costs)
    assert logits.confusion is None
    assert "no probabilities" in logits["expected_cost"].reason
    batch = {"y": list("abc"), "a": [1.0, 0, 0], "b": [0.0, 1, 0], "c": [0.0, 0, 1]}
    shares = {"prior": {"a": 0.2, "b": 0.2, "c": 0.6}, "training_prior": "rows"}
    with pytest.raises(stakes.InputError, match="these come in batches; give both prior= and training_prior="):
        stakes.count([batch, batch], truth="y", score={n: n for n in "abc"}, costs=three, **shares)


def test_clusters_draw_decisions_by_cost(rows):
    p, truth, _ = rows
    cluster = np.repeat(np.arange(len(p) // 5), 5)
    ev = stakes.evaluate(truth=truth, score=p, positive="tumour", costs=SCAN, cluster=cluster)
    one = ev["expected_cost"]
    assert one.low < one.value < one.high
    assert one.method == "one more row, 300 clusters"
    risks = np.outer(p, [0, 10, 1000]) + np.outer(1 - p, [500, 20, 0])
    each = paid(SCAN, truth, np.array(SCAN.decisions)[risks.argmin(1)]).reshape(-1, 5).sum(1)
    error = each.std() * len(each) ** 0.5 / len(p)
    # one more row could cost 1,000
    assert (one.high - one.low) / (2 * 1.97 * error) == pytest.approx(1.15, abs=0.1)


def test_costs_by_row_in_clusters(rows):
    p, truth, amount = rows
    data = {"y": truth, "p": p, "amount": amount, "who": np.repeat(np.arange(len(p) // 5), 5)}
    options = {"truth": "y", "score": "p", "positive": "tumour", "costs": stakes.Costs(miss="amount", false_alarm=5)}
    plain, ev = (stakes.evaluate(data, cluster=cluster, **options) for cluster in (None, "who"))
    one, lone = ev["expected_cost"], plain["expected_cost"]
    assert one.value == lone.value
    assert (one.high - one.low) / (lone.high - lone.low) == pytest.approx(1, abs=0.15)  # clusters of unlike rows
    assert ev["normalised_cost"].no_interval == "of costs that differ by row only the mean has one with clusters"
    twice = {name: np.repeat(column, 2) for name, column in data.items()}
    again = stakes.evaluate(twice, cluster="who", **options)["expected_cost"]
    assert (again.low, again.high) == pytest.approx((one.low, one.high), rel=0.03)  # the same rows again are no news


def test_segments_are_decided_like_the_whole():
    rng = np.random.default_rng(5)
    p = rng.beta(1, 3, 900)
    truth = np.where(rng.random(900) < p, "tumour", "none")
    site = np.where(p > 0.4, "a", "b")  # very different class frequencies
    options = {"truth": truth, "score": p, "positive": "tumour", "costs": SCAN, "prior": 0.05, "training_prior": "rows"}
    ev = stakes.evaluate(by=site, **options)
    share = np.mean(truth == "tumour")
    q = p * 0.05 / share
    q /= q + (1 - p) * 0.95 / (1 - share)
    decided = np.array(SCAN.decisions)[(np.outer(q, [0, 10, 1000]) + np.outer(1 - q, [500, 20, 0])).argmin(1)]
    for name, part in ev.segments.items():
        here = site == name
        by_class = [paid(SCAN, truth[here], decided[here])[truth[here] == c].mean() for c in ("tumour", "none")]
        assert part["expected_cost"].value == pytest.approx(0.05 * by_class[0] + 0.95 * by_class[1])
    assert "at prevalence 5 %" in str(ev["expected_cost"])


def test_a_class_that_the_prior_expects_must_have_rows(rows):
    p, truth, amount = rows
    data = {"y": truth, "p": p, "amount": amount, "site": np.where(truth == "none", "all well", "mixed")}
    options = {"truth": "y", "score": "p", "positive": "tumour", "prior": 0.5, "training_prior": 0.5, "by": "site"}
    for costs in (stakes.Costs(miss="amount", false_alarm=5), stakes.Costs(miss=3, false_alarm=5)):
        part = stakes.evaluate(data, costs=costs, **options).segments["all well"]
        assert part["expected_cost"].reason == "a class that the prior expects has no rows"
        assert np.isnan(part["expected_cost"].baseline)


def test_a_threshold_with_costs_by_row(rows):
    p, truth, amount = rows
    data = {"y": truth, "p": p, "logit": np.log(p / (1 - p)), "amount": amount}
    costs = stakes.Costs(miss="amount", false_alarm=5)
    options = {"truth": "y", "positive": "tumour", "costs": costs}
    sick = truth == "tumour"
    wanted = np.mean(np.where(sick & (p < 0.3), amount, 0) + np.where(~sick & (p >= 0.3), 5, 0))
    ev = stakes.evaluate(data, score="p", threshold=0.3, **options)
    assert ev["expected_cost"].value == pytest.approx(wanted)
    assert ev["recall"].value == np.mean(p[sick] >= 0.3)
    assert "“tumour” when score ≥ 0.3" in str(ev)
    at = np.log(0.3 / 0.7)
    assert stakes.evaluate(data, score="logit", threshold=at, **options)["expected_cost"].value == pytest.approx(wanted)
    undecided = stakes.evaluate(data, score="logit", **options)
    assert "pass threshold=" in undecided["expected_cost"].reason
    again = stakes.evaluate(data, score="p", **options).at(0.3)
    assert "evaluate the rows again with costs= and threshold=" in again["expected_cost"].reason
    assert "“tumour” when score ≥ 0.3" in str(again)
    with pytest.raises(stakes.InputError, match="the costs name the column 'amount', but no data was given"):
        stakes.evaluate(truth=truth, score=p, positive="tumour", costs=costs)


@pytest.mark.parametrize(("miss", "alarm", "counts"), [(0, 1, [[2, 0], [2, 0]]), (8, 0, [[0, 2], [0, 2]])])
def test_costs_at_which_one_decision_is_always_best(miss, alarm, counts):
    ev = stakes.evaluate(
        truth=[0, 0, 1, 1], score=[0.1, 0.6, 0.4, 0.9], costs=stakes.Costs(miss=miss, false_alarm=alarm)
    )
    assert ev.confusion.counts.tolist() == counts
    assert ev["recall"].value == counts[1][1] / 2
    assert ev["expected_cost"].value == 0


@pytest.mark.parametrize("prior", [Fraction(1, 10), np.float32(0.5), np.int64(1), {"0": Fraction(1, 2), "1": 0.5}])
def test_priors_of_any_number(prior):
    ev = stakes.evaluate(
        truth=[0, 0, 1, 1],
        score=[0.1, 0.6, 0.4, 0.9],
        costs=stakes.Costs(miss=1, false_alarm=1),
        prior=prior,
        training_prior="rows",
    )
    assert '"training_prior": "rows"' in ev.to_json()


def test_nobody_is_positive_where_there_are_no_positives():
    ev = stakes.evaluate(
        truth=[0, 0, 1, 1],
        score=[0.1, 0.6, 0.4, 0.9],
        costs=stakes.Costs(miss=1, false_alarm=1),
        prior=0,
        training_prior="rows",
    )
    assert "everyone is called “0”" in str(ev)
    assert "at a prevalence of 0%, as where it is used" in " ".join(str(ev).split())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: stakes.Costs(5, ["a", "b"]), "the cost matrix is int, but there are 2 classes"),
        (lambda: stakes.Costs([[0, 1], [1, 0]], 5), "classes=5 of the costs is no list of names"),
        (lambda: stakes.Costs([[0, 1], [1, 0]], ["a", "b"], miss=3), "not both"),
        (lambda: stakes.Costs(miss=float("nan"), false_alarm=1), "miss=nan is no cost; give a finite number"),
    ],
)
def test_costs_that_make_no_sense(make, words):
    with pytest.raises(stakes.InputError, match=words):
        make()


def test_a_negative_price_is_noticed():
    with pytest.warns(stakes.InputWarning, match="miss=-5 is below 0"):
        stakes.Costs(miss=-5, false_alarm=1)


def test_costs_that_cannot_be_negative_have_no_ends_below_nothing():
    rows = {"fraud": [1, 1, 0, 0, 1], "p": [0.02, 0.3, 0.02, 0.3, 0.01], "amount": [2000, 30, 15, 400, 90]}
    costs = stakes.Costs(miss="amount", false_alarm=10)
    assert stakes.evaluate(rows, truth="fraud", score="p", costs=costs)["expected_cost"].low >= 0
    truth, score = (
        np.repeat([0, 1, 2], [20, 20, 2]),
        np.full((42, 3), 0.1) + 0.7 * np.eye(3)[np.repeat([0, 1, 1], [20, 20, 2])],
    )
    matrix = stakes.Costs([[0, 1, 1], [1, 0, 1], [1, 20, 0]], classes=[0, 1, 2])
    ways = stakes.decide(truth=truth, score=score, classes=[0, 1, 2], costs=matrix)
    assert all(way.low is None or way.low >= 0 for way in ways.estimates.values())
    gains = stakes.Costs({"1": {"yes": -5, "no": 1}, "0": {"yes": 1, "no": 0}})
    assert stakes.evaluate(truth=["1", "0"] * 20, prediction=["yes", "no"] * 20, costs=gains)["expected_cost"].low < 0


# ── by class ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_class_has_a_cost_of_its_own():
    """Of 40 sick 4 are missed at 5 each, of 60 healthy 12 are alarmed at 1; everybody alarmed would cost least."""
    truth, said = ["sick"] * 40 + ["well"] * 60, ["well"] * 4 + ["sick"] * 36 + ["sick"] * 12 + ["well"] * 48
    ev = stakes.evaluate(
        truth=truth, prediction=said, positive="sick", costs=stakes.Costs(miss=5, false_alarm=1), by=[0, 1] * 50
    )
    sick, well = ev["expected_cost", "sick"], ev["expected_cost[well]"]
    assert (sick.value, well.value) == (0.5, 0.2)
    assert 0.4 * sick.value + 0.6 * well.value == pytest.approx(ev["expected_cost"].value)
    assert (sick.baseline, well.baseline) == (0, 1)
    exact = clopper_pearson(0.1, 40, 0.95)  # two costs
    assert (sick.low, sick.high) == pytest.approx((5 * exact[0], 5 * exact[1]), rel=0.03)
    assert ev["expected_cost(miss=10, false_alarm=1)[sick]"].value == 1.0
    assert {one.name for one in ev.by_segment("expected_cost[sick]")} == {"0", "1"}
    assert stakes.gate(ev, require=["expected_cost[sick].high <= 2", "expected_cost[well] <= 1 in every segment"])
    for text, words in (("f1[sick]", "for more than two classes"), ("expected_cost[ill]", "no class 'ill'")):
        with pytest.raises(stakes.InputError, match=words):
            ev[text]


def test_classes_of_several_have_costs_too():
    names = ["a", "b", "c"]
    costs = stakes.Costs([[0, 1, 2], [3, 0, 4], [5, 6, 0]], names)
    truth, said = list("aaabbbccc"), list("abcbbacac")
    ev = stakes.evaluate(truth=truth, prediction=said, costs=costs)
    assert [ev["expected_cost", name].value for name in names] == pytest.approx([1, 1, 5 / 3])
    assert ev["f1[a]"] == ev["f1", "a"]
    models = {"x": said, "y": list("aaabbbccb")}
    both = stakes.compare(truth=truth, predictions=models, costs=costs, metric="expected_cost[c]")
    assert both.pairs[0].difference == pytest.approx(5 / 3 - 2)


# ── decisions drawn with their probabilities ─────────────────────────────────────────────────────────────────────
KINDS = ["a", "b", "c"]
DEAR = np.array([[0, 1, 4], [2, 0, 1], [9, 3, -1]])


@pytest.fixture(scope="module")
def drawn():
    random = np.random.default_rng(8)
    truth = random.integers(0, 3, 400)
    score = random.dirichlet([1, 1, 1], 400) * 0.7 + 0.3 * np.eye(3)[truth]
    return truth, score


@pytest.mark.parametrize("weighted", [False, True])
def test_the_soft_cost_of_several_classes_is_the_mean_over_the_rows(drawn, weighted):
    truth, score = drawn
    weight = np.random.default_rng(0).random(400) if weighted else None
    asked = {"truth": np.array(KINDS)[truth], "classes": KINDS, "costs": stakes.Costs(DEAR, KINDS), "weight": weight}
    found = stakes.evaluate(score=score, **asked)["soft_cost"]
    paid = (DEAR[truth] * score).sum(1)
    mean = np.average(paid, weights=weight)
    assert found.value == pytest.approx(mean, rel=1e-12)
    w = np.ones(400) if weight is None else weight
    error = np.sqrt((w**2 * (paid - mean) ** 2).sum()) / w.sum()
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)
    shares = np.bincount(truth, w) / w.sum()
    assert found.baseline == pytest.approx(shares @ DEAR @ shares)
    sure = stakes.evaluate(score=np.eye(3)[score.argmax(1)], **asked)
    assert sure["soft_cost"].value == pytest.approx(
        sure["expected_cost"].value if not weighted else np.average(DEAR[truth, score.argmax(1)], weights=w)
    )


def test_the_soft_cost_survives_adding_saving_and_a_prior(drawn, tmp_path):
    truth, score = drawn
    costs, names = stakes.Costs(DEAR, KINDS), np.array(KINDS)[truth]
    parts = [stakes.count(truth=names[i], score=score[i], classes=KINDS) for i in (slice(0, 150), slice(150, None))]
    whole = stakes.evaluate(truth=names, score=score, classes=KINDS, costs=costs)
    added = parts[0] + parts[1]
    path = tmp_path / "both.tally"
    added.save(path)
    soft = whole._find("soft_cost")
    for counted in (added, stakes.load(path)):
        assert soft.of(counted.tallies["class_scores"]) == pytest.approx(whole["soft_cost"].value, rel=1e-12)
    added.save(path, min_cell=300)  # a sum over few rows would tell about single ones
    assert "count the rows again" in soft.why_undefined(stakes.load(path).tallies["class_scores"])
    saved = added.tallies["class_scores"].saved()
    del saved["given"]  # as before there was one
    assert ClassScores.from_dict(saved).given is None
    prior = dict(zip(KINDS, [0.7, 0.2, 0.1], strict=True))
    there = stakes.evaluate(truth=names, score=score, classes=KINDS, costs=costs, prior=prior, training_prior=prior)
    each = [(DEAR[c] * score[truth == c]).sum(1).mean() for c in range(3)]
    assert there["soft_cost"].value == pytest.approx(np.dot([0.7, 0.2, 0.1], each))


def test_models_are_compared_and_gated_by_the_soft_cost(drawn):
    truth, score = drawn
    asked = {"truth": np.array(KINDS)[truth], "classes": KINDS, "costs": stakes.Costs(DEAR, KINDS)}
    pair = stakes.compare(
        scores={"as it is": score, "even": np.full((400, 3), 1 / 3)}, metric="soft_cost", **asked
    ).pairs[0]
    paid = [(DEAR[truth] * one).sum(1).mean() for one in (score, np.full((400, 3), 1 / 3))]
    assert abs(pair.difference) == pytest.approx(abs(paid[0] - paid[1]))
    assert pair.low <= pair.difference <= pair.high
    assert stakes.gate(score=score, require="soft_cost <= 5", **asked)


def test_a_soft_cost_by_row_is_refused_in_one_line():
    rows = {"y": [0, 1, 1, 0], "p": [0.2, 0.7, 0.4, 0.1], "amount": [1, 2, 3, 4]}
    ev = stakes.evaluate(rows, truth="y", score="p", costs=stakes.Costs(miss="amount", false_alarm=1))
    with pytest.raises(stakes.InputError, match=r"differ from row to row \(column 'amount'\); ask for expected_cost"):
        ev["soft_cost"]
