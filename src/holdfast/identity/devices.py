"""Tokens of known devices: a browser that signed in before is not locked out by the failures of strangers.

The token proves an earlier sign-in of one user; it opens no session. It depends on the password's hash, so a new password makes
every device unknown.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256
from hmac import compare_digest

from holdfast.identity.tokens import derived
from holdfast.identity.user import User

PREFIX = "hfd"
ID_LENGTH = 32


class DeviceTokens:
    def __init__(self, secret: bytes, tenant: str) -> None:
        self._key = derived(secret, "device")
        self._tenant = tenant

    def issue(self, user: User) -> str:
        device = secrets.token_hex(ID_LENGTH // 2)
        return f"{PREFIX}_{device}_{self._signature(device, user)}"

    def read(self, token: str | None, user: User | None) -> str | None:
        """The id of the device; None if the token is not of this user."""
        prefix, _, rest = (token or "").partition("_")
        device, _, signature = rest.partition("_")
        if user is None or prefix != PREFIX or len(device) != ID_LENGTH or not device.isalnum():
            return None
        expected = self._signature(device, user)
        return device if compare_digest(expected.encode(), signature.encode()) else None

    def _signature(self, device: str, user: User) -> str:
        text = f"{self._tenant}\0{user.id}\0{user.password}\0{device}"
        return urlsafe_b64encode(hmac.new(self._key, text.encode(), sha256).digest()).rstrip(b"=").decode()
