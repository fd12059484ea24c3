"""Pages of effect rows: each read continues behind the last one, and starts again after the end."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.work import EffectRow
from holdfast.runtime.effects.effect_pages import EffectPages
from holdfast.testing.store_rows import effect


class Rows:
    def __init__(self, *names: str) -> None:
        self.names = list(names)

    async def page(self, after: tuple[str, int]) -> Sequence[EffectRow]:
        """Two rows at most, in order of instance and execution."""
        return [effect("", name) for name in sorted(self.names) if (name, 1) > after][:2]


async def read(pages: EffectPages, rows: Rows) -> list[str]:
    return [row.instance_id for row in await pages.next(rows.page)]


async def test_rows_that_stay_do_not_hide_the_others() -> None:
    pages, rows = EffectPages(2), Rows("a", "b", "c", "d", "e")

    assert [await read(pages, rows) for _ in range(2)] == [["a", "b"], ["c", "d"]]
    assert await read(pages, rows) == ["e", "a"]  # The last page is filled from the beginning.


async def test_a_short_first_page_is_the_whole_table() -> None:
    pages, rows = EffectPages(2), Rows("a")

    assert [await read(pages, rows) for _ in range(2)] == [["a"], ["a"]]


async def test_a_row_is_not_read_twice_in_one_page() -> None:
    pages, rows = EffectPages(2), Rows("a", "b")
    assert await read(pages, rows) == ["a", "b"]
    rows.names = ["b", "c"]

    assert await read(pages, rows) == ["c", "b"]


async def test_an_empty_table_has_no_rows() -> None:
    assert await read(EffectPages(2), Rows()) == []
