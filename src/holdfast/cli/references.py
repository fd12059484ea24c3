"""References to Python code: `module:name` and modules, imported from the current folder or the environment."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from inspect import isclass, iscoroutine, signature
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from holdfast.authoring.activity import Activity
from holdfast.authoring.function import FunctionActivity
from holdfast.authoring.workflow import Workflow
from holdfast.cli.failures import BadInput, one_line, place_of
from holdfast.errors import HoldfastError
from holdfast.model.definition import Definition

_REFERENCE = re.compile(r"(?P<module>[^:]+):(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)")
WORKFLOWS = (Workflow, Activity, Definition, dict)


def is_reference(text: str) -> bool:
    """`shop:order`, `shop.orders:make.one` or `path/to/shop.py:order`."""
    found = _REFERENCE.fullmatch(text)
    return found is not None and (_is_module(found["module"]) or found["module"].endswith(".py"))


def load_workflow(reference: str) -> Any:
    """The named workflow, or the workflow returned by the named function."""
    module_name, _, name = reference.rpartition(":")
    found = _find(import_module(module_name), name, reference)
    if isinstance(found, FunctionActivity) or (isclass(found) and issubclass(found, Activity)):
        raise BadInput(
            f"'{reference}' is an activity, not a workflow. Name a workflow that contains it, such as "
            f"{name}_workflow = Workflow({name}{'()' if isclass(found) else '.bind()'})."
        )
    if callable(found) and not isclass(found) and not isinstance(found, WORKFLOWS):
        found = _call(found, reference)
    if isinstance(found, WORKFLOWS):
        return found
    raise BadInput(
        f"'{reference}' is {_a_kind(found)}, not a workflow. Name a Workflow, an activity, a Definition, or a function "
        "without parameters that returns one."
    )


def find(reference: str) -> Any:
    """The named object."""
    if not is_reference(reference):
        raise BadInput(f"'{reference}' is not a reference. Write module:name, such as shop.orders:app.")
    module_name, _, name = reference.rpartition(":")
    return _find(import_module(module_name), name, reference)


class Code(NamedTuple):
    """Code found in modules: their own activities, and workflows with the types they use."""

    activities: list[Any]
    workflows: list[Any]


def code_of(modules: Iterable[str]) -> Code:
    """The code in these modules; `BadInput` for a module without any."""
    activities: dict[int, Any] = {}
    workflows: dict[int, Any] = {}
    for name in modules:
        found = _code_in(name)
        if not found.activities and not found.workflows:
            raise BadInput(
                f"The module '{name}' has no activities and no workflows. Put @activity on a function in it."
            )
        activities.update((id(item), item) for item in found.activities)
        workflows.update((id(item), item) for item in found.workflows)
    return Code(list(activities.values()), list(workflows.values()))


def has_code(module: str) -> bool:
    """Whether `code_of` finds code in the module."""
    return any(_code_in(module))


def _code_in(module: str) -> Code:
    items = vars(import_module(module)).values()
    return Code(
        [item for item in items if _is_own_activity(item)],
        [item for item in items if isinstance(item, Workflow | Definition)],
    )


def _is_own_activity(item: Any) -> bool:
    if isinstance(item, FunctionActivity):
        return True
    is_type = isclass(item) and issubclass(item, Activity) and "activity_type" in vars(item)
    return is_type and not item.__module__.startswith("holdfast.")


# -- imports -----------------------------------------------------------------------------------------------------------


def import_module(name: str) -> ModuleType:
    """A module by name, or by the path of its file; the file's folder is added to the path, for its own imports."""
    folder, module_name = (str(Path.cwd()), name) if not name.endswith(".py") else _place_of(name)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if not _is_module(module_name):
        raise BadInput(f"'{name}' is not the name of a module. Write module:name, such as shop.orders:approval.")
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise BadInput(_broken(name, error)) from error
        raise BadInput(
            f"There is no module '{error.name}' here. Run holdfast in the folder of {error.name}.py, or install it."
        ) from None
    except KeyboardInterrupt:
        raise
    except HoldfastError as error:  # Its message already names place and remedy, possibly on several lines.
        raise BadInput(f"Importing '{name}' failed: {error}") from error
    except BaseException as error:  # includes a script that calls sys.exit() on import
        raise BadInput(_broken(name, error)) from error


def _place_of(file: str) -> tuple[str, str]:
    path = Path(file)
    if not path.is_file():
        raise BadInput(f"There is no file '{file}'. Correct the path.")
    return str(path.absolute().parent), path.stem


def _is_module(name: str) -> bool:
    return all(re.fullmatch(r"\w+", part) for part in name.split("."))


def _find(module: ModuleType, name: str, reference: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise BadInput(f"'{reference}': {module.__name__} has no '{part}'. {_offer(module, part)}")
        found = getattr(found, part)
    return found


def _offer(module: ModuleType, name: str) -> str:
    workflows = [key for key, value in vars(module).items() if isinstance(value, Workflow)]
    close = get_close_matches(name, [key for key in vars(module) if not key.startswith("_")], n=1)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"Its workflows: {', '.join(workflows)}." if workflows else "It has no workflow."


def _call(function: Callable[..., Any], reference: str) -> Any:
    try:
        signature(function).bind()
    except (TypeError, ValueError):
        raise BadInput(f"'{reference}' needs arguments. Name a function without parameters, or a workflow.") from None
    try:
        returned = function()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BadInput(_broken(reference, error, "Calling")) from error
    if iscoroutine(returned):
        returned.close()
        raise BadInput(f"'{reference}' is async. Name a plain function that returns a workflow.")
    return returned


def _broken(name: str, error: BaseException, doing: str = "Importing") -> str:
    return f"{doing} '{name}' failed: {one_line(error)} ({place_of(error)}). Correct it there."


def _a_kind(value: Any) -> str:
    kind = "class" if isclass(value) else type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
