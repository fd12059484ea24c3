"""The command line: one file per command, each imported when it is called.

Exit codes, for all commands: 0 finished, suspended or canceled; 1 the workflow faulted; 2 bad input, or output that could
not be written; 70 a bug of ours; 130 interrupted.
"""

from __future__ import annotations

import sys

import click

from holdfast.cli.commands import holdfast
from holdfast.cli.failures import BAD_INPUT, close_quietly, fill_closed

__all__ = ["main"]


def main() -> None:
    """The `holdfast` command. Ends the process."""
    fill_closed()
    try:
        holdfast.main(prog_name="holdfast")
    except OSError as error:  # of `--help`, which is written before a command is there
        click.echo(f"Error: The text cannot be written: {error.strerror or error}.", err=True)
        close_quietly()
        sys.exit(BAD_INPUT)
