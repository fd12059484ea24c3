/** Input values: a literal, or an object with one key that starts with `$` and names a language. */

import { isActivityInEntry } from "./document";
import { isObject, type Json } from "./json";

export interface Expression {
  /** `literal`, `python`, `javascript`, `liquid`, `variable`, `input`, or a language of a plugin. */
  readonly language: string;
  readonly source: Json;
}

export const LITERAL = "literal";

export function languageKey(value: unknown): string | null {
  if (!isObject(value)) return null;
  const keys = Object.keys(value);
  const key = keys[0];
  return keys.length === 1 && key !== undefined && key.startsWith("$") && key !== "$t" ? key : null;
}

export function readInput(value: Json | undefined): Expression {
  const key = languageKey(value);
  if (key === null || !isObject(value)) return { language: LITERAL, source: value ?? null };
  return { language: key.slice(1), source: value[key] ?? null };
}

/** Returns `undefined` for an empty literal, so that the key is removed from the document. */
export function writeInput(expression: Expression): Json | undefined {
  const { language, source } = expression;
  if (language !== LITERAL) return { [`$${language}`]: source };
  if (source === null) return undefined;
  return languageKey(source) !== null || isActivityInEntry(source) ? { $literal: source } : source;
}

/** Converts a value to another language: text stays text, and a literal becomes the source of an expression. */
export function toLanguage(from: Expression, language: string): Expression {
  if (from.language === language) return from;
  if (language === LITERAL) {
    if (from.language === "python" || from.language === "javascript") return literalOf(String(from.source ?? ""));
    return { language, source: from.language === "variable" || from.language === "input" ? null : from.source };
  }
  if (language === "variable" || language === "input") {
    const name = typeof from.source === "string" && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(from.source) ? from.source : "";
    return { language, source: name };
  }
  return { language, source: sourceFor(from, language) };
}

function literalOf(text: string): Expression {
  try {
    return { language: LITERAL, source: JSON.parse(text) as Json };
  } catch {
    const quoted = /^'([^'\\]*)'$/.exec(text.trim());
    return { language: LITERAL, source: quoted ? (quoted[1] ?? "") : text };
  }
}

function sourceFor(from: Expression, language: string): string {
  const { source } = from;
  if (from.language === "variable" || from.language === "input") {
    return language === "liquid" ? `{{ ${String(source)} }}` : String(source ?? "");
  }
  if (from.language !== LITERAL) return String(source ?? "");
  if (source === null) return "";
  if (language === "liquid") return typeof source === "string" ? source : JSON.stringify(source);
  if (language === "python" && typeof source === "boolean") return source ? "True" : "False";
  return JSON.stringify(source);
}
