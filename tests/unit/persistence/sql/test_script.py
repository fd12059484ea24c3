"""Building blocks of SQL scripts: placeholders, chunks, groups and IN lists of any length."""

from __future__ import annotations

import pytest

from holdfast.persistence.sql.script import CHUNK, Statement, all_of, chunks, execute, execute_many, grouped, marks


def test_marks_are_placeholders_separated_by_commas() -> None:
    assert [marks(count) for count in (0, 1, 3)] == ["", "?", "?, ?, ?"]


def test_statements_for_one_and_for_many_rows() -> None:
    assert execute("select ?", 1) == Statement("select ?", (1,), many=False)
    assert execute_many("insert ?", [(1,), (2,)]) == Statement("insert ?", [(1,), (2,)], many=True)


def test_chunks_keep_the_order_and_the_rest() -> None:
    assert list(chunks([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(chunks([], 2)) == []


def test_groups_keep_the_order_of_their_items() -> None:
    assert grouped(["a1", "b1", "a2"], lambda item: item[0]) == {"a": ["a1", "a2"], "b": ["b1"]}


def test_a_long_in_list_is_several_statements_with_one_result() -> None:
    values = list(range(CHUNK + 1))
    script = all_of("select id from t where tenant = ? and id in ({marks})", ["acme"], values)

    first = next(script)
    assert first.values == ("acme", *values[:CHUNK])
    second = script.send([(0,)])
    assert second == execute("select id from t where tenant = ? and id in (?)", "acme", CHUNK)
    with pytest.raises(StopIteration) as ended:
        script.send([(CHUNK,)])

    assert ended.value.value == [(0,), (CHUNK,)]


def test_an_empty_in_list_sends_no_statement() -> None:
    with pytest.raises(StopIteration) as ended:
        next(all_of("select 1 where id in ({marks})", [], []))

    assert ended.value.value == []
