"""Definitions of code and files that were published by an earlier start of this application.

A start compares hashes and publishes only definitions that changed. The hashes of the last start are one record per
application; the versions that are published now are read with one query. A definition is unchanged if its source has the same
hash, its version is still published, and the registered activity types and languages are the same. Definitions that use
workflows as activities are always published again, because those may have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct

from holdfast import __version__
from holdfast.management.definitions.engine import Engine
from holdfast.model.catalog import DefinitionQuery, DefinitionVersion, Which
from holdfast.model.record_rows import RecordRow
from holdfast.runtime.facade import Runtime
from holdfast.runtime.plans.catalog import activity_type_name

KIND = "provided"
PUBLISHED_MAX = 1_000_000
"""Published versions that a start compares with."""


class Provided(Struct, frozen=True, array_like=True):
    """One definition of the last start."""

    definition_id: str
    source: str
    """Hash of its source: the bytes of a file, or the document that code makes."""
    content: str
    """Hash of the content that was published for it."""


class _Start(Struct, frozen=True, kw_only=True):
    environment: str
    definitions: tuple[Provided, ...]


_decode = msgspec.msgpack.Decoder(_Start).decode


class ProvidedDefinitions:
    """The definitions of one provider in one application."""

    def __init__(self, runtime: Runtime, engine: Engine, name: str, parts: Iterable[str]) -> None:
        """`parts` tell the application from others in the same store: its paths, or the ids of its workflows."""
        self._runtime = runtime
        self._engine = engine
        self._id = f"{name}-{source_hash(*(part.encode() for part in sorted(parts)))}"
        self._stored: RecordRow | None = None
        self._before: dict[str, Provided] = {}
        self._published: dict[str, DefinitionVersion] = {}

    async def load(self) -> None:
        """Read the last start and the published versions: two statements for all definitions."""
        runtime = self._runtime
        self._stored = await runtime.store.get_record(runtime.tenant, KIND, self._id)
        if self._stored is None:
            return
        before = _decode(self._stored.payload)
        if before.environment != environment(self._engine):
            return
        query = DefinitionQuery(which=Which.PUBLISHED, sort="definition_id", limit=PUBLISHED_MAX)
        labels, _ = await runtime.store.list_versions(runtime.tenant, query)
        self._published = {label.definition_id: label for label in labels}
        self._before = {item.source: item for item in before.definitions}

    def unchanged(self, source: str) -> DefinitionVersion | None:
        """The published version of this source hash, if it is published as the last start left it."""
        found = self._before.get(source)
        if found is None:
            return None
        label = self._published.get(found.definition_id)
        if label is None or label.content != found.content or label.details.uses:
            return None
        return label

    async def save(self, definitions: Sequence[Provided]) -> None:
        """Remember the definitions of this start. Of two nodes that start at once, one writes; both write the same."""
        runtime = self._runtime
        known = environment(self._engine), tuple(sorted(definitions, key=lambda item: item.definition_id))
        payload = msgspec.msgpack.encode(_Start(environment=known[0], definitions=known[1]))
        if self._stored is not None and self._stored.payload == payload:
            return
        now = runtime.clock.now()
        row = RecordRow(
            tenant=runtime.tenant,
            kind=KIND,
            id=self._id,
            version=1 if self._stored is None else self._stored.version + 1,
            created=now if self._stored is None else self._stored.created,
            updated=now,
            payload=payload,
        )
        await runtime.store.put_record(row)


def source_hash(*parts: bytes) -> str:
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.hexdigest()


def environment(engine: Engine) -> str:
    """Hash of everything besides its text that decides whether a definition is valid. Workflows that are used as activities
    are left out: definitions that use them are published again in any case."""
    descriptors = engine.descriptors
    workflows = {activity_type_name(item.title) for item in engine.definitions}
    listed = [descriptors[name] for name in sorted(descriptors) if name not in workflows]
    return source_hash(
        __version__.encode(), repr(sorted(engine.languages)).encode(), msgspec.json.encode(listed, enc_hook=_named)
    )


def _named(value: Any) -> str:
    """A stable name of a value that JSON lacks: its class, or the class itself."""
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"
