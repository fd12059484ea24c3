"""Table of settings: name, type, default and description."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct

__all__ = ["NO_ROWS", "History", "JournalMode", "LogFormat", "LogLevel", "Settings"]


class JournalMode(StrEnum):
    """Values of an activity that the journal records."""

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
    """History that is stored for an instance."""

    JOURNAL = "journal"
    SNAPSHOTS = "snapshots"


NO_ROWS = frozenset({"plugins", "chosen"})
"""Fields of `Settings` that are not settings."""

# -- the table ---------------------------------------------------------------------------------------------------------


class Settings(Struct, frozen=True, kw_only=True):
    segment_time: Annotated[
        timedelta, Meta(description="Maximum duration of a segment; then other instances get their turn.")
    ] = timedelta(milliseconds=5)
    segment_activities: Annotated[int, Meta(ge=1, description="Maximum number of activities in a segment.")] = 5_000
    runaway_activities: Annotated[
        int,
        Meta(ge=1, description="Activities without a bookmark or effect after which the incident `runaway` is raised."),
    ] = 1_000_000
    threads_max: Annotated[int, Meta(ge=1, description="Threads for effects that are not async functions.")] = 32
    processes_max: Annotated[int, Meta(ge=1, description="Processes for effects declared with `cpu=True`.")] = 2
    lanes: Annotated[
        int,
        Meta(
            ge=1,
            description="Lanes of a node: groups of instances that are executed and committed at the same time.",
        ),
    ] = 2
    cancel_grace: Annotated[
        timedelta,
        Meta(description="Time for a canceled or timed-out effect to clean up before it is abandoned."),
    ] = timedelta(seconds=10)
    journal: Annotated[
        JournalMode, Meta(description="Values that the journal records unless the workflow or activity states a mode.")
    ] = JournalMode.INCLUDE
    commit_strategy: Annotated[
        str,
        Meta(
            description="Commit strategy of workflows that name none, such as `activity_executed`. Empty: no commits are "
            "added."
        ),
    ] = ""
    history: Annotated[
        History,
        Meta(
            description="`snapshots` also stores the state of each commit, for time travel and for forks from a past state."
        ),
    ] = History.JOURNAL
    store: Annotated[str, Meta(description="Address of the store.")] = "sqlite:///holdfast.db"
    store_connections: Annotated[
        int,
        Meta(
            ge=0,
            description="Maximum number of connections of a process to its store, without those of the heartbeat. 0: the default "
            "of the store (PostgreSQL 18, MariaDB and MySQL 24, SQLite 4).",
        ),
    ] = 0
    store_retries: Annotated[int, Meta(ge=0, description="Retries of a store operation after a transient error.")] = 3
    store_retry_delay: Annotated[
        timedelta, Meta(description="Delay before the first retry; it doubles each time, with jitter.")
    ] = timedelta(milliseconds=500)
    encryption_keys: Annotated[
        str,
        Meta(
            description="Keys for payloads at rest as `name:base64 of 32 bytes`, separated by commas. The first key encrypts; "
            "all keys decrypt. Empty: no encryption.",
            extra={"secret": True},
        ),
    ] = ""
    deployment: Annotated[
        str,
        Meta(
            description="Name of this deployment. Workflows written in code are published once per deployment. Empty: they are "
            "published when their content is new."
        ),
    ] = ""
    python_steps: Annotated[int, Meta(ge=1_000, description="Maximum steps of one Python expression or script.")] = (
        2_000_000
    )
    liquid_steps: Annotated[int, Meta(ge=1_000, description="Maximum steps of one Liquid template.")] = 1_000_000
    javascript_time: Annotated[
        timedelta, Meta(description="Processor time of one JavaScript expression or script.")
    ] = timedelta(milliseconds=500)
    javascript_memory: Annotated[
        int, Meta(ge=1_000_000, description="Memory limit in bytes of one JavaScript expression or script.")
    ] = 33_554_432
    evaluation_processes: Annotated[
        int,
        Meta(ge=1, le=64, description="Maximum number of child processes that evaluate JavaScript and Liquid."),
    ] = 2
    watchdog: Annotated[
        timedelta,
        Meta(
            description="A server or worker whose event loop stands still for so long writes its stacks to standard error and "
            "ends; its supervisor starts it again. 0s: never. Other programs have no watchdog."
        ),
    ] = timedelta(seconds=60)
    admin_password: Annotated[
        str,
        Meta(
            description="Password of the first admin, who is created when a server starts on a store without users. Empty: a "
            "generated password is printed once.",
            extra={"secret": True},
        ),
    ] = ""
    auth_secret: Annotated[
        str,
        Meta(
            description="Signs access tokens and resume links; at least 32 characters. Empty: generated once and kept in the "
            "store.",
            extra={"secret": True},
        ),
    ] = ""
    sign_in_queue_max: Annotated[
        int, Meta(ge=1, description="Sign-ins that may wait for the verification of a password; further ones get 429.")
    ] = 16
    access_token_time: Annotated[timedelta, Meta(description="Lifetime of an access token.")] = timedelta(minutes=15)
    refresh_token_time: Annotated[
        timedelta, Meta(description="A session ends if it is not refreshed for this long.")
    ] = timedelta(days=30)
    api_key_time: Annotated[
        timedelta, Meta(description="Lifetime of an API key, unless an expiry is given when it is created.")
    ] = timedelta(days=365)
    resume_link_time: Annotated[timedelta, Meta(description="Lifetime of a link that resumes a bookmark.")] = timedelta(
        days=7
    )
    public_url: Annotated[
        str, Meta(description="Public address of this server, for links in messages: `https://host/base`.")
    ] = "http://127.0.0.1:8600"
    request_bytes_max: Annotated[
        int, Meta(ge=1_000, description="Maximum size in bytes of a request body of `/api`.")
    ] = 10_000_000
    anonymous_request_bytes_max: Annotated[
        int, Meta(ge=1_000, description="Maximum size in bytes of a request body of `/api` without sign-in.")
    ] = 1_000_000
    request_head_bytes_max: Annotated[
        int, Meta(ge=1_000, description="Maximum size in bytes of a request's address and headers.")
    ] = 32_768
    request_headers_max: Annotated[int, Meta(ge=10, description="Maximum number of headers of a request.")] = 100
    request_head_time: Annotated[
        timedelta, Meta(description="Time for a client to send the headers of a request, from its first byte.")
    ] = timedelta(seconds=10)
    request_body_time: Annotated[
        timedelta,
        Meta(description="Time for a client to send a request body, besides the time of `request_body_rate`."),
    ] = timedelta(seconds=30)
    request_body_rate: Annotated[
        int, Meta(ge=1, description="Bytes of a request body that extend `request_body_time` by one second.")
    ] = 10_000
    response_stall_time: Annotated[
        timedelta, Meta(description="A connection ends if the client does not read a response for this long.")
    ] = timedelta(seconds=60)
    connections_max: Annotated[
        int,
        Meta(ge=1, description="Maximum connections of a server process; less if its limit of open files is lower."),
    ] = 5_000
    address_connections_max: Annotated[
        int,
        Meta(ge=1, description="Maximum connections of one client address (IPv6: /64). Trusted proxies are exempt."),
    ] = 200
    json_depth_max: Annotated[int, Meta(ge=10, description="Maximum nesting of a JSON body of `/api`.")] = 400
    json_values_max: Annotated[
        int,
        Meta(ge=100, description="Maximum number of commas, colons and brackets of a JSON body, also inside its text."),
    ] = 500_000
    form_parts_max: Annotated[int, Meta(ge=1, description="Maximum number of fields of a form, and of its files.")] = (
        1_000
    )
    yaml_bytes_max: Annotated[int, Meta(ge=100, description="Maximum size in bytes of an imported YAML file.")] = (
        250_000
    )
    archive_bytes_max: Annotated[
        int, Meta(ge=1_000, description="Maximum size in bytes of the files of an imported zip, unpacked.")
    ] = 50_000_000
    archive_files_max: Annotated[int, Meta(ge=1, description="Maximum number of files of an imported zip.")] = 1_000
    live_sign_in_time: Annotated[
        timedelta, Meta(description="Time for a live connection (WebSocket) to sign in before it is closed.")
    ] = timedelta(seconds=10)
    execute_wait: Annotated[
        timedelta, Meta(description="Maximum time `/execute` waits for an instance before it answers 202.")
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
    node_alive: Annotated[
        timedelta, Meta(description="Heartbeat timeout: a node without a heartbeat for this long is dead.")
    ] = timedelta(seconds=30)
    node_beat: Annotated[timedelta, Meta(description="Interval between heartbeats of a node.")] = timedelta(seconds=10)
    node_sweep: Annotated[timedelta, Meta(description="Interval at which a worker searches for lost work.")] = (
        timedelta(seconds=5)
    )
    transport: Annotated[
        str,
        Meta(
            description="Transport of steps: the address of a broker, or `database` for the store's own work table.",
            extra={"secret": True},
        ),
    ] = "database"
    effects_queue: Annotated[str, Meta(description="Queue of effects that name none; `inline` runs them directly.")] = (
        "inline"
    )
    queues: Annotated[str, Meta(description="Queues that a worker on this node serves, separated by commas.")] = (
        "default"
    )
    step_limits: Annotated[
        str, Meta(description="Limits of queues per worker: `gpu=2, mail=8@10/s, mail/customer=2`.")
    ] = ""
    cluster_limits: Annotated[
        str, Meta(description="Limits of queues over all workers of a tenant, in the same notation.")
    ] = ""
    step_concurrency: Annotated[int, Meta(ge=1, description="Maximum number of concurrent steps of a worker.")] = 32
    drain_limit: Annotated[timedelta, Meta(description="Time that a stopping worker waits for its running work.")] = (
        timedelta(seconds=30)
    )
    probe: Annotated[
        str,
        Meta(
            description="Address at which `holdfast worker` serves `/health/live`, `/health/ready` and `/metrics`: `PORT` (on "
            "127.0.0.1) or `HOST:PORT`. Empty: not served."
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
        timedelta, Meta(description="Maximum time a request to a workflow waits for its response before it gets 202.")
    ] = timedelta(seconds=30)
    http_request_size_max: Annotated[
        int,
        Meta(ge=0, description="Maximum size in bytes of a request to a workflow, unless its endpoint sets a limit."),
    ] = 10_485_760
    event_outlets: Annotated[
        str,
        Meta(
            description="Targets of lifecycle events, separated by commas: addresses of webhooks (`https://…`) and brokers "
            "(`amqp://…`, `nats://…`, `redis://…`). Empty: none.",
            extra={"secret": True},
        ),
    ] = ""
    event_names: Annotated[
        str, Meta(description="Events to publish, separated by commas, such as `instance.faulted`. Empty: all.")
    ] = ""
    event_secret: Annotated[
        str, Meta(description="Signs webhook requests. Empty: not signed.", extra={"secret": True})
    ] = ""
    log_format: Annotated[LogFormat, Meta(description="Log format of `serve` and `worker`: text or JSON.")] = (
        LogFormat.TEXT
    )
    log_level: Annotated[
        LogLevel, Meta(description="Minimum level of the log of `serve` and `worker`, including events.")
    ] = LogLevel.WARNING
    plugins: Mapping[str, Any] = {}
    """Values of plugin settings by name."""
    chosen: frozenset[str] = frozenset()
    """Names of the settings that an argument, the environment or the file sets; the others have their default."""

    def __getitem__(self, name: str) -> Any:
        """The value of a plugin's setting."""
        return self.plugins[name]
