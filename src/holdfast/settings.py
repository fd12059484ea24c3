"""Every setting in one table, and where its value comes from.

    arguments of Holdfast(…)  >  HOLDFAST_… in the environment  >  holdfast.toml  >  the default

A name that does not exist and a value that makes no sense are refused, wherever they stand and even if a stronger place
overrules them: all of them at once, each with what is allowed. `docs/reference/settings.md` is written from this table.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
import typing
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol

from msgspec import Meta, Struct, structs

from holdfast.errors import SettingsError
from holdfast.model import durations

PREFIX = "HOLDFAST_"
FILE = "holdfast.toml"
FILE_VARIABLE = "HOLDFAST_CONFIG"
TEST_PREFIX = "HOLDFAST_TEST_"
"""Names of test suites, ours and our users'; never settings."""
NO_SETTINGS = frozenset({FILE_VARIABLE, "HOLDFAST_REQUIRE_SERVICES"})
"""Further names of the environment that are no settings: where the file is, and what tests must find."""


class JournalMode(StrEnum):
    """What the journal keeps of an activity."""

    INCLUDE = "include"
    EXCLUDE = "exclude"
    OFF = "off"


class LogFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class History(StrEnum):
    """What is kept of an instance's past."""

    JOURNAL = "journal"
    SNAPSHOTS = "snapshots"


# -- the table ---------------------------------------------------------------------------------------------------------


class Settings(Struct, frozen=True, kw_only=True):
    segment_time: Annotated[
        timedelta, Meta(description="A segment is cut after this long, so that others get their turn.")
    ] = timedelta(milliseconds=5)
    segment_activities: Annotated[int, Meta(ge=1, description="A segment is cut after this many activities.")] = 5_000
    runaway_activities: Annotated[
        int,
        Meta(ge=1, description="After this many activities without a bookmark or effect: the incident `runaway`."),
    ] = 1_000_000
    threads_max: Annotated[int, Meta(ge=1, description="Threads for effects that are not async functions.")] = 32
    processes_max: Annotated[int, Meta(ge=1, description="Processes for effects declared with `cpu=True`.")] = 2
    cancel_grace: Annotated[
        timedelta,
        Meta(description="How long a canceled or timed-out effect may take to clean up before it is left alone."),
    ] = timedelta(seconds=10)
    journal: Annotated[
        JournalMode, Meta(description="Which values the journal keeps where neither workflow nor activity says.")
    ] = JournalMode.INCLUDE
    history: Annotated[
        History,
        Meta(description="`snapshots` also keeps the state of each commit: to look back, and to fork from a moment."),
    ] = History.JOURNAL
    store: Annotated[str, Meta(description="Where instances are kept: the address of a store.")] = (
        "sqlite:///holdfast.db"
    )
    store_retries: Annotated[
        int, Meta(ge=0, description="How often a transient error of the store is tried again.")
    ] = 3
    store_retry_delay: Annotated[
        timedelta, Meta(description="The first wait before that; it doubles each time, with jitter.")
    ] = timedelta(milliseconds=500)
    encryption_keys: Annotated[
        str,
        Meta(
            description="Keys for payloads at rest as `name:base64 of 32 bytes`, separated by commas: the first encrypts, "
            "all decrypt. Empty: no encryption.",
            extra={"secret": True},
        ),
    ] = ""
    deployment: Annotated[
        str,
        Meta(
            description="The name of this deployment: workflows written in code are published once per deployment. Empty: "
            "when their content is first seen."
        ),
    ] = ""
    python_steps: Annotated[int, Meta(ge=1_000, description="Steps that one Python expression or script may take.")] = (
        2_000_000
    )
    liquid_steps: Annotated[int, Meta(ge=1_000, description="Steps that one Liquid template may take.")] = 1_000_000
    javascript_time: Annotated[timedelta, Meta(description="How long one JavaScript expression or script may run.")] = (
        timedelta(milliseconds=500)
    )
    javascript_memory: Annotated[
        int, Meta(ge=1_000_000, description="How many bytes one JavaScript expression or script may use.")
    ] = 33_554_432
    admin_password: Annotated[
        str,
        Meta(
            description="Password of the first admin, made when a server starts on a store without users. Empty: one is "
            "made up and printed once.",
            extra={"secret": True},
        ),
    ] = ""
    auth_secret: Annotated[
        str,
        Meta(
            description="Signs access tokens and resume links; at least 32 characters. Empty: made once and kept in the "
            "store.",
            extra={"secret": True},
        ),
    ] = ""
    access_token_time: Annotated[timedelta, Meta(description="How long an access token is good.")] = timedelta(
        minutes=15
    )
    refresh_token_time: Annotated[
        timedelta, Meta(description="A session ends when it was not refreshed for this long.")
    ] = timedelta(days=30)
    resume_link_time: Annotated[timedelta, Meta(description="How long a link that resumes a bookmark is good.")] = (
        timedelta(days=7)
    )
    public_url: Annotated[
        str, Meta(description="How others reach this server, for links in messages: `https://host/base`.")
    ] = "http://127.0.0.1:8600"
    request_bytes_max: Annotated[
        int, Meta(ge=1_000, description="How many bytes the body of a request to `/api` may have.")
    ] = 10_000_000
    execute_wait: Annotated[
        timedelta, Meta(description="How long `/execute` waits for an instance before it answers 202.")
    ] = timedelta(seconds=30)
    cors_origins: Annotated[
        str, Meta(description="Origins whose pages may use the API, separated by commas; `*` allows all. Empty: none.")
    ] = ""
    node_alive: Annotated[timedelta, Meta(description="How long a node is alive by one heartbeat.")] = timedelta(
        seconds=30
    )
    node_beat: Annotated[timedelta, Meta(description="How often a node renews its heartbeat.")] = timedelta(seconds=10)
    node_sweep: Annotated[timedelta, Meta(description="How often a worker looks for lost work.")] = timedelta(seconds=5)
    transport: Annotated[
        str,
        Meta(
            description="What carries steps: the address of a broker, or `database`, the store's own work table.",
            extra={"secret": True},
        ),
    ] = "database"
    effects_queue: Annotated[str, Meta(description="Queue of effects that name none; `inline`: run at once.")] = (
        "inline"
    )
    queues: Annotated[str, Meta(description="Queues that this node serves when it takes work, with commas.")] = (
        "default"
    )
    step_limits: Annotated[str, Meta(description="Limits of queues, per worker: `gpu=2, mail=8@10/s`.")] = ""
    cluster_limits: Annotated[str, Meta(description="The same for all workers of a tenant together.")] = ""
    step_concurrency: Annotated[int, Meta(ge=1, description="Steps that one worker runs at a time.")] = 32
    drain_limit: Annotated[
        timedelta, Meta(description="How long a worker that is told to stop waits for what it has in hand.")
    ] = timedelta(seconds=30)
    http_private_allowed: Annotated[
        str,
        Meta(
            description="Private addresses and networks that workflows may call, separated by commas; `*` allows all. Empty: "
            "public addresses only."
        ),
    ] = ""
    http_wait: Annotated[
        timedelta, Meta(description="How long a request to a workflow waits for its answer before it hears 202.")
    ] = timedelta(seconds=30)
    http_request_size_max: Annotated[
        int, Meta(ge=0, description="Bytes that a request to a workflow may have, where its endpoint does not say.")
    ] = 10_485_760
    event_outlets: Annotated[
        str,
        Meta(
            description="Where lifecycle events of instances go, separated by commas: addresses of webhooks (`https://…`) and "
            "brokers (`amqp://…`, `nats://…`, `redis://…`). Empty: nowhere.",
            extra={"secret": True},
        ),
    ] = ""
    event_names: Annotated[
        str, Meta(description="Which events go there, separated by commas, such as `instance.faulted`. Empty: all.")
    ] = ""
    event_secret: Annotated[
        str, Meta(description="Signs what is posted to webhooks. Empty: not signed.", extra={"secret": True})
    ] = ""
    log_format: Annotated[
        LogFormat, Meta(description="How `serve` and `worker` write their log: lines of words, or JSON.")
    ] = LogFormat.TEXT
    log_level: Annotated[
        LogLevel, Meta(description="From which level on `serve` and `worker` write their log, events included.")
    ] = LogLevel.WARNING
    plugins: Mapping[str, Any] = {}
    """Values of the settings that plugins added, by name."""

    def __getitem__(self, name: str) -> Any:
        """A plugin's setting."""
        return self.plugins[name]


class SettingDescription(Struct, frozen=True, kw_only=True):
    """One row of the table, for documents and for reading values."""

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
        """What may be written, in words."""
        if isinstance(self.type, type) and issubclass(self.type, StrEnum):
            return "one of " + ", ".join(self.type)
        words = _KINDS[self.type].words
        return words if self.least is None else f"{words}, at least {self.least:_}"


class DeclaredSetting(Protocol):
    """A setting that a plugin adds."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> type: ...
    @property
    def default(self) -> Any: ...
    @property
    def description(self) -> str: ...


def describe_settings(declared: Iterable[DeclaredSetting] = ()) -> tuple[SettingDescription, ...]:
    """The table: our own settings, then those of plugins."""
    hints = typing.get_type_hints(Settings, include_extras=True)
    own = [_own_row(item, hints[item.name]) for item in structs.fields(Settings) if item.name != "plugins"]
    return (*own, *(_plugin_row(item) for item in declared))


def _own_row(item: structs.FieldInfo, hint: Any) -> SettingDescription:
    bare, meta = typing.get_args(hint)
    return SettingDescription(
        name=item.name, type=bare, default=item.default, description=meta.description, least=meta.ge
    )


def _plugin_row(item: DeclaredSetting) -> SettingDescription:
    if item.type not in _KINDS and not (isinstance(item.type, type) and issubclass(item.type, StrEnum)):
        known = ", ".join(sorted(kind.__name__ for kind in _KINDS))
        raise SettingsError(
            f"The setting '{item.name}' has the type {item.type!r}. A setting may be {known} or a StrEnum."
        )
    return SettingDescription(name=item.name, type=item.type, default=item.default, description=item.description)


# -- reading -----------------------------------------------------------------------------------------------------------


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
        if variable.startswith(PREFIX) and variable not in NO_SETTINGS and not variable.startswith(TEST_PREFIX)
    ]


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
            values[name] = _parse(row, value)
        except (ValueError, TypeError, OverflowError):
            problems.append(f"{place}: {value!r} is not allowed. '{name}' takes {row.allowed}.")
    return values


# -- values ------------------------------------------------------------------------------------------------------------


def _parse(row: SettingDescription, value: Any) -> Any:
    if isinstance(row.type, type) and issubclass(row.type, StrEnum):
        return row.type(value)
    parsed = _KINDS[row.type].parse(value)
    if row.least is not None and parsed < row.least:
        raise ValueError(value)
    return parsed


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _flag(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in words:
        raise ValueError(value)
    return words[value.lower()]


_UNITS = {"us": "microseconds", "ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SHORT = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|m|h|d)")


def parse_duration(value: Any) -> timedelta:
    """`5ms`, `10s`, `5m`, `2h`, `1d`, ISO 8601 without months and years, or a timedelta; above zero."""
    duration = value if isinstance(value, timedelta) else _written_duration(_text(value).strip())
    if duration <= timedelta(0):
        raise ValueError(value)
    return duration


def _written_duration(text: str) -> timedelta:
    short = _SHORT.fullmatch(text)
    if short:
        return timedelta(**{_UNITS[short["unit"]]: float(short["number"])})
    return durations.parse_duration(text)


class _Kind(Struct, frozen=True):
    words: str
    parse: Callable[[Any], Any]


_KINDS: Mapping[Any, _Kind] = {
    timedelta: _Kind("a duration such as 5ms, 10s, 5m, 2h, 1d or PT1M30S", parse_duration),
    int: _Kind("a whole number", _whole),
    float: _Kind("a number", _number),
    str: _Kind("text", _text),
    bool: _Kind("true or false", _flag),
}

__all__ = [
    "DeclaredSetting",
    "SettingDescription",
    "Settings",
    "describe_settings",
    "load_settings",
    "parse_duration",
]
