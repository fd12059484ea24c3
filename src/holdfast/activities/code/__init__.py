"""What functions written in plain Python are made of, where the ordinary activities do not fit.

They share the frame of their function (`execution/frames.py`): one scope that holds its locals and temporaries. Jumps
(`return`, `break`, `continue`) travel by the same hooks as the activities Break and Continue; exceptions are faults.
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
