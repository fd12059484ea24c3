"""Errors of sign-in, permissions and accounts."""

from __future__ import annotations

from datetime import timedelta

from holdfast.errors.base import HoldfastError


class AccessError(HoldfastError):
    """Base class: sign-in, permissions and accounts."""


class NotSignedIn(AccessError):
    """The request has no credentials, or they are wrong, expired or revoked."""


class PermissionDenied(AccessError):
    """The caller is authenticated but lacks a permission."""

    def __init__(self, permission: str, who: str) -> None:
        self.permission = permission
        self.who = who
        super().__init__(f"'{who}' lacks the permission '{permission}'. An admin can assign a role that grants it.")


class TooManyAttempts(AccessError):
    """Sign-in failed too often; attempts are refused until `wait` has passed."""

    def __init__(self, wait: timedelta) -> None:
        self.wait = wait
        super().__init__(f"Too many failed attempts. Try again in {max(1, round(wait.total_seconds()))} s.")


class SignInBusy(TooManyAttempts):
    """Too many passwords wait to be verified."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(wait)
        self.args = (f"Too many sign-ins at a time. Try again in {max(1, round(wait.total_seconds()))} s.",)


class TooManyRequests(AccessError):
    """The caller asks too often; requests are refused until `wait` has passed."""

    def __init__(self, wait: timedelta) -> None:
        self.wait = wait
        super().__init__(f"Too many requests of this kind. Try again in {max(1, round(wait.total_seconds()))} s.")


class AccountNotFound(AccessError):
    """No user, role or API key of that name."""

    def __init__(self, what: str, name: str) -> None:
        self.what = what
        self.name = name
        super().__init__(f"There is no {what} '{name}'.")


class AccountRefused(AccessError):
    """An invalid change to a user, role or API key."""
