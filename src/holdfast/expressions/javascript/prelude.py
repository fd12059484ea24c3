"""JavaScript code around a script: its inputs, its results, and Elsa's functions.

A context serves one evaluation, so the engine parses this code each time, and parsing dominates the cost. Only the
parts that a script names are added. Code for rare values (`TOOLS`) is passed as text and parsed on demand.

The parts form one function `(given, source, tools) → answer`. `given` is JSON from the host. The answer is JSON text,
or a function that returns it once promises have settled. Scripts cannot call the host: a helper that misses a value
records it in `needs` and throws, and the host runs the script again with that value.
"""

from __future__ import annotations

from collections.abc import Iterable

TOOLS = r"""
(() => {
  const stringify = JSON.stringify;
  const toBase64 = (bytes) => { let s = ''; for (const b of bytes) s += String.fromCharCode(b); return btoa(s); };
  const fromBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const asBytes = (v) => v instanceof ArrayBuffer ? new Uint8Array(v) :
    ArrayBuffer.isView(v) ? new Uint8Array(v.buffer, v.byteOffset, v.byteLength) : null;
  const utf8 = (text) => Uint8Array.from(unescape(encodeURIComponent(String(text))), (c) => c.charCodeAt(0));
  const text = (bytes) => { let s = ''; for (const b of asBytes(bytes) ?? bytes) s += String.fromCharCode(b);
    return decodeURIComponent(escape(s)); };
  const plain = (key, value) => {
    if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (value === null || typeof value !== 'object') return value;
    if (value instanceof Map) return Object.fromEntries(value);
    if (value instanceof Set) return Array.from(value);
    const bytes = asBytes(value);
    return bytes ? toBase64(bytes) : value;
  };
  const give = (value) => {
    if (typeof value === 'bigint') return stringify(['integer', String(value)]);
    if (typeof value === 'number') return stringify(['number', String(value)]);
    const bytes = asBytes(value);
    if (bytes) return stringify(['bytes', toBase64(bytes)]);
    const json = stringify(value, plain);
    return json === undefined ? '["undefined"]' : '["json",' + json + ']';
  };
  return { toBase64, fromBase64, asBytes, utf8, text, plain, give };
})()
"""

_START = r"""(function (given, source, tools) {
const run = eval, stringify = JSON.stringify, host = JSON.parse(given), needs = [], left = {}, writes = [];
let state = 'pending', made;
const more = () => made ??= run(tools);
const give = (v) => v === undefined ? '["undefined"]' : v === null || typeof v === 'string' || typeof v === 'boolean' ||
  Number.isFinite(v) ? '["json",' + stringify(v) + ']' : more().give(v);
"""

_END = r"""
const failed = (e) => { state = 'failed';
  try { left.error = e instanceof Error ? e.name + ': ' + e.message : String(e); } catch (_) { left.error = 'an error'; } };
const done = (v) => { try { left.result = give(v); for (let i = 0; i < writes.length; i++) writes[i](); state = 'done'; }
  catch (e) { failed(e); } };
const answer = () => needs.length || state === 'failed' ? stringify({ needs, error: left.error }) :
  state === 'done' ? stringify({ needs, left }) : stringify({ needs, error: 'its promise is never settled' });
try {
  const value = run(source);
  if (value !== null && typeof value === 'object' && typeof value.then === 'function') value.then(done, failed);
  else done(value);
} catch (e) { failed(e); }
return state === 'pending' ? answer : answer();
})"""

_PARTS: dict[str, tuple[str, str]] = {
    # name → (required parts, text)
    "need": ("", "const need = (...what) => { needs.push(what); throw new Error('asks the host'); };"),
    "put": (
        "",
        (
            "const put = (object, name, value) => Object.defineProperty(object, name, "
            "{ value, writable: true, enumerable: true, configurable: true });"
            "const has = (object, name) => Object.prototype.hasOwnProperty.call(object, name);"
            "const take = (pair) => pair[0] === 'bytes' ? more().fromBase64(pair[1]) : pair[1];"
        ),
    ),
    "variables": (
        "put",
        (
            "const variables = {}, before = {}, keys = Object.keys;"
            "for (const name of keys(host.variables)) { put(variables, name, take(host.variables[name]));"
            " put(before, name, give(variables[name])); }"
            "writes.push(() => { left.writes = {}; const names = keys(variables);"
            " for (let i = 0; i < names.length; i++) { const name = names[i], now = give(variables[name]);"
            " if (now !== before[name] && variables[name] !== undefined) put(left.writes, name, now); } });"
        ),
    ),
    "getVariable": (
        "need variables",
        (
            "const getVariable = (name) => has(variables, name) ? variables[name] :"
            " host.missing.includes(String(name)) ? null : need('variable', String(name));"
        ),
    ),
    "setVariable": ("variables", "const setVariable = (name, value) => { put(variables, String(name), value); };"),
    "getInput": (
        "need put",
        "const getInput = (name) => has(host.inputs, name) ? take(host.inputs[name]) : need('input', String(name));",
    ),
    "getOutputFrom": (
        "need put",
        (
            "const getOutputFrom = (activity, output) => { const key = stringify([activity, output ?? null]);"
            " if (!has(host.outputs, key)) return need('output', String(activity), output == null ? null : String(output));"
            " if (host.outputs[key][0] === 'error') throw new Error(host.outputs[key][1]);"
            " return take(host.outputs[key]); };"
        ),
    ),
    "getLastResult": ("need put", "const getLastResult = () => host.last ? take(host.last) : need('last');"),
    "getWorkflowDefinitionId": ("", "const getWorkflowDefinitionId = () => host.facts.definition_id;"),
    "getWorkflowDefinitionVersionId": (
        "",
        "const getWorkflowDefinitionVersionId = () => host.facts.definition_version_id;",
    ),
    "getWorkflowDefinitionVersion": ("", "const getWorkflowDefinitionVersion = () => host.facts.definition_version;"),
    "getWorkflowInstanceId": ("", "const getWorkflowInstanceId = () => host.facts.id;"),
    "getCorrelationId": ("", "const getCorrelationId = () => host.facts.correlation_id;"),
    "setCorrelationId": (
        "",
        "const setCorrelationId = (v) => { left.correlation = host.facts.correlation_id = v == null ? null : String(v); };",
    ),
    "getWorkflowInstanceName": ("", "const getWorkflowInstanceName = () => host.facts.name;"),
    "setWorkflowInstanceName": (
        "",
        "const setWorkflowInstanceName = (v) => { left.name = host.facts.name = v == null ? null : String(v); };",
    ),
    "isNullOrEmpty": ("", "const isNullOrEmpty = (s) => s == null || s === '';"),
    "isNullOrWhiteSpace": ("", "const isNullOrWhiteSpace = (s) => s == null || String(s).trim() === '';"),
    "toJson": ("", "const toJson = (v) => stringify(v, more().plain);"),
    "parseGuid": (
        "",
        (
            "const parseGuid = (v) => { const s = String(v).replace(/[-{}()\\s]/g, '').toLowerCase();"
            " if (!/^[0-9a-f]{32}$/.test(s)) throw new TypeError('not a GUID: ' + v);"
            " return s.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5'); };"
        ),
    ),
    "newGuid": ("need", "const newGuid = () => host.guids.length ? host.guids.pop() : need('guids');"),
    "newGuidString": ("newGuid", "const newGuidString = newGuid;"),
    "getGuidString": ("newGuid", "const getGuidString = newGuid;"),
    "newShortGuid": (
        "newGuid",
        (
            "const newShortGuid = () => more().toBase64(newGuid().replace(/-/g, '').match(/../g).map((h) => parseInt(h, 16)))"
            ".replace(/\\//g, '_').replace(/\\+/g, '-').slice(0, 22);"
        ),
    ),
    "getShortGuid": ("newShortGuid", "const getShortGuid = newShortGuid;"),
    "bytesToString": ("", "const bytesToString = (b) => more().text(b);"),
    "bytesFromString": ("", "const bytesFromString = (s) => more().utf8(s);"),
    "bytesToBase64": ("", "const bytesToBase64 = (b) => more().toBase64(more().asBytes(b) ?? b);"),
    "bytesFromBase64": ("", "const bytesFromBase64 = (s) => more().fromBase64(s);"),
    "stringToBase64": ("", "const stringToBase64 = (s) => more().toBase64(more().utf8(s));"),
    "stringFromBase64": ("", "const stringFromBase64 = (s) => more().text(more().fromBase64(s));"),
    "streamToBytes": ("", "const streamToBytes = (b) => more().asBytes(b) ?? Uint8Array.from(b);"),
    "streamToBase64": ("bytesToBase64", "const streamToBase64 = bytesToBase64;"),
    "setOutcome": ("", "const setOutcome = (name) => { left.outcomes = [String(name)]; };"),
    "setOutcomes": ("", "const setOutcomes = (names) => { left.outcomes = Array.from(names, String); };"),
}

_INTERNAL = frozenset({"need", "put"})
FUNCTIONS = frozenset(_PARTS) - _INTERNAL
"""Names that a script may use: Elsa's functions, and `variables`."""
OUTCOMES = frozenset({"setOutcome", "setOutcomes"})
"""Functions for scripts only."""
REFLECTION = frozenset({"eval", "Function", "globalThis"})
"""Names that let a script reach functions without naming them; such a script gets all functions."""


def around(functions: Iterable[str], wrappers: Iterable[str]) -> str:
    """The code around a script that uses these functions, with the wrappers (`getTotal`) generated for it."""
    wanted = sorted(functions)
    parts: dict[str, str] = {}
    for name in wanted:
        _add(name, parts)
    bound = [f"globalThis.{name} = {name};" for name in wanted]
    return "\n".join([_START, *parts.values(), *bound, *wrappers, _END])


def _add(name: str, parts: dict[str, str]) -> None:
    if name not in parts:
        needed, text = _PARTS[name]
        for other in needed.split():
            _add(other, parts)
        parts[name] = text
