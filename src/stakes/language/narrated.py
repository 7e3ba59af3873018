"""Findings of results."""

from functools import cached_property
from typing import TYPE_CHECKING

from stakes.results import Door, Shown

if TYPE_CHECKING:
    from stakes.language.sentences import Finding


class Narrated(Shown):
    """A result on which there is a verdict."""

    @cached_property
    def findings(self) -> "tuple[Finding, ...]":
        """What is to be said: answers to plain questions, the worst first, and what to keep in mind."""
        found: tuple[Finding, ...] = Door.find("findings_of")(self)
        return found
