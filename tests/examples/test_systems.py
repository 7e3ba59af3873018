"""A system of models, worked out by trying every combination of what its models say."""

import itertools
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.examples import printed, ran

CASES = {"sick": 100, "healthy": 200}
IMAGES = {"sick": Fraction(80, 100), "healthy": Fraction(20, 100)}  # how often a model says "sick"
HISTORY = {"sick": Fraction(1, 2), "healthy": Fraction(1, 2)}
NEW = {"sick": Fraction(90, 100), "healthy": Fraction(60, 200)}
RULES = {"and": all, "or": any}


def loss(rule, truth, *said):
    """What the clinic pays for a patient of whom the models say "sick" (True) or not."""
    treated = RULES[rule](said)
    return (0 if treated else 5) if truth == "sick" else int(treated)


def share(says_sick, said):
    return says_sick if said else 1 - says_sick


def independent(rule, history):
    return sum(
        CASES[c] * share(IMAGES[c], a) * share(history[c], b) * loss(rule, c, a, b)
        for c, a, b in itertools.product(CASES, (True, False), (True, False))
    )


def bound(rule, history, sign):
    """The least (1) or the most (−1) that the clinic can pay when only the shares of each model are known."""
    total, pairs = 0.0, list(itertools.product((True, False), repeat=2))
    for c in CASES:
        prices = [sign * loss(rule, c, a, b) for a, b in pairs]
        margins = [[a for a, _ in pairs], [b for _, b in pairs], [1] * 4]
        found = linprog(prices, A_eq=margins, b_eq=[float(IMAGES[c]), float(history[c]), 1])
        total += CASES[c] * sign * found.fun
    return total


@pytest.fixture(scope="module")
def text():
    return printed("systems/clinic")


@pytest.mark.parametrize(("rule", "best", "middle", "worst"), [("and", 250, 320, 390), ("or", 100, 170, 240)])
def test_both_rules_cost_what_all_combinations_cost(text, rule, best, middle, worst):
    assert independent(rule, HISTORY) == middle
    assert [bound(rule, HISTORY, sign) for sign in (1, -1)] == pytest.approx([best, worst])
    said = text.partition(f"({rule})\n")[2].partition("improve")[0]
    assert f"costs {best} to {worst} whatever the dependence of history" in said
    assert f"{middle} if errors were independent" in said


@pytest.mark.parametrize(("rule", "saved"), [("and", 220), ("or", 130)])
def test_history_is_to_be_improved_first(text, rule, saved):
    perfect = {"sick": Fraction(1), "healthy": Fraction(0)}
    assert independent(rule, HISTORY) - independent(rule, perfect) == saved
    said = text.partition(f"({rule})\n")[2].partition("\n")[2]
    assert said.lstrip().startswith(f"improve history first: always right, it would save {saved}\n")


def test_an_answer_of_history_is_priced_by_setting_it(text):
    for truth, said in itertools.product(CASES, (True, False)):
        expected = sum(share(IMAGES[truth], a) * loss("and", truth, a, said) for a in (True, False))
        right = sum(share(IMAGES[truth], a) * loss("and", truth, a, truth == "sick") for a in (True, False))
        says = ("sick" if said else "healthy") + ("✓" if said == (truth == "sick") else "")
        row = rf"^{truth} +{says} +{float(expected):g} +{float(expected - right):g}$"
        assert re.search(row, text, re.M), row
    assert "costs 4 more than if history had been right" in text
    assert "do(history='healthy'): a case costs 1.667" in text  # all 100 of 300 patients are missed


def test_without_history_the_images_cost_140(text):
    always = {"sick": Fraction(1), "healthy": Fraction(1)}
    assert independent("and", always) == 140
    assert re.search(r"^history +320 +100 +220 .* 140 +sick +235 ", text, re.M)
    # Shapley: history saves 220 when made perfect before the images, 250 after them
    perfect = independent("and", {"sick": Fraction(1), "healthy": Fraction(0)})
    assert (320 - perfect + 250 - 0) / 2 == 235


@pytest.mark.parametrize(("rule", "line"), [("and", "400·TPR + 40·TNR > 260"), ("or", "100·TPR + 160·TNR > 170")])
def test_a_new_model_is_priced_by_its_table(text, rule, line):
    said = text.partition(f"\n{rule}: ")[2]
    assert said.startswith(f"with the new model the clinic would pay {float(independent(rule, NEW)):g} if it erred")
    best, worst = (bound(rule, NEW, sign) for sign in (1, -1))
    assert f"{best:g} to {worst:g} whatever the dependence" in said.splitlines()[1]
    assert line in said.splitlines()[2]
    tpr, tnr, least = (float(number) for number in re.findall(r"(\d+)(?:·|$)", line))
    gain = tpr * float(NEW["sick"]) + tnr * (1 - float(NEW["healthy"])) - least
    assert gain == pytest.approx(float(independent(rule, HISTORY) - independent(rule, NEW) - 40))


def test_the_new_model_beats_the_images_alone_only_under_or():
    assert independent("or", NEW) + 40 < 140 < independent("and", NEW) + 40


# ── the oil wildcatter, and two real readers ─────────────────────────────────────────────────────────────────────
def test_the_wildcatter_earns_what_raiffa_says():
    said = printed("systems/oil_wildcatter")
    assert "with the test 22.5, without 20" in said
    assert "at 13 the best plan earns 20 and asks in 0% of the cases" in said
    assert "perfect knowledge earns 55, so it is worth 35" in said


def test_two_readers_cost_what_their_rows_cost():
    said, variables = ran("systems/two_readers")
    sick = variables["malignant"]
    size, surface = (np.array(variables["rows"][name]) == "malignant" for name in ("size", "surface"))
    for rule, decided in (("and", size & surface), ("or", size | surface)):
        cost = 5 * np.sum(sick & ~decided) + np.sum(~sick & decided)
        assert f"size {rule} surface: {cost}\n" in said
    found = variables["thresholds"]
    decided = np.zeros(len(sick), bool)
    for name, threshold in found.thresholds.items():
        decided |= variables["scores"][name] >= threshold
    assert found.cost == 5 * np.sum(sick & ~decided) + np.sum(~sick & decided)
    assert found.cost < found.held_out < found.now
    assert f"a malignant tumour costs {5 * np.mean(~(size & surface)[sick]):.3f}" in said
