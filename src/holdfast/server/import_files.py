"""Files of an import: JSON, YAML and zips of them, read within limits. Runs in a thread, since parsing takes long.

YAML aliases are refused: a few hundred bytes of them describe a document of gigabytes.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

import msgspec

from holdfast.server.json_body import JsonLimits, JsonRefused, check_values
from holdfast.server.problems import Refusal
from holdfast.settings import Settings


class ImportLimits(msgspec.Struct, frozen=True, kw_only=True):
    yaml_bytes: int
    archive_bytes: int
    """Limit on unpacked bytes, counted while unpacking: the sizes declared in a zip cannot be trusted."""
    archive_files: int
    json: JsonLimits

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            yaml_bytes=settings.yaml_bytes_max,
            archive_bytes=settings.archive_bytes_max,
            archive_files=settings.archive_files_max,
            json=JsonLimits(depth=settings.json_depth_max, values=settings.json_values_max),
        )


class ReadFile(NamedTuple):
    """A file of an import: its document, or the reason why it was refused."""

    name: str
    document: dict[str, Any] | None = None
    refusal: Refusal | None = None


def read_files(given: Iterable[tuple[str, bytes]], limits: ImportLimits) -> list[ReadFile]:
    """Each file succeeds or fails on its own; a zip that cannot be read fails as a whole."""
    found: list[ReadFile] = []
    for name, data in given:
        try:
            parts = list(unpacked(name, data, limits))
        except Refusal as refusal:
            found.append(ReadFile(name, refusal=refusal))
            continue
        found.extend(_read(part, content, limits) for part, content in parts)
    return found


def _read(name: str, data: bytes, limits: ImportLimits) -> ReadFile:
    try:
        return ReadFile(name, read_document(name, data, limits))
    except Refusal as refusal:
        return ReadFile(name, refusal=refusal)


def unpacked(name: str, data: bytes, limits: ImportLimits) -> Iterator[tuple[str, bytes]]:
    """The file itself, or the files inside a zip."""
    if not data.startswith(b"PK\x03\x04"):
        yield name, data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            left = limits.archive_bytes
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > limits.archive_files:
                raise Refusal(
                    422, "zip.too_many", f"{name} holds more than {limits.archive_files} files. Send it in parts."
                )
            for entry in entries:
                with archive.open(entry) as file:
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise Refusal(422, "zip.too_large", f"{name} unpacks to more than {limits.archive_bytes} bytes.")
                yield f"{name}/{entry.filename}", content
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError, ValueError) as error:
        raise Refusal(422, "zip.unreadable", f"{name} is not a readable zip: {error}.") from error


def read_document(name: str, data: bytes, limits: ImportLimits) -> dict[str, Any]:
    import yaml

    try:
        text = data.decode("utf-8-sig")
        if name.lower().endswith((".yaml", ".yml")):
            found = _read_yaml(name, text, limits)
        else:
            check_values(data, limits.json)
            found = msgspec.json.decode(text)
    except JsonRefused as error:
        raise Refusal(422, error.code, f"{name}: {error}") from error
    except (UnicodeDecodeError, msgspec.DecodeError, yaml.YAMLError, RecursionError, ValueError) as error:
        raise Refusal(422, "file.unreadable", f"{name} is neither JSON nor YAML: {error}.") from error
    if not isinstance(found, dict):
        raise Refusal(422, "file.no_definition", f"{name} contains no definition: a JSON object is expected.")
    return found


def _read_yaml(name: str, text: str, limits: ImportLimits) -> Any:
    import yaml

    if len(text) > limits.yaml_bytes:
        raise Refusal(
            422,
            "yaml.too_large",
            f"{name} is larger than {limits.yaml_bytes} bytes. Import it as JSON, or raise the setting yaml_bytes_max.",
        )

    class PlainLoader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise Refusal(422, "yaml.alias", f"{name} uses a YAML alias (*name). Write the value in each place.")
            return super().compose_node(parent, index)

    return yaml.load(text, PlainLoader)  # noqa: S506 - a safe loader
