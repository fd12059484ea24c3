"""Import and export of definitions: JSON, YAML, Elsa 3 JSON and zips of them; export also as Python."""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from holdfast.errors import HoldfastError
from holdfast.model.reader import parse_definition
from holdfast.server.backend import Backend
from holdfast.server.definition_service import native
from holdfast.server.import_files import ImportLimits, ReadFile, read_files
from holdfast.server.problems import Refusal, as_finding
from holdfast.server.schemas.base import ProblemDetail
from holdfast.server.schemas.definitions import ImportedFile
from holdfast.server.views import definitions as views


class DefinitionTransfer:
    def __init__(self, server: Backend) -> None:
        self._server = server

    # -- export --------------------------------------------------------------------------------------------------------

    async def file(self, definition_id: str, version: str, form: str, *, untangle: bool = False) -> tuple[str, bytes]:
        """File name and content."""
        label = await views.find(self._server, definition_id, version)
        document = label.details.filed(await self._server.document(label.content))
        if form == "python":
            return f"{safe_name(definition_id)}.py", self._python(document, untangle=untangle)
        if form == "elsa":
            from holdfast.elsa import write_elsa

            document, _ = write_elsa(parse_definition(document, trusted=True))
        return f"{safe_name(definition_id)}.json", msgspec.json.format(msgspec.json.encode(document), indent=2)

    def _python(self, document: dict[str, Any], *, untangle: bool) -> bytes:
        """Same output as `holdfast convert --to python`; its notes become comments at the top."""
        from holdfast.engine.python_export import written_as_python

        written = written_as_python(parse_definition(document, trusted=True), self._server.engine, untangle=untangle)
        notes = "".join(f"# {note}\n" for note in written.notes)
        return f"{notes}{written.text}".encode()

    async def archive(self, ids: Iterable[str], form: str) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for definition_id in dict.fromkeys(ids):
                name, data = await self.file(definition_id, "latest", form)
                archive.writestr(zipfile.ZipInfo(name), data)
        return packed.getvalue()

    # -- import --------------------------------------------------------------------------------------------------------

    async def take(self, given: Sequence[tuple[str, bytes]], *, publish: bool) -> list[ImportedFile]:
        limits = ImportLimits.of(self._server.engine.settings)
        async with self._server.parsing:
            files = await asyncio.to_thread(read_files, given, limits)
        return [await self._one(file, publish=publish) for file in files]

    async def _one(self, file: ReadFile, *, publish: bool) -> ImportedFile:
        service = self._server.runtime.definitions
        if file.document is None:
            return _refused(file.name, file.refusal or Refusal(422, "file.unreadable", "The file cannot be read."))
        try:
            document = native(file.document)
            if publish:
                label = (await service.save_and_publish(document)).version
            else:
                label = await service.save_draft(document)
        except (HoldfastError, Refusal) as error:
            return _refused(file.name, error)
        return ImportedFile(file=file.name, ok=True, id=label.definition_id, version=label.version)


def _refused(name: str, error: Exception) -> ImportedFile:
    listed = getattr(error, "problems", ())
    problems = [ProblemDetail(**as_finding(item)) for item in listed] or [ProblemDetail(message=str(error))]
    return ImportedFile(file=name, ok=False, problems=problems)


def safe_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text) or "definition"
