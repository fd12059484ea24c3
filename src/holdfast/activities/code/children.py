"""`run_child`: another workflow as an instance of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.activities.composition import ExecuteWorkflow
from holdfast.authoring.primitives import child_result


class RunChild(ExecuteWorkflow, pure=True, category="Code", icon="workflow", browsable=False):
    """Runs another workflow as an instance of its own, and gives what it returned. One that did not finish fails here: tried
    again, this starts another one."""

    @staticmethod
    def given(ended: Mapping[str, Any]) -> Any:
        return child_result(ended)
