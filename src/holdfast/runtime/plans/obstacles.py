"""Obstacles: code and classes that this process lacks, and the work that waits for them (rule H10).

Work that meets an obstacle is *parked*: its row stays in the work table under the name of the obstacle, with its attempts and
due time, and this process does not claim it again. Nothing is counted, and nothing becomes a dead letter. Another process
knows no obstacle when it starts, so it claims the row and runs it or finds the same obstacle.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from hashlib import blake2b

from holdfast.errors import DefinitionError, StateUnreadable, UnknownValueType, UnreadableValue
from holdfast.errors.execution import UNREADABLE_REMEDY
from holdfast.model.work import DEFAULT_QUEUE, WorkRow

logger = logging.getLogger("holdfast")

SEPARATOR = "!"
"""Between the content and the cause in the name of an obstacle that is not missing code."""
INSTANCES_MAX = 1_000
"""Instances that an obstacle remembers by id."""
PARKED_MAX = 100_000
"""Instances that the process remembers as unreadable."""
DOCUMENT_REMEDY = (
    "Load the module or plugin that has the missing names (--activities MODULE), keep an old name as an alias "
    "(@activity(aliases=['old_name'])), or migrate the instances."
)
OBSTACLES = (DefinitionError, StateUnreadable, UnknownValueType, UnreadableValue)
"""Errors that say nothing about the work: another process may run it."""


def content_of(name: str) -> str:
    """The content hash in the `content` of a work row, parked or not."""
    return name.partition(SEPARATOR)[0]


def is_parked_by_cause(name: str) -> bool:
    """Whether a row was parked for another reason than missing code."""
    return SEPARATOR in name


class Obstacle:
    """One cause: the missing code of a version, or a class that cannot be read."""

    def __init__(self, tenant: str, name: str, reason: str, remedy: str, queue: str) -> None:
        self.tenant = tenant
        self.name = name
        """The content hash for missing code; otherwise content and cause."""
        self.reason = reason
        self.remedy = remedy
        """Empty if a definition is missing, not code: the reason has the remedy."""
        self.queue = queue
        self.instances: set[str] = set()
        """Instances whose work was parked here, up to a limit."""

    @property
    def content(self) -> str:
        return content_of(self.name)

    @property
    def waits_for_definition(self) -> bool:
        return not self.remedy

    @property
    def is_missing_code(self) -> bool:
        return not is_parked_by_cause(self.name)


class Obstacles:
    on_change: Callable[[], None]
    """Called when an obstacle is new or gone; set by the watch."""

    def __init__(self, lacking: set[str]) -> None:
        """`lacking` are the names that claims of this process leave out."""
        self._lacking = lacking
        self._found: dict[tuple[str, str], Obstacle] = {}
        self._parked: dict[tuple[str, str], str] = {}
        self._passed: set[tuple[str, str]] = set()
        self.on_change = _ignore

    def of(self, tenant: str) -> Iterator[Obstacle]:
        return iter([item for item in self._found.values() if item.tenant == tenant])

    def met(
        self,
        tenant: str,
        error: Exception,
        *,
        instance_id: str | None = None,
        content: str = "",
        queue: str = DEFAULT_QUEUE,
    ) -> str:
        """Record that this process could not run some work; returns the name under which the work is parked."""
        content = getattr(error, "content", "") or content
        name, reason, remedy = _described(error, content)
        found = self._found.get((tenant, name))
        if found is None:
            found = self._found[tenant, name] = Obstacle(tenant, name, reason, remedy, queue)
            logger.warning("work is parked until a node can run it: %s", error)
            self.on_change()
        instance_id = getattr(error, "instance_id", "") or instance_id
        if instance_id and len(found.instances) < INSTANCES_MAX:
            found.instances.add(instance_id)
        if instance_id and not found.is_missing_code and len(self._parked) < PARKED_MAX:
            self._parked[tenant, instance_id] = name
        self._lacking.add(name)
        return name

    def parked_name(self, tenant: str, instance_id: str) -> str | None:
        """The obstacle of an instance whose state this process could not read."""
        return self._parked.get((tenant, instance_id))

    def park_name(self, row: WorkRow, error: Exception) -> str:
        """The content under which a row is parked that met an obstacle."""
        queue = row.queue.partition("@")[0]
        return self.met(row.tenant, error, instance_id=row.instance_id, content=content_of(row.content), queue=queue)

    def passed(self, tenant: str, name: str) -> None:
        """Work that was parked under this name ran here: the obstacle is gone."""
        if (tenant, name) not in self._passed:
            self._passed.add((tenant, name))
            self.on_change()

    def take_passed(self) -> set[tuple[str, str]]:
        """Tenants and names of the obstacles that are gone, since the last call."""
        found, self._passed = self._passed, set()
        return found

    def reopen(self) -> None:
        """Let work be tried again that waits for a definition rather than for code: it may have been published."""
        for item in self._found.values():
            if item.waits_for_definition:
                self._lacking.discard(item.name)

    def forget(self, tenant: str, name: str) -> None:
        """The process can run this work after all."""
        self._found.pop((tenant, name), None)
        self._parked = {key: other for key, other in self._parked.items() if (key[0], other) != (tenant, name)}
        if not any(name == other for _, other in self._found):
            self._lacking.discard(name)


def _described(error: Exception, content: str) -> tuple[str, str, str]:
    """Name, reason and remedy of the obstacle that an error shows."""
    if isinstance(error, DefinitionError) and error.content:
        listed = "; ".join(dict.fromkeys(item.message for item in getattr(error, "problems", ())))
        return error.content, getattr(error, "summary", listed or str(error)), getattr(error, "remedy", DOCUMENT_REMEDY)
    if isinstance(error, StateUnreadable | UnreadableValue | UnknownValueType):
        cause = f"{error.type_name or ''}.{getattr(error, 'variable', None) or ''}"
        where = [f"variable '{error.variable}'"] if isinstance(error, StateUnreadable) and error.variable else []
        where += [f"class '{error.type_name}'"] if error.type_name else []
        reason = getattr(error, "reason", "no class of that name is registered here").rstrip(".")
        named = f"{', '.join(where)}: {reason}" if where else reason
        part = error.part if isinstance(error, StateUnreadable) else "payload"
        return (
            f"{content}{SEPARATOR}{_short(cause)}",
            f"the {part} of instances cannot be read ({named})",
            UNREADABLE_REMEDY,
        )
    return f"{content}{SEPARATOR}{_short(str(error))}", str(error), ""


def _short(cause: str) -> str:
    return blake2b(cause.encode(errors="replace"), digest_size=6).hexdigest()


def _ignore() -> None:
    """No node watches the obstacles yet."""
