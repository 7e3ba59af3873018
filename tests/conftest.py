"""What several test files start once."""

import os
import sys

import pytest

from tests.parts import needs


@pytest.fixture(scope="session")
def spark():
    """Start a real Spark in this process, with a few small partitions."""
    needs("java", "Spark needs Java 17: install openjdk-17-jre-headless")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are of the same version
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
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
