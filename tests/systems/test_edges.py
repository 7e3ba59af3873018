"""Systems at their edges: outputs that never come, orders of their own, rules that are not monotone."""

import functools
import json
import re

import numpy as np
import pandas as pd
import pytest

from stakes import Costs, InputError, JointCounts, System

SH = ["s", "h"]
COSTS = Costs(miss=5, false_alarm=1)
EVEN = [[8, 2], [2, 8]]


def of_tables(decide="a and b", **models):
    return System(classes=SH, models=models, decide=decide, costs=COSTS)


def refused(make):
    with pytest.raises(InputError) as problem:
        make()
    assert "\n" not in str(problem.value)
    return str(problem.value)


# ── what is never seen ───────────────────────────────────────────────────────────────────────────────────────────
NEVER = {"y": [1, 0, 1, 0], "a": [1, 0, 1, 0], "b": [1, 1, 1, 1]}


def never_no(**options):
    return System(NEVER, truth="y", models=["a", "b"], decide="a and b", costs=COSTS, **options)


def test_an_output_that_never_comes_is_a_dash_and_null():
    found = never_no()
    cells = {(cell["truth"], cell["says"], cell["decision"]): cell for cell in found.seeing_and_doing("b")}
    assert np.isnan(cells["1", "0", "1"]["seen"])
    assert cells["1", "0", "1"]["done"] == 0
    assert cells["1", "1", "1"]["seen"] == cells["1", "1", "1"]["done"] == 1
    told = json.loads(found.to_json())["seeing_and_doing"]["b"]
    assert [cell["seen"] for cell in told if cell["says"] == "0"] == [None] * 4
    assert re.search(r"^b +1 +0 +1 +– +0$", str(found), re.M)
    assert "b='0' never happens" in refused(lambda: found.given(b=0))


@pytest.mark.parametrize("prior", [0, 1])
def test_a_class_without_any_share_can_be_shown(prior):
    found = never_no(prior=prior)
    seen = [cell["seen"] for cell in json.loads(found.to_json())["seeing_and_doing"]["a"] if cell["truth"] == "1"]
    assert seen == [1, 0, None, None]  # what happens in a class does not ask how frequent the class is
    assert "the system costs" in str(found)


def test_a_table_with_an_empty_column_can_be_shown():
    found = of_tables(a=[[10, 0], [10, 0]], b=EVEN)
    told = json.loads(found.to_json())["seeing_and_doing"]["a"]
    assert {cell["seen"] for cell in told if cell["says"] == "h"} == {None}
    assert "component costs" in str(found)


# ── candidates ───────────────────────────────────────────────────────────────────────────────────────────────────
TABLE_OF_SHARES = {"s": {"s": 8, "h": 2}, "h": {"s": 1, "h": 9}}


@pytest.mark.parametrize("shares", [[0.8, 0.9], (0.8, 0.9), {"h": 0.9, "s": 0.8}, np.array([0.8, 0.9])])
@pytest.mark.parametrize("outputs", [["h", "s"], ["s", "h"]])
def test_shares_of_right_answers_go_by_name(shares, outputs):
    found = of_tables(a={"table": [[2, 8], [9, 1]], "outputs": outputs}, b=EVEN)
    by_shares, by_table = found.bounds("a", shares), found.bounds("a", TABLE_OF_SHARES)
    for one in ("best", "independent", "worst"):
        assert getattr(by_shares, one) == pytest.approx(getattr(by_table, one))
    assert by_shares.independent == pytest.approx(18.2)  # 10·(.8·.2·5 + .2·5) + 10·.1·.2
    assert found.component_costs("a").of(shares) == pytest.approx(found.component_costs("a").of(TABLE_OF_SHARES))


def test_shares_of_right_answers_need_outputs_that_are_the_classes():
    three = of_tables(a={"table": [[2, 8, 1], [9, 1, 1]], "outputs": ["h", "s", "odd"]}, b=EVEN)
    words = "'a' says 'h', 's' and 'odd', and the classes are 's' and 'h', so shares of right answers do not tell"
    assert words in refused(lambda: three.bounds("a", [0.8, 0.9]))
    assert words in refused(lambda: three.component_costs("a").of(0.8))
    seeing = of_tables(a={"table": [EVEN, EVEN], "sees": "b"}, b=EVEN)
    assert "'a' sees another model; give a table" in refused(lambda: seeing.bounds("a", [0.8, 0.9]))
    assert "'a' sees another model; give a table" in refused(lambda: seeing.component_costs("a").of([0.8, 0.9]))


def test_a_table_of_a_cascade_names_what_was_never_seen():
    words = "the table of 'a' has no case where the truth is 'h' and b says 's', c says 'h', so nobody knows"
    table = np.ones((2, 2, 2, 2)) * 3
    table[1, 0, 1] = 0
    models = {"c": EVEN, "a": {"table": table, "sees": ["b", "c"]}, "b": EVEN}
    assert words in refused(lambda: of_tables("a and b and c", **models))
    table[1] = 0
    assert "a has no case of the class 'h'" in refused(lambda: of_tables("a and b and c", **models))


# ── counted combinations ─────────────────────────────────────────────────────────────────────────────────────────
def counted():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 400)
    wrong = [rng.random(400) < rate for rate in (0.1, 0.4)]
    codes = [truth, *(np.where(w, 1 - truth, truth) for w in wrong)]
    return JointCounts.from_rows(("truth", "images", "history"), (tuple(SH),) * 3, codes)


def of_counts(models, decide):
    return System(counted(), models=models, decide=decide, costs=COSTS)


def test_models_of_counted_combinations_are_their_columns():
    plain = of_counts(["images", "history"], "images if images == 's' else history")
    swapped = of_counts({"images": "history", "history": "images"}, "images if images == 's' else history")
    renamed = of_counts({"img": "images", "his": {"column": "history"}}, "his if his == 's' else img")
    first = plain.component_costs("history").rates
    np.testing.assert_allclose(swapped.component_costs("images").rates, first)
    np.testing.assert_allclose(renamed.component_costs("his").rates, first)
    alone = of_counts(["images"], "images").cost
    assert of_counts({"history": "images"}, "history").cost == alone != of_counts(["history"], "history").cost
    assert "there is no column 'imges'; did you mean 'images'?" in refused(lambda: of_counts({"img": "imges"}, "img"))
    assert "there is no column 'truth'" in refused(lambda: of_counts({"img": "truth"}, "img"))
