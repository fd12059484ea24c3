"""Text representation of values, equal on every machine."""

from __future__ import annotations

from base64 import b64encode
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec

from holdfast.model.durations import format_duration
from holdfast.model.values import shown

__all__ = ["to_text"]


def to_text(value: Any) -> str:
    """Scalars in their usual notation, everything else as JSON."""
    if isinstance(value, Enum):
        return value.value if isinstance(value.value, str) else value.name
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else str(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, (dict, list, tuple)):
        return msgspec.json.encode(shown(value)).decode()
    return str(value)
