"""Errors that refuse a request before anything is queued or written."""

from __future__ import annotations

from holdfast.errors.authoring import DefinitionError
from holdfast.errors.execution import ExecutionError, InstanceAtRest
from holdfast.errors.persistence import AlreadyStored, PersistenceError


class DefinitionNotFound(DefinitionError, LookupError):
    """No definition of that id, or no such version of it."""

    def __init__(self, definition_id: str, version: str | None = None) -> None:
        self.definition_id = definition_id
        self.version = version
        which = "" if version is None else f" with version {version}"
        super().__init__(
            f"There is no workflow '{definition_id}'{which}. Check the id, or import it: holdfast import FILE, "
            "Holdfast(workflows=[…])."
        )


class CodeMissing(DefinitionError):
    """The code of a workflow is not loaded in this process, or no longer matches stored versions (`changed`)."""

    def __init__(
        self,
        definition_id: str,
        reason: str,
        module: str | None = None,
        *,
        changed: bool = False,
        is_loaded: bool = False,
        content: str = "",
    ) -> None:
        """`is_loaded`: the module of the workflow is imported here, so only parts of its code are missing."""
        self.definition_id = definition_id
        self.reason = reason
        self.module = module
        self.changed = changed
        self.is_loaded = is_loaded
        self.content = content
        what = "is not loaded in this process"
        if is_loaded:
            what = "is loaded in this process, but it lacks parts that a stored version uses"
        if changed:
            what = "has changed and no longer matches a stored version"
        self.remedy = _remedy(module, reason, changed=changed, is_loaded=is_loaded)
        self.summary = f"The code of '{definition_id}' {what} ({reason})."
        """The message without the remedy."""
        super().__init__(f"{self.summary} {self.remedy}")


def _remedy(module: str | None, reason: str, *, changed: bool, is_loaded: bool) -> str:
    if changed:
        return (
            "Keep its old inputs and give new inputs a default until its instances have ended, or give the new activity "
            "another name."
        )
    if module == "__main__" or "__main__" in reason:
        return "It is defined in a script that was run. Move it to a module that every process imports."
    if module is None:
        return (
            "Load the module or plugin that has the missing names (--activities MODULE), keep an old name as an alias "
            "(@activity(aliases=['old_name'])), or migrate the instances."
        )
    if is_loaded:
        return (
            "Register what is missing (Holdfast(activities=[…], workflows=[…])) or put it back; or keep the old name: "
            "@activity(aliases=['old_name']), old_name = new_name for a function, "
            "Holdfast(types={'module:OldName': NewName}) for a class; or migrate the instances."
        )
    return (
        f"Start the process with the module that defines it: --activities {module or 'MODULE'} (for serve, worker and "
        "commands on a store), or Holdfast(workflows=[…])."
    )


class DefinitionNotPublished(DefinitionError):
    """The definition has no published version."""

    def __init__(self, definition_id: str) -> None:
        self.definition_id = definition_id
        super().__init__(
            f"No version of '{definition_id}' is published. Publish a version, or request the latest or a version number."
        )


class VersionConflict(PersistenceError):
    """The definition was changed by another writer since it was read."""

    def __init__(self, definition_id: str, expected: str, found: str) -> None:
        self.definition_id = definition_id
        self.expected = expected
        self.found = found
        super().__init__(
            f"'{definition_id}' was changed by another writer (expected content {expected}, found {found or 'none'}). "
            "Reload it, then apply your change again."
        )


class AlreadyStarted(ExecutionError):
    """The instance id is taken, or the workflow allows one instance at a time and one exists."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        """The instance that exists."""
        super().__init__(
            f"Instance {instance_id} already exists: the workflow allows one instance at a time, or the id is taken. "
            "Wait for it with app.handle(…), start with another id or correlation id, or pass an idempotency key: a repeated "
            "key returns the same instance."
        )


class InstanceEnded(InstanceAtRest):
    """The instance is finished or canceled and accepts no more work."""

    def __init__(self, instance_id: str, status: str) -> None:
        super().__init__(instance_id, status, remedy="It accepts no more work. Start a new instance.")


class PlaceTaken(InstanceAtRest):
    """Another instance holds the only slot that the activation strategy allows."""

    def __init__(self, instance_id: str, status: str, holder: str | None) -> None:
        self.holder = holder
        super().__init__(
            instance_id,
            status,
            remedy=f"Instance {holder} is running, and the definition allows one at a time. Wait for it to end, or cancel it.",
        )


class KeyReused(AlreadyStored):
    """The idempotency key belongs to a request with a different body."""

    def __init__(self, key: str, holder: str | None = None) -> None:
        self.key = key
        self.holder = holder
        whose = f" (instance {holder})" if holder else ""
        super().__init__(
            f"This idempotency key belongs to another request{whose}. Use a new key for a new request; reuse a key only "
            "to repeat the same request."
        )
