"""TOML files: what they say, or one line about why they cannot be read."""

from typing import Any

from stakes import errors
from stakes.tallies.checks import as_path

_LARGEST = 1_000_000


def read_toml(path: Any) -> dict[str, Any]:
    """Return what a TOML file says."""
    import tomllib  # only files need it

    file = as_path("path", path)
    try:
        if file.stat().st_size > _LARGEST:
            raise errors.unreadable_file(str(path), f"it has more than {_LARGEST:,} bytes, so it is no list of words")
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except errors.InputError:
        raise
    except FileNotFoundError:
        raise errors.no_such_file(str(path)) from None
    except RecursionError:
        raise errors.unreadable_file(str(path), "it is nested too deep") from None
    except (OSError, ValueError) as problem:  # no UTF-8, no TOML, or a number of thousands of digits
        raise errors.unreadable_file(str(path), str(problem).partition(";")[0]) from None
