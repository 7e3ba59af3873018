"""How the documentation site is built: ``make docs`` writes it to build/site, and any warning fails."""

import re
import sys
from pathlib import Path

from sphinx.application import Sphinx

import stakes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))
import live_reports  # noqa: E402

project = "stakes"
author = copyright = "The stakes maintainers"
release = version = stakes.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = [
    "gallery/**/*.py",
    "gallery/**/*.ipynb",
    "gallery/**/*.zip",
    "gallery/**/*.md5",
    "gallery/**/*.json",
]
suppress_warnings = ["config.cache"]  # the gallery's settings hold a function's name, which is not cached
nitpicky = False

# Pages are Markdown that reads well on a code host too; headings can be linked to.
myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "attrs_block"]
myst_links_external_new_tab = False

autodoc_typehints = "none"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = "stakes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which a site of files cannot

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"spark_job\.py|predict\.py",
    "capture_repr": ("_repr_html_", "__str__"),
    "ignore_repr_types": r"matplotlib|stakes\.views\.plots",  # the picture itself is shown
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 10_000,
    "subsection_order": [
        f"../examples/{section}"
        for section in ("first_questions", "how_sure", "decisions", "probabilities", "kinds", "systems", "scale")
    ],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": True,
    "abort_on_example_error": True,
    "write_computation_times": False,
}

# Links that lead out of this folder on a code host, and where they lead on the site.
ELSEWHERE = {
    r"(?:\.\./)+examples/((?!scale/spark_job|gate/)[\w/]+)\.py": r"/gallery/\1.rst",
    r"(?:\.\./)+examples/?": "/gallery/index.rst",
    r"(?:\.\./)+bench/RESULTS\.md": "/bench.md",
    r"(?:\.\./)+CHANGELOG\.md": "/changelog.md",
    r"(?:\.\./)+CONTRIBUTING\.md": "/contributing.md",
    r"(?:\.\./)+SECURITY\.md": "/security.md",
    r"docs/([\w/]+\.md(?:#[\w-]+)?)": r"/\1",
}


def lead_to_pages(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn links to files outside this folder into links to their pages."""
    for pattern, target in ELSEWHERE.items():
        source[0] = re.sub(rf"\]\({pattern}\)", rf"]({target})", source[0])


def write_live_reports(app: Sphinx, problem: Exception | None) -> None:
    """Write the reports that pages lead to; ``-D reports_written=two_classes`` writes that one alone."""
    if problem is None and app.builder.format == "html":
        folder = Path(app.outdir) / "reports"
        folder.mkdir(exist_ok=True)
        for kind in live_reports.KINDS:
            if app.config.reports_written in ("all", kind.__name__):
                live_reports.write(folder, kind)


def setup(app: Sphinx) -> None:
    """Tell Sphinx about the links, and about the reports."""
    app.add_config_value("reports_written", "all", "")
    app.connect("build-finished", write_live_reports)
    app.connect("source-read", lead_to_pages)
    app.connect("include-read", lambda app, path, page, source: lead_to_pages(app, page, source))
