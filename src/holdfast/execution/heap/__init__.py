"""Heap: the variables of compiled functions as JSON, one heap per instance, so that shared objects stay shared.

It stores everything that `model.values` can encode, plus the values that Python code keeps between two awaits:
iterators with their position, exceptions with cause, context and traceback, bound methods, and modules, classes and
functions that the definition refers to. Data never causes an import.
"""

from __future__ import annotations

from holdfast.execution.heap.heap_book import HeapBook
from holdfast.execution.heap.heap_pages import HeapPages
from holdfast.execution.heap.iterators import is_storable_iterator
from holdfast.execution.heap.object_writer import UnstorableValue, object_codec
from holdfast.execution.heap.reader import read_heap
from holdfast.execution.heap.writer import write_heap

__all__ = [
    "HeapBook",
    "HeapPages",
    "UnstorableValue",
    "is_storable_iterator",
    "object_codec",
    "read_heap",
    "write_heap",
]
