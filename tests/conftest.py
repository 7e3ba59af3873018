"""What all tests share: one Spark, one browser, and who runs what."""

import os

import pytest
from hypothesis import settings

from tests.parts import needs

# Matrices are small here, and each worker has its core: threads of BLAS would spend ten times the work on waiting.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

settings.register_profile("deep", max_examples=1_000, deadline=None)
settings.register_profile("small", max_examples=25, deadline=None, derandomize=True)
settings.load_profile("small")  # make test-deep asks for the other one


# ── who runs what ────────────────────────────────────────────────────────────────────────────────────────────────
def shared_by(item):
    """The program that this test shares with tests of other files, if it needs one."""
    asked = {*getattr(item, "fixturenames", ()), *(mark.name for mark in item.iter_markers())}
    return next((name for name in ("browser", "spark") if name in asked), None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One worker runs all tests with a browser, one all with Spark, and these come first: they take longest."""
    for item in items:
        if name := shared_by(item):
            item.add_marker(pytest.mark.xdist_group(name))
            item.add_marker(name)
    items.sort(key=lambda item: shared_by(item) is None)


def pytest_xdist_make_scheduler(config, log):
    """Give a worker whole files, so that what a file prepares is prepared once."""
    from xdist.scheduler import LoadGroupScheduling

    class WholeFiles(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).partition("::")[0]

    return WholeFiles(config, log)


# ── what is started once ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="session")
def spark():
    """Start a real Spark in this process, with a few small partitions."""
    needs("java", "Spark needs Java 17: install openjdk-17-jre-headless")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def browser():
    """A real browser, offline."""
    place = needs("chromium", "pages are tried in a real browser: install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=place, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield started
        started.close()


@pytest.fixture
def opened(browser):
    """Open a file; whatever the page says, asks for or throws is collected, and must be nothing."""
    contexts, heard = [], []

    def open_it(path, **options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(path.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert [one for one in heard if not one.startswith(("file:", "blob:"))] == []
    assert len([one for one in heard if one.startswith("file:")]) == len(contexts)
