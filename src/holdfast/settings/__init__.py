"""Settings: one table of names, types and defaults, and the loader that resolves values in this order:

    arguments of Holdfast(…)  >  HOLDFAST_… in the environment  >  holdfast.toml  >  the default

Unknown names and invalid values are refused in every source, even if a source of higher precedence overrides them. All problems
are reported at once, with the allowed values. `docs/reference/settings.md` is generated from the table.
"""

from __future__ import annotations

from holdfast.settings.addresses import MASK, masked_address
from holdfast.settings.loader import load_settings
from holdfast.settings.rows import DeclaredSetting, SettingDescription, describe_settings
from holdfast.settings.table import History, JournalMode, LogFormat, LogLevel, Settings
from holdfast.settings.values import parse_duration

__all__ = [
    "MASK",
    "DeclaredSetting",
    "History",
    "JournalMode",
    "LogFormat",
    "LogLevel",
    "SettingDescription",
    "Settings",
    "describe_settings",
    "load_settings",
    "masked_address",
    "parse_duration",
]
