"""The address of a MySQL server: its place, and a password that is not shown."""

from __future__ import annotations

from holdfast.persistence.sql.mysql.address import MysqlAddress


def test_the_place_is_the_socket_or_host_and_port() -> None:
    assert MysqlAddress(host="db", port=3307).place == "db:3307"
    assert MysqlAddress(unix_socket="/run/mysqld.sock").place == "/run/mysqld.sock"


def test_the_password_is_not_shown() -> None:
    assert "very-secret" not in repr(MysqlAddress(password="very-secret"))
