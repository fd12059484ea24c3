"""The command line: one file per command, each imported when it is called.

Exit codes, for all commands: 0 finished, suspended or canceled; 1 the workflow faulted; 2 bad input, or output that could
not be written; 70 a bug of ours; 130 interrupted.
"""

from __future__ import annotations

from holdfast.cli.commands import holdfast

__all__ = ["main"]


def main() -> None:
    """The `holdfast` command. Ends the process."""
    holdfast.main(prog_name="holdfast")
