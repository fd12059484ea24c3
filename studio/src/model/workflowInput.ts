/**
 * What a workflow that is started by another is given: an object with a value or an expression for each of its inputs.
 *
 * A document holds it as one input, and only a whole input can be an expression: values alone are an object, and as soon as
 * one of them is an expression all of them are one Python dict. It is taken apart again as long as its keys are plain text.
 */

import { LITERAL, readInput, writeInput } from "./expressions";
import { isList, isObject, type Json, type JsonObject } from "./json";
import type { Name } from "./scope";

/** By name; what stands there is as an input of an activity is written: a literal or `{"$python": …}`. */
export type WorkflowInput = Readonly<Record<string, Json>>;

/** Null where it is something else than an object with plain names: then it is edited as a whole. */
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

/** A part of the dict as it would stand in an input of its own. */
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

/** Values that mean the same in JSON and in Python; `undefined` for everything else. */
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

/** `{'a': x, "b": f(1, 2)}` → its pairs; null if it is no such dict. */
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
    // A comprehension (`{k: v for …}`) or a spread is no list of names.
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

/** Where a sign stands outside of brackets and quotes; null where they do not match. */
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
