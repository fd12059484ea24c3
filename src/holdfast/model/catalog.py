"""Stored definitions: immutable content by hash, and labels (version number, draft, published) that refer to it.

Instances pin content, so moving a label never changes a running instance (rule M14). Content with trusted code is marked
`origin = code`; only the code provider of a running process writes it (H11).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import OriginRefused, VersionConflict
from holdfast.model.definition import Definition
from holdfast.model.stored import DEFAULT_TENANT


class Origin(StrEnum):
    CODE = "code"
    """Written by the code provider of a running process; may contain `$code`."""
    DOCUMENT = "document"
    """Received through an API, an import or an edit."""


class DefinitionContent(Struct, frozen=True, kw_only=True):
    tenant: str = DEFAULT_TENANT
    hash: str
    origin: Origin = Origin.DOCUMENT
    created: datetime
    document: bytes


class Source(StrEnum):
    """Channel through which a version was created, shown to users."""

    API = "api"
    CODE = "code"
    FILE = "file"


class VersionDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Data that lists show without reading the content."""

    source: Source = Source.API
    description: str = ""
    labels: tuple[str, ...] = ()
    folder: str = ""
    usable_as_activity: bool = False
    uses: tuple[str, ...] | None = None
    """Ids of the workflows that a published version holds as activities; None if unknown: a draft, or a version of an
    earlier release."""

    @classmethod
    def of(cls, definition: Definition, source: Source) -> VersionDetails:
        folder = definition.metadata.get("folder")
        return cls(
            source=source,
            description=definition.description or "",
            labels=tuple(definition.labels),
            folder=folder if isinstance(folder, str) else "",
            usable_as_activity=definition.options.usable_as_activity,
        )

    def with_filing_of(self, known: VersionDetails, *, labels: bool, folder: bool) -> VersionDetails:
        """Keep labels and folder of the previous version if the new one does not state them."""
        return replace(
            self, labels=known.labels if labels else self.labels, folder=known.folder if folder else self.folder
        )

    def filed(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document with the current labels and folder, so that saving it again preserves them."""
        metadata: dict[str, Any] = document.get("metadata") or {}
        if list(self.labels) != (document.get("labels") or []):
            document = {**document, "labels": list(self.labels)}
        if self.folder != (metadata.get("folder") or ""):
            document = {**document, "metadata": {**metadata, "folder": self.folder}}
        return document

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)


_NO_DETAILS = VersionDetails()
_read_details = msgspec.json.Decoder(VersionDetails).decode


class DefinitionVersion(Struct, frozen=True, kw_only=True):
    """A label on content. At most one version of a definition is published; the highest is the latest."""

    tenant: str = DEFAULT_TENANT
    definition_id: str
    version: int
    content: str
    name: str = ""
    published: bool = False
    latest: bool = True
    created: datetime
    metadata: bytes = b""

    @property
    def details(self) -> VersionDetails:
        return _read_details(self.metadata) if self.metadata else _NO_DETAILS


class TriggerRow(Struct, frozen=True, kw_only=True):
    """Starts instances of a published definition when a stimulus with this key arrives."""

    tenant: str = DEFAULT_TENANT
    definition_id: str
    id: str
    content: str
    version: int
    key: int
    type: str
    activity_id: str = ""
    payload: bytes = b""


class NewVersion(Struct, frozen=True, kw_only=True):
    """The first version of a definition, with its content and triggers."""

    label: DefinitionVersion
    content: DefinitionContent
    triggers: Sequence[TriggerRow] = ()


class Which(StrEnum):
    LATEST = "latest"
    PUBLISHED = "published"
    LATEST_OR_PUBLISHED = "latest_or_published"
    """The published version, else the latest. Used by the runtime only; stores receive one of the others."""
    ALL = "all"


class DefinitionQuery(Struct, frozen=True, kw_only=True):
    which: Which = Which.LATEST
    definition_ids: tuple[str, ...] = ()
    search: str = ""
    """Substring of name or id, ignoring the case of ASCII letters."""
    sort: str = "name"
    """`name`, `created` or `version`."""
    descending: bool = False
    limit: int = 100
    offset: int = 0


def content_hash(document: bytes) -> str:
    return blake2b(document, digest_size=16).hexdigest()


def check_expected(definition_id: str, found: str, expected: str | None) -> None:
    """Raise `VersionConflict` after a concurrent change; `found` is the content of the latest version."""
    if expected is not None and expected != found:
        raise VersionConflict(definition_id, expected, found)


def check_origin(content: DefinitionContent) -> None:
    """Refuse `{"$code": …}` in content that does not come from code. Literal data is not checked.

    The document is parsed, not searched as text: JSON has many spellings of one key.
    """
    if content.origin is Origin.DOCUMENT and any(_code_in(content.document)):
        raise OriginRefused(
            "The definition contains a $code expression. Only the process that defines the code can write it: "
            "use $python, which is sandboxed, or register the workflow in code."
        )


def _code_in(document: bytes) -> Iterator[bool]:
    try:
        waiting: list[Any] = [msgspec.json.decode(document)]
    except msgspec.DecodeError as error:
        raise OriginRefused(
            f"The definition is not JSON ({error}). Save it as a document of holdfast/definition@1."
        ) from error
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(part)
        elif isinstance(part, dict) and set(part) != {"$literal"}:
            if set(part) == {"$code"}:
                yield True
            waiting.extend(part.values())
