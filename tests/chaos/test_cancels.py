"""Sagas are canceled by another node while their workers are killed; the long form is `make chaos PARTS=cancels`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.model.instance import Status
from tests.support.chaos.cancel_chaos import cancel_chaos, findings
from tests.support.chaos.cancel_workflows import Line
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def url(request: Any, tmp_path: Path) -> Any:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'cancels.db'}"
        return
    with {"postgresql": postgres_database, "mysql": mysql_database}[request.param]() as made:
        yield made


@pytest.mark.slow
async def test_canceled_sagas_keep_their_promises_while_workers_die(url: str, tmp_path: Path) -> None:
    row = await cancel_chaos(url, tmp_path, sagas=20, kills=2, workers=2)

    assert row["broken"] == []
    assert row["canceled"] > 0


@pytest.mark.parametrize(
    ("entries", "finding"),
    [
        ("+pay +undo-c -pay -undo-c", "undo-c began while"),
        ("+pay -pay +undo-b -undo-b +undo-c -undo-c", "undone in the order"),
        ("+pay -pay +tidy", "tidy did not end"),
        ("+pay -pay +tidy -tidy +tidy -tidy", "tidy ran 2 times"),
        ("+pay -pay +undo-c -undo-c", "undone: ['undo-c']"),
    ],
)
def test_broken_promises_are_found(entries: str, finding: str) -> None:
    lines = [Line(entry[0], 1, "i", entry[1:]) for entry in entries.split()]

    assert any(text.startswith(finding) for text in findings("i", Status.CANCELED, lines))
