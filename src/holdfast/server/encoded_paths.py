"""Ids with a slash in an address: `%2F` within a part of a path is no end of that part.

Servers hand paths over decoded, and what was `sales%2Fgreet` would be two parts. So the path is read again from its raw form,
with a mark in place of each such slash, and a route gives the slash back to what it reads from its path. Proxies may decode
addresses before we see them; new definitions get no such ids therefore, but those of before stay within reach.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from starlette.convertors import StringConvertor
from starlette.routing import BaseRoute
from starlette.types import Scope

MARK = "\ufdd0"
"""One of the characters that Unicode keeps for use within a program: nobody's id holds it."""
_ENCODED = re.compile(rb"%2f", re.IGNORECASE)


def mark_slashes(scope: Scope) -> Scope:
    """The scope of a request with marks for slashes that do not part its path; itself if there are none."""
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
    """Of this route's parameters, those that are texts hold slashes again."""
    found: dict[str, Any] = getattr(route, "param_convertors", {})
    for name, convertor in found.items():
        if type(convertor) is StringConvertor:
            found[name] = _Slashed()
