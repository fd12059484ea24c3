"""Where the values come from, and what is refused."""

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
from holdfast.settings.table import Settings

__all__ = ["load_settings"]

FILE = "holdfast.toml"
FILE_VARIABLE = "HOLDFAST_CONFIG"
TEST_PREFIX = "HOLDFAST_TEST_"
"""Names of test suites, ours and our users'; never settings."""
NO_SETTINGS = frozenset({FILE_VARIABLE, "HOLDFAST_API_KEY", "HOLDFAST_REQUIRE_SERVICES"})
"""Further names of the environment that are no settings: where the file is, the key of operators' commands (which may be set
where a server runs, too), and what tests must find."""
_SERVICE_LINK = re.compile(
    r"_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$"
)
"""What Kubernetes puts into every container for each of its Services, such as one named `holdfast` or `holdfast-worker`."""


def load_settings(
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    declared: Iterable[DeclaredSetting] = (),
) -> Settings:
    """The settings that hold, from all four places.

    Without `file` it is the one that HOLDFAST_CONFIG names, or `holdfast.toml` here, if there is one.
    """
    environment = os.environ if environment is None else environment
    table = {row.name: row for row in describe_settings(declared)}
    problems: list[str] = []
    values: dict[str, Any] = {name: row.default for name, row in table.items()}
    values |= _read(_from_file(file, environment), table, problems)
    values |= _read(_from_environment(environment), table, problems)
    values |= _read([(name, name, value) for name, value in (arguments or {}).items()], table, problems)
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise SettingsError(f"The settings have {len(problems)} problem(s):\n{listed}")
    own = {name for name in Settings.__struct_fields__ if name != "plugins"}
    return Settings(
        **{name: value for name, value in values.items() if name in own},
        plugins={name: value for name, value in values.items() if name not in own},
    )


Written = tuple[str, str, Any]
"""Where it is written (for messages), the setting's name, the value as written."""


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
            guess = f" Did you mean '{close[0]}'?" if close else f" There are: {', '.join(sorted(table))}."
            problems.append(f"{place}: there is no setting '{name}'.{guess}")
            continue
        try:
            values[name] = parse_value(row, value)
        except (ValueError, TypeError, OverflowError):
            problems.append(f"{place}: {value!r} is not allowed. '{name}' takes {row.allowed}.")
    return values
