"""Ids of drafts: derived from names, and never the same twice."""

from __future__ import annotations

from holdfast.authoring.compiler.drafts import Ids


def test_equal_names_get_numbers() -> None:
    ids = Ids("f.")

    assert [ids.new("set_x") for _ in range(3)] == ["f.set_x", "f.set_x2", "f.set_x3"]


def test_a_number_does_not_meet_a_name_that_ends_with_it() -> None:
    ids = Ids()

    assert [ids.new(base) for base in ("cur", "cur", "cur2", "cur2", "cur")] == [
        "cur",
        "cur2",
        "cur22",
        "cur23",
        "cur3",
    ]
    other = Ids()
    assert [other.new(base) for base in ("cur2", "cur", "cur")] == ["cur2", "cur", "cur3"]
