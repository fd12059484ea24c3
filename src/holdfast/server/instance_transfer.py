"""Export of an instance with its pinned definition as one file, and import into a store."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from holdfast.errors import AlreadyStored, DefinitionError, InstanceNotFound, InvalidState, PermissionDenied
from holdfast.model.catalog import DefinitionContent, DefinitionVersion, Origin, Which, content_hash
from holdfast.model.principal import Principal
from holdfast.model.stored import InstanceRow
from holdfast.model.upkeep import EXPORT_FORMAT, InstanceExport, check_export
from holdfast.server.backend import Backend
from holdfast.server.schemas.instances import ImportedInstance


class PackedDefinition(Struct, frozen=True, kw_only=True):
    origin: Origin
    document: str
    """Byte for byte as stored: the instance is pinned to its hash."""


class Packed(Struct, frozen=True, kw_only=True):
    format: str = EXPORT_FORMAT
    export: InstanceExport
    definition: PackedDefinition


class InstanceTransfer:
    def __init__(self, server: Backend) -> None:
        self._server = server

    async def pack(self, instance_id: str) -> bytes:
        server = self._server
        found = await server.store.export_instance(server.tenant, instance_id)
        if found is None:
            raise InstanceNotFound(instance_id)
        content = await server.content(found.instance.content)
        packed = Packed(
            export=found, definition=PackedDefinition(origin=content.origin, document=content.document.decode())
        )
        return msgspec.json.encode(packed)

    async def take(self, document: dict[str, Any], who: Principal) -> ImportedInstance:
        try:
            packed = msgspec.convert(document, Packed)
        except (msgspec.ValidationError, TypeError, ValueError) as error:
            raise InvalidState(
                f"This is not an exported instance: {error}. Send the unchanged response of /export."
            ) from error
        row = packed.export.instance
        if packed.format != EXPORT_FORMAT or row.tenant != self._server.tenant:
            raise InvalidState(
                "The instance belongs to another tenant or to another version of Holdfast. Import it there."
            )
        if await self._server.store.versions_of([row.key]):
            raise AlreadyStored(f"Instance {row.id} already exists. Delete it before the import.")
        check_export(packed.export)
        await self._adopt(row, packed.definition, who)
        await self._server.store.import_instance(packed.export)
        return ImportedInstance(id=row.id, position=row.version)

    async def _adopt(self, row: InstanceRow, packed: PackedDefinition, who: Principal) -> None:
        """Stores the pinned content as a new version if it is missing here; this needs the permission to write definitions."""
        store, tenant = self._server.store, self._server.tenant
        if await store.load_content(tenant, row.content) is not None:
            return
        if not who.may("definitions:write"):
            raise PermissionDenied("definitions:write", who.name)
        document = packed.document.encode()
        if packed.origin is Origin.CODE:
            raise DefinitionError(
                f"'{row.definition_id}' is a workflow in Python code. Serve the code here too: holdfast serve MODULE:NAME."
            )
        if content_hash(document) != row.content:
            raise InvalidState("The definition in this file does not match the instance. Export the instance again.")
        taken = await store.find_version(tenant, row.definition_id, row.definition_version)
        latest = await store.find_version(tenant, row.definition_id, Which.LATEST)
        number = row.definition_version if taken is None else (latest or taken).version + 1
        now = self._server.engine.clock.now()
        label = DefinitionVersion(
            tenant=tenant,
            definition_id=row.definition_id,
            version=number,
            content=row.content,
            name=str(msgspec.json.decode(document).get("name") or row.definition_id),
            created=now,
        )
        await store.save_version(
            label, DefinitionContent(tenant=tenant, hash=row.content, created=now, document=document)
        )
