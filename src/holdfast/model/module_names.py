"""Under which name a module is found again, by the next process and by others.

What stands in a script that was run is in `__main__` there. Stored names say where whoever imports it finds it: `app` after
`python app.py`, `shop.app` after `python -m shop.app`. So a worker (`holdfast worker app:app`) goes on with what the script
began, and the script with what the worker began.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

MAIN = "__main__"


def home_of(module: str) -> str:
    return _script(sys.modules.get(MAIN)) if module == MAIN else module


def public_name(item: Any) -> str:
    """`module:qualname` of a class or function."""
    return f"{home_of(item.__module__)}:{item.__qualname__}"


_MOVED = {
    "holdfast.activities.http.sending": "holdfast.activities.http.send_request",
    "holdfast.authoring.calling": "holdfast.authoring.start_options",
    "holdfast.authoring.polling": "holdfast.authoring.poll",
    "holdfast.authoring.words": "holdfast.authoring.primitives",
    "holdfast.runtime.runner": "holdfast.runtime.inline.runner",
    "holdfast.runtime.webhook": "holdfast.runtime.outbox.webhook",
}
"""Modules of ours that stored definitions may name and that have another name since."""


def current_name(module: str) -> str:
    """The name that a stored module name has now."""
    return _MOVED.get(module, module)


def module_at(home: str) -> ModuleType | None:
    """The module that has this home, if it is in this process."""
    found = sys.modules.get(home)
    return sys.modules.get(MAIN) if found is None and home == home_of(MAIN) else found


@lru_cache(4)
def _script(main: ModuleType | None) -> str:
    """`__main__` where nobody could import it: a notebook, a package that is run."""
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:
        return MAIN if spec.name.rpartition(".")[2] == MAIN else str(spec.name)
    name = Path(file).stem if file else MAIN
    try:
        found = find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError):
        return MAIN
    return name if file and found and found.origin and Path(found.origin).resolve() == Path(file).resolve() else MAIN
