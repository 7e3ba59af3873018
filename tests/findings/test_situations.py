"""What is to be said is said on every surface: constructed situations, each with the finding that it calls for."""

import json
from html import escape

import numpy as np
import pytest

import stakes
from stakes.findings.pages import payload_of
from stakes.language import LANGUAGES, speaking
from stakes.language.sentences import Sentence
from stakes.views import markdown

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, 300)
P = np.clip(0.3 * Y + 0.7 * RNG.random(300), 0.001, 0.999)
HONEST = RNG.beta(1, 1, 2000)
HAPPENED = (RNG.random(2000) < HONEST).astype(int)
K = np.array(["a", "b", "c"])[RNG.integers(0, 3, 300)]
ONE_HOT = np.array([[float(label == name) for name in "abc"] for label in K])
Q = 0.3 * ONE_HOT + 0.7 * RNG.dirichlet([1, 1, 1], 300)
T = RNG.normal(size=300)
COSTS = stakes.Costs(miss=5, false_alarm=1)


def two(score, truth=Y, **more):
    return lambda: stakes.evaluate(truth=truth, score=score, **more)


def decided(prediction, truth=Y, **more):
    return lambda: stakes.evaluate(truth=truth, prediction=prediction, **more)


def classes(score, **more):
    return lambda: stakes.evaluate(truth=K, score=score, classes=list("abc"), **more)


def classes_of_one():
    return stakes.evaluate(truth=["a"] * 300, score=Q, classes=list("abc"))


def noisy(size):
    return np.clip(P + RNG.normal(0, size, 300), 0, 1)


def segmented():
    """A score that is worthless in one of two segments."""
    where = np.arange(300) % 2
    return two(np.where(where == 0, P, RNG.random(300)), by=np.array(["good", "bad"])[where])


SITUATIONS = {
    "a useful score": (two(P), "verdict.better", "good"),
    "the same decision for everyone": (decided(np.zeros(300, int)), "verdict.better", "bad"),
    "noise": (two(RNG.random(300)), "verdict.better", "doubt"),
    "noise is not believed": (two(RNG.random(300)), "verdict.believe", "doubt"),
    "few rows": (two(P[:30], Y[:30]), "verdict.believe", "doubt"),
    "few rows are counted": (two(P[:30], Y[:30]), "caution.few", "caution"),
    "the truth as its own score": (two(Y.astype(float)), "caution.own_truth", "wrong"),
    "the truth in other numbers": (two(3.0 * Y - 7), "caution.own_truth", "wrong"),
    "a constant score": (two(np.full(300, 0.25)), "caution.constant", "wrong"),
    "scores upside down": (two(1 - P), "caution.upside_down", "wrong"),
    "logits": (two(6 * P - 3, threshold=0), "caution.logits", "caution"),
    "a threshold at the edge": (two(P / 10), "caution.edge", "caution"),
    "an interval that covers chance": (two(RNG.random(300)), "caution.chance", "caution"),
    "suspiciously perfect": (two(Y + 0.1 * RNG.random(300)), "caution.perfect", "caution"),
    "one class": (two([0.3] * 25 + [0.7] * 25, [1] * 50), "caution.absent", "caution"),
    "one class of three": (classes_of_one, "caution.absent", "caution"),
    "probabilities in bins": (two(P, exact=False), "verdict.honest", "doubt"),
    "bins": (two(P, exact=False), "caution.bins", "caution"),
    "f1 that flips": (decided(np.ones(300, int), (RNG.random(300) < 0.9).astype(int)), "caution.f1_flips", "caution"),
    "no better than the majority": (decided(1 - Y), "caution.majority", "caution"),
    "honest probabilities": (two(HONEST, HAPPENED), "verdict.honest", "good"),
    "too extreme probabilities": (
        two(HONEST**3 / (HONEST**3 + (1 - HONEST) ** 3), HAPPENED),
        "verdict.honest",
        "doubt",
    ),
    "an impossible thing happened": (two(np.where(HONEST < 0.4, 0.0, HONEST), HAPPENED), "verdict.honest", "bad"),
    "no costs, no optimum": (two(P), "verdict.threshold", "open"),
    "useful at these costs": (two(HONEST, HAPPENED, costs=COSTS), "verdict.threshold", "good"),
    "useless at these costs": (
        two(RNG.random(300) * 0.2 + 0.4, costs=stakes.Costs(miss=100, false_alarm=1)),
        "verdict.threshold",
        "bad",
    ),
    "a weak segment": (segmented(), "verdict.where", "doubt"),
    "decisions nobody names": (decided(np.where(Y, "cat", "dog"), np.where(Y ^ (P < 0.2), "cat", "dog")),
                               "caution.no_positive", "caution"),
    "columns of classes in another order": (classes(Q[:, [1, 2, 0]]), "caution.classes_upside_down", "wrong"),
    "one-hot truth as scores": (classes(ONE_HOT), "caution.own_truth", "wrong"),
    "kappa has a word": (classes(Q), "caution.kappa", "caution"),
    "a good regression": (decided(T + 0.2 * RNG.normal(size=300), T), "verdict.better", "good"),
    "predictions that are shifted": (decided(T + 1 + 0.1 * RNG.normal(size=300), T), "verdict.shifted", "doubt"),
    "predictions that go down": (decided(-T + 0.1 * RNG.normal(size=300), T), "caution.downwards", "wrong"),
    "a constant prediction": (decided(np.full(300, 2.5), T), "caution.constant_prediction", "wrong"),
    "a copy of the numbers": (decided(T.copy(), T), "caution.own_truth", "wrong"),
    "a few large errors": (
        decided(T + np.where(np.arange(300) % 100 == 0, 30, 0.1) * RNG.normal(size=300), T),
        "caution.few_large_errors",
        "caution",
    ),
    "rows left out": (
        lambda: stakes.evaluate({"y": [1, 0, None, 1, 0], "p": [0.9, 0.2, 0.4, 0.7, 0.1]}, truth="y", score="p",
                                missing="drop"),
        "caution.dropped",
        "caution",
    ),
    "a model that is surely better": (
        lambda: stakes.compare(truth=Y, scores={"good": P, "worse": noisy(0.5)}),
        "compared.which",
        "good",
    ),
    "models alike": (lambda: stakes.compare(truth=Y, scores={"a": P, "b": noisy(0.01)}), "compared.which", "doubt"),
    "a model upside down among others": (
        lambda: stakes.compare(truth=Y, scores={"right": P, "wrong": 1 - P}),
        "caution.upside_down",
        "wrong",
    ),
    "a decision that earns its keep": (
        lambda: stakes.decide(truth=HAPPENED, score=HONEST, costs=COSTS),
        "decided.evidence",
        "good",
    ),
    "a decision by upside-down scores": (
        lambda: stakes.decide(truth=Y, score=1 - P, costs=COSTS),
        "caution.upside_down",
        "wrong",
    ),
    "one of several numbers is worse than a guess": (
        lambda: stakes.evaluate(
            truth=np.stack([P, P], 1), prediction=np.stack([P + 0.01 * Y, RNG.permutation(P)], 1), task="regression"
        ),
        "verdict.where",
        "bad",
    ),
    "a threshold under a condition": (
        lambda: stakes.decide(truth=HAPPENED, score=HONEST, best="recall >= 0.9"),
        "decided.what",
        "good",
    ),
    "hardly chance": (lambda: stakes.permutation_test(truth=Y, score=P, permutations=99), "chance.question", "good"),
    "chance": (
        lambda: stakes.permutation_test(truth=Y, score=RNG.permutation(P), permutations=99),
        "chance.question",
        "doubt",
    ),
    "it helps": (lambda: stakes.calibrate(truth=HAPPENED, score=HONEST**3), "recalibration.question", "good"),
    "a closed gate": (lambda: stakes.gate(two(P)(), require="auc >= 0.99"), "gate.question", "bad"),
    "an open gate": (lambda: stakes.gate(two(P)(), require="auc >= 0.5"), "gate.question", "good"),
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    """Each situation is worked out once."""
    return {name: make() for name, (make, _, _) in SITUATIONS.items()}


@pytest.mark.slow
@pytest.mark.spread(15)
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_finding_is_told_on_every_surface(results, name):
    result, (_, key, tone) = results[name], SITUATIONS[name]
    found = [one for one in result.findings if one.key == key]
    assert [one.tone for one in found][:1] == [tone], [(one.key, one.tone) for one in result.findings]
    terminal, notebook, markup = " ".join(str(result).split()), result._repr_html_(), result.to_markdown()
    told = json.loads(result.to_json())["findings"]
    for one in found:
        for words in one.words:
            assert words in terminal
            assert escape(words) in notebook
            assert markdown.text(words) in markup
        assert one.to_dict() in told


@pytest.mark.spread(8)
@pytest.mark.parametrize(
    "name", [name for name, (_, key, _) in SITUATIONS.items() if "recal" not in key and "gate" not in key]
)
def test_the_page_tells_the_same(results, name):
    result, (_, key, tone) = results[name], SITUATIONS[name]
    verdict = payload_of(result)["sections"][0]
    cards = [(one["question"]["key"], one["tone"]) for one in verdict["answers"]]
    told = [(one["sentences"][-1], one["tone"]) for one in verdict["cautions"]]
    cards += [(one["values"].get("words", one)["key"] if "about" in one["key"] else one["key"], t) for one, t in told]
    assert (key, tone) in cards


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.parametrize("lang", [code for code in LANGUAGES if code != "en"])
@pytest.mark.spread(50)
def test_other_languages_tell_the_same_in_their_words(results, name, lang):
    result = results[name]
    english = {words for one in result.findings for words in one.words}
    with speaking(lang):
        translated = [words for one in result.findings for words in one.words]
    assert not english.intersection(translated)
    assert all("{" not in words for words in translated)
    data = result.to_dict(lang)["findings"]
    assert [words for one in data for words in one["words"]] == translated


def test_with_one_class_the_reason_is_that_the_other_is_missing(results):
    """Scores and decisions are there: nothing may say that they are not."""
    answers = {one.key: [said.key for said in one.sentences] for one in results["one class"].findings if one.answers}
    needed = ["verdict.both_needed"]
    assert answers.pop("verdict.better") == ["verdict.better_unknown"]
    assert answers == dict.fromkeys(("verdict.believe", "verdict.honest", "verdict.threshold", "verdict.where"), needed)
    (honest,) = [one for one in results["one class of three"].findings if one.key == "verdict.honest"]
    assert [one.key for one in honest.sentences] == ["verdict.classes_needed"]


def test_only_figures_that_support_a_verdict_are_cited():
    """A score that orders well, at a threshold that decides worse than the more frequent class does."""
    truth = [0] * 170 + [1] * 230
    score = np.random.default_rng(1).normal(0.2 + 0.1 * np.array(truth), 0.05)
    found = stakes.evaluate(truth=truth, score=score, threshold=0.33)
    assert found["accuracy"].value < 230 / 400
    (better,) = [one for one in found.findings if one.key == "verdict.better"]
    assert (better.tone, [one.key for one in better.sentences][1:]) == ("good", ["verdict.better_auc"])
    assert [one.name for one in better.figures] == ["auc"]
    assert "caution.majority" in [one.key for one in found.findings]
    (better,) = [one for one in found.at(0.25).findings if one.key == "verdict.better"]
    assert [one.name for one in better.figures] == ["auc", "accuracy"]


def test_wide_bins_are_the_reason_why_honesty_is_not_checked(results, tmp_path):
    stakes.count(truth=Y, score=P).save(tmp_path / "t.tally")
    for found, checked in ((results["bins"], True), (stakes.evaluate(tmp_path / "t.tally"), False)):
        (honest,) = [one for one in found.findings if one.key == "verdict.honest"]
        assert ("verdict.honest_bins" in [one.key for one in honest.sentences]) is not checked


def test_what_is_wrong_comes_first(results):
    """What makes figures meaningless stands first; what is decided, and whom that finds, stands before doubts."""
    order = {"wrong": 0, "bad": 2, "doubt": 3, "caution": 5}
    decided = ("decided.what", "decided.who", "decided.alarms")
    for name, result in results.items():
        places = [1 if one.key in decided else order.get(one.tone, 4) for one in result.findings]
        assert places == sorted(places), name


def test_a_verdict_and_its_figures_fit_on_one_screen(results):
    """24 lines of 80 columns hold the answers of an evaluation of two classes, with the figures behind them."""
    from stakes.views.pages import page_of
    from stakes.views.terminal import text_of_page

    ev = results["a useful score"]
    shown = text_of_page(page_of(ev), 80).splitlines()
    last = ev.findings[-1] if ev.findings[-1].answers else [one for one in ev.findings if one.answers][-1]
    assert any(last.figures[0].words[:20] in line for line in shown[:24])
    assert max(map(len, shown)) <= 80


def test_a_sentence_within_a_sentence_and_lists_are_told():
    assert Sentence("page.list", {"before": "“a”, “b”", "last": "“c”"}).words == "“a”, “b” and “c”"
    with speaking("ru"):
        assert Sentence("page.rows", {"n": 21}).words == "21 строка"
        assert Sentence("page.rows", {"n": 11}).words == "11 строк"
        assert Sentence("page.rows", {"n": 1_000_000}).words == "1\xa0000\xa0000 строк"


def test_gates_refuse_what_is_wrong():
    for name in ("the truth as its own score", "a constant score", "scores upside down"):
        ev = SITUATIONS[name][0]()
        with pytest.raises(stakes.InputError, match="A gate does not judge that"):
            stakes.gate(ev, require="recall > 0")


def tone_of(result, key):
    (found,) = [one for one in result.findings if one.key == key]
    return found.tone, found.sentences[0].key


def days(hits, count):
    return {
        f"d{i:03}": stakes.count(truth=[1] * 50 + [0], prediction=[1] * hits + [0] * (51 - hits)) for i in range(count)
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "key", "told"),
    [
        (two([0.2, 0.7, 0.4, 0.3, 0.8, 0.6], [0, 1, 0, 1, 1, 0]), "verdict.honest", ("doubt", "verdict.honest_unsure")),
        (decided(T[:6] + 0.3 * np.tile([1, -1], 3), T[:6]), "verdict.shifted", ("doubt", "verdict.shifted_unsure")),
        (decided(T + 0.2 * np.tile([1, -1], 150), T), "verdict.shifted", ("good", "verdict.shifted_no")),
        (
            lambda: stakes.decide(truth=Y[:24], score=P[:24], costs=COSTS),
            "decided.honest",
            ("doubt", "decided.misled_unsure"),
        ),
        (
            lambda: stakes.decide(truth=HAPPENED, score=HONEST, costs=COSTS),
            "decided.honest",
            ("good", "decided.not_misled_less"),
        ),
        (
            lambda: stakes.decide(truth=HAPPENED, score=HONEST, best="recall >= 0.9"),
            "decided.worth",
            ("doubt", "decided.figure"),
        ),
        (lambda: stakes.watch(days(48, 2), require="recall >= 0.9"), "watch.question", ("note", "watch.no_alarm_yet")),
        (lambda: stakes.watch(days(48, 40), require="recall >= 0.9"), "watch.question", ("good", "watch.no_alarm")),
    ],
)  # fmt: skip
@pytest.mark.spread(4)
def test_the_silence_of_rows_that_cannot_tell_is_no_tick(make, key, told):
    assert tone_of(make(), key) == told


def test_a_segment_that_was_not_compared_with_the_rest_is_not_called_chance():
    """Rows of a cluster may lie in several segments, so clusters are not compared by segment."""
    rng = np.random.default_rng(0)
    truth, site = rng.random(3000) < 0.4, np.array(["A", "B", "C"])[np.arange(3000) % 3]
    score = 1 / (1 + np.exp(-rng.normal(size=3000) - np.where(site == "C", 0.1, 2.0) * truth))
    question = {"truth": truth, "score": score, "by": site}
    for cluster, key in ((None, "verdict.where_apart"), (np.arange(3000) % 500, "verdict.where_untested")):
        found = stakes.evaluate(**question, cluster=cluster)
        keys = [one.key for finding in found.findings for one in finding.sentences]
        assert [one for one in keys if one.startswith("verdict.where_a") or one.endswith("untested")] == [key]


def test_what_honest_probabilities_show_is_told_of_all_rows_or_not_at_all():
    """A sample shows more miscalibration by chance than all rows would."""
    rng = np.random.default_rng(0)
    for rows, told in ((2_000, True), (25_000, False)):
        shares = rng.dirichlet([1, 1, 1], rows)
        truth = (rng.random(rows)[:, None] > shares.cumsum(1)).sum(1)
        found = stakes.evaluate(truth=truth, score=shares)
        keys = [one.key for finding in found.findings for one in finding.sentences]
        assert ("verdict.honest_share" in keys) is told
