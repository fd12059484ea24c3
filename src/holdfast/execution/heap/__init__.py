"""The variables of compiled functions as JSON, all of an instance together: two names for one object stay one object.

What `model.values` keeps is kept as it does; beyond that, for the values that Python code leaves in its names between two
awaits: iterators with their position, exceptions with cause, context and traceback, bound methods, and the modules, classes
and functions that the definition itself refers to. Nothing is imported because data names it.
"""

from __future__ import annotations

from holdfast.execution.heap.iterators import is_kept_iterator
from holdfast.execution.heap.reader import read_heap
from holdfast.execution.heap.writer import Unkept, write_heap

__all__ = ["Unkept", "is_kept_iterator", "read_heap", "write_heap"]
