"""Options that stand in a file: ``[gate]`` of stakes.toml, or ``[tool.stakes.gate]`` of pyproject.toml."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import click

from stakes import errors
from stakes.cli.options import Command
from stakes.cli.paths import InputFile
from stakes.errors import InputError, nearest, short

Table: TypeAlias = Mapping[str, object]

_USUAL = ("stakes.toml", "pyproject.toml")


def config(command: Command) -> Command:
    """Let options of a command stand in a file; those of the command line go before."""
    words = "Read options from this TOML file (default: stakes.toml, or pyproject.toml, of the current folder)."
    kind = InputFile("options")
    return click.option("--config", metavar="FILE", type=kind, is_eager=True, callback=_take, help=words)(command)


def _take(context: click.Context, _: click.Parameter, file: str | None) -> str | None:
    """Make what stands in the file the defaults of the options; return the name of the file that was read."""
    name = str(context.command.name)
    paths = [path for path in map(Path, _USUAL if file is None else [file]) if path.is_file()]
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
    known = {spelled: one for one in context.command.params for spelled in _spellings(one)}
    context.default_map = {**(context.default_map or {}), **_defaults(path, table, known)}
    return str(path)


def _table(path: Path, name: str) -> Table | None:
    from stakes.tallies.toml_files import read_toml

    content = read_toml(path)
    found = _at(content, "tool", "stakes", name)
    return _at(content, name) if found is None and path.name != "pyproject.toml" else found


def _at(content: object, *place: str) -> Table | None:
    for name in place:
        content = content.get(name) if isinstance(content, dict) else None
    return content if isinstance(content, dict) else None


def _spellings(parameter: click.Parameter) -> list[str]:
    """How an option is called in a file: as on the command line, with - or _."""
    names = [name.lstrip("-") for name in (*parameter.opts, *parameter.secondary_opts)]
    return [spelled for name in names for spelled in {name, name.replace("-", "_")}]


def _defaults(path: Path, table: Table, known: Mapping[str, click.Parameter]) -> dict[str, object]:
    """The values of a file by the names of parameters, as the command line would give them."""
    found = {}
    for key, value in table.items():
        if key not in known or key == "config":
            raise InputError(
                "unknown-in-config",
                f"{path!s}: {short(repr(key))} is no option{nearest(key, [name for name in known if '_' not in name])}",
            )
        found[str(known[key].name)] = _options_given(str(path), key, value, known[key])
    return found


def _options_given(path: str, key: str, value: object, parameter: click.Parameter) -> object:
    if isinstance(value, dict) and parameter.multiple:
        sign = ":" if parameter.name == "no_worse" else "="
        return [f"{name}{sign}{one}" for name, one in value.items()]
    if parameter.multiple or parameter.nargs == -1:
        return [str(one) for one in value] if isinstance(value, list) else [str(value)]
    if isinstance(parameter, click.Option) and parameter.is_flag and not isinstance(value, bool):
        raise InputError(
            "flag-in-config",
            f"{path}: {key} is true or false, and has {short(repr(value))}; write true, and the name of a file as "
            "output",
        )
    if isinstance(value, dict | list):
        raise InputError(
            "bad-in-config",
            f"{path}: {key} takes one value, and has {short(repr(value))}; write it as on the command line",
        )
    return value
