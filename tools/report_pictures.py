"""Take pictures for docs/report.md: of every report page, in both themes and at the width of a phone, and of parts."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

import stakes

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
DEMO = Path(stakes.__file__).parent / "demo"
FILE = str(DEMO / "breast_cancer.csv")
TUMOURS = {"truth": "diagnosis", "positive": "malignant"}
ABOUT = {
    "two_classes": "stakes evaluate breast_cancer.csv --truth diagnosis --score logistic --positive malignant "
    "--by size --miss 5 --false-alarm 1"
}
TOUR = {  # which parts of a page the tour shows; "" is what is seen when it opens
    "two_classes": ("", "explorer", "calibration", "segments"),
    "several_classes": ("matrix", "classes"),
    "numbers": ("predicted",),
    "comparison": ("differences", "together"),
    "decision": ("thresholds",),
    "chance": ("null",),
    "system": ("system",),
}
WIDTH, HEIGHT = 1280, 900
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


def take_parts(browser: Browser, page: Path, name: str) -> None:
    """Take the pictures of the tour: what fits a screen of each part."""
    tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    tab.goto(page.as_uri())
    for part in TOUR[name]:
        box: Any = tab.locator(f"#{part}").bounding_box() if part else {"y": 0, "height": HEIGHT}
        above = 16 if part else 0
        clip: Any = {"x": 0, "y": box["y"] - above, "width": WIDTH, "height": min(box["height"] + above, HEIGHT)}
        path = FOLDER / f"tour_{name}_{part or 'opens'}.jpg"
        tab.screenshot(path=path, full_page=True, clip=clip, type="jpeg", quality=70)
    tab.close()


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, thing in things().items():
            page = Path(folder) / f"{name}.html"
            stakes.report(thing, page, about=ABOUT.get(name, ""))
            take(browser, page, name)
            take_parts(browser, page, name)
        browser.close()


if __name__ == "__main__":
    main()
