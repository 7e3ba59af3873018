"""docs/errors.md: every code of an error or warning, and what is said."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "stakes"
KINDS = {
    "InputError": "wrong input",
    "EmptyError": "wrong input",
    "GapError": "wrong input",
    "WrongKindError": "wrong input",
    "UnableError": "cannot be done",
    "LackOfMemoryError": "cannot be done",
    "MissingPartError": "cannot be done",
    "warn": "warning",
}
_MAKES_ONE = re.compile(rf"\b({'|'.join(KINDS)})\(")


def places() -> Iterator[tuple[Path, str, str, list[ast.expr]]]:
    """Yield every place that makes an error or a warning: its file, what it makes, the code, the parts of the text."""
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text if _MAKES_ONE.search(text) else "")
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                made = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
                if made in KINDS and not (made == "warn" and getattr(node.func.value, "id", "") != "errors"):
                    around = [one for one in functions if one.lineno <= node.lineno <= one.end_lineno]
                    known = _assigned([step for one in (tree, *around) for step in _steps_before(one, node.lineno)])
                    yield file, made, node.args[0].value, [_Known(known).visit(part) for part in node.args[1:]]


def _steps_before(node: ast.Module | ast.FunctionDef, line: int) -> list[ast.AST]:
    """What is done before a line: all of a module's own steps, or those of a function as far as they come earlier."""
    if isinstance(node, ast.Module):
        return node.body
    return sorted((one for one in ast.walk(node) if getattr(one, "lineno", line) < line), key=lambda one: one.lineno)


def _assigned(steps: list[ast.AST]) -> dict[str, ast.expr]:
    """The expression that each name holds after these steps."""
    assignments = (one for one in steps if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name))
    return {one.targets[0].id: one.value for one in assignments}


class _Known(ast.NodeTransformer):
    """Puts what a name holds in its place, one level deep: a sentence that stands a line above the error."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.known.get(node.id, node)


def pages() -> dict[str, str]:
    """Return the page."""
    rows: dict[str, tuple[str, list[str]]] = {}
    for _, made, code, parts in places():
        rows.setdefault(code, (KINDS[made], []))[1].append(_text(parts))
    table = [
        f"| `{code}` | {kind} | {' · '.join(dict.fromkeys(texts))} |" for code, (kind, texts) in sorted(rows.items())
    ]
    return {"errors.md": _HEAD.format(count=len(rows)) + "\n".join(table) + "\n"}


def _text(parts: list[ast.expr]) -> str:
    words = "".join(_words(part) for part in parts)
    words = re.sub(r"\s+", " ", words).strip().replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
    return words if words.strip("… ") else "(in words of its own)"


def _words(part: ast.expr) -> str:
    """The words of a part of a text; what is only known when it is said is a dot-dot-dot."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    if isinstance(part, ast.JoinedStr):
        return "".join(_words(value) for value in part.values)
    if isinstance(part, ast.FormattedValue):
        return _words(part.value) if isinstance(part.value, ast.Constant | ast.IfExp | ast.JoinedStr) else "…"
    if isinstance(part, ast.Call) and getattr(part.func, "id", "") in ("Given", "Pass", "About"):
        name = _words(part.args[0])
        bare = part.func.id == "About" or (part.func.id == "Given" and name == "…")
        value = "…" if len(part.args) > 1 and not isinstance(part.args[1], ast.Constant) else ""
        literal = repr(part.args[1].value) if len(part.args) > 1 and isinstance(part.args[1], ast.Constant) else ""
        return name if bare else f"`{name}={value or literal or _each(part)}`"
    if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "Text":
        return "".join(map(_words, part.args))
    if isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "format":
        return _words(part.func.value).replace("{}", "…")
    if isinstance(part, ast.Starred) and isinstance(part.value, ast.Tuple):
        return "".join(map(_words, part.value.elts))
    if isinstance(part, ast.Call) and (called := ast.unparse(part.func).removeprefix("errors.")) in _returned():
        return _words(_returned()[called])
    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add):
        return _words(part.left) + _words(part.right)
    if isinstance(part, ast.IfExp):
        words = [_words(part.body), _words(part.orelse)]
        return words[0] if all(one.strip("… ") for one in words) else "…"
    return "…"


@functools.cache
def _returned() -> dict[str, ast.expr]:
    """What each function returns that words a text for several places."""
    functions = [
        node
        for file in (SOURCE / "errors").glob("*.py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    return {node.name: node.body[-1].value for node in functions if isinstance(node.body[-1], ast.Return)}


def _each(part: ast.Call) -> str:
    return next((f"{{class: {word.value.value}}}" for word in part.keywords if word.arg == "each"), "")


_HEAD = """# Errors and warnings

What goes wrong is said in one line: the argument or column, what was seen, what to do. Beside its text every error and
every warning has a `code`, which stays when words change, the `argument` that it is about, and its `advice` as data:

```python
import stakes

try:
    stakes.evaluate(truth=["a", "b"], score=[0.1, 0.9])
except stakes.InputError as problem:
    problem.code  # 'which-positive'
    problem.argument  # 'truth'
    [(one.name, one.value) for one in problem.advice]  # [('positive', 'b'), ('positive', 'a')]
```

The command line writes the same text with its own options (`--positive b` for `positive='b'`) and ends with exit code
2, or 3 where the work cannot be done. Errors are in English, in every language of the report. These are all
{count} of them; … stands for what is only known then.

| code | | what is said |
|---|---|---|
"""
