"""Every setting in one table, and where its value comes from.

    arguments of Holdfast(…)  >  HOLDFAST_… in the environment  >  holdfast.toml  >  the default

A name that does not exist and a value that makes no sense are refused, wherever they stand and even if a stronger place
overrules them: all of them at once, each with what is allowed. `docs/reference/settings.md` is written from this table.
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
