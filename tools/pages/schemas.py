"""The JSON schemas of what ``--json`` writes, and the page about them, made from the classes of the results."""

import inspect
import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np

from stakes.cli.calibrate import RecalibratedFile
from stakes.cli.count import TallyFacts
from stakes.cli.doctor import Installed
from stakes.cli.label import RowsToLabel
from stakes.cli.report import WrittenPage
from stakes.cli.system import SystemAnswer
from stakes.decisions.calibration.numbers import NumberCalibration
from stakes.decisions.policies import Policies
from stakes.decisions.thresholds.by_label import LabelDecisions
from stakes.decisions.thresholds.decision import Decision
from stakes.engines.files.describing import DescribedFile
from stakes.evaluation import Evaluation
from stakes.evaluation.by_segment import BySegment
from stakes.evaluation.comparison import Comparison
from stakes.evaluation.few_classes import FewClasses
from stakes.evaluation.few_grades import FewGrades
from stakes.evaluation.few_labels import FewLabels
from stakes.evaluation.gap import Gap
from stakes.evaluation.gate import Gate
from stakes.evaluation.many_classes import ManyClassEvaluation
from stakes.evaluation.ranks import Ranks
from stakes.evaluation.recalibrating import Recalibration
from stakes.evaluation.regression import RegressionEvaluation
from stakes.evaluation.several import LabelsEvaluation, OutputsEvaluation, QuantilesEvaluation
from stakes.evaluation.two_classes import TwoClassEvaluation
from stakes.evaluation.watch import Watch
from stakes.language.sentences import Finding
from stakes.metrics import Estimate
from stakes.planning.result import Plan
from stakes.records import Record, Says, entries_of, head_of
from stakes.systems.choices import BestRule
from stakes.systems.plans import BestPlan
from stakes.systems.system import System
from stakes.systems.thresholds import BestThresholds, SystemThreshold
from stakes.tallies import Tally
from stakes.uncertainty.permutation import PermutationTest
from stakes.validation.result import Validation
from stakes.views.catalogue import Listed

FOLDER = Path(__file__).parents[2] / "src" / "stakes" / "schema"
ANSWERS: dict[str, tuple[type, ...]] = {
    "calibrate": (Recalibration, RecalibratedFile),
    "rank": (Ranks,),
    "report": (WrittenPage,),
    "compare": (Comparison,),
    "count": (TallyFacts,),
    "decide": (Decision, Policies, LabelDecisions),
    "columns": (DescribedFile,),
    "doctor": (Installed,),
    "evaluate": (
        *(TwoClassEvaluation, ManyClassEvaluation, RegressionEvaluation),
        *(LabelsEvaluation, OutputsEvaluation, QuantilesEvaluation),
        *(FewLabels, FewClasses, FewGrades),
    ),
    "gate": (Gate,),
    "label": (RowsToLabel,),
    "metrics": (Listed,),
    "permute": (PermutationTest,),
    "plan": (Plan,),
    "system": (SystemAnswer,),
    "validate": (Validation,),
    "watch": (Watch,),
}
"""What each command answers with."""

ASKED: dict[str, tuple[type, ...]] = {"gap": (Gap,), "number_calibration": (NumberCalibration,)}
"""What an evaluation is asked for in Python."""

_SAID = {"gap": "ev.gap()", "number_calibration": "ev.calibration of predicted numbers"}

_NAMES = {kind.__name__: kind for kind in (BySegment, System, SystemThreshold, Sequence, Callable)}
_NAMES |= {kind.__name__: kind for kind in (BestPlan, BestRule, BestThresholds, Finding)}
_NAMES |= {"Any": Any, "ClassVar": ClassVar}
"""What stands in annotations without being imported."""

_ANY_NUMBER = {
    "description": "A number; infinite ones are texts, what is not known is null.",
    "anyOf": [{"type": ["number", "null"]}, {"enum": ["Infinity", "-Infinity"]}],
}
_FORM = "The version of this form; it changes when a name changes its meaning."
_PLAIN = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by the name of its file."""
    figure = _Schema("A figure", (Estimate,))
    answers = {verb: _Schema(f"stakes {verb} --json", kinds) for verb, kinds in ANSWERS.items()}
    answers |= {name: _Schema(_SAID[name], kinds) for name, kinds in ASKED.items()}
    return {f"{name}.json": schema.whole for name, schema in {"estimate": figure, **answers}.items()}


def files() -> dict[Path, str]:
    """Return the files of the schemas."""
    return {FOLDER / name: _lines(schema) + "\n" for name, schema in schemas().items()}


def _lines(value: Any, indent: str = "") -> str:
    """Write JSON with what fits into a line in one line."""
    short = json.dumps(value)
    if len(indent) + len(short) <= 110 or not isinstance(value, dict | list):
        return short
    more = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(more + _lines(part, more) for part in value) + f"\n{indent}]"
    parts = [f"{more}{json.dumps(name)}: {_lines(part, more)}" for name, part in value.items()]
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


class _Schema:
    """One file: what a command answers, with the classes in it described once each, so that it needs no other file."""

    def __init__(self, title: str, kinds: tuple[type, ...]) -> None:
        self.title, self.kinds = title, kinds
        self.described: dict[str, Any] = {}

    @cached_property
    def whole(self) -> dict[str, Any]:
        head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": self.title}
        if len(self.kinds) == 1:
            return head | self.of_record(self.kinds[0]) | self._defs()
        alternatives = {"oneOf": [self.of_record(kind) for kind in self.kinds]}
        return head | {"description": _first_sentence(_common(self.kinds))} | alternatives | self._defs()

    def _defs(self) -> dict[str, Any]:
        return {"$defs": dict(sorted(self.described.items()))} if self.described else {}

    # ── classes ──────────────────────────────────────────────────────────────────────────────────────────────
    def of_record(self, kind: type) -> dict[str, Any]:
        """Describe what a class turns into."""
        if "data" in vars(kind) and kind.record_shown == "*":  # its names are those of the rows
            return {"description": _first_sentence(kind.data), "type": "object"}
        head = {name: {"const": value} for name, value in _head(kind).items()}
        if "format" in head:
            head["format"]["description"] = _FORM
        required = [*head]
        properties = head | self._properties(kind, required)
        return {"description": _first_sentence(kind), **_object(properties, required)}

    def _properties(self, kind: type, required: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for entry in entries_of(kind):
            hint, about = _hint(kind, entry.path)
            if entry.spread:
                possible = [] if type(None) in get_args(hint) else required
                found |= self._properties(_without_none(hint), possible)
                continue
            found[entry.name] = self.of(hint) | ({"description": about} if about else {})
            if not entry.optional:
                required.append(entry.name)
        return found

    def _once(self, kind: type) -> dict[str, Any]:
        """Refer to a class; an evaluation may be of any task."""
        name = "Evaluation" if issubclass(kind, Evaluation) else kind.__name__
        if name not in self.described:
            self.described[name] = {}  # a class may hold others of its kind
            self.described[name] = (
                {"oneOf": [self.of_record(one) for one in ANSWERS["evaluate"]]}
                if name == "Evaluation"
                else self._typed_dict(kind)
                if is_typeddict(kind)
                else self.of_record(kind)
            )
        return {"$ref": f"#/$defs/{name}"}

    def _number(self) -> dict[str, Any]:
        self.described["number"] = _ANY_NUMBER
        return {"$ref": "#/$defs/number"}

    def _typed_dict(self, kind: Any) -> dict[str, Any]:
        hints = get_type_hints(kind, include_extras=True)
        properties = {name: self.of(hint) for name, hint in hints.items()}
        return {
            "description": _first_sentence(kind),
            **_object(properties, [n for n in hints if n in kind.__required_keys__]),
        }

    # ── types ────────────────────────────────────────────────────────────────────────────────────────────────
    def of(self, hint: Any) -> dict[str, Any]:
        """Describe the values of a type."""
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self._annotated(inner[0], [said for said in inner[1:] if isinstance(said, Says)])
        if origin is ClassVar or origin is NotRequired:
            return self.of(inner[0])
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in (Union, types.UnionType):
            return self._either(inner)
        if hint is Any:
            return {}
        if hint is float:
            return self._number()
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if hint is np.ndarray or origin is np.ndarray:
            return {"type": "array", "items": self._number()}
        if origin is not None:
            return self._of_many(origin, inner)
        return self._once(hint)

    def _of_many(self, origin: Any, inner: tuple[Any, ...]) -> dict[str, Any]:
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if origin is tuple and inner[-1] is not Ellipsis:
            return {"type": "array", "items": self.of(inner[0]), "minItems": len(inner), "maxItems": len(inner)}
        assert issubclass(origin, Sequence | Iterator), origin
        return {"type": "array", "items": self.of(inner[0])}

    def _either(self, kinds: tuple[Any, ...]) -> dict[str, Any]:
        """Alternatives; a number that may be unknown is null already."""
        found = [self.of(kind) for kind in kinds if not (kind is type(None) and float in kinds)]
        simple = [one["type"] for one in found if one.keys() == {"type"} and isinstance(one["type"], str)]
        if len(simple) == len(found):
            return {"type": simple if len(simple) > 1 else simple[0]}
        return found[0] if len(found) == 1 else {"anyOf": found}

    def _annotated(self, kind: Any, said: list[Says]) -> dict[str, Any]:
        found = self.of(kind)
        for one in said:
            if one.known and float in (kind, *get_args(kind)):
                found = {"type": "number"}
            limits = {"minimum": one.minimum, "maximum": one.maximum, "minItems": one.least_items}
            found |= {name: limit for name, limit in limits.items() if limit is not None}
            if one.axes > 1:
                found = reduce(lambda items, _: {"type": "array", "items": items}, range(1, one.axes), found)
            found |= {"description": one.about} if one.about else {}
        return found


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _head(kind: type) -> dict[str, Any]:
    return {"tally": kind.kind, "version": kind.version} if issubclass(kind, Tally) else head_of(kind)


def _hint(kind: Any, path: str) -> tuple[Any, str]:
    """The type at the end of a path of attributes, and what a property says about itself."""
    hint, about = kind, ""
    for name in path.removesuffix("()").split("."):
        hint, about = _attribute(_without_none(hint), name)
    return hint, about


def _attribute(kind: Any, name: str) -> tuple[Any, str]:
    found = inspect.getattr_static(kind, name, None)
    made = found.fget if isinstance(found, property) else found.func if isinstance(found, cached_property) else found
    if callable(made):
        return get_type_hints(made, localns=_NAMES, include_extras=True)["return"], _first_sentence(made)
    hint = get_type_hints(kind, localns=_NAMES, include_extras=True)[name]
    return (Literal[found] if get_origin(hint) is ClassVar else hint), ""  # what all objects of a class share


def _without_none(hint: Any) -> Any:
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if get_origin(hint) in (Union, types.UnionType) and len(kinds) == 1 else hint


def _common(kinds: tuple[type, ...]) -> type:
    """The class that says what several of them are: their own base, or the first of them."""
    base = kinds[0].__mro__[1]
    return base if all(issubclass(kind, base) for kind in kinds) and base is not Record else kinds[0]


def _first_sentence(described: Any) -> str:
    """What a class or a property is, in the first paragraph of its documentation."""
    words = (inspect.getdoc(described) or "").split("\n\n")[0].replace("``", "").replace("\n", " ")
    assert words, described
    return words


def pages() -> dict[str, str]:
    """Return the page about what ``--json`` writes."""
    parts = {f"stakes {verb}": kinds for verb, kinds in ANSWERS.items()}
    parts |= {_SAID[name]: kinds for name, kinds in ASKED.items()}
    return {"json.md": "\n".join([_INTRODUCTION, *(_section(*part) for part in parts.items())])}


_INTRODUCTION = """\
# Answers as JSON

What a command writes with `--json` is what `to_dict()` and `to_json()` of its result give in Python. This page and the
[JSON schemas](https://json-schema.org) in `src/stakes/schema`, which are part of the package, are made from the classes
of the results by `make pages`. Undefined numbers are `null`, with the reason beside them, and infinite ones the texts
`"Infinity"` and `"-Infinity"`. Rows are counted from 1, as in the text. `format` changes when a name changes its
meaning; new names may be added without that.

Each schema stands by itself: nothing is fetched to check an answer with it.

```python
import json
from importlib.resources import files

import jsonschema
import stakes

schema = json.loads((files("stakes") / "schema" / "evaluate.json").read_text(encoding="utf-8"))
jsonschema.validate(stakes.evaluate(truth=[1, 0, 1], score=[0.9, 0.2, 0.6]).to_dict(), schema)
```
"""


def _section(title: str, kinds: tuple[type, ...]) -> str:
    parts = [f"## {title}\n"]
    for kind in kinds:
        rows = [f"| `{name}` | {words} |" for name, words in _told(kind)]
        parts += [_first_sentence(kind) + "\n", "| name | what it holds |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _told(kind: type) -> Iterator[tuple[str, str]]:
    schema = _Schema("", (kind,)).of_record(kind)
    for name, one in schema["properties"].items():
        optional = "" if name in schema["required"] else "; not always there"
        yield name, f"{_in_words(one)}{optional}".replace("|", "\\|")


def _in_words(one: dict[str, Any]) -> str:
    if "const" in one:
        return f"`{json.dumps(one['const'])}`"
    kind = _kind_in_words(one)
    return f"{kind}. {one['description'].rstrip('.')}" if one.get("description") else kind


def _kind_in_words(one: dict[str, Any]) -> str:
    if "enum" in one:
        return " or ".join(f"`{value}`" for value in one["enum"])
    if "$ref" in one:
        name = one["$ref"].rpartition("/")[2]
        return {"number": "a number", "Estimate": "a figure with its interval", "Evaluation": "an evaluation"}.get(
            name, f"a `{name}`"
        )
    if "anyOf" in one:
        return " or ".join(_kind_in_words(part) for part in one["anyOf"])
    kinds = [one.get("type", "anything")] if isinstance(one.get("type", ""), str) else one["type"]
    if kinds == ["array"]:
        return f"a list: {_kind_in_words(one['items'])}" if one.get("items") else "a list"
    if kinds == ["object"] and one.get("additionalProperties"):
        return f"by name: {_kind_in_words(one['additionalProperties'])}"
    return " or ".join(
        {
            "null": "null",
            "integer": "a whole number",
            "string": "a text",
            "boolean": "true or false",
            "number": "a number",
            "object": "an object",
        }.get(k, k)
        for k in kinds
    )
