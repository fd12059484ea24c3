"""The short form of the feature test: 5 rounds, 3 kills; the long form is `make chaos PARTS=features`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chaos.cancel_workflows import Line
from tests.support.chaos.feature_chaos import feature_chaos, log_findings

DURABLE = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.service("postgres")),
    pytest.param("mysql", marks=pytest.mark.service("mysql")),
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("store_url", DURABLE, indirect=True)
async def test_features_keep_their_promises_while_workers_are_killed(store_url: str, tmp_path: Path) -> None:
    row = await feature_chaos(store_url, tmp_path, rounds=5, kills=3)

    assert row["broken"] == []
    assert (row["kills"], row["instances"]) == (3, 25)


@pytest.mark.parametrize(
    ("entries", "finding"),
    [
        ("~home-1:a +home-1:first@far", "home-1 ran 'first' on a worker"),
        ("~x:a +x:serve-c0@far ~y:a +y:serve-c0@near", "two calls of serve-c0 at a time"),
        ("+x:price-1@far", "x ran without middleware"),
    ],
)
def test_broken_promises_are_found(entries: str, finding: str) -> None:
    lines = []
    for pid, entry in enumerate(entries.split()):
        name, _, what = entry[1:].partition(":")
        lines.append(Line(entry[0], pid, name, what))

    (found,) = log_findings(lines)
    assert found.startswith(finding)
