"""Definitions in files: JSON and YAML documents of Holdfast or Elsa 3, each published under the id in the document.

When an application starts, all files are published, or none. In development the files are watched, and each file is handled
alone: a changed file is published again, and the definition of a deleted file is retracted. If a changed file cannot be
published, the version that was published before stays.
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
from holdfast.management.definitions.dry_run import CheckedDefinition
from holdfast.management.definitions.provided import Provided, ProvidedDefinitions, source_hash
from holdfast.management.definitions.versions import Definitions
from holdfast.model.catalog import Source

logger = logging.getLogger("holdfast")

SUFFIXES = (".json", ".yaml", ".yml")
PAUSE_EVERY = 50
"""Files between two pauses, so that the event loop serves others."""
SCAN_EVERY = timedelta(seconds=1)

Stamp = tuple[int, int]


class FileProvider:
    """Publishes definitions of files. Each path is one file, or a folder that is searched with its subfolders."""

    name = "files"

    def __init__(self, paths: Iterable[Path], *, look: timedelta = SCAN_EVERY) -> None:
        self.paths = tuple(paths)
        self._look = look
        self._seen: dict[Path, Stamp | None] = {}
        self._ids: dict[Path, str] = {}
        self._missed: set[Path] = set()
        """Files that the last scan missed: an editor may remove a file for a moment when it saves."""
        self._sources: dict[Path, str] = {}
        """Hashes of the files at the start."""
        self._contents: dict[Path, str] = {}
        """Contents that are published for the files."""
        self._stamps: dict[Path, Stamp | None] = {}
        """Stamps of the files when they were checked."""
        self._checked: dict[Path, CheckedDefinition] = {}
        """Checked definitions that are not published yet."""
        self._before: ProvidedDefinitions | None = None
        self.problems: dict[Path, HoldfastError] = {}
        """Errors of the files that could not be published."""

    # -- at the start --------------------------------------------------------------------------------------------------

    async def check(self, definitions: Definitions, beside: Sequence[CheckedDefinition] = ()) -> None:
        """Check all files without a write. Raises one `DefinitionError` with the problems of all files."""
        for path in self.paths:
            if not path.exists():
                raise DefinitionError(f"There is no file or folder '{path}'. Correct the path in workflows=[…].")
            if not document_files(path):
                logger.warning("the folder %s holds no definition: no file ends in %s", path, ", ".join(SUFFIXES))
        if not self.paths:
            return
        await definitions.as_activities.refresh()
        self._before = definitions.provided(self.name, [str(path.absolute()) for path in self.paths])
        await self._before.load()
        documents: dict[Path, Mapping[str, Any]] = {}
        problems: dict[Path, HoldfastError] = {}
        known = set(self._ids.values())
        for number, path in enumerate(self._files()):
            if number % PAUSE_EVERY == 0:
                await asyncio.sleep(0)
            try:
                self._stamps[path] = _stamp(path)
                data = _read(path)
                self._sources[path] = source_hash(data)
                unchanged = self._before.unchanged(self._sources[path])
                if unchanged is None or unchanged.definition_id in known:
                    documents[path] = document_of(path, data)
                else:
                    self._ids[path] = unchanged.definition_id
                    known.add(unchanged.definition_id)
                    self._contents[path] = unchanged.content
                    self._seen[path] = _stamp(path)
            except DefinitionError as error:
                problems[path] = error
        taken = {name: path for path, name in self._ids.items()}
        self._checked, refused = await definitions.dry_run.all(documents, beside=beside, taken=taken)
        problems |= refused
        if problems:
            raise DefinitionError(
                f"{len(problems)} file(s) cannot be published, so nothing was published:\n{_listed(problems)}"
            )

    async def provide(self, definitions: Definitions) -> None:
        """Publish all files. Raises `DefinitionError` for problems that `check` could not find, such as a concurrent publish."""
        if not self.paths:
            return
        await definitions.as_activities.refresh()
        with definitions.as_activities.held():
            await self._publish_new(definitions)
            await self.refresh(definitions)
        if self.problems:
            raise DefinitionError(f"{len(self.problems)} file(s) could not be published:\n{_listed(self.problems)}")
        if self._before is not None:
            await self._before.save(
                [
                    Provided(name, self._sources[path], self._contents[path])
                    for path, name in self._ids.items()
                    if path in self._sources and path in self._contents
                ]
            )

    async def _publish_new(self, definitions: Definitions) -> None:
        """Publish the files whose definitions are new, many at once. `refresh` publishes the others one by one."""
        checked, self._checked = self._checked, {}
        for path, version in (await definitions.publish_new(checked, source=Source.FILE)).items():
            self._ids[path], self._contents[path] = version.definition_id, version.content
            self._seen[path] = self._stamps.get(path)

    # -- while they are watched ----------------------------------------------------------------------------------------

    async def refresh(self, definitions: Definitions) -> list[str]:
        """Publish changed files and retract the definitions of deleted files; returns the ids of both."""
        found = {path: _stamp(path) or self._seen.get(path) for path in self._files()}
        changed = [path for path, stamp in found.items() if self._seen.get(path) != stamp]
        if changed:  # A changed file may provide a definition that another file lacked.
            changed += [path for path in self.problems if path in found and path not in changed]
        away = {path for path in self._ids.keys() | self.problems.keys() if path not in found}
        gone, self._missed = away & self._missed, away - self._missed
        self._seen = found
        touched = await self._publish_all(definitions, changed)
        for path in gone:
            self.problems.pop(path, None)
            touched += await self._retract(definitions, self._ids.pop(path, None))
        return touched

    async def _publish_all(self, definitions: Definitions, paths: list[Path]) -> list[str]:
        """Publish the files. Failed files are tried again as long as others succeed, since they may use each other."""
        logged = {path: str(error) for path, error in self.problems.items()}
        touched: list[str] = []
        left = len(paths) + 1
        while paths and len(paths) < left:
            left = len(paths)
            for path in paths:
                touched += await self._publish(definitions, path)
            paths = [path for path in paths if path in self.problems]
        for path in paths:
            if logged.get(path) != str(self.problems[path]):
                logger.error("%s is not published: %s", path, self.problems[path])
        return touched

    async def watch(self, definitions: Definitions) -> None:
        """Scan the files periodically, until canceled."""
        while True:
            await asyncio.sleep(self._look.total_seconds())
            try:
                await self.refresh(definitions)
            except Exception:
                logger.warning("the definition files could not be read", exc_info=True)

    async def _publish(self, definitions: Definitions, path: Path) -> list[str]:
        """Publish one file; returns the ids of the definitions that were published or retracted."""
        before = self._ids.get(path)
        try:
            document = read_document(path)
            self._refuse_taken(path, document)
            version = (await definitions.save_and_publish(document, source=Source.FILE)).version
            name, self._contents[path] = version.definition_id, version.content
        except HoldfastError as error:
            if path.exists():  # Otherwise the next scan notices the deletion.
                self.problems[path] = error
            return []
        self.problems.pop(path, None)
        self._ids[path] = name
        return [name, *(await self._retract(definitions, before) if before != name else ())]

    def _refuse_taken(self, path: Path, document: Mapping[str, Any]) -> None:
        name = document.get("id")
        for other, known in self._ids.items():
            if known == name and other != path and other in self._seen:
                raise DefinitionError(
                    f"The id '{name}' is already used by {other.name}. Give one of the two another id."
                )

    async def _retract(self, definitions: Definitions, name: str | None) -> list[str]:
        if name is None or name in self._ids.values():
            return []
        try:
            return [name] if await definitions.retract(name) else []
        except DefinitionNotFound:
            return []

    def _files(self) -> list[Path]:
        """All files, sorted by name. If a folder is missing, its files count as unchanged."""
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
    """The definition files of a folder and its subfolders; for a file, the file itself."""
    if path.is_file():
        return [path]
    return sorted(found for found in path.rglob("*") if found.suffix.lower() in SUFFIXES and found.is_file())


def read_document(path: Path) -> Mapping[str, Any]:
    """The document in a file, by its suffix. Raises `DefinitionError`."""
    return document_of(path, _read(path))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DefinitionError(f"'{path.name}' cannot be read: {error.strerror or error}.") from error


def document_of(path: Path, data: bytes) -> Mapping[str, Any]:
    """The document that the bytes of a file hold."""
    try:
        data = data.removeprefix(b"\xef\xbb\xbf")
        found = msgspec.json.decode(data) if path.suffix.lower() == ".json" else _yaml(data)
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise DefinitionError(f"'{path.name}' cannot be read: {error}. Correct the document there.") from error
    if not isinstance(found, Mapping):
        raise DefinitionError(f"'{path.name}' is not a definition but a {type(found).__name__}.")
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
