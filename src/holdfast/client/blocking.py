"""Synchronous client: runs each call of `Client` on an event loop in its own thread."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any, Self

from holdfast.client.client import Client
from holdfast.errors import HoldfastError


class SyncClient:
    """`with SyncClient(url, api_key=…) as client: client.instances.list(status="faulted").items`"""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._client = Client(*args, **options)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="holdfast-client", daemon=True)
        self._thread.start()
        try:
            self._wait(self._client.__aenter__())
        except BaseException:
            self._end(self._loop)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        assert self._loop is not None
        self._wait(self._client.__aexit__(*error))
        self._end(self._loop)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()
        self._loop = None

    def _wait(self, work: Any) -> Any:
        if self._loop is None:
            work.close()  # It will never be awaited.
            raise HoldfastError("The client is not open. Use it inside `with SyncClient(…) as client:`.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def __getattr__(self, name: str) -> Any:
        return _BlockingProxy(getattr(self._client, name), self._wait)


class _BlockingProxy:
    """Wraps a resource or method of the client so that calls wait for the response."""

    def __init__(self, wrapped: Any, wait: Any) -> None:
        self._wrapped = wrapped
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        return _BlockingProxy(getattr(self._wrapped, name), self._wait)

    def __call__(self, *args: Any, **options: Any) -> Any:
        result = self._wrapped(*args, **options)
        if inspect.isasyncgen(result):
            return self._each(result)
        return self._wait(result)

    def _each(self, items: Any) -> Any:
        while True:
            try:
                yield self._wait(anext(items))
            except StopAsyncIteration:
                return
