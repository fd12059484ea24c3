"""Compression with the shipped dictionary: every payload survives, in every thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given, strategies as st

from holdfast.persistence.dictionary import DictionaryCompression

COMPRESSION = DictionaryCompression()


@given(st.binary(max_size=2_000))
def test_a_payload_survives(data: bytes) -> None:
    assert COMPRESSION.decompress(COMPRESSION.compress(data)) == data


def test_threads_share_one_object() -> None:
    payloads = [bytes([number]) * 500 for number in range(50)]
    with ThreadPoolExecutor(4) as threads:
        packed = list(threads.map(COMPRESSION.compress, payloads))

    assert [COMPRESSION.decompress(data) for data in packed] == payloads
