"""Payload codecs: every codec reads all formats, and encrypted payloads are bound to their column and tenant."""

from __future__ import annotations

import builtins
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import SettingsError, UndecodablePayload
from holdfast.persistence.codec import EncryptingCodec, PayloadCodec, ZlibCompression, ZstdCompression, parse_keys
from holdfast.ports import Codec

OLD, NEW = b"o" * 32, b"n" * 32
WHERE = "instance.state|acme"

CODECS: list[Codec] = [
    PayloadCodec(),
    PayloadCodec(compression=ZlibCompression(), threshold=10),
    PayloadCodec(compression=ZstdCompression(), threshold=10),
    EncryptingCodec({"new": NEW}),
    EncryptingCodec({"new": NEW, "old": OLD}, PayloadCodec(threshold=10)),
]


STATE = (
    b"\xdc\x00\x17\xad6GY6TFZHG0400\x91\x94\xa8workflow\xc0\xc0\x82\xa5count\x01\xa8in:order\x83\xa6number\xad2026-00000007"
    b"\xa8customer\xabAnna Miller\xa5total\x07\x93\x95\x01\xa8workflow\x00\xc0\xc0\x95\x02\xa9Sequence1\x00\xc0\x01"
    b"\x9a\x04\xa6Event1\x00\xc0\x02\x00\x00\x01\x91\xa2b1\xc0\xa9suspended"
)

WRITTEN_ONCE = bytes.fromhex(
    "03209d7501006054465a484783adab416e6e070cfc843e8b037b7ac1d654f8898df984e8f035085d8fae7e0b0331cbabea611227"
)


def test_small_states_use_the_dictionary() -> None:
    """Payloads written with a shipped dictionary stay readable."""
    codec = PayloadCodec()
    small = codec.encode(STATE, WHERE)

    assert (small[:1], len(small) < len(STATE) * 0.6) == (b"\x03", True)
    assert codec.decode(WRITTEN_ONCE, WHERE) == STATE
    assert codec.encode(STATE, "work.payload|acme") == b"\x00" + STATE
    assert codec.encode(STATE[:99], WHERE) == b"\x00" + STATE[:99]
    assert codec.encode(bytes(range(256)), WHERE) == b"\x00" + bytes(range(256))


def test_threads_do_not_share_a_compressor() -> None:
    codec = PayloadCodec()
    states = [STATE.replace(b"0007", b"%04d" % number) * (1 + number % 5) for number in range(400)]

    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda state: codec.encode(state, WHERE), states))
        assert list(pool.map(lambda data: codec.decode(data, WHERE), kept)) == states


@pytest.mark.parametrize("codec", CODECS)
@given(data=st.one_of(st.binary(max_size=100), st.binary(max_size=20).map(lambda part: part * 200)))
def test_payloads_round_trip(codec: Codec, data: bytes) -> None:
    assert codec.decode(codec.encode(data, WHERE), WHERE) == data


@pytest.mark.parametrize("compression", [ZlibCompression(), ZstdCompression()])
def test_compression_above_the_threshold_only(compression: Any) -> None:
    codec = PayloadCodec(threshold=100, compression=compression)

    assert codec.encode(b"x" * 99, WHERE) == b"\x00" + b"x" * 99
    assert len(codec.encode(b"x" * 10_000, WHERE)) < 200
    assert codec.encode(b"x" * 10_000, WHERE)[:1] == compression.mark


def test_incompressible_payloads_stay_plain() -> None:
    data = bytes(range(256))

    assert PayloadCodec(threshold=1, compression=ZlibCompression()).encode(data, WHERE) == b"\x00" + data


def test_codecs_read_payloads_of_each_other() -> None:
    zlib, zstd = (PayloadCodec(threshold=1, compression=each) for each in (ZlibCompression(), ZstdCompression()))
    data = b"state " * 100

    assert zlib.decode(zstd.encode(data, WHERE), WHERE) == data
    assert zstd.decode(zlib.encode(data, WHERE), WHERE) == data


def test_keys_are_rotated() -> None:
    before, after = EncryptingCodec({"old": OLD}), EncryptingCodec({"new": NEW, "old": OLD})
    old = before.encode(b"secret", WHERE)

    assert after.decode(old, WHERE) == b"secret"
    assert b"new" in after.encode(b"secret", WHERE)
    with pytest.raises(UndecodablePayload, match="needs the key 'new'"):
        before.decode(after.encode(b"secret", WHERE), WHERE)


def test_encryption_can_be_switched_on_later() -> None:
    assert EncryptingCodec({"new": NEW}).decode(PayloadCodec().encode(b"plain", WHERE), WHERE) == b"plain"


def test_ciphertexts_hide_the_secret_and_differ() -> None:
    codec = EncryptingCodec({"new": NEW})

    first, second = codec.encode(b"secret" * 10, WHERE), codec.encode(b"secret" * 10, WHERE)

    assert b"secret" not in first
    assert first != second


@pytest.mark.parametrize("elsewhere", ["instance.state|other", "work.payload|acme"])
def test_bytes_that_were_moved_do_not_decrypt(elsewhere: str) -> None:
    codec = EncryptingCodec({"new": NEW})

    with pytest.raises(UndecodablePayload, match="moved from another row"):
        codec.decode(codec.encode(b"secret", WHERE), elsewhere)


def test_bytes_that_were_changed_do_not_decrypt() -> None:
    codec = EncryptingCodec({"new": NEW})
    sealed = bytearray(codec.encode(b"secret", WHERE))
    sealed[-1] ^= 1

    with pytest.raises(UndecodablePayload, match="does not decrypt"):
        codec.decode(bytes(sealed), WHERE)


def test_encrypted_bytes_without_keys_name_the_remedy() -> None:
    with pytest.raises(UndecodablePayload, match=r"instance\.state is encrypted\. Configure the keys"):
        PayloadCodec().decode(EncryptingCodec({"new": NEW}).encode(b"secret", WHERE), WHERE)


def test_an_unknown_codec_byte_names_the_remedy() -> None:
    with pytest.raises(UndecodablePayload, match=r"0x7f.*Upgrade"):
        PayloadCodec().decode(b"\x7fdata", WHERE)


def test_damaged_bytes_are_refused() -> None:
    with pytest.raises(UndecodablePayload, match="damaged"):
        PayloadCodec().decode(b"\x01not zlib", WHERE)


@pytest.mark.parametrize("keys", [{}, {"short": b"x" * 16}, {"": OLD}])
def test_invalid_keys_are_refused(keys: dict[str, bytes]) -> None:
    with pytest.raises(SettingsError):
        EncryptingCodec(keys)


def test_without_zstd_zlib_is_used_and_zstd_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    written = PayloadCodec(threshold=1, compression=ZstdCompression()).encode(b"x" * 500, WHERE)
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name in {"zstandard", "cryptography.hazmat.primitives.ciphers"}:
            raise ModuleNotFoundError(name=name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)

    assert PayloadCodec(threshold=1).encode(b"x" * 500, WHERE)[:1] == b"\x01"
    with pytest.raises(UndecodablePayload, match=r"holdfast\[zstd\]"):
        PayloadCodec().decode(written, WHERE)
    with pytest.raises(SettingsError, match=r"holdfast\[encryption\]"):
        EncryptingCodec({"new": NEW})


def test_keys_of_a_setting() -> None:
    text = f"new:{b64encode(NEW).decode()}, old:{b64encode(OLD).decode()}"

    assert list(parse_keys(text).items()) == [("new", NEW), ("old", OLD)]


@pytest.mark.parametrize(
    "text", ["", "new", "new:", ":b2xk", "new:???", f"new:{b64encode(b'short').decode()}", "a:!,b:!"]
)
def test_invalid_keys_of_a_setting_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="openssl rand"):
        parse_keys(text)


def test_a_key_that_is_named_twice_is_refused() -> None:
    key = f"new:{b64encode(NEW).decode()}"

    with pytest.raises(SettingsError, match="once"):
        parse_keys(f"{key},{key}")
