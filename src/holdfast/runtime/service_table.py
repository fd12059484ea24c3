"""Services that activities look up by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from holdfast.errors import ExecutionError

T = TypeVar("T")


class ServiceTable:
    def __init__(self, services: Mapping[type, Any] | None = None) -> None:
        self._services = dict(services or {})

    def get(self, service: type[T]) -> T:
        found: T | None = self._services.get(service)
        if found is None:
            raise ExecutionError(
                f"No service of type {service.__name__} is registered. "
                f"Register one: Holdfast(services={{{service.__name__}: …}}) or a plugin."
            )
        return found
