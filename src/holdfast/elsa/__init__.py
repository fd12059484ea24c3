"""Elsa 3 workflow definitions as JSON, in and out.

    definition, problems = read_elsa(document)      # keeps everything, reports what does not carry over
    definition = parse_elsa(document)               # or raises with all problems
    document, problems = write_elsa(definition)

The table of activities is in `table`, what is kept for the way back in `residue`, what is brought to one spelling first
in `normal`. Where a workflow behaves differently here is listed in `docs/elsa-differences.md`.
"""

from holdfast.elsa.reader import is_elsa, parse_elsa, read_elsa
from holdfast.elsa.status import elsa_status
from holdfast.elsa.writer import write_elsa

__all__ = ["elsa_status", "is_elsa", "parse_elsa", "read_elsa", "write_elsa"]
