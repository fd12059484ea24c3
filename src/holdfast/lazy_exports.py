"""Lazy exports: a module offers the names that its stub lists, and imports each name on first use.

`holdfast/__init__.pyi` lists the public names as ordinary imports. Type checkers read the stub, and `lazy_exports` reads the
same list at run time. Each name is therefore written in one place, and `import holdfast` loads no other module.

    __getattr__, __dir__ = lazy_exports(__name__, __file__)

A name that another public module exports, or that has a new name, is an `ImportError` that says so: `from holdfast import
Sequence` would hide the message of an `AttributeError`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_exports(
    module: str, file: str, *, see_also: Iterable[str] = (), renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a module; its stub is the file next to `file` with the suffix `.pyi`.

    `see_also` are modules that may export a name that this one does not have. `renamed` are old names with their new names.
    """

    @cache
    def homes() -> dict[str, str]:
        return read_stub(f"{file.rpartition('.')[0]}.pyi")

    def load(name: str) -> Any:
        if name == "__all__":  # for `from module import *`
            return names()
        home = homes().get(name)
        if home is None:
            new = (renamed or {}).get(name)
            if new is not None:
                raise ImportError(f"'{name}' is now '{new}': from {module} import {new}", name=name)
            _point_to(module, name, see_also)
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        found = getattr(import_module(home), name)
        setattr(sys.modules[module], name, found)  # the next access does not call this function
        return found

    def names() -> list[str]:
        return sorted(homes())

    return load, names


def _point_to(package: str, name: str, modules: Iterable[str]) -> None:
    """Raise an `ImportError` for a name that another module exports. Submodules of the package are imported as usual."""
    if name.startswith("_") or find_spec(f"{package}.{name}") is not None:
        return
    for module in modules:
        if name in dir(import_module(module)):
            raise ImportError(f"'{name}' is in {module}: from {module} import {name}", name=name)


def read_stub(path: str) -> dict[str, str]:
    """The names that a stub exports (`from home import name as name`), each with its home."""
    import ast  # here, because `import holdfast` alone does not need it

    with open(path, encoding="utf-8") as stub:  # noqa: PTH123 - `import holdfast` loads no pathlib
        lines = ast.parse(stub.read()).body
    return {
        alias.name: line.module
        for line in lines
        if isinstance(line, ast.ImportFrom) and line.module is not None
        for alias in line.names
    }
