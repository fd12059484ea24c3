"""Values that the bombs read."""

from __future__ import annotations

from typing import Any


def values() -> dict[str, Any]:
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    return {
        "text": "a" * 300_000,
        "half": "a" * 150_000 + "b",
        "middle": "a" * 75_000 + "b" + "a" * 75_000,
        "backwards": "b" + "a" * 299_999,
        "items": list(range(20_000)),
        "deep": deep,
    }
