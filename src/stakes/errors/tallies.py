"""Tallies, added up and sent around."""

from stakes.errors import InputError, Pass, Text
from stakes.errors.words import short


def different_questions(what: str, left: object, right: object) -> InputError:
    one, other = (short(repr(value), 200) for value in (left, right))
    hint = Text(" (", Pass("classes"), " names classes that some part lacks)")
    return InputError(
        "different-questions",
        f"these tallies answer different questions: {what} is {one} in one and {other} in the other; count both with "
        "the same arguments",
        hint if "class" in what or "decision" in what else "",
    )


def tally_for_rows(name: str) -> InputError:
    return InputError(
        "tally-for-rows",
        f"{name} holds counts and no rows, which are needed here; give those, or hold new rows against counts: stakes "
        "gate FILE … --baseline old.tally --no-worse auc:0.02",
    )


def nothing_to_add() -> InputError:
    return InputError("nothing-to-add", "there are no tallies to add up; give at least one")


def not_a_tally(seen: str) -> InputError:
    return InputError("not-a-tally", f"expected the dictionary of a tally, got {seen}; count the rows again")


def unknown_version(tally: str, version: object, known: int) -> InputError:
    return InputError(
        "unknown-version",
        f"this {tally} was saved in version {short(repr(version))}, this stakes reads version {known}; update stakes, "
        "or count the rows again",
    )


def bad_counts(what: str) -> InputError:
    return InputError("bad-counts", f"these counts do not make a table: {what}")


def no_numbers_of_rows() -> InputError:
    return bad_counts("some are fractions, or more rows than there are of anything; count whole rows, or give weights")
