"""Refusals at import: file, line, the underlined code, and a remedy."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

from holdfast.errors import WorkflowRefused


class Place:
    """Location of a function's text, for messages."""

    def __init__(self, file: str, first_line: int, lines: Sequence[str]) -> None:
        self.file = file
        self.offset = first_line - 1
        self.lines = lines

    def line_of(self, node: ast.AST) -> int:
        return int(getattr(node, "lineno", 1)) + self.offset

    def text_of(self, node: ast.AST) -> str:
        """The user's text of a node; empty for generated nodes."""
        first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
        if not 0 < first <= last <= len(self.lines):
            return ""
        lines = [line.encode() for line in self.lines[first - 1 : last]]
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][start:]
        return b" ".join(lines).decode()

    def refuse(self, rule: str, node: ast.AST, message: str, remedy: str) -> NoReturn:
        raise WorkflowRefused(
            rule, message, remedy, file=self.file, line=self.line_of(node), shown=self._underlined(node)
        )

    def _underlined(self, node: ast.AST) -> str:
        number = int(getattr(node, "lineno", 0))
        if not 0 < number <= len(self.lines):
            return ""
        text = self.lines[number - 1].rstrip()
        start = int(getattr(node, "col_offset", 0))
        ends_here = getattr(node, "end_lineno", number) == number
        end = int(getattr(node, "end_col_offset", start + 1)) if ends_here else len(text)
        return f"    {text}\n    {' ' * start}{'^' * max(1, end - start)}\n"
