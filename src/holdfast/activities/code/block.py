"""Code: runs statements without an await as plain Python."""

from __future__ import annotations

from typing import Any

from holdfast.activities.code.flow import block_of, leave
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import COMPLETED
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.model.scope import Scope


class Code(Activity, pure=True, category="Code", icon="code", browsable=False):
    """Runs statements of a workflow function that contain no await."""

    source: Any = field(evaluated=False)
    """Python statements."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        block = block_of(builder, "source", statements=True)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            completion = block(live, owner, scope)
            live.journal.append((COMPLETED, index, n, live.now(), None))
            if completion is not None:
                leave(live, owner, scope, completion)
            done(live, owner, scope, None)

        return op
