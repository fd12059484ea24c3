# Requests, filters, results, alterations and declarations. Each name is loaded from its module on first use (lazy_exports.py).

from holdfast.authoring.compiled import WorkflowFunction as WorkflowFunction
from holdfast.authoring.placed import Placed as Placed
from holdfast.model.alterations import (
    AlterationPlan as AlterationPlan,
    Cancel as Cancel,
    CancelActivity as CancelActivity,
    Migrate as Migrate,
    ModifyVariable as ModifyVariable,
    ScheduleActivity as ScheduleActivity,
)
from holdfast.model.definition import (
    ActivationStrategy as ActivationStrategy,
    DefinitionOptions as DefinitionOptions,
    IncidentStrategy as IncidentStrategy,
    InputDeclaration as InputDeclaration,
    OutputDeclaration as OutputDeclaration,
    Storage as Storage,
)
from holdfast.model.instance import Bookmark as Bookmark, Incident as Incident, JournalEntry as JournalEntry
from holdfast.model.listing import (
    InstanceFilter as InstanceFilter,
    InstancePage as InstancePage,
    InstanceQuery as InstanceQuery,
    InstanceSort as InstanceSort,
    InstanceSummary as InstanceSummary,
)
from holdfast.model.policy import ActivityOptions as ActivityOptions, JournalRule as JournalRule, MergeMode as MergeMode
from holdfast.model.principal import ROLES as ROLES, Principal as Principal
from holdfast.model.requests import (
    DispatchDefinition as DispatchDefinition,
    Dispatched as Dispatched,
    DispatchInstance as DispatchInstance,
    DispatchRequest as DispatchRequest,
    DispatchResponse as DispatchResponse,
    DispatchResume as DispatchResume,
    DispatchStimulus as DispatchStimulus,
    DispatchTrigger as DispatchTrigger,
    Receipt as Receipt,
    decode_request as decode_request,
    encode_request as encode_request,
)
from holdfast.model.upkeep import RetentionRule as RetentionRule
from holdfast.persistence.archive import (
    ArchiveFile as ArchiveFile,
    RetentionReport as RetentionReport,
    retire as retire,
)
from holdfast.ports import ChildResult as ChildResult, MiddlewarePlacement as MiddlewarePlacement
from holdfast.runtime.dispatchers import Prioritized as Prioritized, RateLimited as RateLimited, Routed as Routed
from holdfast.runtime.outbox.relay import FunctionOutlet as FunctionOutlet
