"""The report of precision, recall and f1 of each label, as text or as a dictionary."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from stakes import errors
from stakes.errors import InputError, Pass
from stakes.sklearn.decisions import F1, PRECISION, RECALL, Average, ZeroDivision, label_tables, rate
from stakes.sklearn.targets import Decisions, read_decisions
from stakes.tallies.arithmetic import Values

_HEADS = ("precision", "recall", "f1-score", "support")

Report = dict[str, dict[str, float] | float]


def classification_report(
    y_true: Values,
    y_pred: Values,
    *,
    labels: Values = None,
    target_names: Sequence[str] | None = None,
    sample_weight: Values = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: ZeroDivision = "warn",
    strict: bool = False,
) -> str | Report:
    """Return precision, recall, f1 and the number of rows of each label, and their averages.

    With ``output_dict`` the averages are floats that have an interval.
    """
    seen = read_decisions(y_true, y_pred, sample_weight)
    wanted = seen.labels if labels is None else np.asarray(labels)
    names = _names(wanted, target_names, labels is not None)
    ask = partial(_row, seen=seen, labels=wanted, zero_division=zero_division, strict=strict)
    support = label_tables(seen, wanted).counts[:, 1].sum(-1)
    each = ask(average=None)
    report: Report = {
        name: dict(zip(_HEADS, map(float, (*(column[i] for column in each), support[i])), strict=True))
        for i, name in enumerate(names)
    }
    single = isinstance(seen, Decisions)
    accurate = single and (labels is None or set(wanted.tolist()) >= set(seen.labels.tolist()))
    averages: list[Average] = ["micro", "macro", "weighted"]
    averages += [] if single else ["samples"]
    rows = {f"{how} avg": ask(average=how) for how in averages if how != "micro" or not accurate}
    total = float(support.sum())
    ends: Report = {"accuracy": ask(average="micro")[0]} if accurate else {}
    ends |= {name: dict(zip(_HEADS, (*row, total), strict=True)) for name, row in rows.items()}
    if output_dict:
        return report | ends
    whole = sample_weight is None and bool(seen.margins[0].any() if isinstance(seen, Decisions) else True)
    return _text(report, ends, digits, whole, total)  # scikit-learn counts in floats where nothing is hit


def _row(average: Average, seen: Values, labels: Values, zero_division: ZeroDivision, strict: bool) -> list[Values]:
    how = (labels, 1, average, zero_division, strict)
    return [rate(metric, seen, *how) for metric in (PRECISION, RECALL, F1)]


def _names(labels: Values, target_names: Sequence[str] | None, given: bool) -> list[str]:
    if target_names is None:
        return [str(label) for label in labels]
    if len(target_names) != len(labels):
        text = f"there are {len(labels)} labels and {len(target_names)} target_names"
        if not given:
            raise InputError("names-and-labels", f"{text}; give as many, or say which with ", Pass("labels"))
        errors.warn("names-and-labels", f"labels size does not match: {text}")
    return [str(name) for name, _ in zip(target_names, labels, strict=False)]


def _text(report: Report, ends: Report, digits: int, whole: bool, total: float) -> str:
    width = max(*map(len, report), len("weighted avg"), digits)
    lines = [f"{'':>{width}} " + "".join(f" {head:>9}" for head in _HEADS), ""]

    def count(rows: float) -> str:
        return f"{int(rows)}" if whole else f"{rows}"

    def line(name: str, entry: dict[str, float]) -> str:
        shares = "".join(f" {float(entry[head]):>9.{digits}f}" for head in _HEADS[:3])
        return f"{name:>{width}} {shares} {count(entry['support']):>9}"

    lines += [line(name, entry) for name, entry in report.items() if isinstance(entry, dict)] + [""]
    for name, entry in ends.items():
        if isinstance(entry, dict):
            lines.append(line(name, entry))
        else:
            lines.append(f"{name:>{width}} {'':>10}{'':>10} {float(entry):>9.{digits}f} {count(total):>9}")
    return "\n".join(lines) + "\n"
