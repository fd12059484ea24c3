"""Rows of the settings table, for documentation and parsing: settings of Holdfast, then of plugins."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import Any, Protocol

from msgspec import Struct, structs

from holdfast.errors import SettingsError
from holdfast.settings.table import NO_ROWS, Settings
from holdfast.settings.values import KINDS

__all__ = ["PREFIX", "DeclaredSetting", "SettingDescription", "describe_settings", "parse_value"]

PREFIX = "HOLDFAST_"


class SettingDescription(Struct, frozen=True, kw_only=True):
    """One row of the settings table."""

    name: str
    type: Any
    default: Any
    description: str
    least: int | None = None

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def allowed(self) -> str:
        """Description of the allowed values."""
        if isinstance(self.type, type) and issubclass(self.type, StrEnum):
            return "one of " + ", ".join(self.type)
        words = KINDS[self.type].words
        return words if self.least is None else f"{words}, at least {self.least:_}"


class DeclaredSetting(Protocol):
    """A setting of a plugin."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> type: ...
    @property
    def default(self) -> Any: ...
    @property
    def description(self) -> str: ...


def describe_settings(declared: Iterable[DeclaredSetting] = ()) -> tuple[SettingDescription, ...]:
    """All rows: settings of Holdfast, then of plugins."""
    return (*_own_rows(), *(_plugin_row(item) for item in declared))


@cache
def _own_rows() -> tuple[SettingDescription, ...]:
    """Cached: reading the annotations dominated the time to create an engine."""
    hints = typing.get_type_hints(Settings, include_extras=True)
    return tuple(_own_row(item, hints[item.name]) for item in structs.fields(Settings) if item.name not in NO_ROWS)


def _own_row(item: structs.FieldInfo, hint: Any) -> SettingDescription:
    bare, meta = typing.get_args(hint)
    return SettingDescription(
        name=item.name, type=bare, default=item.default, description=meta.description, least=meta.ge
    )


def _plugin_row(item: DeclaredSetting) -> SettingDescription:
    if item.type not in KINDS and not (isinstance(item.type, type) and issubclass(item.type, StrEnum)):
        known = ", ".join(sorted(kind.__name__ for kind in KINDS))
        raise SettingsError(
            f"The setting '{item.name}' has the type {item.type!r}. A setting may be {known} or a StrEnum."
        )
    return SettingDescription(name=item.name, type=item.type, default=item.default, description=item.description)


def parse_value(row: SettingDescription, value: Any) -> Any:
    if isinstance(row.type, type) and issubclass(row.type, StrEnum):
        return row.type(value)
    parsed = KINDS[row.type].parse(value)
    if row.least is not None and parsed < row.least:
        raise ValueError(value)
    return parsed
