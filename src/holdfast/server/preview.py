"""Preview of expressions and single activities. Nothing is stored."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.errors import HoldfastError
from holdfast.model.definition import Definition, Variable
from holdfast.model.reader import parse_definition
from holdfast.model.values import shown
from holdfast.server.backend import Backend
from holdfast.server.schemas.operations import (
    ActivityTrialRequest,
    ActivityTrialResult,
    PreviewRequest,
    PreviewResult,
)
from holdfast.server.views import instances as views

__all__ = ["preview", "run_activity"]

PREVIEW_ID = "preview"


async def preview(server: Backend, body: PreviewRequest) -> PreviewResult:
    """Runs a workflow of one activity whose variables have the given values: same sandbox, same limits."""
    variables, inputs = dict(body.variables), dict(body.inputs)
    if body.instance_id is not None:
        _, result = await views.read(server, body.instance_id)
        scope = result._live.root.scope
        known = {name: scope[slot] for name, slot in scope[1].inputs.items()}
        variables, inputs = {**result.variables, **variables}, {**known, **inputs}
    if body.language == "code":
        return PreviewResult(error="Trusted code is part of a program and cannot be previewed.")
    if body.language not in server.engine.registry.languages:
        return PreviewResult(error=f"There is no language '{body.language}'.")
    try:
        value = await _evaluated(server, body.language, body.expression, variables, inputs)
    except HoldfastError as error:
        return PreviewResult(error=str(error))
    return PreviewResult(value=shown(value))


async def _evaluated(
    server: Backend, language: str, source: Any, variables: dict[str, Any], inputs: dict[str, Any]
) -> Any:
    document: dict[str, Any] = {
        "format": "holdfast/definition@1",
        "id": PREVIEW_ID,
        "inputs": [{"name": name} for name in inputs],
        "outputs": [{"name": "value"}],
        "variables": [{"name": name} for name in variables],
        "root": {
            "type": "SetOutput",
            "id": "value",
            "inputs": {"name": "value", "value": {f"${language}": source}},
        },
    }
    definition = _with_defaults(parse_definition(document), variables)
    result = await server.engine.runner.run(definition, inputs)
    if result.incidents:
        raise HoldfastError(result.incidents[0].message)
    return result.outputs.get("value")


def _with_defaults(definition: Definition, variables: dict[str, Any]) -> Definition:
    made = tuple(Variable(name=name, default=value) for name, value in variables.items())
    return msgspec.structs.replace(definition, variables=made)


async def run_activity(server: Backend, body: ActivityTrialRequest) -> ActivityTrialResult:
    document: dict[str, Any] = {
        "format": "holdfast/definition@1",
        "id": PREVIEW_ID,
        "variables": [{"name": name} for name in body.variables],
        "root": {"id": PREVIEW_ID, **body.activity},
    }
    definition = _with_defaults(parse_definition(document), body.variables)
    result = await server.engine.runner.run(definition)
    return ActivityTrialResult(
        status=result.status.value,
        outputs=views.shown_all({**result.variables, **result.outputs}),
        outcome=shown(result.outcome),
        lines=result.lines,
        incidents=[views.incident(item, result.instance_id) for item in result.incidents],
    )
