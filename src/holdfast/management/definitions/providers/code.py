"""Workflows in the code of this process, published once per deployment (rule M14)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from holdfast.management.definitions.dry_run import CheckedDefinition
from holdfast.management.definitions.provided import Provided, ProvidedDefinitions
from holdfast.management.definitions.versions import Definitions

PAUSE_EVERY = 50
"""Workflows between two pauses, so that the event loop serves others."""


class CodeProvider:
    name = "code"

    def __init__(self, workflows: Iterable[Any]) -> None:
        self._workflows = tuple(workflows)
        self._changed: list[tuple[Any, str]] = []
        """Workflows to publish, with the hash of their source."""
        self._kept: list[Provided] = []
        self._before: ProvidedDefinitions | None = None

    async def check(self, definitions: Definitions) -> list[CheckedDefinition]:
        """Check the workflows that changed since the last start. An invalid workflow prevents the start: it was just deployed."""
        if not self._workflows:
            return []
        await definitions.as_activities.refresh()
        sources = []
        for number, workflow in enumerate(self._workflows):
            sources.append((workflow, definitions.code_source(workflow)))
            if number % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
        self._before = definitions.provided(self.name, [code.definition_id for _, code in sources])
        await self._before.load()
        checked = []
        with definitions.as_activities.held():
            for workflow, code in sources:
                unchanged = self._before.unchanged(code.source)
                if unchanged is not None:
                    definitions.expect(code, unchanged)
                    self._kept.append(Provided(code.definition_id, code.source, unchanged.content))
                    continue
                checked.append(await definitions.dry_run.one(workflow, trusted=True))
                self._changed.append((workflow, code.source))
        return checked

    async def provide(self, definitions: Definitions) -> None:
        """Publish the workflows that `check` found changed."""
        if self._before is None:
            return
        await definitions.as_activities.refresh()
        with definitions.as_activities.held():
            for workflow, source in self._changed:
                saved = await definitions.deploy(workflow)
                self._kept.append(Provided(saved.definition_id, source, saved.content))
        await self._before.save(self._kept)
