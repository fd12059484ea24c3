"""One document per built-in activity type whose inputs are values, with a text that must not be stored where it is excluded."""

from __future__ import annotations

from typing import Any

SECRET = "do-not-keep-this"
EXPRESSION = {"$python": f"'{SECRET}'"}
BODY = {"type": "Start", "id": "body"}

SAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "AlterationPlanCompleted": ("plan_id", {"inputs": {"plan_id": EXPRESSION}}),
    "BulkDispatchWorkflows": ("input", {"inputs": {"workflow": "none", "items": [], "input": {"a": SECRET}}}),
    "Compensate": ("key", {"inputs": {"key": EXPRESSION}}),
    "Complete": ("outcomes", {"inputs": {"outcomes": EXPRESSION}}),
    "Correlate": ("correlation_id", {"inputs": {"correlation_id": EXPRESSION}}),
    "Cron": ("zone", {"inputs": {"expression": "0 0 1 1 *", "zone": "Europe/Berlin"}}),
    "Delay": ("duration", {"inputs": {"duration": "PT1H"}}),
    "DispatchWorkflow": ("input", {"inputs": {"workflow": "none", "input": {"a": SECRET}}}),
    "DoWhile": ("condition", {"inputs": {"condition": {"$python": "secret == ''"}}, "body": BODY}),
    "Event": ("event_name", {"inputs": {"event_name": EXPRESSION}}),
    "ExecuteWorkflow": ("input", {"inputs": {"workflow": "none", "input": {"a": SECRET}}}),
    "FlowDecision": ("condition", {"inputs": {"condition": {"$python": "secret == ''"}}}),
    "FlowFork": ("branches", {"inputs": {"branches": [SECRET]}}),
    "FlowSwitch": ("mode", {"inputs": {"mode": "match_any"}, "cases": []}),
    "For": ("end", {"inputs": {"start": 0, "end": 1}, "body": BODY}),
    "ForEach": ("items", {"inputs": {"items": [SECRET]}, "body": BODY}),
    "HttpEndpoint": ("path", {"inputs": {"path": SECRET}}),
    "HumanTask": ("title", {"inputs": {"title": EXPRESSION}}),
    "If": ("condition", {"inputs": {"condition": {"$python": "secret == ''"}}, "then": BODY}),
    "Log": ("message", {"inputs": {"message": EXPRESSION}}),
    "ParallelForEach": ("items", {"inputs": {"items": [SECRET]}, "body": BODY}),
    "PublishEvent": ("event_name", {"inputs": {"event_name": EXPRESSION, "payload": 1}}),
    "ReadLine": ("prompt", {"inputs": {"prompt": EXPRESSION}}),
    "RunScript": ("script", {"inputs": {"script": {"$python": f"'return \"{SECRET}\" * 0'"}, "language": "python"}}),
    "RunTask": ("payload", {"inputs": {"task_name": "t", "payload": EXPRESSION}}),
    "SetName": ("name", {"inputs": {"name": EXPRESSION}}),
    "SetOutput": ("value", {"inputs": {"name": "o", "value": EXPRESSION}}),
    "SetVariable": ("value", {"inputs": {"variable": "v", "value": EXPRESSION}}),
    "StartAt": ("at", {"inputs": {"at": "2999-01-01T00:00:00Z"}}),
    "SubmitAlterationPlan": (
        "why",
        {"inputs": {"alterations": [{"type": "cancel"}], "instance_ids": ["none"], "why": EXPRESSION}},
    ),
    "Switch": ("mode", {"inputs": {"mode": "match_any"}, "cases": []}),
    "Timer": ("interval", {"inputs": {"interval": "PT1H"}}),
    "While": ("condition", {"inputs": {"condition": {"$python": "secret == ''"}}, "body": BODY}),
    "WriteFileHttpResponse": ("filename", {"inputs": {"content": "x", "filename": EXPRESSION}}),
    "WriteHttpResponse": ("content", {"inputs": {"content": EXPRESSION}}),
    "WriteLine": ("text", {"inputs": {"text": EXPRESSION}}),
}
"""By type: the input that the rule names, and the activity."""
NEEDS_REQUEST = {"WriteFileHttpResponse", "WriteHttpResponse"}
"""Types that fault without an HTTP request."""
NEEDS_RUNTIME = {"SubmitAlterationPlan"}
"""Types that fault without a store."""
DECIDE_OUTCOMES = {"Complete", "FlowFork"}
"""Types whose value is also the outcome, which is a fact of the journal."""
STRUCTURE = {
    "Compensable", "FlowJoin", "Flowchart", "Fork", "Inline", "StateMachine",
}  # fmt: skip
"""Types whose inputs are part of the plan: they have no values."""
FAULTS = {"Fault"}
"""The message of a fault is its incident."""


def document(type_name: str, rule: dict[str, Any]) -> dict[str, Any]:
    _, sample = SAMPLES[type_name]
    return {
        "format": "holdfast/definition@1",
        "id": f"kept-{type_name.lower()}",
        "variables": [{"name": "v"}, {"name": "secret", "default": SECRET}],
        "outputs": [{"name": "o"}],
        "root": {"type": type_name, "id": "it", **sample, "options": {"journal": rule}},
    }
