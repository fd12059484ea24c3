"""Typed client of a Holdfast server: `async with Client("http://127.0.0.1:8600", api_key=…) as client`.

A refused request raises `RequestRefused` with status, code and remedy; an unreachable server raises `ServerUnavailable`.
`SyncClient` has the same methods for code without an event loop.
"""

from holdfast.client.blocking import SyncClient
from holdfast.client.client import Client
from holdfast.client.wire import AsgiWire, HttpWire, Wire, WireResponse

__all__ = ["AsgiWire", "Client", "HttpWire", "SyncClient", "Wire", "WireResponse"]
