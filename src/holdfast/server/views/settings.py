"""Effective settings, with secrets masked."""

from __future__ import annotations

import typing
from datetime import timedelta
from enum import Enum
from typing import Any

from holdfast.engine import Holdfast
from holdfast.model.durations import format_duration
from holdfast.server.schemas.operations import SettingItem
from holdfast.settings import MASK, Settings, describe_settings, masked_address


def effective(engine: Holdfast) -> list[SettingItem]:
    secret = secret_names()
    settings = engine.settings
    found = []
    for row in describe_settings(engine.registry.settings):
        value = getattr(settings, row.name) if row.name in Settings.__struct_fields__ else settings[row.name]
        hidden = row.name in secret or any(word in row.name for word in ("password", "secret", "token_key"))
        found.append(
            SettingItem(
                name=row.name,
                variable=row.variable,
                value=(MASK if value else "") if hidden else shown(value),
                default=shown(row.default),
                description=row.description,
                allowed=row.allowed,
                secret=hidden,
            )
        )
    return found


def secret_names() -> frozenset[str]:
    hints = typing.get_type_hints(Settings, include_extras=True)
    return frozenset(
        name
        for name, hint in hints.items()
        for meta in getattr(hint, "__metadata__", ())
        if (getattr(meta, "extra", None) or {}).get("secret")
    )


def shown(value: Any) -> Any:
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return masked_address(value)
    return value
