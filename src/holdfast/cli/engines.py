"""The engine of a command: plugins and settings of the environment, plus the command's options."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.cli.references import code_of
from holdfast.cli.sources import Source, runnable
from holdfast.engine import Holdfast


def make_engine(activity_modules: Iterable[str] = (), others: Iterable[Source] = ()) -> Holdfast:
    """`others` are workflows that the main one executes or uses as activities."""
    code = code_of(activity_modules)
    engine = Holdfast(activities=code.activities, definitions=code.workflows)
    for source in others:
        engine.definitions.add(runnable(source, engine))
    return engine
