"""`run_child`: runs another workflow as a separate instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.activities.composition import ExecuteWorkflow
from holdfast.authoring.primitives import child_result


class RunChild(ExecuteWorkflow, pure=True, category="Code", icon="workflow", browsable=False):
    """Runs another workflow as a separate instance and returns its result.

    Fails if the instance does not finish. A retry starts a new instance.
    """

    @staticmethod
    def given(ended: Mapping[str, Any]) -> Any:
        return child_result(ended)
