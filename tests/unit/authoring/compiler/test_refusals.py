"""What cannot be compiled is refused at import: with its rule, file, line, the code underlined, and what to write instead."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from holdfast.authoring.compiled import workflow
from holdfast.errors import WorkflowRefused

HEAD = """\
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Callable, Generator, IO
import io
from holdfast import activity
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import ask, compensate, first, gather, parallel, poll, run_child, sleep, wait_for

@dataclass
class Form:
    x: int

@activity
async def act(x: Any = 0, y: Any = 0) -> Any: ...

@activity
def slow(x: Any) -> Any: ...

@activity
async def must(x: Any) -> Any: ...

def h(x): return x

def other(function): return function

@workflow
async def sub(a): return a

"""

BODIES = [
    ("yield", "yield 1"),
    ("yield", "x = yield"),
    ("global", "global q\nq = 1"),
    ("async-for", "async for x in xs: pass"),
    ("async-for", "return [x async for x in xs]"),
    ("async-with", "async with xs: pass"),
    ("async-with", "async with parallel(limit=2): pass"),
    ("nested-function", "def f(): return 1\nreturn f()"),
    ("nested-function", "async def f(): return 1\nreturn await f()"),
    ("nested-class", "class C: pass"),
    ("lambda-kept", "f = lambda: 1\nreturn await act(f())"),
    ("lambda-kept", "return (f := lambda: 1)"),
    ("lambda-before-await", "return sorted([lambda: 1, await act(1)])"),
    ("generator-kept", "g = (x for x in xs)\nawait act(1)"),
    ("generator-await", "return sum((await act(x)) for x in xs)"),
    ("generator-loop", "for x in (y for y in xs): await act(x)"),
    ("except-star", "try: await act(1)\nexcept* ValueError: pass"),
    ("await-value", "t = a\nawait t"),
    ("await-not-activity", "await h(1)"),
    ("await-unknown", "await xs.pop()"),
    ("await-unknown", "await (lambda: 1)()"),
    ("await-unknown", "f = act\nreturn await f(1)"),
    ("await-sync", "await slow(1)"),
    ("await-word", "await parallel()"),
    ("forgotten-await", "x = act(1)\nreturn x"),
    ("forgotten-await", "h(act(1))"),
    ("forgotten-await", "sleep(timedelta(1))"),
    ("forgotten-await", "x = sub(1)"),
    ("forgotten-await", "x = slow(1)"),
    ("wait-default", "await wait_for(Form, timeout=timedelta(1), default=3)"),
    ("wait-default", "await wait_for(Form, timeout=timedelta(1), default=timedelta(1))"),
    ("frame-magic", "return locals()"),
    ("frame-magic", "eval('a')"),
    ("frame-magic", "exec('a = 1')"),
    ("frame-magic", "return vars()"),
    ("frame-magic", "return super().x"),
    ("unpacking-before-await", "return dict(**xs, b=await act(1))"),
    ("unpacked-arguments", "await act(*xs)"),
    ("unpacked-arguments", "await act(**xs)"),
    ("arguments", "await act(1, 2, 3)"),
    ("arguments", "await act(z=1)"),
    ("arguments", "await act(1, x=2)"),
    ("arguments", "await must()"),
    ("arguments", "await sub()"),
    ("arguments", "await sleep()"),
    ("arguments", "await wait_for(Form, nonsense=1)"),
    ("comprehension-lambda", "return [await act(max([1], key=lambda q: x)) for x in xs]"),
    ("comprehension-nested", "return [await act([y for y in x]) for x in xs]"),
    ("await-in-guard", "match a:\n    case n if await act(n): pass"),
    ("await-in-except", "try: h(1)\nexcept (await act(1)): pass"),
    ("await-in-unpacking", "(xs[await act(0)], b) = 1, 2"),
    ("await-in-unpacking", "for xs[await act(0)] in xs: pass"),
    ("await-in-del", "del xs[await act(1)]"),
    ("await-in-where", "await wait_for(Form, where=await act(1))"),
    ("gather-value", "await gather(xs[0])"),
    ("gather-value", "await gather(*xs)"),
    ("gather-word", "await gather(gather(act(1)))"),
    ("run-child", "await gather(run_child(h))"),
    ("gather-options", "await gather(act(1), limit=2)"),
    ("where-in-branch", "await first(wait_for(Form, where=h), sleep(timedelta(1)))"),
    ("await-in-parallel", "async with parallel() as branches:\n    await act(1)"),
    ("parallel-start", "async with parallel() as branches:\n    branches.start(xs)"),
    ("compensate", "await compensate(act(1), act(2))"),
    ("run-child", "await run_child(h, 1)"),
    ("ask-form", "await ask('me', form=h)"),
    ("options", "await act.options(nonsense=1)(1)"),
    ("reserved-name", "__1 = 5"),
    ("unknown-name", "return nowhere + await act(1)"),
]

WHOLE = [
    ("not-async", "@workflow\ndef main(a): return 1"),
    ("star-parameters", "@workflow\nasync def main(*a): pass"),
    ("star-parameters", "@workflow\nasync def main(**a): pass"),
    ("positional-only", "@workflow\nasync def main(a, /): pass"),
    ("mutable-default", "@workflow\nasync def main(a=[]): pass"),
    ("mutable-default", "@workflow\nasync def main(a=dict()): pass"),
    ("mutable-default", "@workflow\nasync def main(a=timedelta.mro()): pass"),
    ("default", "X = object()\n@workflow\nasync def main(a=X): pass"),
    ("decorator", "@workflow\n@other\nasync def main(a): pass"),
    ("method", "class C:\n    @workflow\n    async def main(self): pass\nmain = C.main"),
    (
        "free-variable",
        "def outer():\n    k = 3\n    @workflow\n    async def main(a):\n        return k\n    return main\nmain = outer()",
    ),
    ("recursion", "@workflow\nasync def main(a):\n    return await main(a)"),
    ("annotation", "@workflow\nasync def main(a: Callable[[], int]): pass"),
    ("annotation", "@workflow\nasync def main(a: io.TextIOWrapper): pass"),
    ("annotation", "@workflow\nasync def main(a: Generator[int, None, None]): pass"),
]


def imported(text: str, folder: Path, name: str) -> ModuleType:
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def refusal(text: str, folder: Path) -> WorkflowRefused:
    with pytest.raises(WorkflowRefused) as caught:
        _ = imported(HEAD + text, folder, "refused_module").main.definition
    return caught.value


@pytest.mark.parametrize(("rule", "body"), BODIES)
def test_a_body_is_refused(rule: str, body: str, tmp_path: Path) -> None:
    error = refusal("@workflow\nasync def main(a, xs):\n" + textwrap.indent(body, "    ") + "\n", tmp_path)

    assert error.rule == rule
    assert error.file == str(tmp_path / "refused_module.py")
    assert error.line >= len(HEAD.splitlines()) + 1
    assert error.remedy in str(error)
    assert "^" in str(error)


@pytest.mark.parametrize(("rule", "text"), WHOLE)
def test_a_function_is_refused(rule: str, text: str, tmp_path: Path) -> None:
    error = refusal(text + "\n", tmp_path)

    assert error.rule == rule
    assert error.remedy in str(error)


@pytest.mark.parametrize("call", ["sleep(1)", "gather(act(1))", "wait_for(act(1), 2)"])
def test_words_of_asyncio_are_told_by_ours(call: str, tmp_path: Path) -> None:
    error = refusal(f"import asyncio\n@workflow\nasync def main(a, xs):\n    await asyncio.{call}\n", tmp_path)

    assert error.rule == "await-not-activity"
    assert "of holdfast" in error.remedy


def test_the_code_is_underlined(tmp_path: Path) -> None:
    error = refusal("@workflow\nasync def main(a, xs):\n    b = 1\n    return a + eval('b')\n", tmp_path)

    line = len(HEAD.splitlines()) + 4
    assert str(error).splitlines() == [
        f"{tmp_path / 'refused_module.py'}:{line}: `eval()` needs a Python frame, and a workflow has none.",
        "        return a + eval('b')",
        "                   ^^^^^^^^^",
        "  Instead: Use the values by name. [frame-magic]",
    ]


def test_what_has_no_text_is_refused() -> None:
    names: dict[str, object] = {"__name__": "typed_in"}
    exec("async def main(a): return a", names)

    with pytest.raises(WorkflowRefused) as caught:
        workflow(names["main"])  # type: ignore[call-overload]  # it is one, the checker cannot know

    assert caught.value.rule == "no-source"


def test_what_is_defined_further_down_is_found_later(tmp_path: Path) -> None:
    text = "@workflow\nasync def main(a):\n    return await later(a) + LATER\n\n@activity\nasync def later(x): ...\n\nLATER = 3\n"

    definition = imported(HEAD + text, tmp_path, "defined_later").main.definition

    assert [node.type for node in definition.root.walk()] == ["Function", "Sequence", "later", "Return"]


def test_a_call_is_refused_at_decoration_when_its_activity_is_known(tmp_path: Path) -> None:
    with pytest.raises(WorkflowRefused):
        imported(HEAD + "@workflow\nasync def main(a):\n    return await act(1, 2, 3)\n", tmp_path, "refused_call")


def test_syntax_is_refused_at_decoration_before_any_definition_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(WorkflowRefused):
        imported(HEAD + "@workflow\nasync def main(a):\n    return locals()\n", tmp_path, "refused_at_once")
