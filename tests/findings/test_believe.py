"""Should we believe it? Widths of what matters tell, not the number of rows."""

import numpy as np
import pytest

import stakes


def believed(ev):
    (found,) = [one for one in ev.findings if one.key == "verdict.believe"]
    return found.tone, found.sentences[0].key.removeprefix("verdict.believe_")


def scored(positives, negatives, apart=2.0, seed=0):
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(apart, 1, positives), rng.normal(0, 1, negatives)])
    return {"truth": np.arange(positives + negatives) < positives, "score": x, "threshold": apart / 2}


def test_many_rows_with_narrow_intervals_are_believed():
    assert believed(stakes.evaluate(**scored(300, 300))) == ("good", "yes")


def test_chance_is_not_believed():
    assert believed(stakes.evaluate(**scored(60, 60, apart=0.0))) == ("doubt", "chance")


def test_many_rows_of_one_class_do_not_make_up_for_few_of_the_other():
    """Ten positives of ten thousand rows: the auc is known, the recall is not."""
    assert believed(stakes.evaluate(**scored(12, 5000))) == ("doubt", "wide")


def test_few_rows_are_believed_where_intervals_are_narrow():
    ev = stakes.evaluate(**scored(45, 45, apart=3.0, seed=1))
    assert ev["recall"].high - ev["recall"].low < 0.2
    assert believed(ev) == ("good", "yes")
    assert any(one.key == "caution.few" for one in ev.findings)


def test_weights_and_exposure_are_not_called_rows():
    rng = np.random.default_rng(0)
    rows = scored(60, 60)
    ev = stakes.evaluate(**rows, weight=rng.random(120) + 0.1)
    assert ev.unweighted_rows == ev.to_dict()["unweighted_rows"] == 120
    assert f"It rests on 120 rows that weigh {ev.rows:.1f}." in str(ev)
    assert f"\n120 rows that weigh {ev.rows:.1f} · " in str(ev)
    plain = stakes.evaluate(**rows)
    assert plain.unweighted_rows is None
    assert "unweighted_rows" not in plain.to_dict()
    hours = stakes.evaluate(truth=[1, 0, 2, 1], prediction=[1, 0.5, 2, 1.5], task="counts", exposure=[2, 3, 4, 1.5])
    assert (hours.unweighted_rows, hours.rows) == (4, 10.5)
    choice = stakes.decide(truth=rows["truth"], score=rows["score"], weight=rng.random(120) + 0.1, best="f1")
    assert "\n120 rows that weigh " in str(choice)
    assert choice.question.startswith("rows that weigh ")


def test_what_is_too_good_is_not_believed():
    assert believed(stakes.evaluate(**scored(100, 100, apart=20.0))) == ("doubt", "too_good")


def test_few_clusters_are_not_believed():
    rows = scored(300, 300)
    with pytest.warns(stakes.InputWarning, match="clusters"):
        ev = stakes.evaluate(**rows, cluster=np.arange(600) % 12)
    assert believed(ev) == ("doubt", "clusters")


def test_without_an_interval_it_stays_open():
    ev = stakes.evaluate(truth=[1, 0, 0, 0], score=[0.9, 0.1, 0.2, 0.3])
    assert ev["auc"].low is None
    assert believed(ev) == ("open", "no_interval")


def test_several_classes_look_at_the_rare_ones_too():
    rng = np.random.default_rng(1)
    truth = np.repeat(list("abcd"), [400, 400, 5, 5])
    right = rng.random(810) < 0.8
    said = np.where(right, truth, "a")
    ev = stakes.evaluate(truth=truth, prediction=said)
    assert ev["accuracy"].high - ev["accuracy"].low < 0.06
    assert believed(ev) == ("doubt", "wide")
    assert believed(stakes.evaluate(truth=truth[:800], prediction=said[:800])) == ("good", "yes")


@pytest.mark.parametrize(("rows", "noise", "answer"), [(400, 0.5, "yes"), (12, 1.0, "wide"), (60, None, "chance")])
def test_numbers_look_at_the_gain_and_at_the_error(rows, noise, answer):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=rows)
    luck = rng.normal(size=rows)
    said = 0.1 * luck if noise is None else truth + noise * luck
    assert believed(stakes.evaluate(truth=truth, prediction=said))[1] == answer


def test_where_it_fails_is_what_the_table_of_segments_shows():
    """Of 20 equal segments the worst looks bad by itself; it is called so as often as the table's test does."""
    said = []
    for seed in range(5):
        random = np.random.default_rng(seed)
        truth = (random.random(1000) < 0.4).astype(int)
        score = 1 / (1 + np.exp(-truth - random.normal(size=1000)))
        ev = stakes.evaluate(truth=truth, score=score, by=[f"s{i % 20:02}" for i in range(1000)])
        keys = {one.key for found in ev.findings for one in found.sentences}
        shown = any(one.verdict.startswith("worse") for one in ev.by_segment())
        assert ("verdict.where_apart" in keys) == shown
        said.append(shown)
    assert sum(said) <= 1
