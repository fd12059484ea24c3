"""Ids that contain a slash: `%2F` in a path segment does not end the segment.

ASGI servers hand over decoded paths, in which `sales%2Fgreet` would be two segments. So the path is decoded again from its raw
form with a mark in place of each encoded slash, and routes turn the mark back into a slash in their path parameters. Proxies
may decode addresses before they arrive; new definitions therefore cannot have such ids, but existing ones stay reachable.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from starlette.convertors import StringConvertor
from starlette.routing import BaseRoute
from starlette.types import Scope

MARK = "\ufdd0"
"""A Unicode noncharacter, reserved for use inside a program: no id contains it."""
_ENCODED = re.compile(rb"%2f", re.IGNORECASE)


def mark_slashes(scope: Scope) -> Scope:
    """The scope with marks in place of encoded slashes; the same scope if there are none."""
    raw: bytes = scope.get("raw_path") or b""
    if not _ENCODED.search(raw):
        return scope
    return {**scope, "path": unquote(_ENCODED.sub(MARK.encode(), raw))}


def restore_slash(text: str) -> str:
    return text.replace(MARK, "/")


class _Slashed(StringConvertor):
    def convert(self, value: str) -> str:
        return restore_slash(value)


def restore_slashes(route: BaseRoute) -> None:
    """Make the text parameters of this route contain slashes again."""
    found: dict[str, Any] = getattr(route, "param_convertors", {})
    for name, convertor in found.items():
        if type(convertor) is StringConvertor:
            found[name] = _Slashed()
