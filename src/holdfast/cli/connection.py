"""Connection of operator commands to a server over HTTP, or to a store through the same API in process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from click.core import ParameterSource

from holdfast.cli.failures import BadInput
from holdfast.cli.options import activities_option
from holdfast.errors import RequestRefused
from holdfast.model.work import DEFAULT_QUEUE
from holdfast.settings import masked_address

if TYPE_CHECKING:
    from holdfast.client import Client

T = TypeVar("T")
UNAUTHORIZED, NOT_FOUND = 401, 404


class Target(NamedTuple):
    server: str | None
    store: str | None
    key: str | None
    activity_modules: tuple[str, ...] = ()


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--server` and `--key`, or `--store` and `--activities`; the function receives them as `target`."""

    @wraps(function)
    def packed(
        *args: Any,
        server: str | None,
        store: str | None,
        key: str | None,
        activity_modules: tuple[str, ...],
        **options: Any,
    ) -> Any:
        if server is not None and store is not None:
            raise click.UsageError("Give --server or --store, not both.")
        if server is not None and not server.startswith(("http://", "https://")):
            raise click.UsageError(f"'{server}' is not the address of a server. Write it like http://127.0.0.1:8600.")
        if server is None and _is_typed("key"):
            raise click.UsageError(f"--key is an API key and requires --server.{_other_key()}")
        if server is not None and activity_modules:
            raise click.UsageError(
                "--activities requires --store. A server loads the code itself: holdfast serve --activities."
            )
        return function(*args, target=Target(server, store, key, activity_modules), **options)

    decorated: Callable[..., Any] = packed
    for option in (
        activities_option,
        click.option("--store", metavar="URL", help="A store; default without --server: the setting `store`."),
        click.option(
            "--key",
            metavar="KEY",
            envvar="HOLDFAST_API_KEY",
            help="An API key of the server; default: HOLDFAST_API_KEY.",
        ),
        click.option("--server", metavar="URL", help="A server, such as http://127.0.0.1:8600."),
    ):
        decorated = option(decorated)
    return decorated


def _is_typed(option: str) -> bool:
    """Whether the option was typed, not read from the environment, which may be meant for other commands."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def _other_key() -> str:
    takes_events = any(option.name == "event_key" for option in click.get_current_context().command.params)
    return " The key of an event is --event-key." if takes_events else " A store needs no key."


def ask(target: Target, work: Callable[[Client], Awaitable[T]]) -> T:
    """Run the work with a client of the target."""

    async def run() -> T:
        async with make_client(target) as client:
            return await work(client)

    try:
        return asyncio.run(run())
    except RequestRefused as error:
        raise _as_options(error, target) from error


async def hint_at_worker(client: Client, target: Target) -> None:
    """Warn that no live node will process new work in a store. (A server has its own monitoring.)"""
    if target.server is not None:
        return
    nodes = (await client.call("GET", "/nodes"))["items"]
    if not any(item["state"] == "live" and DEFAULT_QUEUE in item["queues"] for item in nodes):
        store = "" if target.store is None else f" --store {masked_address(target.store)}"
        click.echo(
            f"No live node processes this store, so the work waits. Start a worker: holdfast worker{store}", err=True
        )


def _as_options(error: RequestRefused, target: Target) -> Exception:
    """Rewords errors about headers and paths in terms of the command's options."""
    if target.server is not None and error.status == UNAUTHORIZED and target.key is None:
        return BadInput(
            f"{target.server} requires sign-in. Give an API key: --key or HOLDFAST_API_KEY. Where the server's "
            "store is reachable, create a key: holdfast keys add NAME --role operator"
        )
    if target.server is not None and error.status == NOT_FOUND and error.code in ("route.not_found", "unknown"):
        return BadInput(
            f"There is no Holdfast API below {target.server}. Use the address of the server's Studio, such as "
            "http://127.0.0.1:8600."
        )
    return error


def make_client(target: Target) -> Client:
    from holdfast.client import AsgiWire, Client

    if target.server is not None:
        return Client(target.server, api_key=target.key)
    from holdfast.cli.existing_store import existing
    from holdfast.cli.references import code_of
    from holdfast.engine import Holdfast
    from holdfast.server import create_app

    code = code_of(target.activity_modules)
    store = existing(target.store or Holdfast().settings.store)
    engine = Holdfast(store=store, activities=code.activities, definitions=code.workflows, worker=False)
    return Client(AsgiWire(create_app(engine, auth=False, studio=False)))
