"""Import and export of Elsa 3 workflow definitions as JSON.

    definition, problems = read_elsa(document)      # keeps everything, reports what cannot be converted
    definition = parse_elsa(document)               # or raises with all problems
    document, problems = write_elsa(definition)

`table` maps the activities, `round_trip` keeps the data that only Elsa has, and `normalize` unifies the spellings of a
document. `docs/elsa-differences.md` lists differences in behavior.
"""

from holdfast.elsa.reader import is_elsa, parse_elsa, read_elsa
from holdfast.elsa.status import elsa_status
from holdfast.elsa.writer import write_elsa

__all__ = ["elsa_status", "is_elsa", "parse_elsa", "read_elsa", "write_elsa"]
