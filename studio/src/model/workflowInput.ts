/**
 * Input of a workflow that another workflow starts: a value or an expression per declared input.
 *
 * The document stores it as one input, and only a whole input can be an expression. Plain values are stored as an
 * object. With
 * at least one expression, all are stored as one Python dict, which is parsed again as long as its keys are plain
 * strings.
 */

import { LITERAL, readInput, writeInput } from "./expressions";
import { isList, isObject, type Json, type JsonObject } from "./json";
import type { Name } from "./scope";

/** By name. Each value has the form of an activity input: a literal or `{"$python": …}`. */
export type WorkflowInput = Readonly<Record<string, Json>>;

/** Returns null for anything but an object with plain names. Such a value is edited as a whole. */
export function readWorkflowInput(value: Json | undefined, names: readonly Name[]): WorkflowInput | null {
  const { language, source } = readInput(value);
  if (source === null || source === "") return {};
  if (language === LITERAL)
    return isObject(source) ? mapped(source, (item) => writeInput({ language: LITERAL, source: item })) : null;
  if (language !== "python" || typeof source !== "string") return null;
  const pairs = pairsIn(source);
  return pairs === null ? null : Object.fromEntries(pairs.map(([name, text]) => [name, partOf(text, names)]));
}

export function writeWorkflowInput(input: WorkflowInput): Json | undefined {
  const names = Object.keys(input);
  if (names.length === 0) return undefined;
  const parts = names.map((name) => [name, readInput(input[name])] as const);
  if (parts.every(([, part]) => part.language === LITERAL)) {
    return writeInput({
      language: LITERAL,
      source: Object.fromEntries(parts.map(([name, part]) => [name, part.source])),
    });
  }
  const written = parts.map(
    ([name, { language, source }]) =>
      `${JSON.stringify(name)}: ${language === LITERAL ? pythonOf(source) : String(source).trim() || "None"}`,
  );
  return { $python: `{${written.join(", ")}}` };
}

function mapped(object: JsonObject, change: (item: Json) => Json | undefined): WorkflowInput {
  return Object.fromEntries(Object.entries(object).map(([name, item]) => [name, change(item ?? null) ?? null]));
}

/** An item of the dict as an input of its own. */
function partOf(text: string, names: readonly Name[]): Json {
  const literal = literalOf(text);
  if (literal !== undefined) return writeInput({ language: LITERAL, source: literal }) ?? null;
  const known = names.find((name) => name.name === text);
  if (known !== undefined) return { [known.kind === "input" ? "$input" : "$variable"]: text };
  return { $python: text };
}

const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ["True", true],
  ["False", false],
  ["None", null],
]);

/** Values that are equal in JSON and in Python; `undefined` for everything else. */
function literalOf(text: string): Json | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const quoted = /^'([^'\\]*)'$/.exec(text);
  if (quoted) return quoted[1] ?? "";
  if (!/^["\-\d[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function pythonOf(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (isList(value)) return `[${value.map(pythonOf).join(", ")}]`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item ?? null)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}

/** Splits `{'a': x, "b": f(1, 2)}` into pairs. Returns null for anything else. */
function pairsIn(text: string): [string, string][] | null {
  const whole = text.trim();
  if (!whole.startsWith("{") || !whole.endsWith("}")) return null;
  const parts = split(whole.slice(1, -1), ",");
  if (parts === null) return null;
  if (parts.at(-1)?.trim() === "") parts.pop();
  const pairs: [string, string][] = [];
  for (const part of parts) {
    const [key, ...rest] = split(part, ":") ?? [];
    const name = key === undefined ? undefined : literalOf(key.trim());
    const value = rest.join(":").trim();
    // A comprehension (`{k: v for …}`) or a spread has no fixed names.
    if (typeof name !== "string" || value === "" || pairs.some(([known]) => known === name)) return null;
    pairs.push([name, value]);
  }
  return pairs;
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
]);

/** Splits at a separator outside of brackets and quotes. Returns null if they are unbalanced. */
function split(text: string, sign: string): string[] | null {
  const parts: string[] = [];
  const open: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? "";
    if (letter === "'" || letter === '"') {
      const end = endOfText(text, at);
      if (end === null) return null;
      at = end;
    } else if (CLOSING.has(letter)) open.push(CLOSING.get(letter) ?? "");
    else if (")]}".includes(letter)) {
      if (open.pop() !== letter) return null;
    } else if (letter === sign && open.length === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return open.length > 0 ? null : [...parts, text.slice(start)];
}

function endOfText(text: string, start: number): number | null {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === text[start]) return at;
  }
  return null;
}
