"""Every built-in activity with its kind: whoever adds one says here whether it touches the world."""

from __future__ import annotations

from holdfast.activities.standard import standard_types
from holdfast.model.descriptor import Kind
from holdfast.plugins import activity_type_of

PURE = {
    "AlterationPlanCompleted", "SubmitAlterationPlan",
    "Break", "BulkDispatchWorkflows", "Compensable", "Compensate", "Complete", "Continue", "Correlate", "Cron",
    "Delay", "DispatchWorkflow", "DoWhile", "End", "Event", "ExecuteWorkflow", "Fault", "Finish", "FlowDecision",
    "FlowFork", "FlowJoin", "FlowSwitch", "Flowchart", "For", "ForEach", "Fork", "HttpEndpoint", "HumanTask", "If",
    "Inline", "Log", "Parallel", "ParallelForEach", "PublishEvent", "ReadLine", "RunScript", "RunChild", "RunTask", "Scope",
    "Sequence", "SetName", "SetOutput", "SetVariable", "Start", "StartAt", "StateMachine", "Switch", "Timer", "Try",
    "While", "WriteFileHttpResponse", "WriteHttpResponse", "WriteLine",
    "Attempt", "Branch", "Choose", "Code", "First", "Function", "Gather", "LoopOver", "LoopWhile", "Return",
    "Sleep", "Undo", "WaitFor",
}  # fmt: skip
"""Control flow, data, bookmarks, scripts, the parts of compiled functions, and what is only a row of the commit."""

EFFECTS = {"DownloadHttpFile", "FlowSendHttpRequest", "SendHttpRequest"}
"""What talks to the world."""


def test_every_built_in_activity_is_listed_with_its_kind() -> None:
    described = [activity_type_of(item).descriptor for item in standard_types()]

    assert {item.type for item in described if item.kind is Kind.PURE} == PURE
    assert {item.type for item in described if item.kind is Kind.EFFECT} == EFFECTS


def test_every_built_in_activity_says_what_it_does() -> None:
    silent = [
        item.descriptor.type for item in map(activity_type_of, standard_types()) if not item.descriptor.description
    ]

    assert not silent
