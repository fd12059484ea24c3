"""Documents, details and numbers of versions, as functions of definitions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from holdfast.model.catalog import DefinitionContent, DefinitionVersion, Origin, Source, VersionDetails, content_hash
from holdfast.model.definition import Definition
from holdfast.model.reader import parse_definition
from holdfast.model.writer import write_definition


class CodeSource(msgspec.Struct, frozen=True, kw_only=True):
    definition_id: str
    source: str
    """Hash of document and deployment."""
    document: str
    """Hash of the document alone."""


def details_of(
    definition: Definition, document: Any, latest: DefinitionVersion | None, source: Source
) -> VersionDetails:
    """Details of a new version. Labels and folder are kept from the latest version unless the document states them."""
    details = VersionDetails.of(definition, source)
    if latest is None:
        return details
    stated = "labels" in document if isinstance(document, Mapping) else bool(definition.labels)
    return details.with_filing_of(latest.details, labels=not stated, folder="folder" not in definition.metadata)


def definition_of(content: DefinitionContent) -> Definition:
    document: Mapping[str, Any] = msgspec.json.decode(content.document)
    return parse_definition(document, trusted=content.origin is Origin.CODE)


def written_of(definition: Definition) -> bytes:
    return msgspec.json.encode(write_definition(definition))


def made_of(
    definition: Definition, details: VersionDetails, tenant: str, now: datetime
) -> tuple[DefinitionVersion, DefinitionContent]:
    """The label and the content of a version."""
    document = written_of(definition)
    content = content_hash(document)
    label = DefinitionVersion(
        tenant=tenant,
        definition_id=definition.id,
        version=definition.version,
        content=content,
        name=definition.title,
        created=now,
        metadata=details.encoded(),
    )
    return label, DefinitionContent(tenant=tenant, hash=content, created=now, document=document)


def draft_number(latest: DefinitionVersion | None, definition: Definition) -> int:
    """The number of the existing draft; otherwise the next number, or the number in the document if that is higher."""
    if latest is None:
        return max(definition.version, 1)
    return max(latest.version + 1, definition.version) if latest.published else latest.version
