"""Import and export of definitions: JSON, YAML, Elsa 3 JSON and zips of them; export also as Python."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from holdfast.errors import HoldfastError
from holdfast.model.reader import parse_definition
from holdfast.server.backend import Backend
from holdfast.server.definition_service import native
from holdfast.server.problems import Refusal, as_finding
from holdfast.server.schemas.base import ProblemDetail
from holdfast.server.schemas.definitions import ImportedFile
from holdfast.server.views import definitions as views

FILES_MAX = 1_000
UNPACKED_BYTES_MAX = 50_000_000
"""Limit on unpacked bytes, counted while unpacking: the sizes declared in a zip cannot be trusted."""


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

    async def take(self, given: Iterable[tuple[str, bytes]], *, publish: bool) -> list[ImportedFile]:
        found = []
        for name, data in given:
            try:
                parts = list(unpacked(name, data))
            except Refusal as refusal:
                found.append(_refused(name, refusal))
                continue
            found.extend([await self._one(part, content, publish=publish) for part, content in parts])
        return found

    async def _one(self, name: str, data: bytes, *, publish: bool) -> ImportedFile:
        service = self._server.runtime.definitions
        try:
            document = native(read_document(name, data))
            if publish:
                label = (await service.save_and_publish(document)).version
            else:
                label = await service.save_draft(document)
        except (HoldfastError, Refusal) as error:
            return _refused(name, error)
        return ImportedFile(file=name, ok=True, id=label.definition_id, version=label.version)


def _refused(name: str, error: Exception) -> ImportedFile:
    listed = getattr(error, "problems", ())
    problems = [ProblemDetail(**as_finding(item)) for item in listed] or [ProblemDetail(message=str(error))]
    return ImportedFile(file=name, ok=False, problems=problems)


def unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The file itself, or the files inside a zip."""
    if not data.startswith(b"PK\x03\x04"):
        yield name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            left = UNPACKED_BYTES_MAX
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > FILES_MAX:
                raise Refusal(422, "zip.too_many", f"{name} holds more than {FILES_MAX} files. Send it in parts.")
            for entry in entries:
                with archive.open(entry) as file:
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise Refusal(422, "zip.too_large", f"{name} unpacks to more than {UNPACKED_BYTES_MAX} bytes.")
                yield f"{name}/{entry.filename}", content
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise Refusal(422, "zip.unreadable", f"{name} is not a readable zip: {error}.") from error


def read_document(name: str, data: bytes) -> dict[str, Any]:
    import yaml

    try:
        text = data.decode("utf-8-sig")
        if name.lower().endswith((".yaml", ".yml")):
            found = yaml.safe_load(text)
        else:
            found = msgspec.json.decode(text)
    except (UnicodeDecodeError, msgspec.DecodeError, yaml.YAMLError, RecursionError) as error:
        raise Refusal(422, "file.unreadable", f"{name} is neither JSON nor YAML: {error}.") from error
    if not isinstance(found, dict):
        raise Refusal(422, "file.no_definition", f"{name} contains no definition: a JSON object is expected.")
    return found


def safe_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text) or "definition"
