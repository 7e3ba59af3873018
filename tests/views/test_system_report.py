"""The page of a system: what is in it, and in a real browser that its figures and sliders are Python's."""

import csv
import io
import itertools
import re

import numpy as np
import pytest

from stakes import Costs, System
from stakes.findings.pages import payload_of
from stakes.language import LANGUAGES, TRANSLATED
from stakes.language.texts import texts
from stakes.views import report
from tests.views.pages import nothing_stands_in_the_way
from tests.views.test_report import EVIL, fills_every_gap, section
from tests.views.test_report_browser import milliseconds_of_a_step, value

pytestmark = pytest.mark.slow

COSTS = Costs(miss=5, false_alarm=1)
ANIMALS = ("cat", "dog", "bird")
THREE = {
    "a": np.array([[70, 20, 10], [15, 80, 5], [10, 10, 80]]) / 100,
    "b": np.array([[60, 30, 10], [25, 70, 5], [10, 0, 90]]) / 100,
    "c": np.array(
        [[[8, 1, 1], [3, 5, 2], [2, 2, 6]], [[4, 5, 1], [1, 8, 1], [2, 6, 2]], [[4, 1, 5], [2, 2, 6], [0, 0, 10]]]
    )
    / 10,
}


def clinic(**changes):
    tables = {"images": [[80, 20], [20, 80]], "history": [[50, 50], [100, 100]]}
    return System(
        classes=["sick", "healthy"], **{"models": tables, "decide": "images and history", "costs": COSTS, **changes}
    )


def fused():
    """Five models, fusers that feed the decision, and a name that would like to be a script."""
    models = {
        "amount": [[70, 30], [90, 910]],
        "device": [[60, 40], [120, 880]],
        "history": [[80, 20], [200, 800]],
        "=1+1": [[55, 45], [40, 960]],
        EVIL: [[65, 35], [150, 850]],
    }
    fusers = {"signals": "at_least(2, amount, device, `=1+1`)", "people": f"history or `{EVIL}`"}
    costs = Costs(miss=40, false_alarm=3)
    return System(classes=["fraud", "fine"], models=models, fusers=fusers, decide="signals and people", costs=costs)


def cascade(tables):
    models = {"a": tables["a"], "b": tables["b"], "c": {"table": tables["c"], "sees": ["a"]}}
    costs = Costs([[0, 1, 2], [3, 0, 1], [5, 5, 0]], ANIMALS, ANIMALS)
    return System(classes=ANIMALS, models=models, decide="majority(a, b, c)", costs=costs, prior=[0.5, 0.3, 0.2])


def rows(n=400, seed=3):
    """Three models that find the same cases difficult."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.random(n) < 0.4, rng.random(n) < 0.4
    right = {name: rng.random(n) < np.where(hard, p - 0.25, p) for name, p in (("x", 0.9), ("y", 0.8), ("z", 0.85))}
    said = {name: np.where(truth == ok, "sick", "well") for name, ok in right.items()}
    return {"t": np.where(truth, "sick", "well"), **said}


def of_rows(data, **options):
    return System(
        data, truth="t", models=list("xyz"), positive="sick", decide="majority(x, y, z)", costs=COSTS, **options
    )


def answers(payload):
    return {one["question"]["key"].removeprefix("system."): one for one in section(payload, "verdict")["answers"]}


def sentences(payload, question):
    return {one["key"].removeprefix("system."): one["values"] for one in answers(payload)[question]["sentences"]}


def cautions(payload):
    found = [said["key"] for one in section(payload, "verdict")["cautions"] for said in one["sentences"]]
    return {key.removeprefix("system.caution_") for key in found}


# ── the payload ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_verdict_on_the_clinic_is_the_known_one():
    payload = payload_of(clinic())
    assert sentences(payload, "cost_question")["cost_is"]["cost"] == pytest.approx(320 / 0.3)
    dearer = sentences(payload, "cheaper_question")["cheaper_no"]  # "sick" for all costs 200 of the 320
    assert (dearer["decision"], dearer["always"], dearer["more"]) == (
        "sick",
        pytest.approx(200 / 0.3),
        pytest.approx(400),
    )
    assert sentences(payload, "whose_question")["whose_model"] == {
        "model": "history", "models": ["history"], "cost": pytest.approx(220 / 0.3)
    }  # fmt: skip
    dearest = sentences(payload, "whose_question")["whose_dearest"]
    assert (dearest["answer"], dearest["truth"]) == ("healthy", "sick")
    assert (dearest["times"], dearest["excess"]) == (pytest.approx(50 / 0.3), pytest.approx(4))
    first = sentences(payload, "first_question")["first_model"]
    assert (first["model"], first["saving"], first["perfect"]) == (
        "history", pytest.approx(220 / 0.3), pytest.approx(100 / 0.3)
    )  # fmt: skip
    spread = sentences(payload, "dependence_question")["dependence_range"]
    assert (spread["best"], spread["worst"]) == (pytest.approx(250 / 0.3), pytest.approx(390 / 0.3))
    assert [one["tone"] for one in answers(payload).values()] == ["bad", "note", "note", "note", "note", "note"]
    shown = section(payload, "system")["models"][1]
    assert shown["cells"]["expected"] == pytest.approx([1, 5, 0.2, 0])
    assert shown["cells"]["excess"] == pytest.approx([0, 4, 0.2, 0])


def test_rows_tell_what_erring_together_costs():
    system = of_rows(rows())
    known = sentences(payload_of(system), "dependence_question")["dependence_known"]
    independent = system.network.cost_if_independent()
    assert known["independent"] == pytest.approx(independent / 0.4)
    assert known["extra"] == pytest.approx((system.cost - independent) / 0.4)


def test_a_good_system_and_one_that_hangs_on_the_dependence_are_told_apart():
    good = [[99, 1], [2, 198]]
    payload = payload_of(clinic(models={"images": good, "history": good}, decide="images or history"))
    assert "cheaper_yes" in sentences(payload, "cheaper_question")
    assert answers(payload)["dependence_question"]["tone"] == "good"
    unsure = payload_of(clinic(models={"images": [[80, 20], [20, 180]], "history": [[80, 20], [40, 160]]}))
    assert answers(unsure)["dependence_question"]["tone"] == "doubt"
    assert "dependence_decides" in sentences(unsure, "dependence_question")
    few = payload_of(clinic(models={"images": [[8, 2], [2, 18]], "history": [[9, 1], [4, 16]]}))
    assert "cheaper_unsure" in sentences(few, "cheaper_question")
    assert "few" in cautions(few)
    assert sentences(few, "first_question")["first_unsure"]["models"] == ["images", "history"]
    assert answers(few)["first_question"]["tone"] == "doubt"
    saved = answers(few)["first_question"]["figures"][-1]
    assert saved["low"] < saved["value"] < saved["high"]


def test_one_model_and_useless_models_are_told():
    alone = payload_of(clinic(decide="images"))
    assert "dependence_nothing" in sentences(alone, "dependence_question")
    assert "unheard" in cautions(alone)
    always = payload_of(clinic(models={"images": [[1, 0], [1, 0]], "history": [[1, 0], [1, 0]]}, prior=0.3))
    assert "cheaper_alike" in sentences(always, "cheaper_question")
    assert "first_alike" in sentences(always, "first_question")
    perfect = clinic(models={"images": [1, 1], "history": [1, 1]}, prior=0.5)
    assert "whose_nobody" in sentences(payload_of(perfect), "whose_question")
    assert "first_none" in sentences(payload_of(perfect), "first_question")
    assert cautions(payload_of(perfect)) == {"independent", "rates"}


def test_cautions_name_what_figures_rest_on():
    helps = payload_of(clinic(decide='"sick" if images == "healthy" else "healthy"'))
    assert "helps" in cautions(helps)
    assert "first_none" in sentences(helps, "first_question") or "first_cheapest" in sentences(helps, "first_question")
    scan = {"table": [[5, 3, 2], [1, 1, 8]], "outputs": ["spot", "blur", "clear"]}
    unsaid = clinic(models={"scan": scan, "history": [0.9, 0.8]}, decide='"sick" if scan == "spot" else history')
    payload = payload_of(unsaid)
    assert {"right", "independent"} <= cautions(payload)
    assert sentences(payload, "first_question")["first_left_out"] == {"models": ["scan"]}
    votes = clinic(decide="majority(images, history)")
    assert "ties" in cautions(payload_of(votes))


def seen_in_rows(**options):
    data = rows()
    models = {"x": {"column": "x"}, "y": {"column": "y"}, "z": {"column": "z", "sees": ["x"]}}
    return System(data, truth="t", models=models, positive="sick", decide="majority(x, y, z)", costs=COSTS, **options)


def test_models_seen_by_others_in_rows_have_a_range_and_no_sliders():
    payload = payload_of(seen_in_rows())
    assert "range" in cautions(payload)
    shown = section(payload, "system")
    assert not shown["models"][0]["known"]
    assert {one["model"]: one["fixed"] for one in shown["sliders"]["axes"]} == {0: True, 1: False, 2: False}
    shared = payload_of(seen_in_rows(shared_difficulty=False))
    assert "shared" in cautions(shared)
    assert section(shared, "system")["models"][0]["known"]


def test_too_many_combinations_have_no_sliders():
    names = [f"m{i}" for i in range(16)]
    models = {name: [0.9, 0.8] for name in names}
    system = clinic(models=models, decide=f"majority({', '.join(names)})", prior=0.5)
    shown = section(payload_of(system), "system")["sliders"]
    assert shown == {"why_not": {"key": "system.too_many", "values": {"n": 2**16}}}


def test_what_is_said_fills_every_gap_and_names_are_inert(tmp_path):
    systems = [
        clinic(),
        fused(),
        cascade(THREE),
        of_rows(rows()),
        seen_in_rows(),
        clinic(decide="majority(images, history)"),
    ]
    for system in systems:
        fills_every_gap(payload_of(system))
    page = report.html(payload_of(fused()))
    assert page.count("<script") == page.count("</script") == 2
    clinic().report(tmp_path / "out.html", lang="es")
    assert (tmp_path / "out.html").read_text(encoding="utf-8").startswith('<!doctype html>\n<html lang="es">')


@pytest.mark.parametrize("count", [3, *(pytest.param(count, marks=pytest.mark.deep) for count in (5, 12))])
def test_the_page_stays_below_a_megabyte(count):
    rng = np.random.default_rng(0)
    classes = [f"class {i} " + "x" * 100 for i in range(count)]
    models = {f"model {i} " + "y" * 300: rng.integers(1, 99, (count, count)) for i in range(3)}
    rule = f"majority({', '.join(f'`{name}`' for name in models)})"
    system = System(classes=classes, models=models, decide=rule, costs=Costs(1 - np.eye(count), classes, classes))
    payload = payload_of(system)
    assert len(report.html(payload).encode()) < 1_000_000
    shown = section(payload, "system")["models"][0]["cells"]
    assert shown["count"] == count**2
    assert len(shown["rate"]) == count**2


def test_of_very_many_models_the_first_are_shown():
    rng = np.random.default_rng(1)
    data = {"t": rng.integers(0, 2, 40), **{f"m{i}": rng.integers(0, 2, 40) for i in range(53)}}
    system = System(data, truth="t", models=[f"m{i}" for i in range(53)], decide="m0 or m52", costs=COSTS)
    shown = section(payload_of(system), "system")
    assert (len(shown["models"]), shown["hidden"]) == (50, 3)
    assert {axis["model"] for axis in shown["sliders"]["axes"]} == {0, 52}


# ── in the browser ───────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("systems")
    systems = {
        "clinic": clinic(),
        "fused": fused(),
        "cascade": cascade(THREE),
        "rows": of_rows(rows()),
        "seen": seen_in_rows(),
    }
    for name, system in systems.items():
        system.report(folder / f"{name}.html")
    return {name: (folder / f"{name}.html", system) for name, system in systems.items()}


def choose(page, place):
    page.select_option("#model-choice", str(place))


def set_accuracy(page, share, c, a=0):
    """Move a slider to a share of right answers."""
    page.locator(f"#accuracy-{c}-{a}").evaluate(
        "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }", round(1000 * share)
    )


def with_accuracy(row, right, share):
    """A row of a table in which errors stay as frequent among each other; who never erred errs evenly."""
    wrong = np.delete(row, right)
    errors = wrong / wrong.sum() if wrong.sum() else np.full(len(wrong), 1 / len(wrong))
    return np.insert((1 - share) * errors, right, share)


def per_thousand(system):
    return 1000 * system.cost / sum(system.cases.values())


def test_untouched_sliders_stand_at_the_cost_of_the_system(opened, pages):
    for path, system in pages.values():
        page = opened(path)
        assert value(page, "#system-cost") == pytest.approx(per_thousand(system), rel=1e-9)
        assert value(page, "#system-now") == pytest.approx(per_thousand(system), rel=1e-12)
        assert value(page, "#system-change") == 0


def test_sliders_of_a_system_of_tables_agree_with_python(opened, pages):
    page = opened(pages["fused"][0])
    system = pages["fused"][1]
    tables = {name: system.network.models[name].chances[:, 0] for name in system.models}
    for place, c, share in [(0, 0, 0.9), (0, 1, 0.5), (4, 0, 1.0), (3, 1, 0.0), (2, 0, 0.123), (4, 1, 0.999)]:
        choose(page, place)
        set_accuracy(page, share, c)
        name = system.models[place]
        tables[name] = tables[name].copy()
        tables[name][c] = with_accuracy(tables[name][c], c, share)
        again = System(
            classes=system.classes,
            models=tables,
            fusers={"signals": "at_least(2, amount, device, `=1+1`)", "people": f"history or `{EVIL}`"},
            decide="signals and people",
            costs=Costs(miss=40, false_alarm=3),
            prior=[100 / 1100, 1000 / 1100],
        )
        assert value(page, "#system-cost") == pytest.approx(1000 * again.cost, rel=1e-9)
        decided = again.do().decisions
        for i, j in itertools.product(range(2), range(2)):
            assert value(page, f"#decided-{i}-{j}") == pytest.approx(decided[i, j], abs=1e-12)
    page.click("#reset-model")
    tables[EVIL] = system.network.models[EVIL].chances[:, 0]
    assert value(page, "#system-cost") != pytest.approx(per_thousand(system), rel=1e-6)
    page.click("#reset-all")
    assert value(page, "#system-cost") == pytest.approx(per_thousand(system), rel=1e-9)


def test_sliders_of_three_classes_and_of_a_model_that_sees_agree_with_python(opened, pages):
    page = opened(pages["cascade"][0])
    tables = {name: table.copy() for name, table in THREE.items()}
    for place, c, a, share in [(0, 1, 0, 0.2), (1, 2, 0, 0.75), (2, 0, 1, 0.9), (2, 2, 2, 0.4), (0, 0, 0, 1.0)]:
        choose(page, place)
        set_accuracy(page, share, c, a)
        table = tables["abc"[place]]
        row = table[c, a] if place == 2 else table[c]
        row[:] = with_accuracy(row, c, share)
        assert value(page, "#system-cost") == pytest.approx(1000 * cascade(tables).cost, rel=1e-9)


def after_two(table):
    """A model that sees two others, which speak different languages."""
    shade = {"table": [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]], "outputs": ["dark", "grey", "pale"]}
    models = {"shade": shade, "images": [0.8, 0.7], "last": {"table": table, "sees": ["shade", "images"]}}
    return clinic(models=models, decide="last", prior=0.3)


def test_sliders_of_a_model_that_sees_two_others_agree_with_python(opened, tmp_path):
    table = np.random.default_rng(2).dirichlet([2, 2], (2, 3, 2))
    after_two(table).report(tmp_path / "two.html")
    page = opened(tmp_path / "two.html")
    choose(page, 2)
    for c, a, share in ((0, 1, 0.9), (0, 4, 0.05), (1, 2, 0.5), (1, 5, 1.0)):
        set_accuracy(page, share, c, a)
        row = table.reshape(2, 6, 2)[c, a]
        row[:] = with_accuracy(row, c, share)
        assert value(page, "#system-cost") == pytest.approx(1000 * after_two(table).cost, rel=1e-9)
    label = page.locator("#accuracy-0-4").get_attribute("aria-label")
    assert label == "right when the truth is “sick” and it sees shade: pale, images: sick"
    choose(page, 0)
    assert "which answers of “shade” are right" in page.locator("#no-sliders").inner_text().lower()


def by_hand(data, shares):
    """What 1,000 rows cost when answers are put right (or spoilt) at random, row by row and case by case."""
    total = 0.0
    names = {"sick": 0, "well": 1}
    for i, truth in enumerate(data["t"]):
        chance_right = []
        for name in "xyz":
            inside = data["t"] == truth
            now = np.mean(data[name][inside] == truth)
            wanted = shares.get((name, names[truth]), now)
            right = data[name][i] == truth
            if wanted >= now:
                chance_right.append(1.0 if right else (wanted - now) / (1 - now))
            else:
                chance_right.append(wanted / now if right else 0.0)
        p, q, r = chance_right
        fails = 1 - (p * q * r + p * q * (1 - r) + p * (1 - q) * r + (1 - p) * q * r)
        total += fails * (5 if truth == "sick" else 1)
    return 1000 * total / len(data["t"])


def test_sliders_of_rows_keep_what_the_models_say_together(opened, pages):
    path, system = pages["rows"]
    page = opened(path)
    shares = {}
    assert by_hand(rows(), {}) == pytest.approx(per_thousand(system), rel=1e-9)
    for name, c, share in [("x", 0, 0.95), ("y", 1, 0.3), ("z", 0, 0.6), ("x", 1, 1.0)]:
        choose(page, "xyz".index(name))
        set_accuracy(page, share, c)
        shares[name, c] = share
        assert value(page, "#system-cost") == pytest.approx(by_hand(rows(), shares), rel=1e-9)
    page.click("#reset-all")
    for c in (0, 1):
        set_accuracy(page, 1, c)
    perfect = system.worth()["x"].perfect / sum(system.cases.values())
    assert value(page, "#system-cost") == pytest.approx(1000 * perfect, rel=1e-9)


def test_typed_shares_and_keys_move_the_cost(opened, pages):
    page = opened(pages["clinic"][0])
    page.fill("#accuracy-typed-0-0", "62,5 %")
    page.press("#accuracy-typed-0-0", "Enter")
    again = clinic(models={"images": [[80, 20], [20, 80]], "history": [[62.5, 37.5], [100, 100]]})
    assert value(page, "#system-cost") == pytest.approx(per_thousand(again), rel=1e-9)
    page.locator("#accuracy-0-0").focus()
    page.keyboard.press("End")
    again = clinic(models={"images": [[80, 20], [20, 80]], "history": [[100, 0], [100, 100]]})
    assert value(page, "#system-cost") == pytest.approx(per_thousand(again), rel=1e-9)
    assert value(page, "#system-change") == pytest.approx(per_thousand(again) - 320 / 0.3, rel=1e-9)
    for wrong in ("101", "-1", "much"):
        page.fill("#accuracy-typed-0-0", wrong)
        page.press("#accuracy-typed-0-0", "Enter")
        assert page.locator("#accuracy-typed-0-0").get_attribute("aria-invalid") == "true"
    assert value(page, "#system-cost") == pytest.approx(per_thousand(again), rel=1e-9)


def test_the_drawn_cost_goes_through_where_the_sliders_stand(opened, pages):
    page = opened(pages["clinic"][0])
    set_accuracy(page, 0.9, 0)
    with page.expect_download() as download:
        page.locator("#accuracy button", has_text="CSV").click()
    _, *lines = csv.reader(io.StringIO(download.value.path().read_text()))
    drawn = {(row[0], float(row[1])): float(row[2]) for row in lines}
    for (label, share), cost in drawn.items():
        sick, healthy = (share, 0.5) if "sick" in label else (0.9, share)
        table = [[100 * sick, 100 - 100 * sick], [200 - 200 * healthy, 200 * healthy]]
        assert cost == pytest.approx(per_thousand(clinic(models={"images": [[80, 20], [20, 80]], "history": table})))
    assert len(drawn) == 6


def test_models_are_chosen_by_click_and_by_key(opened, pages):
    path, system = pages["fused"]
    page = opened(path)
    nodes = page.locator("#network [role=button]")
    assert nodes.count() == 5
    assert page.locator("#network .inner").count() == 3  # two fusers and the decision have double circles
    for place in (0, 4, 2):
        nodes.nth(place).click()
        agrees_with(page, system, place)
        assert [one.get_attribute("aria-pressed") for one in nodes.all()] == [str(i == place).lower() for i in range(5)]
        assert page.locator("#model-choice").input_value() == str(place)
    for place, key in ((1, "Enter"), (3, " ")):
        nodes.nth(place).focus()
        page.keyboard.press(key)
        agrees_with(page, system, place)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "=1+1"
    assert page.locator("#network .chosen").count() == 2  # from the truth, and to the fuser


def agrees_with(page, system, place):
    """Compare everything that the page says about one model with Python."""
    name = system.models[place]
    scale = 1000 / sum(system.cases.values())
    cells = list(system.component_costs(name).to_rows())
    for figure in ("rate", "expected", "excess"):
        shown = page.locator(f"#component-costs [data-figure={figure}]").all()
        found = [one.get_attribute("data-value") for one in shown]
        assert [float(one) for one in found] == pytest.approx([cell[figure] for cell in cells], rel=1e-9, abs=1e-12)
    bounds, worth, costs = system.bounds(name), system.worth()[name], system.component_costs(name)
    expected = {
        "best": bounds.best, "independent": bounds.independent, "worst": bounds.worst, "perfect": worth.perfect,
        "saving": worth.saving, "removed": worth.removed, "share": worth.share, "in-expected": costs.evaluation,
        "in-excess": costs.excess_evaluation, "in-dependence": costs.dependence,
    }  # fmt: skip
    for figure, wanted in expected.items():
        assert value(page, f"#model-{figure}") == pytest.approx(scale * wanted, rel=1e-9, abs=1e-9), figure


def test_models_of_rows_agree_with_python(opened, pages):
    path, system = pages["rows"]
    page = opened(path)
    for place in range(3):
        choose(page, place)
        agrees_with(page, system, place)


def test_a_model_without_sliders_says_why(opened, pages):
    page = opened(pages["seen"][0])
    choose(page, 0)
    assert "see “x”" in page.locator("#no-sliders").inner_text()
    assert page.locator("#accuracy").count() == 0
    choose(page, 1)
    assert page.locator("#no-sliders").count() == 0
    assert page.locator("#accuracy").count() == 1


def test_the_language_changes_and_what_was_set_stays(opened, pages):
    page = opened(pages["fused"][0])
    choose(page, 1)
    set_accuracy(page, 0.9, 0)
    cost = value(page, "#system-cost")
    for lang in TRANSLATED:
        page.select_option("#language", lang)
        assert value(page, "#system-cost") == cost
        assert page.locator("#model-choice").input_value() == "1"
        assert page.locator("#system-title").inner_text() == texts(lang)["system.title"]
        everything = page.locator("body").inner_text()
        assert not re.search(r"\{\w+", everything)
        english = ("the ", " of ", "cost ", "right ", "mistake")
        assert [word for word in english if word in everything.replace(EVIL, "")] == []


def test_names_are_text_and_data_can_be_saved(opened, pages):
    page = opened(pages["fused"][0])
    assert page.evaluate("document.scripts.length") == 2
    assert EVIL in page.locator(".rules").inner_text()
    saved = {}
    for figure, kind in (("network", "CSV"), ("network", "SVG"), ("perfect", "CSV"), ("bounds", "SVG")):
        with page.expect_download() as download:
            page.locator(f"#{figure} button", has_text=kind).click()
        saved[figure, kind] = download.value.path().read_text()
    arrows = list(csv.reader(io.StringIO(saved["network", "CSV"])))
    assert ["'=1+1", "signals"] in arrows
    assert arrows[-1] == ["truth", "cost"]
    assert saved["network", "SVG"].startswith("<svg")
    assert "&lt;/script&gt;" in saved["network", "SVG"]
    names = [row[0] for row in csv.reader(io.StringIO(saved["perfect", "CSV"]))]
    assert names[1:] == ["amount", "device", "history", "'=1+1", EVIL, "all of them"]


def test_nothing_stands_in_the_way_of_anybody(opened, pages):
    nothing_stands_in_the_way(opened(pages["fused"][0]))


def test_a_phone_needs_no_sideways_scrolling(opened, pages):
    page = opened(pages["fused"][0], viewport={"width": 360, "height": 740})
    for lang in LANGUAGES:
        page.select_option("#language", lang)
        assert page.evaluate("document.documentElement.scrollWidth") == 360, lang


def test_a_step_of_a_slider_takes_less_than_two_frames(opened, tmp_path):
    names = [f"m{i}" for i in range(13)]
    system = clinic(models={name: [0.9, 0.7] for name in names}, decide=f"at_least(5, {', '.join(names)})", prior=0.3)
    system.report(tmp_path / "many.html")
    page = opened(tmp_path / "many.html")
    assert milliseconds_of_a_step(page, "accuracy-0-0", 40, 20) < 33
    assert value(page, "#accuracy-0-0") == 0.78
