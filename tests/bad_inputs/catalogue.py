"""Inputs that are wrong or odd, as data: how an entry of the TOML files beside this one is read and run.

An entry names the ``call`` (a verb, or ``python`` with an expression in ``run``), the ``file`` or ``files`` that hold
the rows, files ``beside`` them, and ``args``. TOML has no word for None, arrays or decimals: ``{py = "…"}`` is an
expression, also for what stands in a file. The rows below the header of a ``file`` can ``repeat``. What is expected is
an ``error`` (words of its text), or an answer: ``figures``, ``undefined`` ones with words of their reason, and what
``holds`` of it; ``warns`` are words of a warning, ``code`` is the exit code of an answer (1 for a gate that is closed).
"""

import datetime
import decimal
import fractions
import json
import math
import pathlib
import re
import signal
import sys
import time
import tomllib
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import stakes
from stakes import cli
from tests.bad_inputs import crafted
from tests.parts import since

HERE = pathlib.Path(__file__).parent
LIBRARIES = {
    **{"np": np, "pd": pd, "pl": pl, "pa": pa, "stakes": stakes, "math": math, "json": json, "decimal": decimal},
    **{"datetime": datetime, "fractions": fractions, "sparse": sparse, "crafted": crafted},
}
_OPTIONS = {"classes": "class", "scores": "score", "predictions": "prediction", "features": "feature"}
_ARGUMENT = re.compile(r"(?<![(\w. ]\()\b([a-z_]+)=(?=[\s,;:).'\"\w\[-]|$)('[\w.,%-]+'(?=[\s,;)]|$))?")


def as_typed(words: str) -> str:
    """Turn what is expected in Python into what the command line should say: --positive yes for positive='yes'."""
    words = words.replace("paired=False", "--unpaired").replace("costs=Costs(miss=5, false_alarm=1)", "--miss 5")
    words = re.sub(r"\b([a-z]+)=\{class: (\w+), …\}", lambda found: f"--{found[1]} CLASS={found[2].upper()}", words)

    def typed(found: re.Match[str]) -> str:
        name = f"--{_OPTIONS.get(found[1], found[1])}".replace("_", "-")
        if found[2]:
            return f"{name} {found[2][1:-1]}"
        return f"{name} " if re.match(r"['\"\w\[-]", words[found.end() :]) else name

    return _ARGUMENT.sub(typed, words)


WITH_COMMAND = ("evaluate", "decide", "compare", "permute", "calibrate", "count", "system", "metrics", "gate")
OF_GATE = ("require", "no_worse", "baseline", "allow_dropped")
OPTIONS = {"classes": "class", "scores": "score", "predictions": "prediction", "models": "model", "decide": "rule"}
LONGEST = 5
"""How many seconds of processor time an answer may take."""


@dataclass(frozen=True)
class Entry:
    """One input, and what is expected of it."""

    topic: str
    name: str
    call: str
    run: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    file: Any = None
    repeat: int = 1
    files: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, Any] = field(default_factory=dict)
    named: str = "rows.csv"
    encoding: str = "utf-8"
    error: list[str] | None = None
    warns: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)
    holds: list[str] = field(default_factory=list)
    code: int = 0
    since: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.topic}: {self.name}"

    @property
    def has_command(self) -> bool:
        """Whether the command line can ask the same."""
        plain = not any(isinstance(value, dict) and "py" in value for value in self.args.values())
        return plain and self.call in WITH_COMMAND and (bool(self.data) or self.call == "metrics")

    @property
    def data(self) -> dict[str, Any]:
        """The files that hold the rows, by name."""
        if self.file is None:
            return self.files
        if self.repeat == 1:
            return {self.named: self.file}
        header, _, rows = self.file.partition("\n")
        return {self.named: f"{header}\n{rows * self.repeat}"}

    def write(self, folder: pathlib.Path) -> None:
        """Put the files into a folder."""
        if self.since:
            since(*self.since)
        for name, text in {**self.data, **self.beside}.items():
            content = eval(text["py"], LIBRARIES) if isinstance(text, dict) else text
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode(self.encoding))


def entries() -> list[Entry]:
    """All entries, by topic."""
    return [
        Entry(path.stem, name, **facts)
        for path in sorted(HERE.glob("*.toml"))
        for name, facts in tomllib.loads(path.read_text(encoding="utf-8")).items()
    ]


# ── Python ───────────────────────────────────────────────────────────────────────────────────────────────────────
def ask(entry: Entry, folder: pathlib.Path) -> Any:
    """Ask in Python."""
    known = {**LIBRARIES, "folder": folder}
    if entry.call == "python":
        return eval(entry.run, known)
    args = {name: _value(name, value, folder, known) for name, value in entry.args.items()}
    data = [str(folder / name) for name in entry.data]
    if entry.call == "metrics":
        return stakes.metrics.find(**args)
    if entry.call == "system":
        is_toml = entry.data and data[0].endswith(".toml")
        return stakes.System.from_toml(data[0]) if is_toml else stakes.System(*data, **args)
    if entry.call == "gate":
        asked = {name: args.pop(name) for name in OF_GATE if name in args}
        if isinstance(asked.get("baseline"), str):
            asked["baseline"] = stakes.evaluate(str(folder / asked["baseline"]), **args)
        return stakes.gate(stakes.evaluate(data[0], **args), **asked)
    if entry.call == "calibrate":
        from stakes.evaluation.recalibrating import calibrate

        return calibrate(data[0], **args)
    verb = stakes.permutation_test if entry.call == "permute" else getattr(stakes, entry.call)
    return verb(data[0] if len(data) == 1 else data or None, **args)


def _value(name: str, value: Any, folder: pathlib.Path, known: dict[str, Any]) -> Any:
    if isinstance(value, dict) and "py" in value:
        return eval(value["py"], known)
    if name == "costs" and isinstance(value, str):
        return stakes.Costs.from_file(folder / value)
    if name == "costs" and isinstance(value, dict):
        prices = {"miss", "false_alarm", "matrix"} & set(value)
        return stakes.Costs(**value) if prices else stakes.Costs(value)
    return value


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────
def command(entry: Entry, folder: pathlib.Path) -> list[str]:
    """The words of the command that asks the same."""
    words = [entry.call, *(str(folder / name) for name in entry.data)]
    for name, value in entry.args.items():
        words += _words(name, value, folder, entry.call)
    if entry.call == "count":
        words += ["-o", str(folder / "out.tally")]
    return [*words, "--json"] if entry.call != "metrics" else words


def _words(name: str, value: Any, folder: pathlib.Path, call: str) -> list[str]:
    option = "--" + OPTIONS.get(name, name).replace("_", "-")
    if call == "metrics":
        return ["--", str(value)]
    if name == "costs" and isinstance(value, dict):
        return [word for price, cost in value.items() for word in _words(price, cost, folder, call)]
    if name == "costs" or (call == "gate" and name == "baseline"):
        return [option, str(folder / value)]
    if name == "paired" and value is False:
        return ["--unpaired"]
    if isinstance(value, bool):
        return [option] if value else []
    if isinstance(value, dict):
        return [word for key, one in value.items() for word in (option, f"{key}={one}")]
    values = value if isinstance(value, list) else [value]
    return [word for one in values for word in (option, str(one))]


def run_command(words: list[str], capsys: Any) -> tuple[int, str, str]:
    """Run a command in this process: exit code, standard output, standard error."""
    argv, handler = sys.argv, signal.getsignal(signal.SIGINT)
    sys.argv = ["stakes", *words]
    capsys.readouterr()
    cli._warned.clear()  # which are said once in a process
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            cli.main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
        signal.signal(signal.SIGINT, handler)
    said = capsys.readouterr()
    return code, said.out, said.err


@contextmanager
def within(seconds: float) -> Any:
    """Fail rather than hang, or take more processor time than that; others may use the machine besides."""

    def stop(*_: Any) -> None:
        raise AssertionError(f"no answer within {seconds} s")

    before, start = signal.signal(signal.SIGALRM, stop), time.process_time()
    signal.setitimer(signal.ITIMER_REAL, 6 * seconds)
    try:
        yield
        assert time.process_time() - start < seconds
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
