"""Workflows in the code of this process, published once per deployment (rule M14)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from holdfast.management.definitions.dry_run import CheckedDefinition
from holdfast.management.definitions.versions import Definitions


class CodeProvider:
    name = "code"

    def __init__(self, workflows: Iterable[Any]) -> None:
        self._workflows = tuple(workflows)

    async def check(self, definitions: Definitions) -> list[CheckedDefinition]:
        """Check all workflows. An invalid workflow prevents the start: it was just deployed."""
        return [await definitions.dry_run.one(workflow, trusted=True) for workflow in self._workflows]

    async def provide(self, definitions: Definitions) -> None:
        for workflow in self._workflows:
            await definitions.deploy(workflow)
