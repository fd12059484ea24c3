"""What the matrix of scenarios tells of itself."""

from __future__ import annotations

from tests.chaos.matrix import row_of

TOLD = """<testsuites><testsuite>
<testcase name="test_01_x[sqlite-rabbitmq-queue]"/>
<testcase name="test_02_y[sqlite-rabbitmq-queue-3]"><failure message="it&#10;is late"/></testcase>
<testcase name="test_01_x[memory-inline]"><skipped/></testcase>
<testcase name="test_alone"/>
</testsuite></testsuites>"""


def test_cells_are_counted_and_what_failed_is_named() -> None:
    row = row_of(TOLD)

    assert row["cells"] == {
        "memory-inline": {"passed": 0, "failed": 0, "left_out": 1},
        "sqlite-rabbitmq": {"passed": 1, "failed": 1, "left_out": 0},
    }
    assert (row["sound"], row["broken"]) == (False, ["test_02_y on sqlite-rabbitmq: it is late"])


def test_nothing_is_not_sound() -> None:
    assert not row_of("<testsuites/>")["sound"]
