"""Built-in roles and their permissions."""

from __future__ import annotations

import pytest

from holdfast.model.principal import LOCAL, PERMISSIONS, ROLES, Principal


def test_roles_grant_only_known_permissions() -> None:
    assert {permission for granted in ROLES.values() for permission in granted} <= PERMISSIONS.keys()


def test_an_admin_and_the_local_user_may_do_everything() -> None:
    assert ROLES["admin"] == PERMISSIONS.keys()
    assert all(LOCAL.may(permission) for permission in PERMISSIONS)


@pytest.mark.parametrize("role", sorted(ROLES.keys() - {"admin"}))
def test_only_an_admin_may_change_users(role: str) -> None:
    assert not ROLES[role] & {"users:read", "users:write"}


def test_a_viewer_changes_nothing() -> None:
    assert all(permission.endswith(":read") for permission in ROLES["viewer"])


def test_a_principal_without_permissions_may_do_nothing() -> None:
    assert not any(Principal(id="u", name="U").may(permission) for permission in PERMISSIONS)
