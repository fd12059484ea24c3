"""Test tools for users: the harness for workflows, and the contract suites for stores and transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.testing.clock import VirtualClock
    from holdfast.testing.harness import Harness, Stub

__all__ = ["Harness", "Stub", "VirtualClock"]

_HOME = {"Harness": "harness", "Stub": "harness", "VirtualClock": "clock"}


if not TYPE_CHECKING:  # loaded on first use: the contract suites need no engine

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'holdfast.testing' has no attribute '{name}'")
        from importlib import import_module

        return getattr(import_module(f"holdfast.testing.{_HOME[name]}"), name)
