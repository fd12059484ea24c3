"""Pages and runs of long lists: a list survives packing, and growing it keeps the runs that are full."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.execution.pages import PAGE, pack_pages, pages_of, runs_of, split_pages, unpack_value


@pytest.mark.parametrize("size", [1, PAGE - 1, PAGE, PAGE + 1, 10 * PAGE + 3])
def test_a_packed_list_is_unpacked_as_it_was(size: int) -> None:
    items = list(range(size))
    packed = pack_pages(items)

    assert unpack_value(packed) == items
    assert len(pages_of(packed) or ()) == -(-size // PAGE)


def test_a_value_without_pages_is_not_taken_for_pages() -> None:
    page = split_pages(["a", "b"])[0]

    assert pages_of(page) is None
    assert unpack_value(page) == ["a", "b"]


def test_runs_and_the_rest_are_the_whole_list() -> None:
    items = list(range(22 * PAGE + 5))
    runs, rest = runs_of(items, least=1)

    assert [len(pages_of(run) or ()) for run in runs] == [16, 4, 2]
    assert [item for run in runs for item in unpack_value(run)] + rest == items
    assert len(rest) == 5


def test_a_growing_list_keeps_its_full_runs() -> None:
    items: list[Any] = list(range(16 * PAGE))
    before, _ = runs_of(items, least=1)
    after, _ = runs_of(items + list(range(4 * PAGE)), least=1)

    assert after[0] == before[0]


def test_a_list_shorter_than_a_page_has_no_run() -> None:
    assert runs_of([1, 2], least=1) == ([], [1, 2])
