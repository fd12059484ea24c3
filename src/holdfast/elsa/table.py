"""Mapping table between Elsa's activities and ours, shared by reader and writer.

Notation of a row: fields are separated by commas and written as `elsaKey` or `elsaKey=our_name`, with `:Type` for the
Elsa type of an input (default `Object`). Without `our_name`, it is Elsa's name in snake_case. `!` marks a property that
is plain JSON, not wrapped as `{typeName, expression}`. A type listed in CHOICES is an enumeration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

CHOICES: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        "SwitchMode": (("MatchFirst", "match_first"), ("MatchAny", "match_any")),
        "ForkJoinMode": (("WaitAll", "wait_all"), ("WaitAny", "wait_any")),
        "FlowJoinMode": (("WaitAll", "wait_all"), ("WaitAllActive", "wait_all_active"), ("WaitAny", "wait_any")),
    }
)
"""Elsa's enumerations with our values; the position is Elsa's number."""

CHOICE_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "SwitchMode": "Elsa.Workflows.Activities.SwitchMode, Elsa.Workflows.Core",
        "ForkJoinMode": "Elsa.Workflows.Activities.ForkJoinMode, Elsa.Workflows.Core",
        "FlowJoinMode": "Elsa.Workflows.Activities.Flowchart.Models.FlowJoinMode, Elsa.Workflows.Core",
    }
)


class InputField(Struct, frozen=True, kw_only=True):
    elsa: str
    ours: str
    type: str = "Object"
    raw: bool = False
    """Plain JSON, not wrapped as `{typeName, expression}`."""
    variable: bool = False
    """Refers to a variable: `{id, name, typeName}` in Elsa, its name here."""

    @property
    def choices(self) -> tuple[tuple[str, str], ...]:
        return CHOICES.get(self.type, ())

    @property
    def type_name(self) -> str:
        return CHOICE_TYPES.get(self.type, self.type)


class EntriesField(Struct, frozen=True, kw_only=True):
    """A port whose items contain data and activities."""

    elsa: str
    ours: str
    data: tuple[InputField, ...] = ()
    activities: tuple[tuple[str, str], ...] = ()
    expressions: frozenset[str] = frozenset()
    """Data that is a bare `{type, value}`, such as the condition of a case."""


class Row(Struct, frozen=True, kw_only=True):
    elsa: str
    ours: str
    inputs: tuple[InputField, ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    """Elsa's name (camelCase) and ours."""
    ports: tuple[tuple[str, str], ...] = ()
    """Ports of one activity."""
    lists: tuple[tuple[str, str], ...] = ()
    """Ports of many activities."""
    entries: tuple[EntriesField, ...] = ()
    fixed: Mapping[str, Any] = {}
    """Our inputs that Elsa expresses by the activity type itself."""
    flowchart: bool = False


def snake(name: str) -> str:
    """`outerBoundInclusive` → `outer_bound_inclusive`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def camel(name: str) -> str:
    """`outer_bound` → `outerBound`."""
    head, *rest = name.split("_")
    return head[:1].lower() + head[1:] + "".join(part.capitalize() for part in rest)


def _inputs(notation: str) -> tuple[InputField, ...]:
    return tuple(_input(part) for part in _fields(notation))


def _input(text: str) -> InputField:
    names, _, type_name = text.partition(":")
    raw = names.startswith("!")
    elsa, _, ours = names.removeprefix("!").partition("=")
    return InputField(
        elsa=elsa, ours=ours or snake(elsa), type=type_name or "Object", raw=raw, variable=type_name == "Variable"
    )


def _pairs(notation: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.partition("=") for part in _fields(notation))
    return tuple((elsa, ours or snake(elsa)) for elsa, _, ours in pairs)


def _fields(notation: str) -> Iterator[str]:
    return (part.strip() for part in notation.split(",") if part.strip())


def _row(
    elsa: str,
    ours: str = "",
    inputs: str = "",
    outputs: str = "",
    *,
    ports: str = "",
    lists: str = "",
    entries: tuple[EntriesField, ...] = (),
    fixed: Mapping[str, Any] | None = None,
) -> Row:
    return Row(
        elsa=f"Elsa.{elsa}",
        ours=ours or elsa,
        inputs=_inputs(inputs),
        outputs=_pairs(outputs),
        ports=_pairs(ports),
        lists=_pairs(lists),
        entries=entries,
        fixed=fixed or {},
        flowchart=elsa == "Flowchart",
    )


def _entries(name: str, data: str, activities: str = "", expressions: str = "") -> EntriesField:
    ((elsa, ours),) = _pairs(name)
    return EntriesField(
        elsa=elsa,
        ours=ours,
        data=_inputs(data),
        activities=_pairs(activities),
        expressions=frozenset(_fields(expressions)),
    )


_CASES = "!label:String, condition:Boolean"
_REQUEST = (
    "url:String, method:String, content, contentType:String, authorization:String,"
    "disableAuthorizationHeaderValidation:Boolean, requestHeaders:HttpHeaders, enableResiliency:Boolean"
)
_RESPONSE = "result, statusCode, parsedContent, responseHeaders"
_CHILD = (
    "workflowDefinitionId=workflow:String, correlationId:String, input:ObjectDictionary, waitForCompletion=wait:Boolean"
)
_SCRIPT = "script:String, possibleOutcomes=outcomes:List<String>"

ROWS: tuple[Row, ...] = (
    # containers and control flow
    _row("Sequence", lists="activities"),
    _row("Flowchart", lists="activities"),
    _row("Parallel", lists="activities"),
    _row("Fork", inputs="!joinMode=join:ForkJoinMode", lists="branches"),
    _row("If", inputs="condition:Boolean", outputs="result", ports="then, else=otherwise"),
    _row(
        "Switch",
        inputs="mode:SwitchMode",
        ports="default",
        entries=(_entries("cases", _CASES, "activity", expressions="condition"),),
    ),
    _row(
        "For",
        inputs="start:Int32, end:Int32, step:Int32, outerBoundInclusive=inclusive:Boolean",
        outputs="currentValue",
        ports="body",
    ),
    _row("ForEach", inputs="items:ICollection<Object>", outputs="currentValue", ports="body"),
    _row("ParallelForEach", inputs="items", ports="body"),
    _row("While", inputs="condition:Boolean", ports="body"),
    _row("FlowNode", "Scope", ports="body"),
    _row("FlowDecision", inputs="condition:Boolean"),
    _row("FlowSwitch", inputs="mode:SwitchMode", entries=(_entries("cases", _CASES, expressions="condition"),)),
    _row("FlowFork", inputs="branches:ICollection<String>"),
    _row("FlowJoin", inputs="mode:FlowJoinMode"),
    _row(
        "StateMachine",
        inputs="!initialState=initial:String",
        entries=(
            _entries("states", "!name:String", "entry, exit"),
            _entries("transitions", "!name:String, !from:String, !to:String, condition:Boolean", "trigger, action"),
        ),
    ),
    _row("Break"),
    _row("Complete", inputs="outcomes"),
    _row("Finish"),
    _row("Fault", inputs="message:String, code:String, category:String, faultType:String"),
    _row("Start"),
    _row("End"),
    # data
    _row("Correlate", inputs="correlationId:String"),
    _row("SetName", inputs="value=name:String"),
    _row("SetVariable", inputs="!variable:Variable, value"),
    _row("SetOutput", inputs="outputName=name:String, outputValue=value"),
    _row("WriteLine", inputs="text:String"),
    _row("ReadLine", outputs="result"),
    _row("RunJavaScript", "RunScript", _SCRIPT, "result", fixed={"language": "javascript"}),
    _row("RunPython", "RunScript", _SCRIPT, "result", fixed={"language": "python"}),
    _row("Log", inputs="message:String, level, category:String, arguments, attributes"),
    # events, time, other workflows
    _row("Event", inputs="eventName:String", outputs="result"),
    _row("PublishEvent", inputs="eventName:String, correlationId:String, isLocalEvent=local:Boolean, payload"),
    _row("RunTask", inputs="taskName:String, payload:ObjectDictionary", outputs="taskId, result"),
    _row("Delay", inputs="timeSpan=duration:TimeSpan"),
    _row("Timer", inputs="interval:TimeSpan"),
    _row("Cron", inputs="cronExpression=expression:String"),
    _row("StartAt", inputs="dateTime=at:DateTimeOffset"),
    _row("ExecuteWorkflow", inputs=_CHILD, outputs="result"),
    _row("DispatchWorkflow", inputs=_CHILD, outputs="result"),
    _row(
        "BulkDispatchWorkflows",
        inputs="workflowDefinitionId=workflow:String, items, defaultItemInputKey=item_input_key:String,"
        "correlationIdFunction=correlation_id:String, input:ObjectDictionary, waitForCompletion=wait:Boolean",
        ports="childCompleted, childFaulted",
    ),
    # Alterations
    _row("AlterationPlanCompleted", inputs="planId:String"),
    # HTTP
    _row(
        "HttpEndpoint",
        inputs="path:String, supportedMethods:ICollection<String>, authorize:Boolean, policy:String,"
        "requestTimeout:TimeSpan, requestSizeLimit:Int64, fileSizeLimit:Int64, allowedFileExtensions:ICollection<String>,"
        "blockedFileExtensions:ICollection<String>, allowedMimeTypes:ICollection<String>,"
        "!exposeRequestTooLargeOutcome:Boolean, !exposeFileTooLargeOutcome:Boolean,"
        "!exposeInvalidFileExtensionOutcome:Boolean, !exposeInvalidFileMimeTypeOutcome:Boolean",
        outputs="result, parsedContent, files, file, routeData, queryStringData, headers",
    ),
    _row(
        "WriteHttpResponse",
        inputs="statusCode:HttpStatusCode, content, contentType:String, responseHeaders:HttpHeaders",
    ),
    _row(
        "WriteFileHttpResponse",
        inputs="contentType:String, filename:String, entityTag:String, content, enableResumableDownloads:Boolean,"
        "downloadCorrelationId:String",
    ),
    _row(
        "SendHttpRequest",
        inputs=_REQUEST,
        outputs=_RESPONSE,
        ports="unmatchedStatusCode, failedToConnect, timeout",
        entries=(_entries("expectedStatusCodes", "!statusCode:Int32", "activity"),),
    ),
    _row(
        "FlowSendHttpRequest",
        inputs=f"{_REQUEST}, expectedStatusCodes:ICollection<Int32>",
        outputs=_RESPONSE,
    ),
    _row(
        "DownloadHttpFile",
        inputs="url:String, method:String, expectedStatusCodes:ICollection<Int32>, content, requestContentType:String,"
        "authorization:String, disableAuthorizationHeaderValidation:Boolean, requestHeaders:HttpHeaders",
        outputs="result, response, statusCode, responseContentStream, responseContentBytes, responseHeaders,"
        "responseContentHeaders",
    ),
)

BY_ELSA: Mapping[str, Row] = MappingProxyType({row.elsa: row for row in ROWS})

_OWN_NAMESPACES = re.compile(r"^Elsa\.(?:Workflows|Http|Scheduling|JavaScript|Expressions)\.(?:\w+\.)*(?P<name>\w+)$")


def row_for_elsa(type_name: str) -> Row | None:
    """The row of an Elsa type; also accepts the full name of its class (`Elsa.Workflows.Activities.If`)."""
    found = BY_ELSA.get(type_name)
    if found is None and (match := _OWN_NAMESPACES.match(type_name)):
        found = BY_ELSA.get(f"Elsa.{match['name']}")
    return found


def row_for_ours(type_name: str, inputs: Mapping[str, Any]) -> Row | None:
    """The row of one of our types. If Elsa has a type per language, the row of this language."""
    for row in ROWS:
        if row.ours == type_name and all(inputs.get(name) == value for name, value in row.fixed.items()):
            return row
    return None
