"""Collected problems and shared context of reading one document."""

from __future__ import annotations

from typing import Any

from holdfast.errors import InvalidState, UnknownValueType, UnstorableText
from holdfast.model.problem import Problem, Severity
from holdfast.model.storable_text import is_storable
from holdfast.model.values import TypeRegistry, decode

__all__ = ["Findings"]


class Findings:
    """Problems so far, ids in use, and whether the document is trusted."""

    __slots__ = ("problems", "trusted", "types", "used_ids")

    def __init__(self, types: TypeRegistry | None, *, trusted: bool, used_ids: set[str]) -> None:
        self.problems: list[Problem] = []
        self.types = types
        self.trusted = trusted
        """The document comes from the code provider of this process and may contain `$code`."""
        self.used_ids = used_ids

    def add(self, path: str, code: str, message: str, remedy: str, severity: Severity = Severity.ERROR) -> None:
        self.problems.append(Problem(path=path, code=code, message=message, remedy=remedy, severity=severity))

    def wrong_kind(self, path: str, what: str, wanted: str, got: object) -> None:
        self.add(path, "wrong-kind", f"{what} must be {wanted}, not {kind_of(got)}.", f"Write {wanted} here.")

    def storable(self, text: str, what: str, path: str) -> None:
        """Report a text that a database column cannot store."""
        if not is_storable(text):
            self.add(path, "unstorable-text", UnstorableText(text, what).finding, "Remove the character.")

    def literal(self, raw: Any, path: str) -> Any:
        """A value with its type tags resolved; on failure the raw data, with a problem."""
        try:
            return decode(raw, self.types)
        except (UnknownValueType, InvalidState) as error:
            self.add(
                path,
                "invalid-value",
                str(error),
                'Correct the value. Write an object that only looks like a typed value as {"$t": "dict", "v": [[key, '
                "value], …]}.",
            )
            return raw

    def id_for(self, type_name: str) -> str:
        """An unused id derived from the activity's type: WriteLine1, WriteLine2, …"""
        short = type_name.replace(":", ".").rpartition(".")[2]
        base = "".join(char for char in short if char.isalnum() or char in "_-") or "Activity"
        number = 1
        while f"{base}{number}" in self.used_ids:
            number += 1
        self.used_ids.add(f"{base}{number}")
        return f"{base}{number}"


def kind_of(value: object) -> str:
    """Name of the JSON type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else type(value).__name__
