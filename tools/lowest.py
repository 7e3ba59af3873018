"""Print the lowest version of everything that pyproject.toml names, as constraints for pip (``make test-lowest``)."""

import re
import tomllib
from pathlib import Path
from typing import Any

_BOUNDED = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>\d[\d.]*)")


def requirements(project: dict[str, Any]) -> list[str]:
    """Everything that the file asks for: to build, to run, extras and groups."""
    described = project["project"]
    lists = [project["build-system"]["requires"], described["dependencies"]]
    lists += described["optional-dependencies"].values()
    lists += project["dependency-groups"].values()
    return [one for some in lists for one in some if isinstance(one, str)]  # the rest are groups within groups


def constraints(project: dict[str, Any]) -> list[str]:
    """What pip has to keep to, so that exactly the lower bounds are installed."""
    return sorted({_lowest(one) for one in requirements(project)})


def _lowest(requirement: str) -> str:
    found = _BOUNDED.fullmatch(requirement)
    if found is None:
        raise SystemExit(f"pyproject.toml: {requirement!r} has no lower bound; write name>=version")
    return f"{found['name']}=={found['version']}"


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(constraints(tomllib.loads(text))))
