"""HTTP responses: stored with the commit, sent after it."""

from __future__ import annotations

import io
import mimetypes
import re
import zipfile
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field
from holdfast.errors import ExecutionError
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import captured
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.model.replies import OPEN_REQUESTS, HttpReply
from holdfast.model.scope import Scope
from holdfast.model.types import convert

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
BYTES = "application/octet-stream"
FRAMING = frozenset(
    {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that control the transfer of a response; the server sets them."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""Constant timestamp: a retried segment must produce the same bytes."""


class WriteHttpResponse(Activity, pure=True, category="HTTP", icon="reply", display_name="HTTP Response"):
    """Responds to the latest HTTP request that the workflow received. The response is sent after the commit."""

    status_code: int = 200
    """HTTP status, 200 to 599."""
    content: Any = field(default=None, evaluated=False)
    """Body of the response. Objects and lists are sent as JSON."""
    content_type: str | None = None
    """Content type. Default: by the type of the content."""
    response_headers: dict[str, Any] | None = None
    """Additional headers. A list sends the header several times."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        status_of, content_of = builder.input("status_code", 200), builder.input("content")
        type_of, headers_of = builder.input("content_type"), builder.input("response_headers")

        def write(live: LiveInstance, scope: Scope) -> Any:
            content_type, body = encoded(content_of(scope), type_of(scope))
            reply = HttpReply(
                status=_status(status_of(scope)),
                headers=_headers(headers_of(scope)),
                content_type=_sendable("content-type", content_type) if body else None,
                body=body,
            )
            answer(live, reply)
            return {"status_code": reply.status, "content": captured(body[:256].decode(errors="replace"))}

        return builder.leaf(write)


class WriteFileHttpResponse(Activity, pure=True, category="HTTP", icon="file-down", display_name="HTTP File Response"):
    """Responds with a file. Several files are sent as a ZIP archive; no file gives status 204."""

    content: Any = field(default=None, evaluated=False)
    """Bytes, text, an uploaded file, or a list of these."""
    filename: str | None = None
    """File name that the browser suggests."""
    content_type: str | None = None
    """Content type. Default: by the file name."""
    entity_tag: str | None = None
    """Entity tag (`ETag`) of the file."""
    enable_resumable_downloads: bool = False
    """Allow clients to request parts of the file (`Range`)."""
    download_correlation_id: str | None = field(default=None, shown_when={"enable_resumable_downloads": True})
    """Accepted for Elsa documents; not used."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        inputs = {
            name: builder.input(name)
            for name in ("content", "filename", "content_type", "entity_tag", "enable_resumable_downloads")
        }

        def write(live: LiveInstance, scope: Scope) -> Any:
            given = {name: read(scope) for name, read in inputs.items()}
            files = _files(given["content"])
            if not files:
                answer(live, HttpReply(status=204))
                return {"files": 0}
            name, content_type, body = files[0] if len(files) == 1 else ("download.zip", "application/zip", _zip(files))
            name = str(given["filename"] or name)
            headers = [("content-disposition", f"attachment; filename*=UTF-8''{quote(name)}")]
            if given["entity_tag"]:
                tag = str(given["entity_tag"])
                headers.append(("etag", _sendable("etag", tag if '"' in tag else f'"{tag}"')))
            kind = given["content_type"] or content_type or mimetypes.guess_type(name)[0] or BYTES
            answer(
                live,
                HttpReply(
                    headers=tuple(headers),
                    content_type=_sendable("content-type", str(kind)),
                    body=body,
                    resumable=bool(given["enable_resumable_downloads"]),
                ),
            )
            return {"files": len(files), "filename": name, "bytes": len(body)}

        return builder.leaf(write)


def answer(live: LiveInstance, reply: HttpReply) -> None:
    """Reply to the latest request that has no reply yet."""
    waiting = live.properties.get(OPEN_REQUESTS) or []
    if not waiting:
        raise ExecutionError(
            "No HTTP request is waiting for a response. Start the workflow by an HttpEndpoint, or place one before this activity."
        )
    live.replies = {**live.replies, str(waiting[-1]): reply}
    others = {name: value for name, value in live.properties.items() if name != OPEN_REQUESTS}
    rest = list(waiting[:-1])
    live.properties = {**others, OPEN_REQUESTS: rest} if rest else others


def encoded(content: Any, content_type: str | None) -> tuple[str, bytes]:
    """Content type and body bytes. An explicit content type takes precedence."""
    if content is None:
        return content_type or TEXT, b""
    if isinstance(content, bytes | bytearray):
        return content_type or BYTES, bytes(content)
    if isinstance(content, str):
        return content_type or TEXT, content.encode()
    return content_type or JSON, str(convert(content, "string")).encode()


def _status(value: Any) -> int:
    status = int(value)
    if not 200 <= status <= 599:
        raise ExecutionError(f"{status} is not a valid HTTP response status. Use one from 200 to 599.")
    return status


def _headers(given: Any) -> tuple[tuple[str, str], ...]:
    """A list sends the header several times. Framing headers are dropped: the server sets them."""
    found: list[tuple[str, str]] = []
    for key, value in dict(given or {}).items():
        name = str(key).lower()
        if not _NAME.fullmatch(name):
            raise ExecutionError(f"'{key}' is not a valid header name. Use letters, digits and '-'.")
        if name in FRAMING:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        found.extend((name, _sendable(name, str(item))) for item in values)
    return tuple(found)


def _sendable(name: str, text: str) -> str:
    if not _VALUE.fullmatch(text):
        raise ExecutionError(
            f"The header '{name}' contains a line break or a character that is not allowed in headers. Remove or encode it."
        )
    return text


def _files(content: Any) -> list[tuple[str, str | None, bytes]]:
    if content is None:
        return []
    items = content if isinstance(content, list | tuple) else [content]
    return [_file(item, f"file{number}") for number, item in enumerate(items, 1)]


def _file(item: Any, name: str) -> tuple[str, str | None, bytes]:
    if isinstance(item, Mapping) and "content" in item:
        _, body = encoded(item["content"], None)
        return str(item.get("filename") or name), item.get("content_type"), body
    content_type, body = encoded(item, None)
    return name, content_type, body


def _zip(files: list[tuple[str, str | None, bytes]]) -> bytes:
    target = io.BytesIO()
    taken: set[str] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, _, body) in enumerate(files, 1):
            plain = name.replace("\\", "/").rsplit("/", 1)[-1] or f"file{number}"
            plain = plain if plain not in taken else f"{number}-{plain}"
            taken.add(plain)
            archive.writestr(zipfile.ZipInfo(plain, _ZIP_TIME), body, zipfile.ZIP_DEFLATED)
    return target.getvalue()
