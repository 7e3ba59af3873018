"""What all tests share: one Spark, one browser, and who runs what."""

import functools
import gc
import importlib.util
import os
import re
import signal
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from tests.parts import needs

ROOT = Path(__file__).parents[1]

# PyTorch is large, and has an environment of its own: make test-torch.
collect_ignore = [] if importlib.util.find_spec("torch") else ["with_torch"]

# Matrices are small here, and each worker has its core: threads of BLAS would spend ten times the work on waiting.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A shell that starts tests in the background lets them ignore Ctrl-C, and what they start as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("deep", max_examples=1_000, deadline=None)
settings.register_profile("small", max_examples=5, deadline=None, derandomize=True)
settings.load_profile("small")  # make test-deep asks for the other one


# ── who runs what ────────────────────────────────────────────────────────────────────────────────────────────────
@functools.cache
def unit_of(file):
    """What one worker runs: a whole file, or all files that open the browser, ask Spark, or read the source."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if re.search(r"^def \w+\(.*\b(browser|opened)\b", text, re.M):
        return "browser"
    if "from tests.source import" in text:
        return "source"
    return "spark" if re.search(r"mark\.spark|from tests\.engines\.test_lazy import", text) else file


@functools.cache
def how_late(file):
    if unit_of(file) in ("browser", "spark"):
        return 0
    return 1 if "mark.slow" in (ROOT / file).read_text(encoding="utf-8") else 2


def pytest_addoption(parser):
    parser.addoption("--cases", type=int, help="at most so many cases of each test, evenly spread")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """What takes longest begins, so that no worker is left alone with it: browser and Spark, then slow files."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    leave_most_to_the_deep_tests(items, config.getoption("cases"))
    items.sort(key=lambda item: how_late(item.nodeid.partition("::")[0]))


def cases_of_every_value(cases):
    """The places of those that bring a value which none before them had."""
    seen, tried = set(), set()
    for place, values in enumerate(cases):
        if not values <= seen:
            tried.add(place)
            seen |= values
    return tried


def evenly(most, many):
    """So many places, or all, evenly spread."""
    return {round((place + 0.5) * many / most - 0.5) for place in range(min(most, many))}


def leave_most_to_the_deep_tests(items, most):
    """Of a test marked ``each_choice`` cases are tried until every value of every parameter had its turn.

    Of one marked ``spread(n)`` it is n cases, evenly spread over all; of every test at most ``most``, where that is
    given. The others are tried by make test-deep.
    """
    cases = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("deep"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        tried = range(len(found))
        if mark := found[0].get_closest_marker("spread"):
            tried = evenly(*mark.args, len(found))
        elif found[0].get_closest_marker("each_choice"):
            tried = cases_of_every_value([{*map(repr, item.callspec.params.items())} for item in found])
        if most:
            tried = {sorted(tried)[place] for place in evenly(most, len(tried))}
        for place, item in enumerate(found):
            if place not in tried:
                item.add_marker("deep")


def pytest_xdist_make_scheduler(config, log):
    """One worker starts the browser and one starts Spark; others take whole files, and prepare what those need once."""
    from xdist.scheduler import LoadFileScheduling

    class Units(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return unit_of(nodeid.partition("::")[0])

    return Units(config, log)


def pytest_xdist_auto_num_workers():
    """One more worker than processors: those that started a browser, Spark or another process often wait for it."""
    return (os.cpu_count() or 1) + 1


COMPILED = ROOT / "src" / "stakes" / "__pycache__"


@pytest.hookimpl(tryfirst=True)
def pytest_configure_node(node):
    """Tell workers whether this is a fresh clone, before the first of them compiles anything and keeps it."""
    node.workerinput["fresh"] = not (COMPILED.exists() or sys.dont_write_bytecode) and os.name == "posix"


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """In a fresh clone one worker collects before the others, which find compiled what it has compiled.

    What is loaded and collected stays until the end: looking through it for garbage, now or later, would find nothing.
    Tests leave little behind, so that one look in a while is enough.
    """
    with open(__file__) as turn:
        if getattr(session.config, "workerinput", {}).get("fresh"):
            import fcntl

            fcntl.flock(turn, fcntl.LOCK_EX)
            if COMPILED.exists():
                fcntl.flock(turn, fcntl.LOCK_UN)
        gc.disable()
        try:
            return (yield)
        finally:
            gc.freeze()
            gc.set_threshold(200_000, 20, 20)
            gc.enable()


@pytest.fixture(autouse=True)
def _no_figures_left_behind():
    """Forget the figures that a test has declared: the next one in this process knows nothing of them."""
    from stakes.metrics.declare import ALIASES, CATALOGUE

    before = dict(CATALOGUE), dict(ALIASES)
    yield
    if len(CATALOGUE) != len(before[0]):
        for table, known in zip((CATALOGUE, ALIASES), before, strict=True):
            table.clear()
            table.update(known)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Examples in docstrings are those of the package: tests are not looked through for them."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


# ── what is started once ─────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="session")
def spark():
    """Start a real Spark in this process, with a few small partitions."""
    needs("java", "Spark needs Java 17: install openjdk-17-jre-headless")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers are of the same version
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    starting_soon = "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    os.environ.setdefault("JAVA_TOOL_OPTIONS", f"{starting_soon} -XX:+UseSerialGC")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    # Compiling every question to Java, or planning it anew, takes longer than answering it for a few rows.
    plain = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    plain |= {"spark.sql.adaptive.enabled": "false", "spark.shuffle.compress": "false"}
    session = builder.config("spark.sql.shuffle.partitions", "2").config(map=plain).getOrCreate()
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


@pytest.fixture(scope="session")
def tab(browser):
    """One page for all tests, since each new one starts processes: it, and whatever it says, asks for or throws."""
    heard = []
    page = browser.new_context(offline=True).new_page()
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: heard.append(request.url))
    return page, heard


DESK = {"width": 1280, "height": 720}


@pytest.fixture
def opened(tab):
    """Open a file for somebody who has this screen and these wishes; what the page says or asks for must be nothing."""
    page, heard = tab
    files = []

    def open_it(path, viewport=DESK, color_scheme="light", reduced_motion="no-preference"):
        page.set_viewport_size(viewport)
        page.emulate_media(media="screen", color_scheme=color_scheme, reduced_motion=reduced_motion)
        page.mouse.move(0, 0)
        page.goto(path.as_uri())
        files.append(path)
        return page

    yield open_it
    said = [one for one in heard if not one.startswith("blob:")]
    heard.clear()
    assert said == [path.as_uri() for path in files]
