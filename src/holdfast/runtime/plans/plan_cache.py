"""Plans of one tenant by the content hash that instances pin. Content is stored before an instance refers to it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

import msgspec

from holdfast.errors import DefinitionError, HoldfastError
from holdfast.execution import suspension
from holdfast.execution.plan import Plan
from holdfast.model.catalog import DefinitionContent, DefinitionQuery, DefinitionVersion, Origin, Which, content_hash
from holdfast.model.definition import Definition
from holdfast.model.hashing import content_hash as meaning
from holdfast.model.reader import parse_definition
from holdfast.model.writer import write_definition
from holdfast.ports import Store
from holdfast.runtime.plans.catalog import PLAN_NODES_MAX, nodes_of
from holdfast.runtime.plans.current_versions import CurrentVersions
from holdfast.runtime.plans.missing_plans import MissingPlans, code_missing
from holdfast.runtime.plans.triggers import Workshop, awaited_rows

VERSIONS_MAX = 1_000
"""Labels that are searched for the number of a content."""


class PlanCache:
    """Compiled plans by content hash. Content that this process has stored or compiled is not queried again."""

    def __init__(
        self,
        store: Store,
        tenant: str,
        plan_of: Callable[[Definition], Plan],
        now: Callable[[], datetime],
        lacking: set[str],
        workshop: Workshop | None = None,
    ) -> None:
        self._store = store
        self._tenant = tenant
        self._plan_of = plan_of
        self._now = now
        self._workshop = workshop
        self.current = CurrentVersions(store, tenant)
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._nodes = 0
        """Activities in the cached plans."""
        self.at_hand: Callable[[str], Plan | None] = self._plans.get
        """The plan of a content hash, if it is cached. The lookup of the dict itself: every job calls it."""
        self._contents: dict[int, tuple[Plan, str]] = {}
        self._stored: dict[str, tuple[str, int]] = {}
        """Contents and version numbers of unchanged definitions of this process, by the hash of their documents."""
        self._pinning: dict[int, asyncio.Task[str]] = {}
        self.numbers: dict[str, int] = {}
        """Version numbers of contents, from their labels: the code of a changed function does not know its number."""
        self._missing = MissingPlans()
        self.lacking = lacking
        """Content that this process cannot run because its code is missing; other nodes may have it (rule H10)."""

    async def pin(self, plan: Plan) -> str:
        """Store the content of a plan's definition unless this process has done so, and return its hash."""
        known = self.known(plan)
        if known is not None:
            return known
        # Concurrent starts share one save.
        task = self._pinning.get(id(plan))
        if task is None:
            task = self._pinning[id(plan)] = asyncio.get_running_loop().create_task(self._pin(plan))
            task.add_done_callback(lambda _: self._pinning.pop(id(plan), None))
        return await asyncio.shield(task)

    def known(self, plan: Plan) -> str | None:
        """The content hash of a plan's definition, if the content is known to be stored."""
        found = self._contents.get(id(plan))
        if found is not None:
            return found[1]
        if not self._stored:
            return None
        document = msgspec.json.encode(write_definition(plan.definition))
        stored = self._stored.get(content_hash(document))
        if stored is None:
            return None
        self.know(plan, *stored)
        return stored[0]

    def expect(self, document: str, content: str, number: int) -> None:
        """The document of this hash is stored with this content and version number. Its plan is compiled when it is needed."""
        self._stored[document] = (content, number)

    async def written(self, definition: Definition) -> tuple[str, bytes]:
        """Content hash and document of a definition of this process. A function that differs from the stored version only in
        line numbers, comments or formatting has the stored content (rule H10)."""
        document = msgspec.json.encode(write_definition(definition))
        content = content_hash(document)
        if b'"$code"' in document and await self._store.load_content(self._tenant, content) is None:
            for which in (Which.PUBLISHED, Which.LATEST):
                label = await self._store.find_version(self._tenant, definition.id, which)
                stored = None if label is None else await self._store.load_content(self._tenant, label.content)
                if stored is not None and stored.origin is Origin.CODE and _is_same(stored.document, definition):
                    return stored.hash, stored.document
        return content, document

    async def stored(self, plan: Plan) -> str | None:
        """The content hash of a plan's definition, if the content is stored. Only reads."""
        if (known := self.known(plan)) is not None:
            return known
        content, _ = await self.written(plan.definition)
        if await self._store.load_content(self._tenant, content) is None:
            return None
        self.know(plan, content, await self._number(plan.definition, content))
        return content

    async def _pin(self, plan: Plan) -> str:
        if (found := await self.stored(plan)) is not None:
            return found
        content, document = await self.written(plan.definition)
        self.know(plan, content, await self._save(plan.definition, content, document))
        return content

    async def _number(self, definition: Definition, content: str) -> int:
        query = DefinitionQuery(which=Which.ALL, definition_ids=(definition.id,), limit=VERSIONS_MAX)
        labels, _ = await self._store.list_versions(self._tenant, query)
        return next((label.version for label in labels if label.content == content), definition.version)

    def know(self, plan: Plan, content: str, number: int | None = None) -> None:
        """Remember that the plan belongs to this stored content and version number."""
        self.numbers[content] = plan.definition.version if number is None else number
        self._contents[id(plan)] = (plan, content)
        replaced = self._plans.get(content)
        self._nodes += nodes_of(plan) - (0 if replaced is None else nodes_of(replaced))
        self._plans[content] = plan
        self._plans.move_to_end(content)
        while self._nodes > PLAN_NODES_MAX and len(self._plans) > 1:
            _, oldest = self._plans.popitem(last=False)
            self._nodes -= nodes_of(oldest)
            self._contents = {key: item for key, item in self._contents.items() if item[0] is not oldest}

    async def _save(self, definition: Definition, content: str, document: bytes) -> int:
        """Use the declared version number if it is free, else the next one: existing labels do not move.

        A start publishes a definition only if it has no published version (rule M14).
        """
        now = self._now()
        published = await self._store.find_version(self._tenant, definition.id, Which.PUBLISHED)
        number = definition.version
        if await self._store.find_version(self._tenant, definition.id, number) is not None:
            latest = await self._store.find_version(self._tenant, definition.id, Which.LATEST)
            number = (number if latest is None else latest.version) + 1
        label = DefinitionVersion(
            tenant=self._tenant,
            definition_id=definition.id,
            version=number,
            content=content,
            name=definition.title,
            published=published is None,
            created=now,
        )
        # Only functions of this process make trusted code; documents that are read never do (rule H11).
        origin = Origin.CODE if b'"$code"' in document else Origin.DOCUMENT
        kept = DefinitionContent(tenant=self._tenant, hash=content, origin=origin, created=now, document=document)
        # Its triggers are inactive until it is published; the events that it waits for are indexed.
        waits = () if self._workshop is None else awaited_rows(definition, self._workshop, label)
        await self._store.save_version(label, kept, waits)
        self.current.changed()
        return number

    async def plan(self, content: str) -> Plan:
        """The plan of a content hash. Raises `CodeMissing` if this process lacks its code."""
        found = self._plans.get(content)
        if found is None:
            self._missing.check(content)
            stored = await self._store.load_content(self._tenant, content)
            if stored is None:
                raise DefinitionError(
                    f"The definition with the content {content} is not in the store. Import it: holdfast import FILE."
                )
            document = msgspec.json.decode(stored.document)
            try:
                definition = parse_definition(document, trusted=stored.origin is Origin.CODE)
                found = await suspension.run(self._plan_of, definition)
            except HoldfastError as error:
                self.lacking.add(content)
                if stored.origin is Origin.DOCUMENT and isinstance(error, DefinitionError):
                    error.content = content
                    raise  # It lists the problems of the document.
                raise self._missing.add(content, code_missing(document, content, error)) from error
            self.lacking.discard(content)
            self.know(found, content, await self._number(found.definition, content))
        return found

    def look_again(self, content: str) -> None:
        """Compile the content at the next call, although it could not be compiled a moment ago."""
        self._missing.forget(content)

    async def find_version(self, definition_id: str, which: int | Which) -> DefinitionVersion | None:
        return await self._store.find_version(self._tenant, definition_id, which)

    async def find(self, reference: str, version: int | None = None) -> Definition | None:
        """A definition by id: the published version, else the latest, or a version by number."""
        for which in (version,) if version is not None else (Which.PUBLISHED, Which.LATEST):
            label = await self.current.version(reference, which)
            if label is not None:
                return (await self.plan(label.content)).definition
        return None


def _is_same(document: bytes, definition: Definition) -> bool:
    """Whether a stored document and a definition have the same meaning, apart from metadata."""
    return meaning(parse_definition(msgspec.json.decode(document), trusted=True)) == meaning(definition)
