"""Errors as `application/problem+json`: one table maps error classes to status and code.

The nearest ancestor class in the table applies. An error that is not in the table is a bug of Holdfast: it answers 500, with
the details in the log instead of the response.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple, get_args

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from holdfast import errors
from holdfast.model.checks.survey import guess
from holdfast.model.problem import Problem as Finding
from holdfast.model.values import readable
from holdfast.server.encoded_paths import MARK

logger = logging.getLogger("holdfast")

MEDIA_TYPE = "application/problem+json"


class Answer(NamedTuple):
    status: int
    code: str


TABLE: Mapping[type[Exception], Answer] = {
    errors.HoldfastError: Answer(400, "refused"),
    # definitions and input
    errors.DefinitionError: Answer(422, "definition.refused"),
    errors.InvalidDefinition: Answer(422, "definition.invalid"),
    errors.CompositionCycle: Answer(422, "definition.cycle"),
    errors.CodeMissing: Answer(422, "definition.code_missing"),
    errors.DefinitionNotFound: Answer(404, "definition.not_found"),
    errors.DefinitionNotPublished: Answer(409, "definition.not_published"),
    errors.VersionConflict: Answer(412, "definition.changed"),
    errors.InvalidCron: Answer(422, "cron.invalid"),
    errors.InvalidInput: Answer(422, "input.invalid"),
    errors.ValueRefused: Answer(422, "value.refused"),
    errors.UnknownValueType: Answer(422, "value.unknown_type"),
    errors.ExpressionError: Answer(422, "expression.refused"),
    errors.ConversionError: Answer(422, "definition.not_converted"),
    errors.ActivityDeclarationError: Answer(422, "activity.refused"),
    errors.OriginRefused: Answer(422, "definition.origin"),
    errors.InvalidId: Answer(422, "id.invalid"),
    errors.UnstorableText: Answer(422, "text.invalid"),
    errors.InvalidCursor: Answer(422, "cursor.invalid"),
    # instances
    errors.ExecutionError: Answer(409, "instance.conflict"),
    errors.InstanceNotFound: Answer(404, "instance.not_found"),
    errors.BookmarkNotFound: Answer(404, "bookmark.not_found"),
    errors.PayloadRefused: Answer(422, "payload.refused"),
    errors.InstanceAtRest: Answer(409, "instance.ended"),
    errors.InstanceEnded: Answer(409, "instance.ended"),
    errors.PlaceTaken: Answer(409, "instance.place_taken"),
    errors.KeyReused: Answer(422, "idempotency.reused"),
    errors.StateNotKept: Answer(404, "state.not_kept"),
    errors.MigrationRefused: Answer(409, "instance.not_migratable"),
    errors.InvalidState: Answer(422, "instance.invalid_state"),
    errors.VariableNotFound: Answer(422, "variable.not_found"),
    errors.AlreadyStored: Answer(409, "already_stored"),
    errors.DeletionRefused: Answer(409, "instance.not_deletable"),
    # authentication
    errors.AccessError: Answer(403, "access.refused"),
    errors.NotSignedIn: Answer(401, "access.not_signed_in"),
    errors.PermissionDenied: Answer(403, "access.denied"),
    errors.TooManyAttempts: Answer(429, "access.too_many_attempts"),
    errors.TooManyRequests: Answer(429, "access.too_many_requests"),
    errors.AccountNotFound: Answer(404, "account.not_found"),
    errors.AccountRefused: Answer(422, "account.refused"),
    # human tasks
    errors.TaskNotFound: Answer(404, "task.not_found"),
    errors.TaskTaken: Answer(409, "task.taken"),
    errors.TaskClosed: Answer(409, "task.closed"),
    errors.TaskNotYours: Answer(403, "task.not_yours"),
    errors.TaskNotResumable: Answer(403, "task.not_resumable"),
    errors.AnswerRefused: Answer(422, "task.answer_refused"),
    errors.ScheduleNotFound: Answer(404, "schedule.not_found"),
    # transport and store
    errors.PersistenceError: Answer(500, "store.refused"),
    errors.UndecodablePayload: Answer(500, "store.undecodable"),
    errors.StoreError: Answer(503, "store.unavailable"),
    errors.TransportError: Answer(503, "transport.unavailable"),
    errors.PluginError: Answer(500, "internal"),
    errors.SettingsError: Answer(422, "setting.refused"),
}
"""Error class → status and code. A class that is missing here answers as its parent does."""

DETAILS_HIDDEN_FROM = 500
"""Status whose details are only logged."""


class Refusal(Exception):
    """An error of the server itself, such as a missing resource, a lost update or a body that is too large."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        findings: Sequence[dict[str, Any]] = (),
    ) -> None:
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.findings = tuple(findings)
        super().__init__(detail)


class BodyRefused(HTTPException):
    """A refusal while a body is read: the only kind of error that FastAPI passes on from there."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        self.code = code
        super().__init__(status, detail)


def not_found(what: str, name: str) -> Refusal:
    return Refusal(404, f"{what}.not_found", f"There is no {what} '{name}'.")


def answer_for(error: Exception) -> Answer:
    for cls in type(error).__mro__:
        found = TABLE.get(cls)
        if found is not None:
            return found
    return Answer(500, "internal")


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    path: str | None = None,
    findings: Sequence[dict[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if path is not None:
        body["instance"] = path.replace(MARK, "%2F")
    if findings:
        body["errors"] = list(findings)
    return Response(msgspec.json.encode(readable(body)), status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def as_finding(item: Finding) -> dict[str, Any]:
    return {
        "path": item.path,
        "message": f"{item.message} {item.remedy}".strip(),
        "severity": item.severity.value,
        "code": item.code,
        "activity_id": getattr(item, "activity_id", None),
    }


def detail_of(error: Exception) -> str:
    """The text for callers. Errors of the store and of brokers name hosts, databases and paths, which are for the log."""
    if isinstance(error, errors.StoreError | errors.TransportError):
        logger.debug("a request failed", exc_info=error)
        what = "store" if isinstance(error, errors.StoreError) else "transport"
        return f"The {what} is unavailable. Try again later; the server's log has the details."
    return str(error)


def respond(error: Exception, path: str | None = None) -> Response:
    """The response to an error."""
    if isinstance(error, ClientDisconnect):  # The client is gone, and nothing failed on this side.
        return problem(400, "request.incomplete", "The connection closed before the request was complete.", path=path)
    if isinstance(error, Refusal):
        return problem(error.status, error.code, str(error), path=path, findings=error.findings, headers=error.headers)
    status, code = answer_for(error)
    if status == DETAILS_HIDDEN_FROM:
        logger.error("a request to %s failed", path, exc_info=error)
        return problem(status, code, "Internal server error. The server's log has the details.", path=path)
    found = getattr(error, "problems", ())
    return problem(
        status,
        code,
        detail_of(error),
        path=path,
        findings=[as_finding(item) for item in found],
        headers=_headers(error),
    )


def _headers(error: Exception) -> dict[str, str]:
    if isinstance(error, errors.NotSignedIn):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, errors.TooManyAttempts | errors.TooManyRequests):
        return {"Retry-After": str(max(1, round(error.wait.total_seconds())))}
    if isinstance(error, errors.StoreUnavailable):
        return {"Retry-After": "1"}
    return {}


# -- handlers ----------------------------------------------------------------------------------------------------------


async def _ours(request: Request, error: Exception) -> Response:
    return respond(error, request.url.path)


async def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    codes = {404: "route.not_found", 405: "method.not_allowed", 413: "body.too_large", 400: "request.malformed"}
    return problem(
        error.status_code,
        error.code if isinstance(error, BodyRefused) else codes.get(error.status_code, "refused"),
        str(error.detail),
        path=request.url.path,
        headers=error.headers,
    )


def _finding(item: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """A validation error of FastAPI, with a clearer message for common mistakes."""
    place, message = tuple(item["loc"]), str(item["msg"])
    if item["type"] == "json_invalid":
        message = f"The body is not JSON: {item['ctx']['error']} at character {place[-1]}. Correct the body."
        place = place[:-1]
    elif item["type"] == "extra_forbidden":
        known = _fields_of(request) if len(place) == 2 else []
        message = f"There is no field '{place[-1]}' here. {guess(str(place[-1]), known) if known else 'Remove it.'}"
    elif place == ("body",) and "json" not in request.headers.get("content-type", "json"):
        message = "The body was not sent as JSON. Send it with Content-Type: application/json."
    path = "/" + "/".join(str(part) for part in place)
    return {"path": path, "message": message, "severity": "error", "code": str(item["type"])}


def _fields_of(request: Request) -> list[str]:
    """Field names of the route's body."""
    body = getattr(request.scope.get("route"), "body_field", None)
    model = getattr(getattr(body, "field_info", None), "annotation", None)
    models = [model, *get_args(model)]
    return [name for found in models for name in getattr(found, "model_fields", ())]


async def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    findings = [_finding(item, request) for item in error.errors()]
    first = findings[0] if findings else {"path": "/", "message": "invalid"}
    detail = f"{first['path']}: {first['message']}"
    return problem(422, "request.invalid", detail, path=request.url.path, findings=findings)


def install(app: FastAPI) -> None:
    app.add_exception_handler(errors.HoldfastError, _ours)
    app.add_exception_handler(Refusal, _ours)
    app.add_exception_handler(ClientDisconnect, _ours)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(Exception, _ours)
