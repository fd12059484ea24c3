# Every standard activity. Each name is loaded from its module on first use (lazy_exports.py).

from holdfast.activities.alterations import (
    AlterationPlanCompleted as AlterationPlanCompleted,
    SubmitAlterationPlan as SubmitAlterationPlan,
)
from holdfast.activities.bulk import BulkDispatchWorkflows as BulkDispatchWorkflows
from holdfast.activities.composition import (
    Composite as Composite,
    DispatchWorkflow as DispatchWorkflow,
    ExecuteWorkflow as ExecuteWorkflow,
    Scope as Scope,
)
from holdfast.activities.console import Log as Log, ReadLine as ReadLine, WriteLine as WriteLine
from holdfast.activities.control.attempt import Try as Try
from holdfast.activities.control.branch import If as If, Switch as Switch
from holdfast.activities.control.compensation import Compensable as Compensable, Compensate as Compensate
from holdfast.activities.control.flowchart import (
    Flowchart as Flowchart,
    FlowDecision as FlowDecision,
    FlowFork as FlowFork,
    FlowJoin as FlowJoin,
    FlowSwitch as FlowSwitch,
)
from holdfast.activities.control.loops import DoWhile as DoWhile, For as For, ForEach as ForEach, While as While
from holdfast.activities.control.parallel import Fork as Fork, Parallel as Parallel, ParallelForEach as ParallelForEach
from holdfast.activities.control.sequence import Sequence as Sequence
from holdfast.activities.control.signals import (
    Break as Break,
    Complete as Complete,
    Continue as Continue,
    End as End,
    Fault as Fault,
    Finish as Finish,
    Start as Start,
)
from holdfast.activities.control.state_machine import StateMachine as StateMachine
from holdfast.activities.data import (
    Correlate as Correlate,
    SetName as SetName,
    SetOutput as SetOutput,
    SetVariable as SetVariable,
)
from holdfast.activities.events import Event as Event, PublishEvent as PublishEvent, RunTask as RunTask
from holdfast.activities.http import (
    DownloadHttpFile as DownloadHttpFile,
    FlowSendHttpRequest as FlowSendHttpRequest,
    HttpEndpoint as HttpEndpoint,
    SendHttpRequest as SendHttpRequest,
    WriteFileHttpResponse as WriteFileHttpResponse,
    WriteHttpResponse as WriteHttpResponse,
)
from holdfast.activities.human import HumanTask as HumanTask
from holdfast.activities.scheduling import Cron as Cron, Delay as Delay, StartAt as StartAt, Timer as Timer
from holdfast.activities.scripting import Inline as Inline, RunScript as RunScript
