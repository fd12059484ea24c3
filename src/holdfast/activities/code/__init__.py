"""Activities of compiled Python functions, for constructs that the ordinary activities do not cover.

All nodes of a function share its frame (`execution/frames.py`): one scope with the locals and temporaries. Jumps
(`return`, `break`, `continue`) use the same hooks as the activities Break and Continue. Exceptions are faults.
"""

from __future__ import annotations

from holdfast.activities.code.attempt import Attempt
from holdfast.activities.code.block import Code
from holdfast.activities.code.branches import Branch, First, Gather, Undo
from holdfast.activities.code.children import RunChild
from holdfast.activities.code.choice import Choose
from holdfast.activities.code.function import Function, Return
from holdfast.activities.code.loops import LoopOver, LoopWhile
from holdfast.activities.code.waits import Sleep, WaitFor

ACTIVITIES = (
    Function,
    Return,
    Code,
    LoopOver,
    LoopWhile,
    Attempt,
    Choose,
    Gather,
    First,
    Branch,
    Undo,
    Sleep,
    WaitFor,
    RunChild,
)
