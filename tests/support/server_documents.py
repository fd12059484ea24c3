"""Definitions that the tests of the server save and run."""

from __future__ import annotations

from typing import Any

HELLO: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "hello",
    "name": "Hello",
    "inputs": [{"name": "who", "type": "string", "default": "world"}],
    "outputs": [{"name": "greeting", "type": "string"}],
    "root": {
        "type": "Sequence",
        "id": "main",
        "activities": [
            {
                "type": "SetOutput",
                "id": "greet",
                "inputs": {"name": "greeting", "value": {"$python": "'Hello ' + who"}},
            }
        ],
    },
}

WAITING: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "waiting",
    "name": "Waiting",
    "variables": [{"name": "answer"}],
    "outputs": [{"name": "said"}],
    "root": {
        "type": "Sequence",
        "id": "main",
        "activities": [
            {"type": "Event", "id": "wait", "inputs": {"event_name": "answered"}, "outputs": {"result": "answer"}},
            {"type": "SetOutput", "id": "say", "inputs": {"name": "said", "value": {"$variable": "answer"}}},
        ],
    },
}

FAILING: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "failing",
    "name": "Failing",
    "root": {"type": "Fault", "id": "fail", "inputs": {"message": "on purpose"}},
}
