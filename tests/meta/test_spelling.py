"""Names and documents use American spelling."""

from __future__ import annotations

import re
from pathlib import Path

BRITISH = re.compile(
    r"(?i)\w*(?:behaviour|colour|favour|honour|neighbour|catalogue|cancelling|travell(?:ed|er|ing)|labelled|modelling"
    r"|(?:author|capital|custom|general|initial|local|minim|normal|optim|organ|priorit|recogn|serial|special|summar|synchron)"
    r"is(?:e|ed|er|es|ing|ation))\b"
)
ALLOWED = frozenset({"Prioritised", "can_prioritise", "catalogue"})
"""Old names, for the hints at the new ones; a folder in the sources of the Studio."""


def sources(root: Path) -> list[Path]:
    documents = [path for path in (root / "docs").rglob("*.md") if "adr" not in path.parts and "site" not in path.parts]
    code = [path for path in (root / "src").rglob("*.py*") if path.suffix in {".py", ".pyi"}]
    return [*documents, *code, root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md"]


def test_spelling_is_american(root: Path) -> None:
    found = [
        (str(path.relative_to(root)), number, word)
        for path in sources(root)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for word in BRITISH.findall(line)
        if word not in ALLOWED
    ]

    assert not found
