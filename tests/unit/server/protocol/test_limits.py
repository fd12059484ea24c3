"""Counts of connections."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from holdfast.server.protocol.limits import ConnectionCounts, ConnectionLimits, address_key
from holdfast.settings import Settings

LIMITS = replace(ConnectionLimits.of(Settings()), connections=5, address_connections=2)


def test_connections_of_an_address_are_counted_until_they_leave() -> None:
    counts = ConnectionCounts(LIMITS)

    assert [counts.enter("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert counts.enter("10.0.0.2")
    counts.leave("10.0.0.1")
    assert counts.enter("10.0.0.1")


def test_connections_in_all_are_counted() -> None:
    counts = ConnectionCounts(LIMITS, ["10.0.0.0/8"])

    assert [counts.enter("10.0.0.1") for _ in range(6)] == [True] * 5 + [False]
    for _ in range(5):
        counts.leave("10.0.0.1")
    assert counts.total == 0


def test_refused_and_gone_addresses_are_forgotten() -> None:
    counts = ConnectionCounts(replace(LIMITS, connections=1))
    counts.enter("10.0.0.1")
    for number in range(100):
        assert not counts.enter(f"10.0.1.{number}")
    counts.leave("10.0.0.1")

    assert not counts._by_address


@pytest.mark.parametrize("trusted", [["*"], ["192.0.2.7"], ["192.0.2.0/24"], ["/run/proxy.sock", "192.0.2.7"]])
def test_trusted_proxies_have_no_limit_of_their_own(trusted: list[str]) -> None:
    counts = ConnectionCounts(LIMITS, trusted)

    assert all(counts.enter("192.0.2.7") for _ in range(5))


@pytest.mark.parametrize(
    ("host", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:1", "2001:db8::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, ""),
        ("a:b:c", "a:b:c"),
    ],
)
def test_the_address_that_is_counted(host: str | None, key: str) -> None:
    assert address_key(host) == key


def test_bytes_extend_the_time_of_a_body() -> None:
    assert LIMITS.body_seconds(0) == 30
    assert LIMITS.body_seconds(100_000) == 40
