# The names for everyday use, at most 45. Each name is loaded from its module on first use (lazy_exports.py).

from holdfast.authoring.activity import Activity as Activity
from holdfast.authoring.compiled import workflow as workflow
from holdfast.authoring.fields import (
    children as children,
    entries as entries,
    expr as expr,
    field as field,
    literal as literal,
    output as output,
    port as port,
    variable as variable,
)
from holdfast.authoring.function import activity as activity
from holdfast.authoring.poll import Poll as Poll
from holdfast.authoring.primitives import (
    ask as ask,
    compensate as compensate,
    first as first,
    gather as gather,
    parallel as parallel,
    poll as poll,
    run_child as run_child,
    sleep as sleep,
    wait_for as wait_for,
)
from holdfast.authoring.workflow import Workflow as Workflow
from holdfast.engine import Holdfast as Holdfast
from holdfast.errors import HoldfastError as HoldfastError
from holdfast.model.definition import Definition as Definition, Variable as Variable
from holdfast.model.instance import Status as Status
from holdfast.model.policy import OnLost as OnLost, Retry as Retry
from holdfast.persistence import Store as Store
from holdfast.ports import Context as Context, Plugin as Plugin
from holdfast.runtime.handles import Handle as Handle
from holdfast.runtime.inline.runner import Runner as Runner
from holdfast.runtime.outbox.webhook import Webhook as Webhook
from holdfast.runtime.result import RunResult as RunResult

__version__: str
