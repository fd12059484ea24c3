"""Operators' commands talk to a server, or straight to a store: the same API either way, once over HTTP, once in process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from holdfast.cli.options import activities_option

if TYPE_CHECKING:
    from holdfast.client import Client

T = TypeVar("T")


class Target(NamedTuple):
    server: str | None
    store: str | None
    key: str | None
    activity_modules: tuple[str, ...] = ()


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--server` and `--key`, or `--store` and `--activities`; the function gets them as `target`."""

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
            raise click.UsageError(f"'{server}' is no server's address. Write it like http://127.0.0.1:8600.")
        if server is not None and activity_modules:
            raise click.UsageError(
                "--activities is for a store. A server brings the code itself: holdfast serve --activities."
            )
        return function(*args, target=Target(server, store, key, activity_modules), **options)

    decorated: Callable[..., Any] = packed
    for option in (
        activities_option,
        click.option("--store", metavar="URL", help="A store; the setting `store` if neither is given."),
        click.option(
            "--key", metavar="KEY", envvar="HOLDFAST_API_KEY", help="An API key of the server; or set HOLDFAST_API_KEY."
        ),
        click.option("--server", metavar="URL", help="A server, such as http://127.0.0.1:8600."),
    ):
        decorated = option(decorated)
    return decorated


def ask(target: Target, work: Callable[[Client], Awaitable[T]]) -> T:
    """Do the work with a client of the target."""

    async def run() -> T:
        async with make_client(target) as client:
            return await work(client)

    return asyncio.run(run())


def make_client(target: Target) -> Client:
    from holdfast.client import AsgiWire, Client

    if target.server is not None:
        return Client(target.server, api_key=target.key)
    from holdfast.cli.existing import existing
    from holdfast.cli.references import code_of
    from holdfast.engine import Holdfast
    from holdfast.server import create_app

    code = code_of(target.activity_modules)
    store = existing(target.store or Holdfast().settings.store)
    engine = Holdfast(store=store, activities=code.activities, definitions=code.workflows, worker=False)
    return Client(AsgiWire(create_app(engine, auth=False, studio=False)))
