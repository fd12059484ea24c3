"""`/api/bookmarks`: bookmarks of waiting instances, and links that resume them without sign-in."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from holdfast.errors import (
    BookmarkNotFound,
    ExecutionError,
    InstanceNotFound,
    NotSignedIn,
    PayloadRefused,
    TaskError,
)
from holdfast.identity.tokens import ResumeClaims
from holdfast.model.principal import Principal
from holdfast.server import link_pages
from holdfast.server.backend import Backend, Server
from holdfast.server.documented_answers import answers
from holdfast.server.operator_service import OperatorService
from holdfast.server.pagination import Cursor, Limit, Total
from holdfast.server.problems import Refusal
from holdfast.server.routing import Routes
from holdfast.server.schemas.instances import BookmarkPage, InstanceResult
from holdfast.server.security import public, requires
from holdfast.server.views import bookmarks as views, instances

router = Routes("/bookmarks", tags=["bookmarks"], responses=answers(404, 409))

CALL_BACK_WAIT = timedelta(seconds=5)

Reader = Annotated[Principal, requires("instances:read")]
Token = Annotated[str, Query(description="Token of a `resume_url`: signed, and valid until it expires.")]


@router.get("")
async def list_bookmarks(
    server: Server,
    who: Reader,
    instance_id: str | None = None,
    name: Annotated[str | None, Query(description="The stimulus type.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    total: Total = False,
) -> BookmarkPage:
    """Bookmarks of one instance, or of all suspended instances, latest first. A request reads at most 200 instances, or `limit`
    if that is higher, so a page filtered by a rare `name` may be short or empty although `next` is set."""
    found = await views.page(server, instance_id, name, limit, cursor, count=total)
    instances.add_links(server, found.items, who)
    return found


@router.get("/resume", dependencies=[public()], response_class=HTMLResponse)
async def show_link(server: Server, t: Token) -> HTMLResponse:
    """A page with a button that resumes the bookmark of a link by `POST`. It changes nothing: programs open links too."""
    _claims(server, t)
    return link_pages.confirmation()


@router.post("/resume", dependencies=[public()], response_model=InstanceResult)
async def resume_by_token(server: Server, t: Token, request: Request) -> InstanceResult | Response:
    """Resume the bookmark of a link. An optional JSON body becomes the payload of the bookmark. Other query parameters are
    ignored. The result omits incidents and further bookmarks; a browser gets a page instead."""
    claims = _claims(server, t)  # Before the body is read.
    payload: Any = None
    if await request.body():
        try:
            payload = await request.json()
        except ValueError as error:
            raise Refusal(400, "request.malformed", f"The body is not JSON: {error}.") from error
    found = await _resume(server, claims, payload)
    return link_pages.done() if link_pages.wants_page(request.headers) else found


def _claims(server: Backend, token: str) -> ResumeClaims:
    accounts = server.accounts
    assert accounts is not None
    claims = accounts.links.read(token)
    if claims.tenant != server.tenant:
        raise NotSignedIn("The link belongs to another tenant.")
    return claims


async def _resume(server: Backend, claims: ResumeClaims, payload: Any) -> InstanceResult:
    """Errors name nothing but the link: other bookmarks, tasks and the state of the instance need an authenticated caller."""
    try:
        if claims.is_name:
            found = await _call_back(server, claims, payload)
        else:
            found = await OperatorService(server, "link").resume(claims.instance_id, claims.bookmark, payload, None)
    except PayloadRefused:
        raise
    except TaskError as error:
        raise Refusal(403, "task.not_resumable", "A link cannot answer a human task. Sign in to answer it.") from error
    except (BookmarkNotFound, InstanceNotFound, ExecutionError) as error:
        raise Refusal(404, "link.gone", "This link was used before, or the workflow went on without it.") from error
    # A link grants one bookmark only. Further bookmarks and incidents need an authenticated caller.
    return found.model_copy(update={"bookmarks": [], "incidents": []})


async def _call_back(server: Backend, claims: ResumeClaims, payload: Any) -> InstanceResult:
    """Callback link that was sent before its bookmark was committed (SendHttpRequest). A callback that arrives before the commit
    is stored and delivered when the activity starts to wait. Repeated calls have no further effect."""
    await server.runtime.stimuli.send(
        claims.bookmark,
        input={"content": payload},
        instance_id=claims.instance_id,
        idempotency_key=f"link-{claims.bookmark}",
        wait=CALL_BACK_WAIT,
    )
    row, result = await instances.read(server, claims.instance_id)
    return instances.result_of(server, result, row.version)
