"""Loader of settings: merges all sources and reports problems."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from holdfast.errors import SettingsError
from holdfast.settings.rows import PREFIX, DeclaredSetting, SettingDescription, describe_settings, parse_value
from holdfast.settings.table import NO_ROWS, Settings

__all__ = ["load_settings"]

FILE = "holdfast.toml"
FILE_VARIABLE = "HOLDFAST_CONFIG"
TEST_PREFIX = "HOLDFAST_TEST_"
"""Prefix of variables of test suites, which are never settings."""
NO_SETTINGS = frozenset({FILE_VARIABLE, "HOLDFAST_API_KEY", "HOLDFAST_REQUIRE_SERVICES"})
"""Further variables that are not settings: the path of the settings file, the API key of operator commands (which may be set on
a server too), and a switch of the test suite."""
_SERVICE_LINK = re.compile(
    r"_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$"
)
"""Variables that Kubernetes sets in every container for each Service, such as a Service named `holdfast`."""


def load_settings(
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    declared: Iterable[DeclaredSetting] = (),
) -> Settings:
    """The effective settings from all sources.

    Without `file`, read the file that HOLDFAST_CONFIG names, or `holdfast.toml` in the working directory if it exists.
    """
    environment = os.environ if environment is None else environment
    table = {row.name: row for row in describe_settings(declared)}
    problems: list[str] = []
    chosen = _read(_from_file(file, environment), table, problems)
    chosen |= _read(_from_environment(environment), table, problems)
    chosen |= _read([(name, name, value) for name, value in (arguments or {}).items()], table, problems)
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise SettingsError(f"The settings have {len(problems)} problem(s):\n{listed}")
    values = {name: row.default for name, row in table.items()} | chosen
    own = set(Settings.__struct_fields__) - NO_ROWS
    return Settings(
        **{name: value for name, value in values.items() if name in own},
        plugins={name: value for name, value in values.items() if name not in own},
        chosen=frozenset(chosen),
    )


Written = tuple[str, str, Any]
"""Source for messages, name of the setting, value as written."""


def _from_file(file: Path | None, environment: Mapping[str, str]) -> list[Written]:
    named = file or (Path(environment[FILE_VARIABLE]) if FILE_VARIABLE in environment else None)
    path = named or Path(FILE)
    if not path.is_file():
        if named is None:
            return []
        raise SettingsError(f"There is no settings file '{path}'. Correct the path or remove {FILE_VARIABLE}.")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file '{path}' is not TOML: {error}.") from error
    return [(f"{path.name}: {name}", name, value) for name, value in document.items()]


def _from_environment(environment: Mapping[str, str]) -> list[Written]:
    return [
        (variable, variable.removeprefix(PREFIX).lower(), value)
        for variable, value in sorted(environment.items())
        if variable.startswith(PREFIX) and not _is_no_setting(variable, value)
    ]


def _is_no_setting(variable: str, value: str) -> bool:
    if variable in NO_SETTINGS or variable.startswith(TEST_PREFIX):
        return True
    is_address = variable.endswith("_PORT") and "://" in value
    return is_address or _SERVICE_LINK.search(variable) is not None


def _read(written: Iterable[Written], table: Mapping[str, SettingDescription], problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for place, name, value in written:
        row = table.get(name)
        if row is None:
            close = difflib.get_close_matches(name, table, n=1)
            guess = f" Did you mean '{close[0]}'?" if close else f" Known settings: {', '.join(sorted(table))}."
            problems.append(f"{place}: there is no setting '{name}'.{guess}")
            continue
        try:
            values[name] = parse_value(row, value)
        except (ValueError, TypeError, OverflowError):
            problems.append(f"{place}: {value!r} is not allowed. '{name}' takes {row.allowed}.")
    return values
