"""DownloadHttpFile: downloads a file into a value of the workflow."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

from holdfast.activities.http.outbound import AddressRefused, OutboundHttp, OutboundResponse
from holdfast.activities.http.response import encoded
from holdfast.activities.http.send_request import DEFAULT_TIMEOUT, DONE, NO_CONNECTION, TIMEOUT, UNMATCHED
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.errors import ExecutionError
from holdfast.ports import Context

FILE_MAX = 50 * 1024 * 1024


class DownloadHttpFile(
    Activity,
    category="HTTP",
    icon="download",
    display_name="Download File",
    outcomes=(DONE, "200", UNMATCHED, NO_CONNECTION, TIMEOUT),
    dynamic_outcomes=True,
):
    """Downloads a file. The outcomes are `Done` plus the status code if it is expected, else `Unmatched status code`."""

    url: str
    """Address of the file."""
    method: str = "GET"
    """HTTP method."""
    expected_status_codes: list[int] = [200]  # noqa: RUF012 - a field; every reader gets a copy
    """Status codes with an outcome of their own; others leave by `Unmatched status code`."""
    content: Any = None
    """Request body."""
    request_content_type: str | None = None
    """Content type of the request body. Default: by the type of the content."""
    authorization: str | None = field(default=None, secret=True)
    """Value of the Authorization header."""
    disable_authorization_header_validation: bool = False
    """Accepted for Elsa documents; headers are sent as given."""
    request_headers: dict[str, Any] | None = None
    """Additional headers."""
    request_timeout: timedelta | None = None
    """Timeout of the request. Default: 100 seconds."""
    file_size_limit: int | None = None
    """Maximum size in bytes. Default: 50 MB."""
    result: Any = output()
    """The file: `{"filename", "content_type", "size", "content"}`."""
    response: Any = output()
    """The response without its body: `{"status_code", "url", "headers"}`."""
    status_code: int = output()
    """HTTP status of the response."""
    response_content_stream: Any = output()
    """Content of the file as bytes (Elsa has a stream here)."""
    response_content_bytes: Any = output()
    """Content of the file as bytes."""
    response_headers: Any = output()
    """Headers of the response, with names in lower case."""
    response_content_headers: Any = output()
    """Headers of the response that describe its content."""

    async def execute(self, context: Context) -> None:
        headers = {str(name): str(value) for name, value in (self.request_headers or {}).items()}
        if self.authorization:
            headers["Authorization"] = self.authorization
        body = None
        if self.content is not None:
            content_type, body = encoded(self.content, self.request_content_type)
            headers.setdefault("Content-Type", content_type)
        try:
            answer = await context.service(OutboundHttp).request(
                str(self.method or "GET").upper(),
                self.url,
                headers=headers,
                body=body,
                timeout=self.request_timeout or DEFAULT_TIMEOUT,
                size_max=self.file_size_limit or FILE_MAX,
            )
        except AddressRefused as error:
            raise ExecutionError(str(error)) from error
        except TimeoutError:
            context.complete(TIMEOUT)
            return
        except OSError:
            context.complete(NO_CONNECTION)
            return
        self._put(context, answer)
        expected = {int(code) for code in self.expected_status_codes or ()}
        context.complete(str(answer.status) if answer.status in expected else UNMATCHED, DONE)

    def _put(self, context: Context, answer: OutboundResponse) -> None:
        file = {
            "filename": filename_of(answer),
            "content_type": answer.content_type,
            "size": len(answer.body),
            "content": answer.body,
        }
        context.set_output("status_code", answer.status)
        context.set_output("result", file)
        context.set_output("response", {"status_code": answer.status, "url": answer.url, "headers": answer.headers})
        context.set_output("response_headers", answer.headers)
        contents = {name: value for name, value in answer.headers.items() if name.startswith("content-")}
        context.set_output("response_content_headers", contents)
        context.set_output("response_content_bytes", answer.body)
        context.set_output("response_content_stream", answer.body)


def filename_of(answer: OutboundResponse) -> str:
    """Name from Content-Disposition without any folder, else the last segment of the URL."""
    disposition = answer.headers.get("content-disposition", "")
    found = re.search(r"filename\*\s*=\s*[\w-]*''([^;]+)", disposition) or re.search(
        r'filename\s*=\s*"?([^";]+)', disposition
    )
    name = unquote(found[1].strip()) if found else unquote(urlsplit(answer.url).path)
    return name.replace("\\", "/").rsplit("/", 1)[-1] or "download"
