"""Documents, details and numbers of versions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.management.definitions.version_content import definition_of, details_of, draft_number, written_of
from holdfast.model.catalog import DefinitionContent, DefinitionVersion, Origin, Source, VersionDetails
from holdfast.model.reader import parse_definition

AT = datetime(2026, 1, 2, tzinfo=UTC)
DOCUMENT: dict[str, Any] = {"id": "order", "version": 2, "labels": ["new"], "root": {"type": "WriteLine"}}


def label(version: int, *, published: bool, **details: Any) -> DefinitionVersion:
    metadata = VersionDetails(**details).encoded()
    return DefinitionVersion(
        definition_id="order", version=version, content="c", published=published, created=AT, metadata=metadata
    )


@pytest.mark.parametrize(
    ("latest", "number"),
    [(None, 2), (label(1, published=False), 1), (label(1, published=True), 2), (label(5, published=True), 6)],
    ids=["the first", "a draft", "behind a published version", "behind a higher version"],
)
def test_the_number_of_a_draft(latest: DefinitionVersion | None, number: int) -> None:
    assert draft_number(latest, parse_definition(DOCUMENT)) == number


def test_a_written_definition_is_read_again() -> None:
    definition = parse_definition(DOCUMENT)
    content = DefinitionContent(hash="c", origin=Origin.DOCUMENT, created=AT, document=written_of(definition))

    assert definition_of(content) == definition


def test_labels_stay_unless_the_document_states_them() -> None:
    latest = label(1, published=True, labels=("old",), folder="shop")
    silent = {key: value for key, value in DOCUMENT.items() if key != "labels"}

    assert details_of(parse_definition(DOCUMENT), DOCUMENT, latest, Source.API).labels == ("new",)
    kept = details_of(parse_definition(silent), silent, latest, Source.FILE)
    assert (kept.labels, kept.folder, kept.source) == (("old",), "shop", Source.FILE)
