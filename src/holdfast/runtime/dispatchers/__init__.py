"""Dispatchers carry requests to the nodes that execute them. The port is `holdfast.ports.WorkflowDispatcher`."""

from __future__ import annotations

from holdfast.runtime.dispatchers.decorators import Prioritized, RateLimited, Routed
from holdfast.runtime.dispatchers.durable import DurableDispatcher
from holdfast.runtime.dispatchers.inline import InlineDispatcher

__all__ = ["DurableDispatcher", "InlineDispatcher", "Prioritized", "RateLimited", "Routed"]
