"""Random programs of effect calls: sequences, `gather`, `first`, `parallel`, `try` with `except` and `finally`.

Each call has its own name, so the name is the logical call. No program loops.
"""

from __future__ import annotations

from random import Random

LAST = "last"
"""Prefix of the calls in a `finally`. They never fail: a failed finalizer of a canceled scope cannot be retried."""
HEAD = """
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import first, gather, parallel
from tests.support.programs.effect_outcomes import call

"""


class Program:
    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._functions: list[str] = []
        self.repeated: set[str] = set()
        """Calls inside a `try` with `finally`: a retry runs the whole statement again."""
        self._calls = 0
        body = self._block(3, guarded=False)
        self.text = HEAD + "\n\n".join([*self._functions, _function("main", body)])

    def _block(self, depth: int, *, guarded: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self._rng.randint(1, 3 if depth > 1 else 2)):
            lines += self._statement(depth, guarded=guarded)
        return lines

    def _statement(self, depth: int, *, guarded: bool) -> list[str]:
        kinds = ["call"] if depth == 0 else ["call", "gather", "parallel", "first", "except", "finally"]
        kind = self._rng.choice(kinds)
        if kind == "call":
            return [f"await {self._call(guarded=guarded)}"]
        if kind in ("gather", "first", "parallel"):
            calls = [self._branch(depth - 1, guarded=guarded) for _ in range(self._rng.randint(2, 3))]
            if kind == "parallel":
                starts = [f"    branches.start({item})" for item in calls]
                return [f"async with parallel(limit={self._rng.randint(1, 3)}) as branches:", *starts]
            return [f"await {kind}({', '.join(calls)})"]
        inner = self._block(depth - 1, guarded=guarded or kind == "finally")
        if kind == "finally":
            self._calls += 1
            return ["try:", *_indented(inner), "finally:", f'    await call("{LAST}{self._calls}")']
        return ["try:", *_indented(inner), "except KeyError:", *_indented(self._block(0, guarded=guarded))]

    def _branch(self, depth: int, *, guarded: bool) -> str:
        if depth == 0 or self._rng.random() < 0.5:
            return self._call(guarded=guarded)
        body = self._block(depth, guarded=guarded)
        name = f"part{len(self._functions)}"
        self._functions.append(_function(name, body))
        return f"{name}()"

    def _call(self, *, guarded: bool) -> str:
        self._calls += 1
        name = f"c{self._calls}"
        if guarded:
            self.repeated.add(name)
        return f'call("{name}")'


def _function(name: str, body: list[str]) -> str:
    return "\n".join(["@workflow", f"async def {name}():", *_indented(body)])


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
