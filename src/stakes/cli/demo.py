"""stakes demo: the predictions and the system that ship with the package."""

import click

from stakes.cli import options
from stakes.cli.evaluate import SHOW_ALL
from stakes.cli.options import DEMO_FILES
from stakes.cli.paths import Command
from stakes.cli.words import say

DEMO_FILE = DEMO_FILES / "breast_cancer.csv"

_DEMO_NEXT = """\
Where to look next
  stakes evaluate FILE --truth COLUMN --score COLUMN   your own predictions
  stakes metrics                                       every figure, its question
  stakes metrics f1                                    one of them, with its traps
  stakes evaluate --help                               segments, costs, JSON
The predictions above are {file}
"""

_SYSTEM_NEXT = """
Where to look next
  stakes system FILE.toml                              a system of your own
  stakes system --help                                 the same from columns
The systems above are {folder}/clinic_and.toml and clinic_or.toml
"""


@click.command(cls=Command)
@click.argument("what", type=click.Choice(["predictions", "system"]), default="predictions")
@options.report
@options.lang
def demo(what: str, report: str | None, lang: str) -> None:
    """Evaluate the predictions that ship with stakes (is a breast tumour malignant?), or show a SYSTEM of models.

    \b
    Examples:
      stakes demo
      stakes demo system
    """
    if what == "system":
        _demo_system(report, lang)
        return
    from stakes.evaluation import evaluate
    from stakes.views import terminal
    from stakes.views.pages import page_of

    say("A logistic regression scored 569 breast tumours it had not seen. Can it be trusted?\n")
    evaluation = evaluate(str(DEMO_FILE), truth="diagnosis", score="logistic", positive="malignant", by="size")
    if report is not None:
        evaluation.report(report, lang)
    terminal.show_page(page_of(evaluation, more=SHOW_ALL))
    say("\n" + _DEMO_NEXT.format(file=DEMO_FILE), nl=False)


def _demo_system(report: str | None, lang: str) -> None:
    """The clinical example: images and history, fused by AND (which the report is about) and by OR."""
    from stakes.systems.system import System

    for fuser, words in (("and", "only when both models do"), ("or", "when at least one of the models does")):
        say(f"\nA clinic calls a patient sick {words}. What does each model's error cost the clinic?\n")
        system = System.from_toml(DEMO_FILES / f"clinic_{fuser}.toml")
        if report is not None and fuser == "and":
            system.report(report, lang)
        system.show()
    say(_SYSTEM_NEXT.format(folder=DEMO_FILES), nl=False)
