"""Definitions as they are stored: immutable content by hash, and labels (version number, draft, published) on it.

Instances pin content, so a label that moves never changes what runs (rule M14). Content that holds trusted code is
marked `origin = code`; only the code provider of a running process writes it (H11).
"""

from __future__ import annotations

from collections.abc import Iterator
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
    """Written by the code provider of a running process; may hold `$code`."""
    DOCUMENT = "document"
    """Came through an API, an import, an edit."""


class DefinitionContent(Struct, frozen=True, kw_only=True):
    tenant: str = DEFAULT_TENANT
    hash: str
    origin: Origin = Origin.DOCUMENT
    created: datetime
    document: bytes


class Source(StrEnum):
    """Which way a version came in: what people see beside it."""

    API = "api"
    CODE = "code"
    FILE = "file"


class VersionDetails(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What lists show of a version without reading its content."""

    source: Source = Source.API
    description: str = ""
    labels: tuple[str, ...] = ()
    folder: str = ""
    usable_as_activity: bool = False

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

    def kept_from(self, known: VersionDetails, *, labels: bool, folder: bool) -> VersionDetails:
        """With the labels and the folder of the version before, where a new one does not state them."""
        return replace(
            self, labels=known.labels if labels else self.labels, folder=known.folder if folder else self.folder
        )

    def filed(self, document: dict[str, Any]) -> dict[str, Any]:
        """A document that says where it is filed now, so that whoever saves it again takes nothing away."""
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
    """A label on content. One version of a definition is published at most, the highest is the latest."""

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


class Which(StrEnum):
    LATEST = "latest"
    PUBLISHED = "published"
    LATEST_OR_PUBLISHED = "latest_or_published"
    """The published one, else the latest. Of the runtime: stores are asked for one of the others."""
    ALL = "all"


class DefinitionQuery(Struct, frozen=True, kw_only=True):
    which: Which = Which.LATEST
    definition_ids: tuple[str, ...] = ()
    search: str = ""
    """Part of the name or the id, whatever the case of ASCII letters."""
    sort: str = "name"
    """`name`, `created` or `version`."""
    descending: bool = False
    limit: int = 100
    offset: int = 0


def content_hash(document: bytes) -> str:
    return blake2b(document, digest_size=16).hexdigest()


def check_expected(definition_id: str, found: str, expected: str | None) -> None:
    """Refuse to write over what somebody else has written meanwhile; `found` is the content of the latest version."""
    if expected is not None and expected != found:
        raise VersionConflict(definition_id, expected, found)


def check_origin(content: DefinitionContent) -> None:
    """Refuse `{"$code": …}` in content that does not come from code. Literal data may look as it likes.

    The document is read, not searched: JSON can write the same key in many ways.
    """
    if content.origin is Origin.DOCUMENT and any(_code_in(content.document)):
        raise OriginRefused(
            "The definition holds a $code expression. Trusted code is written only by the process whose code it is: "
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
