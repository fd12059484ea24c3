"""Principals, permissions and roles. A permission is a word; a role is a set of permissions."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from holdfast.model.stored import DEFAULT_TENANT

PERMISSIONS: Mapping[str, str] = {
    "definitions:read": "see definitions, descriptors, triggers and schedules",
    "definitions:write": "save and delete definitions",
    "definitions:publish": "publish and retract definitions",
    "definitions:execute": "start instances",
    "instances:read": "see instances, their values and journals",
    "instances:write": "resume, cancel, retry and alter instances",
    "instances:delete": "delete instances",
    "tasks:read": "see human tasks",
    "tasks:complete": "claim and complete human tasks",
    "events:send": "publish events and send stimuli",
    "operations:read": "see nodes, dead letters, statistics and metrics",
    "operations:write": "replay dead letters, pause schedules and nodes",
    "settings:read": "see the settings, secrets masked",
    "users:read": "see users, roles and API keys",
    "users:write": "change users, roles and API keys",
}
"""Every permission and its description."""

_SEE = frozenset({"definitions:read", "instances:read", "tasks:read", "operations:read"})

ROLES: Mapping[str, frozenset[str]] = {
    "admin": frozenset(PERMISSIONS),
    "designer": _SEE
    | {"definitions:write", "definitions:publish", "definitions:execute", "instances:write", "events:send"},
    "operator": _SEE
    | {
        "definitions:execute",
        "instances:write",
        "instances:delete",
        "tasks:complete",
        "events:send",
        "operations:write",
        "settings:read",
    },
    "viewer": _SEE,
    "worker": frozenset({"tasks:read", "tasks:complete"}),
}
"""Built-in roles. Other roles are stored."""

ADMIN = "admin"


class Principal(Struct, frozen=True, kw_only=True):
    """Origin of a request: a user, an API key, or the local user of this machine."""

    id: str
    name: str
    tenant: str = DEFAULT_TENANT
    roles: frozenset[str] = frozenset()
    permissions: frozenset[str] = frozenset()

    def may(self, permission: str) -> bool:
        return permission in self.permissions


LOCAL = Principal(id="local", name="local", roles=frozenset({ADMIN}), permissions=ROLES[ADMIN])
"""The principal of every request if sign-in is disabled. The server then accepts local connections only."""
