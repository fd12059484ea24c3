"""Every exception that Holdfast raises: one family, data on the error, a message that names the remedy.

    HoldfastError
    ├── DefinitionError                 what was written cannot be run
    │   ├── InvalidDefinition           all problems of a document at once
    │   ├── UnknownActivityType         no registered activity has that type
    │   └── CompositionCycle            a workflow contains itself as an activity
    ├── InvalidInput                    inputs do not fit the declared ones: all problems at once
    ├── ValueRefused                    a value that cannot be kept in an instance's state
    ├── UnknownValueType                stored data names a type that nobody registered
    ├── ExpressionError
    │   ├── ExpressionSyntax            the text is not of its language
    │   ├── ExpressionRefused           the sandbox does not allow it
    │   ├── ExpressionLimit             time, memory, size or recursion ran out
    │   ├── ExpressionFailed            it was evaluated and raised
    │   └── UnknownLanguage             no evaluator is registered for it
    ├── ExecutionError
    │   ├── ActivityFault               a fault that an activity declares (the Fault activity)
    │   ├── InputEvaluationFailed       an input's expression failed
    │   ├── VariableNotFound            a name that no scope declares
    │   ├── PureActivityWaited          a pure activity did something only an effect may do
    │   ├── ActivityTimeout             an activity took longer than its timeout
    │   ├── BookmarkNotFound            no such bookmark, or it is burned
    │   ├── InstanceNotFound            no instance of that id is stored
    │   ├── InstanceAtRest              the instance has ended and takes no more work
    │   └── InvalidState                a state document that cannot be continued
    ├── PluginError                     plugins that do not fit together
    ├── ActivityDeclarationError        an @activity or Activity class that cannot be described
    ├── SettingsError                   a setting that does not exist or has no sense
    ├── ConversionError                 an Elsa document that is not one
    ├── TransportError                  a broker did not carry it
    │   ├── TransportUnavailable        it does not answer, or the connection broke; tried again, without success
    │   ├── TransportMisconfigured      a wrong address, a missing driver, no rights, a queue of another make
    │   ├── TransportClosed             used before open, after close, or from another event loop
    │   ├── DelayUnsupported            this broker holds nothing back; the work table does
    │   └── UnreadableTicket            bytes from a queue that are no ticket
    └── PersistenceError
        ├── InvalidId                   a text that cannot be an id
        ├── InvalidCursor               a list's cursor that this list did not make
        ├── BatchRefused                commits that no store may write
        ├── OriginRefused               trusted code through a way that is not trusted
        ├── UndecodablePayload          stored bytes whose codec, key or content is not ours
        ├── AlreadyStored               something of that identity is there already
        ├── DeletionRefused             an instance that lives, or whose child or parent does
        └── StoreError                  the database did not do it
            ├── StoreUnavailable        it does not answer, or the connection broke; tried again, without success
            ├── StoreMisconfigured      a wrong address, a missing driver, no rights
            ├── SchemaMismatch          the schema is older or newer than this version of Holdfast
            └── StoreClosed             used before open, after close, or after a fork
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.model.problem import Problem

__all__ = [
    "ActivityDeclarationError",
    "ActivityFault",
    "ActivityTimeout",
    "AlreadyStored",
    "BatchRefused",
    "BookmarkNotFound",
    "CompositionCycle",
    "ConversionError",
    "DefinitionError",
    "DelayUnsupported",
    "DeletionRefused",
    "ExecutionError",
    "ExpressionError",
    "ExpressionFailed",
    "ExpressionLimit",
    "ExpressionRefused",
    "ExpressionSyntax",
    "HoldfastError",
    "InputEvaluationFailed",
    "InstanceAtRest",
    "InstanceNotFound",
    "InvalidCursor",
    "InvalidDefinition",
    "InvalidId",
    "InvalidInput",
    "InvalidState",
    "OriginRefused",
    "PersistenceError",
    "PluginError",
    "PureActivityWaited",
    "SchemaMismatch",
    "SettingsError",
    "StoreClosed",
    "StoreError",
    "StoreMisconfigured",
    "StoreUnavailable",
    "TransportClosed",
    "TransportError",
    "TransportMisconfigured",
    "TransportUnavailable",
    "UndecodablePayload",
    "UnknownActivityType",
    "UnknownLanguage",
    "UnknownValueType",
    "UnreadableTicket",
    "ValueRefused",
    "VariableNotFound",
]


class HoldfastError(Exception):
    """Something went wrong in Holdfast."""


# -- definitions -------------------------------------------------------------------------------------------------------


class DefinitionError(HoldfastError):
    """A definition cannot be run as it is written."""


def _listed(problems: Sequence[Problem]) -> str:
    return "\n".join(f"  {problem}" for problem in problems)


class InvalidDefinition(DefinitionError):
    """A definition has problems; `problems` holds all of them."""

    def __init__(self, problems: Sequence[Problem], *, name: str = "the definition") -> None:
        self.problems = tuple(problems)
        super().__init__(f"{name} has {len(self.problems)} problem(s):\n{_listed(self.problems)}")


class UnknownActivityType(DefinitionError):
    """No registered activity has this type."""

    def __init__(self, type_name: str, *, activity_id: str, known: Sequence[str] = ()) -> None:
        self.type_name = type_name
        self.activity_id = activity_id
        self.known = tuple(known)
        guess = f" Did you mean {', '.join(known)}?" if known else ""
        super().__init__(
            f"Activity '{activity_id}' has the unknown type '{type_name}'.{guess} "
            "Register it with Holdfast(activities=[…]) or a plugin, or correct the type."
        )


class CompositionCycle(DefinitionError):
    """A workflow contains itself as an activity."""

    def __init__(self, chain: Sequence[str]) -> None:
        self.chain = tuple(chain)
        super().__init__(
            f"Workflows use each other as activities in a circle: {' → '.join(self.chain)}. "
            "Start one of them as an instance of its own with ExecuteWorkflow instead."
        )


# -- values ------------------------------------------------------------------------------------------------------------


class InvalidInput(HoldfastError):
    """Inputs do not fit what the definition declares; `problems` holds all of them. Nothing was written."""

    def __init__(self, problems: Sequence[Problem], *, name: str) -> None:
        self.problems = tuple(problems)
        super().__init__(f"The inputs of '{name}' have {len(self.problems)} problem(s):\n{_listed(self.problems)}")


class ValueRefused(HoldfastError, TypeError):
    """A value of a type that cannot go through an instance's state."""

    def __init__(self, name: str, type_name: str, *, remedy: str) -> None:
        self.name = name
        self.type_name = type_name
        self.remedy = remedy
        super().__init__(f"'{name}' cannot hold a value of type {type_name}. {remedy}")


class UnknownValueType(HoldfastError):
    """Stored data names a value type that no registered workflow or activity declares."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(
            f"Stored data holds a value of type '{type_name}', which is not registered here. "
            "Register the class under that name: Holdfast(types=[…]) or a plugin."
        )


# -- expressions -------------------------------------------------------------------------------------------------------


class ExpressionError(HoldfastError):
    """An expression could not be compiled or evaluated."""

    def __init__(self, message: str, *, language: str, source: str) -> None:
        self.language = language
        self.source = source
        super().__init__(message)


class ExpressionSyntax(ExpressionError):
    """The text is not valid in its language."""


class ExpressionRefused(ExpressionError):
    """The sandbox does not allow what the text asks for."""


class ExpressionLimit(ExpressionError):
    """Time, memory, size or recursion ran out."""


class ExpressionFailed(ExpressionError):
    """The expression was evaluated and raised an error of its own."""


class UnknownLanguage(ExpressionError):
    """No evaluator is registered for this language."""


# -- execution ---------------------------------------------------------------------------------------------------------


class ExecutionError(HoldfastError):
    """An instance could not go on."""


class ActivityFault(ExecutionError):
    """A fault that an activity declares on purpose."""

    def __init__(
        self, message: str, *, code: str = "0", category: str = "General", fault_type: str = "System"
    ) -> None:
        self.code = code
        self.category = category
        self.fault_type = fault_type
        super().__init__(message)


class InputEvaluationFailed(ExecutionError):
    """An input's expression failed; the cause is chained."""

    def __init__(self, input_name: str, cause: BaseException) -> None:
        self.input_name = input_name
        super().__init__(f"Failed to evaluate activity input '{input_name}': {cause}")


class VariableNotFound(ExecutionError):
    """A name that no scope declares."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"Variable '{name}' not found. Declare it on the workflow or on a container around the activity.")


class PureActivityWaited(ExecutionError):
    """A pure activity awaited something that was not ready."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(
            f"'{type_name}' is declared pure but waits for something. Pure activities run inside a segment and must end "
            "without waiting: remove pure=True so that it becomes an effect."
        )


class ActivityTimeout(ExecutionError, TimeoutError):
    """An activity took longer than its timeout."""

    def __init__(self, activity_id: str, limit: str) -> None:
        self.activity_id = activity_id
        self.limit = limit
        super().__init__(f"Activity '{activity_id}' did not end within {limit}. Raise its timeout or make it faster.")


class BookmarkNotFound(ExecutionError):
    """No such bookmark, or it is burned."""

    def __init__(self, bookmark_id: str, *, instance_id: str, open_ids: Sequence[str] = ()) -> None:
        self.bookmark_id = bookmark_id
        self.instance_id = instance_id
        self.open_ids = tuple(open_ids)
        known = f" Open bookmarks: {', '.join(self.open_ids)}." if self.open_ids else " It has no open bookmark."
        super().__init__(f"Instance {instance_id} has no bookmark '{bookmark_id}'.{known}")


class InstanceNotFound(ExecutionError, LookupError):
    """No instance of that id is stored."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id
        super().__init__(f"There is no instance '{instance_id}' in this store. Check the id, the store's URL and the tenant.")


class InstanceAtRest(ExecutionError):
    """The instance has ended and takes no more work."""

    def __init__(self, instance_id: str, status: str, *, remedy: str) -> None:
        self.instance_id = instance_id
        self.status = status
        super().__init__(f"Instance {instance_id} is {status}. {remedy}")


class InvalidState(ExecutionError):
    """A state document that cannot be continued."""


# -- composition -------------------------------------------------------------------------------------------------------


class PluginError(HoldfastError):
    """Plugins that do not fit together."""


class ActivityDeclarationError(HoldfastError, TypeError):
    """An @activity function or Activity class that cannot be described."""


class SettingsError(HoldfastError, ValueError):
    """A setting that does not exist or whose value makes no sense."""


class ConversionError(HoldfastError):
    """A document that is not an Elsa 3 workflow definition."""


# -- persistence -------------------------------------------------------------------------------------------------------


class PersistenceError(HoldfastError):
    """Something could not be kept, found or read back."""


class InvalidId(PersistenceError, ValueError):
    """A text that cannot be an id."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        super().__init__(f"{text!r} is no {what}: use 1 to 64 of the characters A-Z a-z 0-9 . _ : -")


class InvalidCursor(PersistenceError, ValueError):
    """A cursor that this list did not make."""

    def __init__(self, cursor: str) -> None:
        self.cursor = cursor
        super().__init__(f"The cursor {cursor!r} is not of this list. Ask for the first page without a cursor.")


class BatchRefused(PersistenceError, ValueError):
    """A batch of commits that no store may write. Nothing of it was written."""


class OriginRefused(PersistenceError):
    """Trusted code that came through a way that is not trusted."""


class UndecodablePayload(PersistenceError):
    """Stored bytes that cannot be read back: another codec, a key that is missing, or tampered content."""


class AlreadyStored(PersistenceError):
    """Something of that identity is stored already, and is not overwritten."""


class DeletionRefused(PersistenceError):
    """An instance that is not at rest, or whose child or parent is not."""

    def __init__(self, instance_id: str, reason: str) -> None:
        self.instance_id = instance_id
        super().__init__(f"Instance {instance_id} is not deleted: {reason}. Cancel what still lives first.")


class StoreError(PersistenceError):
    """The database did not do what it was asked."""


class StoreUnavailable(StoreError):
    """The database does not answer, or the connection broke; it was tried again without success."""


class StoreMisconfigured(StoreError):
    """An address, a driver or a right that is not as it must be."""


class SchemaMismatch(StoreError):
    """The schema is older or newer than this version of Holdfast."""


class StoreClosed(StoreError):
    """A store that was used before `open`, after `close`, or in a process forked from the one that opened it."""


# -- carrying ----------------------------------------------------------------------------------------------------------


class TransportError(HoldfastError):
    """A broker did not carry what it was given."""


class TransportUnavailable(TransportError):
    """The broker does not answer, or the connection broke; it was tried again without success."""


class TransportMisconfigured(TransportError):
    """An address, a driver, a right or a queue that is not as it must be."""


class TransportClosed(TransportError):
    """A transport that was used before `open`, after `close`, or from another event loop than the one that opened it."""


class DelayUnsupported(TransportError):
    """This broker cannot hold a ticket back. Put a row with a due time on the work table instead."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        super().__init__(
            f"The transport '{transport}' cannot hold a ticket back (`can_schedule` is False). "
            "Put a row with a due time on the work table instead."
        )


class UnreadableTicket(TransportError, ValueError):
    """Bytes from a queue that are no ticket of this version."""
