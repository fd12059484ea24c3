"""Exceptions that Holdfast raises: one hierarchy, data as attributes, messages that name the remedy.

    HoldfastError
    ├── DefinitionError                 a definition that cannot run
    │   ├── InvalidDefinition           problems in a document, all listed
    │   ├── WorkflowRefused             a workflow function that cannot be compiled
    │   ├── WorkflowUnknown             a start of a workflow that does not exist
    │   ├── CompositionCycle            a workflow contains itself as an activity
    │   ├── DefinitionNotFound          no definition of that id or version
    │   ├── CodeMissing                 a workflow of functions whose code is not loaded in this process
    │   └── DefinitionNotPublished      the definition has no published version
    ├── InvalidCron                     an unreadable cron expression or time zone
    ├── InvalidInput                    inputs that do not match their declaration, all problems listed
    ├── ValueRefused                    a value that cannot be stored in the state of an instance
    ├── UnknownValueType                stored data names an unregistered type
    ├── ExpressionError
    │   ├── ExpressionSyntax            the text is not valid in its language
    │   ├── ExpressionRefused           the sandbox does not allow it
    │   ├── ExpressionLimit             a limit of time, memory, size or recursion was exceeded
    │   ├── ExpressionFailed            evaluation raised an error
    │   └── UnknownLanguage             no evaluator is registered for the language
    ├── ExecutionError
    │   ├── ActivityFault               a fault that an activity declares (the Fault activity)
    │   ├── InputEvaluationFailed       the expression of an input failed
    │   ├── VariableNotFound            a name that no scope declares
    │   ├── WrongType                   a value that cannot be converted to its declared type
    │   │   └── WrongResult             a function returned a value that does not have its annotated type
    │   ├── PureActivityWaited          a pure activity awaited, which only effects may do
    │   ├── ActivityTimeout             an activity exceeded its timeout
    │   ├── ProcessDied                 the process of a CPU activity died during the call
    │   ├── BookmarkNotFound            the bookmark does not exist or is already consumed
    │   ├── PayloadRefused              the payload of an event does not match its declared type
    │   ├── InstanceNotFound            no instance with that id is stored
    │   ├── AlreadyStarted              the instance id is taken, or the workflow allows one instance at a time
    │   ├── ScheduleNotFound            no schedule with that id
    │   ├── StateNotKept                no snapshot of that version is stored
    │   ├── EffectHeld                  nothing to retry: an effect is held until an operator recovers it
    │   ├── InstanceAtRest              the instance has ended and accepts no more work
    │   │   ├── InstanceEnded           the instance is finished or canceled
    │   │   └── PlaceTaken              another instance holds the only slot of the activation strategy
    │   ├── MigrationRefused            the target version cannot continue the open work of the instance
    │   ├── InvalidState                a state document that cannot be continued
    │   │   ├── UnreadableValue         a stored value of a class that this code cannot rebuild
    │   │   └── StateUnreadable         a state or payload that the code of this process cannot read
    │   └── NoResult                    the workflow has no result (yet)
    │       └── InstanceFaulted         the workflow failed; the first incident has the details
    ├── TaskError                       an operation on a human task that was refused
    │   ├── TaskNotFound                no task with that id is stored
    │   ├── TaskTaken                   another user has claimed the task
    │   ├── TaskClosed                  the task is completed, or its workflow continued without it
    │   ├── TaskNotYours                the task is assigned to another user or role
    │   ├── TaskNotResumable            a task is answered as a task, not by its bookmark
    │   └── AnswerRefused               the answer does not match the form, all problems listed
    ├── PluginError                     plugins that conflict or do not load
    ├── ActivityDeclarationError        an @activity function or Activity class that cannot be described
    ├── SettingsError                   an unknown setting or an invalid value
    ├── AccessError                     sign-in, permissions and accounts
    │   ├── NotSignedIn                 credentials are missing, wrong, expired or revoked
    │   ├── PermissionDenied            the authenticated caller lacks a permission
    │   ├── TooManyAttempts             too many failed sign-ins; retry later
    │   │   └── SignInBusy              too many passwords wait to be verified; retry later
    │   ├── TooManyRequests             a request of this kind is sent too often; retry later
    │   ├── AccountNotFound             no user, role or API key of that name
    │   └── AccountRefused              an invalid change to a user, role or API key
    ├── ClientError                     between the client and the server
    │   ├── ServerUnavailable           the server does not answer, or the connection broke
    │   └── RequestRefused              the problem that the server returned
    ├── ConversionError                 a document that is not an Elsa 3 workflow definition
    ├── TransportError                  a message broker failed
    │   ├── TransportUnavailable        the broker does not answer, or the connection broke; retries failed
    │   ├── TransportMisconfigured      a wrong address, a missing driver or right, an incompatible queue
    │   ├── TransportClosed             used before open, after close, or from another event loop
    │   ├── DelayUnsupported            the broker cannot delay tickets; use the work table
    │   └── UnreadableTicket            bytes from a queue that do not decode to a ticket
    └── PersistenceError
        ├── InvalidId                   a text that is not a valid id
        ├── UnstorableText              a text with a character that databases cannot store
        ├── InvalidCursor               a cursor that does not belong to the list
        ├── BatchRefused                a batch of commits that breaks the rules of the store
        ├── OriginRefused               trusted code that arrived through an untrusted path
        ├── UndecodablePayload          stored bytes with an unknown codec, a missing key or altered content
        ├── AlreadyStored               the identity is already stored
        │   └── KeyReused               an idempotency key that belongs to a different request
        ├── VersionConflict             a concurrent change of the definition
        ├── DeletionRefused             the instance, its child or its parent has not ended
        └── StoreError                  the database failed
            ├── StoreUnavailable        the database does not answer, or the connection broke; retries failed
            ├── StoreMisconfigured      a wrong address, a missing driver or right
            ├── SchemaMismatch          the schema is older or newer than this version of Holdfast
            └── StoreClosed             used before open, after close, or after a fork

Import every error from this package; the modules inside are internal.
"""

from __future__ import annotations

from holdfast.errors.access import (
    AccessError,
    AccountNotFound,
    AccountRefused,
    NotSignedIn,
    PermissionDenied,
    SignInBusy,
    TooManyAttempts,
    TooManyRequests,
)
from holdfast.errors.authoring import (
    ActivityDeclarationError,
    CompositionCycle,
    ConversionError,
    DefinitionError,
    ExpressionError,
    ExpressionFailed,
    ExpressionLimit,
    ExpressionRefused,
    ExpressionSyntax,
    InvalidCron,
    InvalidDefinition,
    InvalidInput,
    PluginError,
    SettingsError,
    UnknownLanguage,
    UnknownValueType,
    ValueRefused,
    WorkflowRefused,
    WorkflowUnknown,
)
from holdfast.errors.base import (
    HoldfastError,
)
from holdfast.errors.dispatch import (
    AlreadyStarted,
    CodeMissing,
    DefinitionNotFound,
    DefinitionNotPublished,
    InstanceEnded,
    KeyReused,
    PlaceTaken,
    VersionConflict,
)
from holdfast.errors.execution import (
    ActivityFault,
    ActivityTimeout,
    BookmarkNotFound,
    EffectHeld,
    ExecutionError,
    InputEvaluationFailed,
    InstanceAtRest,
    InstanceFaulted,
    InstanceNotFound,
    InvalidState,
    MigrationRefused,
    NoResult,
    PayloadRefused,
    ProcessDied,
    PureActivityWaited,
    ScheduleNotFound,
    StateNotKept,
    StateUnreadable,
    UnreadableValue,
    VariableNotFound,
    WrongResult,
    WrongType,
)
from holdfast.errors.persistence import (
    AlreadyStored,
    BatchRefused,
    DeletionRefused,
    InvalidCursor,
    InvalidId,
    OriginRefused,
    PersistenceError,
    SchemaMismatch,
    StoreClosed,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
    UndecodablePayload,
    UnstorableText,
)
from holdfast.errors.remote import (
    ClientError,
    RequestRefused,
    ServerUnavailable,
)
from holdfast.errors.tasks import (
    AnswerRefused,
    TaskClosed,
    TaskError,
    TaskNotFound,
    TaskNotResumable,
    TaskNotYours,
    TaskTaken,
)
from holdfast.errors.transport import (
    DelayUnsupported,
    TransportClosed,
    TransportError,
    TransportMisconfigured,
    TransportUnavailable,
    UnreadableTicket,
)

__all__ = [
    "AccessError",
    "AccountNotFound",
    "AccountRefused",
    "ActivityDeclarationError",
    "ActivityFault",
    "ActivityTimeout",
    "AlreadyStarted",
    "AlreadyStored",
    "AnswerRefused",
    "BatchRefused",
    "BookmarkNotFound",
    "ClientError",
    "CodeMissing",
    "CompositionCycle",
    "ConversionError",
    "DefinitionError",
    "DefinitionNotFound",
    "DefinitionNotPublished",
    "DelayUnsupported",
    "DeletionRefused",
    "EffectHeld",
    "ExecutionError",
    "ExpressionError",
    "ExpressionFailed",
    "ExpressionLimit",
    "ExpressionRefused",
    "ExpressionSyntax",
    "HoldfastError",
    "InputEvaluationFailed",
    "InstanceAtRest",
    "InstanceEnded",
    "InstanceFaulted",
    "InstanceNotFound",
    "InvalidCron",
    "InvalidCursor",
    "InvalidDefinition",
    "InvalidId",
    "InvalidInput",
    "InvalidState",
    "KeyReused",
    "MigrationRefused",
    "NoResult",
    "NotSignedIn",
    "OriginRefused",
    "PayloadRefused",
    "PermissionDenied",
    "PersistenceError",
    "PlaceTaken",
    "PluginError",
    "ProcessDied",
    "PureActivityWaited",
    "RequestRefused",
    "ScheduleNotFound",
    "SchemaMismatch",
    "ServerUnavailable",
    "SettingsError",
    "SignInBusy",
    "StateNotKept",
    "StateUnreadable",
    "StoreClosed",
    "StoreError",
    "StoreMisconfigured",
    "StoreUnavailable",
    "TaskClosed",
    "TaskError",
    "TaskNotFound",
    "TaskNotResumable",
    "TaskNotYours",
    "TaskTaken",
    "TooManyAttempts",
    "TooManyRequests",
    "TransportClosed",
    "TransportError",
    "TransportMisconfigured",
    "TransportUnavailable",
    "UndecodablePayload",
    "UnknownLanguage",
    "UnknownValueType",
    "UnreadableTicket",
    "UnreadableValue",
    "UnstorableText",
    "ValueRefused",
    "VariableNotFound",
    "VersionConflict",
    "WorkflowRefused",
    "WorkflowUnknown",
    "WrongResult",
    "WrongType",
]

for _name in __all__:
    # The public name of an error is `holdfast.errors:…`, in stored faults and tracebacks too.
    globals()[_name].__module__ = __name__
