"""Tables: drawn on a terminal, plain lines elsewhere, so that programs can parse them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import IO, Any

from holdfast.model.problem import Problem

Row = Sequence[str]
_WORD_LENGTH_MAX = 16
"""Maximum length of a word that is not broken on a terminal."""
_UNBOUNDED_WIDTH = 100_000
"""Wider than any table."""
_COLORS = {"error": "red", "warning": "yellow"}


def show_table(columns: Row, rows: Sequence[Row], *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    if stream.isatty():
        _draw(columns, rows, stream)
        return
    _write(columns, rows, stream)


def _write(columns: Row, rows: Sequence[Row], stream: IO[str]) -> None:
    widths = [max(len(row[index]) for row in (columns, *rows)) for index in range(len(columns))]
    for row in (columns, *rows):
        stream.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")


def show_problems(problems: Sequence[tuple[str, Problem]]) -> None:
    """On stderr: a table on a terminal; otherwise one line each, with the place first, like a compiler."""
    rows = [(place, _path(item), str(item.severity), item.message, item.remedy) for place, item in problems]
    if rows and sys.stderr.isatty() and not any("\n" in what for *_, what, _ in rows):  # code keeps its line breaks
        _draw(("where", "path", "severity", "what", "remedy"), rows, sys.stderr)
    else:
        for place, path, severity, what, remedy in rows:
            sys.stderr.write(f"{place}: {path}: {severity}: {what} {remedy}".rstrip() + "\n")
    if any(item.code == "unknown-type" for _, item in problems):
        sys.stderr.write(
            "Load activities in Python with --activities MODULE, and workflows as activities with --with FILE.\n"
        )


def show_json(data: Any, *, indent: int | None = None) -> None:
    """On stdout. Characters that stdout cannot encode become JSON escapes, so that the output stays valid JSON."""
    plain = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") not in {"utf8", "utf8sig"}
    sys.stdout.write(json.dumps(data, ensure_ascii=plain, indent=indent) + "\n")


def _path(problem: Problem) -> str:
    return problem.path or "/"


def _draw(columns: Row, rows: Sequence[Row], stream: IO[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    filled = [index for index in range(len(columns)) if not rows or any(row[index] for row in rows)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index in filled:  # Never truncate: ids must be copyable, and words stay whole while there is room.
        words = " ".join((columns[index], *(row[index] for row in rows))).split()
        widest = min(max(map(len, words), default=0), _WORD_LENGTH_MAX)
        table.add_column(columns[index], no_wrap=columns[index] == "id", overflow="fold", min_width=widest)
    for row in rows:
        table.add_row(*(Text(row[index], style=_COLORS.get(row[index], "")) for index in filled))
    console = Console(file=stream)
    unbounded = console.options.update(width=_UNBOUNDED_WIDTH)
    if console.measure(table, options=unbounded).minimum > console.width:  # Too narrow: print folded lines instead.
        _write(columns, rows, stream)
        return
    console.print(table)
