"""Expressions that try to hold the server: others are answered meanwhile, and the caller gets the limit."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

BOMBS = [
    ("javascript", "Array.prototype.reverse.call({length: 2 ** 53 - 1})"),
    ("javascript", "for (let i = 0; ; i++) getVariable('missing' + i)"),
    ("javascript", "'a'.repeat(3e6).includes('a'.repeat(15e5) + 'b')"),
    ("liquid", "{{" + " " * 49_000 + "}}"),
    ("python", "[text.rfind('a' * 75000 + 'b') for x in range(250000)]"),
]


@pytest.mark.parametrize(("language", "source"), BOMBS, ids=range(len(BOMBS)))
async def test_a_preview_that_never_ends_holds_only_its_caller(api: Any, language: str, source: str) -> None:
    body = {"language": language, "expression": source, "variables": {"text": "a" * 100_000}}
    bomb = asyncio.ensure_future(api.post("/api/preview", body))
    others = 0
    while not bomb.done() and others < 50:
        await api.get("/health")
        others += 1
    answer = await bomb
    assert answer["error"]
    assert others > 0
    assert (await api.post("/api/preview", {"language": "javascript", "expression": "[1, 2].length"}))["value"] == 2


async def test_a_document_whose_template_is_quadratic_is_validated_within_limits(api: Any) -> None:
    template = {"$liquid": "{% if" + " " * 49_000 + "%}{% endif %}"}
    document = {
        "format": "holdfast/definition@1",
        "id": "bomb",
        "root": {"id": "a", "type": "WriteLine", "inputs": {"text": template}},
    }
    validated = asyncio.ensure_future(api.post("/api/definitions/validate", document))
    while not validated.done():
        await api.get("/health")
    assert isinstance((await validated)["problems"], list)
