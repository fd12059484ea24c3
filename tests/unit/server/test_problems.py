"""One table from error to answer."""

from __future__ import annotations

import json
from datetime import timedelta
from http import HTTPStatus

import pytest
from starlette.requests import ClientDisconnect

from holdfast import errors
from holdfast.model.problem import Problem, Severity
from holdfast.server.problems import MEDIA_TYPE, TABLE, Refusal, answer_for, respond

OUR_FAULT = {
    errors.PersistenceError,
    errors.BatchRefused,
    errors.UndecodablePayload,
    errors.PluginError,
}
"""Errors that no request can mend."""


def classes() -> list[type[errors.HoldfastError]]:
    return [found for name in errors.__all__ if issubclass(found := getattr(errors, name), errors.HoldfastError)]


@pytest.mark.parametrize("cls", classes(), ids=lambda cls: cls.__name__)
def test_every_error_has_an_answer_and_few_are_our_fault(cls: type[errors.HoldfastError]) -> None:
    answer = answer_for(cls.__new__(cls))

    assert HTTPStatus(answer.status)
    assert (answer.status == 500) == (cls in OUR_FAULT), cls


def test_a_code_stands_for_one_status() -> None:
    statuses: dict[str, set[int]] = {}
    for answer in TABLE.values():
        statuses.setdefault(answer.code, set()).add(answer.status)

    assert all(len(found) == 1 for found in statuses.values())


def test_problems_of_a_document_are_all_told() -> None:
    error = errors.InvalidDefinition(
        [Problem(path="/root", code="c", message="Wrong.", remedy="Mend it.", severity=Severity.ERROR)]
    )

    response = respond(error, "/api/x")
    body = json.loads(bytes(response.body))

    assert response.media_type == MEDIA_TYPE
    assert (body["status"], body["code"], body["instance"]) == (422, "definition.invalid", "/api/x")
    assert body["errors"] == [
        {"path": "/root", "message": "Wrong. Mend it.", "severity": "error", "code": "c", "activity_id": None}
    ]


def test_what_went_wrong_inside_stays_inside(caplog: pytest.LogCaptureFixture) -> None:
    body = json.loads(bytes(respond(RuntimeError("the password is 1234"), "/api/x").body))

    assert body["status"] == 500
    assert "1234" not in str(body)
    assert "1234" in caplog.text


def test_headers_that_go_with_a_refusal() -> None:
    assert respond(errors.NotSignedIn("who?")).headers["www-authenticate"] == "Bearer"
    assert respond(errors.TooManyAttempts(timedelta(seconds=7))).headers["retry-after"] == "7"
    assert respond(Refusal(429, "x", "y", headers={"Retry-After": "3"})).headers["retry-after"] == "3"


def test_who_hangs_up_is_no_failure_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    assert respond(ClientDisconnect()).status_code == 400
    assert caplog.records == []


@pytest.mark.parametrize(
    "error", [errors.StoreUnavailable("PostgreSQL at db.internal:5432/x"), errors.TransportError("amqp://q")]
)
def test_addresses_of_the_store_and_of_brokers_are_for_the_log(error: Exception) -> None:
    answer = respond(error)

    assert answer.status_code == 503
    assert b"internal:" not in bytes(answer.body)
    assert b"amqp" not in bytes(answer.body)
