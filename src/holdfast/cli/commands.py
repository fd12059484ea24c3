"""The table of commands, with lazy import and error handling for all of them."""

from __future__ import annotations

import importlib
import sys
from keyword import iskeyword
from typing import Any

import click

from holdfast import __version__
from holdfast.cli.failures import friendly_errors
from holdfast.cli.suggestions import SuggestingGroup

COMMANDS = {
    "run": "Run a workflow: a file or module:name.",
    "resume": "Continue a suspended run.",
    "serve": "Run the server: API, Studio and HTTP workflows, plus a worker.",
    "worker": "Process work from a store until stopped.",
    "bench": "Benchmark your own store and transport.",
    "import": "Import definitions into a store and publish them.",
    "migrate": "Migrate a store's schema, or check for pending migrations.",
    "retire": "Delete instances that ended long ago; optionally archive them first.",
    "validate": "Report all problems of definitions.",
    "convert": "Convert between Holdfast and Elsa 3 JSON, and to Python.",
    "graph": "Draw a definition.",
    "diff": "Show changes since the stored version, and the affected instances.",
    "schema": "Print the JSON Schema of definitions.",
    "activities": "List the activity types.",
    "doctor": "Diagnose a set-up, a stimulus or an instance.",
    "definitions": "List, export, publish, retract and delete definitions; start instances.",
    "instances": "Find, read, cancel, retry, resume, skip, fork and delete instances.",
    "events": "Send events; list expired events.",
    "tasks": "List, claim and complete human tasks.",
    "schedules": "List, pause, resume and run schedules.",
    "dead-letters": "List, replay and discard work that failed permanently.",
    "users": "List, add, change and remove users.",
    "keys": "List, add and remove API keys.",
}
"""By name, in the order of `--help`. Each command is the function of its name in the module of its name (with a trailing
underscore for Python keywords)."""


class Commands(SuggestingGroup):
    """Imports a command when it is called, so that `holdfast --help` imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        name = f"{name}_" if iskeyword(name) else name
        found: click.Command = getattr(importlib.import_module(f"holdfast.cli.{name}"), name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        # Replace characters that the terminal cannot encode instead of failing.
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        with friendly_errors():
            return super().invoke(ctx)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="\b\nExample:\n  holdfast run hello.json",
)
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
@click.pass_context
def holdfast(ctx: click.Context) -> None:
    """Durable, event-driven workflows: run, validate, convert, draw and operate them."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
