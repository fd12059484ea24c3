"""Snapshots: a live instance as JSON and back, between any two segments and on any machine.

Activities and scopes are identified by their keys in the definition, not by positions in a plan, so a plan that is
compiled again elsewhere finds them. `dump` and `load` use JSON with names; stores use `State` directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import InvalidState
from holdfast.execution.journal_policy import permitted
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.execution.state_document import from_document, to_document
from holdfast.execution.state_reader import damaged, read_instance
from holdfast.execution.state_writer import write_state
from holdfast.model import values
from holdfast.ports import Services

FORMAT = "holdfast/instance@1"


def dump(live: LiveInstance, *, journal: bool = True) -> dict[str, Any]:
    """The whole instance as JSON data."""
    plan = live.plan
    definition = plan.definition
    pinned = {
        "id": definition.id,
        "version": definition.version,
        "hash": plan.content_hash,
        "parts": dict(plan.parts),
    }
    document: dict[str, Any] = {"format": FORMAT, "definition": pinned, **to_document(write_state(live))}
    if journal:
        kept = permitted(plan.journal_rules, live.journal)
        document["journal"] = [[str(e), i, n, at, values.encode(data, plan.types)] for e, i, n, at, data in kept]
    return document


def load(
    document: Mapping[str, Any],
    plan: Plan,
    now: Callable[[], int],
    services: Services,
    *,
    into: LiveInstance | None = None,
) -> LiveInstance:
    """Raises `InvalidState` for a document that does not fit the plan. `into` is overwritten in place."""
    found = document.get("format") if isinstance(document, Mapping) else type(document).__name__
    if found != FORMAT:
        raise InvalidState(f"This is not an instance state (expected format {FORMAT}, got {found!r}).")
    try:
        _refuse_other_content(document["definition"], plan)
        state = from_document(document)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise damaged(document.get("id"), error) from error
    return read_instance(state, plan, now, services, into=into)


def _refuse_other_content(pinned: Mapping[str, Any], plan: Plan) -> None:
    if pinned["hash"] != plan.content_hash:
        raise InvalidState(
            f"This instance runs version {pinned['version']} of '{pinned['id']}' with different content than the given "
            "definition. Continue it with the definition it was started with."
        )
    changed = [name for name, known in plan.parts.items() if pinned.get("parts", {}).get(name, known) != known]
    if changed:
        raise InvalidState(
            f"This instance of '{pinned['id']}' uses {', '.join(changed)} as an activity, with different content than the "
            "given definition. Continue it with the definitions it was started with."
        )
