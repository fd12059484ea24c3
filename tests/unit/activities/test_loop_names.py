"""What a loop calls its item is known to the checks as it is to the plan."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast


def loop(kind: str, name: Any, text: str) -> dict[str, Any]:
    return {
        "format": "holdfast/definition@1",
        "id": "loop",
        "root": {
            "id": "each",
            "type": kind,
            "inputs": {"items": [{"total": 1}], "item": name},
            "body": {"id": "say", "type": "WriteLine", "inputs": {"text": {"$python": text}}},
        },
    }


@pytest.mark.parametrize("kind", ["ForEach", "ParallelForEach"])
@pytest.mark.parametrize("name", ["order", {"$literal": "order"}])
def test_the_body_sees_the_item_by_its_name(kind: str, name: Any) -> None:
    engine = Holdfast(entry_points=False)
    assert engine.validate(loop(kind, name, "str(order['total'] + CurrentIndex)")) == []
    (problem,) = engine.validate(loop(kind, name, "str(CurrentValue)"))
    assert "CurrentValue" in problem.message
