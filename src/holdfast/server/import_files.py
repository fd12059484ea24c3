"""Files of an import: JSON, YAML and zips of them, read within limits. Runs in a thread; YAML is parsed in a child process
(`yaml_child`)."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from holdfast.server.json_body import JsonLimits, JsonRefused, check_values
from holdfast.server.problems import Refusal
from holdfast.settings import Settings

CHILD = Path(__file__).with_name("yaml_child.py")
YAML_TIME = timedelta(seconds=20)
"""Time for the YAML files of an import; then the child process is killed."""


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
    parts: list[tuple[str, bytes] | ReadFile] = []
    for name, data in given:
        try:
            parts.extend(list(unpacked(name, data, limits)))  # All files of a zip, or none.
        except Refusal as refusal:
            parts.append(ReadFile(name, refusal=refusal))
    texts = [part for part in parts if not isinstance(part, ReadFile) and is_yaml(part[0])]
    found = iter(read_yaml(texts, limits) if texts else ())
    return [
        part if isinstance(part, ReadFile) else next(found) if is_yaml(part[0]) else _read_json(*part, limits)
        for part in parts
    ]


def is_yaml(name: str) -> bool:
    return name.lower().endswith((".yaml", ".yml"))


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


def _read_json(name: str, data: bytes, limits: ImportLimits) -> ReadFile:
    try:
        check_values(data, limits.json)
        return _definition(name, msgspec.json.decode(data.decode("utf-8-sig")))
    except JsonRefused as error:
        return ReadFile(name, refusal=Refusal(422, error.code, f"{name}: {error}"))
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError) as error:
        return _unreadable(name, str(error))


def read_yaml(given: Sequence[tuple[str, bytes]], limits: ImportLimits) -> list[ReadFile]:
    """YAML files, parsed in one child process."""
    found: dict[int, ReadFile] = {}
    texts: dict[int, str] = {}
    for number, (name, data) in enumerate(given):
        if len(data) > limits.yaml_bytes:
            message = f"{name} is larger than {limits.yaml_bytes} bytes. Import it as JSON, or raise the setting yaml_bytes_max."
            found[number] = ReadFile(name, refusal=Refusal(422, "yaml.too_large", message))
            continue
        try:
            texts[number] = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            found[number] = _unreadable(name, str(error))
    for number, answer in zip(texts, _asked_child(list(texts.values())), strict=True):
        found[number] = _of_answer(given[number][0], answer)
    return [found[number] for number in range(len(given))]


def _asked_child(texts: list[str]) -> list[dict[str, Any]]:
    if not texts:
        return []
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the texts are its input
            [sys.executable, "-P", str(CHILD)],
            input=msgspec.json.encode(texts),
            capture_output=True,
            timeout=YAML_TIME.total_seconds(),
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        said = "it takes too much time or memory. Send fewer files, or import JSON"
        return [{"error": said, "alias": False}] * len(texts)
    found: list[dict[str, Any]] = msgspec.json.decode(done.stdout)
    return found


def _of_answer(name: str, answer: dict[str, Any]) -> ReadFile:
    if "value" in answer:
        return _definition(name, answer["value"])
    if answer["alias"]:
        message = f"{name} uses a YAML alias (*name). Write the value in each place."
        return ReadFile(name, refusal=Refusal(422, "yaml.alias", message))
    return _unreadable(name, answer["error"])


def _definition(name: str, value: Any) -> ReadFile:
    if isinstance(value, dict):
        return ReadFile(name, value)
    message = f"{name} contains no definition: a JSON object is expected."
    return ReadFile(name, refusal=Refusal(422, "file.no_definition", message))


def _unreadable(name: str, why: str) -> ReadFile:
    return ReadFile(name, refusal=Refusal(422, "file.unreadable", f"{name} is neither JSON nor YAML: {why}."))
