"""The table of commands, and what holds for all of them: loaded late, failing in plain words."""

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
    "resume": "Go on with a run that waits.",
    "serve": "Serve API, Studio and HTTP workflows, and do the work.",
    "worker": "Take work from a store until told to stop.",
    "bench": "Measure your own store and transport.",
    "import": "Put definitions into a store.",
    "migrate": "Bring a store's schema up to date, or look whether it is.",
    "retire": "Delete instances that ended long ago, into an archive if wanted.",
    "validate": "Say everything that is wrong with definitions.",
    "convert": "Turn Elsa 3 JSON into ours, ours into Elsa's, and both into Python.",
    "graph": "Draw a definition.",
    "diff": "Say what changed since the stored version, and for which instances.",
    "schema": "Print the JSON Schema of definitions.",
    "activities": "List the activity types.",
    "doctor": "Say what is wrong with a set-up, a stimulus or an instance.",
    "definitions": "List, export, publish, retract and delete definitions; start instances.",
    "instances": "Find, read, cancel, retry, resume, skip, fork and delete instances.",
    "events": "Send events; list those that nobody came for.",
    "tasks": "List, claim and complete human tasks.",
    "schedules": "List, pause, resume and run schedules.",
    "dead-letters": "List, replay and discard work that failed for good.",
    "users": "List, add, change and remove users.",
    "keys": "List, add and remove API keys.",
}
"""By name, in the order of `--help`; each is the function of its name in the module of its name
(with an underscore where Python has taken the name)."""


class Commands(SuggestingGroup):
    """Imports a command when it is called: `holdfast --help` needs none of them."""

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
        # A line with characters that the terminal cannot show is still a line.
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
    """Durable, event-driven workflows: run, check, convert and draw them."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
