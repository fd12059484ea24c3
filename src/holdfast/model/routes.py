"""Route templates of HTTP endpoints: `orders/{id}/lines`, `files/{*rest}`.

Routes are found by key, not by trying all templates. The key is the literal beginning, then a star for each remaining segment
(`orders/*/*`), or two stars for a catch-all (`files/**`). A path of n segments can match templates of 2n + 2 keys only, so a
request finds its triggers and bookmarks with one lookup in any store. Templates with equal keys are then compared segment by
segment: a literal wins over a parameter, a parameter over a catch-all. Templates that differ only in parameter names are one
route.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from holdfast.errors import DefinitionError

ENDPOINT = "HttpEndpoint"
"""The stimulus type of HTTP requests."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
SEGMENTS_MAX = 24

_PARAMETER = re.compile(r"\{(?P<stars>\*{0,2})(?P<name>[A-Za-z_]\w*)(?::(?P<kind>[a-z]+))?\}")
_KINDS: Mapping[str, re.Pattern[str]] = {
    "int": re.compile(r"-?\d+"),
    "long": re.compile(r"-?\d+"),
    "decimal": re.compile(r"-?\d+(\.\d+)?"),
    "guid": re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"),
    "bool": re.compile(r"(?i:true|false)"),
    "alpha": re.compile(r"[A-Za-z]+"),
}


class Segment(Struct, frozen=True):
    text: str
    """A literal in lower case, or the name of a parameter."""
    kind: str = "literal"
    """`literal`, `parameter` or `rest`."""
    constraint: str | None = None

    @property
    def rank(self) -> int:
        """Smaller wins. A constrained parameter wins over an unconstrained one."""
        if self.kind == "literal":
            return 0
        if self.kind == "rest":
            return 3
        return 1 if self.constraint else 2


class Route(Struct, frozen=True):
    template: str
    segments: tuple[Segment, ...]

    @property
    def key(self) -> str:
        literals: list[str] = []
        for segment in self.segments:
            if segment.kind != "literal":
                break
            literals.append(segment.text)
        rest = self.segments[len(literals) :]
        stars = ["**"] if rest and rest[-1].kind == "rest" else ["*"] * len(rest)
        return "/".join([*literals, *stars])

    @property
    def shape(self) -> str:
        """The route without parameter names; equal for templates that match the same requests."""
        words = {"literal": None, "parameter": "{}", "rest": "{*}"}
        return "/".join(
            words[item.kind] or item.text if item.constraint is None else f"{{:{item.constraint}}}"
            for item in self.segments
        )

    @property
    def rank(self) -> tuple[int, ...]:
        """Of two routes that match a path, the one with the smaller rank wins."""
        return tuple(item.rank for item in self.segments)

    def match(self, parts: Sequence[str]) -> dict[str, str] | None:
        """The values of the parameters, or None if the path does not match."""
        values: dict[str, str] = {}
        for position, segment in enumerate(self.segments):
            if segment.kind == "rest":
                values[segment.text] = "/".join(parts[position:])
                return values
            if position >= len(parts):
                return None
            part = parts[position]
            if segment.kind == "literal":
                if part.lower() != segment.text:
                    return None
            elif segment.constraint and not _KINDS[segment.constraint].fullmatch(part):
                return None
            else:
                values[segment.text] = part
        return values if len(parts) == len(self.segments) else None


def parse_route(template: str) -> Route:
    """Raises `DefinitionError` for an invalid template."""
    text = template.strip()
    if "//" in text:
        raise DefinitionError(f"The path '{template}' has an empty segment ('//'). Remove one slash.")
    parts = [part for part in text.strip("/").split("/") if part]
    if len(parts) > SEGMENTS_MAX:
        raise DefinitionError(f"The path '{template}' has more than {SEGMENTS_MAX} segments.")
    segments = tuple(_segment(part, template) for part in parts)
    names = [item.text for item in segments if item.kind != "literal"]
    if len(set(names)) != len(names):
        raise DefinitionError(f"The path '{template}' names a parameter twice. Give each parameter its own name.")
    if any(item.kind == "rest" for item in segments[:-1]):
        raise DefinitionError(f"In the path '{template}' a segment follows a catch-all. The catch-all must come last.")
    return Route(template="/" + "/".join(parts), segments=segments)


def _segment(part: str, template: str) -> Segment:
    if "{" not in part and "}" not in part:
        return Segment(part.lower())
    found = _PARAMETER.fullmatch(part)
    if found is None:
        raise DefinitionError(
            f"'{part}' in the path '{template}' is not a valid segment. Write a word, a parameter such as {{id}} or {{id:int}}, "
            "or a catch-all such as {*rest}."
        )
    kind = found["kind"]
    if kind is not None and kind not in _KINDS:
        raise DefinitionError(
            f"'{kind}' in the path '{template}' is not a known constraint. Use one of {', '.join(_KINDS)}."
        )
    return Segment(found["name"], "rest" if found["stars"] else "parameter", kind)


def endpoint_key(route: Route, method: str) -> dict[str, Any]:
    """The key that triggers and bookmarks of this route are matched by."""
    return {"route": route.key, "method": method.lower()}


def named_endpoint(type_name: str, payload: Any) -> tuple[Route, str] | None:
    """The route and method of a dispatched payload `{"path", "method"}` for HTTP endpoints, also with Elsa's `Path` and `Method`.

    None: the stimulus is not for HTTP endpoints, or its payload is already a key. The path is a template as in the
    definition; the method is GET by default. Raises `DefinitionError`.
    """
    if type_name != ENDPOINT or not isinstance(payload, Mapping):
        return None
    given = {str(name).lower(): value for name, value in payload.items()}
    if not isinstance(given.get("path"), str) or not given.keys() <= {"path", "method"}:
        return None
    method = str(given.get("method") or "GET").upper()
    if method not in METHODS:
        raise DefinitionError(f"Unknown HTTP method: {method}. Supported: {', '.join(METHODS)}.")
    return parse_route(given["path"]), method


def request_keys(parts: Sequence[str], method: str) -> list[dict[str, Any]]:
    """The keys of all routes that can match a path."""
    words = [part.lower() for part in parts]
    routes = ["/".join([*words[:cut], *["*"] * (len(words) - cut)]) for cut in range(len(words) + 1)]
    routes += ["/".join([*words[:cut], "**"]) for cut in range(len(words) + 1)]
    return [{"route": route, "method": method.lower()} for route in routes]
