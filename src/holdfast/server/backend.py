"""State shared by the routes: the engine, its runtime, and cached facts about immutable definition content."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from fastapi import Depends
from starlette.requests import HTTPConnection

from holdfast.engine import Holdfast
from holdfast.identity.accounts import Accounts
from holdfast.identity.passwords import Passwords
from holdfast.identity.tokens import ResumeClaims
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.catalog import DefinitionContent, DefinitionQuery, DefinitionVersion, Which
from holdfast.ports import Authenticator, Store
from holdfast.server.live.watch import Watch
from holdfast.server.security import Security
from holdfast.server.upkeep import sweeping

if TYPE_CHECKING:
    from holdfast.management.metrics import Metrics

FACTS_MAX = 5_000


class ContentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that lists show about a definition beyond its label. Read from the document once, since content never changes."""

    title: str
    tools: dict[str, str]
    activity_count: int
    starts: dict[str, str]
    """Titles of the activities that can start the workflow, by id."""


class Backend:
    """One per application. Opens the engine unless its owner already did, and the server's own resources."""

    def __init__(
        self,
        engine: Holdfast,
        *,
        auth: bool = True,
        base_path: str = "",
        authenticators: Sequence[Authenticator] = (),
    ) -> None:
        self.engine = engine
        self.auth = auth
        self.authenticators = tuple(authenticators)
        self.base_path = base_path.rstrip("/")
        self.accounts: Accounts | None = None
        self.first_password: str | None = None
        """Password of the admin created at this start; print it once."""
        self.parsing = asyncio.Lock()
        """Held while the files of an import are parsed, which takes a core for seconds."""
        self._facts: OrderedDict[str, ContentFacts] = OrderedDict()
        self._watch: Watch | None = None
        self.metrics: Metrics
        self._stack: AsyncExitStack | None = None
        self._opening = asyncio.Lock()

    # -- open and close ------------------------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._stack is not None

    async def open(self) -> Security:
        """Idempotent."""
        async with self._opening:
            if self._stack is None:
                async with AsyncExitStack() as stack:
                    if not self.engine.is_open:
                        await stack.enter_async_context(self.engine)
                    await self._open_accounts(stack)
                    self._watch = Watch(self.runtime)
                    stack.push_async_callback(self._watch.close)
                    await self._open_metrics(stack)
                    self._stack = stack.pop_all()
        assert self.accounts is not None
        if not self.auth:
            return Security.open(self.accounts)
        return Security([*self.authenticators, self.accounts], accounts=self.accounts)

    async def _open_accounts(self, stack: AsyncExitStack) -> None:
        settings = self.engine.settings
        accounts = await Accounts.open(
            self.store,
            self.engine.clock.now,
            secret=settings.auth_secret,
            tenant=self.tenant,
            access_time=settings.access_token_time,
            refresh_time=settings.refresh_token_time,
            key_time=settings.api_key_time,
            passwords=Passwords(queue_max=settings.sign_in_queue_max),
        )
        stack.callback(accounts.close)
        if self.auth:
            self.first_password = await accounts.first_admin(settings.admin_password)
        self.accounts = accounts
        await stack.enter_async_context(sweeping(self.runtime, accounts))

    async def _open_metrics(self, stack: AsyncExitStack) -> None:
        from holdfast.management.metrics import Metrics

        self.metrics = Metrics([self.runtime])
        self.metrics.open()
        stack.push_async_callback(self.metrics.close)

    async def close(self) -> None:
        if self._stack is not None:
            stack, self._stack = self._stack, None
            await stack.aclose()

    # -- components ----------------------------------------------------------------------------------------------------

    @property
    def runtime(self) -> ManagedRuntime:
        return self.engine.runtime

    @property
    def store(self) -> Store:
        return self.runtime.store

    @property
    def tenant(self) -> str:
        return self.runtime.tenant

    @property
    def watch(self) -> Watch:
        """The watch over followed instances; available while the server is open."""
        assert self._watch is not None
        return self._watch

    # -- content -------------------------------------------------------------------------------------------------------

    async def content(self, content: str) -> DefinitionContent:
        found = await self.store.load_content(self.tenant, content)
        if found is None:
            raise LookupError(f"The content {content} was deleted from the store.")
        return found

    async def document(self, content: str) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode((await self.content(content)).document)
        return found

    async def facts(self, content: str) -> ContentFacts:
        known = self._facts.get(content)
        if known is None:
            known = self._facts[content] = _facts(await self.content(content))
            if len(self._facts) > FACTS_MAX:
                self._facts.popitem(last=False)
        return known

    async def title(self, content: str, otherwise: str) -> str:
        """Display name of the workflow with this content."""
        try:
            return (await self.facts(content)).title or otherwise
        except LookupError:
            return otherwise

    async def labels(self, definition_ids: Iterable[str], which: Which = Which.LATEST) -> dict[str, DefinitionVersion]:
        """The stored ones among these definitions, by id."""
        wanted = tuple(set(definition_ids))
        if not wanted:
            return {}
        query = DefinitionQuery(which=which, definition_ids=wanted, limit=len(wanted))
        found, _ = await self.store.list_versions(self.tenant, query)
        return {label.definition_id: label for label in found}

    # -- links ---------------------------------------------------------------------------------------------------------

    def resume_url(self, instance_id: str, bookmark_id: str) -> str | None:
        """A signed link that resumes one bookmark without sign-in, until the link expires."""
        if self.accounts is None:
            return None
        claims = ResumeClaims(
            tenant=self.tenant,
            instance_id=instance_id,
            bookmark=bookmark_id,
            expires=self.engine.clock.now() + self.engine.settings.resume_link_time,
        )
        return (
            f"{self.engine.settings.public_url.rstrip('/')}/api/bookmarks/resume?t={self.accounts.links.issue(claims)}"
        )


def _facts(content: DefinitionContent) -> ContentFacts:
    document: dict[str, Any] = msgspec.json.decode(content.document)
    tools = (document.get("metadata") or {}).get("tools")
    activities = list(_activities(document.get("root")))
    return ContentFacts(
        title=str(document.get("name") or document.get("id") or ""),
        tools={str(key): str(value) for key, value in tools.items()} if isinstance(tools, dict) else {},
        activity_count=len(activities),
        starts={
            found["id"]: str(found["name"])
            for found in activities
            if found.get("name") and (found.get("options") or {}).get("can_start")
        },
    )


def _activities(node: Any) -> Iterator[dict[str, Any]]:
    """Activities in a part of a document: objects with an id and a type."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict):
            if isinstance(part.get("type"), str) and isinstance(part.get("id"), str):
                yield part
            waiting.extend(value for key, value in part.items() if key not in {"inputs", "outputs", "metadata"})


async def backend_of(connection: HTTPConnection) -> Backend:
    """Async, so that FastAPI does not run it in a thread."""
    found: Backend = connection.app.state.backend
    return found


Server = Annotated[Backend, Depends(backend_of)]
"""Dependency that gives a route the backend."""
