"""Runs the Python bombs under limits of the kernel, and prints one line for each. A bomb that holds its process ends it."""

from __future__ import annotations

import json
import resource
import signal
import sys

from holdfast.errors import ExpressionError
from tests.support.bombs.bombs_python import EXPRESSIONS, SCRIPTS
from tests.support.bombs.values import values
from tests.unit.expressions.conftest import Place

CPU_SECONDS = 5.0
"""Processor time of one bomb. All of them need a fraction of it."""
MEMORY = 1_500_000_000


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for kind, sources in (("expression", EXPRESSIONS), ("script", SCRIPTS)):
        for source in sources:
            here = Place(values())
            signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
            try:
                here.evaluate("python", source) if kind == "expression" else here.run("python", source)
                ended = "value"
            except ExpressionError as error:
                ended = type(error).__name__
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.stdout.write(json.dumps([source, ended]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
