"""The origin of a definition: code that only trusted sources may contain."""

from __future__ import annotations

import pytest

from holdfast.errors import OriginRefused
from holdfast.model.catalog import DefinitionContent, Origin, check_origin, content_hash
from holdfast.testing.store_rows import AT


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        (b'{"a": {"$code": "x"}}', True),
        (b'{"a": [1, {"b": {"$code": "x"}}]}', True),
        (b'{"a": {"$literal": {"$code": "x"}}}', False),
        (b'{"a": {"$code": "x", "b": 1}}', False),
        (b'{"a": "$code"}', False),
        (b'{"\\u0024code": "x"}', True),
    ],
)
def test_trusted_code_in_documents(document: bytes, refused: bool) -> None:
    for origin in Origin:
        content = DefinitionContent(hash=content_hash(document), origin=origin, created=AT, document=document)
        if refused and origin is Origin.DOCUMENT:
            with pytest.raises(OriginRefused):
                check_origin(content)
        else:
            check_origin(content)
