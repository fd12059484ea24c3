"""JavaScript that tries to hold its process. `text` has 300,000 characters, `items` 20,000 items."""

from __future__ import annotations

_HUGE = "{length: 2 ** 53 - 1}"
_OVER_HUGE_LENGTH = (
    "reverse.call(%)", "indexOf.call(%, 1)", "lastIndexOf.call(%, 1)", "includes.call(%, 1)", "fill.call(%, 1)",
    "join.call(%)", "copyWithin.call(%, 1, 0)", "sort.call(%)", "slice.call(%)", "splice.call(%, 0, 1)",
    "shift.call(%)", "unshift.call(%, 1)", "map.call(%, x => x)", "forEach.call(%, x => x)", "some.call(%, x => x)",
    "every.call(%, x => 1)", "filter.call(%, x => 1)", "find.call(%, x => 0)", "findIndex.call(%, x => 0)",
    "findLast.call(%, x => 0)", "findLastIndex.call(%, x => 0)", "reduce.call(%, (a, b) => a, 0)",
    "reduceRight.call(%, (a, b) => a, 0)", "flat.call(%)", "flatMap.call(%, x => [x])", "toSorted.call(%)",
    "toReversed.call(%)", "toSpliced.call(%, 0, 1)", "with.call(%, 0, 1)", "toLocaleString.call(%)",
    "concat.call([], new Proxy([], {get: (t, k) => k === 'length' ? 2 ** 53 - 1 : t[k]}))",
)  # fmt: skip

_NATIVE_TEXT = (
    "('a'.repeat(3e6)).indexOf('a'.repeat(15e5) + 'b')",
    "('a'.repeat(3e6)).lastIndexOf('b' + 'a'.repeat(15e5))",
    "('a'.repeat(3e6)).includes('a'.repeat(15e5) + 'b')",
    "getText().includes('a'.repeat(150000) + 'b')",
    "getText().lastIndexOf('b' + 'a'.repeat(150000))",
    "getText().split('a'.repeat(150000) + 'b')",
    "getText().replaceAll('a'.repeat(1000) + 'b', 'x')",
    "getText().replaceAll('a', getText())",
    "getText().split('').map(() => getText()).join('')",
    "'a'.repeat(2 ** 29)",
    "'a'.padStart(2 ** 29, 'bc')",
    "'a'.padEnd(2 ** 30 - 1)",
    "let s = 'a'; for (;;) s += s",
    "let s = 'a'; for (;;) s = `${s}${s}`",
    "'\\u1E9B\\u0323'.repeat(1e6).normalize('NFKD').normalize('NFC').normalize('NFKD').normalize('NFC')",
    "let s = getText(); for (;;) s.localeCompare(s + 'x')",
    "for (;;) getText().toUpperCase().toLowerCase()",
    "for (;;) encodeURIComponent(getText())",
    "for (;;) escape(unescape(getText()))",
    "for (;;) btoa(getText())",
    "let s = ''; for (const c of getText()) s = c + s + s",
)

_REGULAR_EXPRESSIONS = (
    "/^(a+)+$/.test(getText() + 'b')", "/^(a|a)*$/.test(getText() + 'b')", "/^(a|aa)+$/.test(getText() + 'b')",
    "/(a*)*b/.test(getText())", "/(.*)*x/.test(getText())", "/(?=(a+))a*b\\1/.test(getText())", "/a*a*a*a*b/.test(getText())",
    "/(a?){60}a{60}/.test('a'.repeat(60))", "getText().replace(/a*b/g, 'x')", "getText().match(/(a+)+b/g)",
    "getText().search(/(a|b|ab)*c/)", "getText().split(/(a+)+b/)", "/(?<=a*a*a*)b/.test(getText())",
    "new RegExp('(' + 'a?'.repeat(3000) + ')*b').test(getText())", "new RegExp('('.repeat(20000) + ')'.repeat(20000))",
    "new RegExp('a{1,1000}'.repeat(1000)).test(getText())", "[...getText().matchAll(/a*?b|a/g)].length > getText().matchAll(/(a+)+b/g)",
)  # fmt: skip

_NUMBERS = (
    "2n ** 10000000n", "let x = 3n; for (;;) x *= x", "(10n ** 500000n).toString()", "BigInt('9'.repeat(1000000))",
    "(2n ** 3000000n) / (3n ** 100000n)", "(2n ** 3000000n) % (3n ** 1000000n)", "1n << 1000000000n", "BigInt.asUintN(2 ** 31, -1n)",
    "BigInt('0x' + 'f'.repeat(3000000)).toString()", "for (let i = 0; ; i++) Math.sin(i)", "for (;;) (0.1).toString(36)",
    "for (;;) parseFloat('1'.repeat(100000))",
)  # fmt: skip

_MEMORY = (
    "const a = []; for (;;) a.push(new Array(1e6).fill(1))", "new Array(2 ** 32 - 1).fill(1)", "Array.from({length: 2 ** 31})",
    "new Uint8Array(2 ** 31)", "new ArrayBuffer(2 ** 40)", "const a = []; for (;;) a.push(new ArrayBuffer(2 ** 20))",
    "const m = new Map(); for (let i = 0; ; i++) m.set(i, {})", "const s = new Set(); for (let i = 0; ; i++) s.add('x' + i)",
    "const o = {}; for (let i = 0; ; i++) o['k' + i] = i", "let o = {}; for (;;) o = {o}", "let a = []; for (;;) a = [a]",
    "Object.assign({}, 'a'.repeat(2 ** 26))", "[...'a'.repeat(2 ** 26)]", "let f = () => 1; for (;;) { const g = f; f = () => g() }",
    "let x = [1]; for (let i = 0; i < 64; i++) x = [x, x]; JSON.stringify(x)",
    "let x = [1]; for (let i = 0; i < 64; i++) x = [x, x]; x",
    "let x = [1]; for (let i = 0; i < 64; i++) x = [x, x]; String(x)",
    "let x = [1]; for (let i = 0; i < 64; i++) x = [x, x]; x.flat(Infinity)",
    "JSON.stringify(getItems().map(() => getText()))", "getItems().map(() => getItems())", "JSON.parse('['.repeat(1e6))",
    "JSON.stringify(Array(1e6).fill(0), null, '          ')",
)  # fmt: skip

_ENDLESS = (
    "while (true) {}", "for (;;);", "do {} while (1)", "const f = () => f(); f()", "(function f() { return f() + 1 })()",
    "const g = (function* () { for (;;) yield 1 })(); [...g]", "const g = (function* () { for (;;) yield 1 })(); for (const x of g);",
    "const p = () => Promise.resolve().then(p); p()", "(async () => { for (;;) await null })()",
    "new Promise(() => { for (;;); })", "({ get x() { for (;;); } }).x", "({ toString() { for (;;); } }) + ''",
    "({ valueOf() { for (;;); } }) * 1", "({ toJSON() { for (;;); } })", "({ then(f) { for (;;); } })",
    "new Proxy({}, { get() { for (;;); } }).x", "new Proxy({}, { ownKeys() { for (;;); } })",
    "JSON.stringify(new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 32 - 1 : 1 }))",
    "[3, 1, 2].sort(() => { for (;;); })", "getItems().sort(() => { try { for (;;); } catch (e) { for (;;); } })",
    "try { for (;;); } catch (e) { for (;;); } finally { for (;;); }",
    "for (;;) { try { (function f() { f() })() } catch (e) {} }", "eval('for (;;);')", "Function('for (;;);')()",
    "eval('('.repeat(1e6))", "eval('['.repeat(1e5) + ']'.repeat(1e5))", "eval('1' + '+1'.repeat(1e6))",
    "for (;;) eval('1')", "for (;;) new Function('a', 'return a')", "new Array(1e7).sort(() => 0.5 - Math.random())",
    "new Float64Array(3e6).map(() => Math.random()).sort()", "new Float64Array(3e6).fill(1).sort((a, b) => b - a)",
    "Array.from({length: 1e6}, (_, i) => 'x'.repeat(i % 1000)).sort()", "structuredClone?.(getItems())",
    "for (const k in new Proxy({}, { ownKeys: () => Array.from({length: 1e6}, (_, i) => 'k' + i) }));",
    "Reflect.apply(Math.max, null, {length: 2 ** 31})", "Math.max(...new Array(1e7))", "String.fromCharCode.apply(null, {length: 2 ** 31})",
    "Object.fromEntries({ [Symbol.iterator]: () => ({ next: () => ({ value: [1, 1], done: false }) }) })",
    "new Map({ [Symbol.iterator]: () => ({ next: () => ({ value: [1, 1], done: false }) }) })",
    "Array.from({ [Symbol.iterator]: () => ({ next: () => ({ value: 1, done: false }) }) })",
    "const [...a] = { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) }; a",
    "getVariable({ toString() { for (;;); } })", "for (let i = 0; ; i++) getVariable('missing' + i)",
    "for (let i = 0; i < 1e9; i++) newGuid()", "Date.prototype.toString = () => { for (;;); }; '' + new Date()",
    "Error.prepareStackTrace = () => { for (;;); }; throw new Error('x')", "throw { toString() { for (;;); } }",
    "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e",
)  # fmt: skip

BOMBS = (
    *(f"Array.prototype.{call.replace('%', _HUGE)}" for call in _OVER_HUGE_LENGTH),
    *_NATIVE_TEXT,
    *_REGULAR_EXPRESSIONS,
    *_NUMBERS,
    *_MEMORY,
    *_ENDLESS,
)
