"""Ids: short, sorted by time, never twice."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidId
from holdfast.model.ids import IdGenerator, checked_id, decode_id, encode_id, is_id

NUMBERS = st.integers(0, 2**64 - 1)


@given(NUMBERS)
def test_an_id_is_its_number(number: int) -> None:
    text = encode_id(number)

    assert len(text) == 13
    assert is_id(text)
    assert decode_id(text) == number


@given(NUMBERS, NUMBERS)
def test_ids_sort_as_numbers_do(first: int, second: int) -> None:
    assert (encode_id(first) < encode_id(second)) == (first < second)


@given(st.lists(st.integers(0, 2**42 - 2), min_size=1, max_size=50), st.integers(0, 1023))
def test_a_clock_that_jumps_repeats_no_id(moments: list[int], worker: int) -> None:
    clock = iter(moments)
    generate = IdGenerator(lambda: next(clock) * 1_000_000, worker)

    ids = [generate() for _ in moments]

    assert ids == sorted(set(ids))
    assert {decode_id(text) >> 12 & 1023 for text in ids} == {worker}


def test_a_millisecond_that_is_used_up_counts_on_into_the_next() -> None:
    generate = IdGenerator(lambda: 7_000_000, 3)

    ids = [generate() for _ in range(5000)]

    assert len(set(ids)) == 5000
    assert [decode_id(ids[index]) >> 22 for index in (0, 4095, 4096)] == [7, 7, 8]


def test_two_workers_never_make_the_same_id() -> None:
    one, two = IdGenerator(lambda: 7_000_000, 1), IdGenerator(lambda: 7_000_000, 2)

    assert not {one() for _ in range(9000)} & {two() for _ in range(9000)}


@pytest.mark.parametrize("worker", [-1, 1024])
def test_worker_numbers_have_ten_bits(worker: int) -> None:
    with pytest.raises(ValueError, match="node registry"):
        IdGenerator(lambda: 0, worker)


@pytest.mark.parametrize("text", ["order-4711", "a", "A.b_c:d-9", "x" * 64])
def test_ids_that_users_give(text: str) -> None:
    assert checked_id(text) == text


@pytest.mark.parametrize("text", ["", "x" * 65, "a b", "ä", "a/b", "a\n", "a\x00"])
def test_what_is_no_id(text: str) -> None:
    with pytest.raises(InvalidId, match="use 1 to 64"):
        checked_id(text)


@pytest.mark.parametrize("text", ["0" * 12, "0" * 14, "0000000000I00", "order-4711"])
def test_what_was_not_generated_has_no_number(text: str) -> None:
    with pytest.raises(InvalidId):
        decode_id(text)
