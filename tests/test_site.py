"""The documentation site is built without a warning, shows what its examples print, and works without a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clean_copy import ROOT, copy_of_what_git_knows
from tests.examples import EXAMPLES

pytestmark = pytest.mark.slow

NOT_RUN = {"scale/spark_job", "gate/predict"}
"""Scripts that need a cluster, or are part of a workflow."""


OPENED = ("index", "start", "which_metric", "verbs/evaluate", "gallery/systems/clinic")
"""Pages that are looked at in a browser."""


def built(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "--quiet", "--keep-going", "--fail-on-warning", "-b", "html", *options]
    folders = ["-d", str(folder / "read"), "docs", str(folder / "site")]
    return subprocess.run([*command, *folders], cwd=folder / "source", capture_output=True, text=True, timeout=600)


def is_opened(name: str) -> bool:
    """Whether a file is needed for those pages: their sources, and all that is none."""
    page, _, ending = name.removeprefix("docs/").replace("examples/", "gallery/").rpartition(".")
    return page in OPENED or ending not in ("md", "py") or name in ("docs/conf.py", "tools/live_reports.py")


LEADING_ELSEWHERE = "myst.xref_missing,toc.not_readable,ref.doc,config.cache"
"""Warnings about pages that are not there; in the deep form they all are."""


def test_a_few_pages_are_built_without_a_warning_and_work_offline(tmp_path, browser):
    copy_of_what_git_knows(tmp_path / "source", is_opened)
    few = ("-D", "plot_gallery=0", "-D", "reports_written=two_classes", "-D", f"suppress_warnings={LEADING_ELSEWHERE}")
    done = built(tmp_path, *few)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-4000:]
    nothing_is_loaded_from_elsewhere(tmp_path / "site")
    a_reader_finds_things_offline(tmp_path / "site", browser, "threshold")


@pytest.mark.deep
def test_the_whole_site_is_built_and_works_offline(tmp_path, browser):
    """One test, since the site is built once; running the gallery takes most of the time, and its tests do it too."""
    copy_of_what_git_knows(tmp_path / "source")
    done = built(tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-4000:]
    site = tmp_path / "site"
    every_source_has_a_page(site)
    every_live_report_is_there(site)
    examples_show_what_they_print_and_draw(site)
    nothing_is_loaded_from_elsewhere(site)
    a_reader_finds_things_offline(site, browser, "abstention")


def every_source_has_a_page(site: Path) -> None:
    sources = sorted((ROOT / "docs").rglob("*.md"))
    assert len(sources) > 40
    for source in sources:
        assert (site / source.relative_to(ROOT / "docs")).with_suffix(".html").exists(), source


def every_live_report_is_there(site: Path) -> None:
    led_to = re.findall(r'href="(reports/\w+\.html)"', (site / "live.html").read_text())
    assert sorted(led_to) == sorted(f"reports/{page.name}" for page in (site / "reports").iterdir())
    assert len(led_to) >= 8


def examples_show_what_they_print_and_draw(site: Path) -> None:
    names = {str(path.relative_to(EXAMPLES).with_suffix("")) for path in EXAMPLES.rglob("*.py")} - NOT_RUN
    assert len(names) >= 16
    for name in names:
        text = (site / "gallery" / f"{name}.html").read_text()
        assert "sphx-glr-script-out" in text, name
        draws = "plot" in (EXAMPLES / f"{name}.py").read_text()
        assert not draws or f"sphx_glr_{Path(name).name}_001" in text, f"{name} has no picture"
        assert "Traceback" not in text


def nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Links may lead out; scripts, styles, fonts and pictures may not."""
    loading = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"")
    for page in site.rglob("*.html"):
        found = [tag for tag in loading.findall(page.read_text()) if 'rel="canonical"' not in tag]
        assert not found, (page.name, found)
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", style.read_text()), style.name


def a_reader_finds_things_offline(site: Path, browser, sought: str) -> None:
    heard: list[str] = []
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto((site / "index.html").as_uri())
    a_report_is_played_with(page)
    page.get_by_role("link", name="Which metric should I use?").first.click()
    assert page.locator("h1").inner_text().startswith("Which metric should I use?")
    page.goto((site / "search.html").as_uri() + f"?q={sought}")
    page.locator("#search-results li a").first.wait_for(timeout=10_000)
    page.set_viewport_size({"width": 390, "height": 800})
    for name in OPENED:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} is too wide"
    context.close()
    assert [one for one in heard if not one.startswith("file:")] == []


def a_report_is_played_with(page) -> None:
    """The front page shows a picture that is there, and a report in which a moved threshold changes the figures."""
    assert page.locator("img[src*=front]").evaluate("image => image.naturalWidth") >= 1000
    page.locator("iframe.live").scroll_into_view_if_needed()
    report = page.frame_locator("iframe.live")
    assert report.locator("h1").inner_text() == "malignant or benign?"
    point = report.locator("#roc .dot.here")
    before = float(point.get_attribute("cx"))
    report.locator("#threshold-typed").fill("0.9")
    report.locator("#threshold-typed").press("Enter")
    assert float(point.get_attribute("cx")) < before  # fewer false alarms
