"""HTTP activities: endpoints, responses, requests and downloads."""

from __future__ import annotations

from holdfast.activities.http.download import DownloadHttpFile
from holdfast.activities.http.endpoint import HttpEndpoint
from holdfast.activities.http.response import WriteFileHttpResponse, WriteHttpResponse
from holdfast.activities.http.send_request import FlowSendHttpRequest, SendHttpRequest

ACTIVITIES = (
    HttpEndpoint,
    WriteHttpResponse,
    WriteFileHttpResponse,
    SendHttpRequest,
    FlowSendHttpRequest,
    DownloadHttpFile,
)

__all__ = [
    "ACTIVITIES",
    "DownloadHttpFile",
    "FlowSendHttpRequest",
    "HttpEndpoint",
    "SendHttpRequest",
    "WriteFileHttpResponse",
    "WriteHttpResponse",
]
