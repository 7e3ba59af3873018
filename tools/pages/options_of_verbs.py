"""docs/options.md: every option and every verb, made from the table of options."""

from stakes.question.options import GROUPS, MEANS_NOTHING, TABLES, VERBS, Option, find, options, table

_HEAD = """# Every option, every verb

One table says what can be asked (`stakes/question/options.py`); signatures, the command line, checks and this page are
made from it. `●` means that the verb takes the option, in Python and on the command line, with the same meaning. A
number means that the option means nothing there: the note says why, and so does the error.

Gates take rows or an evaluation; `validate` is given an estimator, `X` and `y`; the command of `permutation_test` is
`stakes permute`.

"""


def pages() -> dict[str, str]:
    """Return the page."""
    notes: list[str] = []
    shared = list(table("evaluate"))
    verbs = list(VERBS)
    rows = [f"| option | {' | '.join(f'`{verb}`' for verb in verbs)} |", f"|---|{'---|' * len(verbs)}"]
    for group in GROUPS:
        for name in shared:
            if table("evaluate")[name].group == group:
                cells = [_cell(verb, name, notes) for verb in verbs]
                rows.append(f"| `{name}` | {' | '.join(cells)} |")
    listed = "\n".join(f"{number}. {note}" for number, note in enumerate(notes, 1))
    own = "\n".join(_own(verb) for verb in TABLES if set(options(verb)) - set(shared))
    words = "\n".join(_row(name, find(name)) for name in shared)
    return {
        "options.md": f"{_HEAD}{chr(10).join(rows)}\n\n{listed}\n\n## What they mean\n\n{_TABLE}{words}\n\n"
        f"## What single verbs ask beside\n\n{own}"
    }


_TABLE = "| in Python | on the command line | default | |\n|---|---|---|---|\n"


def _cell(verb: str, name: str, notes: list[str]) -> str:
    if name not in table(verb):
        return "its own"
    if name in options(verb):
        return "●"
    why = str(MEANS_NOTHING[verb][name])
    if why not in notes:
        notes.append(why)
    return str(notes.index(why) + 1)


def _own(verb: str) -> str:
    rows = [_row(name, option) for name, option in options(verb).items() if name not in table("evaluate")]
    return f"**{verb}**\n\n{_TABLE}" + "\n".join(rows) + "\n"


def _row(name: str, option: Option | None) -> str:
    assert option is not None
    if not option.typed:
        return f"| `{name}` | – | {'' if option.default is None else f'`{option.default!r}`'} | {option.help} |"
    typed = f"--{(option.spelled or name).replace('_', '-')}"
    if option.form == "switch":
        typed = " / ".join(f"--{word}" for word in option.of)
    if option.form == "costs":
        typed = f"{typed} FILE, or --miss COST --false-alarm COST"
    usual = "" if option.default is None else f"`{option.default!r}`"
    return f"| `{name}` | `{typed}` | {usual} | {option.help.replace('|', '/')} |"
