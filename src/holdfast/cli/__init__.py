"""The `holdfast` command line: one module per command, imported when the command is called.

Exit codes of all commands: 0 finished, suspended or canceled; 1 the workflow faulted; 2 bad input, or output that cannot be
written; 70 a bug in Holdfast; 130 interrupted.
"""

from __future__ import annotations

import sys

import click

from holdfast.cli.commands import holdfast
from holdfast.cli.failures import BAD_INPUT, close_quietly, fill_closed

__all__ = ["main"]


def main() -> None:
    """The `holdfast` command. Exits the process."""
    fill_closed()
    try:
        holdfast.main(prog_name="holdfast")
    except OSError as error:  # from `--help`, which is printed before a command exists
        click.echo(f"Error: The output cannot be written: {error.strerror or error}.", err=True)
        close_quietly()
        sys.exit(BAD_INPUT)
