"""Recalibrators that were saved, made again."""

import json
import math
import os
from pathlib import Path

from stakes import errors
from stakes.decisions.recalibration.calibrators import CALIBRATORS, VERSION, Calibrator
from stakes.errors import InputError, short
from stakes.question.options import Value
from stakes.tallies.checks import as_path


def load_calibrator(saved: str | os.PathLike[str] | dict[str, object]) -> Calibrator:
    """Return the recalibrator that was saved in a file, or as the dictionary of ``to_dict()``."""
    where = "the dictionary" if isinstance(saved, dict) else str(saved)
    content = saved if isinstance(saved, dict) else _read(as_path("saved", saved))
    if not isinstance(content, dict) or content.get("stakes") != "calibrator":
        raise errors.no_saved_calibrator(where)
    if content.get("version") != VERSION:
        raise InputError(
            "other-calibrator-version",
            f"{where}: the calibrator was saved in version {short(repr(content.get('version')))}, this stakes reads "
            f"version {VERSION}; update stakes, or fit it again",
        )
    kind = CALIBRATORS.get(str(content.get("method")))
    if kind is None:
        raise errors.damaged_calibrator(where, f"there is no method {content.get('method')!r}")
    made = kind()
    try:
        made.restore(content)
        made.range_ = _range(content.get("range")) or made.range_
        made.rows_ = float(content["rows"])
        made.fitted_for_ = {str(what): str(name) for what, name in dict(content.get("fitted_for", {})).items()}
        if not made.rows_ > 0:
            raise ValueError("it was fitted on no rows")
    except (KeyError, TypeError, ValueError, OverflowError) as problem:
        why = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise errors.damaged_calibrator(where, why) from None
    return made


def _range(saved: Value) -> tuple[float, float] | None:
    if saved is None:
        return None
    low, high = map(float, saved)
    if not -math.inf < low <= high < math.inf:
        raise ValueError("the range of its scores")
    return low, high


def _read(path: Path) -> object:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise errors.no_such_file(str(path)) from None
    except OSError as problem:
        raise errors.unreadable_file(str(path), problem.strerror or str(problem)) from None
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or brackets without end
        raise errors.no_saved_calibrator(str(path)) from None
