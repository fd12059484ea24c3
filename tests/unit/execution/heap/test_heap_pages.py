"""Pages of a heap in one commit: added once, deleted when nothing refers to them any more."""

from __future__ import annotations

from tests.support.tracked_heap import Frame


def frame_of(*texts: str) -> Frame:
    frame = Frame(("a", "b"))
    for text in texts:
        assert frame.run(text, frame.scope) is None
    frame.commit()
    return frame


def test_equal_pages_are_one_value_until_the_last_of_them_goes() -> None:
    frame = frame_of("a = [0] * 50_000", "b = [0] * 50_000")
    pages = len(frame.stored)
    assert pages < 10
    frame.read()
    frame.run("a = None", frame.scope)
    frame.commit()
    assert len(frame.stored) == pages
    frame.read()
    frame.run("b = None", frame.scope)
    frame.commit()
    assert not frame.stored


def test_a_small_block_stays_in_the_state() -> None:
    frame = frame_of("a = list(range(100))")
    assert not frame.stored
    assert frame.book is not None


def test_all_pages_are_replaced_when_a_block_is_written_again() -> None:
    frame = frame_of("a = [{'n': i} for i in range(3_000)]")
    frame.read()
    frame.run("a.reverse()", frame.scope)
    frame.commit()
    assert frame.stored_scope()[frame.shape.names["a"]][0] == {"n": 2_999}
