"""The part of the store's port that keeps definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.model.catalog import DefinitionContent, DefinitionQuery, DefinitionVersion, TriggerRow, Which


class DefinitionStore(Protocol):
    """Definitions: immutable content, labels on it, and the index of triggers.

    Every write bumps the epoch, in its transaction. Content with `$code` is refused unless its origin is code, and a
    definition whose versions come from code takes none from documents (`OriginRefused`), here as in the validator.
    """

    async def epoch(self) -> int:
        """Grows with each change of any tenant's definitions; who sees it grow reloads before matching triggers."""

    async def save_version(
        self,
        label: DefinitionVersion,
        content: DefinitionContent,
        triggers: Sequence[TriggerRow] = (),
        *,
        expected: str | None = None,
    ) -> DefinitionVersion:
        """Put the label on the content, in one transaction; returns it as stored. A label of that number moves (a draft
        saved over). If it is published, the one published before is so no more, and `triggers` replace the
        definition's. `latest` is worked out: the highest number. Content that is there stays as it is.

        With `expected`, only if the latest version has that content (empty: only if there is none); else
        `VersionConflict`, and nothing is written. Of two that save at once with the same expectation, one does."""

    async def deploy(
        self, label: DefinitionVersion, content: DefinitionContent, triggers: Sequence[TriggerRow], deployment: str
    ) -> DefinitionVersion:
        """Offer code-first content. It is published once per (definition, deployment): a restart, or a node that
        is rolled later, changes nothing. Content that has a version keeps its number, else it gets the next one
        (`label.version` is ignored). Returns the version that holds this content. `triggers` are written under that
        number and only if it becomes published."""

    async def retract(self, tenant: str, definition_id: str) -> bool:
        """Published no more; its triggers go. False if nothing was published."""

    async def delete_version(self, tenant: str, definition_id: str, version: int) -> bool:
        """Take the label away (and the triggers, if it was published). Content stays while an instance needs it."""

    async def find_version(
        self, tenant: str, definition_id: str, version: int | Which = Which.PUBLISHED
    ) -> DefinitionVersion | None: ...

    async def list_versions(self, tenant: str, query: DefinitionQuery) -> tuple[Sequence[DefinitionVersion], int]:
        """One page, and how many there are in all. Ties are broken by id, then version."""

    async def load_content(self, tenant: str, content: str) -> DefinitionContent | None: ...

    async def find_triggers(self, tenant: str, keys: Sequence[int]) -> Sequence[TriggerRow]: ...

    async def list_triggers(self, tenant: str, definition_id: str | None = None) -> Sequence[TriggerRow]: ...
