"""JSON definitions of the stored data."""

from __future__ import annotations

from typing import Any


def definition(id: str, *activities: dict[str, Any], **more: Any) -> dict[str, Any]:
    root = {"type": "Sequence", "id": "main", "activities": list(activities)}
    return {"format": "holdfast/definition@1", "id": id, "root": root, **more}


def waiting(answer: str) -> dict[str, Any]:
    """The definition `waiting`: each answer is another version."""
    return definition(
        "waiting",
        {"type": "Event", "id": "wait", "inputs": {"event_name": "go"}, "outputs": {"result": "got"}},
        {"type": "SetOutput", "id": "say", "inputs": {"name": "answer", "value": answer}},
        {"type": "SetOutput", "id": "give", "inputs": {"name": "got", "value": {"$variable": "got"}}},
        variables=[{"name": "got"}],
        outputs=[{"name": "answer", "type": "string"}, {"name": "got"}],
    )


SINGLE = definition(
    "single",
    {"type": "Event", "id": "wait", "inputs": {"event_name": "single go"}},
    options={"activation": "singleton"},
)

CALLING = definition(
    "calling",
    {
        "type": "ExecuteWorkflow",
        "id": "call",
        "inputs": {"workflow": "waiting", "wait": True},
        "outputs": {"result": "answer"},
    },
    {"type": "SetOutput", "id": "say", "inputs": {"name": "answer", "value": {"$variable": "answer"}}},
    variables=[{"name": "answer"}],
    outputs=[{"name": "answer"}],
)

PASSWORD = "a long password"
"""Of the user `kim`."""

FORM = {"type": "object", "properties": {"approved": {"type": "boolean"}}, "required": ["approved"]}

TASK = definition(
    "task",
    {
        "type": "HumanTask",
        "id": "ask",
        "inputs": {"title": "Check the delivery", "role": "clerk", "form": {"$literal": FORM}},
        "outputs": {"result": "given"},
    },
    {"type": "SetOutput", "id": "say", "inputs": {"name": "answer", "value": {"$variable": "given"}}},
    variables=[{"name": "given"}],
    outputs=[{"name": "answer"}],
)

HTTP = definition(
    "shop",
    {
        "type": "HttpEndpoint",
        "id": "post",
        "inputs": {"path": "shop", "supported_methods": ["POST"]},
        "outputs": {"parsed_content": "order"},
        "options": {"can_start": True},
    },
    {
        "type": "WriteHttpResponse",
        "id": "taken",
        "inputs": {"status_code": 201, "content": {"$python": "{'taken': order['article']}"}},
    },
    {
        "type": "HttpEndpoint",
        "id": "put",
        "inputs": {"path": "shop/{word}", "supported_methods": ["PUT"]},
        "outputs": {"route_data": "said"},
    },
    {"type": "WriteHttpResponse", "id": "answer", "inputs": {"content": {"$python": "'You said ' + said['word']"}}},
    variables=[{"name": "order"}, {"name": "said"}],
)

EACH_MINUTE = definition(
    "each-minute",
    {"type": "Timer", "id": "tick", "inputs": {"interval": "PT1M"}, "options": {"can_start": True}},
    {"type": "WriteLine", "id": "line", "inputs": {"text": "tick"}},
)

NIGHTLY = definition(
    "nightly",
    {
        "type": "Cron",
        "id": "night",
        "inputs": {"expression": "0 3 * * *", "zone": "Europe/Berlin"},
        "options": {"can_start": True},
    },
    {"type": "WriteLine", "id": "line", "inputs": {"text": "night"}},
)
