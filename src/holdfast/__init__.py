"""Holdfast: durable, event-driven workflows for Python teams.

The public API on one screen. Import from here; what is not listed may change.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.activities.bulk import BulkDispatchWorkflows
    from holdfast.activities.composition import Composite, DispatchWorkflow, ExecuteWorkflow, Scope_ as Scope
    from holdfast.activities.console import Log, ReadLine, WriteLine
    from holdfast.activities.control.attempt import Try
    from holdfast.activities.control.branch import If, Switch
    from holdfast.activities.control.compensation import Compensable, Compensate
    from holdfast.activities.control.flowchart import Flowchart, FlowDecision, FlowFork, FlowJoin, FlowSwitch
    from holdfast.activities.control.loops import DoWhile, For, ForEach, While
    from holdfast.activities.control.parallel import Fork, Parallel, ParallelForEach
    from holdfast.activities.control.sequence import Sequence
    from holdfast.activities.control.signals import Break, Complete, Continue, End, Fault, Finish, Start
    from holdfast.activities.control.state_machine import StateMachine
    from holdfast.activities.data import Correlate, SetName, SetOutput, SetVariable
    from holdfast.activities.events import Event, PublishEvent, RunTask
    from holdfast.activities.http import (
        DownloadHttpFile,
        FlowSendHttpRequest,
        HttpEndpoint,
        SendHttpRequest,
        WriteFileHttpResponse,
        WriteHttpResponse,
    )
    from holdfast.activities.human import HumanTask
    from holdfast.activities.scheduling import Cron, Delay, StartAt, Timer
    from holdfast.activities.scripting import Inline, RunScript
    from holdfast.authoring.activity import Activity
    from holdfast.authoring.compiled import WorkflowFunction, workflow
    from holdfast.authoring.compiler import WorkflowRefused
    from holdfast.authoring.fields import children, entries, expr, field, literal, output, port, variable
    from holdfast.authoring.function import activity
    from holdfast.authoring.placed import Placed
    from holdfast.authoring.polling import Poll
    from holdfast.authoring.words import (
        ask,
        compensate,
        doubles,
        first,
        gather,
        parallel,
        poll,
        run_child,
        sleep,
        wait_for,
    )
    from holdfast.authoring.workflow import Workflow
    from holdfast.engine import Holdfast
    from holdfast.errors import HoldfastError
    from holdfast.model.definition import (
        ActivationStrategy,
        Definition,
        IncidentStrategy,
        InputDeclaration,
        OutputDeclaration,
        Storage,
        Variable,
    )
    from holdfast.model.instance import Bookmark, Incident, JournalEntry, Status
    from holdfast.model.policy import JournalRule, MergeMode, OnLost, Retry
    from holdfast.model.requests import (
        DispatchDefinition,
        Dispatched,
        DispatchInstance,
        DispatchResume,
        DispatchStimulus,
        DispatchTrigger,
        Receipt,
    )
    from holdfast.persistence import Store
    from holdfast.ports import ChildResult, Context, MiddlewarePlacement, Plugin
    from holdfast.runtime.handles import Handle
    from holdfast.runtime.result import RunResult
    from holdfast.runtime.runner import Runner
    from holdfast.runtime.webhook import Webhook

_HOMES: dict[str, tuple[str, ...]] = {
    "holdfast.activities.bulk": ("BulkDispatchWorkflows",),
    "holdfast.activities.composition": ("Composite", "DispatchWorkflow", "ExecuteWorkflow", "Scope"),
    "holdfast.activities.console": ("Log", "ReadLine", "WriteLine"),
    "holdfast.activities.control.attempt": ("Try",),
    "holdfast.activities.control.branch": ("If", "Switch"),
    "holdfast.activities.control.compensation": ("Compensable", "Compensate"),
    "holdfast.activities.control.flowchart": ("FlowDecision", "FlowFork", "FlowJoin", "FlowSwitch", "Flowchart"),
    "holdfast.activities.control.loops": ("DoWhile", "For", "ForEach", "While"),
    "holdfast.activities.control.parallel": ("Fork", "Parallel", "ParallelForEach"),
    "holdfast.activities.control.sequence": ("Sequence",),
    "holdfast.activities.control.signals": ("Break", "Complete", "Continue", "End", "Fault", "Finish", "Start"),
    "holdfast.activities.control.state_machine": ("StateMachine",),
    "holdfast.activities.data": ("Correlate", "SetName", "SetOutput", "SetVariable"),
    "holdfast.activities.events": ("Event", "PublishEvent", "RunTask"),
    "holdfast.activities.http": (
        "DownloadHttpFile",
        "FlowSendHttpRequest",
        "HttpEndpoint",
        "SendHttpRequest",
        "WriteFileHttpResponse",
        "WriteHttpResponse",
    ),
    "holdfast.activities.human": ("HumanTask",),
    "holdfast.activities.scheduling": ("Cron", "Delay", "StartAt", "Timer"),
    "holdfast.activities.scripting": ("Inline", "RunScript"),
    "holdfast.authoring.activity": ("Activity",),
    "holdfast.authoring.compiled": ("WorkflowFunction", "workflow"),
    "holdfast.authoring.compiler": ("WorkflowRefused",),
    "holdfast.authoring.fields": ("children", "entries", "expr", "field", "literal", "output", "port", "variable"),
    "holdfast.authoring.function": ("activity",),
    "holdfast.authoring.placed": ("Placed",),
    "holdfast.authoring.polling": ("Poll",),
    "holdfast.authoring.words": (
        "ask",
        "compensate",
        "doubles",
        "first",
        "gather",
        "parallel",
        "poll",
        "run_child",
        "sleep",
        "wait_for",
    ),
    "holdfast.authoring.workflow": ("Workflow",),
    "holdfast.engine": ("Holdfast",),
    "holdfast.errors": ("HoldfastError",),
    "holdfast.model.definition": (
        "ActivationStrategy",
        "Definition",
        "IncidentStrategy",
        "InputDeclaration",
        "OutputDeclaration",
        "Storage",
        "Variable",
    ),
    "holdfast.model.instance": ("Bookmark", "Incident", "JournalEntry", "Status"),
    "holdfast.model.policy": ("JournalRule", "MergeMode", "OnLost", "Retry"),
    "holdfast.model.requests": (
        "DispatchDefinition",
        "DispatchInstance",
        "DispatchResume",
        "DispatchStimulus",
        "DispatchTrigger",
        "Dispatched",
        "Receipt",
    ),
    "holdfast.persistence": ("Store",),
    "holdfast.ports": ("ChildResult", "Context", "MiddlewarePlacement", "Plugin"),
    "holdfast.runtime.handles": ("Handle",),
    "holdfast.runtime.result": ("RunResult",),
    "holdfast.runtime.runner": ("Runner",),
    "holdfast.runtime.webhook": ("Webhook",),
}
"""Where each public name lives: loaded when it is first asked for, so that `import holdfast` stays light."""

_HOME = {name: module for module, names in _HOMES.items() for name in names}

__version__ = "0.1.0"

__all__ = [
    "ActivationStrategy",
    "Activity",
    "Bookmark",
    "Break",
    "BulkDispatchWorkflows",
    "ChildResult",
    "Compensable",
    "Compensate",
    "Complete",
    "Composite",
    "Context",
    "Continue",
    "Correlate",
    "Cron",
    "Definition",
    "Delay",
    "DispatchDefinition",
    "DispatchInstance",
    "DispatchResume",
    "DispatchStimulus",
    "DispatchTrigger",
    "DispatchWorkflow",
    "Dispatched",
    "DoWhile",
    "DownloadHttpFile",
    "End",
    "Event",
    "ExecuteWorkflow",
    "Fault",
    "Finish",
    "FlowDecision",
    "FlowFork",
    "FlowJoin",
    "FlowSendHttpRequest",
    "FlowSwitch",
    "Flowchart",
    "For",
    "ForEach",
    "Fork",
    "Handle",
    "Holdfast",
    "HoldfastError",
    "HttpEndpoint",
    "HumanTask",
    "If",
    "Incident",
    "IncidentStrategy",
    "Inline",
    "InputDeclaration",
    "JournalEntry",
    "JournalRule",
    "Log",
    "MergeMode",
    "MiddlewarePlacement",
    "OnLost",
    "OutputDeclaration",
    "Parallel",
    "ParallelForEach",
    "Placed",
    "Plugin",
    "Poll",
    "PublishEvent",
    "ReadLine",
    "Receipt",
    "Retry",
    "RunResult",
    "RunScript",
    "RunTask",
    "Runner",
    "Scope",
    "SendHttpRequest",
    "Sequence",
    "SetName",
    "SetOutput",
    "SetVariable",
    "Start",
    "StartAt",
    "StateMachine",
    "Status",
    "Storage",
    "Store",
    "Switch",
    "Timer",
    "Try",
    "Variable",
    "Webhook",
    "While",
    "Workflow",
    "WorkflowFunction",
    "WorkflowRefused",
    "WriteFileHttpResponse",
    "WriteHttpResponse",
    "WriteLine",
    "activity",
    "ask",
    "children",
    "compensate",
    "doubles",
    "entries",
    "expr",
    "field",
    "first",
    "gather",
    "literal",
    "output",
    "parallel",
    "poll",
    "port",
    "run_child",
    "sleep",
    "variable",
    "wait_for",
    "workflow",
]


if not TYPE_CHECKING:  # a type checker sees the imports above, and refuses a name that is not among them

    def __getattr__(name: str) -> Any:
        home = _HOME.get(name)
        if home is None:
            raise AttributeError(f"module 'holdfast' has no attribute '{name}'")
        found = getattr(importlib.import_module(home), "Scope_" if name == "Scope" else name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return __all__
