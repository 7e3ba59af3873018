"""Take pictures of every report page, in both themes and at the width of a phone, for docs/report.md."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import stakes

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
DEMO = Path(stakes.__file__).parent / "demo"
FILE = str(DEMO / "breast_cancer.csv")
TUMOURS = {"truth": "diagnosis", "positive": "malignant"}
VIEWS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (360, "light")}


def things() -> dict[str, object]:
    """Something of each kind that has a page, by the name of its pictures."""
    rng = np.random.default_rng(0)
    species = np.array(["setosa", "versicolor", "virginica"])
    truth = rng.integers(0, 3, 150)
    scores = rng.dirichlet([1, 1, 1], 150) + 0.4 * np.eye(3)[truth]
    price = rng.lognormal(5, 0.4, 400)
    costs = stakes.Costs(miss=5, false_alarm=1)
    return {
        "two_classes": stakes.evaluate(FILE, score="logistic", by="size", costs=costs, **TUMOURS),
        "several_classes": stakes.evaluate(
            truth=species[truth], score=scores / scores.sum(axis=1, keepdims=True), classes=species.tolist()
        ),
        "numbers": stakes.evaluate(truth=price, prediction=price * rng.lognormal(0, 0.15, 400)),
        "comparison": stakes.compare(FILE, scores=["logistic", "neighbours"], **TUMOURS),
        "decision": stakes.decide(FILE, score="logistic", costs=costs, **TUMOURS),
        "chance": stakes.permutation_test(FILE, score="logistic", **TUMOURS),
        "system": stakes.System.from_toml(DEMO / "clinic_and.toml"),
    }


def take(browser: Browser, page: Path, name: str) -> None:
    """Take the pictures of one page."""
    for view, (width, theme) in VIEWS.items():
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
        tab.goto(page.as_uri())
        tab.screenshot(path=FOLDER / f"{name}_{view}.jpg", full_page=True, type="jpeg", quality=55)
        tab.close()


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, thing in things().items():
            page = Path(folder) / f"{name}.html"
            stakes.report(thing, page)
            take(browser, page, name)
        browser.close()


if __name__ == "__main__":
    main()
