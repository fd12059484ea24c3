"""Console output, console input and journal entries."""

from __future__ import annotations

from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import COMPLETED, captured
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.instance import Bookmark, JournalEvent
from holdfast.model.scope import Scope
from holdfast.model.types import convert


class WriteLine(Activity, pure=True, category="Console", icon="terminal"):
    """Writes a line of text. Printed after the commit, so a segment that is retried prints it only once."""

    text: Any = field(default=None, evaluated=False)
    """Text to write. Other values are converted to text; objects and lists become JSON."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, evaluate = builder.node.index, builder.input("text", logged=False)

        def step(live: LiveInstance, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            value = evaluate(scope)
            text = value if value.__class__ is str else as_text(value)
            live.lines.append(text)
            live.journal.append((COMPLETED, index, n, live.now(), text if len(text) < 1024 else captured(text)))

        return builder.at_once(step)


def as_text(value: Any) -> str:
    """Text for display: empty for None, JSON for objects and lists."""
    if value.__class__ is int:
        return str(value)
    return "" if value is None else str(convert(value, "string"))


class ReadLine(Activity, pure=True, category="Console", icon="keyboard"):
    """Waits for a line of text, which the caller provides when it resumes the bookmark."""

    prompt: str | None = None
    """Text that is printed before waiting."""
    result: str = output()
    """The line of text."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        prompt_of, put = builder.input("prompt"), builder.output("result")

        def resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
            put(live, activation.outer, None if payload is None else as_text(payload))
            live.complete(activation)

        node.hooks.resume = resume

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            prompt = prompt_of(scope)
            activation = live.activate(node, owner, scope)
            if prompt is not None:
                live.lines.append(as_text(prompt))
            live.bookmark(activation, NewBookmark(local=True))

        return op


class Log(Activity, pure=True, category="Diagnostics", icon="scroll"):
    """Writes an entry to the journal of the instance."""

    message: Any = field(default="", evaluated=False)
    """Text of the entry."""
    level: str = "information"
    """Severity, such as `information` or `error`."""
    category: str = "Process"
    """Category of the entry."""
    arguments: Any = None
    """Values that belong to the message; stored with the entry."""
    attributes: Any = None
    """Additional data; stored with the entry."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, message_of = builder.node.index, builder.input("message", "")
        others = {name: builder.input(name) for name in ("level", "category", "arguments", "attributes")}

        def step(live: LiveInstance, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            data = {"message": as_text(message_of(scope))}
            data.update((name, captured(value)) for name, read in others.items() if (value := read(scope)) is not None)
            at = live.now()
            live.journal.append((JournalEvent.LOGGED, index, n, at, data))
            live.journal.append((COMPLETED, index, n, at, None))

        return builder.at_once(step)


ACTIVITIES = (WriteLine, ReadLine, Log)
