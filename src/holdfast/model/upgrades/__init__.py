"""Upgrades of documents in older formats, applied before reading.

Each format change is one file in this package, `to_2.py`, `to_3.py`, …, with a function `upgrade(document)` that takes a
document of the previous format and returns a new one. `CHAIN` lists the functions by the version they start from. A document
passes through all that it needs, in order. A document without `format` has the first format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.model.definition import FORMAT
from holdfast.model.problem import Problem

__all__ = ["CHAIN", "bring_up_to_date"]

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]

CHAIN: Mapping[int, Upgrade] = {}

_FAMILY, _, _CURRENT = FORMAT.rpartition("@")


def bring_up_to_date(
    document: dict[str, Any], *, chain: Mapping[int, Upgrade] = CHAIN, current: int = int(_CURRENT)
) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The document in the current format, or None with the reason."""
    version = _version_of(document.get("format", f"{_FAMILY}@1"))
    if version is None:
        return None, [_unknown_format(document["format"], current)]
    if version > current:
        return None, [_newer(version, current)]
    for step in range(version, current):
        try:
            document = chain[step](document)
        except Exception as error:  # noqa: BLE001 # see below
            # The document violates its format; the reader reports a problem instead of a traceback.
            return None, [_failed(step, error)]
    return document, []


def _version_of(text: object) -> int | None:
    if not isinstance(text, str):
        return None
    family, _, number = text.rpartition("@")
    is_number = number.isascii() and number.isdecimal() and len(number) <= 9
    return int(number) if family == _FAMILY and is_number and int(number) > 0 else None


def _unknown_format(text: object, current: int) -> Problem:
    return Problem(
        path="/format",
        code="unknown-format",
        message=f"The format {text!r} is unknown.",
        remedy=f"Write '{_FAMILY}@{current}', or leave 'format' out. 'holdfast convert' reads Elsa 3 documents.",
    )


def _newer(version: int, current: int) -> Problem:
    return Problem(
        path="/format",
        code="newer-format",
        message=f"The document has format version {version}; this release reads up to {current}.",
        remedy="Upgrade Holdfast, or export the definition from the newer release in an older format.",
    )


def _failed(step: int, error: Exception) -> Problem:
    return Problem(
        path="",
        code="upgrade-failed",
        message=f"The upgrade of the document from format {step} to {step + 1} failed: {error}.",
        remedy=f"Check that it is a complete document of '{_FAMILY}@{step}'.",
    )
