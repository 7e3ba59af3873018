"""Logs of harnesses: known by content, read as the tools read them, and refused where something is missing."""

import importlib
import json
import struct
import warnings
import zipfile
import zlib
from pathlib import Path

import pytest

import stakes
from stakes.errors import InputError, UnableError
from tests.bad_inputs.catalogue import run_command

IDS = [f"q{number}" for number in range(8)]


def samples(values, epochs=1, **more):
    """Samples of Inspect: a score for each item and epoch."""
    return [
        {
            "id": name,
            "epoch": epoch,
            "input": "?",
            "target": name.upper(),
            "metadata": {"passage": f"p{place // 2}"},
            "scores": {"g": {"value": values[place][epoch - 1] if epochs > 1 else values[place]}},
            **more,
        }
        for place, name in enumerate(IDS[: len(values)])
        for epoch in range(1, epochs + 1)
    ]


def inspect_log(model, values, epochs=1, mean=None, **more):
    told = [] if mean is None else [{"name": "g", "scorer": "g", "metrics": {"accuracy": {"value": mean}}}]
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "toy", "model": model, "dataset": {"sample_ids": IDS[: len(values)]}},
        "results": {"scores": told},
        "samples": samples(values, epochs),
        **more,
    }


def write(folder, name, log):
    (folder / name).write_text(json.dumps(log))
    return str(folder / name)


GOOD, BAD = list("CCCCCPCC"), list("IICIPIIN")


def test_inspect_json_is_read_with_its_words_for_scores(tmp_path):
    logs = [
        write(tmp_path, "a.json", inspect_log("acme/good", GOOD, mean=7.5 / 8)),
        write(tmp_path, "b.json", inspect_log("acme/bad", BAD, mean=1.5 / 8)),
    ]
    ranks = stakes.rank(logs)
    assert [(one.model, one.estimate.value) for one in ranks.standings] == [
        ("acme/good", 7.5 / 8),
        ("acme/bad", 1.5 / 8),
    ]
    table = {"good": [1, 1, 1, 1, 1, 0.5, 1, 1], "bad": [0, 0, 1, 0, 0.5, 0, 0, 0]}
    assert ranks.pair("acme/good", "acme/bad").p_value == pytest.approx(
        stakes.rank(scores=table).pair("good", "bad").p_value
    )


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
@pytest.mark.parametrize("summaries", [True, False])
def test_archives_of_inspect_hold_the_same(tmp_path, compression, summaries):
    found = []
    for model, values in (("good", GOOD), ("bad", BAD)):
        log = inspect_log(model, values)
        inner = log.pop("samples")
        members = {"_journal/start.json": log, "header.json": log}
        members |= {"summaries.json": inner} if summaries else {f"samples/{s['id']}_epoch_1.json": s for s in inner}
        content = {name: json.dumps(part).encode() for name, part in members.items()}
        path = tmp_path / f"{model}.eval"
        if compression == 93:
            write_zstd(path, content)
        else:
            with zipfile.ZipFile(path, "w", compression) as archive:
                for name, part in content.items():
                    archive.writestr(name, part)
        found.append(str(path))
    assert [one.estimate.value for one in stakes.rank(found).standings] == [7.5 / 8, 1.5 / 8]


def write_zstd(path, members):
    """A zip archive with Zstandard inside, which zipfile cannot write before Python 3.14."""
    pa = importlib.import_module("pyarrow")
    body, directory = b"", b""
    for name, content in members.items():
        packed = pa.compress(content, codec="zstd", asbytes=True)
        sizes = struct.pack("<III", zlib.crc32(content), len(packed), len(content))
        head = struct.pack("<HHHHH", 63, 0, 93, 0, 33) + sizes + struct.pack("<HH", len(name), 0)
        entry = struct.pack("<IH", 0x02014B50, 63) + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += entry + name.encode()
        body += struct.pack("<I", 0x04034B50) + head + name.encode() + packed
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + end)


def test_epochs_are_runs_of_an_item_and_metadata_names_clusters(tmp_path):
    one = [["C", "P"], ["I", 0.5], ["C", "C"], ["C", True], ["C", "1"], ["C", "C"], ["C", "I"], ["C", "C"]]
    two = [["I", "I"]] * 8
    logs = [write(tmp_path, f"{m}.json", inspect_log(m, v, epochs=2)) for m, v in (("a", one), ("b", two))]
    ranks = stakes.rank(logs)
    assert (ranks.items, ranks.repeats.per_item) == (8, 2)
    assert ranks.standings[0].estimate.value == pytest.approx((0.75 + 0.25 + 5 + 0.5) / 8)
    with pytest.raises(InputError, match="tell as much as 4 equal ones"):
        stakes.rank(logs, cluster="passage")
    with pytest.raises(InputError, match="name one of what it has: 'passage'"):
        stakes.rank(logs, cluster="author")


def harness(folder, model, values, metrics=("exact_match",), filters=("none",), results=True):
    place = folder / model
    place.mkdir()
    time = "2026-01-01T00-00-00.000000"
    rows = [
        {
            **{"doc_id": i, "doc": {"q": "?", "story": f"s{i // 2}"}, "target": "1", "arguments": {}, "resps": [["1"]]},
            **{"filtered_resps": ["1"], "filter": one, "metrics": list(metrics), "doc_hash": f"h{i}"},
            **dict.fromkeys(metrics, value),
        }
        for one in filters
        for i, value in enumerate(values)
    ]
    (place / f"samples_my_task_{time}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    if results:
        mean = {f"{name},{one}": sum(values) / len(values) for name in metrics for one in filters}
        told = {"model_name": f"acme/{model}", "results": {"my_task": mean}}
        (place / f"results_{time}.json").write_text(json.dumps(told))
    return str(place / f"samples_my_task_{time}.jsonl")


def test_samples_of_the_harness_take_the_model_from_the_results_or_the_folder(tmp_path):
    logs = [harness(tmp_path, "x", [1.0] * 8), harness(tmp_path, "y", [0.0, 1.0] * 4, results=False)]
    assert [(one.model, one.estimate.value) for one in stakes.rank(logs).standings] == [("acme/x", 1.0), ("y", 0.5)]


def test_filters_are_scores_of_their_own_and_no_more_items(tmp_path):
    logs = [
        harness(tmp_path, name, [one, 1.0] * 5, filters=("strict", "loose")) for name, one in (("x", 1.0), ("y", 0.0))
    ]
    with pytest.raises(
        InputError, match="has several scores; choose one of 'exact_match,strict' or 'exact_match,loose'"
    ):
        stakes.rank(logs)
    assert stakes.rank(logs, scores="exact_match,loose").items == 10


def test_metrics_of_the_whole_corpus_are_skipped(tmp_path):
    file = harness(tmp_path, "x", [1.0] * 8, metrics=("acc",))
    rows = [
        {**json.loads(line), "f1": [0, 1], "metrics": ["acc", "f1"]} for line in Path(file).read_text().splitlines()
    ]
    Path(file).write_text("\n".join(map(json.dumps, rows)))
    assert stakes.rank([file, harness(tmp_path, "y", [0.0] * 8, metrics=("acc",))]).items == 8


def test_what_is_wrong_with_logs_is_one_line(tmp_path, capsys):
    good = write(tmp_path, "good.json", inspect_log("good", GOOD))
    cases = {
        "unfinished-log": inspect_log("b", BAD, status="error"),
        "which-score-of-log": {**inspect_log("b", BAD), "samples": samples([{"x": 1, "y": 0}] * 8)},
        "missing-answers": inspect_log("b", [*BAD[:7], None]),
        "different-samples": {**inspect_log("b", BAD), "samples": samples(BAD, target="other")},
        "unreadable-file": inspect_log("b", [*BAD[:7], "perhaps"]),
    }
    for code, log in cases.items():
        with pytest.raises((InputError, UnableError)) as caught:
            stakes.rank([good, write(tmp_path, "other.json", log)])
        assert caught.value.code == code
    twice = [write(tmp_path, f"{name}.json", inspect_log("b", BAD)) for name in ("one", "two")]
    with pytest.raises(InputError, match="scored more than once by the same model"):
        stakes.rank([good, *twice])
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"rows\.csv is no log"):
        stakes.rank([good, str(tmp_path / "rows.csv")])
    other = write(tmp_path, "other.json", inspect_log("b", [*BAD[:7], None], status="cancelled"))
    code, out, _ = run_command(["rank", good, other, "--missing", "pairwise", "--json"], capsys)
    assert code == 0
    assert [one["items"] for one in json.loads(out)["standings"]] == [8, 7]


def test_samples_of_several_tasks_are_kept_apart_and_that_is_said(tmp_path):
    logs = []
    for task in ("one", "two"):
        for model, values in (("a", GOOD), ("b", BAD)):
            log = inspect_log(model, values)
            log["eval"]["task"] = task
            logs.append(write(tmp_path, f"{task}{model}.json", log))
    with pytest.warns(stakes.InputWarning, match="the tasks 'one' and 'two', whose samples are put together"):
        assert stakes.rank(logs).items == 16
    last = {**json.loads(Path(logs[3]).read_text()), "samples": samples(["C"] * 8)}
    found = stakes.rank([*logs[:3], write(tmp_path, "twob.json", last)], task="task")
    assert found.standings[1].estimate.value == pytest.approx((1.5 / 8 + 1) / 2)  # each task weighs the same


def test_a_mean_that_the_tool_tells_otherwise_is_warned_of(tmp_path):
    logs = [
        write(tmp_path, "a.json", inspect_log("a", GOOD, mean=0.5)),
        write(tmp_path, "b.json", inspect_log("b", BAD)),
    ]
    with pytest.warns(stakes.InputWarning, match=r"is 0\.9375 here and 0\.5 in the log itself"):
        stakes.rank(logs)


def promptfoo_row(test, model, score, prompt=0, reason=None, **more):
    return {
        "testIdx": test, "promptIdx": prompt, "promptId": "p", "provider": {"id": f"acme:{model}", "label": ""},
        "prompt": {"raw": "?", "label": f"Say {prompt}"}, "vars": {"w": f"w{test % 8}"},
        "testCase": {"vars": {"w": f"w{test % 8}"}, "metadata": {"passage": f"p{test % 8 // 2}"}},
        "success": score == 1, "score": score, "failureReason": (score != 1) if reason is None else reason,
        "namedScores": {"tone": score / 2}, **more,
    }  # fmt: skip


def promptfoo(rows, sums=()):
    prompts = [{"metrics": one} for one in sums]
    return {"evalId": "eval-x", "results": {"version": 3, "prompts": prompts, "results": rows}, "config": {}}


def test_promptfoo_takes_repeats_for_runs_of_one_test_and_errors_for_missing_answers(tmp_path):
    """Repeats have numbers of their own in the log (tests 8 to 15), and rows stand in the order in which they ended."""
    good, bad = [1, 1, 1, 0, 1, 1, 1, 1] * 2, [0, 1, 0, 0, 0.5, 0, 0, 0] + [0] * 8
    rows = [promptfoo_row(test, "good", score) for test, score in enumerate(good)]
    rows += [promptfoo_row(test, "bad", score, 1) for test, score in enumerate(bad)]
    sums = [{"score": 14, "testPassCount": 14, "testFailCount": 2, "testErrorCount": 0},
            {"score": 1.5, "testPassCount": 1, "testFailCount": 15, "testErrorCount": 0}]  # fmt: skip
    file = write(tmp_path, "all.json", promptfoo(rows[::-1], sums))
    found = stakes.rank(file, scores="score")
    assert {one.model: one.estimate.value for one in found.standings} == {"acme:good": 14 / 16, "acme:bad": 1.5 / 16}
    assert (found.items, found.repeats.per_item) == (8, 2)
    assert stakes.rank(file, scores="pass").standings[1].estimate.value == 1 / 16
    assert stakes.rank(file, scores="tone").standings[0].estimate.value == 7 / 16
    lines = tmp_path / "all.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert stakes.rank(lines, scores="score").to_dict() == found.to_dict()
    failed = [*rows[1:], promptfoo_row(0, "good", 0, reason=2)]
    file = write(tmp_path, "failed.json", promptfoo(failed))
    one = stakes.rank(file, scores="score", missing="pairwise").standings[0]
    assert (one.model, one.estimate.value) == ("acme:good", pytest.approx((14 - 1 + 1) / 16))  # the other run of test 0
    prompts = [promptfoo_row(test, "m", 1 - place, place) for place in (0, 1) for test in range(8)]
    named = stakes.rank(write(tmp_path, "prompts.json", promptfoo(prompts)), scores="score")
    assert [one.model for one in named.standings] == ["acme:m, Say 0", "acme:m, Say 1"]


def deepeval(model, scores):
    cases = [
        {"name": f"test_case_{place}", "input": f"q{place}", "expectedOutput": "r", "success": True, "order": place,
         "metadata": {"passage": place // 2},
         "metricsData": [{"name": "Fit", "threshold": 0.5, **({"error": "x"} if one is None else {"score": one})}]}
        for place, one in enumerate(scores)
    ]  # fmt: skip
    known = [one for one in scores if one is not None]
    told = [{"metric": "Fit", "scores": known, "passes": 1, "fails": 0, "errors": len(scores) - len(known)}]
    return {
        "testCases": cases,
        "metricsScores": told,
        "hyperparameters": {"model": model},
    }


def test_deepeval_takes_the_model_under_test_and_leaves_out_metrics_that_failed(tmp_path):
    one = write(tmp_path, "one.json", deepeval("acme/one", [0.9, 0.8, 0.7, 0.9, 1, 0.8]))
    two = write(tmp_path, "two.json", {"testRunData": deepeval("acme/two", [0.1, 0.2, 0.3, 0.1, None, 0.2])})
    found = stakes.rank([one, two], missing="pairwise")
    assert [one.model for one in found.standings] == ["acme/one", "acme/two"]
    assert found.standings[1].estimate.value == pytest.approx(0.18)
    assert found.pair("acme/one", "acme/two").difference == pytest.approx(4.1 / 5 - 0.18)
    with pytest.raises(InputError, match="missing"):
        stakes.rank([one, two])


def helm(folder, model, scores, told=None):
    """A run of two trials with a perturbed copy, other metrics in elements of their own, and the tool's own means."""
    folder.mkdir()

    def stat(value, **name):
        return {"name": {"name": "exact_match", "split": "test", **name}, "count": 1, "sum": value, "mean": value}

    rows = [{"instance_id": f"id{place}", "train_trial_index": trial, "stats": [stat(value)]}
            for trial in (0, 1) for place, value in enumerate(scores)]  # fmt: skip
    changed = {"name": "typos"}
    once, worse = {"instance_id": "id0", "train_trial_index": 0}, stat(1 - scores[0])
    rows += [{**once, "perturbation": changed, "stats": [worse]}, {**once, "stats": [stat(9, name="num_tokens")]}]
    rows.append({**once, "stats": [stat(1 - scores[0], perturbation=changed)]})
    spec = {"name": f"mmlu:model={model}", "adapter_spec": {"model": model},
            "scenario_spec": {"class_name": "helm.mmlu.MMLUScenario", "args": {"subject": "anatomy"}}}  # fmt: skip
    write(folder, "run_spec.json", spec)
    mean = sum(scores) / len(scores) if told is None else told
    write(folder, "stats.json", [{**stat(mean), "count": 2}, {**stat(0.0, perturbation=changed)}])
    return write(folder, "per_instance_stats.json", rows)


def test_helm_is_read_without_perturbed_copies(tmp_path):
    one = helm(tmp_path / "one", "acme/one", [1, 1, 1, 0, 1, 1, 1, 1])
    two = helm(tmp_path / "two", "acme/two", [0, 1, 0, 0, 1, 0, 0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the tool's own mean is the same
        found = stakes.rank([one, two], scores="exact_match")
    assert [(each.model, each.estimate.value) for each in found.standings] == [("acme/one", 7 / 8), ("acme/two", 3 / 8)]
    assert found.items == 8
    wrong = helm(tmp_path / "wrong", "acme/wrong", [0, 1, 0, 0, 1, 0, 0, 1], told=0.9)
    with pytest.warns(stakes.InputWarning, match=r"is 0\.375 here and 0\.9 in the log itself"):
        stakes.rank([one, wrong], scores="exact_match,test")
    with pytest.raises(InputError, match="has several scores; choose one of 'exact_match,test' or 'num_tokens,test'"):
        stakes.rank([one, two])
    (tmp_path / "one" / "run_spec.json").unlink()
    with pytest.raises(InputError, match=r"which model it is about stands in run_spec\.json"):
        stakes.rank([one, two])
