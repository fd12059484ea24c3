"""A request that is refused at once, before anything is queued or written."""

from __future__ import annotations

from holdfast.errors.authoring import DefinitionError
from holdfast.errors.execution import ExecutionError, InstanceAtRest
from holdfast.errors.persistence import AlreadyStored, PersistenceError


class DefinitionNotFound(DefinitionError, LookupError):
    """No definition of that id, or none of that version."""

    def __init__(self, definition_id: str, version: str | None = None) -> None:
        self.definition_id = definition_id
        self.version = version
        which = "" if version is None else f" with version {version}"
        super().__init__(
            f"There is no workflow '{definition_id}'{which}. Check the id, or import it: holdfast import FILE, "
            "Holdfast(workflows=[…])."
        )


class CodeMissing(DefinitionError):
    """A workflow of functions whose code is not in this process, or `changed` so that stored versions do not fit it."""

    def __init__(self, definition_id: str, reason: str, module: str | None = None, *, changed: bool = False) -> None:
        self.definition_id = definition_id
        self.module = module
        self.changed = changed
        what = "has changed, and a stored version does not fit it" if changed else "is not in this process"
        remedy = (
            f"Start it with the module that brings it: --activities {module or 'MODULE'}, for serve, worker and "
            "commands on a store; or Holdfast(workflows=[…])."
        )
        if module == "__main__" or "__main__" in reason:
            remedy = "It stands in a script that was run. Put it into a module that all processes import, and start it there."
        if changed:
            remedy = (
                "Keep the inputs that it had and give new ones a default, until its instances have ended; or give the new "
                "activity a name of its own."
            )
        super().__init__(f"The code of '{definition_id}' {what} ({reason}). {remedy}")


class DefinitionNotPublished(DefinitionError):
    """The definition has no published version."""

    def __init__(self, definition_id: str) -> None:
        self.definition_id = definition_id
        super().__init__(
            f"No version of '{definition_id}' is published. Publish one, or ask for the latest or for a number."
        )


class VersionConflict(PersistenceError):
    """A definition was changed by somebody else since it was read."""

    def __init__(self, definition_id: str, expected: str, found: str) -> None:
        self.definition_id = definition_id
        self.expected = expected
        self.found = found
        super().__init__(
            f"'{definition_id}' was changed meanwhile (expected content {expected}, found {found or 'none'}). "
            "Load it again, and make your change on that."
        )


class AlreadyStarted(ExecutionError):
    """The id of the instance is taken, or the workflow allows one at a time and one is there."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        """The one that is there."""
        super().__init__(
            f"Instance {instance_id} is there already: the workflow allows one at a time, or the id is taken. "
            "Wait for it with app.handle(…), start under another id or correlation id, or give an idempotency key: the same key "
            "twice answers with the same instance."
        )


class InstanceEnded(InstanceAtRest):
    """The instance has finished or was canceled: it takes nothing any more."""

    def __init__(self, instance_id: str, status: str) -> None:
        super().__init__(instance_id, status, remedy="It takes no more work. Start a new instance.")


class PlaceTaken(InstanceAtRest):
    """Another instance holds the place that the activation strategy allows once."""

    def __init__(self, instance_id: str, status: str, holder: str | None) -> None:
        self.holder = holder
        super().__init__(
            instance_id,
            status,
            remedy=f"Instance {holder} runs, and its definition allows one at a time. Wait for its end, or cancel it.",
        )


class KeyReused(AlreadyStored):
    """An idempotency key that belongs to a request with another body."""

    def __init__(self, key: str, holder: str | None = None) -> None:
        self.key = key
        self.holder = holder
        whose = f" (instance {holder})" if holder else ""
        super().__init__(
            f"This idempotency key belongs to another request{whose}. Use a new key for a new request, and the old one "
            "only to send the same request again."
        )
