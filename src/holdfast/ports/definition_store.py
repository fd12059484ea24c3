"""Port of the definition store, a part of `Store`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.model.catalog import (
    DefinitionContent,
    DefinitionQuery,
    DefinitionVersion,
    NewVersion,
    TriggerRow,
    Which,
)


class DefinitionStore(Protocol):
    """Definitions: immutable content, version labels that refer to it, and the index of triggers.

    Every write increments the epoch in its transaction. Content with `$code` is refused unless its origin is code. A
    definition whose versions come from code accepts none from documents. Both raise `OriginRefused`, as in the validator.
    """

    async def epoch(self) -> int:
        """A number that grows with each change of any tenant's definitions. Caches reload when it has grown."""

    async def save_version(
        self,
        label: DefinitionVersion,
        content: DefinitionContent,
        triggers: Sequence[TriggerRow] = (),
        *,
        expected: str | None = None,
    ) -> DefinitionVersion:
        """Point the label at the content in one transaction; returns the label as stored.

        A label with that number moves to the new content (a saved draft). If the label is published, the previously
        published version is not any more, and `triggers` replace those of the definition. `latest` is computed: the
        highest number. Existing content is not overwritten.

        With `expected`, write only if the latest version has that content (empty text: only if there is no version).
        Otherwise raise `VersionConflict` and write nothing. Of two concurrent saves with the same expectation, one
        succeeds."""

    async def publish_new(self, tenant: str, versions: Sequence[NewVersion]) -> Sequence[DefinitionVersion]:
        """Save and publish first versions of many definitions in one transaction, with few statements; returns the labels as
        stored. A definition that has a version already, or whose content came from code, is left out."""

    async def deploy(
        self, label: DefinitionVersion, content: DefinitionContent, triggers: Sequence[TriggerRow], deployment: str
    ) -> DefinitionVersion:
        """Offer code-first content, which is published once per (definition, deployment). A restart, or a node that is
        upgraded later in a rolling deployment, therefore changes nothing.

        Content that has a version keeps its number; new content gets the next one (`label.version` is ignored). Returns
        the version of this content. `triggers` are written under that number if it becomes the published version."""

    async def retract(self, tenant: str, definition_id: str) -> bool:
        """Unpublish the definition and remove its triggers. False if no version was published."""

    async def delete_version(self, tenant: str, definition_id: str, version: int) -> bool:
        """Remove the label, and the triggers if it was published. Content stays while an instance needs it."""

    async def find_version(
        self, tenant: str, definition_id: str, version: int | Which = Which.PUBLISHED
    ) -> DefinitionVersion | None: ...

    async def list_versions(self, tenant: str, query: DefinitionQuery) -> tuple[Sequence[DefinitionVersion], int]:
        """One page and the total number of matches. Ties are ordered by id, then version."""

    async def load_content(self, tenant: str, content: str) -> DefinitionContent | None: ...

    async def find_triggers(self, tenant: str, keys: Sequence[int]) -> Sequence[TriggerRow]: ...

    async def list_triggers(self, tenant: str, definition_id: str | None = None) -> Sequence[TriggerRow]: ...
