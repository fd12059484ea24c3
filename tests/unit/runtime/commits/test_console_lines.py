"""Console lines: a listener gets the lines of its instance and of the children, until the instance ends."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.console_lines import ConsoleLines

PARENT, CHILD = InstanceKey("", "parent"), InstanceKey("", "child")


def live(status: Status = Status.SUSPENDED, parent_id: str | None = None) -> Any:
    """The part of an instance that the class reads."""
    return SimpleNamespace(status=status, parent_id=parent_id)


def test_a_listener_gets_each_line_once_and_in_order() -> None:
    lines, heard = ConsoleLines(), list[str]()
    on_line = heard.append
    lines.listen(PARENT, on_line)
    lines.listen(PARENT, on_line)
    lines.publish(PARENT, live(), ["a", "b"])
    lines.publish(CHILD, live(), ["of another"])

    assert heard == ["a", "b"]


def test_the_end_of_the_instance_ends_the_subscription() -> None:
    lines, heard = ConsoleLines(), list[str]()
    lines.listen(PARENT, heard.append)
    lines.publish(PARENT, live(Status.FINISHED), ["last"])
    assert not lines

    lines.publish(PARENT, live(), ["more"])
    assert heard == ["last"]


def test_a_listener_of_the_parent_gets_lines_of_a_child() -> None:
    lines, heard = ConsoleLines(), list[str]()
    lines.listen(PARENT, heard.append)
    lines.publish(CHILD, live(parent_id="parent#b1"), ["child"])
    lines.publish(CHILD, live(Status.FINISHED, parent_id="parent#b1"), ["child ends"])
    lines.publish(PARENT, live(), ["parent"])

    assert heard == ["child", "child ends", "parent"]


def test_a_child_of_another_tenant_has_another_parent() -> None:
    lines, heard = ConsoleLines(), list[str]()
    lines.listen(PARENT, heard.append)
    lines.publish(InstanceKey("acme", "child"), live(parent_id="parent#b1"), ["child"])

    assert heard == []


def test_a_failing_listener_is_logged_and_the_others_continue(caplog: pytest.LogCaptureFixture) -> None:
    lines, heard = ConsoleLines(), list[str]()

    def fail(line: str) -> None:
        raise OSError("closed")

    lines.listen(PARENT, fail)
    lines.listen(PARENT, heard.append)
    lines.publish(PARENT, live(), ["a", "b"])

    assert heard == ["a", "b"]
    assert "a line listener of instance parent failed" in caplog.text
