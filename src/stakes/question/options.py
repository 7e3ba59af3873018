"""Every option of every verb, once: signatures, checks, the command line and the page of options are read from here.

A row of the table is a field of a ``TypedDict``: its name, its type, what it means, and an :class:`Option` that says
how it is written. The rows of :class:`Asked` are for all verbs that are given rows; :data:`MEANS_NOTHING` says why one
means nothing to a verb. What a single verb asks beyond that is a table of its own. To add an option, add a row here and
use it where it counts.
"""

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeAlias, TypedDict, TypeVar

from stakes import errors
from stakes.errors import Given, InputError, Pass, Text
from stakes.errors.words import short
from stakes.frozen import dataclass, replace
from stakes.language import LANGUAGES, check_language
from stakes.results import Reportable, speak

Data = Any
"""Rows in any form that users have: a table, a dictionary of columns, names of files, tallies."""

Column = Any
"""A column of rows: its name in the data, or the values themselves."""

Value = Any
"""A single value that a user gives: a class, a share, costs."""

Verb = TypeVar("Verb", bound=Callable[..., Any])

Form = Literal["text", "column", "columns", "by class", "shares", "number", "whole", "choice", "switch", "costs"]
GROUPS = ("aim", "expected", "columns", "models", "rows", "files", "classes", "costs", "how sure", "fitting", "output")
"""The groups of options in the help of a command, in their order."""


@dataclass(frozen=True)
class Option:
    """The group of an option, and how it is written on the command line; ``help`` is what it means.

    ``form`` says what is typed after it, if it is ``typed`` at all. ``of`` are choices, or what stands for a switch
    turned on and off. A whole number that is checked at once has a ``least``.
    """

    group: str
    form: Form = "text"
    metavar: str = ""
    default: Any = None
    of: Sequence[str] = ()
    spelled: str = ""
    least: int | None = None
    typed: bool = True
    help: str = ""

    def check(self, name: str, value: Value) -> None:
        """Refuse a whole number below the least, a value of a switch that is no flag, and an unknown language."""
        if name == "lang":
            check_language(value)
        from stakes.tallies.checks import check_flag, check_whole  # loads NumPy, which --help need not

        if self.least is not None and (value is not None or self.default is not None):
            check_whole(name, value, self.least)
        elif self.form == "switch" and value is not None:
            check_flag(name, value)


_COLUMN = Option("columns", "column", "COLUMN")
_SHARES = Option("costs", "shares", "SHARE")


ClusterOption: TypeAlias = Annotated[
    Column, "Rows that belong together (a patient): intervals resample whole clusters.", _COLUMN
]
WhereOption: TypeAlias = Annotated[
    str | None, "Only the rows that satisfy this, such as \"site = 'A'\".", Option("rows", metavar="SQL")
]
SeparatorOption: TypeAlias = Annotated[
    str | None, "What separates fields of a text file (default: found out).", Option("files", metavar="SIGN")
]
DecimalOption: TypeAlias = Annotated[
    str | None, "The decimal sign in a text file (default: found out).", Option("files", "choice", of=(".", ","))
]
EncodingOption: TypeAlias = Annotated[
    str | None,
    "The encoding of a text file, such as windows-1252 (default: UTF-8, or UTF-16 if marked).",
    Option("files", metavar="NAME"),
]
SkipOption: TypeAlias = Annotated[
    int, "How many lines stand above the header.", Option("files", "whole", default=0, least=0)
]
NaOption: TypeAlias = Annotated[
    str | Sequence[str] | None,
    "A word for a missing value in a text file, beside NA, N/A, n/a, NULL, null, NaN and nan; '' if these mean none.",
    Option("files", "columns", "WORD"),
]
CostsOption: TypeAlias = Annotated[
    Value, "What each decision costs for each class (TOML, or a matrix as CSV).", Option("costs", "costs", "FILE")
]
ConfidenceOption: TypeAlias = Annotated[
    float, "How sure intervals shall be.", Option("how sure", "number", default=0.95)
]
LangOption: TypeAlias = Annotated[
    str,
    "The language of the answer, and of the page.",
    Option("output", "choice", default="en", of=tuple(LANGUAGES)),
]
"""Options that verbs with tables of their own share."""


class Shared(TypedDict, total=False):
    """What can be asked of rows, in every verb."""

    truth: Annotated[
        Column,
        "What really happened; of several labels or outputs once for each: NAME=COLUMN.",
        Option("columns", "by class", "COLUMN"),
    ]
    score: Annotated[
        Column,
        "Numbers that order the cases; probabilities if within [0, 1]. For more than two classes once for each: "
        "CLASS=COLUMN.",
        Option("columns", "by class", "COLUMN"),
    ]
    prediction: Annotated[
        Column,
        "The decisions, or the predicted numbers; of several labels or outputs once for each: NAME=COLUMN.",
        Option("columns", "by class", "COLUMN"),
    ]
    low: Annotated[Column, "The lower end of a predicted interval.", _COLUMN]
    high: Annotated[Column, "The upper end of a predicted interval.", _COLUMN]
    level: Annotated[
        float | None, "The share of rows that a predicted interval should cover.", Option("rows", "number", "SHARE")
    ]
    quantiles: Annotated[
        Column,
        "A predicted quantile, once for each level: LEVEL=COLUMN.",
        Option("columns", "by class", "COLUMN", spelled="quantile"),
    ]
    ensemble: Annotated[
        Column, "A member of a predicted ensemble; name all.", Option("columns", "columns", "COLUMN", spelled="member")
    ]
    order: Annotated[Column, "The time of a forecast: errors are compared with repeating the last value.", _COLUMN]
    series: Annotated[Column, "The series that a forecast belongs to: intervals resample whole series.", _COLUMN]
    season: Annotated[
        int,
        "After how many steps of a series the naive forecast repeats a value.",
        Option("rows", "whole", default=1, least=1),
    ]
    exposure: Annotated[Column, "What counts happened in (time, distance): rates are weighted by it.", _COLUMN]
    horizon: Annotated[
        int,
        "How many steps ahead forecasts of a series are: errors nearer than that resemble each other.",
        Option("how sure", "whole", metavar="STEPS", default=1, least=1),
    ]
    weight: Annotated[Column, "How much each row counts.", _COLUMN]
    frequency: Annotated[Column, "How many rows each row stands for: intervals are as if those were there.", _COLUMN]
    by: Annotated[
        Column, "Evaluate each segment too; several columns: combinations.", Option("columns", "columns", "COLUMN")
    ]
    cluster: ClusterOption
    where: WhereOption
    missing: Annotated[
        str,
        "What to do about missing values: stop, or leave out their rows and say how many.",
        Option("rows", "choice", default="error", of=("error", "drop")),
    ]
    unlabelled: Annotated[
        str,
        "What to do about rows without a truth: stop, or estimate their figures, which holds if labelling depends on "
        "the output only.",
        Option("rows", "choice", default="error", of=("error", "estimate")),
    ]
    label_probability: Annotated[
        Column,
        "The known probability with which each row was labelled, where that depends on more than the output.",
        _COLUMN,
    ]
    separator: SeparatorOption
    decimal: DecimalOption
    encoding: EncodingOption
    skip: SkipOption
    percent: Annotated[
        bool, "Scores in a text file are percentages.", Option("files", "switch", default=False, of=("percent",))
    ]
    na: NaOption
    exact: Annotated[
        bool | None,
        "Keep every score, or count scores in bins (default: bins from 20 million rows on).",
        Option("rows", "switch", of=("exact", "bins")),
    ]
    auc_error: Annotated[
        float | None,
        "How far the auc may be off where scores are counted in bins: where needed, they are counted finer.",
        Option("rows", "number", "ERROR"),
    ]
    task: Annotated[
        str,
        "Whether whole numbers are classes or quantities; counts are quantities from 0 on.",
        Option("classes", "choice", default="auto", of=("auto", "classification", "regression", "counts")),
    ]
    positive: Annotated[Value, "The class that counts as positive.", Option("classes", metavar="CLASS")]
    classes: Annotated[
        Value, "A class; name all of them, in order.", Option("classes", "columns", "CLASS", spelled="class")
    ]
    label_separator: Annotated[
        str | None,
        "What separates the labels of a row, where several stand in one column.",
        Option("classes", metavar="SIGN"),
    ]
    ordered: Annotated[
        bool,
        "The classes are grades, in the order in which they are named (numbers by their size).",
        Option("classes", "switch", default=False, of=("ordered",)),
    ]
    alike: Annotated[
        Value,
        "Labels that are one class although written differently: case, numbers (1, 1.0, true), blanks, unicode, "
        "punctuation; several with commas between.",
        Option("classes", metavar="WORDS"),
    ]
    threshold: Annotated[
        float | None, "Positive from this score on (0.5 for probabilities).", Option("classes", "number")
    ]
    from_logits: Annotated[
        bool,
        "The scores are logits: make probabilities of them (the sigmoid; of several classes the softmax).",
        Option("classes", "switch", default=False, of=("from-logits",)),
    ]
    costs: CostsOption
    prior: Annotated[
        Value,
        "How frequent the positive class is where the model will be used; or once for each CLASS=SHARE; 'estimate' "
        "finds it from rows without a truth.",
        _SHARES,
    ]
    training_prior: Annotated[Value, "The same in the data the model was trained on; 'rows' if as in FILE.", _SHARES]
    confidence: ConfidenceOption
    design: Annotated[
        str,
        "Whether another sample would have other class counts.",
        Option("how sure", "choice", default="classes random", of=("classes random", "classes fixed")),
    ]
    lang: LangOption
    seed: Annotated[int, "Where the random numbers begin.", Option("how sure", "whole", default=0)]


class Asked(Shared, total=False):
    """The same where the baseline is a number; in a gate it is another model."""

    baseline: Annotated[
        float | None,
        "The constant to compare predicted numbers with (default: the mean of the truth).",
        Option("classes", "number"),
    ]


class Compared(Asked, total=False):
    """What compare() asks beside."""

    scores: Annotated[
        Column, "The scores of a model; once for each model.", Option("models", "columns", "COLUMN", spelled="score")
    ]
    predictions: Annotated[
        Column,
        "The decisions or numbers of a model; of several labels, outputs or quantiles MODEL:NAME=COLUMN.",
        Option("models", "columns", "COLUMN", spelled="prediction"),
    ]
    metric: Annotated[
        str | Sequence[str] | None,
        "What to rank by (default: auc, macro_auc, accuracy or mae).",
        Option("models", "columns", "NAME"),
    ]
    margin: Annotated[float | None, "The difference that would still not matter.", Option("models", "number")]
    id: Annotated[
        str | None, "The case numbers that join several files, one model each.", Option("models", metavar="COLUMN")
    ]
    paired: Annotated[
        bool,
        "Whether the models were evaluated on the same cases.",
        Option("models", "switch", default=True, of=("paired", "unpaired")),
    ]
    simultaneous: Annotated[
        bool,
        "Make the intervals of all pairs hold at once.",
        Option("how sure", "switch", default=False, of=("simultaneous",)),
    ]
    resamples: Annotated[
        int,
        "How often costs are resampled, at least; other differences need no resampling.",
        Option("how sure", "whole", default=2000, least=100),
    ]


class Decided(Asked, total=False):
    """What decide() asks beside."""

    best: Annotated[
        str | None,
        "Decide by a figure (f1, youden) or a condition ('recall >= 0.9').",
        Option("costs", metavar="FIGURE"),
    ]
    harm: Annotated[
        float,
        "What asking the model costs for each case (a test's harm); the same decision for everybody needs no asking.",
        Option("costs", "number", "COST", default=0.0),
    ]


class Calibrated(Asked, total=False):
    """What calibrate() asks beside."""

    method: Annotated[
        str | None,
        "How to recalibrate (default: what does best on rows that it was not fitted on).",
        Option("fitting", "choice", of=("isotonic", "sigmoid", "temperature", "affine", "beta", "vector")),
    ]
    folds: Annotated[int, "The number of folds for cross-fitting.", Option("fitting", "whole", default=5)]


class Permuted(Asked, total=False):
    """What permutation_test() asks beside; the last four are for an estimator."""

    metric: Annotated[
        Value,
        "The figure (default: auc of scores, mcc of decisions, r2 of numbers).",
        Option("how sure", metavar="NAME"),
    ]
    permutations: Annotated[
        int | None,
        "How often to shuffle (default: 10,000, with an estimator 100).",
        Option("how sure", "whole", metavar="INTEGER"),
    ]
    cv: Annotated[
        Value, "How to split the rows that an estimator is fitted on.", Option("fitting", default="5-fold", typed=False)
    ]
    test: Annotated[
        int,
        "1 shuffles the labels, 2 each feature within its class.",
        Option("fitting", "whole", default=1, typed=False),
    ]
    jobs: Annotated[int, "How many fits run at once.", Option("fitting", "whole", default=1, typed=False)]
    groups: Annotated[
        Column, "Rows that stay together in one fold.", Option("fitting", "column", "COLUMN", typed=False)
    ]


class Validated(Asked, total=False):
    """What validate() asks beside."""

    how: Annotated[
        Value,
        '"5-fold" (the default), "hold-out 30%" or "leave-one-out".',
        Option("fitting", metavar="TEXT", default="5-fold"),
    ]
    stratified: Annotated[
        Value, "Whether folds have the same class frequencies.", Option("fitting", default="auto", typed=False)
    ]
    groups: Annotated[Column, "Rows that stay together in one fold.", Option("fitting", "column", "COLUMN")]
    repeats: Annotated[int, "How often to shuffle again.", Option("fitting", "whole", default=1)]
    jobs: Annotated[int, "How many fits run at once.", Option("fitting", "whole", default=1)]


class Gated(Shared, total=False):
    """What gate() asks beside; its baseline is another model."""

    require: Annotated[
        str | Sequence[str],
        'Such as "auc.low >= 0.8", "f1[setosa] > 0.9", "recall.low >= 0.7 in every segment" or "gap(recall) <= 0.1".',
        Option("models", "columns", "CONDITION"),
    ]
    no_worse: Annotated[
        Value,
        "How much worse than the baseline a figure may be, at the bad end of the interval of the difference.",
        Option("models", "columns", "FIGURE:MARGIN"),
    ]
    allow_dropped: Annotated[
        float,
        "The share of rows that may be left out because a value is missing or the weight is 0.",
        Option("rows", "number", "SHARE", default=0.05),
    ]


class Ranked(TypedDict, total=False):
    """What rank() asks of graded items."""

    item: Annotated[Column, "What was asked: the question that every model answered.", _COLUMN]
    scores: Annotated[
        Column,
        "The scores of a model, one row for each item; once for each model.",
        Option("columns", "columns", "COLUMN", spelled="score"),
    ]
    model: Annotated[Column, "Which model a row is about, where every model and item has a row.", _COLUMN]
    score: Annotated[Column, "What that model scored on that item.", Option("columns", "column", "COLUMN", typed=False)]
    cluster: ClusterOption
    task: Annotated[
        Column, "The benchmark of an item: models are ranked by the mean over benchmarks, equally weighted.", _COLUMN
    ]
    query: Annotated[
        Column, "The query of a row, where rows are documents: each query is an item, graded by its order.", _COLUMN
    ]
    relevance: Annotated[Column, "How relevant that document is: 0 and 1, or grades.", _COLUMN]
    measure: Annotated[
        str,
        "How a query's order is graded: ndcg, dcg, mrr, average_precision, recall, precision or hit_rate, @K deep.",
        Option("models", metavar="NAME@K", default="ndcg@10"),
    ]
    repeat: Annotated[Column, "Which run of the same item a row is; the mean of the runs counts.", _COLUMN]
    higher_is_better: Annotated[
        bool,
        "Whether a higher score is better.",
        Option("models", "switch", default=True, of=("higher-is-better", "lower-is-better")),
    ]
    missing: Annotated[
        str,
        "What to do about items that a model did not answer: stop, or compare every two models on what both answered.",
        Option("rows", "choice", default="error", of=("error", "pairwise")),
    ]
    where: WhereOption
    separator: SeparatorOption
    decimal: DecimalOption
    encoding: EncodingOption
    skip: SkipOption
    na: NaOption
    confidence: ConfidenceOption
    lang: LangOption


class Watched(TypedDict, total=False):
    """What watch() asks of days."""

    require: Annotated[
        str | Sequence[str],
        'Such as "recall >= 0.9", "auc >= 0.8" or "expected_cost <= 0.3"; with a reference also "auc" alone. Before '
        'labels come "scores", "segments" or "expected recall >= 0.8".',
        Option("models", "columns", "CONDITION"),
    ]
    margin: Annotated[
        float | None, "How much worse than the reference a figure may be (default: 0).", Option("models", "number")
    ]
    costs: CostsOption
    alpha: Annotated[float, "The chance that there is ever a false alarm.", Option("how sure", "number", default=0.05)]
    life: Annotated[
        int | None,
        "How many days will be watched, if that is known (default: without end).",
        Option("how sure", "whole", metavar="DAYS", least=1),
    ]
    drop: Annotated[
        float | None,
        "The smallest change worth an alarm (default: 0.05; of costs and means a share of the limit).",
        Option("how sure", "number"),
    ]
    days_alike: Annotated[
        bool,
        "Assume that days differ by chance alone: exact for rates, and wrong if they differ by more.",
        Option("how sure", "switch", default=False, of=("days-alike",)),
    ]
    allow_dropped: Annotated[
        float,
        "The share of rows of a day that may lack labels; a day with more waits, and so do all after it.",
        Option("rows", "number", "SHARE", default=0.05),
    ]
    state: Annotated[
        str | None,
        "A small file that remembers days: each call brings the new ones.",
        Option("files", metavar="FILE", typed=False),
    ]
    restart: Annotated[str | None, "The day with which to begin again, after an alarm.", Option("rows", metavar="DAY")]
    lang: LangOption


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
"""The verbs that are given rows of truths and predictions, and the table of each."""

TABLES: dict[str, type[Shared | Ranked | Watched]] = {**VERBS, "rank": Ranked, "watch": Watched}
"""The table of every verb."""

_ROWS_KEPT = "every row is kept here as it is"
_AUC_OF_ONE = "it is about the auc of one model; evaluate that model"
_NO_INTERVAL = "a permutation test gives a p-value, and no interval"
_NO_INTERVALS_YET = "a tally has no intervals; say this when you evaluate it"
_EVERY_TRUTH = "it needs the truth of every row; estimate figures with evaluate"
_EVERY_ROW_LABELLED = dict.fromkeys(("unlabelled", "label_probability"), _EVERY_TRUTH)
_OTHER_ROWS = "it is for rows of labels, numbers or quantiles that are evaluated or compared"
_NOT_YET = dict.fromkeys((
    "low", "high", "level", "quantiles", "ensemble", "order", "series", "season", "horizon", "exposure",
    "label_separator",
), _OTHER_ROWS)  # fmt: skip
_GRADED = "graded items have scores that say how well each was answered; compare models by their truth instead"
_DAYS = "days are tallies, tables or results; say this when you count them"
_PROBABILITIES_ONLY = "recalibration changes probabilities, whatever is decided by them"

MEANS_NOTHING: dict[str, dict[str, str | Text]] = {
    "compare": {
        "auc_error": _AUC_OF_ONE,
        "label_probability": "it was not tried for differences of models; evaluate each by itself",
        "score": Text("there are several models; give ", Pass("scores")),
        "prediction": Text("there are several models; give ", Pass("predictions")),
        **dict.fromkeys(
            ("low", "high", "level", "quantiles", "ensemble"),
            Text("there are several models; give ", Pass("predictions"), ", of each a dictionary level → column"),
        ),
    },
    "decide": {
        **{name: why for name, why in _NOT_YET.items() if name != "label_separator"},
        "auc_error": _AUC_OF_ONE,
        "label_probability": "it was not tried for a threshold that few labels choose",
        "by": Text("one rule is found for all rows; decide for a segment with ", Pass("where")),
        "threshold": "it is what decide looks for; evaluate at that threshold",
        "baseline": "decisions are between classes, and this is about predicted numbers",
    },
    "calibrate": {
        **_NOT_YET,
        **_EVERY_ROW_LABELLED,
        "prediction": "scores are recalibrated, not decisions",
        "by": Text("one calibrator is fitted on all rows; fit that of a segment with ", Pass("where")),
        **dict.fromkeys(("exact", "auc_error"), _ROWS_KEPT),
        **dict.fromkeys(("threshold", "costs", "prior", "training_prior"), _PROBABILITIES_ONLY),
        "baseline": "probabilities are of classes, and this is about predicted numbers",
    },
    "permutation_test": {
        **_NOT_YET,
        **_EVERY_ROW_LABELLED,
        "by": Text("one figure is tested on all rows; test a segment with ", Pass("where")),
        "cluster": "rows of a cluster are alike, and a shuffle that parts them takes chance for a finding far too "
        "often; keep one row of each cluster",
        **dict.fromkeys(("exact", "auc_error"), _ROWS_KEPT),
        **dict.fromkeys(("confidence", "design"), _NO_INTERVAL),
    },
    "validate": {
        **_NOT_YET,
        **_EVERY_ROW_LABELLED,
        "truth": "it is given as y",
        "score": "the estimator gives the scores",
        "prediction": "the estimator gives the predictions",
        "from_logits": "the estimator gives the scores",
        "frequency": "an estimator is fitted on single rows; give each as often as it stands for",
        "cluster": Text("rows that stay together are given as ", Pass("groups")),
        **dict.fromkeys(("exact", "auc_error"), _ROWS_KEPT),
    },
    "rank": {
        **{name: _GRADED for name in Asked.__annotations__ if name not in Ranked.__annotations__},
        "weight": "every item counts alike",
    },
    "watch": {name: _DAYS for name in Asked.__annotations__ if name not in Watched.__annotations__},
    "count": {
        **dict.fromkeys(("confidence", "design", "horizon"), _NO_INTERVALS_YET),
        "seed": "counting draws no random numbers",
        "auc_error": "what is counted finer stays with the rows, and a tally has the bins that all tallies have",
        "lang": "a tally holds numbers and no sentences; say this when you evaluate it",
    },
}
"""The options of its table that a verb cannot use, and why."""

NOT_TYPED: dict[str, dict[str, str]] = {
    "count": {"cluster": "a tally that is saved tells no clusters apart; evaluate the rows themselves with it"}
}
"""The options of a verb that its command cannot use, and why."""


@cache
def table(verb: str) -> dict[str, Option]:
    """Return all options of the tables of a verb, those that mean nothing to it among them."""
    rows = {name: hint.__metadata__ for name, hint in TABLES[verb].__annotations__.items()}
    return {name: replace(option, help=meaning) for name, (meaning, option) in rows.items()}


@cache
def options(verb: str) -> dict[str, Option]:
    """Return the options that a verb takes."""
    return {name: option for name, option in table(verb).items() if name not in MEANS_NOTHING.get(verb, ())}


@cache
def find(name: str) -> Option | None:
    """Return the option of this name, whichever verb has it."""
    found = [table(verb)[name] for verb in TABLES if name in table(verb)]
    return next((option for option in found if option.typed), found[0] if found else None)


def why_not(verb: str, name: str, called: str = "") -> InputError | None:
    """Say why an option means nothing to a verb (or to ``called``), if other verbs take it."""
    why = (MEANS_NOTHING.get(verb, {}) | (NOT_TYPED.get(verb, {}) if called else {})).get(name)
    if why is None:
        return None
    return InputError("means-nothing-here", Given(name), f" means nothing to {called or verb}: ", why)


def refuse_unknown(verb: str, asked: Mapping[str, Any]) -> None:
    """Refuse options that do not exist, or that mean nothing to this verb."""
    known = options(verb)
    for name, value in asked.items():
        if name in known or (value is None and name in table(verb)):
            continue
        raise why_not(verb, name) or errors.no_such_option(verb, name, known, asked)


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the files, the columns of them by what they hold, and how it was asked in Python."""

    files: Sequence[str]
    columns: Mapping[str, Value]
    call: str

    @classmethod
    def of(cls, verb: str, data: Data, asked: Mapping[str, Any]) -> Self:
        """Remember the words of a call; rows and arrays, which have no name, are left open."""
        files = names_of_files(data)
        given = {name: value for name, value in asked.items() if name not in ("data", "lang") and value is not None}
        return cls(
            files, {name: value for name, value in given.items() if isinstance(value, str)}, call(verb, files, given)
        )


def names_of_files(data: Data) -> tuple[str, ...]:
    """Return the names of the files that were given, if files were."""
    given = data if isinstance(data, list | tuple) else [data]
    return (
        tuple(os.path.basename(one) for one in given)
        if all(isinstance(one, str | os.PathLike) for one in given)
        else ()
    )


def call(verb: str, files: Sequence[str], given: Mapping[str, Any]) -> str:
    """Return the call in Python: words and numbers as they were given, "…" for anything larger."""
    data = [short(repr(files[0] if len(files) == 1 else list(files)))] if files else []
    named = [f"{name}={short(repr(v)) if isinstance(v, str | int | float) else '…'}" for name, v in given.items()]
    return f"{verb}({', '.join(data + named)})"


def asks(verb: str) -> Callable[[Verb], Verb]:
    """Give a verb, which takes ``**asked``, the signature of its table; its answer speaks the language asked for."""

    def signed(function: Verb) -> Verb:
        own = [one for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
        kinds = {name: hint.__origin__ for name, hint in TABLES[verb].__annotations__.items()}
        taken = {one.name for one in own}
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=kinds[name])
            for name, option in options(verb).items()
            if name not in taken
        ]

        @functools.wraps(function)
        def speaking(*given: Any, **asked: Any) -> Any:
            answer = speak(function(*given, **asked), asked.get("lang", "en"))
            if isinstance(answer, Reportable):
                vars(answer)["origin"] = Origin.of(verb, given[0] if given else asked.get("data"), asked)
            return answer

        speaking.__signature__ = inspect.signature(function).replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return speaking  # type: ignore[return-value]

    return signed
