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


@pytest.mark.parametrize("gallery", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_the_site_is_built_and_works_offline(tmp_path, browser, gallery):
    """One test, since the site is built once; running the gallery takes most of the time, and its tests do it too."""
    source, site = tmp_path / "source", tmp_path / "site"
    copy_of_what_git_knows(source)  # where no example has been run yet
    build = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "docs", str(site)]
    build += [] if gallery else ["-D", "plot_gallery=0"]
    done = subprocess.run(build, cwd=source, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stderr == ""
    every_source_has_a_page(site)
    if gallery:
        examples_show_what_they_print_and_draw(site)
    nothing_is_loaded_from_elsewhere(site)
    a_reader_finds_things_offline(site, browser)


def every_source_has_a_page(site: Path) -> None:
    sources = sorted((ROOT / "docs").rglob("*.md"))
    assert len(sources) > 40
    for source in sources:
        assert (site / source.relative_to(ROOT / "docs")).with_suffix(".html").exists(), source


def examples_show_what_they_print_and_draw(site: Path) -> None:
    names = {str(path.relative_to(EXAMPLES).with_suffix("")) for path in EXAMPLES.rglob("*.py")} - NOT_RUN
    assert len(names) >= 16
    for name in names:
        text = (site / "gallery" / f"{name}.html").read_text()
        assert "sphx-glr-script-out" in text, name
        assert f"sphx_glr_{Path(name).name}_001" in text, f"{name} has no picture"
        assert "Traceback" not in text


def nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Links may lead out; scripts, styles, fonts and pictures may not."""
    loading = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=\"(?:https?:)?//[^\"]*\"")
    for page in site.rglob("*.html"):
        found = [tag for tag in loading.findall(page.read_text()) if 'rel="canonical"' not in tag]
        assert not found, (page.name, found)
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", style.read_text()), style.name


def a_reader_finds_things_offline(site: Path, browser) -> None:
    heard: list[str] = []
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="Which metric should I use?").first.click()
    assert page.locator("h1").inner_text().startswith("Which metric should I use?")
    page.goto((site / "search.html").as_uri() + "?q=abstention")
    page.locator("#search-results li a").first.wait_for(timeout=10_000)
    page.set_viewport_size({"width": 390, "height": 800})
    for name in ("index", "start", "which_metric", "verbs/evaluate", "gallery/systems/clinic"):
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), f"{name} is too wide"
    context.close()
    assert [one for one in heard if not one.startswith("file:")] == []
