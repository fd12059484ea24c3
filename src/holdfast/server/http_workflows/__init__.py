"""HTTP workflows: requests below `/workflows` start and resume instances."""

from __future__ import annotations

from holdfast.server.http_workflows.endpoint_app import PATH, EndpointApp, mount

__all__ = ["PATH", "EndpointApp", "mount"]
