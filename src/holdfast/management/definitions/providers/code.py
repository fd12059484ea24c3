"""Workflows that are written in this process' code: offered once per deployment (rule M14)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.management.definitions.dry_run import Rehearsed
from holdfast.management.definitions.versions import Definitions


class CodeProvider:
    name = "code"

    def __init__(self, workflows: Iterable[Any]) -> None:
        self._workflows = tuple(workflows)

    async def rehearse(self, definitions: Definitions) -> list[Rehearsed]:
        """One that has problems keeps the application from starting: it was just deployed."""
        return [await definitions.rehearsal.one(workflow, trusted=True) for workflow in self._workflows]

    async def provide(self, definitions: Definitions) -> None:
        for workflow in self._workflows:
            await definitions.deploy(workflow)
