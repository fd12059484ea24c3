"""Every setting: its name, its type, its default and what it is for."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct

__all__ = ["History", "JournalMode", "LogFormat", "LogLevel", "Settings"]


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
    docs_dir: Annotated[
        str,
        Meta(
            description="Folder of a built documentation site (`make site`), served under `/docs` without sign-in. Empty: not "
            "served."
        ),
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
    step_limits: Annotated[
        str, Meta(description="Limits of queues, per worker: `gpu=2, mail=8@10/s, mail/customer=2`.")
    ] = ""
    cluster_limits: Annotated[str, Meta(description="The same for all workers of a tenant together.")] = ""
    step_concurrency: Annotated[int, Meta(ge=1, description="Steps that one worker runs at a time.")] = 32
    drain_limit: Annotated[
        timedelta, Meta(description="How long a worker that is told to stop waits for what it has in hand.")
    ] = timedelta(seconds=30)
    probe: Annotated[
        str,
        Meta(
            description="Where `holdfast worker` answers `/health/live`, `/health/ready` and `/metrics`: `PORT` (of 127.0.0.1) "
            "or `HOST:PORT`. Empty: nowhere."
        ),
    ] = ""
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
