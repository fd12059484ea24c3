"""Ways to break out of the JavaScript engine, to outlive an evaluation, or to burn the machine."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from holdfast.errors import ExpressionError, ExpressionFailed, ExpressionLimit, ExpressionRefused, ExpressionSyntax
from holdfast.expressions.javascript import JavaScriptEvaluator
from holdfast.expressions.javascript.engine import JsLimits

if TYPE_CHECKING:
    from tests.unit.expressions.conftest import PlaceMaker

_QUICK = JavaScriptEvaluator(limits=JsLimits(time=timedelta(milliseconds=100), memory=8 * 1024 * 1024))

_NAMES = ["require", "process", "module", "std", "os", "fetch", "XMLHttpRequest", "Worker", "importScripts", "print",
          "console", "python", "load", "scriptArgs", "bjson", "SharedArrayBuffer", "Atomics", "WeakRef",
          "FinalizationRegistry", "WebAssembly", "setTimeout", "Deno", "Bun", "gc"]  # fmt: skip


@pytest.mark.parametrize("name", _NAMES)
def test_nothing_of_the_host_is_there(place: PlaceMaker, name: str) -> None:
    here = place({"x": 1})
    assert here.evaluate("javascript", f"typeof {name}") == "undefined"
    assert here.evaluate("javascript", f"typeof globalThis['{name}']") == "undefined"
    assert here.evaluate("javascript", f"Function('return typeof {name}')()") == "undefined"


@pytest.mark.parametrize(
    "source",
    [
        "import('os')",
        "import fs from 'fs'",
        "require('fs')",
        "this.constructor.constructor('return process')().env",
        "(async () => {}).constructor('return require')()('os')",
        "(function*(){}).constructor('yield process.env')().next().value",
        "getVariable.constructor('return this.process.env')()",
        "variables.constructor.constructor('return process')()",
        "setVariable('__class__', 1)",
        "setVariable('__proto__', { polluted: true })",
        "arguments.callee.caller.arguments",
        "host",
        "given",
        "needs",
    ],
)
def test_no_way_out(place: PlaceMaker, source: str) -> None:
    here = place({"x": 1})
    with pytest.raises((ExpressionFailed, ExpressionSyntax)):
        here.evaluate("javascript", source)
    assert here.value("x") == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Object.prototype.polluted = 1", "({}).polluted === undefined"),
        ("Array.prototype.map = () => 'mine'", "[1].map(x => x + 1)[0] === 2"),
        ("({}).__proto__.polluted = 1", "({}).polluted === undefined"),
        ("Object.defineProperty(Object.prototype, 'p', { get() { return 1 } })", "({}).p === undefined"),
        ("JSON.stringify = () => '1'", "JSON.stringify({ a: 1 }) === '{\"a\":1}'"),
        ("JSON.parse = () => 1; 1", "JSON.parse('[2]')[0] === 2"),
        ("String.prototype.trim = () => 'x'", "' a '.trim() === 'a'"),
        ("Promise.prototype.then = function () { throw 1 }; 1", "(async () => (await null) === null)()"),
        ("(async()=>{})().constructor.prototype.then = 1; 1", "typeof Promise.prototype.then === 'function'"),
        ("(function*(){})().__proto__.__proto__.next = 1", "(function*(){ yield 5 })().next().value === 5"),
        ("leaked = 1", "typeof leaked === 'undefined'"),
        ("var leaked = 1", "typeof leaked === 'undefined'"),
        ("globalThis.leaked = 1", "typeof leaked === 'undefined'"),
        ("function getCounter() { return 9 }", "typeof getCounter === 'undefined'"),
        ("eval = null; 1", "eval('1') === 1"),
        ("Function.prototype.call = () => 'mine'; 1", "(function () { return 2 }).call() === 2"),
        ("Symbol.iterator; Array.prototype[Symbol.iterator] = null; 1", "[...[1]].length === 1"),
        ("Promise.resolve().then(function again() { globalThis.n = 1 }); 1", "typeof n === 'undefined'"),
    ],
)
def test_nothing_outlives_an_evaluation(place: PlaceMaker, first: str, second: str) -> None:
    here = place({"x": 1})
    here.evaluate("javascript", first)
    assert here.evaluate("javascript", second) is True


@pytest.mark.parametrize(
    "source",
    [
        "while (true);",
        "for (;;) {}",
        "do {} while (1)",
        "try { while (true); } catch (e) { 1 }",
        "try { while (true); } finally { while (true); }",
        "eval('while (true);')",
        "new Function('while (true);')()",
        "(function f() { return f() })()",
        "(function f() { try { f() } catch (e) { f() } })()",
        "const f = () => [1].map(f); f()",
        "/(a+)+$/.test('a'.repeat(50) + '!')",
        "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
        "'a'.repeat(2 ** 29)",
        "'a'.padEnd(2 ** 29)",
        "new Array(2 ** 32 - 1).fill(0)",
        "new Uint8Array(2 ** 31)",
        "new ArrayBuffer(2 ** 33)",
        "let a = []; for (;;) a.push(a.length + 'x')",
        "let s = 'x'; for (;;) s += s",
        "[...Array(1e9).keys()]",
        "Array.from({ length: 1e9 })",
        "JSON.stringify(Array(1e8).fill(0))",
        "2n ** 100000000n",
        "9n ** 9n ** 9n",
        "let o = {}; for (let i = 0; ; i++) o[i] = {}",
        "(async () => { for (;;) await null })()",
        "Promise.resolve().then(() => { while (true); })",
        "(function again() { return Promise.resolve().then(again) })()",
        "({ toJSON() { while (true); } })",
        "({ get then() { while (true); } })",
        "({ then(ok) { while (true); } })",
        "new Proxy({}, { ownKeys() { while (true); } })",
        "[3, 1].sort(() => { while (true); })",
        "'a'.replace(/a/, () => { while (true); })",
        "let x = 1; while (true) getVariable('y' + x++)",
        "for (let i = 0; ; i++) { try { getVariable('a' + i) } catch (e) {} }",
        "let d = []; for (let i = 0; i < 1e5; i++) d = [d]; d",
        "JSON.parse('['.repeat(1e6))",
        "eval('('.repeat(1e5))",
        "throw { toString() { while (true); } }",
        "throw { get message() { while (true); } }",
    ],
)
def test_bombs_are_stopped(place: PlaceMaker, source: str) -> None:
    here = place({"x": 1})
    with pytest.raises(ExpressionError):
        _QUICK.compile(source, here.names).evaluate(here.scope)
    assert _QUICK.compile("1 + 1", here.names).evaluate(here.scope) == 2


def test_time_is_a_limit_of_its_own_error(place: PlaceMaker) -> None:
    here = place({"x": 1})
    for source, words in (
        ("while (true);", "takes too long"),
        ("let a = []; for (;;) a.push('x'.repeat(1000) + a.length)", "memory"),
        ("(function f() { return 1 + f() })()", "recurses"),
    ):
        with pytest.raises(ExpressionLimit, match=words):
            _QUICK.compile(source, here.names).evaluate(here.scope)


def test_a_broken_engine_does_not_break_the_host(place: PlaceMaker) -> None:
    here = place({"x": 1})
    for source in (
        "Object.prototype.polluted = 1; variables.x",
        "JSON.stringify = () => ({}); variables.x",
        "Object.defineProperty = null; getVariable('x')",
    ):
        here.evaluate("javascript", source)
    assert here.value("x") == 1


def test_a_text_that_is_too_long_is_refused(place: PlaceMaker) -> None:
    with pytest.raises(ExpressionRefused, match="at most 100,000"):
        place().evaluate("javascript", "1;" * 60_000)
