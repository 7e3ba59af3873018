"""The shape of the code: imports point one way, heavy libraries load on first use."""

import ast
import functools
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source import FILES, SOURCE, tree_of

ROOT = Path(__file__).parents[1]
ORDER = runpy.run_path(str(ROOT / "tools" / "pages" / "import_graph.py"))["ORDER"]


def layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


@functools.cache
def statements(file: Path) -> dict[bool, list[ast.Import | ast.ImportFrom]]:
    """The imports of a file, also inside functions: those for type checkers only, and all others."""
    found: dict[bool, list] = {False: [], True: []}
    for part in tree_of(file).body:
        for_types = isinstance(part, ast.If) and "TYPE_CHECKING" in ast.unparse(part.test)
        found[for_types] += [node for node in ast.walk(part) if isinstance(node, ast.Import | ast.ImportFrom)]
    return found


def imports(file: Path, typing: bool = True):
    """Every module that a file imports; those for type checkers only if asked for."""
    for node in statements(file)[False] + (statements(file)[True] if typing else []):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            assert node.level == 0, f"{file}: relative imports hide where things live"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.slow
def test_imports_point_one_way():
    front_door = {SOURCE / "__init__.py", SOURCE / "__main__.py"}
    for file in set(FILES) - front_door:
        here = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        assert here in ORDER, file
        for module in imports(file):
            assert module != "stakes", f"{file} goes through the front door"
            if module.startswith("stakes.") and module != "stakes.__version__":
                assert ORDER.index(layer(module)) <= ORDER.index(here), f"{file} imports {module}"


def test_no_module_imports_itself_by_way_of_others():
    """No cycle is left, also not through imports inside functions."""
    files = {name_of(file): file for file in FILES if file != SOURCE / "__init__.py"}
    graph = {
        name: {module if module in files else module.rpartition(".")[0] for module in imports(file, typing=False)}
        for name, file in files.items()
    }
    graph = {name: {module for module in modules if module in files} - {name} for name, modules in graph.items()}
    with_cycles = set(graph)
    while free := {name for name in with_cycles if not graph[name] & with_cycles}:
        with_cycles -= free
    assert not with_cycles


def name_of(file: Path) -> str:
    parts = ["stakes", *file.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_a_text_that_does_not_exist_is_an_attribute_error():
    from stakes import errors

    for name in ("nonsense", "Sequence"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(errors, name)


def test_every_topic_of_errors_is_known():
    files = {file.stem for file in (SOURCE / "errors").glob("*.py")} - {"__init__", "mentions", "words"}
    typed = re.findall(
        r"^    from stakes\.errors\.(\w+) import \*$", (SOURCE / "errors" / "__init__.py").read_text(), re.M
    )
    assert set(typed) == files


def test_documents_tell_the_order_of_the_layers():
    architecture = (ROOT / "docs" / "architecture.md").read_text()
    assert " ← ".join(ORDER) in " ".join(architecture.split())
    table = re.findall(r"^\| `(\w+)/?` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    assert tuple(table) == ORDER


ALL_FIGURES = "import stakes; stakes.evaluate(truth=[0, 1, 1], score=[0.1, 0.2, 0.3]).to_dict()"


@pytest.mark.slow
def test_texts_are_not_read_before_something_is_wrong():
    assert {m for m in loaded_after(ALL_FIGURES) if m.startswith("stakes.errors")} == {
        "stakes.errors",
        "stakes.errors.mentions",
        "stakes.errors.words",
    }


@functools.cache
def loaded_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_stakes_loads_nothing():
    assert {m for m in loaded_after("import stakes") if m.startswith(("numpy", "stakes."))} == {"stakes.results"}


@pytest.mark.slow
def test_evaluate_loads_numpy_and_little_else():
    usual = "import bisect, copy, dataclasses, decimal, inspect, json, numpy"  # NumPy 2.0 loads fewer of them itself
    more = loaded_after("import stakes; stakes.evaluate") - loaded_after(usual)
    ours = {m for m in more if m.startswith("stakes")}
    others = {m.partition(".")[0] for m in more - ours}
    assert others <= sys.stdlib_module_names
    assert len(others) <= 9, sorted(others)


def test_counting_arrays_of_numbers_loads_no_data_frame_library():
    assert not {"polars", "narwhals", "pandas", "pyarrow", "scipy.stats"} & loaded_after(ALL_FIGURES)


def test_public_names_exist_and_unknown_ones_do_not():
    import stakes

    for name in stakes.__all__:
        assert getattr(stakes, name) is not None
        assert name in dir(stakes)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = stakes.nonsense


@pytest.mark.slow
def test_adding_a_metric_touches_one_file(tmp_path):
    """One declaration, added to the file of its family in a copy of the package, is found, listed and evaluated."""
    shutil.copytree(SOURCE, tmp_path / "stakes")  # what is compiled already, too
    family = tmp_path / "stakes" / "metrics" / "rates.py"
    added = family.read_text().split("@metric(")[2].replace("alarm_rate", "siren_rate").replace("predicted_", "siren_")
    family.write_text(family.read_text() + "\n\n@metric(" + added)
    code = f"""
import stakes
assert stakes.metrics.siren_rate([1, 0], [1, 1]) == 1
assert stakes.evaluate(truth=[1, 0], prediction=[1, 0])["siren_rate"].value == 0.5
assert "siren_rate" in [m.name for m in stakes.metrics.catalogue()]
assert stakes.__file__.startswith({str(tmp_path)!r})
from stakes.cli import main
main()
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", code, "metrics", "siren_rate"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert shown.returncode == 0, shown.stderr
    assert "In what share of the cases is there an alarm?" in shown.stdout
