"""`/api/definitions/import|export`: files in and out, one, many or a zip."""

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
    """A zip with one file per definition: its latest version."""
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
        bool, Query(description="To Python: flowcharts that are chains and decisions as Sequence and If.")
    ] = False,
) -> Response:
    """One definition as a file: JSON (ours or Elsa 3's), or a Python module of objects. What is no data cannot be
    converted: 422."""
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
    """Read files and save their definitions as drafts, or publish them; each file succeeds or fails on its own."""
    given = [(file.filename or "file", await file.read()) for file in files]
    return ImportResult(files=await DefinitionTransfer(server).take(given, publish=publish))
