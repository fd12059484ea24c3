"""`/api/definitions`: list, read, save, publish and delete definitions."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import Body, Header, Path, Query, Response

from holdfast.model.principal import Principal
from holdfast.server.backend import Server
from holdfast.server.definition_service import DefinitionService
from holdfast.server.documented_answers import answers
from holdfast.server.evaluation_limit import evaluates
from holdfast.server.pagination import Cursor, Limit, Sort, paged
from holdfast.server.problems import Refusal
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import BulkResult, Document, Page
from holdfast.server.schemas.definitions import (
    DefinitionDetail,
    DefinitionDiff,
    DefinitionGraph,
    DefinitionsBulkRequest,
    DefinitionSummary,
    DuplicateRequest,
    LabelsRequest,
    PublishResult,
    RevertRequest,
    ValidationResult,
)
from holdfast.server.security import admitted, requires
from holdfast.server.views import definitions as views, diagram

router = Routes("/definitions", tags=["definitions"], responses=answers())

READ, WRITE, PUBLISH = requires("definitions:read"), requires("definitions:write"), requires("definitions:publish")
EVALUATE = evaluates("definitions:write")

Writer = Annotated[Principal, WRITE]

COLUMNS = tuple(DefinitionSummary.model_fields)

Number = Annotated[int, Path(ge=1, lt=2**31)]
Version = Annotated[str, Query(description="latest, published or a number.")]
IfMatch = Annotated[
    str | None, Header(description="ETag of the version that the change is based on; 412 if it is outdated.")
]
BODY = Body(description="The document (holdfast/definition@1, or Elsa 3 JSON).")


@router.get("", dependencies=[READ])
async def list_definitions(
    server: Server,
    search: str = "",
    label: Annotated[list[str], Query()] = [],  # noqa: B006 - FastAPI copies it
    folder: str | None = None,
    state: Literal["draft", "published", "all"] = "all",
    origin: Literal["api", "code", "file"] | None = None,
    sort: Sort = "name",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DefinitionSummary]:
    """One row per definition: its latest version."""
    found = views.filtered(
        await views.summaries(server, search), labels=label, folder=folder, state=state, origin=origin
    )
    page, following = paged(found, sort=sort, columns=COLUMNS, limit=limit, cursor=cursor, key=lambda row: row.id)
    return Page(items=page, total=len(found), next=following)


@router.post("", status_code=201, dependencies=[WRITE], responses=answers(409))
async def create_definition(
    server: Server, document: Annotated[Document, BODY], response: Response
) -> DefinitionDetail:
    """Save a new definition as a draft. 409 if the id already exists."""
    saved = await DefinitionService(server).create(document)
    response.headers["ETag"] = saved.etag
    response.headers["Location"] = f"{server.base_path}/api/definitions/{quote(saved.summary.id, safe='')}"
    return saved


@router.post("/validate", dependencies=[EVALUATE])
async def validate_document(server: Server, document: Annotated[Document, BODY]) -> ValidationResult:
    """All problems of a document; nothing is saved."""
    return ValidationResult(problems=await DefinitionService(server).validate(document))


@router.post("/bulk", dependencies=[WRITE, PUBLISH], responses=answers(404))
async def change_definitions(server: Server, body: DefinitionsBulkRequest) -> BulkResult:
    """Apply one action to many definitions; each succeeds or fails on its own."""
    return await DefinitionService(server).bulk(body)


@router.get("/{id}", dependencies=[READ], responses=answers(404, also={304: {"description": "Not changed"}}))
async def get_definition(
    id: str,
    server: Server,
    response: Response,
    version: Version = "latest",
    if_none_match: Annotated[str | None, Header()] = None,
) -> DefinitionDetail:
    found = await views.detail(server, await views.find(server, id, version))
    if if_none_match == found.etag:
        raise Refusal(304, "not_changed", "")
    response.headers["ETag"] = found.etag
    return found


@router.put("/{id}", dependencies=[WRITE], responses=answers(404, 409, 412))
async def save_definition(
    id: str, server: Server, document: Annotated[Document, BODY], response: Response, if_match: IfMatch = None
) -> DefinitionDetail:
    """Save the draft: overwrites the existing draft, or creates the next version if the latest one is published. The document is
    the whole definition; omitted `labels` and `metadata.folder` stay unchanged."""
    saved = await DefinitionService(server).save(id, document, if_match)
    response.headers["ETag"] = saved.etag
    return saved


@router.delete("/{id}", status_code=204, responses=answers(404))
async def delete_definition(id: str, server: Server, who: Writer) -> None:
    """Delete all versions. Running instances continue, since they are pinned to their content. Deleting a published definition
    also requires the permission to retract it."""
    if (await views.summary(server, await views.find(server, id))).published_version is not None:
        admitted(who, "definitions:publish")
    await DefinitionService(server).delete(id)


@router.post("/{id}/publish", dependencies=[PUBLISH], responses=answers(404, 409))
async def publish_definition(id: str, server: Server, version: Version = "latest") -> PublishResult:
    return await DefinitionService(server).publish(id, version)


@router.post("/{id}/retract", dependencies=[PUBLISH], responses=answers(404, 409))
async def retract_definition(id: str, server: Server) -> DefinitionSummary:
    """Unpublish the definition: its triggers are removed, running instances continue."""
    return await DefinitionService(server).retract(id)


@router.post("/{id}/revert", dependencies=[READ, WRITE], responses=answers(404, 409))
async def revert_definition(id: str, server: Server, body: RevertRequest) -> DefinitionDetail:
    """Create a new draft with the content of an earlier version."""
    return await DefinitionService(server).revert(id, body.version)


@router.get("/{id}/versions", dependencies=[READ], responses=answers(404))
async def list_versions(
    id: str, server: Server, sort: Sort = "-version", limit: Limit = 50, cursor: Cursor = None
) -> Page[DefinitionSummary]:
    found = await DefinitionService(server).versions(id)
    page, following = paged(
        found, sort=sort, columns=COLUMNS, limit=limit, cursor=cursor, key=lambda row: f"{row.version:010}"
    )
    return Page(items=page, total=len(found), next=following)


@router.get("/{id}/versions/{version}", dependencies=[READ], responses=answers(404))
async def get_version(id: str, version: Number, server: Server, response: Response) -> DefinitionDetail:
    found = await views.detail(server, await views.find(server, id, version))
    response.headers["ETag"] = found.etag
    return found


@router.delete("/{id}/versions/{version}", status_code=204, responses=answers(404))
async def delete_version(id: str, version: Number, server: Server, who: Writer) -> None:
    """Delete one version. The published version also requires the permission to retract it."""
    if (await views.find(server, id, version)).published:
        admitted(who, "definitions:publish")
    await DefinitionService(server).delete_version(id, version)


@router.get("/{id}/diff", dependencies=[READ], responses=answers(404))
async def diff_versions(
    id: str,
    server: Server,
    before: Annotated[str, Query(alias="from", description="The earlier version.")] = "published",
    after: Annotated[str, Query(alias="to", description="The later version.")] = "latest",
) -> DefinitionDiff:
    return await DefinitionService(server).diff(id, before, after)


@router.post("/{id}/validate", dependencies=[EVALUATE])
async def validate_definition(id: str, server: Server, document: Annotated[Document, BODY]) -> ValidationResult:
    """Like `/api/definitions/validate`, for a document to be saved under this id."""
    return ValidationResult(problems=await DefinitionService(server).validate({**document, "id": id}))


@router.get("/{id}/graph", dependencies=[READ], responses=answers(404))
async def graph_definition(id: str, server: Server, version: Version = "latest") -> DefinitionGraph:
    return diagram.graph(await DefinitionService(server).definition(id, version), server.engine.descriptors)


@router.post("/{id}/duplicate", status_code=201, dependencies=[READ, WRITE], responses=answers(404, 409))
async def duplicate_definition(id: str, server: Server, body: DuplicateRequest) -> DefinitionDetail:
    return await DefinitionService(server).duplicate(id, body.id, body.name)


@router.put("/{id}/labels", dependencies=[WRITE], responses=answers(404, 409))
async def label_definition(id: str, server: Server, body: LabelsRequest) -> DefinitionSummary:
    """Set labels and folder without creating a new version."""
    return await DefinitionService(server).file(id, body.labels, body.folder)
