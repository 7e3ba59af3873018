"""Classes and their names."""

from collections import Counter
from collections.abc import Iterator, Sequence

from stakes.errors import About, Given, InputError, Pass, Text
from stakes.errors.words import first_row, nearest, rows_that_hold, short, some, the_class

_MANY_ROWS = 20
"""With more rows than this a class that occurs once may be no class."""


def fractional_labels(argument: str, count: int, first: int | None, value: float) -> InputError:
    remedies: dict[str, str] = {
        "by": "; cut the numbers into groups first",
        "y": "; for quantities give a regressor",
        "truth": Text(
            "; for quantities pass the predicted numbers as ", Pass("prediction"), ", and nothing of classes"
        ),
    }
    remedy = remedies.get(argument, Text("; pass numbers between them as ", Pass("score")))
    return InputError(
        "fractional-labels",
        About(argument),
        f" has {rows_that_hold(count)} no class ({value!r}; ",
        first_row(first),
        "): classes are text, booleans or whole numbers",
        remedy,
    )


def unknown_positive(positive: str, classes: Sequence[str]) -> InputError:
    return InputError(
        "unknown-positive", Given("positive", positive), f" is not a class of truth{nearest(str(positive), classes)}"
    )


def which_positive(pair: Sequence[str]) -> InputError:
    return InputError(
        "which-positive",
        About("truth"),
        f" has the classes {some(pair)} and neither is obviously the positive one; pass ",
        Pass("positive", pair[-1]),
        " or ",
        Pass("positive", pair[0]),
    )


def positive_of_many(positive: str, classes: Sequence[str]) -> InputError:
    return InputError(
        "positive-of-many",
        Given("positive", positive),
        f" is for two classes, and there are {len(classes):,} ({some(classes)}); leave it out: every class is compared "
        "against the rest",
    )


def unknown_labels(argument: str, labels: Sequence[str], classes: Sequence[str]) -> InputError:
    which = "the label {}, which is" if len(labels) == 1 else "the labels {}, which are"
    return InputError(
        "unknown-labels",
        About(argument),
        f" has {which.format(some(labels))} not in classes ({some(classes)}); name every class that occurs",
    )


def classes_not_different(classes: Sequence[str]) -> InputError:
    if len(classes) == 1 and len(apart := [name.strip() for name in classes[0].split(",")]) > 1:
        return InputError(
            "classes-in-one", Given("classes", list(classes)), " is one name with commas; pass ", Pass("classes", apart)
        )
    return InputError(
        "classes-not-different",
        Given("classes", list(classes)),
        ": give at least two different classes, each by itself",
    )


def class_without_score(classes: Sequence[str], unused: Sequence[str]) -> InputError:
    hint = f" (there is one for {some(unused)}, which occurs in no row)" if unused else ""
    return InputError(
        "class-without-score",
        About("score"),
        f" has no column for {the_class(classes)} {some(classes)}{hint}; every class needs one",
    )


def which_score_column(shape: tuple[int, ...], classes: Sequence[str] | None) -> InputError:
    if classes is not None and shape[0] == len(classes):
        return InputError(
            "which-score-column",
            About("score"),
            f" is an array of shape {shape} for {len(classes)} classes; transpose it: rows first",
        )
    if classes is not None and shape[1] < len(classes):
        return InputError(
            "which-score-column",
            About("score"),
            f" has {shape[1]} columns for {len(classes)} classes ({some(classes)}); give one for each, of zeros where "
            "a model does not know the class",
        )
    seen = "no list of classes" if classes is None else f"{len(classes)} classes"
    return InputError(
        "which-score-column",
        About("score"),
        f" is an array of shape {shape} with {seen}; pass ",
        Pass("classes"),
        f" in the order of its {shape[1]} columns, or for two classes the column of the positive one",
    )


def one_score_for_many(classes: Sequence[str], truth: Sequence[int]) -> InputError:
    """``truth`` are the codes of the classes; one that hardly occurs may be no class: a line of totals, or a sign."""
    return InputError(
        "one-score-for-many",
        f"there is one score column for {len(classes):,} classes ({some(classes)}); give one for each: ",
        Pass("score", each="column"),
        *_perhaps_no_class(classes, truth),
    )


def _perhaps_no_class(classes: Sequence[str], truth: Sequence[int]) -> Iterator[str | Pass]:
    """What to do about the label without which there are two classes."""
    counts = Counter(truth)
    signs = [name for name in classes if not any(map(str.isalnum, name))]
    once = [place for place in range(len(classes)) if counts[place] == 1]
    if len(classes) == 3 and signs:
        yield from (f"; if {short(repr(signs[0]))} means a missing value, pass ", Pass("na", signs[0]))
    elif len(classes) == 3 and once and len(truth) > _MANY_ROWS:
        yield f"; {short(repr(classes[once[0]]))} occurs in a single row ("
        yield from (first_row(truth.index(once[0])), "): if that is a line of totals, leave it out with ")
        yield Pass("where")


def threshold_of_many() -> InputError:
    return InputError("threshold-of-many", Given("threshold"), " is for the scores of two classes; leave it out")


def not_counted(seen: str) -> InputError:
    return InputError(
        "not-counted", f"an Evaluation is made from stakes.count(…), not from a {seen}; or call stakes.evaluate(…)"
    )


def which_average(name: str, classes: Sequence[str], pooled: bool = True) -> InputError:
    micro = f"'micro_{name}', " if pooled else ""
    return InputError(
        "which-average",
        f"{name} is a figure of one class against the rest; write 'macro_{name}', 'weighted_{name}', {micro}or "
        f"{name}[{classes[0]}] for a class (in Python ev[{name!r}, {classes[0]!r}])",
    )


def no_such_class(name: object, classes: Sequence[str]) -> InputError:
    return InputError("no-such-class", f"there is no class {short(repr(name))}{nearest(str(name), classes)}")
