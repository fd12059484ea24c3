"""Control flow activities."""

from __future__ import annotations

from holdfast.activities.control.attempt import Try
from holdfast.activities.control.branch import If, Switch
from holdfast.activities.control.compensation import Compensable, Compensate
from holdfast.activities.control.flowchart import Flowchart, FlowDecision, FlowFork, FlowJoin, FlowSwitch
from holdfast.activities.control.loops import DoWhile, For, ForEach, While
from holdfast.activities.control.parallel import Fork, Parallel, ParallelForEach
from holdfast.activities.control.sequence import Sequence
from holdfast.activities.control.signals import Break, Complete, Continue, End, Fault, Finish, Start
from holdfast.activities.control.state_machine import StateMachine

CONTROL = (
    Sequence,
    Flowchart,
    FlowDecision,
    FlowSwitch,
    FlowFork,
    FlowJoin,
    If,
    Switch,
    For,
    ForEach,
    While,
    DoWhile,
    ParallelForEach,
    Parallel,
    Fork,
    StateMachine,
    Break,
    Continue,
    Complete,
    Finish,
    Fault,
    Start,
    End,
    Try,
    Compensable,
    Compensate,
)
