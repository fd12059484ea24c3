"""Reader of CHANGELOG.md: releases, newest first, each with entries under known headings."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

UNRELEASED = "Unreleased"
HEADINGS = ("Breaking", "Added", "Changed", "Fixed")
"""The headings of a release, in their order."""
_RELEASE = re.compile(r"## (?:(?P<version>\d+\.\d+\.\d+\S*) - (?P<day>\d{4}-\d\d-\d\d)|Unreleased)")


class ChangelogError(ValueError):
    """A line of the change log that has not the agreed form."""


@dataclass
class Release:
    name: str
    """A version, or `Unreleased`."""
    day: date | None
    entries: dict[str, list[str]] = field(default_factory=dict)
    """The first line of each entry, by heading."""

    @property
    def version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.name.partition("-")[0].split("."))


def releases(path: Path) -> list[Release]:
    """Raises `ChangelogError` with the number of the line."""
    found: list[Release] = []
    heading = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("## "):
            match = _RELEASE.fullmatch(line)
            if match is None:
                raise ChangelogError(f"line {number}: write `## {UNRELEASED}` or `## 1.2.3 - 2030-01-31`, not `{line}`")
            day = date.fromisoformat(match["day"]) if match["day"] else None
            found.append(Release(match["version"] or UNRELEASED, day))
            heading = ""
        elif line.startswith("### "):
            heading = line.removeprefix("### ")
            if heading not in HEADINGS:
                raise ChangelogError(f"line {number}: use one of {', '.join(HEADINGS)}, not `{heading}`")
            if not found or heading in found[-1].entries:
                raise ChangelogError(f"line {number}: `{heading}` needs a release above it and may stand there once")
            found[-1].entries[heading] = []
        elif line.startswith("- "):
            if not heading:
                raise ChangelogError(f"line {number}: an entry needs a heading above it ({', '.join(HEADINGS)})")
            found[-1].entries[heading].append(line.removeprefix("- "))
    return found
