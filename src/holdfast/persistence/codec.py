"""Payload codecs: compression and encryption. The first byte of a stored payload names its codec.

    00 plain · 01 zlib · 02 zstd · 03 zstd with the shipped dictionary (dictionary.py) · 10 AES-256-GCM over
    one of these: key name, nonce, ciphertext

Payloads are compressed on the client above a threshold: below it, compression costs more than it saves. States and first
segments have a lower threshold, because they use the dictionary. Encryption binds each payload to its column and tenant.
It stores the name of the key, so keys can be rotated: new payloads use the first key, old payloads are read with their own.
"""

from __future__ import annotations

import os
import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Protocol

from holdfast.errors import SettingsError, UndecodablePayload
from holdfast.persistence import dictionary
from holdfast.persistence.dictionary import DictionaryCompression
from holdfast.ports import Codec

PLAIN, ZLIB, ZSTD, AES_GCM = b"\x00", b"\x01", b"\x02", b"\x10"

THRESHOLD = 1024
"""Smallest payload that is compressed, in bytes."""

_NONCE = 12


class Compression(Protocol):
    """A compression algorithm with its own codec byte."""

    mark: bytes

    def compress(self, data: bytes) -> bytes: ...
    def decompress(self, data: bytes) -> bytes: ...


class ZlibCompression:
    mark = ZLIB

    def compress(self, data: bytes) -> bytes:
        return zlib.compress(data, 1)

    def decompress(self, data: bytes) -> bytes:
        return zlib.decompress(data)


class ZstdCompression:
    """Needs the package zstandard (`pip install 'holdfast[zstd]'`). Three times faster than zlib, and smaller."""

    mark = ZSTD

    def __init__(self) -> None:
        self._zstd = _zstandard()

    def compress(self, data: bytes) -> bytes:
        compressed: bytes = self._zstd.ZstdCompressor(level=1).compress(data)
        return compressed

    def decompress(self, data: bytes) -> bytes:
        plain: bytes = self._zstd.ZstdDecompressor().decompress(data)
        return plain


def _zstandard() -> Any:
    import zstandard

    return zstandard


def _has_zstd() -> bool:
    try:
        _zstandard()
    except ModuleNotFoundError:
        return False
    return True


class PayloadCodec:
    """Compresses above a threshold, with zstd if it is installed, else with zlib. Reads payloads of both."""

    def __init__(self, *, threshold: int = THRESHOLD, compression: Compression | None = None) -> None:
        self._threshold = threshold
        self._compression = compression or (ZstdCompression() if _has_zstd() else ZlibCompression())
        self._dictionary = DictionaryCompression() if compression is None and _has_zstd() else None
        self._readers: dict[int, Callable[[bytes], bytes]] = {
            ZLIB[0]: ZlibCompression().decompress,
            ZSTD[0]: _decompress_zstd,
            dictionary.MARK[0]: _decompress_known if self._dictionary is None else self._dictionary.decompress,
            self._compression.mark[0]: self._compression.decompress,
        }

    def encode(self, data: bytes, where: str) -> bytes:
        size = len(data)
        if size >= dictionary.FROM and self._dictionary is not None and where.startswith(dictionary.KNOWN):
            small, mark = self._dictionary.compress(data), dictionary.MARK
        elif size < self._threshold:
            return PLAIN + data
        else:
            small, mark = self._compression.compress(data), self._compression.mark
        return PLAIN + data if len(small) >= size else mark + small

    def decode(self, data: bytes, where: str) -> bytes:
        if data[0] == 0:
            return data[1:]
        reader = self._readers.get(data[0])
        if reader is None:
            raise UndecodablePayload(_unknown(data[0], where))
        try:
            return reader(data[1:])
        except UndecodablePayload:
            raise
        except Exception as error:
            raise UndecodablePayload(f"{where.partition('|')[0]} holds damaged bytes: {error}") from error


def _decompress_zstd(data: bytes) -> bytes:
    _need_zstd()
    return ZstdCompression().decompress(data)


def _decompress_known(data: bytes) -> bytes:
    _need_zstd()
    return DictionaryCompression().decompress(data)


def _need_zstd() -> None:
    if not _has_zstd():
        raise UndecodablePayload(
            "Stored data is compressed with zstd, which is not installed. Install it: pip install 'holdfast[zstd]'"
        )


def _unknown(mark: int, where: str) -> str:
    column = where.partition("|")[0]
    if mark == AES_GCM[0]:
        return f"{column} is encrypted. Configure the keys that it was written with."
    return f"{column} was written with a codec (byte {mark:#04x}) that this version does not know. Upgrade Holdfast."


class EncryptingCodec:
    """AES-256-GCM around another codec. The first of `keys` encrypts, all of them decrypt.

    To rotate, put a new key first and keep the old keys as long as payloads written with them are stored. Payloads from
    before encryption was switched on stay readable.
    """

    def __init__(self, keys: Mapping[str, bytes], inner: Codec | None = None) -> None:
        if not keys:
            raise SettingsError("Encryption needs at least one key. Give keys={'name': 32 bytes}.")
        crypto = _cryptography()
        for name, key in keys.items():
            if len(key) != 32 or not 0 < len(name.encode()) < 256:
                raise SettingsError(f"Key '{name}' must have 32 bytes (has {len(key)}) and a name of 1 to 255 bytes.")
        self._inner = inner or PayloadCodec()
        self._ciphers = {name.encode(): crypto.AESGCM(key) for name, key in keys.items()}
        self._current = next(iter(self._ciphers))

    def encode(self, data: bytes, where: str) -> bytes:
        name, nonce = self._current, os.urandom(_NONCE)
        sealed: bytes = self._ciphers[name].encrypt(nonce, self._inner.encode(data, where), where.encode())
        return AES_GCM + bytes([len(name)]) + name + nonce + sealed

    def decode(self, data: bytes, where: str) -> bytes:
        if data[:1] != AES_GCM:
            return self._inner.decode(data, where)
        start = 2 + data[1]
        name, nonce, sealed = data[2:start], data[start : start + _NONCE], data[start + _NONCE :]
        cipher = self._ciphers.get(name)
        column = where.partition("|")[0]
        if cipher is None:
            raise UndecodablePayload(f"{column} needs the key '{name.decode()}', which is not configured. Add it back.")
        try:
            plain: bytes = cipher.decrypt(nonce, sealed, where.encode())
        except Exception as error:  # InvalidTag of cryptography, which is an optional dependency
            raise UndecodablePayload(
                f"{column} does not decrypt with the key '{name.decode()}': the key is a different one, or the bytes were "
                "changed or moved from another row."
            ) from error
        return self._inner.decode(plain, where)


def codec_of_keys(keys: str) -> Codec:
    """The codec of a setting: encryption with these keys, or only compression if the setting is empty."""
    return EncryptingCodec(parse_keys(keys)) if keys else PayloadCodec()


def parse_keys(text: str) -> dict[str, bytes]:
    """Parse the setting: `name:base64` of 32 bytes each, separated by commas, the current key first."""
    keys: dict[str, bytes] = {}
    for part in text.split(","):
        name, colon, encoded = part.strip().partition(":")
        try:
            key = b64decode(encoded, validate=True)
        except ValueError as error:
            raise SettingsError(f"Key '{name}' is not base64. Make one with: openssl rand -base64 32") from error
        if not colon or not name or len(key) != 32 or name in keys:
            raise SettingsError(
                f"'{name}' is not a valid key. Write name:base64 of 32 bytes (openssl rand -base64 32), each name once."
            )
        keys[name] = key
    return keys


def _cryptography() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.ciphers import aead
    except ModuleNotFoundError as error:
        raise SettingsError(
            "Encryption needs the package cryptography. Install it: pip install 'holdfast[encryption]'"
        ) from error
    return aead
