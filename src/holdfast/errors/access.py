"""Somebody asked for what they may not have, or did not say who they are."""

from __future__ import annotations

from datetime import timedelta

from holdfast.errors.base import HoldfastError


class AccessError(HoldfastError):
    """Sign-in, permissions and accounts."""


class NotSignedIn(AccessError):
    """A request without credentials, or with ones that are wrong, expired or revoked."""


class PermissionDenied(AccessError):
    """The caller is known and may not do this."""

    def __init__(self, permission: str, who: str) -> None:
        self.permission = permission
        self.who = who
        super().__init__(f"'{who}' lacks the permission '{permission}'. An admin can give a role that has it.")


class TooManyAttempts(AccessError):
    """Sign-in failed too often; the next attempt is taken after a while."""

    def __init__(self, wait: timedelta) -> None:
        self.wait = wait
        super().__init__(f"Too many failed attempts. Try again in {max(1, round(wait.total_seconds()))} s.")


class AccountNotFound(AccessError):
    """No user, role or API key of that name."""

    def __init__(self, what: str, name: str) -> None:
        self.what = what
        self.name = name
        super().__init__(f"There is no {what} '{name}'.")


class AccountRefused(AccessError):
    """A user, role or API key that cannot be as it was asked for."""
