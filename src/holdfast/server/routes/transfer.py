"""`/api/definitions/import|export`: import and export of definition files and zips."""

from __future__ import annotations

from typing import Annotated

from fastapi import File, Query, UploadFile
from starlette.responses import Response

from holdfast.server.backend import Server
from holdfast.server.definition_transfer import DefinitionTransfer
from holdfast.server.documented_answers import answers
from holdfast.server.routing import Routes
from holdfast.server.schemas.definitions import ExportFormat, ExportRequest, ImportResult
from holdfast.server.security import requires

router = Routes("/definitions", tags=["definitions"], responses=answers(404))

ZIP = {200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}}
ONE_FILE = {
    200: {
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/x-python": {"schema": {"type": "string"}},
        }
    }
}


@router.post("/export", dependencies=[requires("definitions:read")], response_class=Response, responses=ZIP)
async def export_definitions(server: Server, body: ExportRequest) -> Response:
    """A zip with one file per definition, in its latest version."""
    data = await DefinitionTransfer(server).archive(body.ids, body.format)
    return Response(
        data,
        media_type="application/zip",
        headers={"Content-Disposition": 'attachment; filename="definitions.zip"'},
    )


@router.get(
    "/{id}/export",
    dependencies=[requires("definitions:read")],
    response_class=Response,
    responses=ONE_FILE,
)
async def export_definition(
    id: str,
    server: Server,
    version: str = "latest",
    format: ExportFormat = "holdfast",
    untangle: Annotated[
        bool, Query(description="For Python: write flowcharts of chains and decisions as Sequence and If.")
    ] = False,
) -> Response:
    """One definition as a file: JSON (Holdfast or Elsa 3), or a Python module of objects. 422 if a value cannot be written as
    data."""
    name, data = await DefinitionTransfer(server).file(id, version, format, untangle=untangle)
    return Response(
        data,
        media_type="text/x-python" if format == "python" else "application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.post("/import", dependencies=[requires("definitions:write"), requires("definitions:publish")])
async def import_definitions(
    server: Server,
    files: Annotated[list[UploadFile], File(description="JSON, YAML, Elsa 3 JSON, or zips of them.")],
    publish: bool = False,
) -> ImportResult:
    """Save the definitions of the files as drafts, or publish them; each file succeeds or fails on its own."""
    given = [(file.filename or "file", await file.read()) for file in files]
    return ImportResult(files=await DefinitionTransfer(server).take(given, publish=publish))
