"""Importable names of modules, for names that are stored and read by other processes.

Code in a script is in `__main__` while that script runs. Stored names use the name under which it can be imported: `app` after
`python app.py`, `shop.app` after `python -m shop.app`. A worker (`holdfast worker app:app`) and the script can therefore
continue each other's instances.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

MAIN = "__main__"


_MOVED = {
    "holdfast.activities.http.sending": "holdfast.activities.http.send_request",
    "holdfast.authoring.calling": "holdfast.authoring.start_options",
    "holdfast.authoring.polling": "holdfast.authoring.poll",
    "holdfast.authoring.words": "holdfast.authoring.primitives",
    "holdfast.runtime.runner": "holdfast.runtime.inline.runner",
    "holdfast.runtime.webhook": "holdfast.runtime.outbox.webhook",
}
"""Modules of Holdfast that have moved, by the name that stored data has for them. A moved module keeps its stored name:
stored values stay readable, workflow functions compile to the same content, and nodes of the release before read what this
release writes."""
_STORED = {current: stored for stored, current in _MOVED.items()}


def current_name(module: str) -> str:
    """The import name of a module, by its stored name."""
    return _MOVED.get(module, module)


def stored_name(module: str) -> str:
    """The stored name of a module, by its import name."""
    return _STORED.get(module, module)


def portable_name(module: str) -> str:
    """The stored name of a module; for `__main__` the name that other processes import it by."""
    return _script(sys.modules.get(MAIN)) if module == MAIN else stored_name(module)


def public_name(item: Any) -> str:
    """`module:qualname` of a class or function, as stored data names it."""
    return f"{portable_name(item.__module__)}:{item.__qualname__}"


def loaded_module(name: str) -> ModuleType | None:
    """The loaded module with this stored name, or None."""
    found = sys.modules.get(current_name(name))
    return sys.modules.get(MAIN) if found is None and name == portable_name(MAIN) else found


@lru_cache(4)
def _script(main: ModuleType | None) -> str:
    """The importable name of the script, or `__main__` if it has none: a notebook, a package that is run."""
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return MAIN if spec.name.rpartition(".")[2] == MAIN else str(spec.name)
    name = Path(file).stem if file else MAIN
    try:
        found = find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError):
        return MAIN
    return name if file and found and found.origin and Path(found.origin).resolve() == Path(file).resolve() else MAIN
