"""Printer: a definition as Python text. Running the text gives an equivalent definition.

    workflow = Workflow(
        Sequence(WriteLine("Hello", id="hello"), …),
        id="greeting",
    )

Types with a known class or `@activity` function use it; all others are written as `Placed("type", …)`. Activities of a
flowchart get names, and its connections become arrows between them.
"""

from __future__ import annotations

from holdfast.authoring.printer.module import Known, Printed, print_definition
from holdfast.authoring.printer.structure import untangled

__all__ = ["Known", "Printed", "print_definition", "untangled"]
