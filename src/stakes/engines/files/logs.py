"""Logs of evaluation harnesses as graded items: what each model scored on each sample, found by content.

Inspect writes ``.eval`` (a zip archive) or ``.json``; lm-evaluation-harness ``samples_TASK_TIME.jsonl``, with the name
of the model in ``results_TIME.json`` beside it; promptfoo JSON or JSON lines in which several models stand; DeepEval
``test_run_TIME.json``; HELM ``per_instance_stats.json``, with ``run_spec.json`` beside it. The mean that the
tool itself reports is computed again, which reveals a misunderstanding.
"""

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stakes import errors
from stakes.errors import InputError, Pass, short, some
from stakes.records import Plain
from stakes.tallies.fields import Value

_FIRST, _MOST_BYTES = 1 << 16, 1 << 30
_ZSTD = 93
_INSPECT_JSON = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')
_HARNESS_ROW = ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps")
_HELM_ROW = ("instance_id", "train_trial_index", "stats")
_KEYS = {
    "harness": _HARNESS_ROW,
    "promptfoo": ("testIdx", "promptIdx", "promptId", "provider", "testCase", "failureReason"),
    "deepeval": ("testCases", "metricsData"),
}
"""Keys near the beginning of each kind of log."""

_FAILED = 2
"""promptfoo's ``failureReason`` of a row without an answer."""

_HARNESS_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d{2}-\d{2}T[\d.:-]+)\.jsonl")
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_ANSWERS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_CLOSE = 1e-6


@dataclass(frozen=True)
class Answered:
    """One run of one item: its score (NaN if there is none), its target (``same``) and its possible ``groups``."""

    item: str
    repeat: int
    score: float
    same: str = ""
    groups: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Log:
    """One log: a model, a task, and the answers by score; ``reported`` are the tool's own means."""

    name: str
    model: str
    task: str
    scores: Mapping[str, list[Answered]]
    finished: bool = True
    reported: Mapping[str, float] = field(default_factory=dict)

    def chosen(self, wanted: str | None) -> str:
        """The score of this name, or whose first part has this name; without a name the only score."""
        fits = [one for one in self.scores if wanted is None or one == wanted or one.split(",")[0] == wanted]
        if len(fits) == 1:
            return fits[0]
        seen = f"has no score {wanted!r}" if wanted is not None and not fits else "has several scores"
        raise InputError(
            "which-score-of-log",
            f"{self.name} {seen}; choose one of {some(list(self.scores), last='or')} with ",
            Pass("scores"),
        )


def read_logs(paths: list[Path]) -> list[Log] | None:
    """Read logs; None if these files are not logs."""
    kinds = [_kind(path) for path in paths]
    if not any(kinds):
        return None
    if not all(kinds):
        other = next(path for path, kind in zip(paths, kinds, strict=True) if kind is None)
        raise InputError("logs-and-rows", f"{other} is no log of an evaluation, and others are; give logs only")
    return [log for path, kind in zip(paths, kinds, strict=True) for log in _READERS[str(kind)](path)]


def _kind(path: Path) -> str | None:
    """The tool that wrote a file, by its content."""
    try:
        with path.open("rb") as file:
            start = file.read(_FIRST)
    except OSError:
        return None
    if start.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
        return "inspect archive" if names & {"header.json", "_journal/start.json"} else None
    if _INSPECT_JSON.match(start):
        return "inspect"
    if start.lstrip()[:1] == b"[" and all(f'"{name}"'.encode() in start for name in _HELM_ROW):
        return "helm"
    if start.lstrip()[:1] != b"{":
        return None
    found = (kind for kind, names in _KEYS.items() if all(f'"{name}"'.encode() in start for name in names))
    return next(found, None)


# ── Inspect ──────────────────────────────────────────────────────────────────────────────────────────────────────
def _read_inspect(path: Path) -> list[Log]:
    whole = _parse(path, path.read_bytes())
    return [_of_inspect(path, whole, whole.get("samples") or [])]


def _read_archive(path: Path) -> list[Log]:
    """Read an archive: its header, and the summaries of all samples, or else each sample."""
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        head = _parse(path, _member(path, archive, "header.json" if "header.json" in names else "_journal/start.json"))
        head.setdefault("status", "started")
        if "summaries.json" in names:
            samples = _parse(path, _member(path, archive, "summaries.json"))
        else:
            inner = sorted(name for name in names if re.fullmatch(r"samples/.*\.json", name))
            samples = [_parse(path, _member(path, archive, name)) for name in inner]
    return [_of_inspect(path, head, samples)]


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """The bytes of a member, also of the newer compression (Zstandard), which Python learned with 3.14."""
    info = archive.getinfo(name)
    if info.file_size > _MOST_BYTES:
        raise errors.unreadable_file(str(path), f"{name} claims {info.file_size:,} bytes")
    if info.compress_type != _ZSTD:
        return archive.read(info)
    try:
        import pyarrow as pa
    except ImportError:
        raise errors.MissingPartError(
            "zstd-needs-pyarrow",
            f"{path} is compressed with Zstandard; install pyarrow to read it: pip install pyarrow",
        ) from None
    with path.open("rb") as file:
        file.seek(info.header_offset)
        head = file.read(30)
        skipped = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        file.seek(info.header_offset + 30 + skipped)
        packed = file.read(info.compress_size)
    with pa.CompressedInputStream(pa.BufferReader(packed), "zstd") as stream:
        return bytes(stream.read(info.file_size))


def _of_inspect(path: Path, head: Plain, samples: list[Plain]) -> Log:
    about = head.get("eval", {})
    scores = {name: [_inspect_answer(path, sample, name) for sample in samples] for name in _inspect_scores(samples)}
    if not scores:
        raise errors.unreadable_file(str(path), f"it holds no scores (status {head.get('status')!r})")
    planned = about.get("dataset", {}).get("sample_ids") or []
    seen = {str(sample.get("id")) for sample in samples}
    finished = head.get("status") == "success" and all(str(one) in seen for one in planned)
    reported = {}
    for one in (head.get("results") or {}).get("scores", []):
        name = one["scorer"] if one["name"] == one["scorer"] else f"{one['scorer']}.{one['name']}"
        for metric in ("accuracy", "mean"):
            if metric in one.get("metrics", {}) and one.get("reducer") in (None, "mean"):
                reported[name] = one["metrics"][metric]["value"]
    return Log(str(path), str(about.get("model")), str(about.get("task")), scores, finished, reported)


def _inspect_scores(samples: list[Plain]) -> dict[str, None]:
    """The names of scores; those of a scorer with several are SCORER.NAME."""
    names: dict[str, None] = {}
    for sample in samples:
        for scorer, score in (sample.get("scores") or {}).items():
            value = score.get("value")
            inner = [f"{scorer}.{key}" for key in value] if isinstance(value, dict) else [scorer]
            names.update(dict.fromkeys(inner))
    return names


def _inspect_answer(path: Path, sample: Plain, name: str) -> Answered:
    scores = sample.get("scores") or {}
    scorer = next((one for one in scores if name == one or name.startswith(f"{one}.")), "")
    value = scores[scorer].get("value") if scorer else None
    if isinstance(value, dict):
        value = value.get(name[len(scorer) + 1 :])
    score = _number(path, value)
    target = json.dumps(sample.get("target"))
    return Answered(str(sample.get("id")), int(sample.get("epoch", 1)), score, target, sample.get("metadata") or {})


def _number(path: Path, value: Value) -> float:
    """The number of a score, as Inspect reads it; words that it does not know are refused."""
    if value is None:
        return math.nan
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, str):
        known = _WORDS.get(value, _ANSWERS.get(value.strip().lower()))
        if known is not None:
            return known
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    raise errors.unreadable_file(str(path), f"the score {short(repr(value))} is no number; score it as one (0 to 1)")


# ── lm-evaluation-harness ────────────────────────────────────────────────────────────────────────────────────────
def _read_harness(path: Path) -> list[Log]:
    with path.open("rb") as file:
        rows = [_parse(path, line) for line in file if line.strip()]
    named = _HARNESS_NAME.fullmatch(path.name)
    task = named["task"] if named else path.stem
    results = path.with_name(f"results_{named['time']}.json") if named else path
    head = _parse(path, results.read_bytes()) if named and results.exists() else {}
    model = str(head.get("model_name") or path.parent.name or path.stem)
    scores: dict[str, list[Answered]] = {}
    for row in rows:
        for metric in _harness_metrics(row):
            answer = Answered(
                str(row["doc_id"]), 1, float(row[metric]), str(row.get("doc_hash", row.get("target"))), row["doc"]
            )
            scores.setdefault(f"{metric},{row.get('filter', 'none')}", []).append(answer)
    if not scores:
        raise errors.unreadable_file(str(path), "no metric in it has a number for each sample")
    reported = {k: v for k, v in (head.get("results", {}).get(task) or {}).items() if isinstance(v, int | float)}
    return [Log(str(path), model, task, scores, True, {name: reported[name] for name in scores if name in reported})]


def _harness_metrics(row: Plain) -> list[str]:
    """The metrics with one number for each sample; others (f1 as a pair, say) are of the whole corpus."""
    names = row.get("metrics") or [name for name in row if name not in (*_HARNESS_ROW, "filter")]
    return [name for name in names if isinstance(row.get(name), bool | int | float)]


# ── promptfoo ────────────────────────────────────────────────────────────────────────────────────────────────────
def _read_promptfoo(path: Path) -> list[Log]:
    """Read one log for each provider and prompt.

    A test is identified by its variables and assertions, since each repeat has a number of its own. Rows that failed
    without an answer have no score; the tool gives them 0.
    """
    text = path.read_bytes()
    if b'"evalId"' in text[:_FIRST]:
        found = _parse(path, text).get("results") or {}
        rows, about = found.get("results") or [], dict(enumerate(found.get("prompts") or []))
    else:
        rows, about = [_parse(path, line) for line in text.splitlines() if line.strip()], {}
    columns: dict[int, list[Plain]] = {}
    for row in sorted(rows, key=lambda row: row["testIdx"]):
        columns.setdefault(row["promptIdx"], []).append(row)
    models = [{_provider(row) for row in column} for column in columns.values()]
    several = sum(map(len, models)) > len(set().union(*models))
    return [
        _of_promptfoo(path, column, several, about.get(place, {}).get("metrics") or {})
        for place, column in sorted(columns.items())
    ]


def _provider(row: Plain) -> str:
    return str(row["provider"].get("label") or row["provider"].get("id"))


def _of_promptfoo(path: Path, rows: list[Plain], several: bool, sums: Plain) -> Log:
    """The log of one model; with ``several`` prompts of a provider each prompt is a model."""
    prompt = rows[0].get("prompt", {}).get("label") or rows[0]["promptId"]
    scores: dict[str, list[Answered]] = {"score": [], "pass": []}
    runs: dict[str, int] = {}
    for row in rows:
        case, variables = row.get("testCase") or {}, row.get("vars") or {}
        same = [variables, *(case.get(name) for name in ("description", "assert", "metadata"))]
        if not any(same):
            raise errors.unreadable_file(str(path), "its tests have no variables, so models cannot be compared by test")
        item = json.dumps(same, sort_keys=True)
        runs[item] = runs.get(item, 0) + 1
        named = {"score": row.get("score"), "pass": row.get("success"), **(row.get("namedScores") or {})}
        for name, value in named.items():
            number = math.nan if row.get("failureReason") == _FAILED else _number(path, value)
            groups = {**variables, **(case.get("metadata") or {})}
            scores.setdefault(name, []).append(Answered(item, runs[item], number, "", groups))
    counts = [sums.get(name, 0) for name in ("testPassCount", "testFailCount")]
    reported = {} if sums.get("testErrorCount") or not sum(counts) else {"score": sums["score"] / sum(counts)}
    model = f"{_provider(rows[0])}, {prompt}" if several else _provider(rows[0])
    return Log(str(path), model, "", scores, True, reported)


# ── DeepEval ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _read_deepeval(path: Path) -> list[Log]:
    """Read the cases of a run, identified by their input; a metric that failed has no score."""
    whole = _parse(path, path.read_bytes())
    whole = whole.get("testRunData", whole)
    scores: dict[str, list[Answered]] = {}
    runs: dict[str, int] = {}
    for case in [*(whole.get("testCases") or []), *(whole.get("conversationalTestCases") or [])]:
        item = str(case.get("input") or case.get("name"))
        runs[item] = runs.get(item, 0) + 1
        for one in case.get("metricsData") or []:
            score = math.nan if one.get("error") else _number(path, one.get("score"))
            answer = Answered(item, runs[item], score, str(case.get("expectedOutput")), case.get("metadata") or {})
            scores.setdefault(one["name"], []).append(answer)
    if not scores:
        raise errors.unreadable_file(str(path), "no case in it has a metric")
    model = str((whole.get("hyperparameters") or {}).get("model") or whole.get("identifier") or path.stem)
    reported = {one["metric"]: math.fsum(one["scores"]) / len(one["scores"]) for one in whole.get("metricsScores") or []
            if one.get("scores") and max(runs.values()) == 1}  # fmt: skip
    return [Log(str(path), model, "", scores, True, reported)]


# ── HELM ─────────────────────────────────────────────────────────────────────────────────────────────────────────
def _read_helm(path: Path) -> list[Log]:
    """Read the instances of a run without perturbed copies; each split is a score of its own."""
    beside = path.with_name("run_spec.json")
    if not beside.exists():
        raise errors.unreadable_file(str(path), "which model it is about stands in run_spec.json, which is not there")
    spec = _parse(beside, beside.read_bytes())
    scores: dict[str, list[Answered]] = {}
    for instance in _parse(path, path.read_bytes()):
        for one in [] if "perturbation" in instance else instance["stats"]:
            if "perturbation" not in one["name"] and one["count"]:
                groups = {"sub_split": one["name"].get("sub_split", "")}
                answer = Answered(str(instance["instance_id"]), int(instance["train_trial_index"]) + 1,
                                  float(one["sum"]) / one["count"], "", groups)  # fmt: skip
                scores.setdefault(_helm_name(one["name"]), []).append(answer)
    if not scores:
        raise errors.unreadable_file(str(path), "no instance in it has a statistic")
    means = path.with_name("stats.json")
    whole = _parse(means, means.read_bytes()) if means.exists() else []
    reported = {_helm_name(one["name"]): float(one["mean"]) for one in whole
            if one.get("mean") is not None and not {"perturbation", "sub_split"} & one["name"].keys()}  # fmt: skip
    scenario = spec.get("scenario_spec") or {}
    given = [f"{name}={value}" for name, value in sorted((scenario.get("args") or {}).items())]
    task = ", ".join([str(scenario.get("class_name", "")).rpartition(".")[2], *given])
    return [Log(str(path), str(spec["adapter_spec"]["model"]), task, scores, True, reported)]


def _helm_name(name: Mapping[str, Value]) -> str:
    """The name of a score, with its split."""
    return ",".join(filter(None, (str(name["name"]), name.get("split"))))


def _parse(path: Path, text: bytes) -> Value:
    """Parse JSON; these tools also write NaN."""
    try:
        return json.load(io.TextIOWrapper(io.BytesIO(text), encoding="utf-8"))
    except (ValueError, RecursionError) as problem:
        raise errors.unreadable_file(str(path), str(problem)) from None


_READERS = {
    "inspect": _read_inspect,
    "inspect archive": _read_archive,
    "harness": _read_harness,
    "promptfoo": _read_promptfoo,
    "deepeval": _read_deepeval,
    "helm": _read_helm,
}


# ── as columns ───────────────────────────────────────────────────────────────────────────────────────────────────
def columns_of_logs(
    logs: list[Log], wanted: str | None, cluster: str | None, partial: bool, by_task: bool = False
) -> dict[str, list[Value]]:
    """The logs as one table: item, model, score, repeat, cluster and task; ``partial`` allows unfinished runs."""
    table: dict[str, list[Value]] = {name: [] for name in ("item", "model", "score", "repeat", "cluster", "task")}
    about: dict[str, str] = {}
    tasks = list(dict.fromkeys(log.task for log in logs))
    several = len(tasks) > 1
    if several and not by_task:
        errors.warn(
            "several-tasks",
            f"the logs hold the tasks {some(tasks)}, whose samples are put together, so that large tasks weigh more; "
            "for the mean over tasks give ",
            Pass("task", "task"),
        )
    for log in logs:
        if not log.finished and not partial:
            raise InputError(
                "unfinished-log",
                f"{log.name}: the run did not end, or lacks samples; run it again, or compare on what was answered: ",
                Pass("missing", "pairwise"),
            )
        name = log.chosen(wanted)
        for one in log.scores[name]:
            item = f"{log.task}/{one.item}" if several else one.item
            if about.setdefault(item, one.same) != one.same:
                raise InputError(
                    "different-samples",
                    f"{log.name}: sample {item!r} has another target than before; give runs of one data set",
                )
            row = (item, log.model, one.score, one.repeat, _cluster(log, one, cluster), log.task)
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
        _check_own_mean(log, name)
    return table


def _cluster(log: Log, one: Answered, cluster: str | None) -> str | None:
    if cluster is None:
        return None
    if cluster not in one.groups:
        raise InputError(
            "no-cluster-in-log",
            f"{log.name}: sample {one.item!r} has no {cluster!r}; name one of what it has: "
            f"{some(list(one.groups)) or 'nothing'}",
        )
    return str(one.groups[cluster])


def _check_own_mean(log: Log, name: str) -> None:
    """Warn if the mean of the items differs from the log's own."""
    if name not in log.reported:
        return
    runs: dict[str, list[float]] = {}
    for one in log.scores[name]:
        if not math.isnan(one.score):
            runs.setdefault(one.item, []).append(one.score)
    mean = math.fsum(math.fsum(values) / len(values) for values in runs.values()) / max(len(runs), 1)
    if abs(mean - log.reported[name]) > _CLOSE * max(abs(mean), 1):
        errors.warn(
            "log-tells-otherwise",
            f"{log.name}: the mean of {name} is {mean:.6g} here and {log.reported[name]:.6g} in the log itself; the "
            "tool may have read scores in another way",
        )
