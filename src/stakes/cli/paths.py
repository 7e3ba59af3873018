"""Files that commands read and write. Every option or argument that names one says which, by its type.

:class:`Command` knows them all before anything is read: nothing that is read is written over, no two outputs are one
file, and a name promises the format that is written.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import click

from stakes import errors
from stakes.errors import InputError
from stakes.question.options import GROUPS, TABLES, options, table, why_not

Given: TypeAlias = Mapping[str, object]
"""What was typed, by the names of parameters."""


class InputFile(click.Path):
    """The name of what is read: a file, and for ``rows`` whatever names some (a pattern, a table of a database)."""

    def __init__(self, what: str) -> None:
        super().__init__(readable=False)  # an unreadable file is reported when it is read
        self.name = "file"
        self.what = what

    def places(self, name: str) -> Iterator[tuple[str | int, str]]:
        """Yield every file that is read by this name, and what it holds."""
        from stakes.engines.files.sources import read_places

        yield from ((place, self.what) for place in read_places(name))


class OutputFile(click.Path):
    """The name of a file that is written; ``form`` is its form, or finds it among all that was given."""

    def __init__(self, form: str | Callable[[Given], str]) -> None:
        super().__init__(readable=False)
        self.name, self.form = "file", form

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Take a name; "-" is standard output, where an answer goes anyway, and no place for anything else."""
        if value != "-":
            return super().convert(value, param, ctx)
        if param is None or param.name != "output_file":
            raise InputError("no-stream", "-: only answers are written to standard output; name a file")
        return None

    def form_of(self, given: Given) -> str:
        """Return the form in which the file is going to be written."""
        return self.form if isinstance(self.form, str) else self.form(given)


class OptionOfGroup(click.Option):
    """An option that --help shows among others of its ``group``."""

    def __init__(self, *args: Any, group: str = "output", **options: Any) -> None:
        super().__init__(*args, **options)
        self.group = group


def option(group: str, typed: str, meaning: str, name: str = "", **more: Any) -> Callable[[Any], Any]:
    """An option of a single command: among which others --help shows it, how it is typed, and what it means."""
    names = (typed, name) if name else (typed,)
    return click.option(*names, cls=OptionOfGroup, group=group, help=meaning, **more)


TYPED = "stakes.typed"
"""Where a context keeps the words that were typed."""


class Command(click.Command):
    """A command that checks its files before it begins; ``also_appends`` names a file that no option names."""

    def __init__(self, *args: Any, also_appends: Callable[[], str | None] = lambda: None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.also_appends = also_appends

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups, beginning with the columns."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in GROUPS}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None and isinstance(one, click.Option):
                sections[getattr(one, "group", "output")].append(record)
        for name, rows in sections.items():
            if rows:
                with formatter.section(name.capitalize()):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option that does not apply is refused with the reason."""
        ctx.meta[TYPED] = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as problem:
            verb = {"permute": "permutation_test"}.get(str(self.name), str(self.name))
            name = problem.option_name.lstrip("-").replace("-", "_")
            others = [word[2:].partition("=")[0].replace("-", "_") for word in args if word.startswith("--")]
            why = self._why_not(verb, name, others, str(self.name)) if verb in TABLES else None
            if why is None:
                raise
            raise why from None

    @staticmethod
    def _why_not(verb: str, name: str, others: list[str], command: str) -> InputError | None:
        """Why there is no such option, or its name here."""
        translated = errors.translation(name, options(verb))
        problem = errors.no_such_option(verb, name, options(verb), others, command) if translated else None
        return why_not(verb, _argument_of(name), command) or problem

    def invoke(self, context: click.Context) -> object:
        """Check the files, then run the command."""
        context.params |= {"files": files_named(context)} if "files" in context.params else {}
        named = [(one, name) for one in self.params for name in _names(context.params.get(str(one.name)))]
        if any(isinstance(one.type, InputFile | OutputFile) for one, _ in named):
            self._check(context.params, named)
        return super().invoke(context)

    def _check(self, given: Given, named: list[tuple[click.Parameter, str]]) -> None:
        from stakes.engines.files import writing
        from stakes.engines.files.sources import identity

        written = [(one.opts[0], name, one.type) for one, name in named if isinstance(one.type, OutputFile)]
        appended: dict[str | int, str] = {} if given.get("output_file") else {1: "standard output"}  # -o: silent
        if summary := self.also_appends():
            appended[summary] = "the summary of the job"
        seen = {identity(place): what for place, what in appended.items()}
        if not written and not any(seen):
            return  # no search without need
        read = [place for one, name in named if isinstance(one.type, InputFile) for place in one.type.places(name)]
        for target in appended:
            writing.keep_inputs(target, read)
        for option, name, kind in written:
            writing.check_target(name, kind.form_of(given), read)
            same = identity(name)
            if same is not None and same in seen:
                raise InputError(
                    "two-outputs", f"{name}: {seen[same]} and {option} would write the same file; name two"
                )
            seen[same] = option


def _argument_of(typed: str) -> str:
    """The argument of an option with another name: ``class``, ``bins``, ``miss``."""
    spellings = {
        word: name
        for name, option in table("evaluate").items()
        for word in (option.spelled, *(option.of if option.form == "switch" else ()))
    }
    return {**spellings, "miss": "costs", "false_alarm": "costs"}.get(typed, typed)


def files_named(context: click.Context) -> tuple[str, ...]:
    """Return the files of the command line, or else of a configuration, which click does not ask for arguments."""
    return context.params.get("files") or tuple((context.default_map or {}).get("files", ()))


def _names(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else () if value is None else (str(value),)
