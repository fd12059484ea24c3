"""Every exception that Holdfast raises: one family, data on the error, a message that names the remedy.

    HoldfastError
    ├── DefinitionError                 what was written cannot be run
    │   ├── InvalidDefinition           all problems of a document at once
    │   ├── WorkflowRefused             a workflow function that cannot be compiled as it is written
    │   ├── CompositionCycle            a workflow contains itself as an activity
    │   ├── DefinitionNotFound          no definition of that id or version
    │   ├── CodeMissing                 a workflow of functions whose code is not in this process
    │   └── DefinitionNotPublished      none of its versions is published
    ├── InvalidCron                     a cron expression or time zone that cannot be read
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
    │   ├── PayloadRefused              an event of another shape than the one that is waited for
    │   ├── InstanceNotFound            no instance of that id is stored
    │   ├── AlreadyStarted              an instance of that id is there, or the workflow allows one at a time
    │   ├── ScheduleNotFound            no schedule of that id
    │   ├── StateNotKept                the state of that moment is not kept
    │   ├── EffectHeld                  nothing has failed, but an effect waits for somebody's word
    │   ├── InstanceAtRest              the instance has ended and takes no more work
    │   │   ├── InstanceEnded           finished or canceled: it takes nothing any more
    │   │   └── PlaceTaken              another instance holds the place that is there once
    │   ├── MigrationRefused            another version has no place for what is at work in an instance
    │   ├── InvalidState                a state document that cannot be continued
    │   └── NoResult                    a workflow that has returned nothing (yet)
    │       └── InstanceFaulted         it failed; the first incident says with what
    ├── TaskError                       a human task that cannot be worked on as asked
    │   ├── TaskNotFound                no task of that id is stored
    │   ├── TaskTaken                   somebody else has claimed it
    │   ├── TaskClosed                  it was completed, or its workflow went on without it
    │   ├── TaskNotYours                it is meant for somebody else
    │   └── AnswerRefused               the answer does not fit the form: all problems at once
    ├── PluginError                     plugins that do not fit together
    ├── ActivityDeclarationError        an @activity or Activity class that cannot be described
    ├── SettingsError                   a setting that does not exist or has no sense
    ├── AccessError                     sign-in, permissions and accounts
    │   ├── NotSignedIn                 no credentials, or wrong, expired or revoked ones
    │   ├── PermissionDenied            the caller is known and may not do this
    │   ├── TooManyAttempts             sign-in failed too often; wait a while
    │   ├── AccountNotFound             no user, role or API key of that name
    │   └── AccountRefused              a user, role or API key that cannot be as asked for
    ├── ClientError                     between the client and the server
    │   ├── ServerUnavailable           nobody answers, or the connection broke
    │   └── RequestRefused              the server's problem, as it told it
    ├── ConversionError                 an Elsa document that is not one
    ├── TransportError                  a broker did not carry it
    │   ├── TransportUnavailable        it does not answer, or the connection broke; tried again, without success
    │   ├── TransportMisconfigured      a wrong address, a missing driver, no rights, a queue of another make
    │   ├── TransportClosed             used before open, after close, or from another event loop
    │   ├── DelayUnsupported            this broker holds nothing back; the work table does
    │   └── UnreadableTicket            bytes from a queue that are no ticket
    └── PersistenceError
        ├── InvalidId                   a text that cannot be an id
        ├── UnstorableText              a text with a character that no column keeps
        ├── InvalidCursor               a list's cursor that this list did not make
        ├── BatchRefused                commits that no store may write
        ├── OriginRefused               trusted code through a way that is not trusted
        ├── UndecodablePayload          stored bytes whose codec, key or content is not ours
        ├── AlreadyStored               something of that identity is there already
        │   └── KeyReused               an idempotency key of a request with another body
        ├── VersionConflict             a definition was changed by somebody else since it was read
        ├── DeletionRefused             an instance that lives, or whose child or parent does
        └── StoreError                  the database did not do it
            ├── StoreUnavailable        it does not answer, or the connection broke; tried again, without success
            ├── StoreMisconfigured      a wrong address, a missing driver, no rights
            ├── SchemaMismatch          the schema is older or newer than this version of Holdfast
            └── StoreClosed             used before open, after close, or after a fork

Import them from here, whichever module they stand in.
"""

from __future__ import annotations

from holdfast.errors.access import (
    AccessError,
    AccountNotFound,
    AccountRefused,
    NotSignedIn,
    PermissionDenied,
    TooManyAttempts,
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
    PureActivityWaited,
    ScheduleNotFound,
    StateNotKept,
    VariableNotFound,
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
    "PureActivityWaited",
    "RequestRefused",
    "ScheduleNotFound",
    "SchemaMismatch",
    "ServerUnavailable",
    "SettingsError",
    "StateNotKept",
    "StoreClosed",
    "StoreError",
    "StoreMisconfigured",
    "StoreUnavailable",
    "TaskClosed",
    "TaskError",
    "TaskNotFound",
    "TaskNotYours",
    "TaskTaken",
    "TooManyAttempts",
    "TransportClosed",
    "TransportError",
    "TransportMisconfigured",
    "TransportUnavailable",
    "UndecodablePayload",
    "UnknownLanguage",
    "UnknownValueType",
    "UnreadableTicket",
    "UnstorableText",
    "ValueRefused",
    "VariableNotFound",
    "VersionConflict",
    "WorkflowRefused",
]

for _name in __all__:
    # The public name of an error is `holdfast.errors:…`, wherever it stands: stored faults and tracebacks say it.
    globals()[_name].__module__ = __name__
