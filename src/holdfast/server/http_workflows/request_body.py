"""Request bodies of HTTP workflows: read within the endpoint's limits and converted into workflow values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import PurePosixPath
from typing import Any, Self
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from holdfast.activities.http.endpoint import BAD_EXTENSION, BAD_MIME_TYPE, FILE_TOO_LARGE, TOO_LARGE
from holdfast.model.charsets import LISTED, codec_of
from holdfast.server.json_body import JsonLimits, JsonRefused, read_json
from holdfast.server.problems import Refusal
from holdfast.settings import Settings

DEPTH_MAX = 90
"""Nesting limit of JSON: workflow values allow 100 levels, and the body is nested inside one."""
PARSED_AT_ONCE = 65_536
"""Bytes of a form that are parsed before other tasks get their turn."""


class BodyLimits(Struct, frozen=True, kw_only=True):
    """Limits of the settings; an endpoint may set its own size."""

    size: int
    json_values: int
    form_parts: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            size=settings.http_request_size_max,
            json_values=settings.json_values_max,
            form_parts=settings.form_parts_max,
        )


class Body(Struct, frozen=True, kw_only=True):
    content: Any = None
    content_type: str = ""
    files: tuple[dict[str, Any], ...] = ()
    outcome: str | None = None
    """Validation error that the endpoint handles as an outcome instead of a refusal."""
    raw: bytes = b""


async def read_body(request: Request, endpoint: Mapping[str, Any], limits: BodyLimits) -> Body:
    """Raises a `Refusal`: 400 for a malformed body, 413 and 415 for a body that the endpoint does not accept."""
    exposed = endpoint.get("exposed") or ()
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "body.encoding", "Compressed bodies are not accepted. Send the body uncompressed.")
    raw = await _read(request, int(endpoint.get("request_size_limit") or limits.size))
    if raw is None:
        if TOO_LARGE in exposed:
            return Body(outcome=TOO_LARGE)
        raise Refusal(
            413,
            "body.too_large",
            "The body is larger than this endpoint accepts. Send less, or raise the endpoint's limit.",
        )
    if not raw:
        return Body()
    kind, parameters = _content_type(request.headers)
    if kind == "multipart/form-data":
        content, files = await _multipart(request.headers, raw, limits)
        outcome = _judged(files, endpoint, exposed)
        return Body(content=content, content_type=kind, files=tuple(files), outcome=outcome, raw=raw)
    return Body(content=_parsed(raw, kind, parameters.get("charset", "utf-8"), limits), content_type=kind, raw=raw)


async def _read(request: Request, limit: int) -> bytes | None:
    """None if the body is too large, by its header or while it is read."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        return None
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            return None
        parts.append(part)
    return b"".join(parts)


def _content_type(headers: Headers) -> tuple[str, dict[str, str]]:
    kind, *rest = headers.get("content-type", "").split(";")
    pairs = (item.partition("=") for item in rest)
    return kind.strip().lower(), {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _parsed(raw: bytes, kind: str, charset: str, limits: BodyLimits) -> Any:
    """JSON as data, forms as a dict, text as a string, everything else as bytes."""
    if kind == "application/json" or kind.endswith("+json"):
        try:
            return read_json(raw, JsonLimits(depth=DEPTH_MAX, values=limits.json_values), strict_numbers=True)
        except JsonRefused as error:
            raise Refusal(error.status, error.code, str(error)) from error
        except ValueError as error:
            raise Refusal(400, "body.malformed", f"The body is not JSON: {error}.") from error
    is_form = kind == "application/x-www-form-urlencoded"
    if not (is_form or kind.startswith("text/") or kind.endswith("xml")):
        return raw
    codec = codec_of(charset)
    if codec is None:
        raise Refusal(415, "body.charset", f"The charset is not one of: {LISTED}. Send UTF-8.")
    try:
        text = raw.decode(codec)
    except UnicodeError as error:
        raise Refusal(400, "body.malformed", f"The body is not valid {charset}: {error}.") from error
    if not is_form:
        return text
    try:
        return _fields(parse_qsl(text, keep_blank_values=True, max_num_fields=limits.form_parts))
    except ValueError as error:
        raise Refusal(400, "body.malformed", f"The form cannot be read: {error}.") from error


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A repeated field becomes a list."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


async def _multipart(headers: Headers, raw: bytes, limits: BodyLimits) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    async def stream() -> AsyncGenerator[bytes, None]:
        for start in range(0, len(raw), PARSED_AT_ONCE):
            yield raw[start : start + PARSED_AT_ONCE]
            await asyncio.sleep(0)

    try:
        form = await MultiPartParser(
            headers,
            stream(),
            max_files=limits.form_parts,
            max_fields=limits.form_parts,
            max_part_size=len(raw) + 1,
        ).parse()
    except MultiPartException as error:
        raise Refusal(400, "body.malformed", f"The form cannot be read: {error.message}") from error
    fields: list[tuple[str, Any]] = []
    files: list[dict[str, Any]] = []
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            content = await value.read()
            files.append(
                {
                    "name": name,
                    "filename": PurePosixPath((value.filename or "").replace("\\", "/")).name or name,
                    "content_type": (value.content_type or "application/octet-stream").lower(),
                    "size": len(content),
                    "content": content,
                }
            )
        else:
            fields.append((name, value))
    await form.close()
    return _fields(fields), files


def _judged(files: list[dict[str, Any]], endpoint: Mapping[str, Any], exposed: Any) -> str | None:
    """Checks the files: an outcome if the endpoint exposes one, a refusal otherwise."""
    size_max = endpoint.get("file_size_limit")
    allowed, blocked = _extensions(endpoint, "allowed"), _extensions(endpoint, "blocked")
    types = [str(item).lower() for item in endpoint.get("allowed_mime_types") or ()]
    for file in files:
        extension = PurePosixPath(file["filename"]).suffix.lower().removeprefix(".")
        wrong: tuple[int, str, str] | None = None
        if size_max and file["size"] > int(size_max):
            wrong = (413, "file.too_large", FILE_TOO_LARGE)
        elif (allowed and extension not in allowed) or extension in blocked:
            wrong = (415, "file.extension", BAD_EXTENSION)
        elif types and not any(_is_of(file["content_type"], item) for item in types):
            wrong = (415, "file.type", BAD_MIME_TYPE)
        if wrong is not None:
            status, code, outcome = wrong
            if outcome in exposed:
                return outcome
            raise Refusal(status, code, f"'{file['filename']}': {outcome.lower()}.")
    return None


def _extensions(endpoint: Mapping[str, Any], which: str) -> set[str]:
    return {str(item).lower().removeprefix(".") for item in endpoint.get(f"{which}_file_extensions") or ()}


def _is_of(kind: str, allowed: str) -> bool:
    """`image/*` allows every image."""
    return kind == allowed or (allowed.endswith("/*") and kind.startswith(allowed[:-1]))
