"""Keys of stored rows: the same on every machine, and 64 bits wide."""

from __future__ import annotations

from hypothesis import given, strategies as st

from holdfast.model.stored import correlation_key, wake_key

TEXTS = st.text(max_size=300)


def test_keys_are_the_same_on_every_machine() -> None:
    assert wake_key("Paid") == 7894491210913290914
    assert wake_key("Paid", b"order-1") == 1195381395171388725
    assert correlation_key("order-1") == 7097972921585878030


def test_parts_of_a_key_do_not_run_into_each_other() -> None:
    assert wake_key("ab", b"c") != wake_key("a", b"bc")


@given(TEXTS)
def test_correlations_fit_64_bits_and_none_is_apart(text: str) -> None:
    assert -(2**63) <= correlation_key(text) < 2**63
    assert correlation_key(text) != 0
    assert correlation_key(None) == 0
