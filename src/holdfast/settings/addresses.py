"""Addresses of stores and brokers as they may be shown: without what lets one in."""

from __future__ import annotations

import re

__all__ = ["MASK", "masked_address"]

MASK = "••••••"
_PASSWORD = re.compile(r"(?<=://)([^/@:?#\s]*):([^?#\s]*)@")
"""To the last @ before the options: passwords hold the odd one."""
_OPTION = re.compile(r"([?&][^=&#\s]*(?:password|passwd|secret|token)[^=&#\s]*=)[^&#\s]*", re.IGNORECASE)


def masked_address(text: str) -> str:
    return _OPTION.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1:{MASK}@", text))
