"""TOML files: what they say, or one line about why they cannot be read."""

from stakes import errors
from stakes.tallies.checks import as_path
from stakes.tallies.fields import Content

_LARGEST, _DEEPEST = 1_000_000, 1_000
"""Bytes of a file, and dots in a line: Python takes minutes over a name of very many parts."""


def read_toml(path: object) -> Content:
    """Return what a TOML file says."""
    import tomllib  # only files need it

    file = as_path("path", path)
    try:
        if file.stat().st_size > _LARGEST:
            raise errors.unreadable_file(str(path), f"it has more than {_LARGEST:,} bytes, so it is no list of words")
        text = file.read_text(encoding="utf-8")
        if max(line.count(".") for line in text.split("\n")) > _DEEPEST:
            raise RecursionError
        return tomllib.loads(text)
    except errors.InputError:
        raise
    except FileNotFoundError:
        raise errors.no_such_file(str(path)) from None
    except RecursionError:
        raise errors.unreadable_file(str(path), "it is nested too deep") from None
    except (OSError, ValueError) as problem:  # no UTF-8, no TOML, or a number of thousands of digits
        why = getattr(problem, "strerror", None) or str(problem).partition(";")[0]
        if isinstance(problem, tomllib.TOMLDecodeError) and text.lstrip().startswith(("{", "[{")):
            why = "it is JSON, and TOML is wanted; write lines like miss = 5 and false_alarm = 1"
        raise errors.unreadable_file(str(path), why) from None
