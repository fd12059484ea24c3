"""HTTP workflows: the door below `/workflows` through which requests start and wake instances."""

from __future__ import annotations

from holdfast.server.http_workflows.endpoint_app import PATH, EndpointApp, mount

__all__ = ["PATH", "EndpointApp", "mount"]
