"""stakes demo: each verb on the data that ship with the package."""

import shlex

import click

from stakes.cli import options
from stakes.cli.paths import Command
from stakes.cli.words import say, wrap

_TUMOURS = "demo:breast_cancer --truth diagnosis --score logistic --positive malignant"

DEMOS = {
    "evaluate": f"evaluate {_TUMOURS} --by size",
    "decide": f"decide {_TUMOURS} --miss 10 --false-alarm 1",
    "compare": "compare demo:breast_cancer --truth diagnosis --score logistic --score neighbours --positive malignant",
    "calibrate": f"calibrate {_TUMOURS}",
    "permute": f"permute {_TUMOURS} --permutations 1000",
    "system": "system demo:clinic_and",
    "regression": "evaluate demo:diabetes --truth progression --prediction linear --by age",
}
"""The command that each demo runs."""

_NEXT = {
    "evaluate FILE --truth COLUMN --score COLUMN": "own",
    "demo --help": "others",
    "metrics": "metrics",
    "evaluate --help": "help",
}
"""Where to look next: commands, and what the catalogue says of each."""


@click.command(cls=Command)
@click.argument("what", type=click.Choice(list(DEMOS)), default="evaluate", metavar="[WHAT]")
@options.report
@options.lang
def demo(what: str, report: str | None, lang: str) -> None:
    """Try stakes on data that ship with it: show a command, and what it answers.

    WHAT is evaluate, decide, compare, calibrate or permute (is a breast tumour malignant?), system (what does each
    model's mistake cost a clinic?) or regression (how far will diabetes have come in a year?). Wherever a FILE is
    named, the same data are demo:breast_cancer, demo:clinic_and, demo:clinic_or and demo:diabetes.

    \b
    Examples:
      stakes demo
      stakes demo decide --lang es
      stakes demo system --report clinic.html
    """
    from stakes.language import speaking
    from stakes.language.sentences import words

    if report is not None and what == "calibrate":
        raise click.UsageError("calibrate has no page; leave --report out.")
    typed = shlex.split(DEMOS[what])
    typed += [] if report is None else ["--report", report]
    typed += [] if lang == "en" else ["--lang", lang]
    with speaking(lang):
        say(f"{wrap(words(f'demo.{what}'))}\n\n$ stakes {shlex.join(typed)}\n")
        _run(typed)
        say(f"\n{words('demo.next')}")
        for command, key in _NEXT.items():
            say(f"  stakes {command}\n      {words(f'demo.{key}')}")


def _run(typed: list[str]) -> None:
    """Run a command as if it had been typed."""
    root = click.get_current_context().find_root()
    found = root.command.get_command(root, typed[0])  # type: ignore[attr-defined]
    with found.make_context(typed[0], typed[1:], parent=root) as context:
        found.invoke(context)
