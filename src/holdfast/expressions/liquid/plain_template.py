"""Templates of text and simple names (`Dear {{ Variables.Name }}`), rendered in this process.

They need no parser and no limit: the text is scanned once, and a rendered value is a text, a number, a boolean or nothing.
Everything else is left to a child process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from holdfast.expressions.budget import MAX_TEXT

Part = str | tuple[str, tuple[str, ...]]
"""Text, or a root (`Variables`, `Input`) and the names below it."""
Lookup = Callable[[str, str], Any]
"""(root, name) → plain value; None if there is none."""

_PATH = re.compile(r"(Variables|Input)((?:\.[A-Za-z_][A-Za-z0-9_]*)+)")
_OUTPUT_MAX = 200
"""Maximum characters between the braces; longer ones are left to the parser."""
_RESERVED = frozenset({"size", "first", "last"})
"""Names with a meaning of their own in Liquid."""


def plain_parts(source: str) -> tuple[Part, ...] | None:
    """The parts of a template, or None if it is not plain."""
    parts: list[Part] = []
    position = 0
    while (begin := source.find("{", position)) >= 0:
        follows = source[begin + 1 : begin + 2]
        if follows == "%" or source[begin + 2 : begin + 3] == "-":
            return None
        if follows != "{":
            parts.append(source[position : begin + 1])
            position = begin + 1
            continue
        end = source.find("}}", begin, begin + _OUTPUT_MAX)
        match = _PATH.fullmatch(source[begin + 2 : end].strip(" ")) if end > 0 else None
        names = () if match is None else tuple(match[2].split(".")[1:])
        if match is None or _RESERVED.intersection(names):
            return None
        parts += [source[position:begin], (match[1], names)]
        position = end + 2
    parts.append(source[position:])
    return tuple(part for part in parts if part)


def render_plain(parts: tuple[Part, ...], lookup: Lookup) -> str | None:
    """The text, or None if a value needs the rules of Liquid."""
    made: list[str] = []
    for part in parts:
        if isinstance(part, str):
            made.append(part)
            continue
        root, (name, *rest) = part
        value = lookup(root, name)
        for step in rest:
            if type(value) is not dict:
                return None
            value = value.get(step)
        text = _text(value)
        if text is None:
            return None
        made.append(text)
    rendered = "".join(made)
    return rendered if len(rendered) <= MAX_TEXT else None


def _text(value: Any) -> str | None:
    if value is None:
        return ""
    if value is True or value is False:
        return "true" if value else "false"
    if type(value) is str:
        return value
    return str(value) if type(value) is int and -(1 << 53) <= value <= 1 << 53 else None
