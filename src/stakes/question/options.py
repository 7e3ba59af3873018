"""Every option of every verb, once: signatures, checks, the command line and the page of options are read from here.

A row of the table is a field of a ``TypedDict``: its name, its type, and an :class:`Option` that says what it means.
The rows of :class:`Asked` are for all verbs that are given rows; a verb for which one means nothing says why. What a
single verb asks beyond that is a table of its own. To add an option, add a row here and use it where it counts.
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, TypedDict, TypeVar, get_args, get_type_hints

from stakes import errors
from stakes.errors import Given, InputError, Pass, Text
from stakes.language import LANGUAGES, check_language
from stakes.results import speak

Data = Any
"""Rows, in whatever a user holds them: a table, a dictionary of columns, names of files, tallies."""

Column = Any
"""A column of rows: its name in the data, or the values themselves."""

Value = Any
"""A single value of a user's: a class, a share, costs."""

Verb = TypeVar("Verb", bound=Callable[..., Any])

Form = Literal["text", "column", "columns", "by class", "shares", "number", "whole", "choice", "switch", "costs"]
GROUPS = ("columns", "models", "rows", "files", "classes", "costs", "how sure", "fitting", "output")
"""The groups of options in the help of a command, in their order."""


@dataclass(frozen=True)
class Option:
    """What an option means, and how it is written on the command line.

    ``form`` says what is typed after it, if it is ``typed`` at all. ``of`` are choices, or what stands for a switch
    turned on and off. A verb in ``not_for`` cannot use it, for the reason given there.
    """

    help: str
    group: str
    form: Form = "text"
    metavar: str = ""
    default: Any = None
    of: Sequence[str] = ()
    spelled: str = ""
    check: Callable[[Any], None] | None = None
    typed: bool = True
    not_for: Mapping[str, str | Text] = field(default_factory=dict)


def _flag(name: str) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        from stakes.tallies.checks import check_flag  # loads NumPy, which --help need not

        if value is not None:
            check_flag(name, value)

    return check


def _whole(name: str, least: int) -> Callable[[Any], None]:
    def check(value: Any) -> None:
        from stakes.tallies.checks import check_whole  # as above

        check_whole(name, value, least)

    return check


def _threshold(value: Any) -> None:
    from stakes.tallies.checks import check_threshold  # as above

    if value is not None:
        check_threshold(value)


_INTERVALS = {
    "count": "a tally has no intervals; say this when you evaluate it",
    "permutation_test": "a permutation test gives a p-value, and no interval",
}
_ROWS_KEPT = "every row is kept here as it is"
_NUMBERS = {
    "decide": "decisions are between classes, and this is about predicted numbers",
    "calibrate": "probabilities are of classes, and this is about predicted numbers",
}
_CALIBRATED = {"calibrate": "recalibration changes probabilities, whatever is decided by them"}


class Shared(TypedDict, total=False):
    """What can be asked of rows, in every verb."""

    truth: Annotated[
        Column,
        Option("What really happened.", "columns", "column", "COLUMN", not_for={"validate": "it is given as y"}),
    ]
    score: Annotated[
        Column,
        Option(
            "Numbers that order the cases; probabilities if within [0, 1]. For more than two classes once for each: "
            "CLASS=COLUMN.",
            "columns",
            "by class",
            "COLUMN",
            not_for={
                "compare": Text("there are several models; give ", Pass("scores")),
                "validate": "the estimator gives the scores",
            },
        ),
    ]
    prediction: Annotated[
        Column,
        Option(
            "The decisions, or the predicted numbers.",
            "columns",
            "column",
            "COLUMN",
            not_for={
                "compare": Text("there are several models; give ", Pass("predictions")),
                "validate": "the estimator gives the predictions",
                "calibrate": "scores are recalibrated, not decisions",
            },
        ),
    ]
    weight: Annotated[Column, Option("How much each row counts.", "columns", "column", "COLUMN")]
    frequency: Annotated[
        Column,
        Option(
            "How many rows each row stands for: intervals are as if those were there.",
            "columns",
            "column",
            "COLUMN",
            not_for={"validate": "an estimator is fitted on single rows; give each as often as it stands for"},
        ),
    ]
    by: Annotated[
        Column,
        Option(
            "Evaluate each segment too; several columns: combinations.",
            "columns",
            "columns",
            "COLUMN",
            not_for={
                "compare": Text("models are ranked on all rows; compare those of a segment with ", Pass("where")),
                "decide": Text("one rule is found for all rows; decide for a segment with ", Pass("where")),
                "calibrate": Text("one calibrator is fitted on all rows; fit that of a segment with ", Pass("where")),
                "permutation_test": Text("one figure is tested on all rows; test a segment with ", Pass("where")),
            },
        ),
    ]
    cluster: Annotated[
        Column,
        Option(
            "Rows that belong together (a patient): intervals draw whole clusters.",
            "columns",
            "column",
            "COLUMN",
            not_for={
                "permutation_test": "rows of a cluster are alike, and a shuffle that parts them takes chance for a "
                "finding far too often; keep one row of each cluster",
                "validate": Text("rows that stay together are given as ", Pass("groups")),
            },
        ),
    ]
    where: Annotated[
        str | None, Option("Only the rows that satisfy this, such as \"site = 'A'\".", "rows", metavar="SQL")
    ]
    missing: Annotated[
        str,
        Option(
            "What to do about missing values: stop, or leave out their rows and say how many.",
            "rows",
            "choice",
            default="error",
            of=("error", "drop"),
        ),
    ]
    separator: Annotated[
        str | None, Option("What separates fields of a text file (default: found out).", "files", metavar="SIGN")
    ]
    decimal: Annotated[
        str | None,
        Option("The decimal sign in a text file (default: found out).", "files", "choice", of=(".", ",")),
    ]
    encoding: Annotated[
        str | None,
        Option(
            "The encoding of a text file, such as windows-1252 (default: UTF-8, or UTF-16 if marked).",
            "files",
            metavar="NAME",
        ),
    ]
    skip: Annotated[
        int,
        Option("How many lines stand above the header.", "files", "whole", default=0, check=_whole("skip", 0)),
    ]
    percent: Annotated[
        bool,
        Option(
            "Scores in a text file are percentages.",
            "files",
            "switch",
            default=False,
            of=("percent",),
            check=_flag("percent"),
        ),
    ]
    na: Annotated[
        str | Sequence[str] | None,
        Option(
            "A word for a missing value in a text file; name all (default: NA, N/A, NULL, null, NaN, nan).",
            "files",
            "columns",
            "WORD",
        ),
    ]
    exact: Annotated[
        bool | None,
        Option(
            "Keep every score, or count scores in bins (default: bins from 20 million rows on).",
            "rows",
            "switch",
            of=("exact", "bins"),
            check=_flag("exact"),
            not_for=dict.fromkeys(("compare", "calibrate", "permutation_test", "validate"), _ROWS_KEPT),
        ),
    ]
    task: Annotated[
        str,
        Option(
            "Whether whole numbers are classes or quantities.",
            "classes",
            "choice",
            default="auto",
            of=("auto", "classification", "regression"),
        ),
    ]
    positive: Annotated[Value, Option("The class that counts as positive.", "classes", metavar="CLASS")]
    classes: Annotated[
        Value, Option("A class; name all of them, in order.", "classes", "columns", "CLASS", spelled="class")
    ]
    alike: Annotated[
        Value,
        Option(
            "Labels that are one class although written differently: case, numbers (1, 1.0, true), blanks, unicode, "
            "punctuation; several with commas between.",
            "classes",
            metavar="WORDS",
        ),
    ]
    threshold: Annotated[
        float | None,
        Option(
            "Positive from this score on (0.5 for probabilities).",
            "classes",
            "number",
            check=_threshold,
            not_for={"decide": "it is what decide looks for; evaluate at that threshold", **_CALIBRATED},
        ),
    ]
    costs: Annotated[
        Value, Option("What each decision costs for each class (TOML).", "costs", "costs", "FILE", not_for=_CALIBRATED)
    ]
    prior: Annotated[
        Value,
        Option(
            "How frequent the positive class is where the model will be used; or once for each CLASS=SHARE.",
            "costs",
            "shares",
            "SHARE",
            not_for=_CALIBRATED,
        ),
    ]
    training_prior: Annotated[
        Value,
        Option(
            "The same in the data the model was trained on; 'rows' if as in FILE.",
            "costs",
            "shares",
            "SHARE",
            not_for=_CALIBRATED,
        ),
    ]
    confidence: Annotated[
        float, Option("How sure intervals shall be.", "how sure", "number", default=0.95, not_for=_INTERVALS)
    ]
    design: Annotated[
        str,
        Option(
            "Whether another sample would have other class counts.",
            "how sure",
            "choice",
            default="classes random",
            of=("classes random", "classes fixed"),
            not_for=_INTERVALS,
        ),
    ]
    lang: Annotated[
        str,
        Option(
            "The language of the answer, and of the page.",
            "output",
            "choice",
            default="en",
            of=tuple(LANGUAGES),
            check=check_language,
            not_for={"count": "a tally is numbers; say this when you evaluate it"},
        ),
    ]
    seed: Annotated[
        int,
        Option(
            "Where the random numbers begin.",
            "how sure",
            "whole",
            default=0,
            not_for={"count": "counting draws no random numbers"},
        ),
    ]


class Asked(Shared, total=False):
    """The same where the baseline is a number; in a gate it is another model."""

    baseline: Annotated[
        float | None,
        Option(
            "The constant to compare predicted numbers with (default: the mean of the truth).",
            "classes",
            "number",
            not_for=_NUMBERS,
        ),
    ]


class Compared(Asked, total=False):
    """What compare() asks beside."""

    scores: Annotated[
        Column, Option("The scores of a model; once for each model.", "models", "columns", "COLUMN", spelled="score")
    ]
    predictions: Annotated[
        Column,
        Option("The decisions or numbers of a model.", "models", "columns", "COLUMN", spelled="prediction"),
    ]
    metric: Annotated[
        str | Sequence[str] | None,
        Option("What to rank by (default: auc, macro_auc, accuracy or mae).", "models", "columns", "NAME"),
    ]
    margin: Annotated[float | None, Option("The difference that would still not matter.", "models", "number")]
    id: Annotated[
        str | None, Option("The case numbers that join several files, one model each.", "models", metavar="COLUMN")
    ]
    paired: Annotated[
        bool,
        Option(
            "Whether the models were judged on the same cases.",
            "models",
            "switch",
            default=True,
            of=("paired", "unpaired"),
            check=_flag("paired"),
        ),
    ]
    simultaneous: Annotated[
        bool,
        Option(
            "Make the intervals of all pairs right at once.",
            "how sure",
            "switch",
            default=False,
            of=("simultaneous",),
            check=_flag("simultaneous"),
        ),
    ]
    resamples: Annotated[
        int,
        Option(
            "How often costs are drawn, at least; other differences need no draws.",
            "how sure",
            "whole",
            default=2000,
            check=_whole("resamples", 100),
        ),
    ]


class Decided(Asked, total=False):
    """What decide() asks beside."""

    best: Annotated[
        str | None,
        Option("Decide by a figure (f1, youden) or a condition ('recall >= 0.9').", "costs", metavar="FIGURE"),
    ]


class Calibrated(Asked, total=False):
    """What calibrate() asks beside."""

    method: Annotated[
        str | None,
        Option(
            "How to recalibrate (default: what does best on rows that were not fitted on).",
            "fitting",
            "choice",
            of=("isotonic", "sigmoid", "temperature"),
        ),
    ]
    folds: Annotated[int, Option("Into how many parts rows are dealt for judging.", "fitting", "whole", default=5)]


class Permuted(Asked, total=False):
    """What permutation_test() asks beside; the last four are for an estimator."""

    metric: Annotated[
        Value,
        Option("The figure (default: auc of scores, mcc of decisions, r2 of numbers).", "how sure", metavar="NAME"),
    ]
    permutations: Annotated[
        int | None,
        Option(
            "How often to shuffle (default: 10,000, with an estimator 100).", "how sure", "whole", metavar="INTEGER"
        ),
    ]
    cv: Annotated[
        Value,
        Option("How to split the rows that an estimator is fitted on.", "fitting", default="5-fold", typed=False),
    ]
    test: Annotated[
        int,
        Option("1 shuffles the labels, 2 each feature within its class.", "fitting", "whole", default=1, typed=False),
    ]
    jobs: Annotated[int, Option("How many fits run at once.", "fitting", "whole", default=1, typed=False)]
    groups: Annotated[
        Column, Option("Rows that stay together in one fold.", "fitting", "column", "COLUMN", typed=False)
    ]


class Validated(Asked, total=False):
    """What validate() asks beside."""

    how: Annotated[
        Value,
        Option(
            '"5-fold" (the default), "hold-out 30%" or "leave-one-out".', "fitting", metavar="TEXT", default="5-fold"
        ),
    ]
    stratified: Annotated[
        Value, Option("Whether folds have the same class frequencies.", "fitting", default="auto", typed=False)
    ]
    groups: Annotated[Column, Option("Rows that stay together in one fold.", "fitting", "column", "COLUMN")]
    repeats: Annotated[int, Option("How often to shuffle again.", "fitting", "whole", default=1)]
    jobs: Annotated[int, Option("How many fits run at once.", "fitting", "whole", default=1)]


class Gated(Shared, total=False):
    """What gate() asks beside; its baseline is another model."""

    require: Annotated[
        str | Sequence[str],
        Option(
            'Such as "auc.low >= 0.8", "f1[setosa] > 0.9", or "recall.low >= 0.7 in every segment".',
            "models",
            "columns",
            "CONDITION",
        ),
    ]
    no_worse: Annotated[
        Value,
        Option(
            "How much worse than the baseline a figure may be, at the bad end of the interval of the difference.",
            "models",
            "columns",
            "FIGURE:MARGIN",
        ),
    ]
    allow_dropped: Annotated[
        float,
        Option(
            "The share of rows that may be left out because a value is missing or the weight is 0.",
            "rows",
            "number",
            "SHARE",
            default=0.05,
        ),
    ]


VERBS: dict[str, type[Shared]] = {
    "evaluate": Asked,
    "compare": Compared,
    "decide": Decided,
    "calibrate": Calibrated,
    "permutation_test": Permuted,
    "validate": Validated,
    "count": Asked,
    "gate": Gated,
    "report": Asked,
}
"""The verbs that are given rows, and the table of each."""


@cache
def table(verb: str) -> dict[str, Option]:
    """Return all options of the tables of a verb, those that mean nothing to it among them."""
    hints = get_type_hints(VERBS[verb], include_extras=True)
    return {name: next(one for one in get_args(hint) if isinstance(one, Option)) for name, hint in hints.items()}


@cache
def options(verb: str) -> dict[str, Option]:
    """Return the options that a verb takes."""
    return {name: option for name, option in table(verb).items() if verb not in option.not_for}


@cache
def find(name: str) -> Option | None:
    """Return the option of this name, whichever verb has it."""
    found = [table(verb)[name] for verb in VERBS if name in table(verb)]
    return next((option for option in found if option.typed), found[0] if found else None)


def grouped(verb: str, *groups: str) -> list[str]:
    """Return the options of a verb that stand in these groups."""
    return [name for name, option in options(verb).items() if option.group in groups]


def why_not(verb: str, name: str, called: str = "") -> InputError | None:
    """Say why an option means nothing to a verb (or what it is ``called``), if it is one that others take."""
    option = table(verb).get(name)
    if option is None or verb not in option.not_for:
        return None
    return InputError("means-nothing-here", Given(name), f" means nothing to {called or verb}: ", option.not_for[verb])


def refuse_unknown(verb: str, asked: Mapping[str, Any]) -> None:
    """Refuse options that there are not, or that mean nothing to this verb."""
    known = options(verb)
    for name, value in asked.items():
        if name in known or (value is None and name in table(verb)):
            continue
        raise why_not(verb, name) or errors.no_such_option(verb, name, known)


def asks(verb: str) -> Callable[[Verb], Verb]:
    """Give a verb, which takes ``**asked``, the signature of its table; its answer speaks the language asked for."""

    def signed(function: Verb) -> Verb:
        own = [one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
        hints = get_type_hints(VERBS[verb])
        taken = {one.name for one in own}
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=hints[name])
            for name, option in options(verb).items()
            if name not in taken
        ]

        @functools.wraps(function)
        def speaking(*given: Any, **asked: Any) -> Any:
            return speak(function(*given, **asked), asked.get("lang", "en"))

        speaking.__signature__ = inspect.signature(function).replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return speaking  # type: ignore[return-value]

    return signed
