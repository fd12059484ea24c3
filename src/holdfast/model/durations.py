"""Durations as text: ISO 8601 (`P1DT2H`) and the clock forms `hh:mm:ss` and `d.hh:mm:ss`."""

from __future__ import annotations

import re
from datetime import timedelta

__all__ = ["format_duration", "parse_duration"]

_ISO = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<weeks>\d{1,9})W)?(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,12})(?:[.,](?P<fraction>\d{1,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?P<sign>[+-])?(?:(?P<days>\d{1,9})\.)?(?P<hours>\d{1,9}):(?P<minutes>\d{1,2})"
    r"(?::(?P<seconds>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?",
    re.ASCII,
)
_REMEDY = "Write it as ISO 8601 ('PT30S', 'P1DT2H') or as 'hh:mm:ss' or 'd.hh:mm:ss'."


def parse_duration(text: str) -> timedelta:
    """Raises ValueError with the remedy. Years and months are refused: they have no fixed length."""
    stripped = text.strip()
    found = _ISO.fullmatch(stripped) if stripped.rstrip("PpTt+-") else None
    found = found or _CLOCK.fullmatch(stripped)
    if found is None or stripped[-1] in "Tt":
        raise ValueError(f"'{text}' is not a duration. {_REMEDY}")
    parts = {name: int(value) for name, value in found.groupdict().items() if value and value.isdigit()}
    micros = int((found["fraction"] or "0").ljust(6, "0")[:6])
    parts.pop("fraction", None)
    try:
        length = timedelta(microseconds=micros, **parts)
        return -length if found["sign"] == "-" else length
    except OverflowError:
        raise ValueError(f"'{text}' is too long for a duration. {_REMEDY}") from None


def format_duration(length: timedelta) -> str:
    """ISO 8601, exact to the microsecond."""
    sign = "-" if length < timedelta(0) else ""
    micros = abs(length.days * 86_400_000_000 + length.seconds * 1_000_000 + length.microseconds)
    days, micros = divmod(micros, 86_400_000_000)
    hours, micros = divmod(micros, 3_600_000_000)
    minutes, micros = divmod(micros, 60_000_000)
    seconds, micros = divmod(micros, 1_000_000)
    second = f"{seconds}.{micros:06d}".rstrip("0") if micros else str(seconds)
    clock = "".join(
        (f"{hours}H" if hours else "", f"{minutes}M" if minutes else "", f"{second}S" if second != "0" else "")
    )
    day = f"{days}D" if days else ""
    return f"{sign}P{day}{'T' + clock if clock else ''}" if day or clock else "PT0S"
