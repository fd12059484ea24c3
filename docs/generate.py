"""Writes docs/reference from the code; with `--check` it only says which pages are stale (exit code 1)."""

from __future__ import annotations

import inspect
import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
from compiling import compiling_page  # type: ignore[import-not-found]  # beside this file

import holdfast
from holdfast import activities, api, errors, telemetry
from holdfast.activities.standard import standard_types
from holdfast.authoring.field_docs import documented
from holdfast.cli import commands
from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, OutputDescriptor, PortDescriptor
from holdfast.plugins import activity_type_of
from holdfast.settings import describe_settings

REFERENCE = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Written by docs/generate.py from the code; `make docs` writes it anew. -->"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def first_paragraph(thing: object) -> str:
    """Of its own docstring, not of one that it inherited."""
    own = vars(thing).get("__doc__") if inspect.isclass(thing) else inspect.getdoc(thing)
    return " ".join(inspect.cleandoc(own or "").partition("\n\n")[0].split())


# -- pages -------------------------------------------------------------------------------------------------------------


MODULES = {
    "holdfast": "everyday use: the application, workflows, activities, the words of plain Python workflows",
    "holdfast.activities": "the standard activities",
    "holdfast.api": "requests, filters, results, alterations, declarations",
    "holdfast.client": "the typed client of a server",
    "holdfast.dispatch": "base classes for transports of your own",
    "holdfast.dispatch.celery": "steps as Celery tasks",
    "holdfast.elsa": "reading and writing Elsa 3 documents",
    "holdfast.errors": "every exception ([errors](errors.md))",
    "holdfast.integrations.asgi": "start and stop with an ASGI application",
    "holdfast.integrations.json_logs": "logs as JSON lines",
    "holdfast.integrations.opentelemetry": "spans for OpenTelemetry",
    "holdfast.ports": "the interfaces of stores, transports, languages, middleware and plugins",
    "holdfast.server": "`create_app`: API and Studio as an ASGI application",
    "holdfast.settings": "every setting ([settings](settings.md))",
    "holdfast.telemetry": "listeners for events in this process ([events](events.md))",
    "holdfast.testing": "the harness and test doubles for workflows",
    "holdfast.testing.store_contract": "the tests that every store passes",
    "holdfast.testing.transport_contract": "the tests that every transport passes",
}
"""The modules that applications may import; tests/meta/test_public_api.py compares this table with guides and examples."""

LISTED = (holdfast, activities, api)
"""The modules whose names the page lists."""


def api_page() -> str:
    """Every public name of `holdfast`, `holdfast.activities` and `holdfast.api`."""
    parts = [
        "# The public API",
        (
            "Applications import from the modules of this table. Every other module is internal and may change "
            "without notice; guides and examples import no internal module."
        ),
        table(("module", "for"), [(f"`{name}`", text) for name, text in MODULES.items()]),
    ]
    for module in LISTED:
        names = sorted(dir(module), key=str.lower)
        rows = [(f"`{name}`", _kind(getattr(module, name)), first_paragraph(getattr(module, name))) for name in names]
        parts += [f"## {module.__name__}", f"{len(rows)} names: `from {module.__name__} import …`."]
        parts.append(table(("name", "is", "in a sentence"), rows))
    return "\n\n".join(parts)


def _kind(thing: object) -> str:
    if inspect.isclass(thing):
        return "error" if issubclass(thing, BaseException) else "class"
    if inspect.ismodule(thing):
        return "module"
    return "function" if callable(thing) else "value"


def errors_page() -> str:
    drawing = (errors.__doc__ or "").partition("\n\n")[2].rstrip()
    rows = [
        (f"`{name}`", f"`{getattr(errors, name).__mro__[1].__name__}`", first_paragraph(getattr(errors, name)))
        for name in errors.__all__
    ]
    return "\n\n".join(
        (
            "# Errors",
            (
                "All are in `holdfast.errors`, and all descend from `HoldfastError`. The message says what to do; "
                "the facts are attributes of the error."
            ),
            f"```text\n{inspect.cleandoc(drawing)}\n```",
            table(("error", "is a", "when"), rows),
        )
    )


def settings_page() -> str:
    rows = [
        (f"`{row.name}`", f"`{row.variable}`", f"`{_written(row.default)}`", row.allowed, row.description)
        for row in describe_settings()
    ]
    return "\n\n".join(
        (
            "# Settings",
            (
                "A setting is an argument (`Holdfast(threads_max=8)`), a variable of the environment, or a line of "
                "`holdfast.toml` (`threads_max = 8`) in the working directory or where `HOLDFAST_CONFIG` says. "
                "Arguments overrule the environment, which overrules the file. A name that does not exist and a value "
                "that is not allowed stop the start, all of them in one message. Plugins add settings of their own."
            ),
            table(("setting", "environment", "default", "takes", "meaning"), rows),
        )
    )


_STEPS = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("m", timedelta(minutes=1)), ("s", timedelta(seconds=1)))


def _written(value: Any) -> str:
    if isinstance(value, timedelta):
        for unit, step in _STEPS:
            if not value % step:
                return f"{value // step}{unit}"
        return f"{value // timedelta(milliseconds=1)}ms"
    return f"{value:_}" if isinstance(value, int) else str(value)


def events_page() -> str:
    rows = [
        (
            f"`{event.name}`",
            event.when,
            ", ".join(f"`{name}`" for name in event.fields),
            logging.getLevelName(event.level),
        )
        for event in telemetry.EVENTS
    ]
    return "\n\n".join(
        (
            "# Events",
            (
                "What can be heard from outside, with `holdfast.telemetry.on(listener)`. The level is the one that "
                "`telemetry.log_event` writes a log at."
            ),
            table(("event", "when", "carries", "level"), rows),
        )
    )


def activities_page() -> str:
    described = sorted(
        (documented(activity_type_of(item)) for item in standard_types()), key=lambda item: (item.category, item.type)
    )
    overview = [
        (f"[`{item.type}`](#{item.type.lower()})", item.kind.value, item.category, item.description or "")
        for item in described
    ]
    return "\n\n".join(
        (
            "# Activities",
            (
                "The standard library. A *pure* activity runs inside a segment, without I/O; an *effect* is recorded "
                "first, then started outside, and its result comes back as a stimulus."
            ),
            table(("activity", "kind", "category", "does"), overview),
            *(_activity(item) for item in described),
        )
    )


def _activity(item: ActivityDescriptor) -> str:
    parts = [f"## {item.type}"]
    if item.description:
        parts.append(item.description)
    if item.inputs:
        parts.append(table(("input", "type", "default", "meaning"), [_input(given) for given in item.inputs]))
    if item.outputs:
        parts.append("Outputs: " + ", ".join(map(_output, item.outputs)) + ".")
    if item.ports:
        parts.append("Children: " + ", ".join(map(_port, item.ports)) + ".")
    if item.outcomes or item.dynamic_outcomes:
        more = " and those that its inputs name" if item.dynamic_outcomes else ""
        parts.append("Outcomes: " + ", ".join(f"`{name}`" for name in item.outcomes) + more + ".")
    return "\n\n".join(parts)


def _port(given: PortDescriptor) -> str:
    keys = f" of {', '.join(f'`{key}`' for key in given.keys)}" if given.keys else ""
    return f"`{given.name}` ({given.kind.value}{keys})"


def _output(given: OutputDescriptor) -> str:
    return f"`{given.name}`" + (f" ({given.description.rstrip('.')})" if given.description else "")


def _input(given: InputDescriptor) -> tuple[str, str, str, str]:
    default = "required" if given.required else f"`{given.default!r}`"
    return f"`{given.name}`", given.type, default, given.description or ""


def cli_page() -> str:
    parts = ["# The command line", "```text\n" + _help(commands.holdfast, "holdfast") + "\n```"]
    for name in commands.COMMANDS:
        command = commands.holdfast.get_command(click.Context(commands.holdfast), name)
        assert command is not None
        parts.append(f"## holdfast {name}\n\n```text\n{_help(command, f'holdfast {name}')}\n```")
    return "\n\n".join(parts)


def _help(command: click.Command, name: str) -> str:
    names = click.Context(commands.holdfast, **commands.holdfast.context_settings).help_option_names
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100, help_option_names=names)
    return command.get_help(context).rstrip()


PAGES: dict[str, Callable[[], str]] = {
    "activities.md": activities_page,
    "api.md": api_page,
    "cli.md": cli_page,
    "errors.md": errors_page,
    "events.md": events_page,
    "settings.md": settings_page,
    "what-compiles.md": compiling_page,
}


def main(arguments: Sequence[str]) -> int:
    stale = 0
    for name, page in PAGES.items():
        path, text = REFERENCE / name, f"{NOTE}\n\n{page()}\n"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(f"docs/reference/{name} is stale: run `make docs`")
            stale += 1
        else:
            REFERENCE.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote docs/reference/{name}")
    lost = sorted(path.name for path in REFERENCE.glob("*.md") if path.name not in PAGES)
    if lost:
        print(f"docs/reference has pages that nothing writes: {', '.join(lost)}")
    return 1 if stale or lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
