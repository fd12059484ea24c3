"""Problems in a document as data: position, finding and remedy."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Problem(Struct, frozen=True, kw_only=True):
    path: str
    """Position in the document as a JSON pointer such as `/root/activities/2/inputs/text`."""
    code: str
    """Stable code for searches: `unknown-type`, `duplicate-id`, …"""
    message: str
    remedy: str
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        return f"{self.path or '/'}: {self.message} {self.remedy}".rstrip()


def errors_in(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]
