"""A definition as Python text: the objects that, read again, give an equivalent definition.

    workflow = Workflow(
        Sequence(WriteLine("Hello", id="hello"), …),
        id="greeting",
    )

Types that have a class or an `@activity` function at hand are written with it, all others as `Placed("type", …)`. Activities of
a flowchart get names, and its connections are arrows between them.
"""

from __future__ import annotations

from holdfast.authoring.printer.module import Known, Printed, print_definition
from holdfast.authoring.printer.structure import untangled

__all__ = ["Known", "Printed", "print_definition", "untangled"]
