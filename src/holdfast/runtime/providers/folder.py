"""Definitions in files: a folder of JSON and YAML documents, ours or Elsa 3's, each published under the id that it says.

In development the folder is watched: a file that changed is published again, one that is gone is retracted. A file that cannot be
published is told about, and what was published before stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from holdfast.errors import DefinitionError, HoldfastError
from holdfast.model.catalog import Source
from holdfast.runtime.definitions import Definitions

logger = logging.getLogger("holdfast")

SUFFIXES = (".json", ".yaml", ".yml")
LOOK = timedelta(seconds=1)

Stamp = tuple[int, int]


class FolderProvider:
    """`path` is a folder, searched with all below it, or one file."""

    name = "folder"

    def __init__(self, path: Path, *, look: timedelta = LOOK) -> None:
        self.path = path
        self._look = look
        self._seen: dict[Path, Stamp] = {}
        self._ids: dict[Path, str] = {}
        self.problems: dict[Path, HoldfastError] = {}
        """Files that could not be published, and why."""

    async def provide(self, definitions: Definitions) -> None:
        """Publish every file; those that cannot be are told about together, after the others are published."""
        if not self.path.exists():
            raise DefinitionError(f"There is no file or folder '{self.path}'. Correct the path in workflows=[…].")
        await self.refresh(definitions)
        if self.problems:
            listed = "\n".join(f"  {path}: {error}" for path, error in sorted(self.problems.items()))
            raise DefinitionError(f"{len(self.problems)} file(s) could not be published:\n{listed}")

    async def refresh(self, definitions: Definitions) -> list[str]:
        """Publish what changed since the last look, retract what is gone; the ids of both."""
        found = {path: _stamp(path) for path in document_files(self.path)}
        changed = [path for path, stamp in found.items() if self._seen.get(path) != stamp]
        gone = [path for path in self._ids if path not in found]
        self._seen = found
        touched = [name for path in changed if (name := await self._publish(definitions, path)) is not None]
        for path in gone:
            name = self._ids.pop(path)
            self.problems.pop(path, None)
            if name not in self._ids.values():
                await definitions.retract(name)
                touched.append(name)
        return touched

    async def watch(self, definitions: Definitions) -> None:
        """Look again and again, until canceled."""
        while True:
            await asyncio.sleep(self._look.total_seconds())
            try:
                await self.refresh(definitions)
            except Exception:
                logger.warning("the folder %s could not be read", self.path, exc_info=True)

    async def _publish(self, definitions: Definitions, path: Path) -> str | None:
        try:
            document = read_document(path)
            published = await definitions.save_and_publish(document, source=Source.FILE)
        except HoldfastError as error:
            self.problems[path] = error
            logger.error("%s is not published: %s", path, error)  # noqa: TRY400 - the message says it all
            return None
        except OSError:
            return None  # It was taken away while we looked; the next look sees that.
        self.problems.pop(path, None)
        self._ids[path] = published.version.definition_id
        return published.version.definition_id


def document_files(path: Path) -> list[Path]:
    """The files of definitions in a folder and all below it; a file is its own."""
    if path.is_file():
        return [path]
    return sorted(found for found in path.rglob("*") if found.suffix.lower() in SUFFIXES and found.is_file())


def read_document(path: Path) -> Mapping[str, Any]:
    """The document in a file, by its suffix. Raises `DefinitionError`."""
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        found = msgspec.json.decode(data) if path.suffix.lower() == ".json" else _yaml(data)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise DefinitionError(f"'{path.name}' cannot be read: {error}. Correct it at that place.") from error
    if not isinstance(found, Mapping):
        raise DefinitionError(f"'{path.name}' holds no definition but a {type(found).__name__}.")
    return found


def _yaml(data: bytes) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise DefinitionError("Definitions in YAML need PyYAML: pip install 'holdfast[yaml]'.") from error
    try:
        return yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
