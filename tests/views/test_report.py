"""The report as a file: what is in it, that names are inert, that it stays small, that no text is missing."""

import ast
import base64
import hashlib
import json
import re
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import stakes
from stakes import metrics
from stakes.errors import Text
from stakes.findings.pages import payload_of
from stakes.language import LANGUAGES, PLURALS, TRANSLATED
from stakes.language.texts import file_texts, texts
from stakes.metrics import cost
from stakes.uncertainty import permutation
from stakes.validation import refit
from stakes.views import report

pytestmark = pytest.mark.slow

HERE = Path(report.__file__).parent
PACKAGE = HERE.parents[1]
EVIL = "</script><script>alert(1)</script>"


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    return truth, 1 / (1 + np.exp(-rng.normal(size=n) - 1.5 * truth + 0.7))


def evaluation(n=400, **options):
    truth, score = rows(n)
    return stakes.evaluate(truth=np.where(truth, "sick", "well"), score=score, positive="sick", **options)


def section(payload, kind):
    return next(one for one in payload["sections"] if one["kind"] == kind)


def data_of(page):
    return json.loads(re.search(r'<script id="payload" type="application/json">(.*?)</script>', page, re.S).group(1))


def tones(payload):
    """How each question is answered, by its key."""
    return {one["question"]["key"]: one["tone"] for one in section(payload, "verdict")["answers"]}


def sentences(payload, question):
    """What an answer says: the values by the key."""
    (found,) = [one for one in section(payload, "verdict")["answers"] if one["question"]["key"] == question]
    return {one["key"]: one["values"] for one in found["sentences"]}


def keys_said(payload):
    return set(re.findall(r'"key": "([\w.]+)"', json.dumps(payload)))


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────────
def test_the_page_is_one_file_that_asks_for_nothing(tmp_path):
    target = tmp_path / "out.html"
    evaluation().report(target, lang="es")
    page = target.read_text(encoding="utf-8")
    assert page.startswith('<!doctype html>\n<html lang="es">')
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|innerHTML|eval|document\.write)\b", page)
    assert "default-src 'none'" in page
    for name in ("style", "script"):
        inside = re.search(rf"<{name}>(.*?)</{name}>", page, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in page
    assert list(tmp_path.iterdir()) == [target]  # nothing is left beside it


def test_names_from_the_data_are_inert():
    truth, score = rows()
    by = np.where(truth, "a & b\u2028", "<img src=x onerror=alert(1)>")
    ev = stakes.evaluate(truth=np.where(truth, EVIL, "<b>well"), score=score, positive=EVIL, by=by)
    page = report.html(payload_of(ev))
    assert page.count("<script") == 2
    assert page.count("</script") == 2
    assert "<img" not in page
    assert "\u2028" not in page
    assert data_of(page)["page"]["title"]["values"]["positive"] == EVIL
    assert section(data_of(page)["page"], "segments")["segments"][1]["name"] == "a & b\\u2028"


def test_the_page_stays_below_a_megabyte():
    truth, score = rows(3_000)
    by = np.array([f"segment {i % 300} " + "x" * 500 for i in range(3_000)])
    ev = stakes.evaluate(truth=np.where(truth, "y" * 5_000, "n" * 5_000), score=score, positive="y" * 5_000, by=by)
    payload = payload_of(ev)
    shown = section(payload, "segments")
    assert len(shown["segments"]) == 50
    assert shown["count"] == 300
    assert len(report.html(payload).encode()) < 1_000_000


def test_wrong_languages_and_folders_are_refused(tmp_path):
    with pytest.raises(stakes.InputError, match="lang='xx' is not known; give one of 'en', "):
        evaluation().report(tmp_path / "out.html", lang="xx")
    with pytest.raises(stakes.InputError, match="the folder to write to does not exist"):
        evaluation().report(tmp_path / "nowhere" / "out.html")
    assert list(tmp_path.iterdir()) == []


# ── the verdict ──────────────────────────────────────────────────────────────────────────────────────────────────
def test_a_good_model_is_told_to_be_good():
    payload = payload_of(evaluation(4_000))
    asked = ("verdict.better", "verdict.believe", "verdict.threshold", "verdict.where")
    assert [tones(payload)[question] for question in asked] == ["good", "good", "open", "note"]
    assert next(iter(sentences(payload, "verdict.better"))) == "verdict.better_yes"
    assert "verdict.believe_tiny_p" in sentences(payload, "verdict.believe")


def test_what_is_wrong_comes_first():
    order = ["bad", "doubt"]
    for payload in (payload_of(evaluation(60)), payload_of(stakes.evaluate(truth=[0, 1] * 40, score=[0.7, 0.2] * 40))):
        found = list(tones(payload).values())
        assert found == sorted(found, key=lambda tone: order.index(tone) if tone in order else 2)


def test_noise_is_told_to_be_noise():
    rng = np.random.default_rng(5)
    ev = stakes.evaluate(truth=rng.integers(0, 2, 200), score=rng.random(200))
    said = keys_said(payload_of(ev))
    assert {"verdict.better_unsure", "verdict.believe_chance", "caution.chance", "verdict.believe_p"} <= said


def test_an_order_upside_down_is_told():
    truth, score = rows(2_000)
    said = keys_said(payload_of(stakes.evaluate(truth=truth.astype(int), score=1 - score)))
    assert {"verdict.better_no", "caution.upside_down"} <= said


def test_a_majority_an_edge_and_a_flip_are_pointed_out():
    truth = np.array([1] * 990 + [0] * 10)
    score = np.linspace(0.6, 0.9, 1_000)
    said = keys_said(payload_of(stakes.evaluate(truth=truth, score=score)))
    assert {"caution.majority", "caution.edge", "caution.f1_flips", "caution.few"} <= said


def test_logits_perfection_and_left_out_rows_are_pointed_out():
    truth = np.array([0, 1] * 50)
    perfect = stakes.evaluate(truth=truth, score=truth * 4.0 - 2 + np.linspace(0, 0.1, 100), threshold=0)
    assert {"caution.perfect", "caution.logits", "verdict.honest_no_probabilities"} <= keys_said(payload_of(perfect))
    frame = {"y": [0, 1, 1, 0], "p": [0.1, None, 0.8, 0.4]}
    dropped = stakes.evaluate(frame, truth="y", score="p", missing="drop")
    assert "caution.dropped" in keys_said(payload_of(dropped))


@pytest.mark.parametrize(("bend", "key"), [(3.0, "verdict.honest_extreme"), (0.3, "verdict.honest_timid")])
def test_dishonest_probabilities_are_told_in_which_way(bend, key):
    rng = np.random.default_rng(1)
    logits = rng.normal(size=5_000)
    truth = rng.random(5_000) < 1 / (1 + np.exp(-logits))
    payload = payload_of(stakes.evaluate(truth=truth.astype(int), score=1 / (1 + np.exp(-bend * logits))))
    assert key in keys_said(payload)
    assert tones(payload)["verdict.honest"] == "doubt"


def test_the_threshold_to_use_is_the_recommended_one():
    costs = stakes.Costs(miss=5, false_alarm=1)
    ev = evaluation(costs=costs)
    decision = ev.decide()
    kept, bayes = decision.kept == decision.recommended[0], decision.bayes_is_alike
    key = f"verdict.threshold_{'keep' if kept else 'bayes' if bayes else 'best'}"
    best = sentences(payload_of(ev), "verdict.threshold")[key]
    assert best["threshold"] == pytest.approx(decision.recommended[0], abs=1e-3)
    assert (
        ev.at(best["threshold"]).confusion.counts.tolist() == ev.at(decision.recommended[0]).confusion.counts.tolist()
    )
    assert best["cost"] == pytest.approx(1000 * decision.cost.value, rel=1e-12)


def test_rows_that_did_not_choose_the_threshold_pay_what_decide_says():
    costs = stakes.Costs(miss=5, false_alarm=1)
    ev = evaluation(costs=costs)
    told = sentences(payload_of(ev), "verdict.threshold")
    decision = ev.decide()
    assert told["verdict.threshold_limits"]["low"] == pytest.approx(1000 * decision.cost.low)
    assert told["verdict.threshold_limits"]["high"] == pytest.approx(1000 * decision.cost.high)
    alike = told["verdict.threshold_alike"]
    ends = decision.alike[0][0][0], decision.alike[0][-1][1]
    assert (alike["low"], alike["high"]) == pytest.approx(ends, abs=1e-3)
    for told_end, end in zip((alike["low"], alike["high"]), ends, strict=True):
        assert ev.at(told_end).confusion.counts.tolist() == ev.at(end).confusion.counts.tolist()
    assert "verdict.threshold_unsure" not in told
    noise = np.random.default_rng(4)
    even = stakes.Costs(miss=1, false_alarm=1)
    truth, score = noise.integers(0, 2, 60), noise.random(60)
    unsure = stakes.evaluate(truth=truth, score=score, costs=even)
    assert "verdict.threshold_no_better" in keys_said(payload_of(unsure))
    weak = stakes.evaluate(truth=truth, score=(score + 0.4 * truth) / 1.4, costs=even)
    assert "verdict.threshold_unsure" in keys_said(payload_of(weak))


def test_an_evaluation_of_many_rows_prices_thresholds_as_decide_does():
    rng = np.random.default_rng(3)
    truth = rng.random(6_000) < 0.3
    score = 1 / (1 + np.exp(1 - 1.5 * rng.normal(size=6_000) - 1.5 * truth))
    ev = stakes.evaluate(truth=truth, score=score, costs=stakes.Costs(miss=5, false_alarm=1))
    decision = stakes.decide(truth=truth, score=score, costs=stakes.Costs(miss=5, false_alarm=1))
    told = sentences(payload_of(ev), "verdict.threshold")["verdict.threshold_limits"]
    assert (told["low"], told["high"]) == pytest.approx((1000 * decision.cost.low, 1000 * decision.cost.high))
    assert ev._decision.alternatives == decision.alternatives


def test_a_model_not_worth_asking_is_told():
    truth, score = rows(2_000)
    for miss, key in ((1.5, "verdict.threshold_worse"), (0.3, "verdict.threshold_no_better")):
        costs = stakes.Costs(miss=miss, false_alarm=1)
        ev = stakes.evaluate(truth=truth.astype(int), score=1 - score, costs=costs)
        assert key in keys_said(payload_of(ev))
        assert tones(payload_of(ev))["verdict.threshold"] == "bad"


def test_the_weakest_segment_is_named():
    truth, score = rows(3_000)
    noise = np.random.default_rng(9).random(3_000)
    by = np.where(np.arange(3_000) % 2 == 0, "fine", "poor")
    score = np.where(by == "poor", noise, score)
    ev = stakes.evaluate(truth=truth.astype(int), score=score, by=by)
    apart = sentences(payload_of(ev), "verdict.where")["verdict.where_apart"]
    assert apart["segment"] == "poor"
    assert apart["value"] == ev.segments["poor"]["auc"].value
    shown = {one["name"]: one for one in section(payload_of(ev), "segments")["segments"]}
    place = section(payload_of(ev), "segments")["metrics"].index("auc")
    figure, expected = shown["poor"]["figures"][place], ev.by_segment("auc")["poor"]
    assert (figure["place"], figure["tone"], figure["verdict"]["key"]) == (0, "bad", "segments.worse")
    assert figure["verdict"]["values"]["p"] == expected.adjusted_p_value
    assert figure["difference"] == expected.difference
    assert expected.verdict.startswith("worse than the rest")


def test_a_page_says_what_it_is_about(tmp_path):
    truth, score = rows()
    place = tmp_path / "preds.csv"
    lines = [f"{int(y)},{p},{'a' if p > 0.5 else 'b'}" for y, p in zip(truth, score, strict=True)]
    place.write_text("\n".join(["y,p,shop", *lines]))
    ev = stakes.evaluate(place, truth="y", score="p", by="shop", positive=1, where="p > 0.01")
    source = payload_of(ev)["source"]
    told = [stakes.language.sentences.Sentence(one["key"], one["values"]).words for one in source["facts"]]
    assert told == ["file: preds.csv", "truth: y", "score: p", "segments: shop", "rows where p > 0.01"]
    assert source["call"] == "evaluate('preds.csv', truth='y', score='p', by='shop', where='p > 0.01', positive=1)"
    (tmp_path / "more.csv").write_text("y,p,shop\n1,0.7,a\n0,0.2,b\n")
    two = stakes.evaluate([place, tmp_path / "more.csv"], truth="y", score="p", positive=1)
    first = payload_of(two)["source"]["facts"][0]
    assert (first["key"], first["values"]) == ("page.files", {"n": 2, "file": "preds.csv"})
    assert payload_of(evaluation())["source"] == {"facts": [], "call": "evaluate(truth=…, score=…, positive='sick')"}
    ev.report(tmp_path / "page.html")
    made = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))["page"]["made"]
    assert set(made) == {"date", "version"}
    assert made["date"] == date.today().isoformat()


def told_of(result):
    source = payload_of(result)["source"]
    facts = [stakes.language.sentences.Sentence(one["key"], one["values"]) for one in source["facts"]]
    return [one.words for one in facts], source["call"]


def test_every_verb_leaves_word_of_how_it_was_asked():
    rows = {"truth": "diagnosis", "positive": "malignant"}
    file, columns = "demo:breast_cancer", ["file: demo:breast_cancer", "truth: diagnosis", "score: logistic"]
    start = f"('{file}', truth='diagnosis', positive='malignant', "
    chosen = stakes.decide(file, **rows, score="logistic", costs=stakes.Costs(miss=5, false_alarm=1))
    assert told_of(chosen) == (columns, f"decide{start}score='logistic', costs=…)")
    shuffled = stakes.permutation_test(file, **rows, score="logistic", permutations=99, lang="es")
    assert told_of(shuffled) == (columns, f"permutation_test{start}score='logistic', permutations=99)")
    compared = stakes.compare(file, **rows, scores=["logistic", "neighbours"])
    models = ["file: demo:breast_cancer", "models: “logistic” and “neighbours”", "truth: diagnosis"]
    assert told_of(compared) == (models, f"compare{start}scores=…)")
    numbers = stakes.evaluate("demo:diabetes", truth="progression", prediction="linear", task="regression")
    assert told_of(numbers)[0] == ["file: demo:diabetes", "truth: progression", "prediction: linear"]
    assert told_of(stakes.System.from_toml("demo:clinic_and")) == ([], "")


# ── all kinds of two-class evaluations ───────────────────────────────────────────────────────────────────────────
def test_decisions_without_scores_have_a_page():
    truth, score = rows()
    payload = payload_of(stakes.evaluate(truth=truth.astype(int), prediction=(score > 0.5).astype(int)))
    assert [one["kind"] for one in payload["sections"]] == ["verdict", "confusion", "figures"]
    assert {"verdict.better_mcc", "verdict.believe_tiny_p_as_good", "verdict.honest_no_scores"} <= keys_said(payload)
    report.html(payload)


@pytest.mark.parametrize(
    "options",
    [
        {"weight": np.linspace(0.5, 2, 400)},
        {"cluster": np.arange(400) // 5},
        {"costs": stakes.Costs([[0, 3, 9], [20, 4, 0]], ["well", "sick"], ["home", "tests", "treat"])},
        {"costs": stakes.Costs(miss=5, false_alarm=1), "prior": 0.1, "training_prior": "rows"},
        {"costs": stakes.Costs(miss=5, false_alarm=1), "prior": 0.1, "training_prior": 0.3},
        {"by": np.array(["a", "b"] * 200), "threshold": 0.3},
    ],
    ids=["weights", "clusters", "three decisions", "prior", "training prior", "segments"],
)
def test_every_kind_of_evaluation_has_a_page(options):
    ev = evaluation(**options)
    data = data_of(report.html(payload_of(ev)))["page"]
    explorer = section(data, "explorer")
    assert explorer["P"] == pytest.approx(float(ev.scores.P))
    assert len(explorer["stops"]["tp"]) == len(explorer["stops"]["fp"]) == len(explorer["stops"]["thresholds"])
    figures = {one["name"]: one["value"] for one in section(data, "figures")["figures"]}
    assert figures["auc"] == ev["auc"].value


def test_odd_rows_have_a_page():
    for truth, score in [([1, 1, 1], [0.1, 0.2, 0.3]), ([0, 1], [0.5, 0.5]), ([0, 1], [0, 1]), ([0, 1, 1], [-3, 2, 5])]:
        ev = stakes.evaluate(truth=truth, score=score, positive=1, classes=[0, 1])
        data = payload_of(ev)
        shown = {one["name"]: one["value"] for one in section(data, "figures")["figures"]}
        assert shown["auc"] == (ev["auc"].value if ev["auc"].defined else None)
        assert json.dumps(len(truth)) in report.html(data)


def test_many_rows_give_nearly_the_same_calibration():
    ev = evaluation(250_000)
    shown = section(payload_of(ev), "calibration")
    slope, shift = ev.calibration.slope, ev.calibration.intercept_at_slope_1
    assert shown["line"][0]["value"] == pytest.approx(slope.value, rel=1e-6)
    assert shown["line"][1]["value"] == pytest.approx(shift.value, abs=1e-6)
    exact = ev.calibration.reliability().bins
    assert shown["bins"]["frequency"] == pytest.approx(exact.frequency.tolist(), abs=1e-4)
    assert shown["bins"]["mean_probability"] == pytest.approx(exact.mean_probability.tolist(), abs=1e-4)
    assert shown["losses"][0]["score"]["value"] == pytest.approx(ev["brier_score"].value, rel=1e-6)


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────
GROUPS = {key.partition(".")[0] for key in file_texts("en")}


def used_keys():
    """Every key that stands in a script or in Python, and the title of every kind of section.

    A key that is put together, f"segments.{name}", stands for all that begin so.
    """
    text = "".join(
        file.read_text() for file in (*HERE.rglob("*.js"), *set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})
    )
    found = {key for key in re.findall(r'"([a-z_]+\.[a-z_0-9]+)"', text) if key.partition(".")[0] in GROUPS}
    begun = tuple(one for one in re.findall(r"""f["']([a-z_]+\.[a-z_]*)\{""", text) if one.partition(".")[0] in GROUPS)
    kinds = {place.stem for place in (HERE / "script" / "sections").iterdir()}
    built = {key for key in file_texts("en") if key.startswith(begun)}
    return found | built | {f"{kind}.title" for kind in kinds}


def test_every_text_is_used_and_every_used_text_is_there():
    assert used_keys() - set(file_texts("en")) == set()
    assert not set(file_texts("en")) - used_keys()


def declared_reasons():
    """All reasons that metrics declare, and those of costs, which declare none.

    Those that name an argument are notes with a gap for it.
    """
    found = {words for metric in metrics.catalogue() for words in metric._reasons() if not isinstance(words, Text)}
    pricing = stakes.evaluate(truth=[0, 1], prediction=[0, 1], costs=stakes.Costs(miss=1, false_alarm=1)).pricing
    found |= set(cost.with_prices(metrics.find("expected_cost"), pricing)._reasons())
    found |= {re.sub("^recall", "{name}", metrics.find("macro_recall").otherwise)}
    by_cost = (HERE.parents[1] / "decisions" / "thresholds" / "by_cost.py").read_text()
    found |= {re.sub(r"^\{.+\}", "{start}", words) for words in re.findall(r'return None, f?"(.+)"', by_cost)}
    return found | {permutation.QUESTION, *refit._QUESTIONS.values()}


def notes_in_the_code():
    """Every text in the code, its gaps without their names; those of several pieces are one."""
    for file in HERE.parents[1].rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)


def test_notes_that_are_translated_are_said_somewhere():
    """Figures give notes in English; their translations are found by these words, so the words must be theirs."""
    said = "\n".join(notes_in_the_code())
    for lang in TRANSLATED:
        for key in (key for key in file_texts(lang) if key.startswith("note.")):
            pieces = re.split(
                r"\{\w+\}|, the largest|; pass |; | \(|, each | and what |culties, "
                r"| (?:rows? (?:are|is)|left out|more),? |MOVER\), ",
                key.removeprefix("note."),
            )
            assert all(piece.strip(" .);") in said for piece in pieces), key


@pytest.mark.parametrize("lang", TRANSLATED)
def test_languages_hold_the_same_keys_and_translate_every_metric(lang):
    names = {metric.name for metric in metrics.catalogue()}
    expected = {
        *file_texts("en"),
        *(f"{kind}.{name}" for kind in ("metric", "question") for name in names),
        *(f"reason.{words}" for words in declared_reasons()),
        *(key for key in file_texts("es") if key.startswith("note.")),
    }
    assert expected - set(file_texts(lang)) == set()
    assert set(file_texts(lang)) - expected == set()


def gaps(text):
    parts = [text] if isinstance(text, str) else text.values()
    return [sorted(re.findall(r"\{(.+?)\}", part)) for part in parts]


@pytest.mark.parametrize("lang", list(LANGUAGES))
def test_texts_have_their_plural_forms_and_the_same_gaps(lang):
    for key, text in file_texts(lang).items():
        english = texts("en").get(key, key.removeprefix("reason.").removeprefix("note."))
        if isinstance(english, dict):
            assert set(text) == PLURALS[lang], key
        if not key.startswith("reason.{rows}"):
            told, wanted = ({tuple(one) for one in gaps(part)} for part in (text, english))
            only = {()} if isinstance(text, dict) else set()  # "the only condition" needs no number
            assert told - only == wanted - only, key
        told = [text] if isinstance(text, str) else text.values()
        assert all(part.strip() == part != "" or key == "decided.range" for part in told), key  # which follows a word
        assert "⟦" not in str(text), f"{key} is a draft"


def test_what_is_said_fills_every_gap_of_its_text():
    truth, score = rows(300)
    payloads = [
        payload_of(evaluation(by=np.array(["a", "b"] * 200), costs=stakes.Costs(miss=5, false_alarm=1))),
        payload_of(stakes.evaluate(truth=truth.astype(int), prediction=(score > 0.5).astype(int))),
        payload_of(stakes.evaluate(truth=[0, 1], score=[-3, 2], threshold=9)),
    ]
    for payload in payloads:
        fills_every_gap(payload)


def fills_every_gap(payload):
    for said in _said(payload):
        wanted = {name.partition(":")[0] for part in gaps(texts("en")[said["key"]]) for name in part}
        assert wanted <= set(said["values"]), said["key"]


def _said(tree):
    if isinstance(tree, dict):
        if "key" in tree and "values" in tree:
            yield tree
        for value in tree.values():
            yield from _said(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _said(value)


def test_the_verdict_prices_rows_at_their_own_costs():
    """A threshold at other prices would send whoever decides the wrong way."""
    rng = np.random.default_rng(3)
    truth = rng.random(300) < 0.3
    score = np.clip(0.3 * truth + 0.7 * rng.random(300), 0, 1)
    rows = {"y": truth.astype(int), "p": score, "amount": 50 * rng.random(300)}
    ev = stakes.evaluate(rows, truth="y", score="p", costs=stakes.Costs(miss="amount", false_alarm=5))
    (verdict,) = [section for section in payload_of(ev)["sections"] if section["kind"] == "verdict"]
    (answer,) = [one for one in verdict["answers"] if one["question"]["key"] == "verdict.threshold"]
    keys = [sentence["key"] for sentence in answer["sentences"]]
    assert keys == ["verdict.threshold_by_row"]
    assert answer["sentences"][0]["values"]["cost"] == pytest.approx(1000 * ev["expected_cost"].value)
