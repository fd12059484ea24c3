"""Findings of the doctor."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    OK = "ok"
    HINT = "hint"
    """It works, but could be better or is worth knowing."""
    WRONG = "wrong"


class Finding(Struct, frozen=True, kw_only=True):
    subject: str
    """The checked part: `database`, `schema`, `clock` …"""
    level: Level = Level.OK
    message: str
    remedy: str = ""
