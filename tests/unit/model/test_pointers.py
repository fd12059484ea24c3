"""JSON pointers: steps are escaped as RFC 6901 says."""

from __future__ import annotations

from holdfast.model.pointers import pointer


def test_steps_are_appended_and_escaped() -> None:
    assert pointer("/root", "activities", 2) == "/root/activities/2"
    assert pointer("", "a/b", "m~n", "~1") == "/a~1b/m~0n/~01"
    assert pointer("/root") == "/root"
