"""Problems that a route declares: those of every route, and its own."""

from __future__ import annotations

from holdfast.server.documented_answers import COMMON_STATUSES, answers
from holdfast.server.problems import MEDIA_TYPE


def test_the_problems_of_every_route_are_declared_with_its_own() -> None:
    found = answers(404, 409)

    assert list(found) == sorted({*COMMON_STATUSES, 404, 409})
    assert found[404]["description"] == "Not Found"
    assert found[404]["content"][MEDIA_TYPE]["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_other_answers_are_added() -> None:
    assert answers(also={200: {"description": "A file"}})[200] == {"description": "A file"}
