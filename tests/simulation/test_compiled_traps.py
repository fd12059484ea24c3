"""Places where a compiler of Python goes wrong, one program each: plain and compiled must agree."""

# ruff: noqa: E501 # a program on one line is read at once

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.testing.clock import VirtualClock
from tests.support.programs.comparison import compare, load
from tests.support.programs.namespace import TYPES

HEAD = """\
from tests.support.programs.namespace import *
from holdfast.authoring.compiled import workflow
from holdfast.authoring.primitives import gather
import math, sys
LIMIT = 3

@workflow
async def sub(a, items=None):
    items = items if items is not None else []
    items.append(await act(a))
    if a > 90:
        try:
            await act(1)
            raise KeyError('sub')
        finally:
            await act(2)
    return items

@workflow
async def main(a, xs):
"""

TRAPS = {
    # -- order of evaluation
    "operands": "return see(1) + await act(see(2)) + see(3)",
    "walrus before": "b = a + await act((a := 9))\nreturn a, b",
    "unbound before the effect": "if a > 100: z = 1\nreturn z + await act(1)",
    "short circuit": "return [see(0) and await act(1), see(2) or await act(2), see(1) and await act(3) or see(4)]",
    "conditional": "return (see(1) if await act(0) else see(2), await act(see(3)) if see(0) else await act(see(4)))",
    "chained comparison": "return [see(1) < await act(1) < see(9), 9 < see(1) < await act(3), see(1) < see(2) < await act(7) < see(99)]",
    "star arguments": "return dict(a=see(1), b=await act(see(2)), c=see(3)), [*see([1]), await act(1), *see([2])]",
    "star is read before": "ys = [1]\nreturn [*ys, await act(ys.append(5)), *ys]",
    "keywords out of order": "return await act(y=see(1), x=see(2))",
    "dict display": "return {see('a'): await act(see(1)), **see({'q': 1}), see('b'): see(2), **(await table(3))}",
    "f-string": "x = [1]\nreturn f'{x}{await act(x.append(2))}{x!r:>12}{await act(2):{await act(3) + 4}d}'",
    "subscript targets": "d = {}\nd[see('k')] = await act(see(1))\nd[await same(see('m'))] = see(3)\nreturn d",
    "slices": "return xs[await act(0) % 1:see(2)], xs[see(0):await act(2)]",
    "method before argument": "y = xs\ny.append(await act((y := [5]) and 1))\nreturn xs, y",
    "missing method first": "try: xs.nope(await act(1))\nexcept AttributeError: return await act(2)",
    "assert": "assert await act(1) < 100, await act(2)\nassert await act(3) > 100, await act(4)",
    # -- assignments
    "augmented name": "x = 1\nx += await act((x := 50))\nreturn x",
    "augmented list": "ys = xs\nxs += [await act(1)]\nreturn xs is ys, ys",
    "augmented place once": "d = {'a': [1]}\nd[see('a')] += [await act(1)]\nd['a'][see(0)] += await act(2)\nreturn d",
    "augmented missing key": "d = {}\ntry: d['a'] += await act(1)\nexcept KeyError as e: return e.args",
    "unpacking": "p, *q = await numbers(3)\n(p, q), r = (await act(1), see(2)), see(3)\nreturn p, q, r",
    "unpacking fails": "try: p, q = await numbers(3)\nexcept ValueError as e: return await same(str(e))",
    "annotation alone": "q: int\nr: list = [await act(1)]\ntry: q\nexcept NameError: return r",
    "del": "q = 1\ndel q\nawait act(1)\ntry: q\nexcept UnboundLocalError as e: return str(e)",
    "unbound message": "if await act(0) > 99: q = 1\nreturn q",
    # -- loops
    "list grows": "for x in xs:\n    await act(x)\n    if len(xs) < 6: xs.append(x + 10)\nreturn xs",
    "list shrinks": "out = []\nfor x in xs:\n    out.append(await act(x))\n    xs.pop(0)\nreturn xs, out",
    "exhausted stays so": "it = iter(xs)\nfor x in it: await act(x)\nxs.append(99)\nfor x in it: await act(x)\nreturn 1",
    "one iterator twice": "it = iter([1, 2, 3, 4, 5])\nout = []\nfor p, q in zip(it, it): out.append((p, await act(q)))\nreturn out",
    "dict values change": "d = {'a': 1, 'b': 2, 'c': 3}\nout = []\nfor k, v in d.items():\n    out.append((k, v, await act(v)))\n    d['c'] = 77\nreturn out",
    "dict changes size": "d = {'a': 1, 'b': 2}\nfor k in d:\n    await act(1)\n    d[k + 'x'] = 1\nreturn d",
    "reversed dict": "d = {'a': 1, 'b': 2, 'c': 3}\nreturn [(k, await act(1)) for k in reversed(d)]",
    "set changes size": "s = {1, 2, 3}\nfor k in s:\n    await act(k)\n    s.add(7)",
    "nested iterators": "d = {'a': 1, 'b': 2}\nout = []\nfor i, (r, (k, v)) in enumerate(zip(range(5, 0, -2), d.items()), 3): out.append((i, r, k, v, await act(v)))\nreturn out",
    "huge range": "for i in range(10**30):\n    if await act(i) and i > 3: break\nreturn i",
    "lazy map": "for v in map(see, xs): await act(v)\nreturn 0",
    "text and bytes": "out = []\nfor ch in 'h\u00e9y': out.append(await act(ch))\nfor ch in b'ab': out.append(await act(ch))\nreturn out",
    "target is a place": "p = Box(0)\nfor p.x in xs: await act(p.x)\nfor xs[0] in [7, 8]: await act(1)\nreturn p, xs",
    "else and break": "for x in xs:\n    try:\n        if await act(x) > 50: break\n        continue\n    finally: see(x)\nelse: await act(9)\nwhile await act(a) > 100: pass\nelse: see('else')\nreturn x",
    "break skips else": "for x in xs:\n    await act(x)\n    break\nelse: see('no')\nwhile await act(1) < 99:\n    break\nelse: see('no')\nreturn 1",
    "not iterable": "for x in a: await act(x)",
    "walrus in while": "n = 0\nwhile (v := await act(n)) < 5 and n < 4: n += 1\nreturn n, v",
    # -- finally
    "pending return": "try: return see(1)\nfinally:\n    await act(2)\n    await act(3)",
    "return drops exception": "try:\n    await act(1)\n    raise ValueError(1)\nfinally: return await act(3)",
    "break drops exception": "while True:\n    try: raise KeyError(await act(1))\n    finally:\n        await act(2)\n        break\nreturn 5",
    "continue drops return": "n = 0\nwhile n < 3:\n    n += 1\n    try: return await act(n)\n    finally:\n        if n < 3: continue\n        await act(0)\nreturn 'end'",
    "return value is read once": "x = [1]\ntry: return x[0]\nfinally:\n    x[0] = await act(5)\n    x = None",
    "inner return replaced": "try: return see(1)\nfinally:\n    for i in [1]:\n        try: return see(2)\n        finally:\n            await act(1)\n            continue\n    await act(2)",
    "new exception gets context": "try:\n    try: raise KeyError('first')\n    finally:\n        await act(1)\n        raise ValueError('second')\nexcept ValueError as e:\n    await act(2)\n    return type(e.__context__).__name__",
    # -- handlers
    "as is unbound after": "try: raise ValueError(1)\nexcept ValueError as e: await act(1)\ntry: e\nexcept UnboundLocalError as u: return str(u)",
    "as is unbound by break": "for i in xs:\n    try: raise ValueError(i)\n    except ValueError as e:\n        await act(i)\n        break\nreturn e",
    "bare raise after await": "try:\n    await act(1)\n    raise Trouble(3)\nexcept Exception:\n    await act(1)\n    raise",
    "outer handler restored": "try: raise ValueError('o')\nexcept ValueError:\n    try: raise KeyError('i')\n    except KeyError: await act(1)\n    await act(2)\n    raise",
    "implicit context": "try: raise KeyError(1)\nexcept KeyError:\n    await act(1)\n    raise Trouble(await act(2))",
    "from and from None": "try:\n    try: raise KeyError(1)\n    except KeyError as e:\n        await act(1)\n        raise Trouble(2) from e\nexcept Trouble as m:\n    await act(2)\n    raise ValueError(m.code) from None",
    "activity's chain": "try: raise TypeError('t')\nexcept TypeError:\n    for i in range(9): await fail(1)",
    "exc_info": "try: raise KeyError(5)\nexcept KeyError:\n    await act(1)\n    return sys.exc_info()[0].__name__, repr(sys.exc_info()[1])",
    "own init": "try: raise DeepTrouble(41, why='z')\nexcept KeyError as e:\n    await act(1)\n    return e.code, e.args, str(e)",
    "same exception object": "try: raise ValueError(1)\nexcept ValueError as e:\n    k = [e]\n    await act(1)\n    assert k[0] is e\n    raise k[0]",
    "types evaluated in order": "try: raise KeyError(await act(0))\nexcept see(ValueError): await act(1)\nexcept (see(TypeError), see(KeyError)): return await act(2)",
    "bad type": "try: raise KeyError(await act(1))\nexcept xs: await act(1)",
    "os error": "try: open('/nope/x')\nexcept FileNotFoundError as e:\n    await act(1)\n    return e.errno, e.filename, str(e)",
    "else part": "try: await act(1)\nexcept ValueError: see('no')\nelse: await act(2)\nfinally: await act(3)\nreturn 1",
    "handler of a sub workflow": "try: raise ValueError('m')\nexcept ValueError:\n    await sub(91)",
    "return in handler": "try: raise ValueError(await act(1))\nexcept ValueError as e:\n    return await same(str(e))\nfinally: see('f')",
    # -- values
    "aliases": "ys = xs\np = Box(1, xs)\nd = {'l': xs, 'p': p}\nawait act(1)\nys.append(await act(2))\nd['p'].x = 5\nreturn xs is ys is p.items is d['l'], p.x, d['p'] is p",
    "cycles": "d = {}\nd['me'] = d\np = Box(1)\np.items.append(p)\nawait act(1)\nreturn d['me'] is d, p.items[0] is p",
    "enum and classes": "c, k, f, g = Color.RED, Box, see, math.floor\nawait act(1)\nreturn c is Color.RED, k is Box, f is see, g(2.5), math.pi",
    "rich types": "from decimal import Decimal\nimport uuid\nv = [{1, 2}, (1, (2,)), Decimal('1.10'), uuid.UUID(int=5), b'\\x00', 2**90, float('inf'), -0.0, {1: 2, (1, 2): 3}, frozenset([1]), range(3), True, 1, 1.0, slice(1, 2)]\nawait act(1)\nreturn str(v), [type(q).__name__ for q in v]",
    "keys that look like tags": "d = {'$t': 'list', '$ref': 1, 1: 'x', None: 2, (1, 2): 3}\nawait act(1)\nreturn str(d), list(d)",
    "constants": "await act(1)\nreturn LIMIT + len(xs)",
    # -- functions inside
    "lambda sees locals": "w = 3\nys = sorted(xs, key=lambda q: -q * w)\nreturn ys, await act(1), list(map(lambda q: q + a, xs))",
    "lambda default": "return list(map(lambda q, k=a: q * k, xs)), await act(1)",
    "comprehension scopes": "z = 5\nys = [z for z in xs if (w := z)]\nzs = [await act(z) for z in xs if (v := z)]\nreturn z, w, v, ys, zs",
    "awaiting comprehensions": "return [(x, y, await act(y)) for x in xs for y in range(x) if await act(x)], {x: await act(see(x)) for x in xs}, sorted({await act(x) for x in xs})",
    "comprehension in arguments": "return await same([q * 2 for q in xs]), await same({k: v for k, v in zip(xs, xs)})",
    # -- the rest
    "match": "out = []\nfor v in [0, [1, 2, 3], Box(5, [1]), {'a': 1, 'z': 2}, 'q', None]:\n    match v:\n        case 0: out.append(await act(0))\n        case [x, *r]: out.append((x, r, await act(1)))\n        case Box(x=n, items=[i]) if see(n) > 3: out.append((n, i, await act(2)))\n        case {'a': k, **rest}: out.append((k, rest, await act(3)))\n        case str() as s: out.append((s, await act(4)))\nreturn out",
    "match on awaited": "match await act(1):\n    case 0 | 1 | 2: return await act(2)\n    case n: return n",
    "gather": "return await gather(act(1), numbers(2), same(xs)), await gather(), await gather(*[act(x) for x in xs])",
    "sub workflow by reference": "r = await sub(1, xs)\nreturn r is xs, xs",
    "sub workflow's own locals": "items = 100\nr = await sub(4)\nreturn r, items",
    "sub workflows at once": "return await gather(sub(1), sub(2, xs)), xs",
    "traceback of several lines": "await act(1)\nx = (see(1) +\n     see(2) +\n     await act(2) +\n     None)\nreturn x",
    "with data": "with Guard('a', True) as g, Guard('b'):\n    await act(1)\n    raise ValueError(1)\nreturn await act(2)",
    "leaving with": "for x in xs:\n    with Guard(x):\n        if await act(x) == 1: continue\n        if x > 1: break\nwith Guard('r'):\n    return await act(3)",
    "deep": "if a:\n    while await act(1) < 99:\n        for x in xs:\n            try:\n                try:\n                    await fail(x)\n                    raise KeyError(x)\n                finally: await act(x)\n            except KeyError as e: push(xs, await same(e.args[0]))\n            except Exception: await act(3)\n            else: break\n        break\nreturn xs",
}  # fmt: skip


@pytest.fixture(scope="module")
def trap_engine() -> Iterator[Holdfast]:
    made = Holdfast(clock=VirtualClock(), entry_points=False, types=list(TYPES))
    yield made
    made.close()


@pytest.mark.parametrize("name", TRAPS)
def test_the_trap_is_avoided(name: str, trap_engine: Holdfast, tmp_path: Path) -> None:
    module = load(HEAD + textwrap.indent(TRAPS[name], "    ") + "\n", tmp_path, f"trap_{list(TRAPS).index(name)}")

    found, run = compare(trap_engine, module, 2, [1, 2, 3])

    assert found == "agrees"
    assert run is not None
