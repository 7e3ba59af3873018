"""Take pictures for docs/report.md: of every report page, in both themes and at the width of a phone, and of parts.

Some parts are taken in another language, at other costs than were given, and as they are printed.

``python tools/report_pictures.py front`` takes that of the README alone.
"""

import io
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from live_reports import KINDS, write

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
TOUR = {  # which parts of a page the tour shows; "" is what is seen when it opens
    "two_classes": ("", "explorer", "calibration", "segments"),
    "several_classes": ("matrix", "classes"),
    "numbers": ("predicted",),
    "comparison": ("differences", "together"),
    "decision": ("thresholds",),
    "chance": ("null",),
    "system": ("system",),
    "ranks": (),
    "watch": (),
}
WIDTH, HEIGHT = 1280, 900
VIEWS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}


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


def clip_of(tab: Page, first: str, last: str = "", most: float = 1300) -> dict[str, float]:
    """Return the part of a page from the top of one element to the bottom of another, all the way across."""
    tab.evaluate("window.scrollTo(0, 0)")
    boxes: Any = [tab.locator(one).first.bounding_box() for one in (first, last or first)]
    top = boxes[0]["y"] - 12
    height = min(boxes[1]["y"] + boxes[1]["height"] + 12 - top, most)
    return {"x": 0, "y": top, "width": tab.viewport_size["width"], "height": height}  # type: ignore[index]


def take_extras(browser: Browser, page: Path) -> None:
    """Take what the words of docs/report.md point at: moved costs, other languages, paper."""

    def opened(width: int, lang: str = "en", theme: Any = "light", media: Any = "screen") -> Page:
        tab = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=theme)
        tab.emulate_media(media=media, color_scheme=theme)
        tab.goto(page.as_uri())
        if lang != "en":
            tab.select_option("#language", lang)
        return tab

    def save(tab: Page, name: str, clip: Any) -> None:
        tab.screenshot(path=FOLDER / f"page_{name}.png", full_page=True, clip=clip)
        tab.close()

    moved = opened(900)
    moved.fill("#cost-miss", "1.2")
    moved.press("#cost-miss", "Enter")
    save(moved, "live_verdict", clip_of(moved, "ol.answers li:nth-last-child(3)", "#answer-keeps"))
    spanish = opened(1000, "es", "dark")
    save(spanish, "costs_dark_es", clip_of(spanish, ".card:has(#cell-tn)", "#price", 760))
    russian = opened(390, "ru")
    save(russian, "phone_ru", clip_of(russian, "#segments"))
    paper = opened(720, media="print")
    save(paper, "paper", clip_of(paper, "h1", "#calibration", 1000))


def take_front(browser: Browser, page: Path) -> None:
    """Take the picture of the README: what the page says, and beside it what can be moved."""
    width, height, scale = 900, 1290, 2 / 3
    tab = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
    tab.goto(page.as_uri())
    box: Any = tab.locator("#explorer").bounding_box()
    both = Image.new("RGB", (round(2 * width * scale), round(height * scale)))
    for place, top in enumerate((0, box["y"] - 30)):
        clip: Any = {"x": 0, "y": top, "width": width, "height": height}
        half = Image.open(io.BytesIO(tab.screenshot(full_page=True, clip=clip)))
        both.paste(half, (round(place * width * scale), 0))
    both.quantize(200).save(FOLDER / "front.png", optimize=True)
    tab.close()


def main() -> None:
    """Write all pictures, or that of the README."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for page in map(partial(write, Path(folder)), (kind for kind in KINDS if kind.__name__ in TOUR)):
            name = page.stem
            if name == "two_classes":
                take_front(browser, page)
                if sys.argv[1:] == ["front"]:
                    break
                take_extras(browser, page)
            take(browser, page, name)
            take_parts(browser, page, name)
        browser.close()


if __name__ == "__main__":
    main()
