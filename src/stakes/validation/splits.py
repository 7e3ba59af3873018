"""Which rows a model is fitted on, and which it is tested on."""

import numbers
import re
from dataclasses import dataclass, replace

import numpy as np

from stakes import errors
from stakes.errors import Given, InputError, Pass, rows_text, some, the_class
from stakes.question.options import Column, Data, Value
from stakes.tallies.arithmetic import Array, distinct
from stakes.tallies.checks import as_list, check_whole, is_one_of
from stakes.validation.target import Target, column_of

Split = tuple[Array, Array]
"""The rows to fit on, and the rows to test on."""

_HELD_OUT = 0.2
_LEAST, _MOST = 0.05, 0.5
"""The least and the largest share that may be held out."""

_MOST_SEED = 2**32 - 1


@dataclass(frozen=True, eq=False)
class Splits:
    """The folds of every repeat, and in words how they were made."""

    words: str
    repeats: list[list[Split]]

    @property
    def all(self) -> list[Split]:
        """The folds of all repeats, one after the other."""
        return [split for repeat in self.repeats for split in repeat]

    @property
    def fitted(self) -> Array:
        """The rows that are fitted on, fold by fold."""
        return np.concatenate([train for train, _ in self.all])

    @property
    def test_rows(self) -> tuple[Array, Array]:
        """The test rows, fold by fold, and the number of the fold of each."""
        tests = [test for _, test in self.all]
        return np.concatenate(tests), np.repeat(np.arange(len(tests)), [len(test) for test in tests])


@dataclass(frozen=True)
class Scheme:
    """A scheme to split that scikit-learn knows: "hold-out" of a share, "fold" into so many, or "leave-one-out"."""

    kind: str
    folds: int = 2
    share: float = 0.0
    stratified: bool = False
    grouped: bool = False

    @property
    def words(self) -> str:
        """The scheme in plain words."""
        named = {"hold-out": f"hold-out {100 * self.share:.3g}%", "fold": f"{self.folds}-fold"}
        what = named.get(self.kind, "leave-one-group-out" if self.grouped else "leave-one-out")
        whole_groups = self.grouped and self.kind != "leave-one-out"
        return what + ", stratified" * self.stratified + ", whole groups" * whole_groups

    def split(self, rows: int, strata: Array | None, group: Array | None, seed: int) -> list[Split]:
        """Split as scikit-learn's splitter does with one shuffle."""
        from sklearn import model_selection as ms

        if self.kind == "leave-one-out":
            made = ms.LeaveOneGroupOut() if self.grouped else ms.LeaveOneOut()
        elif self.kind == "hold-out":
            plain = ms.StratifiedShuffleSplit if self.stratified else ms.ShuffleSplit
            make = ms.GroupShuffleSplit if self.grouped else plain
            made = make(n_splits=1, test_size=self.share, random_state=seed)
        else:
            makers = {
                (False, False): ms.KFold,
                (True, False): ms.StratifiedKFold,
                (False, True): ms.GroupKFold,
                (True, True): ms.StratifiedGroupKFold,
            }
            made = makers[self.stratified, self.grouped](self.folds, shuffle=True, random_state=seed)
        return list(made.split(np.empty(rows), strata, group))


def split(
    how: Value, X: Data, target: Target, groups: Column, seed: int, stratified: object = "auto", repeats: int = 1
) -> Splits:
    """Split the rows; the shuffle of repeat r is that of scikit-learn's splitter with ``random_state=seed + r``."""
    check_whole("repeats", repeats, 1)
    check_whole("seed", seed, 0, _MOST_SEED - repeats)
    group = None if groups is None else number_groups(groups, X)
    if isinstance(how, str | numbers.Real):
        found = _by_scheme(_read(how, stratified, target, group is not None), target, group, repeats, seed)
    else:
        found = _read_given(how, X, target, groups, stratified, repeats)
    for number, (train, _) in enumerate(found.all, 1):
        _refuse_missing_class(number, len(found.all), target, train)
    return found


def number_groups(groups: Column, X: Data) -> Array:
    """Number the groups, whatever they are called."""
    return np.unique(column_of("groups", groups, X).values, return_inverse=True)[1]


# ── ways that stakes names ───────────────────────────────────────────────────────────────────────────────────────
def _read(how: Value, stratified: object, target: Target, grouped: bool) -> Scheme:
    scheme = _parse(how)
    if not isinstance(stratified, bool) and not is_one_of(stratified, ("auto",)):
        raise InputError(
            "bad-stratified",
            Given("stratified", stratified),
            " does not work; give True, False or 'auto' (for classes alone)",
        )
    if stratified is True and target.plan is None:
        raise InputError(
            "strata-of-numbers", Given("stratified", True), " is for classes, and y holds numbers; leave it out"
        )
    by_class = target.plan is not None if stratified == "auto" else bool(stratified)
    can = scheme.kind == "fold" or (scheme.kind == "hold-out" and not grouped)
    scheme = replace(scheme, stratified=by_class and can, grouped=grouped)
    if stratified is True and not can:
        raise InputError(
            "cannot-stratify",
            Given("stratified", True),
            f" does not go with {scheme.words}; leave it out, or give a number of folds",
        )
    return scheme


def _parse(how: Value) -> Scheme:
    if isinstance(how, bool):
        raise errors.unknown_how(how)
    text = how.strip().lower() if isinstance(how, str) else ""
    if text in ("leave-one-out", "leave one out", "loo"):
        return Scheme("leave-one-out")
    folds = re.fullmatch(r"(\d+)[- ]?folds?", text)
    if folds or isinstance(how, numbers.Integral):
        count = int(folds[1] if folds else how)
        if count < 2:
            raise InputError(
                "too-few-folds",
                f"{count}-fold does not split anything; give 2 folds or more, or a share such as 0.2 to hold out",
            )
        return Scheme("fold", folds=count)
    if held_out := re.fullmatch(r"hold[- ]?out(?: +(-?\d+(?:\.\d+)?) ?(%?))?", text):
        share = _HELD_OUT if held_out[1] is None else float(held_out[1]) / (100 if held_out[2] else 1)
    elif isinstance(how, str):
        raise errors.unknown_how(how)
    else:
        share = float(how)
    if not _LEAST <= share <= _MOST:
        raise InputError(
            "bad-share", Given("how", how), f": a share from {_LEAST:.0%} to {_MOST:.0%} can be held out (0.2 or '20%')"
        )
    return Scheme("hold-out", share=share)


def _by_scheme(scheme: Scheme, target: Target, group: Array | None, repeats: int, seed: int) -> Splits:
    if scheme.kind == "leave-one-out" and repeats > 1:
        raise InputError("nothing-to-repeat", "leave-one-out is the same every time; leave ", Pass("repeats"), " out")
    _refuse_too_many(scheme, target, group)
    strata = target.labels.codes if scheme.stratified and target.labels is not None else None
    try:
        made = [scheme.split(len(target), strata, group, seed + repeat) for repeat in range(repeats)]
    except ValueError as problem:
        raise errors.cannot_split(scheme.words, str(problem)) from None
    again = f", {repeats} times" if repeats > 1 else ""
    shuffled = "" if scheme.kind == "leave-one-out" else f", shuffled with seed {seed}"
    return Splits(f"{scheme.words}{again}{shuffled}", made)


def _refuse_too_many(scheme: Scheme, target: Target, group: Array | None) -> None:
    """Refuse more folds than there are rows, groups, or rows of the smallest class."""
    needed = scheme.folds
    if needed > len(target):
        raise InputError(
            "more-folds-than-rows",
            f"there are {needed:,} folds but {rows_text(len(target))}; give fewer folds, or ",
            Pass("how", "leave-one-out"),
        )
    found = needed if group is None else int(group.max()) + 1
    if needed > found:
        raise InputError(
            "more-folds-than-groups",
            f"groups stay whole, and there are {needed:,} folds but {found:,} group{'' if found == 1 else 's'}; give "
            "fewer folds",
        )
    if scheme.stratified and target.labels is not None:
        sizes = np.bincount(target.labels.codes, minlength=len(target.labels.names))
        present = np.flatnonzero(sizes)
        smallest = present[sizes[present].argmin()]
        if needed > sizes[smallest]:
            name, rows = target.labels.names[smallest], rows_text(int(sizes[smallest]))
            if scheme.kind == "hold-out":
                raise InputError(
                    "class-too-small",
                    f"class {name!r} has {rows}, too few to have some on both sides; pass ",
                    Pass("stratified", False),
                    ", or group the classes",
                )
            raise InputError(
                "class-too-small",
                f"class {name!r} has {rows}, fewer than the {needed:,} folds; give fewer folds, ",
                Pass("stratified", False),
                ", or group the classes",
            )


# ── splits that a user brings ────────────────────────────────────────────────────────────────────────────────────
def _read_given(how: Value, X: Data, target: Target, groups: Column, stratified: object, repeats: int) -> Splits:
    """Take a splitter (which is passed the groups) or a list of splits; the options do not apply to these."""
    splitter = hasattr(how, "split") and not isinstance(how, bytes)  # bytes have a method of that name, too
    grouped = groups is not None and not splitter
    given = {"stratified": not is_one_of(stratified, ("auto",)), "repeats": repeats != 1, "groups": grouped}
    for argument in filter(given.get, given):
        raise InputError(
            "decided-by-splits",
            Given(argument),
            " does not go with splits of your own, which decide it themselves; leave it out",
        )
    if splitter:
        try:
            pairs = list(how.split(X, target.values, groups))
        except ValueError as problem:
            raise errors.cannot_split(repr(how), str(problem)) from None
        words = repr(how)
    else:
        listed, words = as_list(how), "the splits that were given"
        if listed is None:
            raise errors.unknown_how(how)
        pairs = listed
    if not pairs:
        raise InputError("no-splits", "how has no splits; give at least one pair (rows to fit on, rows to judge)")
    return Splits(words, [[_check(number, pair, len(target)) for number, pair in enumerate(pairs, 1)]])


def _check(number: int, pair: object, rows: int) -> Split:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise errors.bad_split(number, "it is no pair (rows to fit on, rows to judge)")
    train, test = (_row_numbers(number, side, rows) for side in pair)
    shared = distinct(test[np.isin(test, train)])
    if len(shared):
        raise errors.bad_split(number, f"row {shared[0]} is fitted on and judged too ({len(shared):,} such rows)")
    return train, test


def _row_numbers(number: int, side: Column, rows: int) -> Array:
    found = np.asarray(side)
    if found.dtype.kind == "b" and found.shape == (rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu":
        raise errors.bad_split(number, "one side holds no row numbers")
    if found.min() < 0 or found.max() >= rows:
        raise errors.bad_split(number, f"rows run from 0 to {rows - 1:,}, and it has row {found.max():,}")
    return found


def _refuse_missing_class(number: int, folds: int, target: Target, train: Array) -> None:
    """Refuse splits whose training rows lack a class."""
    if target.labels is None:
        return
    names, codes = target.labels.names, target.labels.codes
    everywhere, here = (np.bincount(part, minlength=len(names)) for part in (codes, codes[train]))
    unseen = [name for name, size, fitted in zip(names, everywhere, here, strict=True) if size and not fitted]
    if unseen:
        raise InputError(
            "class-not-fitted",
            f"fold {number:,} of {folds:,}: {the_class(unseen)} {some(unseen)} {'is' if len(unseen) == 1 else 'are'} "
            "not in its training rows, so its model cannot know it; give fewer folds, or ",
            Pass("stratified", True),
        )
