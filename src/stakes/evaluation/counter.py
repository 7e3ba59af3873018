"""A counter for loops that train or evaluate: batches go in where they lie, an evaluation comes out."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes import errors
from stakes.engines.counting import count_rows
from stakes.engines.labels import PAIRS
from stakes.engines.plan import Counted
from stakes.engines.tensors.arrays import Tensor, at_home
from stakes.engines.tensors.operations import operations_on
from stakes.engines.tensors.running import RunningCounts, Scores, Totals, as_running, refuse_unlike_batch
from stakes.errors import Given, InputError, Pass, Text, short, some
from stakes.evaluation.base import Evaluation
from stakes.question.options import Column
from stakes.tallies.arithmetic import Array
from stakes.tallies.checks import check_flag, is_one_of

_TASKS = ("classification", "regression")
_ROWS = ("truth", "score", "prediction")
_SAVED = ("counts", "sums")

State = dict[str, Any]
"""What a counter holds, as numbers and arrays (tensors of PyTorch where that is loaded)."""


@dataclass(frozen=True)
class _Setting:
    """What a counter counts."""

    task: str
    classes: tuple[int, ...]
    positive: int | None
    exact: bool
    from_logits: bool


class Counter:
    """Count batches of tensors where they lie, without waiting for them; ``compute()`` gives the evaluation.

    ``classes`` are the whole numbers that stand for classes in ``truth`` (and ``prediction``), ``positive`` is one of
    two: 1, unless another is named. Probabilities of two classes are counted in fine bins, which take the same memory
    however many rows there are, with bounds of the auc; decisions are counted in a table. ``exact=True`` keeps the rows
    instead, as scores of several classes, scores that are no probabilities, and predicted numbers
    (``task="regression"``) need. ``from_logits=True`` makes probabilities of logits; nothing else does.

    Nothing is checked while counting. ``compute()`` reports wrong rows, with the number of their batch.

    >>> counter = Counter()
    >>> counter.update(np.array([0, 1, 1]), np.array([0.25, 0.75, 0.5]))
    >>> counter.update(np.array([0, 1]), np.array([0.5, 1.0]))
    >>> print(counter.compute()["auc"].value)
    0.9166666666666666
    """

    def __init__(
        self,
        *,
        task: str = "classification",
        classes: Sequence[int] = (0, 1),
        positive: int | None = None,
        exact: bool = False,
        from_logits: bool = False,
    ) -> None:
        check_flag("exact", exact)
        check_flag("from_logits", from_logits)
        if not is_one_of(task, _TASKS):
            raise InputError(
                "task-of-counter", Given("task", task), f" is not known; a counter is for {some(_TASKS, last='or')}"
            )
        if task == "regression" and not exact:
            raise _rows_needed("predicted numbers")
        self._setting = _Setting(task, *_declared(classes, positive), exact, from_logits)
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._before = Totals()
        self._running: RunningCounts | None = None
        self._kind = ""
        self._kept: dict[str, list[Tensor]] = {}

    # ── counting ─────────────────────────────────────────────────────────────────────────────────────────────
    def update(self, truth: Column, score: Column = None, *, prediction: Column = None) -> None:
        """Count a batch: what happened, and the scores or the decisions (or predicted numbers) for it."""
        given = {name: one for name, one in zip(_ROWS[1:], (score, prediction), strict=True) if one is not None}
        if len(given) != 1:
            raise InputError(
                "one-output", "a batch has either ", Pass("score"), " or ", Pass("prediction"), "; give one of them"
            )
        ((kind, output),) = given.items()
        batch = {"truth": as_running(truth, "truth"), kind: as_running(output, kind)}
        refuse_unlike_batch(batch)
        self._check_kind(kind, batch[kind])
        if self._setting.exact:
            for name, one in batch.items():
                self._kept.setdefault(name, []).append(operations_on(one).copied(one))  # a loop may reuse its tensors
            return
        if self._running is None:
            setting = self._setting
            scores: Scores | None = ("logits" if setting.from_logits else "probabilities") if kind == "score" else None
            self._running = RunningCounts(batch["truth"], setting.classes, setting.positive, scores)
        self._running.add(batch["truth"], batch[kind])

    def _check_kind(self, kind: str, output: Tensor) -> None:
        """All batches are of one kind, and rows are kept where bins would not do."""
        if self._kind not in ("", kind):
            raise InputError(
                "other-output", f"earlier batches have {self._kind}, and this one has {kind}; use a counter for each"
            )
        setting = self._setting
        if not setting.exact and kind == "score" and (len(setting.classes) > 2 or output.ndim > 1):
            raise _rows_needed("scores of several classes")
        self._kind = kind

    # ── results ──────────────────────────────────────────────────────────────────────────────────────────────
    def compute(self) -> Evaluation:
        """Return the evaluation of all batches so far; counting can go on."""
        return Evaluation(self.counted())

    def counted(self) -> Counted:
        """Return the tallies of all batches so far, as :func:`stakes.count` would."""
        setting = self._setting
        if setting.exact:
            return self._count_kept()
        totals = self._totals()
        if not totals.rows:
            raise errors.empty("truth")
        totals.check(setting.classes)
        tally = totals.tally(setting.classes, setting.positive)
        return Counted("classification", {tally.kind: tally}, read=totals.rows)

    def _totals(self) -> Totals:
        return self._before if self._running is None else self._before + self._running.totals()

    def _count_kept(self) -> Counted:
        setting = self._setting
        if not self._kept:
            raise errors.empty("truth")
        columns = {name: operations_on(parts[0]).joined(parts) for name, parts in self._kept.items()}
        if setting.task == "regression":
            return count_rows(task=setting.task, **columns)
        named: dict[str, Column] = {
            "classes": list(setting.classes),
            "positive": setting.positive,
            "from_logits": setting.from_logits,
        }
        return count_rows(task=setting.task, **named, **columns)

    # ── counters together ────────────────────────────────────────────────────────────────────────────────────
    def __add__(self, other: object) -> "Counter":
        if not isinstance(other, Counter):
            return NotImplemented
        return self._sum([self._shared(), other._shared()])

    def _shared(self) -> State:
        """The parts of a counter that are needed to add it to others."""
        totals = self._totals()
        kept = {name: [at_home(one, name) for one in parts] for name, parts in self._kept.items()}
        return {"setting": self._setting, "kind": self._kind, "totals": totals, "kept": kept}

    def _sum(self, parts: Sequence[State]) -> "Counter":
        first = parts[0]["setting"]
        for part in parts:
            if part["setting"] != first:
                raise errors.different_questions("what a counter counts", first, part["setting"])
            if part["kind"] not in ("", next((one["kind"] for one in parts if one["kind"]), "")):
                raise errors.different_questions("what was given beside the truth", parts[0]["kind"], part["kind"])
        whole = Counter(**vars(self._setting))
        whole._kind = next((part["kind"] for part in parts if part["kind"]), "")
        for part in parts:
            whole._before = whole._before + part["totals"]
            for name, batches in part["kept"].items():
                whole._kept.setdefault(name, []).extend(batches)
        return whole

    def all_reduce(self) -> "Counter":
        """Return the sum of the counters of all processes (``torch.distributed``); every process gets the same.

        This one stays as it is, so that counting can go on.
        """
        from torch import distributed  # those who call this have it

        parts: list[State | None] = [None] * distributed.get_world_size()
        own = self._shared()
        totals, here = own["totals"], f"process {distributed.get_rank()}"
        faults = {name: (count, f"{here}, {batch}", row) for name, (count, batch, row) in totals.faults.items()}
        own["totals"] = Totals(totals.rows, faults=faults)
        own["sizes"] = [None if one is None else len(one) for one in (totals.counts, totals.sums)]
        distributed.all_gather_object(parts, own)
        whole = self._sum([part for part in parts if part is not None])
        for place, name in enumerate(_SAVED):
            sizes = [part["sizes"][place] for part in parts if part is not None and part["sizes"][place] is not None]
            if sizes:
                setattr(whole._before, name, _reduced(getattr(totals, name), sizes[0], name == "counts"))
        return whole

    def state_dict(self) -> State:
        """Return all that was counted, to be saved with a checkpoint."""
        totals, setting = self._totals(), self._setting
        return {
            "stakes": "counter",
            "setting": {**vars(setting), "classes": list(setting.classes)},
            "kind": self._kind,
            "rows": totals.rows,
            "counts": _as_saved(totals.counts),
            "sums": _as_saved(totals.sums),
            "faults": {name: list(fault) for name, fault in totals.faults.items()},
            "kept": {name: _as_saved(np.concatenate([at_home(one, name) for one in parts]))
                     for name, parts in self._kept.items()},
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave; what this counter held is forgotten."""
        setting = self._setting
        own = {**vars(setting), "classes": list(setting.classes)}
        if state.get("stakes") != "counter" or not {"rows", "counts", "sums", "faults", "kept"} <= set(state):
            raise errors.not_a_tally("a state that Counter.state_dict() did not give")
        if state["setting"] != own:
            raise errors.different_questions("what a counter counts", own, state["setting"])
        self.reset()
        self._kind = state["kind"]
        faults = {name: (int(count), str(batch), int(row)) for name, (count, batch, row) in state["faults"].items()}
        counts, sums = (None if state[name] is None else np.copy(at_home(state[name], name)) for name in _SAVED)
        self._before = Totals(int(state["rows"]), counts, sums, faults)
        self._kept = {name: [np.copy(at_home(one, name))] for name, one in state["kept"].items()}

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self._setting, self.state_dict())

    def __repr__(self) -> str:
        return f"<Counter of {len(self._setting.classes)} classes, {'exact' if self._setting.exact else 'in bins'}>"


def _restore(setting: _Setting, state: State) -> Counter:
    counter = Counter(**vars(setting))
    counter.load_state_dict(state)
    return counter


def _declared(classes: Sequence[int], positive: int | None) -> tuple[tuple[int, ...], int | None]:
    """The classes as whole numbers, and the positive one of two."""
    whole = isinstance(classes, Sequence | range) and all(isinstance(one, int | np.integer) for one in classes)
    known = tuple(map(int, classes)) if whole else ()
    if len(set(known)) != len(known) or len(known) < 2:
        raise InputError(
            "classes-of-counter",
            Given("classes", classes),
            ": tensors hold no names; give the whole numbers that stand for the classes, two or more different ones",
        )
    if positive is None and len(known) == 2:
        pair = next((one for one in PAIRS if set(one) == set(map(str, known))), None)
        if pair is None:
            raise errors.which_positive(list(map(str, known)))
        return known, int(pair[1])
    if positive is not None and len(known) > 2:
        raise errors.positive_of_many(str(positive), list(map(str, known)))
    if positive is not None and not (isinstance(positive, int | np.integer) and int(positive) in known):
        raise errors.unknown_positive(short(str(positive)), list(map(str, known)))
    return known, None if positive is None else int(positive)


def _rows_needed(what: str) -> InputError:
    return InputError("counter-keeps-rows", Text(f"{what} are not counted in bins; pass "), Pass("exact", True),
                      ", which keeps the rows of all batches")  # fmt: skip


def _reduced(own: Array | None, size: int, whole: bool) -> Array:
    """Add up an array over all processes, on the device of their backend."""
    import torch
    from torch import distributed

    mine = np.zeros(size, np.int64 if whole else np.float64) if own is None else own
    device = "cuda" if distributed.get_backend() == "nccl" else "cpu"
    numbers = torch.tensor(mine, device=device)
    distributed.all_reduce(numbers)
    return np.asarray(numbers.cpu().numpy())


def _as_saved(numbers: Array | None) -> Tensor:
    """An array as it is saved: a tensor where PyTorch is loaded, which its checkpoints take."""
    torch = sys.modules.get("torch")
    return numbers if numbers is None or torch is None else torch.tensor(numbers)
