"""Options that stand in a file: ``[gate]`` of stakes.toml, or ``[tool.stakes.gate]`` of pyproject.toml."""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import TypeAlias

import click
from click.core import ParameterSource

from stakes import errors
from stakes.cli.options import Command
from stakes.cli.paths import TYPED, InputFile
from stakes.errors import InputError, Pass, Problem, nearest, short

Table: TypeAlias = Mapping[str, object]

_USUAL = ("stakes.toml", "pyproject.toml")


def config(command: Command) -> Command:
    """Let options of a command stand in a file; those of the command line go before.

    Errors about an option from there begin with the name of the file.
    """

    @functools.wraps(command)
    def naming_the_file(config: str | None, **given: object) -> object:
        with errors.pointing(lambda problem: _named(problem, config)):
            return command(**given)

    words = (
        "Read options from this TOML file (default: stakes.toml, or pyproject.toml, of the current folder, unless FILE "
        "and conditions are typed)."
    )
    kind = InputFile("options")
    option = click.option("--config", metavar="FILE", type=kind, is_eager=True, callback=_take, help=words)
    return option(naming_the_file)


def _named(problem: Problem, file: str | None) -> Problem:
    """Prefix an error with the name of the file that its option stands in."""
    source = click.get_current_context().get_parameter_source
    names = [part.name for part in problem.text.parts if isinstance(part, Pass)]
    if any(source({"costs": "miss"}.get(name, name)) is ParameterSource.DEFAULT_MAP for name in names):
        return type(problem)(problem.code, f"{file}: ", problem.text)
    return problem


def _is_whole(context: click.Context) -> bool:
    """Whether a file and conditions were typed: the question is another one than that of the folder."""
    typed, *_ = context.command.make_parser(context).parse_args(list(context.meta[TYPED]))
    given = {name for name, value in typed.items() if isinstance(value, str | list | tuple) and value}
    return bool(given & {"files", "table"}) and bool(given & {"require", "no_worse"})


def _take(context: click.Context, _: click.Parameter, file: str | None) -> str | None:
    """Make what stands in the file the defaults of the options; return the name of the file that was read."""
    name = str(context.command.name)
    usual = () if file is None and _is_whole(context) else _USUAL
    paths = [path for path in map(Path, usual if file is None else [file]) if path.is_file()]
    if file is not None and not paths:
        raise errors.no_such_file(str(Path(file)))
    path, table = next(((path, table) for path in paths if (table := _table(path, name)) is not None), (None, {}))
    if file is not None and path is None:
        raise InputError(
            "no-table-in-config",
            f"{Path(file)!s}: there is no table [{name}] or [tool.stakes.{name}]; put the options there",
        )
    if path is None:
        return None
    known = {spelled: one for one in context.command.params if one.name != "config" for spelled in _spellings(one)}
    context.default_map = {**(context.default_map or {}), **_defaults(path, table, known)}
    return str(path)


def _table(path: Path, name: str) -> Table | None:
    from stakes.tallies.small_files import read_toml

    content = read_toml(path)
    found = _at(path, content, "tool", "stakes", name)
    return _at(path, content, name) if found is None and path.name != "pyproject.toml" else found


def _at(path: Path, content: object, *place: str) -> Table | None:
    for depth, name in enumerate(place, 1):
        content = content.get(name) if isinstance(content, dict) else None
        if content is not None and not isinstance(content, dict):
            table = ".".join(place[:depth])
            raise InputError("no-table-in-config", f"{path!s}: {table} is no table; write the options below [{table}]")
    return content if isinstance(content, dict) else None


def _spellings(parameter: click.Parameter) -> list[str]:
    """The name of an option in a file: as on the command line, with - or _."""
    names = [name.lstrip("-") for name in (*parameter.opts, *parameter.secondary_opts)]
    return [spelled for name in names for spelled in {name, name.replace("-", "_")}]


def _defaults(path: Path, table: Table, known: Mapping[str, click.Parameter]) -> dict[str, object]:
    """The values of a file by the names of parameters, as the command line would give them."""
    found: dict[str, object] = {}
    for key, value in table.items():
        if key not in known:
            names = [name for name in known if "_" not in name]
            raise InputError("unknown-in-config", f"{path!s}: {short(repr(key))} is no option{nearest(key, names)}")
        name = str(known[key].name)
        if name in found:
            raise InputError("twice-in-config", f"{path!s}: {key} says again what another line says; keep one of them")
        found[name] = _options_given(f"{path!s}: {key}", value, known[key])
        if isinstance(value, bool) and f"--{key}" in known[key].secondary_opts:  # --bins is the opposite of --exact
            found[name] = not value
    return found


def _options_given(place: str, value: object, parameter: click.Parameter) -> object:
    many = parameter.multiple or parameter.nargs == -1
    by_name = value if isinstance(value, dict) and parameter.multiple else {}
    what, kinds = _kinds(parameter)
    given = list(by_name.values()) if by_name else value if isinstance(value, list) and many else [value]
    for one in given:
        if not isinstance(one, kinds) or (isinstance(one, bool) and kinds is not bool):
            seen = short(json.dumps(value, default=str, ensure_ascii=False))
            raise InputError("bad-in-config", f"{place} has {seen}; write {what}")
    if by_name:
        sign = ":" if parameter.name == "no_worse" else "="
        return [f"{name}{sign}{one}" for name, one in by_name.items()]
    return [str(one) for one in given] if many else value


def _kinds(parameter: click.Parameter) -> tuple[str, type | UnionType]:
    """What an option takes, in words and in Python."""
    if isinstance(parameter, click.Option) and parameter.is_flag:
        hint = ", and the name of a file as output" if str(parameter.name).startswith("as_") else ""
        return f"true or false{hint}", bool
    if isinstance(parameter.type, click.types.FloatParamType):
        return "a number", int | float
    if isinstance(parameter.type, click.types.IntParamType):
        return "a whole number", int
    return "a text in quotes", str | int | float if isinstance(parameter.type, click.types.StringParamType) else str
