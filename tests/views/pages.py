"""What report pages are tried on: one small thing of each kind."""

import numpy as np

import stakes

EVIL = "</script><script>alert(1)</script>"
CLASSES = ("ant", "bee", "=cat()", EVIL)


def class_rows(n=1_200, k=4, seed=0):
    """Truth codes and probabilities of k classes; the third is often taken for the second."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    logits = rng.normal(size=(n, k))
    logits[np.arange(n), truth] += 1.7
    logits[:, 1] += truth == 2
    odds = np.exp(1.4 * logits)
    return truth, odds / odds.sum(1, keepdims=True)


def many_classes(**options):
    truth, score = class_rows()
    return stakes.evaluate(truth=np.array(CLASSES)[truth], score=score, classes=list(CLASSES), **options)


def number_rows(n=3_000, seed=1):
    rng = np.random.default_rng(seed)
    truth = np.exp(rng.normal(3.2, 0.5, n))
    prediction = 0.75 * truth + 3.5 * rng.normal(size=n) + 6
    prediction[:4] += 25
    return truth, prediction


def numbers(n=3_000, **options):
    truth, prediction = number_rows(n)
    return stakes.evaluate(truth=truth, prediction=prediction, **options)


def scored_rows(n=900, seed=3):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.3
    shared = 0.6 * rng.normal(size=n)

    def score(signal, noise):
        return 1 / (1 + np.exp(-(shared + noise * rng.normal(size=n) + signal * truth - 1)))

    return np.where(truth, "sick", "well"), {"boosting": score(2.4, 0.6), EVIL: score(1.6, 0.7), "stump": score(0.7, 1)}


def comparison(**options):
    truth, scores = scored_rows()
    options = {"metric": ["auc", "brier_score"], "margin": 0.02, **options}
    return stakes.compare(truth=truth, scores=scores, positive="sick", **options)


def permutation():
    truth, scores = scored_rows()
    return stakes.permutation_test(truth=truth, score=scores["stump"], positive="sick", permutations=400)


def decision(**options):
    truth, scores = scored_rows()
    options = options or {"costs": stakes.Costs(miss=5, false_alarm=1)}
    return stakes.decide(truth=truth, score=scores[EVIL], positive="sick", **options)


def policies():
    truth, score = class_rows()
    costs = stakes.Costs(((1 - np.eye(4)) * np.arange(1, 5)[:, None]).tolist(), CLASSES, CLASSES)
    return stakes.decide(truth=np.array(CLASSES)[truth], score=score, classes=list(CLASSES), costs=costs)


def ranks():
    rng = np.random.default_rng(5)
    names = ["ash", "birch", EVIL, "=cedar()"]
    return stakes.rank(scores={name: rng.random(80) < 0.4 + 0.12 * place for place, name in enumerate(names)})


def watch():
    rng = np.random.default_rng(6)
    hits = [*rng.binomial(50, 0.93, 20), *rng.binomial(50, 0.7, 10)]
    days = {
        f"2026-05-{day:02d} {EVIL}": stakes.count(truth=[1] * 50 + [0], prediction=[1] * n + [0] * (51 - n))
        for day, n in enumerate(map(int, hits), 1)
    }
    return stakes.watch(days, require=["recall >= 0.9", "specificity >= 0.2"])


def few_labels():
    truth, scores = scored_rows()
    known = np.where(np.arange(900) % 6 == 0, truth, None).tolist()
    site = np.array(["north", "south", EVIL])[np.arange(900) % 16 // 7]
    return stakes.evaluate(truth=known, score=scores[EVIL], positive="sick", by=site, unlabelled="estimate")


def several_numbers():
    """Three numbers of each row, the last of which is predicted badly."""
    truth = np.random.default_rng(5).normal(size=(300, 3)) * [3, 1, 20]
    said = truth + np.random.default_rng(6).normal(size=(300, 3)) * [1, 0.5, 25]
    names = ["rent", EVIL, "a name as long as names in columns sometimes are"]
    columns = {"truth": dict(zip(names, truth.T, strict=True)), "prediction": dict(zip(names, said.T, strict=True))}
    return stakes.evaluate(**columns)


PAGES = {
    "many classes": lambda: many_classes(by=np.array(["north", "south", EVIL])[np.arange(1_200) % 3]),
    "numbers": lambda: numbers(by=np.array(["north", "south", EVIL])[np.arange(3_000) % 3]),
    "comparison": comparison,
    "permutation": permutation,
    "decision": decision,
    "decision by a figure": lambda: decision(best="recall >= 0.9"),
    "several numbers": several_numbers,
    "policies": policies,
    "ranks": ranks,
    "watch": watch,
    "few labels": few_labels,
}


ALIKE = "tbody tr:nth-child(n + 4), .marks > :nth-child(n + 9)"


def nothing_stands_in_the_way(page):
    """Look for what keeps anybody from using a page that is open, with axe-core: all of it, and contrasts by night.

    Of rows and marks that are made alike the first few are looked at, since axe takes its time for each of them.
    """
    from axe_core_python.sync_playwright import Axe

    page.locator("summary").evaluate_all("all => all.forEach((one) => one.click())")
    page.locator(ALIKE).evaluate_all("all => all.forEach((one) => one.remove())")
    for theme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        assert page.locator("html").get_attribute("data-theme") == theme
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules})["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in serious]
        page.click("#theme")
