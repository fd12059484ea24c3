"""Answers: rows of the commit, sent after it."""

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
from holdfast.execution.journal import kept
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.model.replies import WAITING, HttpReply
from holdfast.model.scope import Scope
from holdfast.model.types import convert

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
BYTES = "application/octet-stream"
FRAMING = frozenset(
    {"connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
"""Headers that say how an answer is sent, not what it says."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""The same bytes each time: a segment may be run again."""


class WriteHttpResponse(Activity, pure=True, category="HTTP", icon="reply", display_name="HTTP Response"):
    """Answers the HTTP request that the workflow took last. The answer leaves after the commit."""

    status_code: int = 200
    content: Any = field(default=None, evaluated=False)
    content_type: str | None = None
    response_headers: dict[str, Any] | None = None

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
            return {"status_code": reply.status, "content": kept(body[:256].decode(errors="replace"))}

        return builder.leaf(write)


class WriteFileHttpResponse(Activity, pure=True, category="HTTP", icon="file-down", display_name="HTTP File Response"):
    """Answers with a file; with several files it is a ZIP, with none 204."""

    content: Any = field(default=None, evaluated=False)
    """Bytes, text, a file of a request, or a list of those."""
    filename: str | None = None
    content_type: str | None = None
    entity_tag: str | None = None
    enable_resumable_downloads: bool = False
    """Parts of the file may be asked for (`Range`)."""
    download_correlation_id: str | None = field(default=None, shown_when={"enable_resumable_downloads": True})

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
    """To the request that came last and has no answer yet."""
    waiting = live.properties.get(WAITING) or []
    if not waiting:
        raise ExecutionError(
            "No HTTP request waits for an answer here. Start the workflow by an HttpEndpoint, or let one come before this."
        )
    live.replies = {**live.replies, str(waiting[-1]): reply}
    others = {name: value for name, value in live.properties.items() if name != WAITING}
    rest = list(waiting[:-1])
    live.properties = {**others, WAITING: rest} if rest else others


def encoded(content: Any, content_type: str | None) -> tuple[str, bytes]:
    """What goes over the wire, and what it is called if nobody says."""
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
        raise ExecutionError(f"{status} is no HTTP status of an answer. Give one from 200 to 599.")
    return status


def _headers(given: Any) -> tuple[tuple[str, str], ...]:
    """A value may be a list: the header is then sent several times. How the answer is framed is left to the server."""
    found: list[tuple[str, str]] = []
    for key, value in dict(given or {}).items():
        name = str(key).lower()
        if not _NAME.fullmatch(name):
            raise ExecutionError(f"'{key}' is no name of a header. Use letters, digits and '-'.")
        if name in FRAMING:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        found.extend((name, _sendable(name, str(item))) for item in values)
    return tuple(found)


def _sendable(name: str, text: str) -> str:
    if not _VALUE.fullmatch(text):
        raise ExecutionError(
            f"The header '{name}' has a line break in it, or a character that no header holds. Remove or encode it."
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
