"""Tracebacks as data (file, line and function of each entry), and their reconstruction."""

from __future__ import annotations

import ast
import sys
from functools import lru_cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

Entry = tuple[str, int, str]

_OURS = str(Path(__file__).parents[2])
"""Frames of this package are removed from tracebacks: they are not part of the program that failed."""


def entries_of(traceback: TracebackType | None) -> list[list[Any]]:
    found: list[list[Any]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append([code.co_filename, traceback.tb_lineno, code.co_name])
        traceback = traceback.tb_next
    return found


def rebuild(entries: list[list[Any]]) -> TracebackType | None:
    made: TracebackType | None = None
    for file, line, name in reversed(entries):
        made = prepend_entry(made, file, line, name)
    return made


def prepend_entry(following: TracebackType | None, file: str, line: int, name: str) -> TracebackType:
    """A traceback that starts with that line."""
    frame, last = _frame(file, line, name)
    return TracebackType(following, frame, last, line)


def without_package_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the first entry outside this package."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_OURS):
        traceback = traceback.tb_next
    return traceback


@lru_cache(1024)
def _frame(file: str, line: int, name: str) -> tuple[FrameType, int]:
    tree = ast.parse("raise __error")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno = node.end_lineno = max(1, line)
            node.col_offset = node.end_col_offset = -1  # no column: no carets
    code = compile(tree, file, "exec").replace(co_name=name, co_qualname=name)
    try:
        exec(code, {"__error": Exception(), "__name__": name})  # noqa: S102 # one constant statement: only its frame is wanted
    except Exception:  # noqa: BLE001 # the one raised above
        traceback = sys.exc_info()[2]
        assert traceback is not None
        assert traceback.tb_next is not None
        return traceback.tb_next.tb_frame, traceback.tb_next.tb_lasti
    raise AssertionError("unreachable")
