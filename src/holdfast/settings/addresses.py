"""Masking of credentials in the addresses of stores and brokers."""

from __future__ import annotations

import re

__all__ = ["MASK", "masked_address"]

MASK = "••••••"
_PASSWORD = re.compile(r"(?<=://)([^/@:?#\s]*):([^?#\s]*)@")
"""Matches up to the last @ before the options, since a password may contain @."""
_OPTION = re.compile(r"([?&][^=&#\s]*(?:password|passwd|secret|token)[^=&#\s]*=)[^&#\s]*", re.IGNORECASE)


def masked_address(text: str) -> str:
    return _OPTION.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1:{MASK}@", text))
