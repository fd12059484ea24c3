"""Definitions in files: JSON and YAML documents, ours or Elsa 3's, each published under the id that it says.

When an application starts, its files are one set: all are published, or none, since half of a deployment is nobody's wish. In
development they are watched, and then each stands for itself: a file that changed is published again, one that is gone is
retracted, and of one that cannot be published what was there before stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from holdfast.errors import DefinitionError, DefinitionNotFound, HoldfastError
from holdfast.management.definitions.dry_run import Rehearsed
from holdfast.management.definitions.versions import Definitions
from holdfast.model.catalog import Source

logger = logging.getLogger("holdfast")

SUFFIXES = (".json", ".yaml", ".yml")
LOOK = timedelta(seconds=1)

Stamp = tuple[int, int]


class FileProvider:
    """Each path is a folder, searched with all below it, or one file."""

    name = "files"

    def __init__(self, paths: Iterable[Path], *, look: timedelta = LOOK) -> None:
        self.paths = tuple(paths)
        self._look = look
        self._seen: dict[Path, Stamp | None] = {}
        self._ids: dict[Path, str] = {}
        self._missed: set[Path] = set()
        """Not there at the last look: an editor that saves takes a file away for a moment."""
        self.problems: dict[Path, HoldfastError] = {}
        """Files that could not be published, and why."""

    # -- at the start --------------------------------------------------------------------------------------------------

    async def rehearse(self, definitions: Definitions, beside: Sequence[Rehearsed] = ()) -> None:
        """Refuse the start, with everything that is wrong with any of the files; nothing is written."""
        for path in self.paths:
            if not path.exists():
                raise DefinitionError(f"There is no file or folder '{path}'. Correct the path in workflows=[…].")
            if not document_files(path):
                logger.warning("the folder %s holds no definition: no file that ends in %s", path, ", ".join(SUFFIXES))
        documents: dict[Path, Mapping[str, Any]] = {}
        problems: dict[Path, HoldfastError] = {}
        for path in self._found():
            try:
                documents[path] = read_document(path)
            except DefinitionError as error:
                problems[path] = error
        problems |= await definitions.rehearsal.together(documents, beside=beside)
        if problems:
            raise DefinitionError(
                f"{len(problems)} file(s) cannot be published, so nothing was published:\n{_listed(problems)}"
            )

    async def provide(self, definitions: Definitions) -> None:
        """Publish all. What a rehearsal could not see (somebody publishes at the same moment) is told like its findings."""
        await self.refresh(definitions)
        if self.problems:
            raise DefinitionError(f"{len(self.problems)} file(s) could not be published:\n{_listed(self.problems)}")

    # -- while they are watched ----------------------------------------------------------------------------------------

    async def refresh(self, definitions: Definitions) -> list[str]:
        """Publish what changed since the last look, retract what is gone; the ids of both."""
        found = {path: _stamp(path) or self._seen.get(path) for path in self._found()}
        changed = [path for path, stamp in found.items() if self._seen.get(path) != stamp]
        if changed:  # What another one lacked may be among them.
            changed += [path for path in self.problems if path in found and path not in changed]
        away = {path for path in self._ids.keys() | self.problems.keys() if path not in found}
        gone, self._missed = away & self._missed, away - self._missed
        self._seen = found
        touched = await self._publish_all(definitions, changed)
        for path in gone:
            self.problems.pop(path, None)
            touched += await self._let_go(definitions, self._ids.pop(path, None))
        return touched

    async def _publish_all(self, definitions: Definitions, paths: list[Path]) -> list[str]:
        """As long as one more succeeds: it may be what another one uses."""
        told = {path: str(error) for path, error in self.problems.items()}
        touched: list[str] = []
        left = len(paths) + 1
        while paths and len(paths) < left:
            left = len(paths)
            for path in paths:
                touched += await self._publish(definitions, path)
            paths = [path for path in paths if path in self.problems]
        for path in paths:
            if told.get(path) != str(self.problems[path]):
                logger.error("%s is not published: %s", path, self.problems[path])
        return touched

    async def watch(self, definitions: Definitions) -> None:
        """Look again and again, until canceled."""
        while True:
            await asyncio.sleep(self._look.total_seconds())
            try:
                await self.refresh(definitions)
            except Exception:
                logger.warning("the files of definitions could not be read", exc_info=True)

    async def _publish(self, definitions: Definitions, path: Path) -> list[str]:
        """The ids that this touched."""
        before = self._ids.get(path)
        try:
            document = read_document(path)
            self._refuse_taken(path, document)
            name = (await definitions.save_and_publish(document, source=Source.FILE)).version.definition_id
        except HoldfastError as error:
            if path.exists():  # else the next look sees that it is gone
                self.problems[path] = error
            return []
        self.problems.pop(path, None)
        self._ids[path] = name
        return [name, *(await self._let_go(definitions, before) if before != name else ())]

    def _refuse_taken(self, path: Path, document: Mapping[str, Any]) -> None:
        name = document.get("id")
        for other, known in self._ids.items():
            if known == name and other != path and other in self._seen:
                raise DefinitionError(f"The id '{name}' is that of {other.name}. Give one of the two another id.")

    async def _let_go(self, definitions: Definitions, name: str | None) -> list[str]:
        if name is None or name in self._ids.values():
            return []
        try:
            return [name] if await definitions.retract(name) else []
        except DefinitionNotFound:
            return []

    def _found(self) -> list[Path]:
        """In the order of their names. A folder that is away says nothing of its files: they count as they were."""
        found: dict[Path, None] = {}
        for path in self.paths:
            if path.exists():
                found |= dict.fromkeys(document_files(path))
            elif path not in self._seen:
                found |= dict.fromkeys(known for known in self._seen if known.is_relative_to(path))
        return list(found)


def _listed(problems: Mapping[Path, HoldfastError]) -> str:
    return "\n".join(f"  {path}: {error}" for path, error in sorted(problems.items()))


def document_files(path: Path) -> list[Path]:
    """The files of definitions in a folder and all below it; a file is its own."""
    if path.is_file():
        return [path]
    return sorted(found for found in path.rglob("*") if found.suffix.lower() in SUFFIXES and found.is_file())


def read_document(path: Path) -> Mapping[str, Any]:
    """The document in a file, by its suffix. Raises `DefinitionError`."""
    try:
        data = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        found = msgspec.json.decode(data) if path.suffix.lower() == ".json" else _yaml(data)
    except OSError as error:
        raise DefinitionError(f"'{path.name}' cannot be read: {error.strerror or error}.") from error
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


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
