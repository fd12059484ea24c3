"""Statements for a MySQL server: quoted, joined, in the order of keys, never larger than a packet."""

from __future__ import annotations

import pytest

pytest.importorskip("asyncmy", reason="mysql: the driver asyncmy is not installed")

from asyncmy.converters import escape_bytes_prefixed as quote

from holdfast.errors import StoreError
from holdfast.persistence.sql.mysql.errors import MysqlError, MysqlTransient, is_lost
from holdfast.persistence.sql.mysql.statements import rewritten, text_of, texts_of
from holdfast.persistence.sql.script import Script, execute, execute_many

PACKET = 1_000_000


def test_values_are_quoted_as_bytes() -> None:
    text = text_of("select ? from t where a = ? and b in (?, ?)", (5, None, "it's ä?", b"\x00'\\"), quote)

    assert text.encode("utf8", "surrogateescape") == (
        b"select 5 from t where a = null and b in (_binary'it\\'s \xc3\xa4?', _binary'\\0\\'\\\\')"
    )


def test_invalid_unicode_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        text_of("select ?", ("\udc80",), quote)


def test_as_many_values_as_places() -> None:
    with pytest.raises(ValueError, match="1 values for 2 places"):
        text_of("select ?, ?", (1,), quote)


def test_rows_are_inserted_together_in_the_order_of_their_keys() -> None:
    statement = execute_many("insert into t (a, b) values (?, ?)", [("y", 2), ("x", 3), ("x", 1)])

    assert list(texts_of(statement, quote, PACKET)) == [
        "insert into t (a, b) values (_binary'x',1),(_binary'x',3),(_binary'y',2)"
    ]


def test_rows_of_an_upsert_keep_their_order() -> None:
    sql = "insert into t (a) values (?) on duplicate key update a = a"

    assert list(texts_of(execute_many(sql, [("y",), ("x",)]), quote, PACKET)) == [
        "insert into t (a) values (_binary'y'),(_binary'x') on duplicate key update a = a"
    ]


def test_other_statements_follow_each_other() -> None:
    statement = execute_many("delete from t where a = ?", [(2,), (1,)])

    assert list(texts_of(statement, quote, PACKET)) == ["delete from t where a = 2;delete from t where a = 1"]


@pytest.mark.parametrize("sql", ["insert into t (a, b) values (?, ?)", "update t set a = ? where b = ?"])
def test_texts_stay_within_a_packet(sql: str) -> None:
    rows = [(b"x" * 300, number) for number in range(100)]

    texts = list(texts_of(execute_many(sql, rows), quote, 1000))

    assert max(map(len, texts)) <= 1000
    assert sum(text.count("xxx" * 100) for text in texts) == 100
    assert 30 < len(texts) < 60


def test_a_row_larger_than_a_packet_is_refused_before_it_is_sent() -> None:
    for statement in (execute_many("insert into t (a) values (?)", [(b"x" * 2000,)]), execute("select ?", b"x" * 2000)):
        with pytest.raises(StoreError, match="max_allowed_packet"):
            list(texts_of(statement, quote, 1000))


def test_a_rewritten_script_returns_the_same_result() -> None:
    def script() -> Script[int]:
        rows = yield execute("select 1")
        more = yield execute("select 2")
        return int(rows[0][0]) + int(more[0][0])

    changed = rewritten(script(), str.upper)

    assert next(changed).sql == "SELECT 1"
    assert changed.send([[10]]).sql == "SELECT 2"
    with pytest.raises(StopIteration) as done:
        changed.send([[5]])
    assert done.value.value == 15


@pytest.mark.parametrize("code", [1213, 1205, 2006, 2013, 2003, 1040, 1290, 1053])
def test_transient_errors(code: int) -> None:
    assert MysqlTransient().is_transient(MysqlError(code, "…"))


def test_permanent_errors() -> None:
    assert not any(MysqlTransient().is_transient(MysqlError(code, "…")) for code in (1062, 1064, 1406, 1045, 1146))
    assert not MysqlTransient().is_transient(ValueError(2006))
    assert not is_lost(MysqlError(1213, "…"))
    assert is_lost(MysqlError("Packet sequence number wrong"))
