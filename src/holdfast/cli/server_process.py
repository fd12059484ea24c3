"""A server process, from the options of `holdfast serve`: engine, application, uvicorn and start-up messages."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from socket import socket
from typing import Any

import click
import uvicorn

from holdfast.cli.documents import STDIN
from holdfast.cli.failures import BadInput
from holdfast.cli.logs import set_up_logs
from holdfast.cli.references import code_of
from holdfast.cli.sockets import address_of
from holdfast.cli.sources import open_source
from holdfast.engine import Holdfast
from holdfast.engine.garbage_collector import tune_garbage_collector
from holdfast.engine.loop_watchdog import watched_loop
from holdfast.plugins import load_plugins
from holdfast.server.app import entrance
from holdfast.server.backend import Backend
from holdfast.server.protocol import server_config
from holdfast.settings import Settings, load_settings, masked_address

SHUTDOWN_TIMEOUT = timedelta(seconds=30)
"""Maximum time for open requests to complete after the signal to stop."""


def workflow_of(text: str) -> Any:
    """A file or folder of documents as its path, so that it can be watched; a name in a module as the named object."""
    path = Path(text)
    if text == STDIN:
        raise BadInput("A server cannot read a workflow from stdin. Name a file, a folder or module:name.")
    if path.is_dir():
        return path
    source = open_source(text)
    return path if source.is_document else source.workflow


async def serve_until_stopped(
    options: dict[str, Any],
    sockets: list[socket],
    *,
    quiet: bool = False,
    on_ready: Callable[[], None] | None = None,
) -> None:
    """Open, print the addresses, serve until a signal, drain, close."""
    async with opened(options) as (app, backend):
        config = configured(app, options, backend.engine.settings)
        await AnnouncingServer(config, backend, quiet=quiet, on_ready=on_ready).serve(sockets)


@asynccontextmanager
async def opened(options: dict[str, Any]) -> AsyncIterator[tuple[Any, Backend]]:
    """The open application: an unreachable store is reported here, in one line, before anything listens."""
    workflows = [workflow_of(text) for text in options["workflows"]]
    code = code_of(options["activities"])
    known = load_settings(declared=load_plugins().settings)
    engine = Holdfast(
        store=options["store"] or known.store,
        activities=code.activities,
        definitions=code.workflows,
        workflows=workflows,
        watch=options["watch"],
        worker=options["worker"],
        docs_dir=options["docs"] or known.docs_dir,
        lanes=options["lanes"] or known.lanes,
        store_connections=options["connections"] or known.store_connections,
        # Links use the listening address, unless a public URL is configured.
        public_url=options["address"] if known.public_url == Settings().public_url else known.public_url,
    )
    set_up_logs(engine.settings, options["log_format"], options["log_level"])
    async with engine:
        backend = Backend(engine, auth=options["auth"], base_path=options["base_path"])
        # Hashes the first admin's password while the routes are built.
        app, _ = await asyncio.gather(asyncio.to_thread(entrance, backend, studio=options["studio"]), backend.open())
        await app.open()
        tune_garbage_collector()
        try:
            async with watched_loop(engine.settings.watchdog):
                yield app, app.backend
        finally:
            await app.close()


def configured(app: Any, options: dict[str, Any], settings: Settings) -> uvicorn.Config:
    return server_config(
        app,
        settings,
        trust_proxy=options["trust_proxy"],
        lifespan="off",
        timeout_graceful_shutdown=int(SHUTDOWN_TIMEOUT.total_seconds()),
        loop="none",
    )


class AnnouncingServer(uvicorn.Server):
    """Prints the addresses once it listens, and how to sign in."""

    def __init__(
        self, config: uvicorn.Config, backend: Backend, *, quiet: bool, on_ready: Callable[[], None] | None
    ) -> None:
        super().__init__(config)
        self._backend = backend
        self._quiet = quiet
        self._on_ready = on_ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn raises the signal again after it stopped, which would kill the process before the engine has drained. So the
        signal only requests a stop. A second SIGINT does not wait for open requests."""
        loop = asyncio.get_running_loop()
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self.handle_exit, number, None)
        except NotImplementedError:  # Windows
            with super().capture_signals():
                yield
            return
        yield

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._on_ready is not None:
            self._on_ready()
        if self._quiet or not self.started:
            return
        for listening in self.servers:
            for bound in listening.sockets:
                click.echo(f"Holdfast at {address_of(bound)}{self._backend.base_path}")
        click.echo(f"  store     {masked_address(self._backend.engine.settings.store)}")
        click.echo(f"  sign-in   {_sign_in(self._backend)}")
        if self._backend.engine.settings.docs_dir:
            click.echo(f"  docs      {self._backend.base_path}/docs")


def _sign_in(backend: Backend) -> str:
    if not backend.auth:
        return "none: every caller on this machine is an admin"
    if backend.first_password is not None:
        return f"admin, password {backend.first_password} (shown once; store it)"
    if backend.engine.settings.admin_password:
        return "admin, with the admin_password that was set when the store was created"
    return "users of the store; `holdfast users` lists them"
