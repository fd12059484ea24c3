"""Reading a heap with blocks in pages, with and without the values that are in memory."""

from __future__ import annotations

from holdfast.execution.heap.tracked_scope import TrackedScope
from tests.support.tracked_heap import Frame


def frame_of(text: str) -> Frame:
    frame = Frame(("a", "b", "x"))
    assert frame.run(text, frame.scope) is None
    frame.commit()
    return frame


def test_values_in_memory_are_read_without_their_pages() -> None:
    frame = frame_of("a = [{'n': i} for i in range(3_000)]; x = a[5]")
    frame.read()
    first = frame.scope[frame.shape.names["a"]]
    frame.commit()
    pages, frame.stored = frame.stored, {}
    frame.read()
    assert isinstance(frame.scope, TrackedScope)
    assert frame.scope[frame.shape.names["a"]] is first
    assert frame.scope[frame.shape.names["x"]] is first[5]
    frame.stored = pages


def test_objects_that_contain_themselves_stay_shared_and_are_written_whole() -> None:
    frame = frame_of("x = [1]; a = [Part(i, [i]) for i in range(300)]; a[3].l = x; a[4].n = a[4]")
    frame.read()
    assert not isinstance(frame.scope, TrackedScope)
    a, x = (frame.scope[frame.shape.names[name]] for name in "ax")
    assert a[3].l is x
    frame.run("x.append(2)", frame.scope)
    frame.commit()
    assert frame.stored_scope()[frame.shape.names["a"]][3].l == [1, 2]
